"""The library: a query, labels that are keys, and contents that are values."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from core.attention import scaled_dot_product_attention
from core.attention_snippets import Library, shelf_program
from core.charts import lookup
from core.claims.qkv import RELEVANCES, weights_verdict
from core.retrieval import Answer, Shelf, answer_of_labels, closest_label, look_up
from pages.components import qkv_fold, qkv_shelves, qkv_table
from pages.components.controls import Panel
from pages.components.fold import Formula
from pages.components.frame import room
from pages.components.i18n import _
from pages.components.plot import Plot, draw
from pages.components.qkv_shelves import Example
from pages.components.words import Claim, claim_cards, look_for

ROWS_HEIGHT = 200  # pixels of all rows of the picture together, at most


@dataclass(frozen=True, slots=True)
class Settings:
    """What is chosen beside the query."""

    shelf: str
    table: str
    softmax: bool
    editing: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """The query and the temperature, on sliders."""

    query: tuple[float, ...]
    temperature: float = 1.0

    @property
    def vector(self) -> Tensor:
        return torch.tensor(self.query, dtype=torch.float64)  # (features,)


def controls(panel: Panel) -> Settings:
    examples = qkv_shelves.examples()
    titles = {name: example.name for name, example in examples.items()}
    shelf = panel.choice("shelf", _("Example"), titles, default="library", on_change=partial(_begin, panel))
    table = panel.hidden("table", _("Table"), default="", pattern=qkv_shelves.WRITTEN)
    names = {"softmax": _("after softmax"), "raw": _("raw")}
    softmax = panel.choice("weights", _("Weights"), names, default="softmax") == "softmax"
    editing = panel.toggle("edit", _("Edit the table"), default=False)
    return Settings(shelf, table, softmax, editing)


def _begin(panel: Panel) -> None:
    """Another example was chosen: it brings its own table and query."""
    panel.put({"table": "", **qkv_shelves.queries(st.session_state["qkv_shelf"])})


def view(panel: Panel, settings: Settings) -> str | None:
    """Returns: the slider that Play moves on; there is none."""
    example = qkv_shelves.examples()[settings.shelf]
    shelf = (
        qkv_table.edit(panel, settings.shelf, example, settings.table)
        if settings.editing
        else qkv_table.shelf_of(qkv_table.rows(example, settings.table))
    )
    panel.follow(partial(_ask, panel, example, settings), partial(_picture, shelf, example, settings))
    claim_cards([_relevances()])
    return None


def _ask(panel: Panel, example: Example, settings: Settings) -> Asked:
    """The sliders of the query and the temperature."""
    usual = qkv_shelves.queries("library")  # one default for all examples, so that Reset knows where to go
    labels = {f"q{number}": _("q: {feature}").format(feature=name) for number, name in enumerate(example.features, 1)}

    def feature(name: str) -> float:
        return panel.slider(name, labels[name], -3.0, 3.0, default=usual[name], step=0.1, format="%.1f")

    with panel.beside():
        first = (feature("q1"), feature("q2"))
    with panel.beside():
        query = (*first, feature("q3"))
        if not settings.softmax:
            return Asked(query)
        temperature = panel.slider("temperature", _("Temperature"), 0.1, 5.0, default=1.0, step=0.1, format="%.1f")
        return Asked(query, temperature)


def _picture(shelf: Shelf, example: Example, settings: Settings, asked: Asked) -> None:
    answer = look_up(shelf, asked.vector, temperature=asked.temperature, softmax=settings.softmax)
    written = "" if settings.editing else qkv_table.shown(shelf, example)
    look_for(*_in_words(shelf, example, asked.vector, answer, settings), beside=written)
    plot = _draw(shelf, example, answer, settings)
    qkv_fold.draw(
        lambda: _formulas(shelf, answer, settings, asked),
        code=(look_up, scaled_dot_product_attention),
        plots=[plot],
        program=lambda library: shelf_program(
            Library(library), shelf, asked.vector, temperature=asked.temperature, softmax=settings.softmax
        ),
    )


def _draw(shelf: Shelf, example: Example, answer: Answer, settings: Settings) -> Plot:
    return draw(
        "qkv.lookup",
        lookup.lookup,
        lookup.lookup_data(
            answer.similarities.numpy(), answer.shares.numpy(), answer.contributions.numpy(), answer.answer.numpy()
        ),
        alt=_("Bars for every book: its similarity to the query and its share; and a grid of what it contributes."),
        titles=shelf.titles,
        contents=example.contents,
        raw=not settings.softmax,
        words=lookup.LookupWords(
            similarity=_("similarity: query · key / temperature") if settings.softmax else _("similarity: query · key"),
            share=_("weight after softmax") if settings.softmax else _("weight: the raw similarity"),
            contribution=_("answer: Σ weight · value"),
            answer=_("answer"),
            book=_("row"),
            content=_("value"),
        ),
        outer_width=room(),
        row_height=min(30, ROWS_HEIGHT // (len(shelf.titles) + 1)),
    )


def _in_words(shelf: Shelf, example: Example, query: Tensor, answer: Answer, settings: Settings) -> Sequence[str]:
    best = int(answer.shares.argmax())
    main = int(answer.answer.abs().argmax())
    first = _(
        "Who asks for {wanted} gets {share:.2f} of “{title}”. In the answer, “{content}” is largest: {value:.2f}."
    ).format(
        wanted=example.wanted,
        share=float(answer.shares[best]),
        title=shelf.titles[best],
        content=example.contents[main],
        value=float(answer.answer[main]),
    )
    total = float(answer.shares.sum())
    sums = (
        _("The weights sum to {total:.2f}: nothing is looked up alone, everything is mixed.").format(total=total)
        if settings.softmax
        else _("The raw similarities sum to {total:.2f}: the answer grows with the table. Softmax makes it 1.").format(
            total=total
        )
    )
    return first, sums, _why(shelf, example, query, answer, settings)


def _why(shelf: Shelf, example: Example, query: Tensor, answer: Answer, settings: Settings) -> str:
    """What this example is there to show."""
    if settings.shelf == "restaurant":
        return _(
            "Why Q ≠ K: the query equals no label (the closest one has cosine {cosine:.2f}), and finds what it needs "
            "all the same."
        ).format(cosine=closest_label(shelf, query))
    if settings.shelf == "cat":
        meaning = answer_of_labels(shelf, answer).tolist()
        told = ", ".join(f"{name} {part:.2f}" for name, part in zip(example.features, meaning, strict=True))
        return _(
            "Why V ≠ K: keys say what a word is about, values what it sounds like. With V = K the answer would be "
            "({meaning}): no sound in it."
        ).format(meaning=told)
    if settings.shelf == "sat":
        return _("The query's sliders are the relevances themselves here. Compare the raw weights with softmax.")
    return _("Lower the temperature, and the best book takes it all; raise it, and all books count alike.")


def _relevances() -> Claim:
    """As the source texts tell it: three relevances, used as weights."""
    keys = torch.eye(3, dtype=torch.float64)
    shelf = Shelf(("The", "cat", "sat"), keys, keys)
    query = torch.tensor(RELEVANCES, dtype=torch.float64)
    raw, soft = (look_up(shelf, query, softmax=softmax).shares for softmax in (False, True))
    return Claim(
        _("The relevances 0.2, 1.0 and 0.7 are the attention weights of “The cat sat”."),
        weights_verdict(raw.tolist()),
        _("They sum to {raw:.1f}. After softmax the weights are {weights}, and sum to {soft:.2f}.").format(
            raw=float(raw.sum()),
            weights=", ".join(f"{weight:.2f}" for weight in soft.tolist()),
            soft=float(soft.sum()),
        ),
    )


def _formulas(shelf: Shelf, answer: Answer, settings: Settings, asked: Asked) -> Sequence[Formula]:
    best = int(answer.shares.argmax())
    terms = " + ".join(rf"{a:g} \cdot {b:g}" for a, b in zip(asked.query, shelf.keys[best].tolist(), strict=True))
    similar = Formula(
        r"s_i = \frac{q \cdot k_i}{\tau}",
        rf"s_{{{best + 1}}} = \frac{{{terms}}}{{{asked.temperature:g}}} = {float(answer.similarities[best]):.4f}",
        _("The similarity of the query q to the key of row i; τ is the temperature. Shown for the largest weight."),
    )
    if not settings.softmax:
        return (similar,)
    weight = Formula(
        r"w_i = \frac{e^{s_i}}{\sum_j e^{s_j}}, \qquad \mathrm{answer} = \sum_i w_i v_i",
        rf"w_{{{best + 1}}} = {float(answer.shares[best]):.4f}",
        _("Softmax makes weights of the similarities; the answer mixes the values v by them."),
    )
    return similar, weight

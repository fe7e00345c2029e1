"""The controls of the masks page: only those that the chosen view and mask use."""

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
import torch

from core.batches import Batch, batch
from core.fill_values import Fill
from core.written_masks import OrderError, OrderProblem, read_order, shuffled_order
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.masks_scene import BOS, DTYPES, SCORE_SCALE, Settings

SENTENCES = "The cat sat on the mat .\nWhen it rains the cat sleeps on the mat"
SOURCES = "Le chat était sur le tapis .\nQuand il pleut le chat dort sur le tapis"
TAUGHT = "我 爱 NLP"
ORDER = "3 1 4 2"
MOST_SENTENCES, MOST_TOKENS = 6, 20
NOTHING = Batch((), cut=False)
CLOSED = r"|[0-9a-f]{1,5}(-[0-9a-f]{1,5}){0,19}"


def controls(panel: Panel) -> tuple[Settings | None, list[str]]:
    """What is to be drawn, or None if no sentence is left; and what the user should know about the input."""
    views = {
        "weights": _("Scores, mask, weights"),
        "reach": _("Context and gradient"),
        "batch": _("The masks of a batch"),
        "teaching": _("The answer in view"),
    }
    view = panel.choice("view", _("View"), views, default="weights")
    if view == "teaching":
        return _teaching(panel)
    kind = "both" if view == "batch" else _kind(panel)
    targets = _batch(panel, "sentences", _("Sentences, one a line"), SENTENCES)
    pairs = kind == "cross" or view == "batch"
    sources = _batch(panel, "sources", _("Source sentences, one a line"), SOURCES) if pairs else NOTHING
    targets, sources, said = _paired(targets, sources) if pairs else (targets, sources, [])
    if targets.cut or sources.cut:
        said.append(
            _("There is room for {sentences} sentences of {tokens} tokens each; the rest was left out.").format(
                sentences=MOST_SENTENCES, tokens=MOST_TOKENS
            )
        )
    if not targets.sentences:
        return None, [*said, _("There is nothing to look at yet. Type a sentence on the left.")]
    settings = Settings(view, targets, sources, kind)
    return _rest(panel, settings, said), said


def _kind(panel: Panel) -> str:
    kinds = {
        "padding": _("Padding"),
        "causal": _("Causal"),
        "both": _("Padding and causal"),
        "window": _("Sliding window"),
        "prefix": _("Prefix"),
        "xlnet_query": _("XLNet: query stream"),
        "xlnet_content": _("XLNet: content stream"),
        "cross": _("Cross-attention"),
        "own": _("Your own: click cells"),
    }
    return panel.choice("kind", _("Mask"), kinds, default="both")


def _batch(panel: Panel, name: str, label: str, default: str) -> Batch:
    text = panel.text(name, label, default=default, max_chars=600, lines=2)
    return batch(text.split("\n"), most_sentences=MOST_SENTENCES, most_tokens=MOST_TOKENS)


def _paired(targets: Batch, sources: Batch) -> tuple[Batch, Batch, list[str]]:
    """Line for line: a sentence without a partner is left out."""
    pairs = min(len(targets.sentences), len(sources.sentences))
    said = []
    if len(targets.sentences) != len(sources.sentences):
        said.append(
            _("{targets} sentences and {sources} source sentences: only the first {pairs} of each are paired.").format(
                targets=len(targets.sentences), sources=len(sources.sentences), pairs=pairs
            )
        )
    kept = (Batch(one.sentences[:pairs], cut=one.cut) for one in (targets, sources))
    return next(kept), next(kept), said


def _rest(panel: Panel, settings: Settings, said: list[str]) -> Settings:
    """The controls whose bounds depend on the sentences."""
    several = len(settings.batch.sentences) > 1
    left, right = st.columns(2) if several else [st.container(gap=None)] * 2
    with left:
        sentence = panel.slider("sentence", _("Sentence"), 1, len(settings.batch.sentences), default=1, step=1)
    settings = replace(settings, sentence=sentence - 1)
    if settings.view == "batch":
        return settings
    seq_q = len(settings.queries)
    with right:
        query = panel.slider("query", _("Query token"), 1, seq_q, default=min(5, seq_q), step=1)
    settings = replace(settings, query=query - 1, **_of_kind(panel, settings.kind, seq_q, said), **_layer(panel))
    return replace(settings, **_numbers(panel)) if settings.view == "weights" else settings


def _of_kind(panel: Panel, kind: str, seq_len: int, said: list[str]) -> dict[str, Any]:
    """What only this kind of mask asks for."""
    if kind == "window":
        left, right = st.columns(2)
        with left:
            before = panel.slider("left", _("Before"), 0, MOST_TOKENS, default=2, step=1)
        with right:
            after = panel.slider("right", _("After"), 0, MOST_TOKENS, default=0, step=1)
        return {"left": before, "right": after}
    if kind == "prefix":
        return {"prefix_len": panel.slider("prefix", _("Prefix length"), 0, seq_len, default=min(3, seq_len), step=1)}
    if kind.startswith("xlnet"):
        return {"order": _order(panel, seq_len, said)}
    if kind == "own":
        closed = panel.hidden("closed", _("Closed cells"), default="", pattern=CLOSED)
        if closed:
            st.button(_("Open all cells"), on_click=partial(panel.put, {"closed": ""}), icon=":material/undo:")
        return {"closed": closed}
    return {}


def _order(panel: Panel, seq_len: int, said: list[str]) -> tuple[int, ...]:
    """XLNet's order of prediction."""
    ways = {"shuffled": _("Shuffled"), "typed": _("Typed")}
    left, right = st.columns(2)
    with left:
        way = panel.choice("order_by", _("Order of prediction"), ways, default="shuffled", narrow=True)
    with right:
        if way == "shuffled":
            shuffle = panel.slider("shuffle", _("Shuffle"), 0, 99, default=0, step=1)
            return shuffled_order(seq_len, torch.Generator().manual_seed(shuffle))
        text = panel.text("order", _("Positions from 1"), default=ORDER, max_chars=120)
    try:
        return read_order(text, seq_len)
    except OrderError as error:
        problems = {
            OrderProblem.NOT_NUMBERS: _("“{part}” in the order is not a whole number."),
            OrderProblem.TWICE: _("Position {part} stands in the order twice; each token is predicted once."),
            OrderProblem.OUT_OF_RANGE: _("Position {part} is not in this sentence: its positions are 1 to {last}."),
        }
        sentence = problems[error.problem].format(part=error.culprit, last=seq_len)
        said.append(f"{sentence} {_('The order of reading is used instead.')}")
        return tuple(range(seq_len))


def _layer(panel: Panel) -> dict[str, Any]:
    left, right = st.columns(2)
    with left:
        scale = panel.slider(
            "scale",
            _("Score scale"),
            0.0,
            5.0,
            default=SCORE_SCALE,
            step=0.1,
            help=_("Scores come from seeded random vectors and projections, and are multiplied by this number."),
        )
    with right:
        seed = panel.slider("seed", _("Seed"), 0, 99, default=0, step=1)
    return {"score_scale": scale, "seed": seed}


def _numbers(panel: Panel) -> dict[str, Any]:
    fills = {Fill.MINUS_INFINITY: "−∞", Fill.MINUS_1E9: "−1e9", Fill.GUARDED: _("guarded")}
    names = {fill.value: name for fill, name in fills.items()}
    fill = panel.choice("fill", _("Fill forbidden scores with"), names, default=Fill.GUARDED.value)
    dtype = panel.choice("dtype", _("Type of number"), {name: name for name in DTYPES}, default="float32")
    return {"fill": Fill(fill), "dtype": dtype}


def _teaching(panel: Panel) -> tuple[Settings | None, list[str]]:
    """A sentence that a decoder is taught to say, and the place it has come to."""
    text = panel.text("taught", _("Sentence"), default=TAUGHT, max_chars=200)
    taught = batch([text], most_sentences=1, most_tokens=MOST_TOKENS - 1)
    if not taught.sentences:
        return None, [_("There is nothing to look at yet. Type a sentence on the left.")]
    read = Batch(((BOS, *taught.sentences[0]),), cut=taught.cut)  # what the decoder reads
    step = panel.slider("step", _("Step"), 1, read.seq_len, default=min(2, read.seq_len), step=1)
    settings = Settings("teaching", read, NOTHING, "causal", query=step - 1, **_layer(panel))
    too_long = _("There is room for {tokens} tokens; the rest was left out.").format(tokens=MOST_TOKENS - 1)
    return settings, [too_long] if read.cut else []

"""A sentence on its way through one head: X → Q, K, V → scores → weights → output → W_O."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from core.attention import scaled_dot_product_attention
from core.attention_maps import describe
from core.attention_snippets import Library, head_program
from core.batches import tokens
from core.charts import matrices
from core.model_heads import EncoderInputs, encoder_head, encoder_inputs
from core.models import TranslationModel
from core.projections import MATRICES, Head, HeadTrace, explain, identity_head, random_head, run_head
from core.token_attention import token_vectors
from pages.components import qkv_cell, qkv_fold, qkv_scaling, translator
from pages.components.controls import Panel
from pages.components.fold import Formula
from pages.components.i18n import _
from pages.components.plot import Part, clicks, figure, part, picked
from pages.components.tokens import plainly
from pages.components.typed import quoted
from pages.components.words import claim_cards, look_for

SENTENCE = "The cat sat on the mat"
FRENCH = "Le chat dort dans le jardin."
MOST_TOKENS = 10
MOST_COLUMNS = 32  # of a matrix that are drawn; the others are computed all the same
KEY = "qkv.head"
OFFERED_CELL = rf"|(?:{'|'.join(MATRICES)})-\d{{1,2}}-\d{{1,2}}"


@dataclass(frozen=True, slots=True)
class Settings:
    """The controls; numbers of tokens, layers and heads are counted from 0."""

    words: tuple[str, ...]
    cut: bool
    projections: str
    text: str
    seed: int
    d_model: int = 8  # from here on: on sliders that change the picture only
    head_dim: int = 4
    layer: int = 0
    head: int = 0
    scaled: bool = True
    query: int = 0
    cell: str = ""


def controls(panel: Panel) -> Settings:
    names = {"random": _("Random"), "identity": _("Identity"), "model": _("Model")}
    projections = panel.choice(
        "projections", _("Projections"), names, default="random",
        help=_("Random matrices, the first features as they are, or a head of the bundled translation model."),
    )  # fmt: skip
    if projections == "model":
        text = panel.text("french", _("French sentence"), default=FRENCH, max_chars=400, spoken="fr")
        return Settings(*_tokens_of_model(text), projections, text, seed=0)
    text = panel.text("sentence", _("Sentence"), default=SENTENCE, max_chars=400, spoken="en")
    found = tokens(text)
    seed = panel.slider("seed", _("Seed"), 0, 99, default=0, step=1)
    return Settings(found[:MOST_TOKENS], len(found) > MOST_TOKENS, projections, text, seed)


def _tokens_of_model(text: str) -> tuple[tuple[str, ...], bool]:
    """What the model reads, and whether the sentence was cut for it."""
    if not text.strip():
        return (), False
    read = _read(translator.load(translator.BUNDLED), text)
    return plainly(read.tokens), read.was_cut


def view(panel: Panel, settings: Settings) -> str | None:
    """Returns: the slider that Play moves on."""
    if not settings.words:
        st.info(_("There is no sentence yet. Type one on the left; one word is enough."))
        return None
    panel.follow(partial(_sliders, panel, settings), partial(_picture, panel))
    claim_cards(qkv_scaling.cards(settings.seed))
    return "query"


def _sliders(panel: Panel, settings: Settings) -> Settings:
    if settings.projections == "model":
        facts = translator.load(translator.BUNDLED).facts
        with panel.beside():
            layer = panel.slider("layer", _("Layer"), 1, facts.encoder_layers, default=1, step=1)
            head = panel.slider("head", _("Head"), 1, facts.num_heads, default=1, step=1)
        settings = replace(settings, layer=layer - 1, head=head - 1)
    else:
        with panel.beside():
            d_model = panel.slider("d_model", "d_model", 2, 32, default=8, step=1)
            most = d_model if settings.projections == "identity" else 32
            head_dim = panel.slider("head_dim", "head_dim", 1, most, default=4, step=1)
        settings = replace(settings, d_model=d_model, head_dim=head_dim)
    scaled = panel.toggle("scaled", _("Divide scores by √head_dim"), default=True)
    count = len(settings.words)
    query = panel.slider("query", _("Query token"), 1, count, default=min(2, count), step=1)
    cell = panel.hidden("cell", _("Cell"), default="", pattern=OFFERED_CELL)
    return replace(settings, scaled=scaled, query=query - 1, cell=cell)


def _picture(panel: Panel, settings: Settings) -> None:
    x, head = _computed_from(settings)
    trace = run_head(x, head, scaled=settings.scaled)
    explained = qkv_cell.told(settings.words, trace, head, *_cell(settings, trace))
    look_for(*_in_words(settings, trace), beside=explained)
    plot = figure(
        KEY,
        [[_matrices(settings, trace)], qkv_scaling.parts(settings.seed, trace.q.shape[-1])],
        alt=_(
            "Heatmaps in a row: input, queries, keys, values, scores, weights, output, and the output after W_O. Below "
            "them curves against head_dim, with and without the scaling: score variance, entropy, softmax gradient."
        ),
        on_select=partial(_pick, panel),
    )
    qkv_fold.draw(
        lambda: _formulas(trace, settings),
        code=(run_head, scaled_dot_product_attention),
        plots=[plot],
        program=lambda library: head_program(Library(library), trace, head),
    )


def _computed_from(settings: Settings) -> tuple[Tensor, Head]:
    """The input X, (seq_len, d_model), and the head that reads it."""
    if settings.projections == "model":
        model = translator.load(translator.BUNDLED)
        return _read(model, settings.text).states[settings.layer], encoder_head(model, settings.layer, settings.head)
    x = token_vectors(settings.words, seed=settings.seed, d_model=settings.d_model)
    if settings.projections == "identity":
        return x, identity_head(settings.d_model, settings.head_dim)
    generator = torch.Generator().manual_seed(settings.seed)
    return x, random_head(settings.d_model, settings.head_dim, generator=generator)


@st.cache_resource(max_entries=50, show_spinner=False)
def _read(_model: TranslationModel, text: str) -> EncoderInputs:
    return encoder_inputs(_model, text, most_tokens=MOST_TOKENS)


def _titles() -> dict[str, str]:
    return {
        "x": "X",
        "q": "Q = X·W_Q",
        "k": "K = X·W_K",
        "v": "V = X·W_V",
        "scores": _("scores"),
        "weights": _("weights"),
        "output": _("output"),
        "result": _("output·W_O"),
    }


def _matrices(settings: Settings, trace: HeadTrace) -> Part:
    values = {name: getattr(trace, name) for name in MATRICES}
    shown = tuple(
        matrices.Matrix(
            name,
            title,
            " × ".join(str(size) for size in values[name].shape),
            min(values[name].shape[1], MOST_COLUMNS),
            _kind(name),
            follows_query=name not in ("k", "v"),
            of_keys=name in ("scores", "weights"),
        )
        for name, title in _titles().items()
    )
    return part(
        "head",
        matrices.matrices,
        matrices.matrices_data(
            {name: tensor[:, :MOST_COLUMNS].numpy() for name, tensor in values.items()},
            marked_row=settings.query,
            picked=_cell(settings, trace),
            nonce=clicks(KEY),
        ),
        rows=settings.words,
        shown=shown,
        words=matrices.MatrixWords(row=_("token"), key=_("key"), feature=_("feature"), value=_("value")),
        height=160,
    )


def _kind(name: str) -> matrices.Kind:
    match name:
        case "scores" | "weights":
            return name
    return "features"


def _pick(panel: Panel) -> None:
    """A cell was clicked: it is explained, and its row is followed, unless it belongs to keys or values."""
    cell = picked(KEY, "head_cell", "cell")
    if cell is not None:
        number, row, column = matrices.read_cell(cell)
        chosen = {"cell": f"{MATRICES[number]}-{row}-{column}"}
        panel.put(chosen if MATRICES[number] in ("k", "v") else {**chosen, "query": row + 1})


def _cell(settings: Settings, trace: HeadTrace) -> tuple[str, int, int]:
    """The cell to explain: the one that was clicked while it is there, else the query's strongest weight."""
    if settings.cell:
        matrix, row, column = settings.cell.split("-")
        rows, columns = getattr(trace, matrix).shape
        follows = matrix in ("k", "v") or int(row) == settings.query
        if int(row) < rows and int(column) < min(columns, MOST_COLUMNS) and follows:
            return matrix, int(row), int(column)
    return "weights", settings.query, int(trace.weights[settings.query].argmax())


def _in_words(settings: Settings, trace: HeadTrace) -> Sequence[str]:
    row = describe(trace.weights[settings.query])
    sentences = [
        _(
            "“{query}” looks most at “{key}” ({weight:.0%}); its entropy is {bits:.2f} of at most {most:.2f} bits."
        ).format(
            query=quoted(settings.words[settings.query]),
            key=quoted(settings.words[row.strongest]),
            weight=row.weight,
            bits=row.entropy,
            most=row.most,
        ),
        _("Colours end at ±3 for features, at ±5 for scores; weights go from 0 to 1."),
    ]
    if settings.projections == "model":
        sentences.append(
            _("The first {drawn} of {features} features are drawn.").format(
                drawn=MOST_COLUMNS, features=trace.x.shape[1]
            )
        )
    if settings.cut:
        sentences.append(
            _("The sentence was cut after {count} tokens: this page has room for no more.").format(count=MOST_TOKENS)
        )
    return sentences


def _formulas(trace: HeadTrace, settings: Settings) -> Sequence[Formula]:
    seq_len, d_model = trace.x.shape
    head_dim = trace.q.shape[1]
    computation = explain(trace, identity_head(d_model, 1), "weights", settings.query, 0)
    total = float(computation.left.sum())
    return (
        Formula(
            r"Q = X W_Q, \quad K = X W_K, \quad V = X W_V",
            rf"({seq_len} \times {d_model}) \cdot ({d_model} \times {head_dim}) = {seq_len} \times {head_dim}",
            _("Three matrices make queries, keys and values of the same input."),
        ),
        Formula(
            r"\mathrm{softmax}\!\left(\frac{Q K^{\top}}{\sqrt{d_k}}\right) V"
            if settings.scaled
            else r"\mathrm{softmax}\!\left(Q K^{\top}\right) V",
            rf"w_{{{settings.query + 1},1}} = \frac{{e^{{s - s_{{max}}}}}}{{\sum}} = "
            rf"\frac{{{float(computation.left[0]):.4f}}}{{{total:.4f}}} = {computation.value:.4f}",
            _("The first weight of the query's row; d_k is head_dim. Subtracting the largest score changes nothing."),
        ),
    )

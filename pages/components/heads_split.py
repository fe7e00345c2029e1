"""Split and merge: a sentence goes through a layer whose matrices are cut into heads."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import streamlit as st
import torch

from core.attention_maps import describe
from core.attention_snippets import Library
from core.batches import tokens
from core.charts import split as chart
from core.claims.heads import measure_parameters
from core.heads import (
    STEPS,
    MultiHead,
    MultiHeadTrace,
    count_parameters,
    cut_into_heads,
    merge_heads,
    random_multi_head,
    run_multi_head,
    split_heads,
)
from core.heads_snippets import multi_head
from core.token_attention import token_vectors
from pages.components import heads_claims, heads_fold
from pages.components.controls import Panel
from pages.components.fold import Formula
from pages.components.i18n import _, ngettext
from pages.components.plot import clicks, figure, part, picked
from pages.components.words import Claim, look_for

KEY = "heads.split"
SENTENCE = "The dog chased the cat"
WIDTHS = (8, 12, 16)
LEGIBLE = 700  # pixels


@dataclass(frozen=True, slots=True)
class Settings:
    words: tuple[str, ...]
    cut: bool
    d_model: int
    num_heads: int


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A layer on a sentence; the chosen head is counted from 0."""

    settings: Settings
    seed: int
    head: int
    layer: MultiHead
    trace: MultiHeadTrace


def controls(panel: Panel) -> Settings:
    text = panel.text("words", _("Sentence"), default=SENTENCE, max_chars=400, spoken="en")
    widths = {str(width): str(width) for width in WIDTHS}
    with panel.beside():
        d_model = int(panel.choice("d_model", "d_model", widths, default="12", narrow=True))
        counts = {str(count): str(count) for count in legal(d_model)}
        num_heads = int(panel.choice("num_heads", "num_heads", counts, default="4", narrow=True))
    found = tokens(text)
    return Settings(found[: chart.MOST], len(found) > chart.MOST, d_model, num_heads)


def legal(d_model: int) -> list[int]:
    """The numbers of heads into which d_model can be cut."""
    return [count for count in range(1, d_model + 1) if d_model % count == 0]


def sliders(panel: Panel, settings: Settings) -> Scene | None:
    num_heads = settings.num_heads
    head = panel.slider("head", _("Chosen head"), 1, num_heads, default=1, step=1)
    seed = panel.slider("seed", _("Seed"), 0, 99, default=0, step=1)
    if not settings.words:
        return None
    return Scene(settings, seed, head - 1, *_run(settings.words, settings.d_model, num_heads, seed))


@functools.lru_cache(maxsize=200)
def _run(words: tuple[str, ...], d_model: int, num_heads: int, seed: int) -> tuple[MultiHead, MultiHeadTrace]:
    layer = random_multi_head(d_model, generator=torch.Generator().manual_seed(seed))
    return layer, run_multi_head(token_vectors(words, seed=seed, d_model=d_model), layer, num_heads)


@functools.lru_cache(maxsize=200)
def _drawn(words: tuple[str, ...], d_model: int, num_heads: int, seed: int, large: str) -> dict[str, pa.Table]:
    """All that is the same whichever head is chosen; large: what stands above its weights."""
    _layer, trace = _run(words, d_model, num_heads, seed)
    tensors = {name: getattr(trace, name).numpy() for name in chart.PARTS}
    return chart.split_data(tensors, titles=_titles(trace, large))


@st.cache_data(max_entries=50, show_spinner=False)
def _parameters(d_model: int, num_heads: int) -> int:
    """Of all heads together."""
    (count,) = measure_parameters(d_model, [num_heads]).values()
    return count


def picture(panel: Panel, scene: Scene | None) -> None:
    if scene is None:
        st.info(_("There is no sentence yet. Type one on the left; one word is enough."))
        return
    look_for(*_in_words(scene))
    shown, nonce = scene.settings, clicks(KEY)

    def choose() -> None:
        head = picked(KEY, "board_head", "head")
        if head is not None and head >= 0:
            panel.put({"head": int(head) + 1})

    board = part(
        "board",
        chart.split,
        {
            **chart.clicked(
                _drawn(shown.words, shown.d_model, shown.num_heads, scene.seed, _("w of the chosen head")), nonce
            ),
            **chart.split_head(scene.trace.weights.numpy(), scene.head, nonce=nonce),
        },
        rows=shown.words,
        words=chart.SplitWords(
            tensor=_("tensor"), head=_("head"), token=_("token"), key=_("key"), feature=_("feature"), value=_("value")
        ),
    )
    plot = figure(
        KEY,
        [[board]],
        name=_("split and merge"),
        alt=_(
            "Heatmaps: the input, its queries, keys and values, the same cut into heads, the weights of all heads, "
            "their outputs, these merged, and the result; the chosen head is outlined in all of them."
        ),
        on_select=choose,
        least=LEGIBLE,
    )
    heads_fold.draw(
        "heads_split",
        formula=lambda: _formulas(scene),
        code=(run_multi_head, split_heads, merge_heads, cut_into_heads, count_parameters),
        plots=[plot],
        snippet={
            library.value: partial(multi_head, library, scene.trace, scene.layer, scene.settings.num_heads)
            for library in Library
        },
    )


def after(settings: Settings) -> None:
    """Nothing stands between the picture and the claims."""


def cards(settings: Settings) -> Sequence[Claim]:
    return (heads_claims.parameters(settings.d_model, legal(settings.d_model)), heads_claims.printed())


def played(settings: Settings) -> str:
    return "head"


def _titles(trace: MultiHeadTrace, large: str) -> dict[str, tuple[str, str]]:
    num_heads, _seq_len, head_dim = trace.q_heads.shape
    shapes = {name: " × ".join(map(str, getattr(trace, name).shape)) for name in STEPS}
    written = {
        "x": "X",
        "q": "Q = X·W_Q",
        "k": "K = X·W_K",
        "v": "V = X·W_V",
        "q_heads": "q = split(Q)",
        "k_heads": "k = split(K)",
        "v_heads": "v = split(V)",
        "weights": "w = softmax(q·kᵀ / √head_dim)",
        "output": "o = w·v",
        "merged": "merge(o)",
        "result": "merge(o)·W_O",
    }
    return {name: (title, shapes[name]) for name, title in written.items()} | {
        "cut": (f"{num_heads * head_dim} = {num_heads} × {head_dim}", "num_heads × head_dim"),
        "large": (large, ""),
    }


def _in_words(scene: Scene) -> Sequence[str]:
    head_dim = scene.trace.q_heads.shape[-1]
    first, last = scene.head * head_dim + 1, scene.settings.words[-1]
    row = describe(scene.trace.weights[scene.head, -1])
    sentences = [
        ngettext(
            "Head {head} owns column {columns} of Q, K and V and the same row of W_O. It looks for itself: in it "
            "“{token}” looks most at “{key}” ({weight:.0%}).",
            "Head {head} owns columns {columns} of Q, K and V and the same rows of W_O. It looks for itself: in it "
            "“{token}” looks most at “{key}” ({weight:.0%}).",
            head_dim,
        ).format(
            head=scene.head + 1,
            columns=f"{first}–{first + head_dim - 1}" if head_dim > 1 else first,
            token=last,
            key=scene.settings.words[row.strongest],
            weight=row.weight,
        ),
        _(
            "Splitting computes nothing: it says which numbers belong together. The four matrices have {count:,} "
            "parameters ({matrix:,} each), whatever num_heads is."
        ).format(
            count=_parameters(scene.settings.d_model, scene.settings.num_heads),
            matrix=scene.layer.q.weight.numel(),
        ),
    ]
    if scene.settings.cut:
        sentences.append(
            _("The sentence was cut after {count} tokens: this page has room for no more.").format(count=chart.MOST)
        )
    return sentences


def _formulas(scene: Scene) -> Sequence[Formula]:
    seq_len, d_model = scene.trace.x.shape
    num_heads, _seq_len, head_dim = scene.trace.q_heads.shape
    matrix = scene.layer.q.weight.numel()
    return (
        Formula(
            r"\mathrm{MultiHead}(X) = \mathrm{Concat}(\mathrm{head}_1, \dots, \mathrm{head}_h)\, W_O, \quad "
            r"\mathrm{head}_i = \mathrm{softmax}\!\left(\tfrac{Q_i K_i^{\top}}{\sqrt{d_k}}\right) V_i",
            rf"({seq_len} \times {d_model}) \to {num_heads} \times ({seq_len} \times {head_dim}) \to "
            rf"({seq_len} \times {d_model})",
            _("Each head has its own columns of Q, K and V; d_k is head_dim."),
        ),
        Formula(
            r"h \cdot (3\, d_\mathrm{model}\, d_k + d_k\, d_\mathrm{model}) = 4\, d_\mathrm{model}^2",
            rf"{num_heads} \cdot 4 \cdot {d_model} \cdot {head_dim} = 4 \cdot {matrix} = "
            rf"{_parameters(d_model, num_heads)}",
            _("The parameters of all heads together: d_k shrinks as the number of heads h grows."),
        ),
    )

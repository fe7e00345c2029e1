"""Why three matrices: what is the same and what is not if queries, keys and values share theirs."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
import torch

from core import as_printed
from core.attention_snippets import Library, head_program
from core.batches import tokens
from core.charts import bars, curves, heatmaps
from core.claims.qkv import rank_verdict, self_verdict, symmetry_verdict, variants_verdict
from core.projections import HeadTrace, Sharing, random_head, run_head
from core.senses import WORDS, look_around
from core.sharing import Structure, asymmetry, measure_ranks, measure_structure, stacked_rank
from core.token_attention import token_vectors
from pages.components import qkv_fold
from pages.components.controls import Panel
from pages.components.fold import Formula
from pages.components.frame import type_size
from pages.components.i18n import _
from pages.components.plot import Plot, draw
from pages.components.words import Claim, claim_cards, look_for

SENTENCE = "The cat sat on the mat"
MOST_TOKENS = 10
D_MODELS = (16, 32, 64, 96, 128, 192, 256)
TRIALS, SEQ_LEN = 40, 12
TOLD_HEAD_DIM = 64
GRID = {"normal": 215, "projector": 180}  # pixels


@dataclass(frozen=True, slots=True)
class Settings:
    words: tuple[str, ...]
    cut: bool
    sharing: Sharing
    d_model: int
    head_dim: int
    seed: int
    angle: int


def _names() -> dict[str, str]:
    return {
        Sharing.SEPARATE: _("Three matrices"),
        Sharing.VALUE_IS_KEY: _("V = K, two matrices"),
        Sharing.QUERY_IS_KEY: _("Q = K, two matrices"),
        Sharing.ONE: _("One matrix: Q = K = V"),
        Sharing.NONE: _("None: Q = K = V = X"),
    }


def controls(panel: Panel) -> Settings:
    names = {str(sharing.value): label for sharing, label in zip(Sharing, _names().values(), strict=True)}
    sharing = panel.choice("sharing", _("Matrices"), names, default="separate")
    found = tokens(panel.text("sentence", _("Sentence"), default=SENTENCE, max_chars=400, spoken="en"))
    left, right = st.columns(2)
    with left:
        d_model = panel.slider("wide_d_model", "d_model", 16, 256, default=128, step=16)
    with right:
        head_dim = panel.slider("wide_head_dim", "head_dim", 8, 96, default=64, step=8)
    seed = panel.slider("seed", _("Seed"), 0, 99, default=0, step=1)
    angle = panel.slider("angle", _("“bank” asks: place 0°, money 90°"), 0, 90, default=0, step=5, format="%d°")
    return Settings(
        found[:MOST_TOKENS], len(found) > MOST_TOKENS, Sharing(sharing), d_model, head_dim, seed, angle
    )  # fmt: skip


@st.cache_data(max_entries=100, show_spinner=False)
def _structures(d_model: int, head_dim: int, seed: int) -> Mapping[str, Structure]:
    return {
        sharing.value: measure_structure(
            sharing,
            d_model=d_model,
            head_dim=head_dim,
            seq_len=SEQ_LEN,
            trials=TRIALS,
            generator=torch.Generator().manual_seed(seed),
        )
        for sharing in Sharing
    }


@st.cache_data(max_entries=100, show_spinner=False)
def _ranks(head_dim: int, seed: int) -> Mapping[str, Sequence[int]]:
    return {
        sharing.value: measure_ranks(sharing, D_MODELS, head_dim, generator=torch.Generator().manual_seed(seed))
        for sharing in Sharing
    }


@st.cache_data(max_entries=1, show_spinner=False)
def _variants() -> Mapping[str, str]:
    return as_printed.try_variants()


def view(panel: Panel, settings: Settings) -> None:
    if not settings.words:
        st.info(_("There is no sentence yet. Type one on the left; one word is enough."))
        return
    x = token_vectors(settings.words, seed=settings.seed, d_model=settings.d_model)  # (seq_len, d_model)
    generator = torch.Generator().manual_seed(settings.seed)
    head = random_head(settings.d_model, settings.head_dim, generator=generator, sharing=settings.sharing)
    trace = run_head(x, head)
    structures = _structures(settings.d_model, settings.head_dim, settings.seed)
    left, right = st.columns([1.15, 1], gap="medium")
    with left:
        pair = _draw_pair(settings, trace)
    with right:
        _table(settings, structures)
        look_for(*_in_words(settings, structures, trace))
    left, right = st.columns([1.15, 1], gap="medium")
    with left:
        ranks = _draw_ranks(settings)
    with right:
        bank = _draw_bank(settings)
    claim_cards(_cards(settings, structures))
    qkv_fold.draw(
        _formulas(settings, structures),
        code=(random_head, measure_structure, stacked_rank, look_around),
        plots=[pair, ranks, bank],
        program=lambda library: head_program(Library(library), trace, head),
    )


def _draw_pair(settings: Settings, trace: HeadTrace) -> Plot:
    return draw(
        "qkv.symmetry",
        heatmaps.panels,
        heatmaps.panels_data({"scores": trace.scores.numpy(), "weights": trace.weights.numpy()}),
        alt=_("Two heatmaps of the same tokens: the scores, and the weights after softmax."),
        queries=settings.words,
        keys=settings.words,
        shown=(
            heatmaps.Panel(_("Scores"), "scores", "scores", value_word=_("score")),
            heatmaps.Panel(_("Weights"), "weights", "weights", value_word=_("weight")),
        ),
        words=heatmaps.Words(
            row_axis=_("query: looks"),
            column_axis=_("key: is looked at"),
            query=_("query"),
            key=_("key"),
            value=_("weight"),
            masked=_("masked"),
            allowed=_("may look"),
        ),
        width=GRID[type_size()],
        height=170,
        clickable=False,
    )


def _table(settings: Settings, structures: Mapping[str, Structure]) -> None:
    """All variants beside each other; the chosen one is marked."""
    columns = (_("parameters"), "S−Sᵀ", "A−Aᵀ", _("self first"), _("rank"))
    head = "".join(f"<th>{html.escape(column)}</th>" for column in ("", *columns))
    rows = ""
    for sharing, name in _names().items():
        found = structures[sharing]
        chosen = sharing == settings.sharing
        cells = (
            f"{found.parameters:,}",
            f"{found.score_asymmetry:.0%}",
            f"{found.weight_asymmetry:.0%}",
            f"{found.self_share:.0%}",
            f"{found.rank}",
        )
        mark = "▸ " if chosen else ""
        rows += f"<tr><th>{html.escape(mark + name)}</th>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    st.html(f'<table class="atlas-facts"><tr>{head}</tr>{rows}</table>')
    st.caption(
        _(
            "{trials} random inputs of {tokens} tokens. S−Sᵀ: largest difference of the scores to their transpose."
        ).format(trials=TRIALS, tokens=SEQ_LEN)
    )


def _in_words(settings: Settings, structures: Mapping[str, Structure], trace: HeadTrace) -> Sequence[str]:
    found = structures[settings.sharing]
    sentences = [
        _(
            "The scores S on the left differ from Sᵀ by {scores:.0%} of the largest, the weights A by {weights:.0%}."
        ).format(scores=asymmetry(trace.scores), weights=asymmetry(trace.weights)),
        _("{share:.0%} of the tokens score highest with themselves; by chance it would be {chance:.0%}.").format(
            share=found.self_share, chance=1 / SEQ_LEN
        ),
    ]
    if settings.cut:
        sentences.append(
            _("The sentence was cut after {count} tokens: this page has room for no more.").format(count=MOST_TOKENS)
        )
    return sentences


def _draw_ranks(settings: Settings) -> Plot:
    ranks = _ranks(settings.head_dim, settings.seed)
    return draw(
        "qkv.ranks",
        curves.curves,
        curves.curves_data([D_MODELS] * len(ranks), list(ranks.values()), marks=(settings.d_model,)),
        alt=_("A curve for each variant: the measured rank of the stacked projection against d_model."),
        series=(_("three"), "V = K", "Q = K", _("one"), _("none")),
        x=curves.Axis("d_model", ticks=D_MODELS, format="d"),
        y=curves.Axis(_("rank"), domain=(0.0, 260.0), ticks=(0, 64, 128, 192, 256), format="d"),
        title=_("Measured rank of [W_Q W_K W_V], head_dim {head_dim}").format(head_dim=settings.head_dim),
        height=130,
    )


def _draw_bank(settings: Settings) -> Plot:
    senses = look_around(settings.angle)
    plot = draw(
        "qkv.bank",
        bars.attention_bars,
        bars.attention_bars_data(senses.together.numpy(), uniform=True),
        alt=_("Bars: how the query of “bank” shares its attention among river, bank and account."),
        keys=WORDS,
        words=bars.AttentionWords(axis=_("weight"), key=_("key"), weight=_("weight"), masked=_("masked")),
        title=_("“bank” asks at {angle}°").format(angle=settings.angle),
        height=90,
        expected_width=440,
    )
    st.caption(
        _(
            "In “river bank” the query gives river {river:.0%}, in “bank account” account {account:.0%}. One head asks "
            "both sentences the same, for q = x·W_Q: only another head, or an x that has read its context, turns it."
        ).format(river=float(senses.river_bank[0]), account=float(senses.bank_account[1]))
    )
    return plot


def _cards(settings: Settings, structures: Mapping[str, Structure]) -> Sequence[Claim]:
    shared = structures[Sharing.QUERY_IS_KEY]
    ranks = dict(zip(D_MODELS, _ranks(TOLD_HEAD_DIM, settings.seed)[Sharing.SEPARATE], strict=True))
    told = 3 * TOLD_HEAD_DIM
    outcomes = _variants()
    names = {
        as_printed.Outcome.RAISES: _("raises AttributeError"),
        as_printed.Outcome.RETURNS_NOTHING: _("returns nothing"),
        as_printed.Outcome.RUNS: _("runs"),
    }
    return (
        Claim(
            _("Three matrices for Q, K and V give up to 192 dimensions against 64."),
            rank_verdict(ranks, told=told),
            _("Measured rank with head_dim 64: {ranks}. It cannot exceed d_model.").format(
                ranks=", ".join(f"{rank} ({d_model})" for d_model, rank in ranks.items() if d_model >= TOLD_HEAD_DIM)
            ),
        ),
        Claim(
            _("With Q = K, attention is symmetric."),
            symmetry_verdict(shared.score_asymmetry, shared.weight_asymmetry),
            _(
                "The scores differ from their transpose by {scores:.0%} of the largest, the weights by {weights:.0%}."
            ).format(scores=shared.score_asymmetry, weights=shared.weight_asymmetry),
        ),
        Claim(
            _("With Q = K, a token's largest score is with itself."),
            self_verdict(shared.self_share),
            _("So it is for {share:.1%} of the tokens; with three matrices for {separate:.1%}.").format(
                share=shared.self_share, separate=structures[Sharing.SEPARATE].self_share
            ),
        ),
        Claim(
            _("The four variants run as the source texts print them."),
            variants_verdict(outcomes),
            " · ".join(f"{name} – {names[as_printed.Outcome(outcome)]}" for name, outcome in outcomes.items()),
        ),
    )


def _formulas(settings: Settings, structures: Mapping[str, Structure]) -> Sequence[Formula]:
    found = structures[settings.sharing]
    stacked = 3 * (settings.d_model if settings.sharing is Sharing.NONE else settings.head_dim)
    return (
        Formula(
            r"S = \frac{X W_Q W_K^{\top} X^{\top}}{\sqrt{d_k}}, \qquad W_Q = W_K \;\Rightarrow\; S = S^{\top}",
            rf"\frac{{\max |S - S^{{\top}}|}}{{\max |S|}} = {found.score_asymmetry:.3g}",
            _("The scores of a sentence X; d_k is head_dim."),
        ),
        Formula(
            r"\mathrm{rank}\,[W_Q\; W_K\; W_V] \le \min(d_{model},\; 3 d_k)",
            rf"{found.rank} \le \min({settings.d_model},\; {stacked})",
            _("The rank tells in how many dimensions the three together keep the input."),
        ),
    )

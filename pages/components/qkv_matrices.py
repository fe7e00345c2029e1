"""Why three matrices: what is the same and what is not if queries, keys and values share theirs."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
import torch

from core import as_printed
from core.attention_snippets import Library, head_program
from core.batches import tokens
from core.charts import bars, curves, heatmaps
from core.claims.qkv import rank_verdict, self_verdict, symmetry_verdict, variants_verdict
from core.projections import Head, HeadTrace, Sharing, random_head, run_head
from core.senses import WORDS, Senses, look_around
from core.sharing import Structure, asymmetry, measure_ranks, measure_structure, stacked_rank
from core.token_attention import token_vectors
from pages.components import qkv_fold
from pages.components.controls import Panel
from pages.components.fold import Formula
from pages.components.frame import room
from pages.components.i18n import _
from pages.components.plot import Part, figure, part
from pages.components.words import Claim, claim_cards, look_for

SENTENCE = "The cat sat on the mat"
MOST_TOKENS = 10
D_MODELS = (16, 32, 64, 96, 128, 192, 256)
TRIALS, SEQ_LEN = 40, 12
TOLD_HEAD_DIM = 64
CHART_HEIGHT = 170
ONE_ROW = 920  # pixels


@dataclass(frozen=True, slots=True)
class Settings:
    words: tuple[str, ...]
    cut: bool
    sharing: Sharing
    d_model: int
    head_dim: int
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was computed from them."""

    head: Head
    trace: HeadTrace
    structures: Mapping[str, Structure]


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
    with st.container(key="qkv_calm"):  # each move takes many measurements
        with panel.beside():
            d_model = panel.slider("wide_d_model", "d_model", 16, 256, default=128, step=16)
            head_dim = panel.slider("wide_head_dim", "head_dim", 8, 96, default=64, step=8)
        seed = panel.slider("seed", _("Seed"), 0, 99, default=0, step=1)
    return Settings(found[:MOST_TOKENS], len(found) > MOST_TOKENS, Sharing(sharing), d_model, head_dim, seed)


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


def view(panel: Panel, settings: Settings) -> str | None:
    """Returns: the slider that Play moves on."""
    if not settings.words:
        st.info(_("There is no sentence yet. Type one on the left; one word is enough."))
        return None
    x = token_vectors(settings.words, seed=settings.seed, d_model=settings.d_model)  # (seq_len, d_model)
    generator = torch.Generator().manual_seed(settings.seed)
    head = random_head(settings.d_model, settings.head_dim, generator=generator, sharing=settings.sharing)
    structures = _structures(settings.d_model, settings.head_dim, settings.seed)
    found = Found(head, run_head(x, head), structures)
    panel.follow(partial(_angle, panel), partial(_picture, settings, found))
    claim_cards(_cards(settings, structures))
    return "angle"


def _angle(panel: Panel) -> int:
    return panel.slider("angle", _("“bank” asks: place 0°, money 90°"), 0, 90, default=0, step=5, format="%d°")


def _picture(settings: Settings, found: Found, angle: int) -> None:
    senses = look_around(angle)
    look_for(*_in_words(settings, found, senses, angle), beside=_table(settings, found.structures))
    plot = figure(
        "qkv.matrices",
        _arranged(_pair(settings, found.trace), _rank_curves(settings), _bank(senses)),
        alt=_(
            "Two heatmaps of the same tokens: the scores, and the weights after softmax. Curves for every variant: the "
            "measured rank of the stacked projection against d_model. Bars: how the query of “bank” shares its "
            "attention among river, bank and account."
        ),
    )
    qkv_fold.draw(
        lambda: _formulas(settings, found.structures),
        code=(random_head, measure_structure, stacked_rank, look_around),
        plots=[plot],
        program=lambda library: head_program(Library(library), found.trace, found.head),
    )


def _arranged(pair: Part, ranks: Part, bank: Part) -> Sequence[Sequence[Part]]:
    """In one row where there is room for the legend of the ranks."""
    if room() >= ONE_ROW:
        return [[pair, ranks, bank]]
    return [[replace(pair, share=1.0)], [replace(ranks, share=0.5), replace(bank, share=0.5)]]


def _pair(settings: Settings, trace: HeadTrace) -> Part:
    return part(
        "pair",
        heatmaps.panels,
        heatmaps.panels_data({"scores": trace.scores.numpy(), "weights": trace.weights.numpy()}),
        share=0.43,
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
        height=CHART_HEIGHT,
        clickable=False,
    )


def _table(settings: Settings, structures: Mapping[str, Structure]) -> str:
    """All variants beside each other, as HTML; the chosen one is marked."""
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
    what = _(
        "{trials} random inputs of {tokens} tokens. S−Sᵀ: largest difference of the scores to their transpose."
    ).format(trials=TRIALS, tokens=SEQ_LEN)
    return f'<table class="atlas-facts"><tr>{head}</tr>{rows}</table><small>{html.escape(what)}</small>'


def _in_words(settings: Settings, found: Found, senses: Senses, angle: int) -> Sequence[str]:
    measured = found.structures[settings.sharing]
    sentences = [
        _(
            "The scores S below differ from Sᵀ by {scores:.0%} of the largest, the weights A by {weights:.0%}. Of the "
            "random tokens, {share:.0%} score highest with themselves; by chance it would be {chance:.0%}."
        ).format(
            scores=asymmetry(found.trace.scores),
            weights=asymmetry(found.trace.weights),
            share=measured.self_share,
            chance=1 / SEQ_LEN,
        ),
        _(
            "“bank” asks at {angle}°: in “river bank” river gets {river:.0%}, in “bank account” account gets "
            "{account:.0%}. One head asks both sentences the same, for q = x·W_Q: only another head, or an x that has "
            "read its context, turns it."
        ).format(angle=angle, river=float(senses.river_bank[0]), account=float(senses.bank_account[1])),
    ]
    if settings.cut:
        sentences.append(
            _("The sentence was cut after {count} tokens: this page has room for no more.").format(count=MOST_TOKENS)
        )
    return sentences


def _rank_curves(settings: Settings) -> Part:
    ranks = _ranks(settings.head_dim, settings.seed)
    return part(
        "ranks",
        curves.curves,
        curves.curves_data([D_MODELS] * len(ranks), list(ranks.values()), marks=(settings.d_model,)),
        share=0.27,
        series=(_("three"), "V = K", "Q = K", _("one"), _("none")),
        legend_columns=3,
        x=curves.Axis("d_model", ticks=(16, 64, 128, 192, 256), format="d"),
        y=curves.Axis(_("rank"), domain=(0.0, 260.0), ticks=(0, 64, 128, 192, 256), format="d"),
        title=_("Measured rank of [W_Q W_K W_V]"),
        height=CHART_HEIGHT,
    )


def _bank(senses: Senses) -> Part:
    return part(
        "bank",
        bars.attention_bars,
        bars.attention_bars_data(senses.together.numpy(), uniform=True),
        share=0.3,
        keys=WORDS,
        words=bars.AttentionWords(axis=_("weight"), key=_("key"), weight=_("weight"), masked=_("masked")),
        title=_("“bank” looks at"),
        height=CHART_HEIGHT,
    )


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

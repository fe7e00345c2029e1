"""One pair of dimensions: the arrows of a query and a key, turned by their positions."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from core.charts import curves, pair_bars, plane
from core.positions.distance import Vectors, scores_by_distance
from core.positions.frequencies import wavelengths
from core.positions.pairing import Pairing
from core.positions.plane import Turned, only_pair, turn_pairs
from core.positions.scalings import Scaled, Unscaled
from pages.components import rope_fold
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.plot import Plot, clicks, figure, part, picked
from pages.components.rope_scene import View, choose_base, choose_seed, choose_size, drawn
from pages.components.words import look_for

KEY = "rope.turn"
SIZES = (16, 64, 128)
FARTHEST = 64  # position
PAIRING = Pairing.HALF_SPLIT
HEIGHT = 230
TALLEST_SCORE, TALLEST_PAIRS = 6.0, {16: 2.2, 64: 1.5, 128: 1.4}  # where the axes end, for every seed and base


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the sliders say."""

    head_dim: int
    pair: int
    shift: int
    m: int
    n: int
    base: float
    seed: int

    @property
    def distance(self) -> int:
        return self.m - self.n

    @property
    def query_at(self) -> int:
        return self.m + self.shift

    @property
    def key_at(self) -> int:
        return self.n + self.shift


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was computed from it."""

    q: Tensor  # (head_dim,)
    k: Tensor
    scaled: Scaled
    turned: Turned
    score_before: float  # without the shift
    distances: Tensor  # (count,)
    scores: Tensor  # (count,), of the whole head
    pair_scores: Tensor  # (count,), what the pair adds to it


def view(panel: Panel) -> View:
    head_dim = choose_size(panel, "head_dim", SIZES, default=64)
    return partial(_sliders, panel, head_dim), partial(_picture, panel)


def _sliders(panel: Panel, head_dim: int) -> Chosen:
    pair = panel.slider("pair", _("Pair"), 0, head_dim // 2 - 1, default=3, step=1)
    shift = panel.slider("shift", _("Shift both"), 0, 100, default=0, step=1)
    m = panel.slider("m", _("Position m of the query"), 0, FARTHEST, default=9, step=1)
    n = panel.slider("n", _("Position n of the key"), 0, FARTHEST, default=4, step=1)
    return Chosen(head_dim, pair, shift, m, n, choose_base(panel), choose_seed(panel))


def compute(chosen: Chosen) -> Found:
    (q,), (k,) = drawn(Vectors.RANDOM, chosen.head_dim, 1, chosen.seed)
    scaled = Unscaled().apply(chosen.head_dim, base=chosen.base)
    turned = turn_pairs(q, k, chosen.query_at, chosen.key_at, scaled, pairing=PAIRING)
    before = turn_pairs(q, k, chosen.m, chosen.n, scaled, pairing=PAIRING) if chosen.shift else turned
    distances = torch.arange(-FARTHEST, FARTHEST + 1)
    both = torch.stack((q, only_pair(q, chosen.pair, pairing=PAIRING)))  # (2, head_dim)
    scores, pair_scores = scores_by_distance(both, k.expand_as(both), distances, scaled, pairing=PAIRING)
    return Found(q, k, scaled, turned, before.score, distances, scores, pair_scores)


def _picture(panel: Panel, chosen: Chosen) -> None:
    found = compute(chosen)
    look_for(*_in_words(chosen, found), beside=_numbers(chosen, found))
    rope_fold.of_turn(chosen, found, (_figure(panel, chosen, found),))


def _figure(panel: Panel, chosen: Chosen, found: Found) -> Plot:
    turned, pair = found.turned, chosen.pair
    arrows = part(
        "plane",
        plane.plane,
        plane.plane_data(
            torch.stack((turned.q[pair], turned.k[pair])),
            torch.stack((turned.q_turned[pair], turned.k_turned[pair])),
            torch.stack((turned.q_angles[pair], turned.k_angles[pair])),
        ),
        share=0.31,
        words=plane.PlaneWords(
            query=_("query"),
            key=_("key"),
            unturned=_("not turned"),
            first=_("first dimension"),
            second=_("second dimension"),
            turn=_("turned by"),
            between=_("angle between them"),
        ),
        title=_("The pair: before (dashed) and after"),
        height=HEIGHT,
    )
    bars = part(
        "pairs",
        pair_bars.pair_bars,
        pair_bars.pair_bars_data(turned.pair_scores, chosen=pair, nonce=clicks(KEY)),
        share=0.31,
        count=chosen.head_dim // 2,
        limit=TALLEST_PAIRS[chosen.head_dim],
        words=pair_bars.PairWords(pair=_("pair"), value=_("adds to the score")),
        title=_("All pairs: click to choose"),
        height=HEIGHT,
    )
    against = part(
        "distance",
        curves.curves,
        curves.curves_data([found.distances] * 2, [found.scores, found.pair_scores], marks=[chosen.distance]),
        share=0.38,
        series=(_("score"), _("this pair")),
        x=curves.Axis(_("distance m − n"), domain=(-FARTHEST, FARTHEST)),
        y=curves.Axis(_("score"), domain=(-TALLEST_SCORE, TALLEST_SCORE)),
        symbols=False,
        title=_("The score for every distance"),
        height=HEIGHT - 24,
    )
    return figure(
        KEY,
        [[arrows, bars, against]],
        name=_("turned pair"),
        alt=_(
            "A plane with the arrows of query and key before and after they are turned; bars: what each pair adds to "
            "the score; curves: the score against the distance, a dashed line marks the distance now."
        ),
        on_select=partial(_clicked, panel),
    )


def _clicked(panel: Panel) -> None:
    pair = picked(KEY, "pairs_pair", "i")
    if pair is not None:
        panel.put({"pair": int(pair)})


def _numbers(chosen: Chosen, found: Found) -> str:
    """Positions and angles as a table, and the score below it; HTML."""
    turned, pair = found.turned, chosen.pair
    theta = float(found.scaled.frequencies[pair])
    rows = [
        (_("q at m"), chosen.query_at, float(turned.q_angles[pair])),
        (_("k at n"), chosen.key_at, float(turned.k_angles[pair])),
        (_("difference"), chosen.distance, float(turned.angles_between[pair])),
    ]
    heads = ("", _("position"), "× θ", _("angle in rad"), _("in turns"))
    cells = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{position}</td><td>×\N{NO-BREAK SPACE}{theta:.6g}</td>"
        f"<td>{angle:.5g}</td><td>{angle / (2 * torch.pi):.3g}</td></tr>"
        for name, position, angle in rows
    )
    head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
    score, adds = html.escape(_("The score is")), html.escape(_("of which this pair adds"))
    return (
        f'<table class="atlas-grid"><tr>{head}</tr>{cells}</table><div class="atlas-tokens"><span>{score}</span>'
        f'<span class="atlas-result">{turned.score:+.6f}</span><span>{adds}</span>'
        f'<span class="atlas-result">{float(turned.pair_scores[pair]):+.6f}</span></div>'
    )


def _in_words(chosen: Chosen, found: Found) -> Sequence[str]:
    pair, theta = chosen.pair, found.scaled.frequencies[chosen.pair]
    sentences = [
        _(
            "Pair {pair} is made of dimensions {first} and {second}. It turns by {theta:.4g} rad from token to token, "
            "so that one turn takes {wavelength:,.1f} tokens."
        ).format(
            pair=pair,
            first=pair,
            second=pair + chosen.head_dim // 2,
            theta=float(theta),
            wavelength=float(wavelengths(theta)),
        )
    ]
    if chosen.shift:
        sentences.append(
            _(
                "Both stand {shift} tokens farther on: both arrows turned by {angle:.3g} rad more, and the score "
                "changed by {change:.1g}, which is rounding."
            ).format(
                shift=chosen.shift,
                angle=float(chosen.shift * theta),
                change=abs(found.turned.score - found.score_before),
            )
        )
    else:
        sentences.append(
            _("“Shift both” turns both arrows and leaves every score as it is; m or n alone changes the angle between.")
        )
    return sentences

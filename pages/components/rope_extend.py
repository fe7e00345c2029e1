"""Longer texts than those of the training: what each method makes of positions, angles and base; and small numbers."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch

from core.charts import curves
from core.claims.rope import Interpolation, interpolate
from core.positions.distance import spread
from core.positions.extension import Extended, extend
from core.positions.frequencies import Waves, waves
from core.positions.precision import AngleErrors, angle_errors
from core.positions.rope import inverse_frequencies
from core.positions.scalings import Method
from pages.components import rope_fold
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.plot import Plot, figure, part
from pages.components.rope_scene import View, choose_base, choose_lengths, choose_size, method_names
from pages.components.words import look_for

KEY = "rope.extend"
SIZES = (64, 128, 256)
SHOWN = 8  # tokens
FARTHEST = 1_000_000  # position at which small numbers are tried
TRIED = 43  # positions up to there
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the controls say."""

    head_dim: int
    trained: int
    target: int
    base: float

    @property
    def factor(self) -> float:
        return self.target / self.trained


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was computed from it."""

    rows: Sequence[Extended]
    as_trained: Waves
    first: Interpolation
    tried: torch.Tensor  # (count,), positions
    errors: Sequence[AngleErrors]  # one for each of TYPES


def view(panel: Panel) -> View:
    head_dim = choose_size(panel, "extended_dim", SIZES, default=128)
    return partial(_sliders, panel, head_dim), _picture


def _sliders(panel: Panel, head_dim: int) -> Chosen:
    trained, target = choose_lengths(panel)
    return Chosen(head_dim, trained, target, choose_base(panel))


def compute(chosen: Chosen) -> Found:
    lengths = {"trained_len": chosen.trained, "target_len": chosen.target}
    frequencies = inverse_frequencies(chosen.head_dim, base=chosen.base)
    tried = spread(FARTHEST, TRIED)
    return Found(
        extend(chosen.head_dim, base=chosen.base, shown=SHOWN, **lengths),
        waves(frequencies, chosen.trained),
        interpolate(SHOWN, **lengths),
        tried,
        [angle_errors(tried, frequencies, dtype) for dtype in TYPES.values()],
    )


def _picture(chosen: Chosen) -> None:
    found = compute(chosen)
    look_for(*_in_words(chosen, found), beside=_table(found))
    rope_fold.of_extension(chosen, found, (_figure(chosen, found),))


def _figure(chosen: Chosen, found: Found) -> Plot:
    width, methods = chosen.head_dim // 2, tuple(method_names().values())
    reach = part(
        "reach",
        curves.curves,
        curves.curves_data(
            [range(width)] * len(methods),
            [row.reach for row in found.rows],
            marks=[found.as_trained.boundary],
        ),
        share=0.44,
        series=methods,
        legend_columns=3,
        x=curves.Axis(_("pair; right of the dashed line none completes a turn in training"), domain=(0, width - 1)),
        y=curves.Axis(
            _("last angle ÷ largest trained"), log=True, domain=(0.5, 128), ticks=(1, 2, 4, 8, 16, 32, 64, 128)
        ),
        symbols=False,
        title=_("How far the last token is turned"),
        height=150,
    )
    first = part(
        "first",
        curves.curves,
        curves.curves_data([range(SHOWN)] * 2, [found.first.fractional, found.first.truncated]),
        share=0.24,
        series=(_("fractional"), _("cut off")),
        x=curves.Axis(_("token"), domain=(0, SHOWN - 1), ticks=tuple(range(SHOWN))),
        y=curves.Axis(_("position")),
        title=_("Interpolated positions"),
        height=166,
    )
    small = part(
        "precision",
        curves.curves,
        curves.curves_data(
            [found.tried] * len(found.errors),
            [errors.by_position for errors in found.errors],
            marks=[chosen.target],
        ),
        share=0.32,
        series=tuple(TYPES),
        x=curves.Axis(_("position"), log=True, domain=(1, FARTHEST), ticks=(1, 100, 10_000, FARTHEST), format="~s"),
        y=curves.Axis(_("largest error"), log=True, domain=(1e-8, 2), ticks=(1e-8, 1e-6, 1e-4, 1e-2, 1), format=".0e"),
        symbols=False,
        title=_("Cosines in small numbers"),
        height=166,
    )
    return figure(
        KEY,
        [[reach, first, small]],
        name=_("longer texts"),
        alt=_(
            "Curves: how far each method turns the last token, in times of the largest angle of the training, for "
            "every pair; interpolated positions of the first tokens, fractional and cut off; the error of cosines "
            "whose angles were computed in float32 and in bfloat16, against the position."
        ),
    )


def _table(found: Found) -> str:
    """Base, positions, angles and pairs beyond the training for each method; HTML."""
    heads = (
        _("method"),
        _("base"),
        _("first tokens at"),
        _("last at"),
        _("its slowest turn"),
        _("unseen pairs"),
    )
    names = method_names()
    rows = []
    for row in found.rows:
        rows.append(
            (
                names[row.method],
                f"{row.scaled.base:,.0f}",
                _numbers(row.positions.tolist()),
                f"{row.last_position:,.6g}",
                f"{float(row.last_angles[-1]):.3f} rad",
                f"{row.unseen_count}",
            )
        )
        if row.method is Method.LINEAR:
            rows.append((_("… as printed"), "", _numbers(found.first.truncated.tolist()), "", "", ""))
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    return f'<table class="atlas-grid" style="white-space:nowrap"><tr>{head}</tr>{body}</table>'


def _numbers(positions: Sequence[float]) -> str:
    return " ".join(f"{position:.3g}" for position in positions)


def _in_words(chosen: Chosen, found: Found) -> Sequence[str]:
    by_method = {row.method: row for row in found.rows}
    errors = {name: one.by_position for name, one in zip(TYPES, found.errors, strict=True)}
    return (
        _(
            "{target:,} tokens are {factor:.3g} times {trained:,}. {count} of {width} pairs never complete a turn in "
            "training; unscaled, {unseen} of them would go to angles that were never seen."
        ).format(
            target=chosen.target,
            factor=chosen.factor,
            trained=chosen.trained,
            count=found.as_trained.incomplete_count,
            width=chosen.head_dim // 2,
            unseen=by_method[Method.NONE].unseen_count,
        ),
        _(
            "NTK takes the base {base:,.0f}. Dynamic NTK follows the length of the text: at the target length it is "
            "the same. YaRN multiplies q and k by {attention:.3f} as well."
        ).format(base=by_method[Method.NTK].scaled.base, attention=by_method[Method.YARN].scaled.attention_factor),
        _(
            "At position {far:,} a cosine is wrong by up to {float32:.2g} if its angle was computed in float32, and "
            "by {bfloat16:.2g} in bfloat16. This page computes angles in float64."
        ).format(far=FARTHEST, float32=float(errors["float32"][-1]), bfloat16=float(errors["bfloat16"][-1])),
    )

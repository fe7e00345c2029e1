"""The matrix that moves every position on by the same offset."""

from collections.abc import Sequence

import torch

from core.charts import curves, fields
from core.positions.sinusoidal import PositionShift
from pages.components.i18n import _
from pages.components.plot import Part, Plot, figure, part
from pages.components.sinusoidal_scene import FEW_POINTS, Waves, tiny
from pages.components.words import look_for

HEIGHT = 300


def view(waves: Waves) -> Sequence[Plot]:
    found = waves.moved
    look_for(*_in_words(waves, found))
    plot = figure(
        "sinusoidal.shift",
        [[_matrix(waves, found), _seen(waves, found), _residuals(waves, found)]],
        name=_("shift"),
        alt=_(
            "Heatmap: the shift matrix, rotations along its diagonal; heatmap: a position, the same multiplied by "
            "the matrix, and the position that lies there; curve: the residual of every position."
        ),
    )
    return (plot,)


def _matrix(waves: Waves, found: PositionShift) -> Part:
    drawn = waves.columns
    return part(
        "matrix",
        fields.field,
        fields.field_data(
            found.matrix[drawn][:, drawn], rows=drawn, columns=drawn, size=(waves.d_model, waves.d_model)
        ),
        share=0.35,
        words=fields.FieldWords(
            row_axis=_("dimension of PE(pos + k)"),
            column_axis=_("dimension of PE(pos)"),
            row=_("row"),
            column=_("column"),
            value=_("entry of M"),
        ),
        title=_("M, from −1 (blue) to 1 (orange)"),
        height=HEIGHT,
        clickable=False,
    )


def _seen(waves: Waves, found: PositionShift) -> Part:
    drawn = waves.columns
    three = torch.stack((waves.encoding[waves.m], found.shifted[waves.m], found.encoded[waves.m]))  # (3, d_model)
    return part(
        "seen",
        fields.field,
        fields.field_data(three[:, drawn], columns=drawn, size=(3, waves.d_model)),
        share=0.35,
        rows=("PE(pos)", "M · PE(pos)", "PE(pos + k)"),
        words=fields.FieldWords(
            row_axis="", column_axis=_("dimension"), row=_("vector"), column=_("dimension"), value=_("value")
        ),
        title=_("Moved on, and what lies there"),
        height=HEIGHT,
        clickable=False,
    )


def _residuals(waves: Waves, found: PositionShift) -> Part:
    return part(
        "residuals",
        curves.curves,
        curves.curves_data([range(waves.length)], [found.residuals], marks=[waves.m]),
        share=0.3,
        series=(_("residual"),),
        x=curves.Axis(_("position")),
        y=curves.Axis(_("largest |M · PE(pos) − PE(pos + k)|"), format=".1e"),
        symbols=waves.length <= FEW_POINTS,
        title=_("The residual of each position"),
        height=HEIGHT - 24,
    )


def _in_words(waves: Waves, found: PositionShift) -> Sequence[str]:
    sentences = [
        _(
            "Position {there} seen from position {here}: M · PE({here}) and PE({there}) differ by at most {difference}."
        ).format(here=waves.m, there=waves.m + waves.offset, difference=tiny(float(found.residuals[waves.m]))),
        _(
            "M is the same for all {length} positions; its largest residual is {residual}, the rounding of "
            "float64. Every pair of dimensions is turned by k times its own frequency."
        ).format(length=waves.length, residual=tiny(found.residual)),
    ]
    if len(waves.columns) < waves.d_model:
        sentences.append(
            _("{columns} of {d_model} dimensions are drawn.").format(columns=len(waves.columns), d_model=waves.d_model)
        )
    return sentences

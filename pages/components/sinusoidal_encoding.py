"""The encoding as a heatmap, two of its dimensions along the positions, two of its positions along the dimensions."""

import html
from collections.abc import Sequence

import torch
from torch import Tensor

from core.charts import curves, fields
from core.positions.frequencies import wavelengths
from core.positions.sinusoidal import dimension_frequencies, similarity_by_distance
from pages.components.i18n import _
from pages.components.numbers import signed
from pages.components.plot import Part, Plot, clicks, figure, part, picked
from pages.components.sinusoidal_scene import FEW_POINTS, Waves
from pages.components.words import look_for

KEY = "sinusoidal.encoding"
HEIGHT = 290
PRINTED = 10  # dimensions of the chosen positions that are written out


def view(waves: Waves) -> Sequence[Plot]:
    encoding = waves.encoding  # (length, d_model)
    look_for(*_in_words(waves), beside=_numbers(waves, encoding))
    plot = figure(
        KEY,
        [[_heatmap(waves, encoding), _dimensions(waves, encoding), _positions(waves, encoding)]],
        name=_("encoding"),
        alt=_(
            "Heatmap: the encoding, a row for each position and a column for each dimension; curves: two dimensions "
            "along the positions, and two positions along the dimensions, which are outlined in the heatmap."
        ),
        on_select=lambda: _clicked(waves),
    )
    return (plot,)


def _clicked(waves: Waves) -> None:
    """A cell: its position becomes m, its dimension i."""
    row, column = picked(KEY, "field_cell", "row"), picked(KEY, "field_cell", "column")
    if row is not None:
        waves.panel.put({"m": int(row), "i": int(column)})


def _heatmap(waves: Waves, encoding: Tensor) -> Part:
    rows, columns = waves.rows, waves.columns
    return part(
        "field",
        fields.field,
        fields.field_data(
            encoding[rows][:, columns],
            rows=rows,
            columns=columns,
            size=(waves.length, waves.d_model),
            outlined_rows=(waves.m, waves.n),
            outlined_columns=(waves.i, waves.j),
            nonce=clicks(KEY),
        ),
        share=0.4,
        words=fields.FieldWords(
            row_axis=_("position"),
            column_axis=_("dimension"),
            row=_("position"),
            column=_("dimension"),
            value=_("PE"),
        ),
        row_outlines=("m", "n"),
        column_outlines=("i", "j"),
        title=_("PE, from −1 (blue) to 1 (orange): click a cell"),
        height=HEIGHT,
    )


def _dimensions(waves: Waves, encoding: Tensor) -> Part:
    positions = range(waves.length)
    return part(
        "dimensions",
        curves.curves,
        curves.curves_data(
            [positions] * 2, [encoding[:, waves.i], encoding[:, waves.j]], marks=sorted({waves.m, waves.n})
        ),
        share=0.3,
        series=(_("dimension i"), _("dimension j")),
        x=curves.Axis(_("position")),
        y=curves.Axis(_("PE"), domain=(-1, 1), ticks=(-1, -0.5, 0, 0.5, 1)),
        symbols=waves.length <= FEW_POINTS,
        title=_("Two dimensions"),
        height=HEIGHT - 24,
    )


def _positions(waves: Waves, encoding: Tensor) -> Part:
    dimensions = range(waves.d_model)
    return part(
        "positions",
        curves.curves,
        curves.curves_data([dimensions] * 2, [encoding[waves.m], encoding[waves.n]], marks=sorted({waves.i, waves.j})),
        share=0.3,
        series=(_("position m"), _("position n")),
        x=curves.Axis(_("dimension")),
        y=curves.Axis(_("PE"), domain=(-1, 1), ticks=(-1, -0.5, 0, 0.5, 1)),
        symbols=waves.d_model <= FEW_POINTS,
        title=_("Two positions"),
        height=HEIGHT - 24,
    )


def _numbers(waves: Waves, encoding: Tensor) -> str:
    """The first dimensions of the two positions, in HTML."""
    lines = "".join(
        f"<tr><th>PE({position})</th>"
        + "".join(f"<td>{signed(value, 3)}</td>" for value in encoding[position, :PRINTED].tolist())
        + "</tr>"
        for position in (waves.m, waves.n)
    )
    title = _("The first dimensions of positions m and n")
    table = f'<table class="atlas-grid dense" style="white-space: nowrap">{lines}</table>'
    return f'<div class="atlas-look"><b>{html.escape(title)}</b><div style="overflow-x: auto">{table}</div></div>'


def _in_words(waves: Waves) -> Sequence[str]:
    lengths = wavelengths(dimension_frequencies(waves.d_model, base=waves.base)).tolist()
    first, second = lengths[waves.i], lengths[waves.j]
    if waves.i == waves.j:
        about = _("Dimension {i} repeats after {first:,.1f} positions.")
    elif waves.i // 2 == waves.j // 2:
        about = _("Dimensions {i} and {j} are one pair: a sine and a cosine that repeat after {first:,.1f} positions.")
    else:
        about = _("Dimension {i} repeats after {first:,.1f} positions, dimension {j} after {second:,.1f}.")
    return (
        about.format(i=waves.i, j=waves.j, first=first, second=second),
        similarity(waves),
        _what_is_drawn(waves),
    )


def similarity(waves: Waves) -> str:
    """The dot product of the two positions, beside that of a position with itself."""
    itself = float(similarity_by_distance(torch.tensor(0), waves.d_model, base=waves.base))
    return _(
        "PE({m}) · PE({n}) = {apart:.2f}, as for any two positions {distance} apart; with itself a position gives "
        "{itself:g}, half of d_model."
    ).format(m=waves.m, n=waves.n, apart=waves.similarity, distance=abs(waves.m - waves.n), itself=itself)


def _what_is_drawn(waves: Waves) -> str:
    """A sentence if the heatmap is coarser than the encoding."""
    if len(waves.rows) == waves.length and len(waves.columns) == waves.d_model:
        return ""
    return _("The heatmap draws {rows} of {length} positions and {columns} of {d_model} dimensions.").format(
        rows=len(waves.rows), length=waves.length, columns=len(waves.columns), d_model=waves.d_model
    )

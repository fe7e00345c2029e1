"""How long the waves are, dimension by dimension, and what positions make of each other at a distance."""

from collections.abc import Sequence

import torch

from core.charts import curves
from core.claims.sinusoidal import FrequencyComparison, compare_frequencies
from core.positions.frequencies import wavelengths
from core.positions.sinusoidal import similarities, similarity_by_distance
from pages.components.i18n import _
from pages.components.plot import Part, Plot, figure, part
from pages.components.sinusoidal_encoding import similarity
from pages.components.sinusoidal_scene import FEW_POINTS, Waves
from pages.components.words import look_for

HEIGHT = 300


def view(waves: Waves) -> Sequence[Plot]:
    compared = compare_frequencies(waves.d_model, base=waves.base)
    look_for(*_in_words(waves, compared))
    plot = figure(
        "sinusoidal.waves",
        [[_wavelengths(waves, compared), _distance(waves)]],
        name=_("wavelengths and distance"),
        alt=_(
            "Curves: the wavelength of every dimension on a logarithmic axis, as measured and as printed; and the dot "
            "product of two positions against their distance."
        ),
    )
    return (plot,)


def _wavelengths(waves: Waves, compared: FrequencyComparison) -> Part:
    dimensions = range(waves.d_model)
    ends = [0, waves.d_model - 1]
    shortest, longest = limits(waves)
    return part(
        "lengths",
        curves.curves,
        curves.curves_data(
            [dimensions, dimensions, ends, ends, ends],
            [
                wavelengths(compared.measured),
                wavelengths(compared.printed),
                [shortest] * 2,
                [longest] * 2,
                [waves.length] * 2,
            ],
        ),
        share=0.5,
        series=(_("measured"), _("as printed"), "2π", _("base · 2π"), _("length")),
        x=curves.Axis(_("dimension")),
        y=curves.Axis(_("wavelength in positions"), log=True),
        symbols=waves.d_model <= FEW_POINTS,
        title=_("After how many positions each dimension repeats"),
        height=HEIGHT,
    )


def limits(waves: Waves) -> tuple[float, float]:
    """What the wavelengths start from, and what they stay below."""
    shortest, longest = wavelengths(torch.tensor([1.0, 1 / waves.base], dtype=torch.float64)).tolist()
    return shortest, longest


def _distance(waves: Waves) -> Part:
    far = waves.length - 1
    distances = torch.arange(-far, far + 1)
    positions = torch.arange(waves.length)
    return part(
        "distance",
        curves.curves,
        curves.curves_data(
            [distances, positions - waves.m],
            [
                similarity_by_distance(distances, waves.d_model, base=waves.base),
                similarities(waves.encoding)[waves.m],
            ],
            marks=[waves.n - waves.m],
        ),
        share=0.5,
        series=(_("from the distance alone"), _("PE(m) · PE(n) for every n")),
        x=curves.Axis(_("distance n − m")),
        y=curves.Axis(_("dot product")),
        symbols=waves.length <= FEW_POINTS,
        title=_("The dot product knows only the distance: move m"),
        height=HEIGHT,
    )


def _in_words(waves: Waves, compared: FrequencyComparison) -> Sequence[str]:
    lengths = wavelengths(compared.measured)
    whole = int((lengths <= waves.length).sum())
    shortest, longest = limits(waves)
    return (
        _(
            "The wavelengths go from 2π = {shortest:.2f} to {last:,.0f}; they would reach base · 2π = {longest:,.0f} "
            "one pair later. {whole} of {d_model} dimensions repeat within {length} positions."
        ).format(
            shortest=shortest,
            last=float(lengths[-1]),
            longest=longest,
            whole=whole,
            d_model=waves.d_model,
            length=waves.length,
        ),
        _(
            "Two dimensions share a step: they are one pair. The formula as often printed gives the odd ones a wave "
            "of their own, up to {error:.1%} away."
        ).format(error=compared.odd_error),
        similarity(waves),
    )

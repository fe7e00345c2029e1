"""The two palettes: readable, in order, and safe for colour-blind readers."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import numpy.typing as npt
import pytest

from core.charts.colour import Ramp, channels, contrast, luminance, mix
from core.charts.theme import PROJECTOR, Style, style

LOOKS = [style("light"), style("dark")]
both = pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.name)

# Machado, Oliveira and Fernandes 2009, table 1 at severity 1.0: what a linear RGB colour becomes.
COLOUR_BLIND = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}


def oklab(colour: str, seen: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Björn Ottosson's perceptual space, where distance means difference; ``seen`` changes linear RGB first."""
    rgb = np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour)])
    rgb = np.clip(np.asarray(seen) @ rgb, 0, 1)
    to_lms = [
        [0.41222147, 0.53633254, 0.05144599],
        [0.2119035, 0.6806995, 0.10739696],
        [0.08830246, 0.28171884, 0.6299787],
    ]
    to_lab = [
        [0.21045426, 0.79361779, -0.00407205],
        [1.97799850, -2.42859221, 0.45059371],
        [0.02590404, 0.78277177, -0.80867577],
    ]
    return np.asarray(to_lab @ np.cbrt(to_lms @ rgb))


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # the well-known grey just below 4.5
    assert luminance("#ff0000") == pytest.approx(0.2126)


@pytest.mark.parametrize("colour", ["red", "#fff", "2456a6#"])
def test_a_colour_is_written_in_full(colour: str) -> None:
    with pytest.raises(ValueError, match="must be written as #rrggbb"):
        channels(colour)


def test_mix_goes_from_one_to_the_other() -> None:
    assert [mix("#000000", "#ff8000", share) for share in (0, 0.5, 1)] == ["#000000", "#804000", "#ff8000"]


@both
def test_text_is_readable_on_the_page(look: Style) -> None:
    for colour in (look.text, look.muted, look.accent, look.primary):
        assert contrast(colour, look.background) >= 4.5
    assert contrast(look.muted, look.surface) >= 4.5
    assert contrast(look.on_primary, look.primary) >= 4.5
    assert contrast(look.hatch, look.masked) >= 1.9  # a texture, not text


@both
@pytest.mark.parametrize("name", ["weights", "scores"])
def test_numbers_are_readable_on_every_cell(look: Style, name: str) -> None:
    ramp: Ramp = getattr(look, name)
    for value in np.linspace(ramp.low, ramp.high, 501):
        cell = ramp.at(float(value))
        assert max(contrast(look.dark_ink, cell), contrast(look.light_ink, cell)) >= 4.5


@both
def test_weights_grow_away_from_the_page_in_even_steps(look: Style) -> None:
    lightness = [oklab(look.weights.at(w), np.eye(3))[0] for w in np.linspace(0, 1, 13)]
    steps = np.diff(lightness) * (-1 if look.name == "light" else 1)
    assert steps.min() > 0.02
    assert steps.max() < 4 * steps.min()
    assert contrast(look.weights.at(0), look.background) < 1.3
    assert contrast(look.weights.at(1), look.background) > 9


@both
def test_scores_part_from_a_quiet_middle(look: Style) -> None:
    assert contrast(look.scores.at(0), look.background) < 1.2
    away = [contrast(look.scores.at(s), look.background) for s in np.linspace(0, 5, 11)]
    below = [contrast(look.scores.at(s), look.background) for s in np.linspace(0, -5, 11)]
    assert away == sorted(away)
    assert below == sorted(below)
    for seen in (np.eye(3), *COLOUR_BLIND.values()):
        assert np.linalg.norm(oklab(look.scores.at(2.5), seen) - oklab(look.scores.at(-2.5), seen)) > 0.1


@both
@pytest.mark.parametrize("seen", [np.eye(3), *COLOUR_BLIND.values()], ids=["normal", *COLOUR_BLIND])
def test_series_stay_distinct(look: Style, seen: npt.ArrayLike) -> None:
    for one, other in itertools.combinations(look.categorical, 2):
        assert np.linalg.norm(oklab(one, seen) - oklab(other, seen)) > 0.075, (one, other)
    for colour in look.categorical:
        assert contrast(colour, look.background) >= 2.7


@both
def test_masked_is_grey_and_no_colour_of_a_scale(look: Style) -> None:
    lab = oklab(look.masked, np.eye(3))
    assert np.hypot(lab[1], lab[2]) < 0.025
    for ramp in (look.weights, look.scores):
        distances = [
            np.linalg.norm(lab - oklab(ramp.at(float(v)), np.eye(3))) for v in np.linspace(ramp.low, ramp.high, 101)
        ]
        assert min(distances) > 0.04


def test_a_ramp_is_clamped_and_hits_its_stops() -> None:
    ramp = Ramp(0, 1, ("#000000", "#ff0000", "#ffffff"))
    assert [ramp.at(v) for v in (-3, 0, 0.5, 1, 9)] == ["#000000", "#000000", "#ff0000", "#ffffff", "#ffffff"]
    assert ramp.scale().to_dict() == {
        "domain": [0, 0.5, 1],
        "range": ["#000000", "#ff0000", "#ffffff"],
        "clamp": True,
        "interpolate": "rgb",
    }


def test_ink_changes_where_the_cell_gets_dark() -> None:
    ramp = Ramp(0, 1, ("#ffffff", "#000000"))
    assert ramp.ink("datum.w", "#111111", "#eeeeee") == "datum.w <= 0.545 ? '#111111' : '#eeeeee'"
    assert Ramp(0, 1, ("#ffffff", "#eeeeee")).ink("datum.w", "#111111", "#eeeeee") == "'#111111'"


def test_projector_enlarges_type_and_nothing_else() -> None:
    normal, projector = style("light"), style("light", "projector")
    assert projector.font_size == pytest.approx(PROJECTOR * normal.font_size)
    assert dataclasses.replace(projector, scale=1.0) == normal


def test_unknown_looks_are_refused() -> None:
    with pytest.raises(ValueError, match=r"theme \('sepia'\) must be 'light' or 'dark'"):
        style("sepia")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"size \('huge'\) must be 'normal' or 'projector'"):
        style("light", "huge")  # type: ignore[arg-type]

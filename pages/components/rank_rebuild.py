"""The attention map of one head, and the nearest map of rank k."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from torch import Tensor

from core.attention_maps import coarsen
from core.charts import heatmaps
from core.charts.curves import Axis, curves, curves_data
from core.rank import reconstruct, reconstruction_errors, terms_needed
from pages.components import rank_fold
from pages.components.i18n import _, ngettext
from pages.components.plot import figure, part
from pages.components.rank_scene import Chosen, Layer, about_the_sentence, mask_of, parts_of, tokens_of, trace_of
from pages.components.words import look_for

KEY = "rank.rebuild"
HEIGHT = 300
EQUAL_SHARES = 8  # as many of them have the darkest colour, so that maps of many tokens are not pale
SMALL = 0.1  # an error that a sentence names


def draw(chosen: Chosen) -> None:
    parts = parts_of(chosen.layer, chosen.head)
    weights, rebuilt = trace_of(chosen.layer).weights[chosen.head], reconstruct(parts, chosen.k)
    errors = reconstruction_errors(parts.values)
    cells, size = coarsen(weights, heatmaps.LIMIT)
    nearest, _size = coarsen(rebuilt, heatmaps.LIMIT)
    names = _blocks(tokens_of(chosen.layer), size)
    most = min(1.0, EQUAL_SHARES / len(names))
    look_for(
        *_in_words(chosen, parts.values, errors, rebuilt),
        _about_the_picture(most, size),
        about_the_sentence(chosen.layer),
    )
    maps = part(
        "maps",
        heatmaps.panels,
        heatmaps.panels_data(
            {"weights": cells.numpy(), "nearest": nearest.numpy()}, masks=_mask(chosen.layer, cells.shape)
        ),
        share=0.66,
        queries=names,
        keys=names,
        shown=(
            heatmaps.Panel(_("Weights"), "weights", "weights", "attend", value_word=_("weight"), most=most),
            heatmaps.Panel(_("Nearest map of rank k"), "weights", "nearest", value_word=_("value"), most=most),
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
        height=HEIGHT,
        clickable=False,
    )
    curve = part(
        "errors",
        curves,
        curves_data([range(len(errors))], [errors.numpy()], marks=[chosen.k]),
        share=0.34,
        series=(_("weights without their k largest terms"),),
        x=Axis("k", least_step=1),
        y=Axis(_("relative error"), domain=(0, 1), format=".0%"),
        symbols=False,
        title=_("Error of the nearest map"),
        height=HEIGHT,
    )
    plot = figure(
        KEY,
        [[maps, curve]],
        name=_("reconstruction"),
        alt=_(
            "Two heatmaps: a head's attention weights, and the nearest map of rank k; a curve: the error for every k, "
            "the chosen one is marked."
        ),
    )
    rank_fold.draw_rebuild(chosen, errors, plot)


def _mask(layer: Layer, shape: tuple[int, ...]) -> dict[str, npt.NDArray[np.bool_]]:
    """A cell is masked if all that it stands for is."""
    mask = mask_of(layer)
    if mask is None:
        return {"attend": np.ones(shape, bool)}
    seen, _size = coarsen(mask.double(), heatmaps.LIMIT)
    return {"attend": (seen > 0).numpy()}


def _blocks(tokens: Sequence[str], size: int) -> tuple[str, ...]:
    """Labels of the cells: a block of several tokens is called by its first and its last one."""
    if size == 1:
        return tuple(tokens)
    blocks = (tokens[start : start + size] for start in range(0, len(tokens), size))
    return tuple(f"{block[0]}–{block[-1]}" for block in blocks)


def _in_words(chosen: Chosen, values: Tensor, errors: Tensor, rebuilt: Tensor) -> Sequence[str]:
    count, enough = len(values), int(terms_needed(values, error=SMALL))
    return (
        ngettext(
            "The nearest map of rank {k} is off by {error:.1%} of the size of the weights (Frobenius norms); an error "
            "of {small:.0%} needs {count} term of {all}.",
            "The nearest map of rank {k} is off by {error:.1%} of the size of the weights (Frobenius norms); an error "
            "of {small:.0%} needs {count} terms of {all}.",
            enough,
        ).format(k=chosen.k, error=float(errors[chosen.k]), small=SMALL, count=enough, all=count),
        _as_a_map(rebuilt),
    )


def _as_a_map(rebuilt: Tensor) -> str:
    """Whether it can be taken for attention weights, which are not negative and sum to 1."""
    sums = rebuilt.sum(dim=-1)
    least, low, high = float(rebuilt.min()), float(sums.min()), float(sums.max())
    if f"{abs(min(least, 0.0)):.3f} {low:.2f} {high:.2f}" == "0.000 1.00 1.00":
        return _(
            "In these digits it is an attention map: its smallest number is {least:.3f}, its rows sum to 1.00."
        ).format(least=max(least, 0.0))
    return _(
        "It is no attention map: its smallest number is {least:.3f}, its rows sum to {low:.2f} to {high:.2f}."
    ).format(least=least, low=low, high=high)


def _about_the_picture(most: float, size: int) -> str:
    if size == 1:
        return _("Colours run from 0 to {most:.3g}; the tooltip says the exact number.").format(most=most)
    return _(
        "Colours run from 0 to {most:.3g}. Drawn coarser: a cell is what {size} neighbouring queries, in the mean, "
        "give to {size} neighbouring keys. All numbers are those of the full map."
    ).format(most=most, size=size)

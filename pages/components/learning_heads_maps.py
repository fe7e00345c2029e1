"""Where the heads of one layer have learnt to look: on the answers of every look-up, and on an example."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from core.charts import heatmaps
from pages.components.i18n import _
from pages.components.learning_heads_words import keys, queries
from pages.components.plot import Part, part

HEIGHT = 170
NO_CELLS = np.empty((0, 0))  # of a map of which nothing is known yet
MANY = 8  # heads; their maps are too narrow for a long name of an axis


def focus(look_ups: int, num_heads: int, found: Mapping[str, Any]) -> Part:
    """How much of its weight every head puts on the answers of every look-up."""
    return part(
        "focus",
        heatmaps.heatmap,
        heatmaps.heatmap_data(found.get("focus", NO_CELLS)),
        share=0.2,
        queries=tuple(str(head) for head in range(1, num_heads + 1)),
        keys=tuple(str(look_up) for look_up in range(1, look_ups + 1)),
        kind="weights",
        words=heatmaps.Words(
            row_axis=_("head"),
            column_axis=_("look-up"),
            query=_("head"),
            key=_("look-up"),
            value=_("mean weight on its answers"),
        ),
        title=_("Weight on the answers"),
        height=HEIGHT,
        clickable=False,
    )


def attention(num_heads: int, found: Mapping[str, Any]) -> Part:
    names = [f"head_{head}" for head in range(num_heads)]
    weights = (
        [np.asarray(head) / 100 for head in found["attention"]] if "attention" in found else [NO_CELLS] * num_heads
    )
    word = _("weight")
    return part(
        "maps",
        heatmaps.panels,
        heatmaps.panels_data(dict(zip(names, weights, strict=True))),
        share=min(0.8, 0.3 * num_heads),
        queries=queries(found.get("example")),
        keys=keys(found.get("example")),
        shown=tuple(
            heatmaps.Panel(_("Head {number}").format(number=number), "weights", name, value_word=word)
            for number, name in enumerate(names, start=1)
        ),
        words=heatmaps.Words(
            row_axis=_("query: looks (for whom)"),
            column_axis=_("key: is looked at") if num_heads < MANY else _("key"),
            query=_("query"),
            key=_("key"),
            value=word,
        ),
        height=HEIGHT,
        clickable=False,
    )

"""What the views of the masks page share: the size and the words of their pictures, a row as bars, a table."""

import html
from collections.abc import Sequence

from torch import Tensor

from core.charts import bars, heatmaps
from core.fill_values import seen
from pages.components.i18n import _
from pages.components.masks_scene import Scene
from pages.components.plot import Plot, draw

PANEL_WIDTHS = {"normal": 292, "projector": 262}  # of one of three grids; what a window of 1440 pixels has room for
ROW, HIGHEST = 26, 270  # pixels


def height(rows: int) -> int:
    """Of a grid with so many rows, in pixels."""
    return min(ROW * rows, HIGHEST)


def heatmap_words(value: str = "") -> heatmaps.Words:
    """The words of a picture in which queries look at keys."""
    return heatmaps.Words(
        row_axis=_("query: looks"),
        column_axis=_("key: is looked at"),
        query=_("query"),
        key=_("key"),
        value=value,
        masked=_("masked"),
        allowed=_("may look"),
    )


def row_bars(scene: Scene, before: Tensor, after: Tensor | None) -> Plot:
    """The row of the chosen query, before the mask and after; after is None if nothing came out."""
    settings = scene.settings
    query = settings.query
    token = settings.queries[query]
    masked = after is not None
    shown = before if after is None else after
    title = _("Row of “{token}”: before the mask (dashed) and after (filled)") if masked else _("Row of “{token}”")
    visible = seen(shown, scene.attend_mask)[query].numpy() if masked else None
    return draw(
        "masks.row",
        bars.attention_bars,
        bars.attention_bars_data(
            shown[query].float().numpy(), before=before[query].float().numpy() if masked else None, attend_mask=visible
        ),
        alt=_("Bars: how the chosen query shares its attention among the keys, before and after the mask."),
        keys=settings.keys,
        before=masked,
        words=bars.AttentionWords(
            axis=_("weight"), key=_("key"), weight=_("after"), before=_("before"), masked=_("masked")
        ),
        title=title.format(token=token),
        height=140,
        expected_width=600,
    )


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], marked: int | None = None) -> str:
    """A table of texts; one row may be marked."""
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join(
        f"<tr{' class=marked' if number == marked else ''}>"
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
        + "</tr>"
        for number, row in enumerate(rows)
    )
    return f'<table class="atlas-grid"><tr>{top}</tr>{body}</table>'

"""What the views of the masks page share: the size and the words of their pictures, a row as bars, a table."""

import html
from collections.abc import Sequence

from torch import Tensor

from core.charts import bars, heatmaps
from core.fill_values import seen
from pages.components import frame
from pages.components.i18n import _
from pages.components.masks_scene import Scene
from pages.components.plot import Part, part

ROW, HIGHEST, BARS = 30, 210, 88  # pixels
PROJECTED = 0.72  # of a height that is left where all type is larger and the window is not


def height(rows: int, highest: int = HIGHEST) -> int:
    """Of a grid with so many rows, in pixels at the normal type size."""
    return min(ROW * rows, fitting(highest))


def fitting(height: int) -> int:
    """A height that leaves room for the rest of the page."""
    return round(PROJECTED * height) if frame.type_size() == "projector" else height


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


def row_bars(
    scene: Scene,
    before: Tensor,
    after: Tensor | None,
    *,
    share: float = 1,
    high: int | None = None,
    under: bool = False,
) -> Part:
    """The row of the chosen query, before the mask and after; after is None if nothing came out.

    under: it stands below the grids. high: pixels at the normal type size.
    """
    settings = scene.settings
    query = settings.query
    masked = after is not None
    shown = before if after is None else after
    visible = seen(shown, scene.attend_mask)[query].numpy() if masked else None
    return part(
        "row",
        bars.attention_bars,
        bars.attention_bars_data(
            shown[query].float().numpy(), before=before[query].float().numpy() if masked else None, attend_mask=visible
        ),
        share=share,
        keys=settings.keys,
        before=masked,
        words=bars.AttentionWords(
            axis=_("weight"), key=_("key"), weight=_("after"), before=_("before"), masked=_("masked")
        ),
        under=settings.queries if under else (),
        title=_("Outlined row (dashed: without a mask)") if masked else _("Outlined row, without a mask"),
        height=high or fitting(BARS),
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

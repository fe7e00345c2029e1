"""The second view of the masks page: how much each position sees, and which inputs each output depends on."""

from collections.abc import Sequence
from functools import partial

from torch import Tensor

from core.charts import contexts, heatmaps
from core.token_attention import visible_context
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.masks_pictures import height
from pages.components.masks_scene import Scene
from pages.components.plot import Part, Plot, clicks, figure, part, picked
from pages.components.typed import quoted
from pages.components.words import look_for

KEY = "masks.reach"
HIGHEST = 250  # pixels of both charts


def reach(panel: Panel, scene: Scene) -> Sequence[Plot]:
    """How much each position sees, and which inputs each output depends on."""
    counts, gradient = visible_context(scene.attend_mask), scene.reach
    look_for(*_reach_in_words(scene, counts, gradient))
    plot = figure(
        KEY,
        [[_contexts(scene, counts), _depends(scene, gradient)]],
        name=_("context and gradient"),
        alt=_(
            "Bars: how many keys each query may look at, and their mean as a line; heatmap: how strongly each output "
            "depends on each input, hatched where the gradient is exactly 0."
        ),
        on_select=partial(_go_to_row, panel),
    )
    return (plot,)


def _go_to_row(panel: Panel) -> None:
    row = picked(KEY, "depends_cell", "q")
    if row is not None:
        panel.put({"query": row + 1})


def _contexts(scene: Scene, counts: Tensor) -> Part:
    settings = scene.settings
    return part(
        "context",
        contexts.visible_contexts,
        contexts.visible_contexts_data(counts.numpy(), marked=settings.query),
        share=0.46,
        queries=settings.queries,
        most=len(settings.keys),
        words=contexts.ContextWords(axis=_("visible keys"), query=_("query"), mean=_("mean")),
        title=_("Visible context of each position"),
        height=height(len(settings.queries), HIGHEST),
    )


def _depends(scene: Scene, gradient: Tensor) -> Part:
    settings = scene.settings
    return part(
        "depends",
        heatmaps.heatmap,
        heatmaps.heatmap_data(
            gradient.numpy() / (float(gradient.max()) or 1.0),
            attend_mask=(gradient != 0).numpy(),
            marked_row=settings.query,
            nonce=clicks(KEY),
        ),
        share=0.54,
        queries=settings.queries,
        keys=settings.keys,
        words=heatmaps.Words(
            row_axis=_("output of"),
            column_axis=_("input of"),
            query=_("output of"),
            key=_("input of"),
            value=_("gradient, of the largest"),
            masked=_("exactly 0"),
        ),
        title=_("Gradient ∂output/∂input, as a part of the largest"),
        height=height(len(settings.queries), HIGHEST),
    )


def _reach_in_words(scene: Scene, counts: Tensor, gradient: Tensor) -> Sequence[str]:
    settings, query = scene.settings, scene.settings.query
    zero = int((gradient == 0).sum())
    sentences = [
        _("“{token}” may look at {visible} of {all} tokens; on average a position sees {mean:.2f}.").format(
            token=quoted(settings.queries[query]),
            visible=int(counts[query]),
            all=len(settings.keys),
            mean=float(counts.double().mean()),
        ),
        _("{zero} of {all} gradients are exactly 0; the mask forbids {forbidden} looks.").format(
            zero=zero, all=gradient.numel(), forbidden=int((~scene.attend_mask).sum())
        ),
    ]
    own = not settings.crosses and not scene.attend_mask[query, query] and gradient[query, query] != 0
    if own:
        sentences.append(
            _("“{token}” may not look at itself, yet its output depends on it: its own input makes its query.").format(
                token=quoted(settings.queries[query])
            )
        )
    return sentences

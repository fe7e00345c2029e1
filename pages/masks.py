"""Masks: which query may look at which key, and what happens to the rest."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

import streamlit as st

from pages.components import (
    masks_batch,
    masks_claims,
    masks_controls,
    masks_fold,
    masks_reach,
    masks_teaching,
    masks_weights,
)
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.masks_scene import scene
from pages.components.words import claim_cards, heading

VIEWS = {
    "weights": masks_weights.weights,
    "reach": masks_reach.reach,
    "batch": masks_batch.batch,
    "teaching": masks_teaching.teaching,
}
FOUR_WORDS = "The cat sat down"
PLAYED = {"weights": "query", "reach": "query", "batch": None, "teaching": "step"}


def render() -> None:
    with Panel("masks") as panel:
        settings, said = masks_controls.controls(panel)
        panel.finish(presets=_presets(), play=PLAYED[settings.view] if settings else None)

    heading(_("Masks"), _("Who may look at whom, and what becomes of the attention that a mask forbids?"), panel)
    for sentence in said:
        st.info(sentence)
    if settings is None:
        return
    shown = scene(settings)
    plots = VIEWS[settings.view](panel, shown)
    claim_cards(masks_claims.cards(shown))
    masks_fold.draw(shown, plots)


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("An empty row"): {
            "sentences": FOUR_WORDS,
            "kind": "xlnet_query",
            "order_by": "typed",
            "query": 3,
            "fill": "1e9",
        },
        _("−1e9 in float16"): {"fill": "1e9", "dtype": "float16"},
        _("Two languages"): {"kind": "cross", "view": "reach"},
    }

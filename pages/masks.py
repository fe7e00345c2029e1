"""Masks: which query may look at which key, and what happens to the rest."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from functools import partial

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
from pages.components.i18n import _, joined
from pages.components.masks_scene import Scene, scene
from pages.components.masks_sliders import sliders
from pages.components.words import claim_cards, heading

VIEWS = {
    "weights": masks_weights.weights,
    "reach": masks_reach.reach,
    "batch": masks_batch.batch,
    "teaching": masks_teaching.teaching,
}
CLAIMS_FOLLOW = ("reach", "teaching")  # the views whose claims are about what the sliders say
FOUR_WORDS = "The cat sat down"
PLAYED = {"weights": "query", "reach": "query", "batch": None, "teaching": "step"}


def render() -> None:
    with Panel("masks") as panel:
        settings, said = masks_controls.controls(panel)

    heading(_("Masks"), _("Who may look at whom, and what becomes of the attention that a mask forbids?"), panel)
    for sentence in said:
        st.info(sentence)
    if settings is None:
        panel.finish(presets=_presets())
        return
    panel.follow(partial(sliders, panel, settings), partial(_picture, panel))
    if settings.view not in CLAIMS_FOLLOW:
        claim_cards(masks_claims.cards(scene(settings)))
    panel.finish(presets=_presets(), play=PLAYED[settings.view])


def _picture(panel: Panel, shown: Scene) -> None:
    if shown.said:
        st.info(joined(shown.said))
    plots = VIEWS[shown.settings.view](panel, shown)
    masks_fold.draw(shown, plots)
    if shown.settings.view in CLAIMS_FOLLOW:
        claim_cards(masks_claims.cards(shown))


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

"""The whole Transformer: its blocks with their true shapes, what they cost, and what makes one differ from another."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from functools import partial

from pages.components import (
    transformer_blocks,
    transformer_choices,
    transformer_costs,
    transformer_families,
    transformer_stream,
)
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.transformer_scene import presets
from pages.components.words import claim_cards, heading

VIEWS = {
    "blocks": transformer_blocks,
    "costs": transformer_costs,
    "choices": transformer_choices,
    "stream": transformer_stream,
    "families": transformer_families,
}


def render() -> None:
    with Panel("transformer") as panel:
        names = {
            "blocks": _("Blocks and shapes"),
            "costs": _("What it takes"),
            "choices": _("Three choices"),
            "stream": _("Residual stream"),
            "families": _("Families and masks"),
        }
        view = panel.choice("view", _("View"), names, default="blocks")
        shown = VIEWS[view]
        settings = shown.controls(panel)

    heading(
        _("The whole Transformer"), _("What is a Transformer made of, and what does each part take and give?"), panel
    )
    panel.follow(partial(shown.sliders, panel, settings), partial(shown.picture, panel))
    claim_cards(shown.cards(settings))
    panel.finish(presets=presets(), play=shown.played(settings))

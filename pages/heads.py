"""Heads: how one attention becomes several, what those of a real model look at, and what happens without them."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from functools import partial

from pages.components import heads_gallery, heads_made, heads_off, heads_split
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.words import claim_cards, heading

VIEWS = {"split": heads_split, "made": heads_made, "gallery": heads_gallery, "off": heads_off}


def render() -> None:
    with Panel("heads") as panel:
        names = {
            "split": _("Split and merge"),
            "made": _("Hand-made heads"),
            "gallery": _("Heads of a real model"),
            "off": _("Switch heads off"),
        }
        view = panel.choice("view", _("View"), names, default="split")
        shown = VIEWS[view]
        settings = shown.controls(panel)

    heading(
        _("Attention heads"), _("Why does attention look several times at once, and what does each look see?"), panel
    )
    panel.follow(partial(shown.sliders, panel, settings), partial(shown.picture, panel))
    shown.after(settings)
    claim_cards(shown.cards(settings))
    panel.finish(presets=_presets(), play=shown.played(settings))


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("One number each"): {"num_heads": "12", "head": 5},
        _("Who looks back?"): {"view": "gallery", "measure": "previous", "kind": "encoder", "layer": 3, "head_no": 2},
        _("A layer looks away"): {"view": "off", "off": "C3.1 C3.2 C3.3 C3.4", "step": 2},
    }

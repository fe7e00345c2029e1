"""Rotary positions: queries and keys that are turned by where they stand."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from pages.components import rope_claims, rope_distance, rope_extend, rope_pairings, rope_turn
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.words import claim_cards, heading

VIEWS = {
    "turn": rope_turn.view,
    "distance": rope_distance.view,
    "pairings": rope_pairings.view,
    "extend": rope_extend.view,
}
PLAYED = {"turn": "shift", "distance": "target", "pairings": "position", "extend": "target"}


def render() -> None:
    with Panel("rope") as panel:
        names = {
            "turn": _("Turn a pair"),
            "distance": _("Score against distance"),
            "pairings": _("Two pairings"),
            "extend": _("Extending the context"),
        }
        view = panel.choice("view", _("View"), names, default="turn")
        sliders, picture = VIEWS[view](panel)

    heading(_("RoPE"), _("How do queries and keys know their distance when they are only turned?"), panel)
    panel.follow(sliders, picture)
    claim_cards(rope_claims.cards(view))
    panel.finish(presets=_presets(), play=PLAYED[view])


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("Far out, the same score"): {"shift": 100},
        _("Equal q and k"): {"view": "distance", "kind": "equal"},
        _("Four times as long"): {"view": "extend", "target": 8192},
    }

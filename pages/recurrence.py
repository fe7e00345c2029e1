"""Before attention: recurrent layers, and the additive attention that was built on them."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

import streamlit as st

from pages.components import recurrence_additive, recurrence_claims, recurrence_fold, recurrence_layers
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.recurrence_sentence import enough
from pages.components.words import claim_cards, heading


def render() -> None:
    with Panel("recurrence") as panel:
        options = {"layers": _("Recurrence"), "additive": _("Additive attention")}
        view = panel.choice("view", _("View"), options, default="layers")
        chosen = recurrence_layers.controls(panel) if view == "layers" else recurrence_additive.controls(panel)
        play = "target" if view == "layers" else "s1"
        panel.finish(presets=_presets(), play=play if enough(chosen.words) else None)

    heading(_("Recurrence"), _("What did attention have to improve on, and how did it begin?"), panel)
    if not enough(chosen.words):
        st.info(_("Type at least two words: a single word has no distance to another, and attention has no choice."))
    elif isinstance(chosen, recurrence_layers.Chosen):
        _layers(chosen)
    else:
        _alignment(chosen)


def _layers(chosen: recurrence_layers.Chosen) -> None:
    found = recurrence_layers.compute(chosen)
    plots = recurrence_layers.draw(chosen, found)
    claim_cards(recurrence_claims.of_layers(chosen, found))
    recurrence_fold.of_layers(chosen, found, plots)


def _alignment(chosen: recurrence_additive.Chosen) -> None:
    found = recurrence_additive.compute(chosen)
    plots = recurrence_additive.draw(chosen, found)
    claim_cards(recurrence_claims.of_alignment(found))
    recurrence_fold.of_alignment(chosen, found, plots)


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("Gates held open"): {"gate_bias": 3.0, "length": 96},
        _("Gradients that grow"): {"recurrent_scale": 4.0},
        _("The lesson's 12 states"): {"view": "additive", **recurrence_additive.lesson_settings()},
    }

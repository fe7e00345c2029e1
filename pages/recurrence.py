"""Before attention: recurrent layers, and the additive attention that was built on them."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from functools import partial

import streamlit as st

from pages.components import (
    recurrence_additive,
    recurrence_claims,
    recurrence_costs,
    recurrence_fold,
    recurrence_layers,
    recurrence_times,
)
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.recurrence_sentence import enough
from pages.components.words import claim_cards, heading


def render() -> None:
    with Panel("recurrence") as panel:
        options = {"layers": _("Recurrence"), "additive": _("Additive attention")}
        view = panel.choice("view", _("View"), options, default="layers")
        chosen = recurrence_layers.controls(panel) if view == "layers" else recurrence_additive.controls(panel)

    heading(_("Recurrence"), _("What did attention have to improve on, and how did it begin?"), panel)
    play = None
    if not enough(chosen.words):
        st.info(_("Type at least two words: a single word has no distance to another, and attention has no choice."))
    elif isinstance(chosen, recurrence_layers.Chosen):
        play = "target"
        _layers(panel, chosen)
    else:
        play = "s1"
        _alignment(panel, chosen)
    panel.finish(presets=_presets(), play=play)


def _layers(panel: Panel, chosen: recurrence_layers.Chosen) -> None:
    found = recurrence_layers.compute(chosen)

    def picture(chosen: recurrence_layers.Chosen) -> None:
        recurrence_fold.of_layers(chosen, found, recurrence_layers.draw(chosen, found))

    panel.follow(partial(recurrence_layers.choose_words, panel, chosen), picture)
    recurrence_times.offer(chosen.dim)
    claim_cards(recurrence_claims.of_layers(chosen, found))


def _alignment(panel: Panel, chosen: recurrence_additive.Chosen) -> None:
    found = recurrence_additive.compute(chosen)

    def picture(chosen: recurrence_additive.Chosen) -> None:
        seen = recurrence_additive.look(chosen, found)
        recurrence_fold.of_alignment(chosen, found, seen, recurrence_additive.draw(chosen, found, seen))

    panel.follow(partial(recurrence_additive.choose_state, panel, chosen), picture)
    recurrence_costs.offer()
    claim_cards(recurrence_claims.of_alignment(found))


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("Gates held open"): {"gate_bias": 3.0, "length": 96},
        _("Gradients that grow"): {"recurrent_scale": 4.0},
        _("The lesson's 12 states"): {"view": "additive", **recurrence_additive.lesson_settings()},
    }

"""Longer texts: what models make of positions that they never saw, and what scalings and a short training do to it."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from functools import partial

import streamlit as st

from core.labs.longer import Settings
from pages.components import longer_claims, longer_fold, longer_position, longer_seeds, longer_training
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.lab import Lab
from pages.components.longer_scene import OTHERS, choose
from pages.components.words import claim_cards, heading

VIEWS = {"position": longer_position.draw, "train": longer_training.draw}


def render() -> None:
    with Panel("longer") as panel:
        names = {"position": _("By position"), "train": _("Training"), "seeds": _("All seeds")}
        view = panel.choice("view", _("View"), names, default="position")
        settings = Settings() if view == "seeds" else choose(panel)

    heading(_("Longer texts"), _("What does a model make of texts that are longer than those of its training?"), panel)
    if settings is None:
        st.info(_("Nothing would be trained. Switch at least one kind of positions on."))
    else:
        lab = Lab("longer", settings)
        if view == "seeds":
            plot = longer_seeds.draw()
        else:
            lab.bar()
            plot = lab.show(partial(VIEWS[view], settings))
        claim_cards(longer_claims.cards(view))
        longer_fold.draw(settings, lab.seen.record, plot)
    panel.finish(presets=_presets())


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("Other kinds of positions"): dict(OTHERS),
        _("Another seed"): {"seed": 3},
        _("All seeds"): {"view": "seeds"},
    }

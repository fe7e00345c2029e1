"""Three matrices: layers that share W_Q, W_K and W_V, or have none, trained on look-ups."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from pages.components import three_matrices_claims, three_matrices_seeds, three_matrices_train
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.three_matrices_controls import choose_measure, choose_settings
from pages.components.words import claim_cards, heading


def render() -> None:
    with Panel("three_matrices") as panel:
        names = {"train": _("Train"), "seeds": _("All seeds")}
        view = panel.choice("view", _("View"), names, default="train")
        settings = choose_settings(panel) if view == "train" else None
        measure = choose_measure(panel) if view == "seeds" else None

    question = _("Does attention need a matrix each for queries, keys and values?")
    heading(_("Three matrices"), question, panel)
    if measure is not None:
        three_matrices_seeds.draw(measure)
    elif settings is not None:
        three_matrices_train.draw(settings)
    else:
        three_matrices_train.nothing()
    claim_cards(three_matrices_claims.cards(view))
    panel.finish(presets=_presets())


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("No look at oneself"): {"look_at_self": False},
        _("Rock, paper, scissors"): {"task": "three", "look_at_self": False},
        _("A narrow head"): {"task": "successor", "head_dim": 2},
    }

"""Heads while learning: layers with 1, 2, 4 and 8 heads learn to look several things up at once."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from pages.components import learning_heads_claims, learning_heads_seeds, learning_heads_train
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.learning_heads_controls import choose_compared, choose_shown, choose_training
from pages.components.words import claim_cards, heading


def render() -> None:
    with Panel("learning_heads") as panel:
        names = {"train": _("Train"), "seeds": _("All seeds")}
        view = panel.choice("view", _("View"), names, default="train")
        settings = choose_training(panel) if view == "train" else None
        shown = None if settings is None else choose_shown(panel, settings)
        compared = choose_compared(panel) if view == "seeds" else None

    heading(
        _("Heads while learning"),
        _("How many heads does a layer need, and what happens to the rank of attention while they learn?"),
        panel,
    )
    if settings is not None and shown is not None:
        learning_heads_train.draw(settings, shown)
    elif compared is not None:
        learning_heads_seeds.draw(compared)
    claim_cards(learning_heads_claims.cards(view))
    panel.finish(presets=_presets())


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("Four look-ups"): {"look_ups": 4, "shown": "4"},
        _("Small heads"): {"d_model": 16, "shown": "8"},
        _("An MLP behind one head"): {"mlp": True, "shown": "1"},
        _("All seeds"): {"view": "seeds"},
    }

"""The open-book exam: a model that sees the answers while it learns, its twin that does not, and what both write."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from functools import partial

from core.labs.open_book import Settings
from pages.components import open_book_claims, open_book_exam, open_book_fold, open_book_seeds, open_book_train
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.lab import Lab
from pages.components.open_book_controls import choose_asked, choose_guess, choose_settings
from pages.components.words import claim_cards, heading


def render() -> None:
    with Panel("open_book") as panel:
        names = {"train": _("Training"), "exam": _("Exam"), "seeds": _("All seeds")}
        view = panel.choice("view", _("View"), names, default="train")
        guess = choose_guess(panel)
        settings = Settings() if view == "seeds" else choose_settings(panel)
        asked = choose_asked(panel) if view == "exam" and guess is not None else None

    heading(_("Open-book exam"), _("Is a model better that sees the answers while it learns?"), panel)
    lab = Lab("open_book", settings)
    if view == "seeds":
        plot = open_book_seeds.draw(guess)
    else:
        lab.bar()
        if asked is not None and guess is not None:
            plot = lab.show(partial(open_book_exam.draw, settings, guess, asked))
        else:
            plot = lab.show(partial(open_book_train.draw, settings, guess, examined=view == "exam"))
    claim_cards(open_book_claims.cards(lab.seen.record, guess))
    open_book_fold.draw(settings, lab.seen.record, guess, plot)
    panel.finish(presets=_presets())


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("One character ahead"): {"leak": "1"},
        _("Shorter training"): {"steps": 100},
        _("Small and quick"): {"num_layers": 1, "d_model": 32, "steps": 200},
    }

"""Embeddings: words as vectors, what a picture of them keeps, and what can be computed with them."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from functools import partial
from typing import Any

import streamlit as st

from pages.components import (
    embeddings_cosines,
    embeddings_map,
    embeddings_seeds,
    embeddings_sum,
    embeddings_table,
    embeddings_words,
)
from pages.components.controls import MARKDOWN, Panel
from pages.components.embeddings_upload import Nothing
from pages.components.i18n import _
from pages.components.words import claim_cards, heading

VIEWS: dict[str, Any] = {
    "map": embeddings_map,
    "seeds": embeddings_seeds,
    "sum": embeddings_sum,
    "cosines": embeddings_cosines,
}


def render() -> None:
    with Panel("embeddings") as panel:
        names = {"map": _("Two maps"), "seeds": _("Many maps"), "sum": _("Sums of words"), "cosines": _("Cosines")}
        shown = VIEWS[panel.choice("view", _("View"), names, default="map")]
        loaded = embeddings_words.choose(panel)
        scene = None if isinstance(loaded, Nothing) else shown.controls(panel, loaded)

    heading(_("Embeddings"), _("What does a word's vector say, and what does a picture of it keep?"), panel)
    play = None
    if isinstance(loaded, Nothing):
        (st.error if loaded.wrong else st.info)(loaded.said.translate(MARKDOWN))
        for note in loaded.notes:
            st.caption(note.translate(MARKDOWN))
    else:
        if loaded.editing:
            embeddings_table.edit(panel)
        panel.follow(partial(shown.sliders, panel, scene), partial(shown.picture, panel))
        claim_cards(shown.cards(loaded))
        play = shown.played(scene)
    panel.finish(presets=_presets(), play=play)


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("The lesson's picture"): {"perplexity": 5, "seed": 42},
        _("Too large a perplexity"): {"perplexity": 13},
        _("King and queen, for real"): {"view": "sum", "source": "minilm"},
    }

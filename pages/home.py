"""The map: the encoder–decoder Transformer, each block of which leads to the page that explains it."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

import streamlit as st

from core.charts.architecture import MapLabels, transformer_map
from pages.components import registry
from pages.components.i18n import _
from pages.components.plot import at_least, draw, picked
from pages.components.words import heading

LEADS_TO = {
    "input_embedding": "embeddings",
    "output_embedding": "embeddings",
    "encoder_position": "sinusoidal",
    "decoder_position": "rope",
    "encoder_self_attention": "heads",
    "decoder_self_attention": "masks",
    "cross_attention": "qkv",
    "encoder_feed_forward": "transformer",
    "encoder_add_norm": "transformer",
    "decoder_feed_forward": "transformer",
    "decoder_add_norm": "transformer",
    "output_projection": "translation",
    "whole": "translation",
}
"""Block of the map → address of its page; there is no link before the page exists."""

MAP = "home.map"
LEGIBLE = 760  # pixels


def render() -> None:
    heading(_("Attention Atlas"), _("What happens inside a Transformer? Click a filled block to see it at work."))
    pages = {page.url_path: page for page in registry.pages()}
    linked = tuple(block for block, path in LEADS_TO.items() if path in pages)
    draw(
        MAP,
        transformer_map,
        {},
        alt=_("A map of the encoder–decoder Transformer; the links below lead to the same pages."),
        on_select=_remember,
        labels=_labels(),
        linked=linked,
        width=at_least(LEGIBLE),
    )
    with st.container(horizontal=True, gap="medium", key="home_links"):
        for path, page in pages.items():
            if path:
                st.page_link(page)
    chosen = LEADS_TO.get(st.session_state.pop("home.chosen", ""))
    if chosen in pages:
        st.switch_page(pages[chosen])


def _remember() -> None:
    """A page can only be changed by the run itself, not by a callback."""
    block = picked(MAP, "block", "id")
    if block in LEADS_TO:
        st.session_state["home.chosen"] = block


def _labels() -> MapLabels:
    return MapLabels(
        input_embedding=_("Input embedding"),
        encoder_position=_("Position"),
        encoder_self_attention=_("Self-attention"),
        encoder_feed_forward=_("Feed-forward"),
        encoder_add_norm=_("Add and normalise"),
        output_embedding=_("Output embedding"),
        decoder_position=_("Position"),
        decoder_self_attention=_("Masked self-attention"),
        cross_attention=_("Cross-attention"),
        decoder_feed_forward=_("Feed-forward"),
        decoder_add_norm=_("Add and normalise"),
        output_projection=_("Linear and softmax"),
        whole=_("The whole walk: a translation, token by token"),
        encoder=_("Encoder"),
        decoder=_("Decoder"),
        layers=_("N ×"),
        source=_("the sentence to translate"),
        target=_("what has been said so far"),
        prediction=_("probabilities of the next token"),
    )

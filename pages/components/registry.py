"""Which pages there are: their sections, their titles and their addresses."""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages.components import lab, warm
from pages.components.i18n import _


def sections() -> Mapping[str, Sequence[StreamlitPage]]:
    """The pages by section, in the order of the menu; the first is what opens at the bare address."""
    return {
        "": [st.Page(_lazily("home"), title=_("Map"), url_path="map", icon=":material/map:", default=True)],
        _("Words"): [
            st.Page(_lazily("embeddings", computes=True), title=_("Embeddings"), url_path="embeddings"),
            st.Page(_lazily("sinusoidal", computes=True), title=_("Sinusoidal positions"), url_path="sinusoidal"),
            st.Page(_lazily("rope", computes=True), title=_("RoPE"), url_path="rope"),
            st.Page(_lazily("recurrence", computes=True), title=_("Recurrence"), url_path="recurrence"),
        ],
        _("Attention"): [
            st.Page(_lazily("qkv", computes=True), title=_("Queries, keys, values"), url_path="qkv"),
            st.Page(_lazily("masks", computes=True), title=_("Masks"), url_path="masks"),
            st.Page(_lazily("heads", computes=True), title=_("Attention heads"), url_path="heads"),
            st.Page(_lazily("rank", computes=True), title=_("Rank"), url_path="rank"),
            st.Page(_lazily("gqa", computes=True), title=_("Shared KV heads"), url_path="gqa"),
        ],
        _("Whole model"): [
            st.Page(_lazily("transformer", computes=True), title=_("The whole Transformer"), url_path="transformer"),
            st.Page(_lazily("translation", computes=True), title=_("Translation"), url_path="translation"),
            st.Page(_lazily("explorer", computes=True), title=_("Attention explorer"), url_path="explorer"),
        ],
        _("Experiments"): [
            st.Page(_lazily("open_book", computes=True), title=_("Open-book exam"), url_path="open_book"),
            st.Page(_lazily("three_matrices", computes=True), title=_("Three matrices"), url_path="three_matrices"),
            st.Page(_lazily("longer", computes=True), title=_("Longer texts"), url_path="longer"),
            st.Page(
                _lazily("learning_heads", computes=True), title=_("Heads while learning"), url_path="learning_heads"
            ),
        ],
    }


def pages() -> Sequence[StreamlitPage]:
    """All pages, in the order of the menu."""
    return [page for section in sections().values() for page in section]


def _lazily(module: str, *, computes: bool = False) -> Callable[[], None]:
    """A page that is imported when it is first opened, and if it computes, not before torch is there."""

    def render() -> None:
        lab.stay(module)
        ready = warm.start()
        if computes and not ready.is_set():
            with st.spinner(_("Loading the mathematics…")):
                ready.wait()
        name = f"pages.{module}"
        is_new = name not in sys.modules
        page = importlib.import_module(name)
        if is_new:
            warm.freeze()  # Altair and what else came with it would be searched after every run from now on
        page.render()

    return render

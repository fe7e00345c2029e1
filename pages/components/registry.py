"""Which pages there are: their sections, their titles and their addresses."""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages.components import lab, warm
from pages.components.i18n import _

HOME = "home"


def sections() -> Mapping[str, Sequence[StreamlitPage]]:
    """The pages by section, in the order of the menu; the first is what opens at the bare address."""
    return {section: [_page(*each) for each in titles.items()] for section, titles in _titles().items()}


def pages() -> Sequence[StreamlitPage]:
    """All pages, in the order of the menu."""
    return [page for section in sections().values() for page in section]


def page(name: str) -> StreamlitPage | None:
    """The page of this module; None if there is none."""
    titles = {name: title for section in _titles().values() for name, title in section.items()}
    return _page(name, titles[name]) if name in titles else None


def _titles() -> Mapping[str, Mapping[str, str]]:
    return {
        "": {HOME: _("Map")},
        _("Words"): {
            "embeddings": _("Embeddings"),
            "sinusoidal": _("Sinusoidal positions"),
            "rope": _("RoPE"),
            "recurrence": _("Recurrence"),
        },
        _("Attention"): {
            "qkv": _("Queries, keys, values"),
            "masks": _("Masks"),
            "heads": _("Attention heads"),
            "rank": _("Rank"),
            "gqa": _("Shared KV heads"),
        },
        _("Whole model"): {
            "transformer": _("The whole Transformer"),
            "translation": _("Translation"),
            "explorer": _("Attention explorer"),
        },
        _("Experiments"): {
            "open_book": _("Open-book exam"),
            "three_matrices": _("Three matrices"),
            "longer": _("Longer texts"),
            "learning_heads": _("Heads while learning"),
        },
    }


def _page(name: str, title: str) -> StreamlitPage:
    if name == HOME:
        return st.Page(_lazily(name), title=title, url_path="map", icon=":material/map:", default=True)
    return st.Page(_lazily(name, computes=True), title=title, url_path=name)


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

"""Which pages there are: their sections, their titles and their addresses."""

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages.components.i18n import _


def sections() -> Mapping[str, Sequence[StreamlitPage]]:
    """The pages by section, in the order of the menu; the first is what opens at the bare address."""
    from pages import home, translation  # here, because a page may ask which pages there are

    return {
        "": [st.Page(home.render, title=_("Map"), url_path="map", icon=":material/map:", default=True)],
        _("Whole model"): [st.Page(translation.render, title=_("Translation"), url_path="translation")],
    }


def page(url_path: str) -> StreamlitPage | None:
    """The page at this address, or None while there is none."""
    found = (page for pages in sections().values() for page in pages if page.url_path == url_path)
    return next(found, None)

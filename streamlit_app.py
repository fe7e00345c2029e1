"""Attention Atlas: a map of the Transformer that you can touch.

streamlit run streamlit_app.py
"""

import streamlit as st

from pages.components import frame, registry


def main() -> None:
    frame.begin()
    st.navigation(registry.sections(), position="top").run()
    frame.finish()


if __name__ == "__main__":
    main()

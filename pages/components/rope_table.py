"""The table of θ and wavelengths, folded, to look at and to take along."""

import pandas as pd
import streamlit as st

from core.positions.frequencies import Waves
from core.positions.scalings import Method
from pages.components.i18n import _
from pages.components.rope_scene import method_names


def draw(trained: Waves, scaled: Waves, method: Method) -> None:
    """As trained, and if another method is looked at, with it."""
    box = st.expander(_("Table of θ and wavelengths"), key="rope.table", on_change="rerun")
    if not box.open:
        return
    with box:
        table = _table(trained, scaled, method)
        st.dataframe(table, hide_index=True, height=210)
        st.download_button(
            _("This table as CSV"),
            lambda: table.to_csv(index=False),
            "rope_theta.csv",
            "text/csv",
            key="rope.table.csv",
            on_click="ignore",
        )


def _table(trained: Waves, scaled: Waves, method: Method) -> pd.DataFrame:
    width = len(trained.frequencies)
    columns = {
        _("pair"): range(width),
        "θ": trained.frequencies.tolist(),
        _("wavelength in tokens"): trained.wavelengths.tolist(),
        _("turns in training"): trained.turns.tolist(),
        _("completes a turn"): trained.complete.tolist(),
    }
    if method is not Method.NONE:
        name = method_names()[method]
        columns[_("θ with {method}").format(method=name)] = scaled.frequencies.tolist()
        columns[_("wavelength with {method}").format(method=name)] = scaled.wavelengths.tolist()
    return pd.DataFrame(columns)

"""The sentence of the page on recurrence, as words."""

import unicodedata
from collections.abc import Sequence

import streamlit as st

from core.batches import tokens
from pages.components.controls import Panel
from pages.components.i18n import _

SENTENCE = "The cat sat on the mat"
MOST_WORDS = 24
RIGHT_TO_LEFT = ("R", "AL")


def words(panel: Panel) -> tuple[str, ...]:
    """The control for the sentence, and a remark below it where something about it needs one."""
    sentence = panel.text("sentence", _("Sentence"), default=SENTENCE, max_chars=2000, spoken="en")
    found = tokens(sentence)
    if len(found) > MOST_WORDS:
        st.caption(
            _("The sentence has {count} words; the page has room for the first {most}.").format(
                count=len(found), most=MOST_WORDS
            )
        )
    elif any(unicodedata.bidirectional(letter) in RIGHT_TO_LEFT for letter in sentence):
        st.caption(_("Words are drawn in the order in which they are read: the first stands at the left."))
    return found[:MOST_WORDS]


def enough(found: Sequence[str]) -> bool:
    """Whether there is anything to see: at least two words."""
    return len(found) >= 2

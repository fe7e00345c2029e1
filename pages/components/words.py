"""The words around the plots: title and question, what to look for, and the claims with their verdicts."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.claims import Verdict
from pages.components.controls import Panel
from pages.components.i18n import _

SIGNS = {Verdict.HOLDS: "✓", Verdict.DOES_NOT_HOLD: "✕", Verdict.ONLY_IF: "◐", Verdict.UNDECIDED: "?"}


@dataclass(frozen=True, slots=True)
class Claim:
    """What is commonly told, what was measured just now, and what follows."""

    statement: str
    verdict: Verdict
    measurement: str
    label: str | None = None  # of the verdict, where its usual name does not fit


def heading(title: str, question: str, panel: Panel | None = None) -> None:
    """The page's title and the question it answers; below it what an address asked for in vain."""
    markup = f'<div class="atlas-title"><h1>{html.escape(title)}</h1><p>{html.escape(question)}</p></div>'
    if panel is None:
        st.html(markup)
    else:
        panel.title(markup)


def look_for(*sentences: str, beside: str = "") -> None:
    """Two or three sentences beside the plot, with values computed from what is on screen.

    beside: HTML that stands to the left of them; one piece of HTML is sooner on the screen than two.
    """
    paragraphs = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences if sentence)
    look = f'<div class="atlas-look"><b>{html.escape(_("Look for"))}</b>{paragraphs}</div>'
    st.html(f'<div class="atlas-beside"><div>{beside}</div>{look}</div>' if beside else look)


def claim_cards(claims: Sequence[Claim]) -> None:
    """A row of cards: the verdict as a word and a sign, never as a colour alone."""
    names = {
        Verdict.HOLDS: _("holds"),
        Verdict.DOES_NOT_HOLD: _("does not hold"),
        Verdict.ONLY_IF: _("only if"),
        Verdict.UNDECIDED: _("not decided"),
    }
    cards = "".join(
        f'<div class="atlas-claim {claim.verdict}">'
        f"<b>{SIGNS[claim.verdict]} {html.escape(claim.label or names[claim.verdict])}</b>"
        f"<q>{html.escape(claim.statement)}</q><span>{html.escape(claim.measurement)}</span></div>"
        for claim in claims
    )
    st.html(f'<div class="atlas-claims">{cards}</div>')

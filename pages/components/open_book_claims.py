"""The claims of the open-book exam; those about its results are covered until somebody has predicted them."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from core.claims import Verdict
from core.claims.open_book import (
    Reach,
    glimpse_verdict,
    gpt2_verdict,
    lower_is_better_verdict,
    measure_reach,
    unfair_verdict,
)
from core.labs.open_book_exam import CLOSED, GUESSING, OPEN
from core.labs.open_book_results import Paper, Row, Winner, final_loss, rows
from core.labs.record import Record
from pages.components.i18n import _
from pages.components.lab import results
from pages.components.words import Claim

Measured = TypeVar("Measured")
Judged = tuple[Verdict, str, str | None]  # what follows, from what, and another name for the verdict


def cards(record: Record, guess: Winner | None) -> Sequence[Claim]:
    closed, opened = (Paper.of(record, curve) for curve in (CLOSED, OPEN))
    sat = None if closed is None or opened is None else (closed, opened)
    by_leak = {row.leak: row for row in rows(results("open_book").runs)}
    glimpse = (by_leak[0], by_leak[1]) if 1 in by_leak else None
    lower = _("The model with the lower training loss is the better model.")
    unfair = _("It fails only because it is examined with a mask that it has never seen.")
    return (
        _gpt2(),
        _covered(lower, guess, sat, lambda papers: _lower(record, *papers)),
        _covered(_("A glimpse of one later character does little harm."), guess, glimpse, lambda two: _glimpse(*two)),
        _covered(unfair, guess, sat, lambda papers: _unfair(*papers)),
    )


def _covered(
    statement: str, guess: Winner | None, found: Measured | None, judge: Callable[[Measured], Judged]
) -> Claim:
    if guess is None:
        return Claim(statement, Verdict.UNDECIDED, _("Covered until you have predicted."), label=_("predict first"))
    if found is None:
        return Claim(statement, Verdict.UNDECIDED, _("Not measured yet."))
    verdict, measurement, label = judge(found)
    return Claim(statement, verdict, measurement, label=label)


@st.cache_data(show_spinner=False)
def _reach() -> Reach:
    return measure_reach()


def _gpt2() -> Claim:
    reach = _reach()
    return Claim(
        _("“Bidirectional GPT-2”: construct GPT2LMHeadModel and pass no mask."),
        gpt2_verdict(reach),
        _(
            "Another last token changes earlier logits by {without:.2g}, with an attention mask of ones by {ones:.2g}: "
            "the model stays causal. In our open book they change by up to {twin:.1f}."
        ).format(without=reach.without, ones=reach.ones, twin=reach.twin),
    )


def _lower(record: Record, closed: Paper, opened: Paper) -> Judged:
    training = final_loss(record.curves[CLOSED]), final_loss(record.curves[OPEN])
    exam = closed.honest.loss, opened.honest.loss
    return (
        lower_is_better_verdict(training, exam),
        _(
            "Closed book: {closed_training:.2f} nats in training, {closed_exam:.2f} in the exam. Open book: "
            "{open_training:.3f} and {open_exam:.2f}."
        ).format(closed_training=training[0], closed_exam=exam[0], open_training=training[1], open_exam=exam[1]),
        None,
    )


def _glimpse(closed: Row, glimpse: Row) -> Judged:
    return (
        glimpse_verdict(closed, glimpse),
        _(
            "Over {seeds} seeds the exam's loss is {closed:.2f} ± {closed_deviation:.2f} nats without, and "
            "{opened:.2f} ± {opened_deviation:.2f} after a training with one character ahead."
        ).format(
            seeds=glimpse.honest.count,
            closed=closed.honest.mean,
            closed_deviation=closed.honest.deviation,
            opened=glimpse.honest.mean,
            opened_deviation=glimpse.honest.deviation,
        ),
        None,
    )


def _unfair(closed: Paper, opened: Paper) -> Judged:
    verdict = unfair_verdict(closed.honest, opened.so_far)
    return (
        verdict,
        _(
            "With its own mask, on a text that ends where it is asked, its loss is {so_far:.2f} nats; guessing has "
            "{guessing:.2f}, the closed book {closed:.2f}."
        ).format(so_far=opened.so_far.loss, guessing=GUESSING, closed=closed.honest.loss),
        _("only in part") if verdict is Verdict.ONLY_IF else None,
    )

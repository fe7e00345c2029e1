"""The exam: both must answer and write with only the past to look at; who predicted right is told."""

import html
import re
from collections.abc import Sequence

import streamlit as st

from core.charts import bar_table, curves
from core.labs.open_book import Settings
from core.labs.open_book_exam import CLOSED, GUESSING, OPEN, SEQ_LEN, Score
from core.labs.open_book_results import Paper, Winner, Writing, honest_curve, winner
from core.labs.open_book_writing import PROMPTS
from core.labs.record import Record
from core.labs.text import ALPHABET
from pages.components.i18n import _
from pages.components.lab import Seen
from pages.components.numbers import percent
from pages.components.open_book_controls import Asked, names
from pages.components.plot import Part, Plot, figure, part
from pages.components.words import look_for

KEY = "open_book.exam"
LEAST = 480  # pixels; with less a phone would show labels that nobody can read
MOST = 12.0  # nats that the axis shows
HEIGHT = 160
TYPED = "font-family: monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.1rem 0 0.3rem"


def draw(settings: Settings, guess: Winner, asked: Asked, seen: Seen) -> Plot:
    papers = {curve: Paper.of(seen.record, curve) for curve in names()}
    st.html(_verdict(guess, papers[CLOSED], papers[OPEN], running=seen.running) + _texts(seen.record, asked))
    look_for(*_in_words(papers[CLOSED], papers[OPEN]))
    by_place = asked.across == "places"
    return figure(
        f"{KEY}.{asked.across}",
        [[_by_place(papers) if by_place else _quizzes(settings, seen.record), _table(papers)]],
        least=LEAST,
        name=_("exam of both books"),
        alt=_(
            "Curves of the exam's loss of both models, over the steps of their training or by place in a piece of "
            "text, with a line for guessing; beside them bars: their losses with the mask of their training and with "
            "only the past in sight, perplexity, and right answers."
        ),
    )


def _quizzes(settings: Settings, record: Record) -> Part:
    quizzes = [honest_curve(record, curve) for curve in names()]
    steps, losses = [quiz.steps for quiz in quizzes], [quiz.losses for quiz in quizzes]
    return _curves(_("step of the training"), (0, settings.steps), steps, losses)


def _by_place(papers: dict[str, Paper | None]) -> Part:
    losses = [() if paper is None else paper.by_place for paper in papers.values()]
    places = [range(1, len(values) + 1) for values in losses]
    return _curves(_("place of the question"), (1, SEQ_LEN), places, losses)


def _curves(
    title: str, ends: tuple[int, int], places: Sequence[Sequence[int]], losses: Sequence[Sequence[float]]
) -> Part:
    """Curves of both models, and a line for guessing from end to end."""
    return part(
        "losses",
        curves.curves,
        curves.curves_data([*places, ends], [*losses, (GUESSING, GUESSING)]),
        share=0.44,
        series=(*names().values(), _("guessing: ln {count}").format(count=len(ALPHABET))),
        x=curves.Axis(title, domain=ends, format="d", least_step=1),
        y=curves.Axis(_("loss, nats per character"), domain=(0.0, MOST)),
        symbols=False,
        title=_("Exam, only the past in sight"),
        height=HEIGHT,
    )


def _table(papers: dict[str, Paper | None]) -> Part:
    columns = (_("own mask:\nloss"), _("exam:\nloss"), _("exam:\nperplexity"), _("exam:\nright"))
    sat = [paper for paper in papers.values() if paper is not None]
    values = [_numbers(paper) for paper in sat] if len(sat) == len(papers) else [(0.0,) * 4] * len(papers)
    texts = [_written(paper) for paper in sat] if len(sat) == len(papers) else [("–",) * 4] * len(papers)
    return part(
        "results",
        bar_table.bar_table,
        bar_table.bar_table_data(values, texts),
        share=0.56,
        rows=tuple(names().values()),
        columns=columns,
        words=bar_table.TableWords(row_axis="", row=_("model"), column=_("measure"), value=_("value")),
        title=_("Results"),
        height=HEIGHT - 40,
        clickable=False,
    )


def _numbers(paper: Paper) -> tuple[float, ...]:
    return paper.open.loss, paper.honest.loss, paper.honest.perplexity, paper.honest.accuracy


def _written(paper: Paper) -> tuple[str, ...]:
    return (
        f"{paper.open.loss:.3f}",
        f"{paper.honest.loss:.2f}",
        choices(paper.honest),
        percent(paper.honest.accuracy),
    )


def choices(score: Score) -> str:
    """The perplexity, which is a number of characters."""
    return f"{score.perplexity:,.1f}" if score.perplexity < 100 else f"{score.perplexity:,.0f}"


# ----------------------------------------------------------------------------------------------------------- the texts


def _texts(record: Record, asked: Asked) -> str:
    """What both wrote, side by side, as HTML."""
    written = {curve: Writing.of(record, curve, asked.way) for curve in names()}
    blocks = (
        f"<div><b>{html.escape(name)}</b>{_text(written[curve], asked.prompt)}</div>" for curve, name in names().items()
    )
    return f'<div class="atlas-beside atlas-look">{"".join(blocks)}</div>'


def _text(written: tuple[Writing, ...], prompt: int) -> str:
    if not written:
        return f"<p>{html.escape(_('writes when its training is done'))}</p>"
    one = written[prompt]
    words = _("no words") if one.real is None else _("real words {real}").format(real=percent(one.real))
    said = _("{words}, repeated characters {repeated}, repeated phrases {again}").format(
        words=words, repeated=percent(one.repeated), again=percent(one.again)
    )
    body = f'<span style="opacity: 0.6">{html.escape(PROMPTS[prompt])}</span>{html.escape(visible(one.text))}'
    return f'<p style="{TYPED}">{body}</p><small>{html.escape(said)}</small>'


def visible(text: str) -> str:
    """With dots instead of spaces that stand together.

    >>> visible("a b   c")
    'a b···c'
    """
    return re.sub("  +", lambda spaces: "·" * len(spaces[0]), text)


# ----------------------------------------------------------------------------------------------------------- the words


def _verdict(guess: Winner, closed: Paper | None, opened: Paper | None, *, running: bool) -> str:
    """Who wins, and whether that was predicted, as HTML."""
    if closed is not None and opened is not None:
        said = outcome(guess, winner(closed.honest, opened.honest))
    elif running:
        said = _("The exam is held when both have learnt: the curves below are quizzes meanwhile.")
    else:
        said = _("Nobody has been examined with these settings yet.")
    return f'<div class="atlas-result">{html.escape(said)}</div>'


def outcome(guess: Winner, won: Winner) -> str:
    """Who wins, and whether that was predicted."""
    results = {
        Winner.CLOSED: _("the closed book wins"),
        Winner.OPEN: _("the open book wins"),
        Winner.NEITHER: _("neither book wins"),
    }
    said = _("✓ You predicted right: {result}.") if guess is won else _("✕ You predicted wrong: {result}.")
    return said.format(result=results[won])


def _in_words(closed: Paper | None, opened: Paper | None) -> tuple[str, ...]:
    if closed is None or opened is None:
        return (_("How far does the loss of the open book go, when nothing but the past is in sight?"),)
    return (
        _(
            "With only the past in sight the closed book has a loss of {closed:.2f} nats, as if it chose among "
            "{closed_choices} equally probable characters; the open book {opened:.2f}, as among {opened_choices}. "
            "There are only {count}."
        ).format(
            closed=closed.honest.loss,
            closed_choices=choices(closed.honest),
            opened=opened.honest.loss,
            opened_choices=choices(opened.honest),
            count=len(ALPHABET),
        ),
        _("Worse than guessing ({guessing:.2f}): it is sure, and wrong. It learnt to copy, not to write.").format(
            guessing=GUESSING
        )
        if opened.honest.loss > GUESSING
        else "",
    )

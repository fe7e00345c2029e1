"""All seeds of the comparison: how the exam ends for every leak, and how it went while they learnt."""

import html
from collections.abc import Mapping, Sequence

import streamlit as st

from core.charts import curves, strips
from core.labs.open_book import ALL, Settings
from core.labs.open_book_exam import GUESSING
from core.labs.open_book_results import Row, Winner, bands, exam_losses, rows, wins
from core.labs.shipped import Run
from core.labs.spread import Spread
from pages.components.i18n import _
from pages.components.lab import results
from pages.components.lab_curves import bands_data
from pages.components.lab_words import not_compared
from pages.components.open_book_controls import leak_name
from pages.components.open_book_exam import outcome
from pages.components.plot import Part, Plot, figure, part
from pages.components.words import look_for

KEY = "open_book.seeds"
LOSSES = (0.0, 12.0)  # nats
HEIGHT = 205


def draw(guess: Winner | None) -> Plot | None:
    """None where there is nothing to be seen: before a guess, or if nothing ships."""
    runs = results("open_book").runs
    if guess is None:
        st.info(
            _("The papers are covered. Predict first, on the left: which book wins the exam?"),
            icon=":material/visibility_off:",
        )
        return None
    found = rows(runs)
    if not found:
        st.info(not_compared())
        return None
    st.html(_table(found))
    look_for(*_in_words(found, wins(runs), guess))
    return figure(
        KEY,
        [[_strips(runs), _curves(runs)]],
        name=_("all seeds"),
        alt=_(
            "Dots for the exam's loss of every seed, for the closed book and every leak; beside them the same loss "
            "over the steps of the training, mean and range of all seeds."
        ),
    )


def _strips(runs: Sequence[Run]) -> Part:
    losses = exam_losses(runs)
    return part(
        "losses",
        strips.strips,
        strips.strips_data(
            [[values] for values in losses.values()], bounds=dict.fromkeys(range(len(losses)), GUESSING)
        ),
        share=0.42,
        series=(_("one seed"),),
        places=tuple(_("all") if leak == ALL else str(leak) for leak in losses),
        axis=_("loss, nats per character"),
        mean=_("mean"),
        place_axis=_("characters shown ahead while it learnt; 0: closed book"),
        domain=LOSSES,
        title=_("Exam, only the past in sight; dashed: guessing"),
        height=HEIGHT,
    )


def _curves(runs: Sequence[Run]) -> Part:
    found = bands(runs)
    return part(
        "quizzes",
        curves.curves,
        bands_data([band.steps for band in found.values()], [band.losses for band in found.values()]),
        share=0.58,
        series=tuple(leak_name(leak) for leak in found),
        x=curves.Axis(_("step of the training"), domain=(0, Settings().steps), format="d", least_step=1),
        y=curves.Axis(_("loss, nats per character"), domain=LOSSES),
        band=True,
        symbols=False,
        title=_("The same while they learn: mean and range"),
        height=HEIGHT,
    )


def _table(found: Sequence[Row]) -> str:
    """Mean and standard deviation, as HTML."""
    columns = (
        _("training"),
        _("exam"),
        _("own mask"),
        _("right"),
        _("repeated"),
        _("real words"),
    )
    head = "".join(f"<th>{html.escape(column)}</th>" for column in ("", *columns))
    body = "".join(_line(row) for row in found)
    what = _(
        "Mean ± standard deviation. Losses in nats: of the training, of the exam, and with its own mask on the text so "
        "far; right answers of the exam; repeated characters and real words in drawn texts."
    )
    table = f'<table class="atlas-grid dense"><tr>{head}</tr>{body}</table>'
    return f'<div class="atlas-wide" tabindex="0">{table}</div><small>{html.escape(what)}</small>'


def _line(row: Row) -> str:
    cells = [
        *(_nats(spread) for spread in (row.training, row.honest, row.so_far)),
        *(_share(spread) for spread in (row.accuracy, row.repeated, row.real)),
    ]
    said = "".join(f'<td style="white-space: nowrap">{html.escape(cell)}</td>' for cell in cells)
    return f"<tr><th>{html.escape(leak_name(row.leak))}</th>{said}</tr>"


def _nats(spread: Spread) -> str:
    digits = 2 if spread.mean >= 0.1 else 4
    return f"{spread.mean:.{digits}f} ± {spread.deviation:.{digits}f}"


def _share(spread: Spread) -> str:
    return f"{spread.mean:.0%} ± {spread.deviation:.0%}"


def _in_words(found: Sequence[Row], won: Mapping[Winner, int], guess: Winner) -> tuple[str, ...]:
    closed, others = found[0], found[1:]
    most = max(won, key=lambda one: won[one])
    best = min(others, key=lambda row: row.honest.low)
    return (
        _("{outcome} In {won} of {exams} exams.").format(
            outcome=outcome(guess, most), won=won[most], exams=sum(won.values())
        ),
        _(
            "{seeds} seeds each: other stories, other first weights, other pieces of text. The worst closed book has a "
            "loss of {closed:.2f} in the exam, the best open book {opened:.2f}."
        ).format(seeds=closed.honest.count, closed=closed.honest.high, opened=best.honest.low),
        _(
            "First every model learns which characters are frequent. Once it has found the answers in the book, its "
            "exam gets worse with every step."
        ),
    )

"""What each form of attention before the Transformer costs, counted and measured, and how far the forms agree."""

import html
from collections.abc import Callable, Mapping, Sequence

import streamlit as st
import torch

from core.additive import Agreement, Form
from core.alignment_cost import Cost, Size, measure_forms
from core.units import milliseconds
from pages.components.i18n import _
from pages.components.job import job

SIZE = Size()


@st.cache_resource(show_spinner=False)
def measured() -> dict[Size, Mapping[Form, float]]:
    """What has been measured on this server: one person measures, all see it."""
    return {}


def table(agreements: Mapping[Form, Agreement], costs: Mapping[Form, Cost], *, num_words: int, num_states: int) -> str:
    """The table, and what its columns mean, as HTML."""
    seconds = measured().get(SIZE)
    heads = ("", _("parameters"), _("multiply-adds"), _("same top word"), _("rank order ρ"), _("time"))
    rows = []
    for form, agreement in agreements.items():
        counted = costs[form]
        once = f" + {counted.once:,}" if counted.once else ""
        rows.append(
            (
                form.value,
                f"{counted.parameters:,}",
                f"{counted.multiply_adds:,}{once}",
                f"{agreement.same_strongest:.0%}",
                f"{agreement.rank_correlation:+.2f}".replace("-", "−"),
                "–" if seconds is None else f"{milliseconds(seconds[form]):.2f}\u00a0ms",
            )
        )
    body = "".join(f"<tr><th>{name}</th>{_cells(cells)}</tr>" for name, *cells in rows)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    what = _(
        "Multiply-adds of one look, and behind + those done once per sentence. Agreement with the additive form "
        "over {states} random states; by chance the same top word comes in {chance:.0%}."
    ).format(states=num_states, chance=1 / num_words)
    note = f'<small style="display: block; line-height: 1.3">{html.escape(what)}</small>'
    return f'<table class="atlas-facts"><tr>{head}</tr>{body}</table>{note}'


def offer() -> None:
    """The button that fills the table's last column."""

    def work(on_progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        found = measure_forms(
            SIZE, generator=torch.Generator().manual_seed(0), on_progress=on_progress, cancelled=cancelled
        )
        if not cancelled():
            measured()[SIZE] = found

    button, said = st.columns([1, 5], vertical_alignment="center")
    with said:
        st.caption(
            _("Time of every form: {count}×{count} pairs of size {dim}, the shortest of several runs.").format(
                count=SIZE.seq_len, dim=SIZE.dim
            )
        )
    with button:
        measuring = job("recurrence.forms", _("Measure again") if SIZE in measured() else _("Measure"), work)
    if measuring is not None and measuring.failed:
        st.error(_("The measurement failed. Try again; if it fails again, start the server anew."))


def _cells(texts: Sequence[str]) -> str:
    return "".join(f'<td style="padding-right:0.6rem">{html.escape(text)}</td>' for text in texts)

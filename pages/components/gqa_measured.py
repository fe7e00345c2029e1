"""The view of what decoding takes on this machine: time and memory against the number of KV heads, on demand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st
import torch

from core import gqa_times
from core.charts import curves
from core.gqa_times import DecoderSize, DecodingTime, DecodingTimes, measure_decoding
from core.kv_heads import legal_kv_heads
from core.units import gigabytes, megabytes, milliseconds
from pages.components.controls import Panel
from pages.components.gqa_words import amount, row_name
from pages.components.i18n import _
from pages.components.job import job
from pages.components.plot import Part, Plot, figure, part
from pages.components.words import look_for

KEY = "gqa.times"
SIZE = DecoderSize()
HEIGHT = 235
HEADS, CONTEXTS = (0.9, 18), (100, 10_500)  # the ends of the axes


@dataclass(frozen=True, slots=True)
class Shown:
    """Which of the measurements are drawn."""

    found: DecodingTimes
    seq_len: int
    num_kv_heads: int

    def of_length(self) -> Sequence[DecodingTime]:
        return self.found.of_length(self.seq_len)

    def of_heads(self) -> Sequence[DecodingTime]:
        return self.found.of_heads(self.num_kv_heads)


@st.cache_resource(show_spinner=False)
def measured() -> dict[DecoderSize, DecodingTimes]:
    """What has been measured on this server: one person measures, all see it."""
    return {}


def offer() -> None:
    """The button that measures; before that, a sentence about what it does."""
    found = measured().get(SIZE)
    if found is None:
        st.write(
            _(
                "One new token passes {layers} layers of attention (d_model {d_model:,}, {heads} query heads, float32, "
                "batch 1), for each number of KV heads and contexts of {first} to {last:,} tokens: with a KV cache, "
                "and without one, where every token before it is computed again. It takes about {seconds:.0f} seconds "
                "and {megabytes} MB, and is made when you ask for it."
            ).format(
                layers=SIZE.num_layers,
                d_model=SIZE.d_model,
                heads=SIZE.num_heads,
                first=gqa_times.LENGTHS[0],
                last=gqa_times.LENGTHS[-1],
                seconds=gqa_times.MOST_SECONDS,
                megabytes=round(megabytes(gqa_times.MOST_BYTES)),
            )
        )

    def work(on_progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        times = measure_decoding(
            SIZE, generator=torch.Generator().manual_seed(0), on_progress=on_progress, cancelled=cancelled
        )
        if not cancelled():
            measured()[SIZE] = times

    measuring = job("gqa.times.job", _("Measure") if found is None else _("Measure again"), work)
    if measuring is not None and measuring.failed:
        st.error(_("The measurement failed. Try again; if it fails again, start the server anew."))


def choose(panel: Panel, found: DecodingTimes) -> Shown:
    """Only what was measured can be chosen."""
    lengths = sorted({time.seq_len for time in found.times})
    heads = sorted({time.num_kv_heads for time in found.times})
    whole = [length for length in lengths if len(found.of_length(length)) == len(heads)]
    with panel.beside():
        seq_len = panel.choice(
            "measured_context",
            _("Context"),
            {str(length): f"{length:,}" for length in lengths},
            default=str(whole[-1] if whole else lengths[0]),
            narrow=True,
        )
        num_kv_heads = panel.choice(
            "measured_heads",
            _("KV heads"),
            {str(count): row_name(SIZE.num_heads, count) for count in heads},
            default=str(heads[-1]),
            narrow=True,
        )
    return Shown(found, int(seq_len), int(num_kv_heads))


def view(shown: Shown) -> Sequence[Plot]:
    look_for(*_in_words(shown))
    plot = figure(
        KEY,
        [[_against_heads(shown), _memory(shown), _against_context(shown)]],
        name=_("decoding, measured"),
        alt=_(
            "Curves: the time of a token with a cache and its bound against the number of KV heads; the memory of "
            "weights and cache against the same; the time with a cache and without one against the context."
        ),
    )
    return (plot,)


def _against_heads(shown: Shown) -> Part:
    times = shown.of_length()
    heads = [time.num_kv_heads for time in times]
    return part(
        "heads",
        curves.curves,
        curves.curves_data(
            [heads] * 2,
            [[milliseconds(time.seconds) for time in times], [milliseconds(shown.found.bound(time)) for time in times]],
            marks=[shown.num_kv_heads],
        ),
        share=1 / 3,
        series=(_("measured"), _("bound")),
        x=_heads_axis(),
        y=curves.Axis(_("milliseconds per token"), log=True),
        title=_("With a cache, and its bound"),
        height=HEIGHT,
    )


def _memory(shown: Shown) -> Part:
    times = shown.of_length()
    heads = [time.num_kv_heads for time in times]
    return part(
        "memory",
        curves.curves,
        curves.curves_data(
            [heads] * 2,
            [[megabytes(time.weight_bytes) for time in times], [megabytes(time.cache_bytes) for time in times]],
            marks=[shown.num_kv_heads],
        ),
        share=1 / 3,
        series=(_("weights"), _("cache")),
        x=_heads_axis(),
        y=curves.Axis(_("megabytes"), log=True),
        title=_("Memory"),
        height=HEIGHT,
    )


def _against_context(shown: Shown) -> Part:
    times = shown.of_heads()
    without = [time for time in times if time.seconds_without is not None]
    lengths = [time.seq_len for time in times]
    return part(
        "context",
        curves.curves,
        curves.curves_data(
            [lengths, [time.seq_len for time in without], lengths],
            [
                [milliseconds(time.seconds) for time in times],
                [milliseconds(time.seconds_without or 0.0) for time in without],
                [milliseconds(shown.found.bound(time)) for time in times],
            ],
            marks=[shown.seq_len],
        ),
        share=1 / 3,
        series=(_("with"), _("without"), _("bound")),
        x=curves.Axis(_("context in tokens"), log=True, domain=CONTEXTS, ticks=gqa_times.LENGTHS, format=","),
        y=curves.Axis(_("milliseconds per token"), log=True),
        title=_("With a cache and without"),
        height=HEIGHT,
    )


def _heads_axis() -> curves.Axis:
    return curves.Axis(_("KV heads"), log=True, domain=HEADS, ticks=legal_kv_heads(SIZE.num_heads), format="d")


def _in_words(shown: Shown) -> Sequence[str]:
    said = []
    own = next((time for time in shown.of_heads() if time.seq_len == shown.seq_len), None)
    if own is None:
        said.append(
            _("{heads} KV heads with {context:,} tokens were not measured: there was no time left.").format(
                heads=shown.num_kv_heads, context=shown.seq_len
            )
        )
    else:
        said.append(
            _(
                "{heads} KV heads, {context:,} tokens: {time:.1f} ms per token. Reading {bytes} of weights and cache "
                "once, at the {speed:.1f} GB/s measured here, takes {bound:.1f} ms."
            ).format(
                heads=own.num_kv_heads,
                context=own.seq_len,
                time=milliseconds(own.seconds),
                bytes=amount(own.weight_bytes + own.cache_bytes, "B"),
                speed=gigabytes(shown.found.bytes_per_second),
                bound=milliseconds(shown.found.bound(own)),
            )
        )
    longest = max((time for time in shown.of_heads() if time.times_without), key=lambda it: it.seq_len, default=None)
    if longest is not None:
        said.append(
            _("Without a cache a token takes {ratio:.0f} times as long at {context:,} tokens.").format(
                ratio=longest.times_without, context=longest.seq_len
            )
        )
    below = shown.found.below_bound()
    if below:
        said.append(
            _(
                "{count} of {total} times lie below the bound: where weights and cache are small, the processor's own "
                "cache still holds part of them from the step before. So it seems, too, if the machine was busy with "
                "something else while its memory was measured."
            ).format(count=len(below), total=len(shown.found.times))
        )
    return said

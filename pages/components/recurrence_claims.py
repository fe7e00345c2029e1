"""The claims of the page on recurrence, each with what was measured just now."""

from collections.abc import Sequence

import streamlit as st

from core import additive, long_range, recurrence
from core.additive import Form
from core.claims.recurrence import (
    PathLengths,
    concat_verdict,
    distance_verdict,
    dot_verdict,
    gates_verdict,
    path_verdict,
    printed_verdict,
    speed_verdict,
)
from core.recurrence import Layer
from core.units import milliseconds
from pages.components import recurrence_additive, recurrence_costs, recurrence_layers
from pages.components.i18n import _
from pages.components.words import Claim

GATED = (Layer.LSTM, Layer.GRU)
OPEN = 3.0  # gate bias


def of_layers(chosen: recurrence_layers.Chosen, found: recurrence_layers.Found) -> Sequence[Claim]:
    return (_paths(chosen), _gates(chosen), _distance(found), _speed(found))


def of_alignment(found: recurrence_additive.Found) -> Sequence[Claim]:
    return (_printed(found), _concat(found), _dot(found))


@st.cache_data(max_entries=100, show_spinner=False)
def _path_lengths(num_words: int) -> PathLengths:
    pairs = [(i, j) for i in range(num_words) for j in range(i + 1, num_words)]

    def moves(layer: Layer) -> tuple[int | None, ...]:
        graph = recurrence.edges(layer, num_words)
        ways = (recurrence.path(graph, i, j) for i, j in pairs)
        return tuple(None if way is None else recurrence.moves(way) for way in ways)

    return PathLengths(tuple(j - i for i, j in pairs), moves(Layer.RNN), moves(Layer.ATTENTION))


def _paths(chosen: recurrence_layers.Chosen) -> Claim:
    lengths = _path_lengths(len(chosen.words))
    measured = _("Searched for every pair of words ({pairs}): at most {recurrent} against {attention}.").format(
        pairs=len(lengths.distances),
        recurrent=max(way or 0 for way in lengths.recurrent),
        attention=max(way or 0 for way in lengths.attention),
    )
    return Claim(
        _("Attention joins any two positions in one step; an RNN needs as many steps as they are apart."),
        path_verdict(lengths),
        measured,
    )


def _gates(chosen: recurrence_layers.Chosen) -> Claim:
    def kept(gate_bias: float) -> dict[Layer, float]:
        sizes = recurrence_layers.gradients(chosen.words, chosen.length, chosen.dim, chosen.recurrent_scale, gate_bias)
        return {layer: long_range.kept(found) for layer, found in sizes.items()}

    closed, opened = kept(0.0), kept(OPEN)
    verdict = gates_verdict(closed[Layer.RNN], [closed[layer] for layer in GATED], [opened[layer] for layer in GATED])
    measured = _(
        "Left of the gradient over the far half of {length} positions: RNN {rnn:.0e}, LSTM {lstm:.0e}, GRU {gru:.0e}; "
        "with a gate bias of {bias:.0f}, LSTM {open_lstm:.2g}, GRU {open_gru:.2g}."
    ).format(
        length=chosen.length,
        rnn=closed[Layer.RNN],
        lstm=closed[Layer.LSTM],
        gru=closed[Layer.GRU],
        bias=OPEN,
        open_lstm=opened[Layer.LSTM],
        open_gru=opened[Layer.GRU],
    )
    return Claim(_("LSTM and GRU keep the gradient that a plain RNN loses over long distances."), verdict, measured)


def _distance(found: recurrence_layers.Found) -> Claim:
    kept = long_range.kept(found.gradients[Layer.ATTENTION])
    return Claim(
        _("For attention, distance does not matter."),
        distance_verdict(kept),
        _("Its gradient over the far half of the distances is {kept:.2f} times that over the near half.").format(
            kept=kept
        ),
    )


def _speed(found: recurrence_layers.Found) -> Claim:
    statement = _("Attention is faster than an RNN, because nothing has to wait.")
    if found.times is None:
        return Claim(statement, speed_verdict(None), _("Not measured yet: press “Measure”."))
    pairs = zip(found.times.lengths, *(found.times.seconds[it] for it in (Layer.RNN, Layer.ATTENTION)), strict=False)
    ratios = {length: rnn / attention for length, rnn, attention in pairs}
    shortest, longest = min(ratios, default=0), max(ratios, default=0)
    measured = _(
        "RNN's time as a multiple of attention's: {first:.2g} at length {short}, {last:.2g} at {long}."
    ).format(first=ratios.get(shortest, 0.0), short=shortest, last=ratios.get(longest, 0.0), long=longest)
    return Claim(statement, speed_verdict(list(ratios.values())), measured)


def _printed(found: recurrence_additive.Found) -> Claim:
    real = additive.largest_move(found.many_weights[Form.ADDITIVE])
    printed = additive.largest_move(found.printed.weights.expand(recurrence_additive.MANY_STATES, -1))
    return Claim(
        _("Bahdanau's attention is vᵀ tanh(W h)."),
        printed_verdict(printed, real),
        _(
            "Over {count} decoder states its weights move by {printed:.4f}; those of vᵀ tanh(W_s s + W_h h) by up to "
            "{real:.4f}."
        ).format(count=recurrence_additive.MANY_STATES, printed=printed, real=real),
    )


def _concat(found: recurrence_additive.Found) -> Claim:
    difference = float((found.many[Form.ADDITIVE] - found.many[Form.CONCAT]).abs().max())
    return Claim(
        _("Luong's concat is the additive form, with both matrices in one."),
        concat_verdict(difference),
        _(
            "Scores differ by at most {difference:.0e}. Luong takes the decoder's new state, Bahdanau the one before."
        ).format(difference=difference),
    )


def _dot(found: recurrence_additive.Found) -> Claim:
    statement = _("Dot-product attention is much faster than additive attention.")
    seconds = None if found.seconds is None else {form.value: time for form, time in found.seconds.items()}
    if seconds is None:
        return Claim(statement, dot_verdict(None), _("Not measured yet: press “Measure”."))
    return Claim(
        statement,
        dot_verdict(seconds),
        _("{additive:.2f} ms against {dot:.2f} ms for {count}×{count} pairs of size {dim}.").format(
            additive=milliseconds(seconds[Form.ADDITIVE.value]),
            dot=milliseconds(seconds[Form.DOT.value]),
            count=recurrence_costs.SIZE.seq_len,
            dim=recurrence_costs.SIZE.dim,
        ),
    )

"""The claims of the page on recurrence and additive attention: one measurement and one verdict for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.claims import Verdict

# ------------------- attention joins any two positions in one step, an RNN needs as many as their distance


@dataclass(frozen=True, slots=True)
class PathLengths:
    """Moves from one position to another between all pairs of a sentence, the earlier word first."""

    distances: tuple[int, ...]
    recurrent: tuple[int | None, ...]  # None: nothing of the first word reaches the second
    attention: tuple[int | None, ...]


def path_verdict(lengths: PathLengths) -> Verdict:
    """HOLDS if every pair is one move apart in attention and as many as its distance in the recurrent layer.

    A sentence without two words says nothing: UNDECIDED.
    """
    if not lengths.distances:
        return Verdict.UNDECIDED
    as_told = lengths.recurrent == lengths.distances and set(lengths.attention) == {1}
    return Verdict.HOLDS if as_told else Verdict.DOES_NOT_HOLD


# ----------------------------------------------- LSTM and GRU keep the gradient that a plain RNN loses

KEPT = 0.1  # of the gradient over the near half of the distances, on average over the far half


def gates_verdict(plain: float, gated: Sequence[float], gated_open: Sequence[float], *, kept: float = KEPT) -> Verdict:
    """Judge by the share of the gradient that is left: of the plain RNN, of the gated layers as torch starts them, and
    of the same with gates that start open.

    DOES_NOT_HOLD if the plain RNN keeps its gradient too, or no gated layer keeps it even with open gates. HOLDS if all
    gated layers keep it as they start. What remains is a condition, ONLY_IF: gates that start (or have learned to be)
    open, or one of the layers only.
    """
    if plain >= kept or max(gated_open) < kept:
        return Verdict.DOES_NOT_HOLD
    return Verdict.HOLDS if min(gated) >= kept else Verdict.ONLY_IF


EVEN = 3.0  # the gradient over the far half of the distances may differ from that over the near half by this factor


def distance_verdict(attention: float, *, even: float = EVEN) -> Verdict:
    """Judge "for attention distance does not matter": HOLDS while far and near gradients are of about one size."""
    return Verdict.HOLDS if 1 / even <= attention <= even else Verdict.DOES_NOT_HOLD


# ----------------------------------------------------- attention is faster than recurrence: nothing has to wait

FASTER = 1.0  # time of the recurrent layer as a multiple of attention's


def speed_verdict(ratios: Sequence[float] | None, *, faster: float = FASTER) -> Verdict:
    """Judge by time of the recurrent layer / time of attention, one ratio per length; None if not measured.

    HOLDS if attention is faster at every length, DOES_NOT_HOLD if at none; else it depends on the length: ONLY_IF.
    """
    if not ratios:
        return Verdict.UNDECIDED
    wins = [ratio > faster for ratio in ratios]
    if all(wins):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if any(wins) else Verdict.DOES_NOT_HOLD


# ----------------------------------------------------------------- Bahdanau's attention is vᵀ tanh(W h_i)

MOVES = 1e-3  # a weight that differs by more between two states depends on the state


def printed_verdict(printed: float, real: float, *, moves: float = MOVES) -> Verdict:
    """Judge the printed form by how far weights move when the decoder's state does, beside the form with the state.

    DOES_NOT_HOLD if the real form moves and the printed one does not: then it cannot be the same attention. UNDECIDED
    if the real one does not move either, as with weights near zero. HOLDS if both move.
    """
    if real <= moves:
        return Verdict.UNDECIDED
    return Verdict.HOLDS if printed > moves else Verdict.DOES_NOT_HOLD


# ---------------------------------------------- Luong's concat is Bahdanau's additive attention, W = [W_s W_h]

ROUNDING = 1e-10  # float64


def concat_verdict(difference: float, *, rounding: float = ROUNDING) -> Verdict:
    """HOLDS if the two forms' scores differ by rounding only."""
    return Verdict.HOLDS if difference <= rounding else Verdict.DOES_NOT_HOLD


# --------------------------------------------- dot-product attention is much faster than additive attention

MUCH = 3.0


def dot_verdict(seconds: Mapping[str, float] | None, *, much: float = MUCH) -> Verdict:
    """Judge by the time of "additive" / that of "dot", for the same pairs; None or incomplete if not measured.

    HOLDS from `much` on; ONLY_IF ("faster, but not much") above 1; else DOES_NOT_HOLD.
    """
    if seconds is None or not {"additive", "dot"} <= set(seconds):
        return Verdict.UNDECIDED
    ratio = seconds["additive"] / seconds["dot"]
    if ratio >= much:
        return Verdict.HOLDS
    return Verdict.ONLY_IF if ratio > 1 else Verdict.DOES_NOT_HOLD

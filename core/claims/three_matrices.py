"""The claims about layers that share their matrices, after training: what it costs, and why."""

from collections.abc import Sequence

from core.claims import Verdict
from core.labs.three_matrices_seeds import Compared

FEWEST_SEEDS = 5  # by chance, 5 lie below 5 others once in 252 times; 2 below 2 others once in 6
MARGIN = 0.02  # of accuracy: 512 fresh sequences of 12 tokens put the error of a share below 0.01
SOLVED = 0.9  # a task that three matrices do not solve either says nothing about sharing


# ----------------------------------------------------------------- sharing Q = K, sharing V = K, or none: what it costs


def costs(compared: Compared, *, margin: float = MARGIN) -> bool:
    """Whether sharing costs accuracy: its best seed stays more than the margin below the worst with three matrices."""
    return compared.shared.high < compared.separate.low - margin


def counted(every: Sequence[Compared], *, solved: float = SOLVED) -> list[Compared]:
    """The cases that three matrices solve, in the mean of their seeds."""
    return [one for one in every if one.separate.mean >= solved]


def cost_verdict(
    every: Sequence[Compared],
    *,
    margin: float = MARGIN,
    solved: float = SOLVED,
    fewest_seeds: int = FEWEST_SEEDS,
) -> Verdict:
    """Judge "sharing costs expressiveness" over all cases that three matrices solve: in all, in some, or in none.

    UNDECIDED without such a case, or with too few seeds in one of them.
    """
    cases = counted(every, solved=solved)
    if not cases or any(one.shared.count < fewest_seeds for one in cases):
        return Verdict.UNDECIDED
    dear = sum(costs(one, margin=margin) for one in cases)
    if dear == len(cases):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if dear else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------------- with Q = K, attention is symmetric

SYMMETRIC = 1e-3  # relative; what is trained is float32


def symmetry_verdict(scores: float, weights: float, *, symmetric: float = SYMMETRIC) -> Verdict:
    """Judge "attention is symmetric" by the asymmetries of trained layers; ONLY_IF if the scores alone are."""
    if scores > symmetric:
        return Verdict.DOES_NOT_HOLD
    return Verdict.HOLDS if weights <= symmetric else Verdict.ONLY_IF


# ------------------------------------------------------------ Q = K fails because its scores have no direction


def reason_verdict(
    undirected: Compared, undirected_masked: Compared, directed_masked: Compared, *, margin: float = MARGIN
) -> Verdict:
    """Judge the reason by look-ups without and with a direction, and with the look at oneself forbidden.

    DOES_NOT_HOLD if directed look-ups cost nothing once nobody matches himself. ONLY_IF if they do, and matching
    oneself is a second reason: an undirected look-up costs too, until it is forbidden. UNDECIDED if it costs even then:
    neither reason explains that.
    """
    if not costs(directed_masked, margin=margin):
        return Verdict.DOES_NOT_HOLD
    if costs(undirected_masked, margin=margin):
        return Verdict.UNDECIDED
    return Verdict.ONLY_IF if costs(undirected, margin=margin) else Verdict.HOLDS


# ------------------------------------------------------- a share of right answers is harsh where two nearly tie

TIE = 0.2
"""An even choice between two answers has a probability of 0.5, and a near tie may win nothing: far more than this."""


def nearly_ties(accuracy: float, probability: float, *, tie: float = TIE) -> bool:
    """Whether the right answer is far more probable, on average, than it is the most probable one."""
    return probability - accuracy > tie

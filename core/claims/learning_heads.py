"""The claims about heads that learn, judged by trainings with several seeds; see core.labs.learning_heads_seeds.

All accuracies are shares, all ranks effective ranks (entropy), all heads of one layer of the same d_model together.
"""

import itertools
import math
from collections.abc import Mapping, Sequence

from core.claims import Verdict
from core.labs.learning_heads_seeds import Result

# ----------------------------------------------------------------------------- more heads learn more kinds of relations

GAIN = 0.5  # of a look-up, in the mean over the seeds: one more is solved in most of them


def kinds_verdict(solved: Mapping[int, Mapping[int, float]], *, gain: float = GAIN) -> Verdict:
    """Judge by look-ups → heads → how many look-ups are solved, the mean over seeds.

    HOLDS if more heads always solve more, ONLY_IF ("up to as many as the task has") if they do where there were fewer
    heads than look-ups. UNDECIDED if no number of look-ups was tried with two numbers of heads.
    """
    needed: list[bool] = []  # whether a step to more heads gained a look-up, where some were missing
    spare: list[bool] = []  # and where there were enough already
    for look_ups, by_heads in solved.items():
        numbers = sorted(by_heads)
        for fewer, more in itertools.pairwise(numbers):
            gained = by_heads[more] - by_heads[fewer] >= gain
            (needed if fewer < look_ups else spare).append(gained)
    if not needed and not spare:
        return Verdict.UNDECIDED
    if not all(needed):
        return Verdict.DOES_NOT_HOLD
    return Verdict.HOLDS if all(spare) else Verdict.ONLY_IF


# --------------------------------------------------------- a head has one row of weights, so it serves one look-up only


def one_row_verdict(alone: Sequence[Result], with_mlp: Sequence[Result]) -> Verdict:
    """Judge by layers of one head that have several look-ups to make.

    HOLDS if no seed solves more than one, ONLY_IF ("without an MLP behind it") if only layers with an MLP do.
    UNDECIDED if one of the two was not tried.
    """
    if not alone or not with_mlp:
        return Verdict.UNDECIDED
    if any(result.solved > 1 for result in alone):
        return Verdict.DOES_NOT_HOLD
    return Verdict.ONLY_IF if any(result.solved > 1 for result in with_mlp) else Verdict.HOLDS


# -------------------------------------------------------------------------------- every head takes a look-up of its own

MOST = 0.9  # of the heads: one in ten may not have settled when the training ends


def share_of_owners(every: Sequence[Result]) -> float:
    """Of all heads of all seeds, those that work for a look-up, and for one that no earlier head works for."""
    own = sum(len({owner for owner in result.owners if owner is not None}) for result in every)
    return own / sum(result.num_heads for result in every) if every else 0.0


def specialise_verdict(as_many: Sequence[Result], more: Sequence[Result], *, most: float = MOST) -> Verdict:
    """Judge by layers with as many heads as look-ups, and by layers with more.

    HOLDS if in both most heads have a look-up of their own, ONLY_IF ("as many heads as look-ups") if only in the first
    ones. UNDECIDED if one of the two was not tried.
    """
    if not as_many or not more:
        return Verdict.UNDECIDED
    if share_of_owners(as_many) < most:
        return Verdict.DOES_NOT_HOLD
    return Verdict.HOLDS if share_of_owners(more) >= most else Verdict.ONLY_IF


# -------------------------------------------------------------------------------- training lowers the rank of attention

NOTICED = 0.1  # of an effective rank: the standard error of its mean over five seeds


def rank_verdict(logits: float, weights: float, *, noticed: float = NOTICED) -> Verdict:
    """Judge by how much training has changed the effective rank of the logits, and of the weights; NaN: not measured.

    HOLDS if both fall, ONLY_IF ("of the logits", or "of the weights") if one does.
    """
    if math.isnan(logits) or math.isnan(weights):
        return Verdict.UNDECIDED
    falls = sum(change <= -noticed for change in (logits, weights))
    return (Verdict.DOES_NOT_HOLD, Verdict.ONLY_IF, Verdict.HOLDS)[falls]


# ------------------------------------------------------------------------------------------- the more heads, the better

LOSS = 0.05  # of accuracy: more than the noise of a measurement on 6144 answers, by far


def lost(by_heads: Mapping[int, float]) -> float:
    """How much accuracy the layer with most heads has lost against the best; 0 if it is the best, or there is none."""
    return max(by_heads.values()) - by_heads[max(by_heads)] if by_heads else 0.0


def better_verdict(wide: Mapping[int, float], narrow: Mapping[int, float], *, loss: float = LOSS) -> Verdict:
    """Judge by accuracy against number of heads in a wide layer, and in a narrow one, whose heads are smaller.

    HOLDS if neither loses with most heads, ONLY_IF ("while head_dim is not small") if only the narrow one does.
    UNDECIDED if one of the two was not tried.
    """
    if not wide or not narrow:
        return Verdict.UNDECIDED
    if lost(wide) >= loss:
        return Verdict.DOES_NOT_HOLD
    return Verdict.ONLY_IF if lost(narrow) >= loss else Verdict.HOLDS


def catches_up(narrow: Mapping[int, float], longer: Mapping[int, float], *, loss: float = LOSS) -> bool:
    """Whether the narrow layer of most heads, trained for longer, is as good as the best that was trained for less."""
    return bool(narrow) and bool(longer) and longer[max(longer)] > max(narrow.values()) - loss

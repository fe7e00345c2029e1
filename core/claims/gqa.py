"""The claims of the GQA page: one measurement and one verdict for each."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.claims import Verdict
from core.gqa import GroupedQueryAttention

# ----------------------------------------- d_model 512, 8 heads: 1,048,576 / 655,360 / 589,824 parameters

TOLD_D_MODEL, TOLD_HEADS = 512, 8
TOLD_PARAMETERS: Mapping[int, int] = {8: 1_048_576, 2: 655_360, 1: 589_824}  # by num_kv_heads, without biases


def count_parameters(*, bias: bool = False) -> dict[int, int]:
    """The numbers in the layers that the claim is about, by num_kv_heads: built, and counted."""
    layers = {
        heads: GroupedQueryAttention(TOLD_D_MODEL, TOLD_HEADS, heads, bias=bias, device="meta")
        for heads in TOLD_PARAMETERS
    }
    return {heads: sum(parameter.numel() for parameter in layer.parameters()) for heads, layer in layers.items()}


def parameters_verdict(counted: Mapping[int, int], *, told: Mapping[int, int] = TOLD_PARAMETERS) -> Verdict:
    """HOLDS if every number is as told, and none is missing."""
    return Verdict.HOLDS if dict(counted) == dict(told) else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------ a KV cache changes nothing in the result

ROUNDINGS = 64.0  # sums of some hundred products in another order differ by a few roundings of the largest output


class Difference(Protocol):
    """`core.cached_decoding.CacheDifference` has it."""

    @property
    def difference(self) -> float: ...
    @property
    def rounding(self) -> float: ...


def cache_verdict(differences: Sequence[Difference], *, roundings: float = ROUNDINGS) -> Verdict:
    """HOLDS if in every number type the results differ by rounding only; UNDECIDED if nothing was measured."""
    if not differences:
        return Verdict.UNDECIDED
    same = all(each.difference <= roundings * each.rounding for each in differences)
    return Verdict.HOLDS if same else Verdict.DOES_NOT_HOLD


# --------------------------------------------------------------------- GQA shrinks the model a lot

A_LOT = 0.25  # of all weights


class Shrinking(Protocol):
    """`core.gqa_presets.Saving` has it."""

    @property
    def weights(self) -> float: ...
    @property
    def cache(self) -> float: ...


def shrink_verdict(savings: Sequence[Shrinking], *, a_lot: float = A_LOT) -> Verdict:
    """Judge by the share of its weights that each model saves, beside itself as MHA; MHA models are no case.

    HOLDS if all save a lot, ONLY_IF some do, DOES_NOT_HOLD if none does; UNDECIDED if no model shares KV heads.
    """
    return _how_many([saving.weights >= a_lot for saving in savings if saving.cache > 0])


# --------------------------------------------------------- GQA saves a lot of computing per decoded token


class Cost(Protocol):
    """`core.gqa_costs.AttentionCost` has it."""

    @property
    def multiply_adds(self) -> int: ...


def computing_saved(mha: Cost, gqa: Cost) -> float:
    """The share of the multiply-adds of MHA that GQA does not need."""
    return 1 - gqa.multiply_adds / mha.multiply_adds


def computing_verdict(saved: Sequence[float], *, a_lot: float = A_LOT) -> Verdict:
    """Judge by the shares saved at several lengths of context.

    HOLDS if a lot is saved at all of them, ONLY_IF at some (short ones: products with keys and values stay as many as
    the query heads ask for), DOES_NOT_HOLD at none; UNDECIDED without any.
    """
    return _how_many([share >= a_lot for share in saved])


# ------------------------------------------------------------- decoding is faster with fewer KV heads

FASTER = 1.5  # as many times as fast; less is within what a busy machine does to a measurement


class Timed(Protocol):
    """`core.gqa_times.DecodingTime` has it."""

    @property
    def num_kv_heads(self) -> int: ...
    @property
    def seq_len(self) -> int: ...
    @property
    def seconds(self) -> float: ...


def speedups(times: Sequence[Timed], num_heads: int) -> dict[int, float]:
    """By seq_len: the time of MHA, with num_heads KV heads, over the time with one, where both were measured."""
    seconds = {(time.num_kv_heads, time.seq_len): time.seconds for time in times}
    return {
        seq_len: seconds[num_heads, seq_len] / seconds[1, seq_len]
        for seq_len in sorted({time.seq_len for time in times})
        if (num_heads, seq_len) in seconds and (1, seq_len) in seconds
    }


def speed_verdict(ratios: Mapping[int, float] | None, *, faster: float = FASTER) -> Verdict:
    """HOLDS if sharing is faster at every length, ONLY_IF at some, DOES_NOT_HOLD at none; UNDECIDED if not measured."""
    return _how_many([ratio >= faster for ratio in (ratios or {}).values()])


# ------------------------------------- the mean of the KV heads turns MHA into GQA: as good as before, better than one

AS_GOOD = 0.05  # of the output's size


class Converted(Protocol):
    """`core.gqa_conversion.ConversionError` has it."""

    @property
    def num_kv_heads(self) -> int: ...
    @property
    def pooling(self) -> str: ...
    @property
    def error(self) -> float: ...


def pooling_errors(layers: Sequence[Sequence[Converted]], *, num_kv_heads: int) -> tuple[tuple[float, float], ...]:
    """For each layer: the error with the mean of the KV heads that are merged, and with the first of them.

    Raises: ValueError if a layer was not converted to that number of KV heads in both ways.
    """
    pairs = []
    for errors in layers:
        found = {str(each.pooling): each.error for each in errors if each.num_kv_heads == num_kv_heads}
        if not {"mean", "first"} <= set(found):
            raise ValueError(f"num_kv_heads ({num_kv_heads}) must have been measured with the mean and with the first")
        pairs.append((found["mean"], found["first"]))
    return tuple(pairs)


def free_verdict(pairs: Sequence[tuple[float, float]], *, as_good: float = AS_GOOD) -> Verdict:
    """Judge "the mean turns MHA into GQA without training": every layer's output stays, some layers', or none's."""
    return _how_many([mean <= as_good for mean, _ in pairs])


def mean_verdict(pairs: Sequence[tuple[float, float]]) -> Verdict:
    """Judge "the mean is better than the first head": in all layers, in some, or in none; equal errors are no case."""
    return _how_many([mean < first for mean, first in pairs if mean != first])


def _how_many(cases: Sequence[bool]) -> Verdict:
    """HOLDS if all cases are as told, ONLY_IF some are, DOES_NOT_HOLD if none is; UNDECIDED without any case."""
    if not cases:
        return Verdict.UNDECIDED
    if all(cases):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if any(cases) else Verdict.DOES_NOT_HOLD

"""One attention head from input to output: X → Q, K, V → scores → weights → output → W_O, with every number kept.

Vaswani et al. 2017, "Attention Is All You Need", section 3.2.2: head = Attention(X W_Q, X W_K, X W_V), then times W_O.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

from core.attention import scaled_dot_product_attention
from core.checks import check_sizes


class Sharing(StrEnum):
    """Which of a head's matrices W_Q, W_K and W_V are one and the same."""

    SEPARATE = "separate"
    VALUE_IS_KEY = "value_is_key"
    QUERY_IS_KEY = "query_is_key"
    ONE = "one"  # a single matrix for all three
    NONE = "none"  # no matrix: queries, keys and values are the input itself


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """A linear map of rows: x ↦ x @ weight + bias."""

    weight: Tensor  # (d_in, d_out)
    bias: Tensor | None = None  # (d_out,)

    def __call__(self, x: Tensor) -> Tensor:
        y = x @ self.weight  # (…, d_out)
        return y if self.bias is None else y + self.bias


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """The four maps of one head."""

    q: Projection  # d_model → head_dim
    k: Projection  # d_model → head_dim
    v: Projection  # d_model → head_dim
    o: Projection  # head_dim → d_model, this head's part of W_O


@dataclass(frozen=True, slots=True, eq=False)
class HeadTrace:
    """What a head computed, in order."""

    x: Tensor  # (…, seq_len, d_model)
    q: Tensor  # (…, seq_len, head_dim)
    k: Tensor  # (…, seq_len, head_dim)
    v: Tensor  # (…, seq_len, head_dim)
    scores: Tensor  # (…, seq_len, seq_len), times scale
    weights: Tensor  # (…, seq_len, seq_len), each row sums to 1
    output: Tensor  # (…, seq_len, head_dim)
    result: Tensor  # (…, seq_len, d_model), after W_O
    scale: float


def run_head(x: Tensor, head: Head, *, scaled: bool = True) -> HeadTrace:
    """Let every row of x attend to every row of x.

    scaled: whether the scores are divided by √head_dim.
    Shapes: x (…, seq_len, d_model).
    """
    q, k, v = head.q(x), head.k(x), head.v(x)  # (…, seq_len, head_dim)
    scale = 1 / math.sqrt(q.shape[-1]) if scaled else 1.0
    trace = scaled_dot_product_attention(q.unsqueeze(-3), k.unsqueeze(-3), v.unsqueeze(-3), scale=scale)
    output = trace.output.squeeze(-3)  # (…, seq_len, head_dim)
    return HeadTrace(
        x, q, k, v, trace.scores.squeeze(-3), trace.weights.squeeze(-3), output, head.o(output), scale
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------- where heads come from


def random_head(
    d_model: int, head_dim: int, *, generator: torch.Generator, sharing: Sharing = Sharing.SEPARATE
) -> Head:
    """A head with normally distributed weights that keep the variance: rows of unit variance give such q, k and v.

    With Sharing.NONE nothing is projected, and head_dim is d_model.
    Raises: ValueError if d_model or head_dim is less than 1.
    """
    check_sizes(d_model=d_model, head_dim=head_dim)
    if sharing is Sharing.NONE:
        return identity_head(d_model, d_model)
    drawn = [_random(d_model, head_dim, generator) for _ in range(3)]
    q, k, v = drawn
    if sharing in (Sharing.QUERY_IS_KEY, Sharing.ONE):
        k = q
    if sharing in (Sharing.VALUE_IS_KEY, Sharing.ONE):
        v = k
    return Head(q, k, v, _random(head_dim, d_model, generator))


def identity_head(d_model: int, head_dim: int) -> Head:
    """A head whose queries, keys and values are the first head_dim features of the input; W_O puts them back.

    Raises: ValueError if head_dim is larger than d_model, or less than 1.
    """
    check_sizes(d_model=d_model, head_dim=head_dim)
    if head_dim > d_model:
        raise ValueError(f"head_dim ({head_dim}) must be at most d_model ({d_model})")
    same = Projection(torch.eye(d_model, head_dim, dtype=torch.float64))
    return Head(same, same, same, Projection(torch.eye(head_dim, d_model, dtype=torch.float64)))


def _random(d_in: int, d_out: int, generator: torch.Generator) -> Projection:
    return Projection(torch.randn(d_in, d_out, generator=generator, dtype=torch.float64) / math.sqrt(d_in))


# ----------------------------------------------------------------------------------------------- one number, explained


class Rule(StrEnum):
    """How a number of a trace came about."""

    GIVEN = "given"  # the input
    PRODUCT = "product"  # factor · Σ left · right + bias
    SOFTMAX = "softmax"  # left[column] / Σ left


@dataclass(frozen=True, slots=True, eq=False)
class Computation:
    """One number of a trace, term by term."""

    rule: Rule
    left: Tensor  # (terms,), empty for the input
    right: Tensor  # (terms,), for a product
    value: float
    factor: float = 1.0
    bias: float = 0.0


MATRICES = ("x", "q", "k", "v", "scores", "weights", "output", "result")
"""The matrices of a HeadTrace by name, in the order in which they are computed."""


def explain(trace: HeadTrace, head: Head, matrix: str, row: int, column: int) -> Computation:
    """What was added up to give one number of a trace of one sentence.

    For a weight, `left` holds exp(score − the row's largest score), so that the sum cannot overflow.
    Raises: ValueError if there is no such matrix or cell.
    """
    if matrix not in MATRICES:
        raise ValueError(f"matrix ({matrix!r}) must be one of {', '.join(MATRICES)}")
    values: Tensor = getattr(trace, matrix)
    rows, columns = values.shape
    if not (0 <= row < rows and 0 <= column < columns):
        raise ValueError(f"cell ({row}, {column}) must lie within ({rows}, {columns})")
    value, nothing = float(values[row, column]), values.new_zeros(0)
    match matrix:
        case "q" | "k" | "v":
            return _product(trace.x[row], getattr(head, matrix), column, value)
        case "result":
            return _product(trace.output[row], head.o, column, value)
        case "scores":
            return Computation(Rule.PRODUCT, trace.q[row], trace.k[column], value, factor=trace.scale)
        case "weights":
            exponentials = (trace.scores[row] - trace.scores[row].max()).exp()  # (seq_len,)
            return Computation(Rule.SOFTMAX, exponentials, nothing, value)
        case "output":
            return Computation(Rule.PRODUCT, trace.weights[row], trace.v[:, column], value)
    return Computation(Rule.GIVEN, nothing, nothing, value)


def _product(x: Tensor, projection: Projection, column: int, value: float) -> Computation:
    bias = 0.0 if projection.bias is None else float(projection.bias[column])
    return Computation(Rule.PRODUCT, x, projection.weight[:, column], value, bias=bias)

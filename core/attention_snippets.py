"""Programs that reproduce the numbers of the QKV page without this app, in PyTorch and in NumPy."""

from collections.abc import Mapping
from enum import StrEnum

from torch import Tensor

from core.projections import Head, HeadTrace
from core.retrieval import Shelf


class Library(StrEnum):
    """What a program is written in."""

    PYTORCH = "PyTorch"
    NUMPY = "NumPy"


_BEGIN = {
    Library.PYTORCH: '''"""{what}, in plain PyTorch."""

import torch

array = torch.tensor
torch.set_default_dtype(torch.float64)
''',
    Library.NUMPY: '''"""{what}, in plain NumPy."""

import numpy as np

array = np.array
''',
}

_PROJECT = """
Q, K, V = X @ W_Q, X @ W_K, X @ W_V  # (seq_len, head_dim) each
"""

_ATTEND = {
    Library.PYTORCH: """
scores = Q @ K.T * SCALE  # (seq_q, seq_k)
weights = torch.softmax(scores, dim=-1)  # each row sums to 1
output = weights @ V  # (seq_q, v_dim)
""",
    Library.NUMPY: """
scores = Q @ K.T * SCALE  # (seq_q, seq_k)
exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))  # less the largest: no overflow
weights = exponentials / exponentials.sum(axis=-1, keepdims=True)  # each row sums to 1
output = weights @ V  # (seq_q, v_dim)
""",
}

_RAW = """
scores = Q @ K.T  # (seq_q, seq_k)
weights = scores  # no softmax: these need not sum to 1
output = weights @ V  # (seq_q, v_dim)
"""

_RESULT = """result = output @ W_O  # (seq_len, d_model)
"""

_END = """
print(weights)
print({last})
"""


def head_program(library: Library, trace: HeadTrace, head: Head, *, most_numbers: int = 20_000) -> str:
    """A head on a sentence. Where its input and matrices hold too many numbers, the program starts from Q, K and V.

    Shapes: those of a trace of one sentence.
    """
    projections = {"W_Q": head.q, "W_K": head.k, "W_V": head.v, "W_O": head.o}
    given = {"X": trace.x} | {name: projection.weight for name, projection in projections.items()}
    biased = any(projection.bias is not None for projection in projections.values())
    if biased or sum(tensor.numel() for tensor in given.values()) > most_numbers:
        given = {"Q": trace.q, "K": trace.k, "V": trace.v}
        return _program(library, "One attention head, from its Q, K and V on", given, trace.scale, last="output")
    body = _PROJECT + _ATTEND[library] + _RESULT
    return _program(library, "One attention head", given, trace.scale, body=body, last="result")


def shelf_program(library: Library, shelf: Shelf, query: Tensor, *, temperature: float, softmax: bool) -> str:
    """A soft look-up: a query, the labels of the books (K) and their contents (V)."""
    given = {"Q": query[None], "K": shelf.keys, "V": shelf.values}
    body = _ATTEND[library] if softmax else _RAW
    scale = 1 / temperature if softmax else None
    return _program(library, "A soft look-up", given, scale, body=body, last="output")


def _program(
    library: Library,
    what: str,
    given: Mapping[str, Tensor],
    scale: float | None,
    *,
    body: str | None = None,
    last: str,
) -> str:
    numbers = "".join(f"{name} = array({_literal(tensor)})\n" for name, tensor in given.items())
    factor = "" if scale is None else f"SCALE = {scale!r}\n"
    begin = _BEGIN[library].format(what=what)
    return f"{begin}\n{numbers}{factor}{body or _ATTEND[library]}{_END.format(last=last)}"


def _literal(matrix: Tensor) -> str:
    """A matrix as Python writes it, one row a line, in full precision."""
    rows = "".join(f"    {row},\n" for row in matrix.tolist())
    return f"[\n{rows}]"

"""What each form of attention before the Transformer costs: counted, and measured on this machine."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import torch

from core.additive import Form, random_weights, scores


@dataclass(frozen=True, slots=True)
class Cost:
    """Counted for one look at seq_k encoder states."""

    parameters: int
    multiply_adds: int  # of this look; what is the same for every state of the decoder is counted once, below
    once: int  # multiply-adds that are done once per sentence
    tanhs: int


def cost(form: Form, *, decoder_dim: int, encoder_dim: int, attention_dim: int, seq_k: int) -> Cost:
    """Parameters and multiply-adds of a form.

    additive: W_h h_i is computed once per sentence; each look adds W_s s, one tanh per number, and a product with v.
    concat: the same sums, but done anew for every pair, as its formula says.
    """
    if form is Form.DOT:
        return Cost(0, seq_k * encoder_dim, 0, 0)
    if form is Form.GENERAL:
        return Cost(decoder_dim * encoder_dim, decoder_dim * encoder_dim + seq_k * encoder_dim, 0, 0)
    parameters = attention_dim * (decoder_dim + encoder_dim) + attention_dim
    tanhs = seq_k * attention_dim
    if form is Form.CONCAT:
        return Cost(parameters, tanhs * (decoder_dim + encoder_dim) + tanhs, 0, tanhs)
    return Cost(parameters, attention_dim * decoder_dim + tanhs, tanhs * encoder_dim, tanhs)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is computed when the forms are timed: as many decoder states as encoder states, all of one size."""

    seq_len: int = 128
    dim: int = 64


def measure_forms(
    size: Size,
    *,
    generator: torch.Generator,
    on_progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
    repeats: int = 15,
) -> Mapping[Form, float]:
    """Seconds that each form needs to score all pairs; the shortest of several runs, which the machine disturbed least.

    Returns: what was measured; less than all forms if it was cancelled.
    """
    dims = {"encoder_dim": size.dim, "decoder_dim": size.dim, "attention_dim": size.dim}
    weights = random_weights(generator=generator, **dims)
    decoder, encoder = torch.randn(2, size.seq_len, size.dim, generator=generator, dtype=torch.float64)
    found: dict[Form, float] = {}
    for done, form in enumerate(Form):
        on_progress(done, len(Form))
        if cancelled():
            return found
        found[form] = min(_seconds(partial(scores, form, decoder, encoder, weights)) for _ in range(repeats))
    on_progress(len(Form), len(Form))
    return found


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    with torch.inference_mode():
        call()
    return time.perf_counter() - begin

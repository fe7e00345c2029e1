"""The residual stream of a network on a text: how large the vectors are between the blocks, and what each block adds.

Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", section "High-Level Architecture", for the view
of a network as blocks that read from a stream and add to it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from core.anatomy import SUBLAYERS, Block, Kind, Side, block_of, family_of, hooked, private_copy
from core.models import AnyModel, TranslationModel


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One block of one layer, for every token."""

    block: Block
    before: Tensor  # (seq_len, d_model), the stream that the block is to add to
    added: Tensor  # (seq_len, d_model)
    after: Tensor  # (seq_len, d_model): the sum, or its normalisation where that follows each block
    normed_after: bool

    @property
    def ratio(self) -> Tensor:
        """How large what is added is beside what it is added to, (seq_len,)."""
        ratio: Tensor = self.added.norm(dim=-1) / self.before.norm(dim=-1)
        return ratio

    @property
    def cosine(self) -> Tensor:
        """Whether it goes the same way, (seq_len,)."""
        return torch.cosine_similarity(self.added, self.before, dim=-1)


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """All steps of one pass, in order."""

    steps: tuple[Step, ...]

    def of(self, side: Side) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.block.side is side)


@dataclass(slots=True)
class _Recorder:
    family: str
    norms: dict[Block, tuple[Tensor, Tensor]] = field(default_factory=dict)  # what entered and what left, by its block
    added: dict[Block, Tensor] = field(default_factory=dict)
    first: list[Block] = field(default_factory=list)  # normalisations that ran before their block

    def __call__(self, name: str, module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        block = block_of(self.family, name)
        if block is None or block.layer is None or not isinstance(output, Tensor):
            return
        if block.kind in SUBLAYERS:
            self.added[block] = output  # the last of its parts stays
        elif block.kind is Kind.NORM and block.of is not None:
            whose = Block(block.side, block.of, layer=block.layer)
            self.norms[whose] = inputs[0], output
            if whose not in self.added:
                self.first.append(whose)


def trace_stream(network: nn.Module, run: Callable[[nn.Module], object]) -> Stream:
    """Let a network run once on one sequence, and take down the stream, in float64.

    run: calls the network that it is given, a private copy of the first.
    Raises: UnknownNetworkError if it is of a family without rules.
    """
    recorder = _Recorder(family_of(network))
    mine = private_copy(network)
    with torch.no_grad(), hooked(mine, recorder):
        run(mine)
    steps = []
    for block, output in recorder.added.items():
        entered, left = (tensor[0].double() for tensor in recorder.norms[block])  # (seq_len, d_model)
        added = output[0].double()
        if block in recorder.first:
            steps.append(Step(block, entered, added, entered + added, normed_after=False))
        else:
            steps.append(Step(block, entered - added, added, left, normed_after=True))
    return Stream(tuple(steps))


def read_stream(model: AnyModel, ids: Sequence[int], said: Sequence[int] = ()) -> Stream:
    """The stream of a loaded model on a text; said: what a translation model says to it, or is made to say.

    Raises: ValueError if there is nothing to read, or a translation model says nothing.
    """
    if not ids:
        raise ValueError("ids (0) must hold at least 1 token")
    inputs: dict[str, Any] = {"input_ids": torch.tensor([list(ids)])}
    if isinstance(model, TranslationModel):
        if not said:
            raise ValueError("said (0) must hold at least 1 token")
        inputs |= {"decoder_input_ids": torch.tensor([[model.facts.start_id, *said[:-1]]]), "use_cache": False}
    return trace_stream(model.network, lambda network: network(**inputs))

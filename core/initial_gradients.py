"""A Transformer before its first step of training: how large its vectors and its gradients are, layer by layer.

Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture", section 3 and figure 3: with a
normalisation after each block, the gradients differ much from layer to layer, which is why training has to start
gently; with one before each block they hardly do. Liu et al. 2020, "Understanding the Difficulty of Training
Transformers", find the gradients vanish in the decoder alone. Random weights read random tokens and are to say others:
nothing but the initialisation speaks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own name for it)
from torch import Tensor, nn

from core.anatomy import Side
from core.checks import check_sizes
from core.transformer import NormPlace, TransformerConfig, random_transformer

START = TransformerConfig(d_model=64, num_heads=4, d_ff=256, vocab_size=200, max_len=16, tied=False)
BATCH = 4


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """What was measured in each stack, seed by seed."""

    stream: Mapping[Side, Tensor]  # (seeds, num_layers + 1), root mean square of the vectors, embeddings first
    gradients: Mapping[Side, Tensor]  # (seeds, num_layers), norm of that of each feed-forward block's second matrix

    def unevenness(self, side: Side) -> float:
        """How many times as large the last layer's gradient is as the first layer's; the median of the seeds."""
        gradients = self.gradients[side]
        return float((gradients[:, -1] / gradients[:, 0]).median())

    def growth(self, side: Side) -> float:
        """How many times as large the vectors are after the last layer as before the first; the median of the seeds."""
        stream = self.stream[side]
        return float((stream[:, -1] / stream[:, 0]).median())


def measure_start(num_layers: int, norm: NormPlace, *, seeds: int = 3, config: TransformerConfig = START) -> Start:
    """Send random tokens through random Transformers of two stacks, forwards and backwards.

    The vectors are those that the next layer reads: with the normalisation first, before the last one at the end.
    Raises: ValueError if num_layers or seeds is less than 1.
    Source: Xiong et al. 2020, figure 3, plots the same matrix's gradient.
    """
    check_sizes(seeds=seeds)
    found = [_one(replace(config, num_layers=num_layers, norm=norm), seed) for seed in range(seeds)]
    stream, gradients = (
        {side: torch.stack([one[place][side] for one in found]) for side in Side} for place in range(2)
    )
    return Start(stream, gradients)


def _one(config: TransformerConfig, seed: int) -> tuple[Mapping[Side, Tensor], Mapping[Side, Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    network: Any = random_transformer(config, generator=generator)
    source, target, wanted = torch.randint(config.vocab_size, (3, BATCH, config.max_len), generator=generator)
    sizes: dict[Side, list[Tensor]] = {side: [] for side in Side}
    for side in Side:

        def look(_module: nn.Module, _inputs: object, output: Tensor, side: Side = side) -> None:
            sizes[side].append(output.detach().square().mean(dim=-1).sqrt().mean())

        stack = getattr(network, side)
        for module in (stack.embedding, *stack.layers):
            module.register_forward_hook(look)
    logits = network(source, target)  # (batch, seq_len, vocab_size)
    loss: Any = F.cross_entropy(logits.flatten(0, 1), wanted.flatten())
    loss.backward()
    gradients = {
        side: torch.stack([layer.feed_forward.block.down.weight.grad.norm() for layer in getattr(network, side).layers])
        for side in Side
    }
    return {side: torch.stack(each) for side, each in sizes.items()}, gradients

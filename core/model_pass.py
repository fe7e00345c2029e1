"""One pass through a Transformer of any sizes, or through a loaded network, to see what its blocks do.

Only what is small is really computed. A pass of nothing but shapes gives the same shapes and counts, at any size.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from core.anatomy import Anatomy, read_anatomy
from core.checks import check_sizes
from core.transformer import Stacks, Transformer, TransformerConfig, random_transformer, without_numbers

REAL_PARAMETERS = 3_000_000  # so many random numbers can be drawn between two moves of a slider
REAL_PRODUCTS = 500_000_000  # parameters times tokens: about the multiply-adds of a pass


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is sent through; a decoder-only network reads the target."""

    batch: int
    seq_source: int
    seq_target: int

    def __post_init__(self) -> None:
        check_sizes(batch=self.batch, seq_source=self.seq_source, seq_target=self.seq_target)

    @property
    def tokens(self) -> int:
        return self.batch * (self.seq_source + self.seq_target)


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    anatomy: Anatomy
    real: bool  # numbers went through, not only shapes


def pass_through(config: TransformerConfig, sizes: Sizes) -> Pass:
    """Build the Transformer and send random tokens through it, layer by layer if it is small.

    Else the shapes alone go through one layer of each stack; the others are like it.
    Raises: ValueError if a sequence is longer than max_len.
    """
    for name in ("seq_source", "seq_target"):
        if getattr(sizes, name) > config.max_len:
            raise ValueError(f"{name} ({getattr(sizes, name)}) must be at most max_len ({config.max_len})")
    one = without_numbers(replace(config, num_layers=1))
    parameters = _parameters(one, config.num_layers)
    if parameters > REAL_PARAMETERS or parameters * sizes.tokens > REAL_PRODUCTS:
        anatomy = read_anatomy(one, lambda mine: _run_own(mine, sizes), numbers=False)
        return Pass(anatomy.repeated(config.num_layers), real=False)
    network = random_transformer(config, generator=torch.Generator().manual_seed(0))
    return Pass(read_anatomy(network, lambda mine: _run_own(mine, sizes)), real=True)


def config_parameters(config: TransformerConfig) -> int:
    """How many parameters such a Transformer has, each counted once, from one layer of each stack.

    >>> config_parameters(TransformerConfig())
    63082496
    """
    return _parameters(without_numbers(replace(config, num_layers=1)), config.num_layers)


def _parameters(one: Transformer, num_layers: int) -> int:
    """Those of a Transformer of more layers, from one with a single layer in each stack."""
    in_a_layer = sum(parameter.numel() for stack in one.stacks for parameter in stack.layers.parameters())
    return sum(parameter.numel() for parameter in one.parameters()) + (num_layers - 1) * in_a_layer


def pass_of_network(network: nn.Module, sizes: Sizes) -> Pass:
    """Send tokens through a network of the transformers library.

    Raises: UnknownNetworkError if its blocks are not known.
    """
    parameters = sum(parameter.numel() for parameter in network.parameters())
    real = parameters * sizes.tokens <= REAL_PRODUCTS
    return Pass(read_anatomy(network, lambda mine: _run_library(mine, sizes), numbers=real), real)


def _run_own(network: nn.Module, sizes: Sizes) -> None:
    config: Any = network.config
    stacks = config.stacks
    source = None if stacks is Stacks.DECODER else _ids(sizes.batch, sizes.seq_source)
    target = None if stacks is Stacks.ENCODER else _ids(sizes.batch, sizes.seq_target)
    network(source, target)


def _run_library(network: nn.Module, sizes: Sizes) -> None:
    config: Any = network.config
    seq_len = sizes.seq_source if reads(network) else sizes.seq_target
    ids = _ids(sizes.batch, seq_len)
    inputs: dict[str, Any] = {"input_ids": ids}
    if config.is_encoder_decoder:
        inputs["decoder_input_ids"] = _ids(sizes.batch, sizes.seq_target)
    elif not reads(network):
        inputs["attention_mask"] = torch.ones_like(ids)  # else the library looks at the ids for packed sentences
    if writes(network):
        inputs["use_cache"] = False
    network(**inputs)


def reads(network: nn.Module) -> bool:
    """Has it an encoder?"""
    if isinstance(network, Transformer):
        return network.config.stacks is not Stacks.DECODER
    config: Any = network.config
    return bool(config.model_type != "gpt2")


def writes(network: nn.Module) -> bool:
    """Has it a decoder?"""
    if isinstance(network, Transformer):
        return network.config.stacks is not Stacks.ENCODER
    config: Any = network.config
    return bool(config.is_encoder_decoder) or config.model_type == "gpt2"


def _ids(batch: int, seq_len: int) -> Tensor:
    return torch.zeros(batch, seq_len, dtype=torch.int64)

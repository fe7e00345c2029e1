"""What a network is made of: its blocks, and for each the shapes, parameters and multiply-adds of one real pass.

A block is what a diagram of the Transformer draws as a box. Which module of a network belongs to which block is written
down once per family, by name; all else is read from the modules, and from hooks on them while the network runs.
"""

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import torch
from torch import Tensor, nn


class Side(StrEnum):
    """The stack that a block belongs to."""

    ENCODER = "encoder"
    DECODER = "decoder"


class Kind(StrEnum):
    EMBEDDING = "embedding"
    POSITIONS = "positions"
    SELF_ATTENTION = "self_attention"
    CROSS_ATTENTION = "cross_attention"
    FEED_FORWARD = "feed_forward"
    NORM = "norm"
    POOLER = "pooler"  # one vector for the whole sentence
    OUTPUT = "output"  # scores every token of the vocabulary


SUBLAYERS = (Kind.SELF_ATTENTION, Kind.CROSS_ATTENTION, Kind.FEED_FORWARD)


@dataclass(frozen=True, slots=True, order=True)
class Block:
    """A box of the diagram; one of all layers where `layer` is None."""

    side: Side
    kind: Kind
    of: Kind | None = None  # of a normalisation: whose it is; None for the one at the end of a stack
    layer: int | None = None  # counted from 0

    @property
    def in_general(self) -> "Block":
        """The same block of whichever layer."""
        return Block(self.side, self.kind, self.of)


@dataclass(slots=True)
class BlockTrace:
    """What one block took, made and cost in one pass."""

    entering: tuple[int, ...]  # shape
    leaving: tuple[int, ...]
    inside: tuple[int, ...] = ()  # of attention weights, and of what a feed-forward block widens its tokens to
    parameters: int = 0  # those that no block before it has
    shared: int = 0  # those that a block before it has too: an output that is tied to the embedding
    matrices: int = 0  # multiply-adds with parameters
    products: int = 0  # multiply-adds of tokens with tokens: q·k and w·v
    numbers: int = 0  # activations: what its parts put out, and every attention weight
    weights: int = 0  # those of the activations that are attention weights
    cached: int = 0  # numbers of keys and values that a decoder keeps

    @property
    def multiply_adds(self) -> int:
        return self.matrices + self.products


@dataclass(frozen=True, slots=True, eq=False)
class Anatomy:
    """All blocks of a network in the order in which they ran."""

    blocks: Mapping[Block, BlockTrace]
    num_heads: int
    tied: bool

    @property
    def parameters(self) -> int:
        return sum(trace.parameters for trace in self.blocks.values())

    @property
    def multiply_adds(self) -> int:
        return sum(trace.multiply_adds for trace in self.blocks.values())

    def num_layers(self, side: Side) -> int:
        return 1 + max((b.layer for b in self.blocks if b.side is side and b.layer is not None), default=-1)

    def in_general(self) -> Mapping[Block, BlockTrace]:
        """The blocks of all layers summed; the shapes are those of the first layer."""
        layers: dict[Block, list[BlockTrace]] = {}
        for block, trace in self.blocks.items():
            layers.setdefault(block.in_general, []).append(trace)
        return {block: _summed(traces) for block, traces in layers.items()}

    def repeated(self, num_layers: int) -> "Anatomy":
        """The same with so many layers, each like the first one of its stack: for networks whose layers are alike."""
        blocks: dict[Block, BlockTrace] = {}
        for side in Side:
            mine = {block: trace for block, trace in self.blocks.items() if block.side is side}
            before = [block for block in mine if block.layer is None and block.kind in (Kind.EMBEDDING, Kind.POSITIONS)]
            layer = [block for block in mine if block.layer == 0]
            after = [block for block in mine if block.layer is None and block not in before]
            blocks |= {block: mine[block] for block in before}
            for number in range(num_layers):
                blocks |= {Block(b.side, b.kind, b.of, number): mine[b] for b in layer}
            blocks |= {block: mine[block] for block in after}
        return Anatomy(blocks, self.num_heads, self.tied)


COUNTS = ("parameters", "shared", "matrices", "products", "numbers", "weights", "cached")


def _summed(traces: Sequence[BlockTrace]) -> BlockTrace:
    first = traces[0]
    counts = {name: sum(getattr(trace, name) for trace in traces) for name in COUNTS}
    return BlockTrace(first.entering, first.leaving, first.inside, **counts)


# ------------------------------------------------------------------------------------- which module is in which block

Rule = tuple[str, Side, Kind, Kind | None]
"""The beginning of a module's name, with # for the number of the layer, and its block."""

E, D = Side.ENCODER, Side.DECODER
SELF, CROSS, FEED = SUBLAYERS


def _stack(side: Side, prefix: str, blocks: Mapping[str, Kind], norms: Mapping[str, Kind]) -> list[Rule]:
    """Rules for the layers of a stack; norms before blocks, as some stand inside the module of their block."""
    return [
        *((f"{prefix}.{name}", side, Kind.NORM, of) for name, of in norms.items()),
        *((f"{prefix}.{name}", side, kind, None) for name, kind in blocks.items()),
    ]


def _marian(side: Side) -> list[Rule]:
    blocks = {"self_attn": SELF, "encoder_attn": CROSS, "fc1": FEED, "fc2": FEED, "activation_fn": FEED}
    norms = {"self_attn_layer_norm": SELF, "encoder_attn_layer_norm": CROSS, "final_layer_norm": FEED}
    return [
        *_stack(side, f"model.{side}.layers.#", blocks, norms),
        (f"model.{side}.embed_positions", side, Kind.POSITIONS, None),
        (f"model.{side}.embed_tokens", side, Kind.EMBEDDING, None),
    ]


def _t5(side: Side) -> list[Rule]:
    feed = 1 if side is E else 2
    blocks = {"0.SelfAttention": SELF, "1.EncDecAttention": CROSS, f"{feed}.DenseReluDense": FEED}
    norms = {"0.layer_norm": SELF, "1.layer_norm": CROSS if side is D else FEED, "2.layer_norm": FEED}
    return [
        (f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias", side, Kind.POSITIONS, None),
        *_stack(side, f"{side}.block.#.layer", blocks, norms),
        (f"{side}.final_layer_norm", side, Kind.NORM, None),
        (f"{side}.embed_tokens", side, Kind.EMBEDDING, None),
    ]


def _own(side: Side) -> list[Rule]:
    blocks = {f"{kind}.block": kind for kind in SUBLAYERS}
    return [
        *_stack(side, f"{side}.layers.#", blocks, {f"{kind}.norm": kind for kind in SUBLAYERS}),
        (f"{side}.embedding.positions", side, Kind.POSITIONS, None),
        (f"{side}.embedding.tokens", side, Kind.EMBEDDING, None),
        (f"{side}.norm", side, Kind.NORM, None),
    ]


_BERT_EMBEDDINGS: list[Rule] = [
    ("embeddings.word_embeddings", E, Kind.EMBEDDING, None),
    ("embeddings.token_type_embeddings", E, Kind.EMBEDDING, None),
    ("embeddings.position_embeddings", E, Kind.POSITIONS, None),
    ("embeddings.LayerNorm", E, Kind.NORM, Kind.EMBEDDING),
]

RULES: Mapping[str, list[Rule]] = {
    "atlas": [*_own(E), *_own(D), ("output", D, Kind.OUTPUT, None)],
    "marian": [("model.shared", E, Kind.EMBEDDING, None), *_marian(E), *_marian(D), ("lm_head", D, Kind.OUTPUT, None)],
    "t5": [("shared", E, Kind.EMBEDDING, None), *_t5(E), *_t5(D), ("lm_head", D, Kind.OUTPUT, None)],
    "bert": [
        *_BERT_EMBEDDINGS,
        *_stack(
            E,
            "encoder.layer.#",
            {"attention": SELF, "intermediate": FEED, "output": FEED},
            {"attention.output.LayerNorm": SELF, "output.LayerNorm": FEED},
        ),
        ("pooler", E, Kind.POOLER, None),
    ],
    "distilbert": [
        *_BERT_EMBEDDINGS,
        *_stack(
            E,
            "transformer.layer.#",
            {"attention": SELF, "ffn": FEED},
            {"sa_layer_norm": SELF, "output_layer_norm": FEED},
        ),
    ],
    "gpt2": [
        ("transformer.wte", D, Kind.EMBEDDING, None),
        ("transformer.wpe", D, Kind.POSITIONS, None),
        *_stack(D, "transformer.h.#", {"attn": SELF, "mlp": FEED}, {"ln_1": SELF, "ln_2": FEED}),
        ("transformer.ln_f", D, Kind.NORM, None),
        ("lm_head", D, Kind.OUTPUT, None),
    ],
}
"""By model_type of the configuration; "atlas" is `core.transformer`."""

COMPUTED = {"marian": ("model.encoder.embed_positions", "model.decoder.embed_positions")}
"""Tables of sines and cosines that a library keeps among the parameters."""

QUERY, KEY = {"q", "q_proj", "query", "q_lin"}, {"k", "k_proj", "key", "k_lin"}
ALL_THREE = "c_attn"  # GPT-2: queries, keys and values by one matrix


class UnknownNetworkError(ValueError):
    """A network of a family whose blocks are not written down here, or with a part that belongs to none of them."""


def family_of(network: nn.Module) -> str:
    """Raises: UnknownNetworkError if there are no rules for it."""
    config: Any = getattr(network, "config", None)
    family = getattr(config, "model_type", "atlas")
    if family not in RULES:
        raise UnknownNetworkError(f"model_type ({family!r}) must be one of {', '.join(sorted(RULES))}")
    return str(family)


def block_of(family: str, name: str) -> Block | None:
    """The block that a module or parameter of this name belongs to; None if it belongs to none."""
    for prefix, side, kind, of in RULES[family]:
        match = re.match(re.escape(prefix).replace(r"\#", r"(\d+)") + r"(\.|$)", name)
        if match:
            return Block(side, kind, of, int(match[1]) if match.lastindex and match[1].isdigit() else None)
    return None


# --------------------------------------------------------------------------------------------------------- one pass


def private_copy(network: nn.Module, *, numbers: bool = True) -> nn.Module:
    """The same network in modules of its own, so that hooks on it see no pass of anybody else.

    numbers: it has the same tensors; without them it has tensors that are nothing but shapes.
    """
    tensors: dict[int, Tensor] = {id(tensor): tensor for tensor in (*network.parameters(), *network.buffers())}
    if not numbers:
        tensors = {key: _shape_of(tensor) for key, tensor in tensors.items()}
    return copy.deepcopy(network, dict(tensors))


def _shape_of(tensor: Tensor) -> Tensor:
    shape = torch.empty_like(tensor, device="meta")
    return nn.Parameter(shape, requires_grad=False) if isinstance(tensor, nn.Parameter) else shape


@contextmanager
def hooked(network: nn.Module, hook: Callable[[str, nn.Module, tuple[Any, ...], Any], None]) -> Iterator[None]:
    """Meanwhile, hook(name, module, inputs, output) is called after every module that has no parts of its own."""
    handles = []
    for name, module in network.named_modules():
        if not any(True for _ in module.children()):

            def call(module: nn.Module, inputs: tuple[Any, ...], output: Any, name: str = name) -> None:
                hook(name, module, inputs, output)

            handles.append(module.register_forward_hook(call))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@dataclass(slots=True)
class _Recorder:
    """Collects what the hooks see."""

    family: str
    num_heads: int
    blocks: dict[Block, BlockTrace] = field(default_factory=dict)
    queries: dict[Block, Tensor] = field(default_factory=dict)

    def __call__(self, name: str, module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        block = block_of(self.family, name)
        if block is None or not isinstance(output, Tensor):
            return
        entering = inputs[0] if inputs and isinstance(inputs[0], Tensor) else output
        trace = self.blocks.setdefault(block, BlockTrace(tuple(entering.shape), ()))
        trace.leaving = tuple(output.shape)
        if block.kind is Kind.FEED_FORWARD and not trace.inside:
            trace.inside = tuple(output.shape)
        if isinstance(module, nn.Dropout):
            return  # it hands on what it gets
        trace.numbers += output.numel()
        if is_matrix(module):
            trace.matrices += output.numel() * entering.shape[-1]
        self._attend(block, trace, name.rpartition(".")[2], output)

    def _attend(self, block: Block, trace: BlockTrace, name: str, output: Tensor) -> None:
        """q·kᵀ and w·v, once both are known; what they make is no module's output."""
        if name in QUERY:
            self.queries[block] = output
        elif name in KEY:
            self._count(block, trace, self.queries[block], output)
        elif name == ALL_THREE:
            third = output[..., : output.shape[-1] // 3]  # (batch, seq_len, d_model)
            self._count(block, trace, third, third)

    def _count(self, block: Block, trace: BlockTrace, q: Tensor, k: Tensor) -> None:
        """q and k (batch, seq, num_heads · head_dim)."""
        batch, seq_q, width = q.shape
        seq_k = k.shape[1]
        trace.products += 2 * batch * seq_q * seq_k * width
        trace.inside = batch, self.num_heads, seq_q, seq_k
        trace.weights += batch * self.num_heads * seq_q * seq_k
        trace.numbers += batch * self.num_heads * seq_q * seq_k + batch * seq_q * width  # these, and w·v
        if block.side is Side.DECODER:
            trace.cached += 2 * k.numel()


def is_matrix(module: nn.Module) -> bool:
    """Does it multiply its input with a matrix: a Linear, or GPT-2's transposed one?"""
    return isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"


def read_anatomy(network: nn.Module, run: Callable[[nn.Module], object], *, numbers: bool = True) -> Anatomy:
    """Let a network run once, and take down what each block did.

    run: calls the network that it is given, a private copy of the first, and makes its inputs.
    numbers: whether anything is computed; the shapes alone cost the same at any size.
    Raises: UnknownNetworkError if it is of a family without rules, or has a parameter that is in no block.
    """
    family = family_of(network)
    config: Any = network.config
    recorder = _Recorder(family, getattr(config, "num_heads", None) or config.num_attention_heads)
    mine = private_copy(network, numbers=numbers)
    with torch.no_grad(), hooked(mine, recorder), nullcontext() if numbers else torch.device("meta"):
        run(mine)
    blocks = _count_parameters(network, family, recorder.blocks)
    output = next((trace for block, trace in blocks.items() if block.kind is Kind.OUTPUT), None)
    return Anatomy(blocks, recorder.num_heads, tied=bool(output and output.shared))


def _count_parameters(network: nn.Module, family: str, blocks: Mapping[Block, BlockTrace]) -> dict[Block, BlockTrace]:
    """Every parameter belongs to the first block that has it, and is counted there, whatever its other names."""
    owners: dict[int, Block] = {}
    counted: set[tuple[int, Block]] = set()
    for name, parameter in sorted(
        network.named_parameters(remove_duplicate=False), key=lambda each: _rank(family, each)
    ):
        block = block_of(family, name)
        if block is None:
            raise UnknownNetworkError(f"{name} belongs to no block of a {family} network")
        if name.startswith(COMPUTED.get(family, ())) or block not in blocks or (id(parameter), block) in counted:
            continue
        counted.add((id(parameter), block))
        if owners.setdefault(id(parameter), block) == block:
            blocks[block].parameters += parameter.numel()
        else:
            blocks[block].shared += parameter.numel()
    return dict(blocks)


def _rank(family: str, named: tuple[str, Tensor]) -> int:
    """Embeddings come before an output that shares their matrix, and the encoder's before the decoder's."""
    block = block_of(family, named[0])
    return 2 if block is None or block.kind is Kind.OUTPUT else int(block.side is Side.DECODER)

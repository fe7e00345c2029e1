"""How the page on the whole Transformer calls blocks and writes shapes and amounts."""

from core.anatomy import Block, Kind, Side
from core.transformer import NormPlace, PositionKind, Stacks
from core.transformer_costs import Cost, Part
from pages.components.i18n import _

PAGE_OF = {
    Kind.EMBEDDING: "embeddings",
    Kind.POSITIONS: "sinusoidal",
    Kind.CROSS_ATTENTION: "qkv",
    Kind.FEED_FORWARD: "rank",
    Kind.NORM: "transformer",
    Kind.POOLER: "embeddings",
    Kind.OUTPUT: "translation",
}
"""Address of the page that explains a block; self-attention has one for each stack."""


def page_of(block: Block) -> str:
    if block.kind is Kind.SELF_ATTENTION:
        return "heads" if block.side is Side.ENCODER else "masks"
    return PAGE_OF[block.kind]


def shape(sizes: tuple[int, ...]) -> str:
    return " × ".join(map(str, sizes))


def side_name(side: Side) -> str:
    return {Side.ENCODER: _("Encoder"), Side.DECODER: _("Decoder")}[side]


def block_name(block: Block) -> str:
    """As it stands in its box."""
    if block.kind is Kind.SELF_ATTENTION and block.side is Side.DECODER:
        return _("Masked self-attention")
    return row_name(block)


def row_name(block: Block) -> str:
    """As it stands in a table, where its stack stands too."""
    return {
        Kind.EMBEDDING: _("Embedding"),
        Kind.POSITIONS: _("Positions"),
        Kind.SELF_ATTENTION: _("Self-attention"),
        Kind.CROSS_ATTENTION: _("Cross-attention"),
        Kind.FEED_FORWARD: _("Feed-forward"),
        Kind.NORM: _("Normalisation"),
        Kind.POOLER: _("Pooler"),
        Kind.OUTPUT: _("Output scores"),
    }[block.kind]


def what_it_does(block: Block) -> str:
    if block.kind is Kind.SELF_ATTENTION and block.side is Side.DECODER:
        return _("Each token takes over a mixture of itself and of what came before it.")
    return {
        Kind.EMBEDDING: _("Looks up the vector of every token: one row of a large matrix."),
        Kind.POSITIONS: _("Says where a token stands: attention alone would not notice the order."),
        Kind.SELF_ATTENTION: _("Each token looks at all tokens of the text, and takes over a mixture of them."),
        Kind.CROSS_ATTENTION: _("Each token of the target looks at the encoder's vectors of the source."),
        Kind.FEED_FORWARD: _("Works on each token alone: two matrices, and something bent between them."),
        Kind.NORM: _("Brings each vector to mean 0 and variance 1, then scales and shifts it."),
        Kind.POOLER: _("Makes one vector for the whole text, from that of the first token."),
        Kind.OUTPUT: _("Scores every token of the vocabulary; softmax makes probabilities."),
    }[block.kind]


def part_name(part: Part) -> str:
    return {
        Part.EMBEDDINGS: _("Embeddings"),
        Part.SELF_ATTENTION: _("Self-attention"),
        Part.CROSS_ATTENTION: _("Cross-attention"),
        Part.FEED_FORWARD: _("Feed-forward"),
        Part.REST: _("Normalisation and rest"),
        Part.OUTPUT: _("Output scores"),
    }[part]


def cost_name(cost: Cost) -> str:
    return {
        Cost.PARAMETERS: _("Parameters"),
        Cost.MULTIPLY_ADDS: _("Multiply-adds"),
        Cost.ACTIVATIONS: _("Activations"),
        Cost.CACHE: _("KV cache"),
    }[cost]


def family_names() -> dict[str, str]:
    return {
        Stacks.BOTH.value: _("encoder and decoder"),
        Stacks.ENCODER.value: _("encoder only"),
        Stacks.DECODER.value: _("decoder only"),
    }


def stacks_names() -> dict[str, str]:
    return {
        Stacks.BOTH.value: _("both"),
        Stacks.ENCODER.value: _("encoder only"),
        Stacks.DECODER.value: _("decoder only"),
    }


def norm_names() -> dict[str, str]:
    return {NormPlace.POST.value: _("post-norm"), NormPlace.PRE.value: _("pre-norm")}


def position_names() -> dict[str, str]:
    return {PositionKind.SINUSOIDAL.value: _("sinusoidal"), PositionKind.LEARNT.value: _("learnt")}


def tied_names() -> dict[str, str]:
    return {"tied": _("tied"), "untied": _("untied")}

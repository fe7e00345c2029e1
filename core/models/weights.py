"""Put the weights of a safetensors file into a network, once every shape is known to fit.

transformers fills what a file lacks with random numbers and a warning. Here a file that lacks a weight, has one too
many, or has one of another shape is refused, before anything of the size that config.json claims is allocated.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from transformers import MarianConfig, MarianMTModel, T5Config, T5ForConditionalGeneration

from core.models.catalogue import Family
from core.models.problems import ModelError, ModelProblem
from core.models.settings import Settings

Network = MarianMTModel | T5ForConditionalGeneration
Shapes = dict[str, tuple[int, ...]]

FILE = "model.safetensors"
FLOATS = {"F16", "BF16", "F32", "F64"}
LARGEST = 300_000_000  # weights: 1.2 GB in float32; T5-base has 223 million
HEAD = "lm_head.weight"  # scores the next token
POSITIONS = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")  # Marian: sines, cosines
BIAS = "final_logits_bias"  # Marian: added to every token's score; zero where a file does not have it


@dataclass(frozen=True, slots=True)
class Layout:
    """What the tensors of a family are called."""

    embedding: str
    copies: tuple[str, ...]  # other names of the embedding
    encoder_layer: str
    decoder_layer: str
    derived: tuple[str, ...]  # may stand in a file, but are not weights
    optional: tuple[str, ...] = ()


LAYOUTS = {
    Family.MARIAN: Layout(
        embedding="model.shared.weight",
        copies=("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"),
        encoder_layer=r"model\.encoder\.layers\.(\d+)\.",
        decoder_layer=r"model\.decoder\.layers\.(\d+)\.",
        derived=POSITIONS,
        optional=(BIAS,),
    ),
    Family.T5: Layout(
        embedding="shared.weight",
        copies=("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"),
        encoder_layer=r"encoder\.block\.(\d+)\.",
        decoder_layer=r"decoder\.block\.(\d+)\.",
        # The first published files hold a bias for cross-attention, which T5 does not have.
        derived=("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",),
    ),
}


def load_network(settings: Settings, path: Path) -> Network:
    """The network in float32, for inference only: no dropout, no gradients, attention written out.

    Raises: ModelError if the file is damaged or does not hold exactly the weights that `settings` call for.
    """
    layout = LAYOUTS[settings.family]
    shapes = read_shapes(path)
    _check_sizes(settings, layout, shapes)
    with torch.device("meta"):  # shapes only
        network = _new_network(settings.config)
    wanted = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    _check_names(settings, layout, shapes, wanted)
    tensors = _read(path, [name for name in shapes if name in wanted])
    tied = _unify_embeddings(layout, tensors)
    if isinstance(network, MarianMTModel):
        _complete_marian(network, settings, tensors)
    network.load_state_dict(tensors, assign=True)
    _tie(network, layout.embedding, [*layout.copies, HEAD] if tied else layout.copies)
    network.requires_grad_(False)
    network.train(False)
    return network


def _new_network(config: MarianConfig | T5Config) -> Network:
    return MarianMTModel(config) if isinstance(config, MarianConfig) else T5ForConditionalGeneration(config)


def read_shapes(path: Path) -> Shapes:
    """Names and shapes of the tensors in a safetensors file, from its header.

    Raises: ModelError if it is no whole safetensors file, or holds anything but floating-point numbers.
    """
    try:
        with safe_open(path, "pt") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 (it is no mapping)
            shapes = {name: tuple(piece.get_shape()) for name, piece in slices.items()}
            kinds = {name: piece.get_dtype() for name, piece in slices.items()}
    except OSError as error:
        raise ModelError(ModelProblem.MISSING, f"{FILE} cannot be read: {error}.") from error
    except SafetensorError as error:
        raise ModelError(ModelProblem.DAMAGED, f"{FILE} is damaged or incomplete: {error}.") from error
    for name, kind in kinds.items():
        if kind not in FLOATS:
            raise ModelError(
                ModelProblem.UNSUPPORTED, f"{name} in {FILE} holds {kind}; it must be one of {sorted(FLOATS)}."
            )
    return shapes


def _check_sizes(settings: Settings, layout: Layout, shapes: Shapes) -> None:
    """Compare what sets the cost of building a network: vocabulary, width and numbers of layers."""
    config = settings.config
    names = [name for name in (layout.embedding, *layout.copies, HEAD) if name in shapes]
    if not names:
        raise ModelError(ModelProblem.WRONG_FILE, f"{FILE} lacks {layout.embedding}: it is no {settings.family} model.")
    for name in names:
        _check_shape(name, shapes[name], (config.vocab_size, config.d_model))
    depths = (
        [config.encoder_layers, config.decoder_layers]
        if isinstance(config, MarianConfig)
        else [config.num_layers, config.num_decoder_layers]
    )
    for side, pattern, depth in zip(
        ("encoder", "decoder"), (layout.encoder_layer, layout.decoder_layer), depths, strict=True
    ):
        found = len({match[1] for name in shapes if (match := re.match(pattern, name))})
        if found != depth:
            raise ModelError(
                ModelProblem.WRONG_FILE, f"{FILE} holds {found} {side} layers, but config.json says {depth}."
            )
    total = sum(torch.Size(shape).numel() for shape in shapes.values())
    if total > LARGEST:
        raise ModelError(ModelProblem.UNSUPPORTED, f"The model has {total:,} weights; the limit is {LARGEST:,}.")


def _check_names(settings: Settings, layout: Layout, shapes: Shapes, wanted: Mapping[str, tuple[int, ...]]) -> None:
    spare = {layout.embedding, *layout.copies, *layout.derived, *layout.optional}
    if settings.says_tied:
        spare.add(HEAD)
    lacking = [name for name in wanted if name not in shapes and name not in spare]
    if lacking:
        raise ModelError(ModelProblem.WRONG_FILE, f"{FILE} lacks {_some(lacking)}.")
    unknown = [name for name in shapes if name not in wanted and name not in layout.derived]
    if unknown:
        raise ModelError(
            ModelProblem.WRONG_FILE, f"{FILE} holds {_some(unknown)}, for which the model of config.json has no place."
        )
    for name, shape in wanted.items():
        if name in shapes:
            _check_shape(name, shapes[name], shape)


def _check_shape(name: str, shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if shape != wanted:
        raise ModelError(
            ModelProblem.WRONG_FILE,
            f"{name} has the shape {list(shape)} in {FILE}, but config.json asks for {list(wanted)}.",
        )


def _read(path: Path, names: Iterable[str]) -> dict[str, Tensor]:
    tensors = {}
    with safe_open(path, "pt") as file:
        for name in names:
            # A copy: the tensor itself may be a window on the file, and the file may change.
            tensors[name] = file.get_tensor(name).to(torch.float32, copy=True)
            if name != BIAS and not tensors[name].isfinite().all():  # −inf as a bias forbids a token
                raise ModelError(ModelProblem.DAMAGED, f"{name} in {FILE} holds values that are not numbers.")
    return tensors


def _unify_embeddings(layout: Layout, tensors: dict[str, Tensor]) -> bool:
    """Put the one embedding under all of its names; return whether it also scores the next token.

    A file may hold it under any of its names, and under several. It is the file that tells whether the scoring matrix
    is another one: config.json says so too, but what transformers 5 writes for a T5 always claims that it is the same.
    """
    names = [name for name in (layout.embedding, *layout.copies) if name in tensors] or [HEAD]
    embedding = tensors[names[0]]
    for name in names:
        if not torch.equal(tensors[name], embedding):
            raise ModelError(ModelProblem.WRONG_FILE, f"{name} and {names[0]} in {FILE} must be equal.")
    for name in (layout.embedding, *layout.copies):
        tensors[name] = embedding
    return torch.equal(tensors.setdefault(HEAD, embedding), embedding)


def _complete_marian(network: MarianMTModel, settings: Settings, tensors: dict[str, Tensor]) -> None:
    """Add what is computed rather than learned: the table of positions, and the bias of tokens never to be said."""
    table: Tensor = network.model.encoder.embed_positions.create_weight()  # (max_position_embeddings, d_model)
    for name in POSITIONS:
        if name in tensors and not torch.allclose(tensors[name], table, atol=0.01):  # float16 and bfloat16 rounding
            raise ModelError(ModelProblem.UNSUPPORTED, f"{name} in {FILE} is not the sines and cosines of Marian.")
        tensors[name] = table.clone()
    bias = tensors.setdefault(BIAS, torch.zeros(1, settings.config.vocab_size))
    forbidden = [number for number in settings.forbidden_ids if 0 <= number < settings.config.vocab_size]
    bias[0, forbidden] = -torch.inf


def _tie(network: Network, embedding: str, names: Iterable[str]) -> None:
    """Make the modules share one parameter, as loading by name gives each its own."""
    shared = network.get_parameter(embedding)
    for name in names:
        module: nn.Module = network.get_submodule(name.removesuffix(".weight"))
        module.weight = shared


def _some(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"

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
from transformers import (
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    GPT2LMHeadModel,
    MarianConfig,
    MarianMTModel,
    T5Config,
    T5ForConditionalGeneration,
)

from core.models.catalogue import Family
from core.models.problems import ModelError, ModelProblem
from core.models.settings import Config, Settings

Network = MarianMTModel | T5ForConditionalGeneration | BertModel | DistilBertModel | GPT2LMHeadModel
Shapes = dict[str, tuple[int, ...]]

FILE = "model.safetensors"
POOLER = "pooler.dense.weight"  # BERT: of one more layer on the first token, which not all files have
NORM = {"gamma": "weight", "beta": "bias"}
FLOATS = {"F16", "BF16", "F32", "F64"}
HEAD = "lm_head.weight"  # scores the next token
POSITIONS = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")  # Marian: sines, cosines
BIAS = "final_logits_bias"  # Marian: added to every token's score; zero where a file does not have it


@dataclass(frozen=True, slots=True)
class Layout:
    """What the tensors of a family are called."""

    embedding: str
    copies: tuple[str, ...]  # other names of the embedding
    layers: Mapping[str, str]  # of each stack, how the names of its layers begin
    ignored: tuple[str, ...]  # patterns: may stand in a file, but are no weights of what is shown
    optional: tuple[str, ...] = ()
    prefix: str = ""  # some files have it before every name, others before none


LAYOUTS = {
    Family.MARIAN: Layout(
        embedding="model.shared.weight",
        copies=("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"),
        layers={"encoder": r"model\.encoder\.layers\.(\d+)\.", "decoder": r"model\.decoder\.layers\.(\d+)\."},
        ignored=(),
        optional=(BIAS, *POSITIONS),
    ),
    Family.T5: Layout(
        embedding="shared.weight",
        copies=("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"),
        layers={"encoder": r"encoder\.block\.(\d+)\.", "decoder": r"decoder\.block\.(\d+)\."},
        # The first published files hold a bias for cross-attention, which T5 does not have.
        ignored=(r"decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.weight",),
    ),
    Family.BERT: Layout(
        embedding="embeddings.word_embeddings.weight",
        copies=(),
        layers={"encoder": r"encoder\.layer\.(\d+)\."},
        ignored=(r"embeddings\.position_ids", r"cls\..+"),  # the latter: what was trained to guess hidden words
        prefix="bert.",
    ),
    Family.DISTILBERT: Layout(
        embedding="embeddings.word_embeddings.weight",
        copies=(),
        layers={"encoder": r"transformer\.layer\.(\d+)\."},
        ignored=(r"embeddings\.position_ids", r"vocab_(transform|layer_norm|projector)\..+"),
        prefix="distilbert.",
    ),
    Family.GPT2: Layout(
        embedding="wte.weight",
        copies=(),
        layers={"decoder": r"h\.(\d+)\."},
        ignored=(r"h\.\d+\.attn\.(masked_)?bias",),  # the causal mask
        prefix="transformer.",
    ),
}


def load_network(settings: Settings, path: Path, *, largest: int) -> Network:
    """The network in float32, for inference only: no dropout, no gradients, attention written out.

    largest: how many weights it may have.
    Raises: ModelError if the file is damaged or does not hold exactly the weights that `settings` call for.
    """
    layout = LAYOUTS[settings.family]
    shapes, stored = read_shapes(path, layout)
    _check_sizes(settings, layout, shapes, largest)
    with torch.device("meta"):  # shapes only
        network = _new_network(settings.config, pooled=POOLER in shapes)
    top = layout.prefix if isinstance(network, GPT2LMHeadModel) else ""  # the others come without their head
    wanted = {name.removeprefix(top): tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    _check_names(settings, layout, shapes, wanted)
    tensors = _read(path, {name: stored[name] for name in shapes})
    tied = _unify_embeddings(layout, tensors, scores=HEAD in wanted)
    if isinstance(network, MarianMTModel):
        _complete_marian(network, settings, tensors)
    network.load_state_dict({_full(name, top): tensor for name, tensor in tensors.items()}, assign=True)
    _tie(network, top + layout.embedding, [*layout.copies, HEAD] if tied else layout.copies)
    _count_positions(network)
    network.requires_grad_(False)
    network.train(False)
    return network


def _plain(name: str, layout: Layout) -> str:
    """A tensor's name as the network has it: without the prefix, and with today's names of a norm's two vectors."""
    plain = name.removeprefix(layout.prefix)
    return re.sub(r"LayerNorm\.(gamma|beta)$", lambda found: f"LayerNorm.{NORM[found[1]]}", plain)


def _full(name: str, top: str) -> str:
    return name if name == HEAD else top + name


def _is_ignored(name: str, layout: Layout) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in layout.ignored)


def _new_network(config: Config, *, pooled: bool) -> Network:
    if isinstance(config, MarianConfig):
        return MarianMTModel(config)
    if isinstance(config, T5Config):
        return T5ForConditionalGeneration(config)
    if isinstance(config, BertConfig):
        return BertModel(config, add_pooling_layer=pooled)
    return DistilBertModel(config) if isinstance(config, DistilBertConfig) else GPT2LMHeadModel(config)


def read_shapes(path: Path, layout: Layout) -> tuple[Shapes, dict[str, str]]:
    """Shapes of the tensors in a safetensors file, from its header, and what each is called there.

    Both by the names that the network has for them; without what `layout` ignores.
    Raises: ModelError if it is no whole safetensors file, or holds anything but floating-point numbers.
    """
    shapes: Shapes = {}
    stored: dict[str, str] = {}
    try:
        with safe_open(path, "pt") as file:
            for name in file.keys():  # noqa: SIM118 (it is no mapping)
                plain = _plain(name, layout)
                if _is_ignored(plain, layout):
                    continue
                piece = file.get_slice(name)
                if piece.get_dtype() not in FLOATS:
                    raise ModelError(
                        ModelProblem.UNSUPPORTED,
                        f"{name} in {FILE} holds {piece.get_dtype()}; it must be one of {sorted(FLOATS)}.",
                    )
                if plain in stored:
                    raise ModelError(
                        ModelProblem.WRONG_FILE, f"{name} and {stored[plain]} in {FILE} are the same weight."
                    )
                shapes[plain], stored[plain] = tuple(piece.get_shape()), name
    except OSError as error:
        raise ModelError(ModelProblem.MISSING, f"{FILE} cannot be read: {error}.") from error
    except SafetensorError as error:
        raise ModelError(ModelProblem.DAMAGED, f"{FILE} is damaged or incomplete: {error}.") from error
    return shapes, stored


def _check_sizes(settings: Settings, layout: Layout, shapes: Shapes, largest: int) -> None:
    """Compare what sets the cost of building a network: vocabulary, width and numbers of layers."""
    config = settings.config
    names = [name for name in (layout.embedding, *layout.copies, HEAD) if name in shapes]
    if not names:
        raise ModelError(ModelProblem.WRONG_FILE, f"{FILE} lacks {layout.embedding}: it is no {settings.family} model.")
    for name in names:
        _check_shape(name, shapes[name], (config.vocab_size, config.hidden_size))
    for (side, pattern), depth in zip(layout.layers.items(), _depths(config), strict=True):
        found = len({match[1] for name in shapes if (match := re.match(pattern, name))})
        if found != depth:
            raise ModelError(
                ModelProblem.WRONG_FILE, f"{FILE} holds {found} {side} layers, but config.json says {depth}."
            )
    total = sum(torch.Size(shape).numel() for shape in shapes.values())
    if total > largest:
        raise ModelError(ModelProblem.TOO_LARGE, f"The model has {total:,} weights; the limit is {largest:,}.")


def _depths(config: Config) -> tuple[int, ...]:
    """Numbers of layers: of the encoder and the decoder, or of the only stack."""
    if isinstance(config, MarianConfig):
        return config.encoder_layers, config.decoder_layers
    if isinstance(config, T5Config):
        return config.num_layers, int(config.num_decoder_layers or config.num_layers)
    return (config.num_hidden_layers,)


def _check_names(settings: Settings, layout: Layout, shapes: Shapes, wanted: Mapping[str, tuple[int, ...]]) -> None:
    spare = {layout.embedding, *layout.copies, *layout.optional}
    if settings.says_tied:
        spare.add(HEAD)
    lacking = [name for name in wanted if name not in shapes and name not in spare]
    if lacking:
        raise ModelError(ModelProblem.WRONG_FILE, f"{FILE} lacks {_some(lacking)}.")
    unknown = [name for name in shapes if name not in wanted]
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


def _read(path: Path, stored: Mapping[str, str]) -> dict[str, Tensor]:
    tensors = {}
    with safe_open(path, "pt") as file:
        for name, there in stored.items():
            # A copy: the tensor itself may be a window on the file, and the file may change.
            tensors[name] = file.get_tensor(there).to(torch.float32, copy=True)
            if name != BIAS and not tensors[name].isfinite().all():  # −inf as a bias forbids a token
                raise ModelError(ModelProblem.DAMAGED, f"{there} in {FILE} holds values that are not numbers.")
    return tensors


def _unify_embeddings(layout: Layout, tensors: dict[str, Tensor], *, scores: bool) -> bool:
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
    return scores and torch.equal(tensors.setdefault(HEAD, embedding), embedding)


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


def _count_positions(network: Network) -> None:
    """Number the places of a sentence, and put every token into its first part: what no file holds of a BERT."""
    for name, numbers in list(network.named_buffers()):
        if numbers.is_meta:
            module, _dot, leaf = name.rpartition(".")
            places = (
                torch.arange(numbers.shape[1])[None]
                if leaf == "position_ids"
                else torch.zeros_like(numbers, device="cpu")
            )
            setattr(network.get_submodule(module), leaf, places)


def _tie(network: Network, embedding: str, names: Iterable[str]) -> None:
    """Make the modules share one parameter, as loading by name gives each its own."""
    shared = network.get_parameter(embedding)
    for name in names:
        module: nn.Module = network.get_submodule(name.removesuffix(".weight"))
        module.weight = shared


def _some(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"

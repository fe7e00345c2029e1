"""Read a text with a real model, and keep what every head looked at and every layer's vectors.

Attentions and vectors are those that transformers returns; nothing is hooked, so many may read with one network.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from core.decoding.trace import DecodingTrace
from core.heads_gallery import Kind, Maps, attention_maps
from core.models import AnyModel, TextModel
from core.models import Kind as Halves
from core.tokens import WORD_MARK

MOST_TOKENS = 128
_CONTINUED = "##"  # how BERT writes that a piece goes on with a word
_NO_TEXT = "\ufffd"  # part of a letter of several bytes


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One text, or a pair, as a model reads it."""

    texts: tuple[str, ...]  # what of it there is room for
    ids: tuple[int, ...]  # of what the encoder, or the only stack, reads
    tokens: tuple[str, ...]  # the mark of a word's beginning in front; special ones as they are
    places: tuple[tuple[int, int], ...]  # of each token in its text; (0, 0) for special ones
    parts: tuple[int, ...]  # 0, or 1 for the second text of a pair
    special: tuple[bool, ...]  # such as [CLS], [SEP] and </s>: not in the text
    maps: tuple[Maps, ...]  # the first one is of these tokens
    states: Tensor  # (num_layers + 1, seq_len, d_model): input of the first layer, then every layer's output
    was_cut: bool  # the text had more tokens than that

    def of(self, kind: Kind) -> Maps:
        """The maps of one kind. Raises: ValueError if the model has none."""
        for maps in self.maps:
            if maps.kind is kind:
                return maps
        raise ValueError(f"kind ({kind}) must be one of {', '.join(maps.kind for maps in self.maps)}")


def read(model: AnyModel, text: str, pair: str | None = None, *, most_tokens: int = MOST_TOKENS) -> Reading | None:
    """Read a text, or two as one input, with an encoder or a decoder; None if there is no token in it.

    pair: the second text; only encoders take one. most_tokens: what exceeds it is cut off, the longer text first.
    Raises: ValueError if the model takes no pair, or most_tokens is less than 5.
    """
    if most_tokens < 5:
        raise ValueError(f"most_tokens ({most_tokens}) must be at least 5")
    if pair is not None and model.facts.family.kind is not Halves.ENCODER:
        raise ValueError(f"pair ({pair!r}) must be None for a model that is no encoder ({model.facts.family})")
    encoded = _encode(model, text, pair, most_tokens)
    if all(encoded.special):
        return None
    states, weights = run(model, encoded.ids, encoded.parts)
    kind = Kind.DECODER if model.facts.family.kind is Halves.DECODER else Kind.ENCODER
    return Reading(
        texts=encoded.texts,
        ids=encoded.ids,
        tokens=encoded.tokens,
        places=encoded.places,
        parts=encoded.parts,
        special=encoded.special,
        maps=(Maps(kind, encoded.tokens, encoded.tokens, weights),),
        states=states,
        was_cut=encoded.was_cut,
    )


def read_ids(model: TextModel, texts: Sequence[str], ids: Sequence[int]) -> Reading:
    """Read tokens that a decoder has written itself: written out and read again, they might be cut in other places.

    The places in the text are not known: all are (0, 0).
    """
    special = tuple(number == model.tokenizer.eos_token_id for number in ids)
    tokens, parts = written(model.tokenizer, ids, special), (0,) * len(ids)
    states, weights = run(model, ids, parts)
    maps = (Maps(Kind.DECODER, tokens, tokens, weights),)
    return Reading(tuple(texts), tuple(ids), tokens, ((0, 0),) * len(ids), parts, special, maps, states, was_cut=False)


def with_translation(reading: Reading, trace: DecodingTrace) -> Reading:
    """The same, with the maps of the decoder that wrote this translation of the very text."""
    others = (each for each in attention_maps(trace) if each.kind is not Kind.ENCODER)
    return replace(reading, maps=(*reading.maps, *others))


@torch.inference_mode()
def run(
    model: AnyModel, ids: Sequence[int], parts: Sequence[int], *, hidden: int | None = None
) -> tuple[Tensor, Tensor]:
    """Vectors and weights of the encoder, or of the only stack.

    hidden: the place of a token that no other one may look at, nor it at itself.

    Shapes: (num_layers + 1, seq_len, d_model), (num_layers, num_heads, seq_len, seq_len).
    """
    inputs = _inputs(model, torch.tensor([list(ids)]), torch.tensor([list(parts)]))
    if hidden is not None:
        inputs["attention_mask"][:, hidden] = 0
    result = stack(model)(**inputs, output_attentions=True, output_hidden_states=True)
    return torch.cat(tuple(result.hidden_states)), torch.cat(tuple(result.attentions))


def stack(model: AnyModel) -> torch.nn.Module:
    """The layers that read the text: an encoder, or a decoder without its scores of the next token."""
    if isinstance(model, TextModel):
        network: torch.nn.Module = model.network.base_model
        return network
    encoder: torch.nn.Module = model.network.get_encoder()
    return encoder


def _inputs(model: AnyModel, ids: Tensor, parts: Tensor) -> dict[str, Tensor]:
    """ids, parts: (batch, seq_len)."""
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if isinstance(model, TextModel) and model.facts.parts > 0:
        inputs["token_type_ids"] = parts
    return inputs


@dataclass(frozen=True, slots=True)
class _Encoded:
    texts: tuple[str, ...]
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    parts: tuple[int, ...]
    special: tuple[bool, ...]
    was_cut: bool


def _encode(model: AnyModel, text: str, pair: str | None, most_tokens: int) -> _Encoded:
    """Cut the texts, not the ids: so that special tokens stand where the network wants them."""
    backend = model.tokenizer.backend_tokenizer
    room = min(most_tokens, model.facts.max_positions or most_tokens)
    room -= len(backend.encode("", None if pair is None else "").ids)
    found = backend.encode(text, pair)
    lengths = [_count(backend, each) for each in (text, pair or "")]
    was_cut = sum(lengths) > room
    if was_cut:
        shorter = min(min(lengths), room // 2)  # the longer text makes way first
        limits = [shorter, room - shorter] if lengths[0] <= lengths[1] else [room - shorter, shorter]
        text, pair = _first(backend, text, limits[0]), None if pair is None else _first(backend, pair, limits[1])
        found = backend.encode(text, pair)
    special = tuple(bool(mark) for mark in found.special_tokens_mask)
    return _Encoded(
        (text,) if pair is None else (text, pair),
        tuple(found.ids),
        written(model.tokenizer, found.ids, special),
        tuple((start, end) for start, end in found.offsets),
        tuple(found.type_ids),
        special,
        was_cut,
    )


def _count(backend: Tokenizer, text: str) -> int:
    return len(backend.encode(text, add_special_tokens=False).ids)


def _first(backend: Tokenizer, text: str, count: int) -> str:
    """The text up to the end of its count-th token, or of one before: cut short, a text may split in another way."""
    places = backend.encode(text, add_special_tokens=False).offsets[:count]
    cuts = (text[:end] for _start, end in reversed(places))
    return next((cut for cut in cuts if _count(backend, cut) <= count), "")


def written(tokenizer: PreTrainedTokenizerFast, ids: Sequence[int], special: Sequence[bool]) -> tuple[str, ...]:
    """Tokens as sentencepiece would write them, whatever the tokenizer: "▁" where a word begins, nothing inside it."""
    raw = [str(token) for token in tokenizer.convert_ids_to_tokens(list(ids))]
    kind = type(tokenizer.backend_tokenizer.decoder).__name__
    if kind == "WordPiece":
        return tuple(
            token if apart else token.removeprefix(_CONTINUED) if token.startswith(_CONTINUED) else WORD_MARK + token
            for token, apart in zip(raw, special, strict=True)
        )
    if kind != "ByteLevel":
        return tuple(raw)
    texts = [
        token if apart else str(tokenizer.decode([number]))
        for number, token, apart in zip(ids, raw, special, strict=True)
    ]
    shown = [token if _NO_TEXT in text else text for token, text in zip(raw, texts, strict=True)]
    return tuple(
        text if apart else WORD_MARK + text.removeprefix(" ") if place == 0 or text.startswith(" ") else text
        for place, (text, apart) in enumerate(zip(shown, special, strict=True))
    )

"""What the masks page computes from its controls: a batch, a mask, a layer, and what they make of each other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import streamlit as st
import torch
from torch import Tensor

from core.batches import Batch
from core.fill_values import Fill
from core.masks import causal_mask, combine, padding_mask, permutation_mask, prefix_mask, sliding_window_mask
from core.token_attention import Layer, gradient_reach, random_layer, token_vectors
from core.written_masks import read_closed

BOS, EOS = "<bos>", "<eos>"
DTYPES: Mapping[str, torch.dtype] = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
}
SCORE_SCALE = 1.6  # spreads most scores over the colours' range, −5 to 5
PADDED = ("padding", "causal", "both")  # the kinds that draw a sentence with its padding


@dataclass(frozen=True, slots=True)
class Settings:
    """What the controls say; positions and sentences are counted from 0."""

    view: str
    batch: Batch
    source: Batch  # what cross-attention looks at, sentence by sentence
    kind: str = "causal"
    sentence: int = 0
    query: int = 0
    key: int = 0  # with the query, the cell of a mask of one's own that the controls point at
    score_scale: float = SCORE_SCALE
    seed: int = 0
    fill: Fill = Fill.GUARDED
    dtype: str = "float32"
    left: int = 2
    right: int = 0
    prefix_len: int = 3
    typed_order: str | None = None  # as it was typed; None if the order is shuffled
    order: tuple[int, ...] = ()  # the order of reading if empty
    closed: str = ""

    @property
    def crosses(self) -> bool:
        return self.kind == "cross"

    @property
    def queries(self) -> tuple[str, ...]:
        """The tokens that look."""
        if self.crosses or self.kind in PADDED:
            return self.batch.padded(self.sentence)
        return self.batch.sentences[self.sentence]

    @property
    def keys(self) -> tuple[str, ...]:
        """The tokens that are looked at."""
        return self.source.padded(self.sentence) if self.crosses else self.queries

    @property
    def valid_queries(self) -> int:
        """How many of the queries are not padding."""
        return self.batch.lengths[self.sentence]


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """One sentence, its mask, and a layer to look through it; and what the user should know about the input."""

    settings: Settings
    attend_mask: Tensor  # (seq_q, seq_k)
    layer: Layer
    x: Tensor  # (seq_q, d_model)
    memory: Tensor  # (seq_k, d_model)
    scores: Tensor  # (seq_q, seq_k), in the chosen type of number
    said: tuple[str, ...] = ()

    @property
    def reach(self) -> Tensor:
        """The gradient of every output with respect to every input, (seq_q, seq_k)."""
        settings = self.settings
        keys = settings.keys if settings.crosses else None
        mask = tuple(map(tuple, self.attend_mask.tolist()))
        return torch.from_numpy(_reach(settings.queries, keys, mask, settings.score_scale, settings.seed))


def scene(settings: Settings, *said: str) -> Scene:
    layer = _layer(settings.score_scale, settings.seed)
    x = token_vectors(settings.queries, seed=settings.seed)
    memory = token_vectors(settings.keys, seed=settings.seed)
    scores = layer(x, memory).scores[0]  # (seq_q, seq_k)
    return Scene(settings, attend_mask(settings), layer, x, memory, scores.to(DTYPES[settings.dtype]), said)


def attend_mask(settings: Settings) -> Tensor:
    """The mask of the chosen kind, (seq_q, seq_k)."""
    seq_q, seq_k = len(settings.queries), len(settings.keys)
    order = settings.order or tuple(range(seq_q))
    made: Mapping[str, Callable[[], Tensor]] = {
        "padding": lambda: _padding(settings.batch, settings.sentence),
        "causal": lambda: causal_mask(seq_q),
        "both": lambda: combine(causal_mask(seq_q), _padding(settings.batch, settings.sentence)),
        "window": lambda: sliding_window_mask(seq_q, left=settings.left, right=settings.right),
        "prefix": lambda: prefix_mask(seq_q, min(settings.prefix_len, seq_q)),
        "xlnet_query": lambda: permutation_mask(order),
        "xlnet_content": lambda: permutation_mask(order, include_self=True),
        "cross": lambda: _padding(settings.source, settings.sentence),
        "own": lambda: read_closed(settings.closed, seq_q, seq_k),
    }
    return made[settings.kind]().expand(seq_q, seq_k)


def mask_makers(kind: str) -> tuple[Callable[..., Tensor], ...]:
    """The functions of `core` that make the mask of this kind."""
    makers: Mapping[str, tuple[Callable[..., Tensor], ...]] = {
        "padding": (padding_mask,),
        "causal": (causal_mask,),
        "both": (causal_mask, padding_mask, combine),
        "window": (sliding_window_mask,),
        "prefix": (prefix_mask,),
        "xlnet_query": (permutation_mask,),
        "xlnet_content": (permutation_mask,),
        "cross": (padding_mask,),
        "own": (read_closed,),
    }
    return makers[kind]


def batch_masks(settings: Settings) -> Mapping[str, Tensor]:
    """The three masks that an encoder–decoder needs for a batch, each broadcast to (batch, seq_q, seq_k)."""
    source = padding_mask(settings.source.lengths, settings.source.seq_len)[:, 0]  # (batch, 1, seq_source)
    target = padding_mask(settings.batch.lengths, settings.batch.seq_len)[:, 0]  # (batch, 1, seq_target)
    sentences, seq_source, seq_target = len(settings.batch.sentences), settings.source.seq_len, settings.batch.seq_len
    return {
        "encoder": source.expand(sentences, seq_source, seq_source),
        "decoder": combine(causal_mask(seq_target), target),
        "cross": source.expand(sentences, seq_target, seq_source),
    }


def unmasked_weights(settings: Settings) -> list[Tensor]:
    """Each sentence's attention to the padded batch of keys without any mask, (valid queries, seq_k)."""
    layer = _layer(settings.score_scale, settings.seed)
    looked_at = settings.source if settings.source.sentences else settings.batch
    found = []
    for index, sentence in enumerate(settings.batch.sentences):
        x = token_vectors(sentence, seed=settings.seed)
        found.append(layer(x, token_vectors(looked_at.padded(index), seed=settings.seed)).weights[0])
    return found


def _padding(batch: Batch, sentence: int) -> Tensor:
    """Which tokens of a sentence are not padding, for every query: (1, seq_len)."""
    return padding_mask(batch.lengths, batch.seq_len)[sentence, 0]


def _layer(score_scale: float, seed: int) -> Layer:
    return random_layer(torch.Generator().manual_seed(seed), score_scale=score_scale)


@st.cache_data(max_entries=64, show_spinner=False)
def _reach(
    queries: tuple[str, ...],
    keys: tuple[str, ...] | None,
    mask: tuple[tuple[bool, ...], ...],
    score_scale: float,
    seed: int,
) -> npt.NDArray[np.float64]:
    x = token_vectors(queries, seed=seed)
    memory = None if keys is None else token_vectors(keys, seed=seed)
    reach: npt.NDArray[np.float64] = gradient_reach(
        _layer(score_scale, seed), x, memory, torch.tensor(mask, dtype=torch.bool)
    ).numpy()
    return reach

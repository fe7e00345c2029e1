"""Does attention notice in which order words stand? Without positions, with a causal mask, and with positions.

Only attention and its skip connections are here: feed-forward blocks and normalisations treat each word alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

from core.attention import scaled_dot_product_attention
from core.checks import check_sizes
from core.masks import causal_mask
from core.projections import Head, Projection, random_head


class Setting(StrEnum):
    NO_MASK = "no_mask"
    CAUSAL_ONE_LAYER = "causal_one_layer"
    CAUSAL_TWO_LAYERS = "causal_two_layers"
    WITH_POSITIONS = "with_positions"  # no mask


Layer = Callable[[Tensor, Tensor | None], tuple[Tensor, Tensor]]
"""x (seq_len, d_model) and an attend_mask → what is added to x, and the weights (num_heads, seq_len, seq_len)."""


def layer_of(heads: Sequence[Head]) -> Layer:
    """The attention of one layer, from its heads."""
    q, k, v, o = ([getattr(head, name) for head in heads] for name in "qkvo")

    def attend(x: Tensor, attend_mask: Tensor | None) -> tuple[Tensor, Tensor]:
        trace = scaled_dot_product_attention(_all(q, x), _all(k, x), _all(v, x), attend_mask=attend_mask)
        added = torch.stack([project(y) for project, y in zip(o, trace.output, strict=True)]).sum(dim=0)
        return added, trace.weights  # (seq_len, d_model), (num_heads, seq_len, seq_len)

    return attend


def random_layers(
    num_layers: int, *, num_heads: int, d_model: int, head_dim: int, generator: torch.Generator
) -> tuple[Layer, ...]:
    """Layers of random heads, which keep the variance of what they read.

    Raises: ValueError if d_model or head_dim is less than 1.
    """
    heads = [[random_head(d_model, head_dim, generator=generator) for _ in range(num_heads)] for _ in range(num_layers)]
    return tuple(layer_of(each) for each in heads)


def _all(projections: Sequence[Projection], x: Tensor) -> Tensor:
    return torch.stack([project(x) for project in projections])  # (num_heads, seq_len, head_dim)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What the layers made of the words."""

    weights: tuple[Tensor, ...]  # of each layer, (num_heads, seq_len, seq_len)
    output: Tensor  # (seq_len, d_model)


def read(x: Tensor, layers: Sequence[Layer], attend_mask: Tensor | None) -> Reading:
    """Send x (seq_len, d_model) through the layers, each with a skip connection."""
    weights = []
    for layer in layers:
        added, looked = layer(x, attend_mask)
        weights.append(looked)
        x = x + added  # (seq_len, d_model)
    return Reading(tuple(weights), x)


@dataclass(frozen=True, slots=True, eq=False)
class OrderTrial:
    """The same words read in two orders."""

    setting: Setting
    order: tuple[int, ...]  # word order[i] of the original stands in place i
    original: Reading
    permuted: Reading

    @property
    def output_change(self) -> float:
        """The largest change of a word's own output, wherever the word stands, in units of the largest output."""
        return self._relative(self.permuted.output - self.original.output[list(self.order)])

    @property
    def last_change(self) -> float:
        """The same of the output in the last place only."""
        return self._relative(self.permuted.output[-1] - self.original.output[-1])

    @property
    def change(self) -> float:
        """What the setting is asked about: all outputs without mask and positions, else the output in the last place.

        Where outputs belong to places, as with positions, a word's own output changes even if words only change places
        with their equals; the last output then does not, as nothing has changed before it.
        """
        return self.output_change if self.setting is Setting.NO_MASK else self.last_change

    def _relative(self, difference: Tensor) -> float:
        return float(difference.abs().max() / self.original.output.abs().max())


def order_trials(
    words: Tensor, positions: Tensor, order: Sequence[int], layers: Sequence[Layer]
) -> tuple[OrderTrial, ...]:
    """Read words in their own order and in another, in each setting.

    The last word keeps its place: under a causal mask, what is asked is whether it notices the order before it.
    WITH_POSITIONS and NO_MASK use all layers, CAUSAL_ONE_LAYER the first, CAUSAL_TWO_LAYERS the first two.

    Shapes: words and positions (seq_len, d_model); positions stay where they are when the words move.
    Raises: ValueError if words and positions differ in shape, order does not hold each place once with the last in its
        place, or there are fewer than two layers.
    """
    if words.shape != positions.shape:
        raise ValueError(
            f"positions (shape {tuple(positions.shape)}) must have the shape of words {tuple(words.shape)}"
        )
    seq_len = words.shape[0]
    if seq_len == 0 or sorted(order) != list(range(seq_len)) or order[-1] != seq_len - 1:
        raise ValueError(f"order ({list(order)}) must hold each place from 0 to {seq_len - 1} once, the last one last")
    if len(layers) < 2:
        raise ValueError(f"layers ({len(layers)}) must be at least 2")
    causal = causal_mask(seq_len)
    nothing = torch.zeros_like(positions)
    asked: dict[Setting, tuple[Sequence[Layer], Tensor | None, Tensor]] = {
        Setting.NO_MASK: (layers, None, nothing),
        Setting.CAUSAL_ONE_LAYER: (layers[:1], causal, nothing),
        Setting.CAUSAL_TWO_LAYERS: (layers[:2], causal, nothing),
        Setting.WITH_POSITIONS: (layers, None, positions),
    }
    moved = words[list(order)]  # (seq_len, d_model)
    return tuple(
        OrderTrial(setting, tuple(order), read(words + added, used, mask), read(moved + added, used, mask))
        for setting, (used, mask, added) in asked.items()
    )


def put_back(matrix: Tensor, order: Sequence[int]) -> Tensor:
    """What was computed for the words in another order, sorted as the words stood at first.

    Without a mask and positions, the weights of the permuted words put back are those of the words as written.

    Shapes: matrix (…, seq_len, seq_len), of places that look at places; order[i] is the word that stood in place i.
    Raises: ValueError if order does not hold each place of the matrix once.
    """
    seq_len = matrix.shape[-1]
    if sorted(order) != list(range(seq_len)):
        raise ValueError(f"order ({list(order)}) must hold each place from 0 to {seq_len - 1} once")
    place = torch.tensor(order).argsort()  # (seq_len,), of each word
    return matrix[..., place, :][..., place]  # (…, seq_len, seq_len)


def shuffled_but_last(seq_len: int, generator: torch.Generator) -> tuple[int, ...]:
    """A random order that leaves the last place alone.

    Raises: ValueError if seq_len is below 1.
    """
    check_sizes(seq_len=seq_len)
    return (*torch.randperm(seq_len - 1, generator=generator).tolist(), seq_len - 1)


def reversed_but_last(seq_len: int) -> tuple[int, ...]:
    """The opposite order, but the last place left alone: (2, 1, 0, 3) for four words.

    Raises: ValueError if seq_len is below 1.
    """
    check_sizes(seq_len=seq_len)
    return (*range(seq_len - 2, -1, -1), seq_len - 1)

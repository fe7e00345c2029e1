"""Does much attention mean much influence? One source token after the other is hidden from a translation model.

The question of `core.explorer_hide`, which asks it of encoders and decoders, here of both: Jain & Wallace 2019,
"Attention is not Explanation"; Serrano & Smith 2019, "Is Attention Interpretable?", hide what is attended to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from core.explorer_hide import rank_correlation
from core.models import TranslationModel


@dataclass(frozen=True, slots=True, eq=False)
class Influence:
    """Of each source token: the attention it got from the translation, and how far the translation moves without it."""

    tokens: tuple[str, ...]
    attention: Tensor  # (seq_source,), mean cross-attention over layers, heads and steps; sums to 1
    moved: Tensor  # (seq_source,), total variation of the next token's probabilities, mean over the steps; 0 to 1

    @property
    def correlation(self) -> float:
        """Of the two, by ranks; 0 where one of them is the same for all tokens."""
        return rank_correlation(self.attention, self.moved) or 0.0


def measure_influence(model: TranslationModel, source_ids: Sequence[int], target_ids: Sequence[int]) -> Influence:
    """Read the same translation with every token of the source in turn hidden by the padding mask, in all layers.

    Raises: ValueError if the source has fewer than two tokens, or the target none.
    """
    if len(source_ids) < 2:
        raise ValueError(f"source_ids ({len(source_ids)}) must hold at least 2 tokens")
    if not target_ids:
        raise ValueError("target_ids (0) must hold at least 1 token")
    count = len(source_ids)
    source = torch.tensor([source_ids]).expand(count + 1, -1)
    seen = torch.ones(count + 1, count, dtype=torch.int64)
    seen[1:].fill_diagonal_(0)  # row i + 1 does not see token i
    read = torch.tensor([[model.facts.start_id, *target_ids[:-1]]]).expand(count + 1, -1)
    network: Any = model.network
    with torch.inference_mode():
        out = network(
            input_ids=source, attention_mask=seen, decoder_input_ids=read, output_attentions=True, use_cache=False
        )
    probabilities = out.logits.double().softmax(dim=-1)  # (count + 1, steps, vocab_size)
    moved = (probabilities[1:] - probabilities[:1]).abs().sum(dim=-1).mean(dim=-1) / 2  # (count,)
    attention = torch.stack([layer[0] for layer in out.cross_attentions]).double().mean(dim=(0, 1, 2))  # (count,)
    tokens = tuple(model.tokenizer.convert_ids_to_tokens(list(source_ids)))
    return Influence(tokens, attention, moved)

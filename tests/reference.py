"""What `generate` in transformers makes of sentences: what core.decoding is measured against."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast


@dataclass(frozen=True, slots=True)
class Generated:
    token_ids: tuple[int, ...]  # without the start token, with the end token if it came
    score: float | None  # None without beams: generate gives it none


def generated(
    network: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    texts: Sequence[str],
    *,
    batch_size: int = 50,
    **settings: object,
) -> list[Generated]:
    """Translate texts in padded batches (that the padding changes nothing is tested in test_decoding_generate.py)."""
    return [
        result
        for start in range(0, len(texts), batch_size)
        for result in generated_batch(network, tokenizer, texts[start : start + batch_size], **settings)
    ]


def generated_batch(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, texts: Sequence[str], **settings: object
) -> list[Generated]:
    batch = tokenizer(list(texts), return_tensors="pt", padding=True, return_token_type_ids=False)
    with torch.inference_mode():
        output = network.generate(**batch, **settings, return_dict_in_generate=True, output_scores=True)
    scores = output.get("sequences_scores")
    end_ids = network.generation_config.eos_token_id
    return [
        Generated(until_end(row, end_ids), None if scores is None else scores[i].item())
        for i, row in enumerate(output.sequences[:, 1:].tolist())
    ]


def until_end(row: list[int], end_ids: int | list[int]) -> tuple[int, ...]:
    ends = [end_ids] if isinstance(end_ids, int) else end_ids
    length = next((i + 1 for i, token_id in enumerate(row) if token_id in ends), len(row))
    return tuple(row[:length])

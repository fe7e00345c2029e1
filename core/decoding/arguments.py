"""What the arguments of a decoding must keep to. All functions raise ValueError."""

from collections.abc import Sequence

import torch
from transformers import PreTrainedModel

from core.decoding.beam import EarlyStopping
from core.decoding.decoder import Rules
from core.decoding.sampling import Sampling


def check_method(
    num_beams: int,
    early_stopping: EarlyStopping,
    sampling: Sampling | None,
    generator: torch.Generator | None,
    network: PreTrainedModel,
) -> None:
    vocab_size = output_size(network)
    if not 1 <= num_beams <= vocab_size:
        raise ValueError(f"num_beams ({num_beams}) must lie between 1 and vocab_size ({vocab_size})")
    if early_stopping not in (True, False, "never"):
        raise ValueError(f"early_stopping ({early_stopping!r}) must be True, False or 'never'")
    if sampling is not None and num_beams > 1:
        raise ValueError(f"num_beams ({num_beams}) must be 1 with sampling: beam search draws nothing")
    if sampling is not None and generator is None:
        raise ValueError("sampling must come with a generator: the same seed, the same sentence")
    if sampling is None and generator is not None:
        raise ValueError("generator must come with sampling: nothing else is drawn")


def check_penalty(length_penalty: float) -> None:
    if not -10 <= length_penalty <= 10:  # beyond, length ** length_penalty leaves float32 before long
        raise ValueError(f"length_penalty ({length_penalty}) must lie between -10 and 10")


def check_length(what: str, num_tokens: int, network: PreTrainedModel) -> None:
    """Some networks know only so many positions (Marian); others any number of them (T5)."""
    positions = getattr(network.config, "max_position_embeddings", None)
    if num_tokens < 1:
        raise ValueError(f"{what} ({num_tokens}) must be at least 1")
    if positions is not None and num_tokens > positions:
        raise ValueError(f"{what} ({num_tokens}) must be at most the network's number of positions ({positions})")


def check_prefix(prefix: Sequence[int], max_new_tokens: int, network: PreTrainedModel, rules: Rules) -> None:
    vocab_size = output_size(network)
    bias: torch.Tensor | None = getattr(network, "final_logits_bias", None)  # Marian's: −inf forbids a token for good
    for i, token_id in enumerate(prefix):
        if not 0 <= token_id < vocab_size:
            raise ValueError(f"forced_prefix: the id {token_id} must be at least 0 and below vocab_size ({vocab_size})")
        never = bias is not None and bias[0, token_id] == -torch.inf
        if never or token_id in rules.forbidden_after((rules.start_id, *prefix[:i])):
            raise ValueError(f"forced_prefix: the network never says the id {token_id}")
    if len(prefix) > max_new_tokens:
        raise ValueError(
            f"forced_prefix ({len(prefix)} tokens) must not be longer than max_new_tokens ({max_new_tokens})"
        )


def output_size(network: PreTrainedModel) -> int:
    return network.get_parameter("lm_head.weight").shape[0]

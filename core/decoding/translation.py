"""Translate a sentence, or score a given translation, and keep every step."""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from core.decoding.arguments import check_length, check_method, check_penalty, check_prefix
from core.decoding.beam import EarlyStopping, beam_search
from core.decoding.decoder import Decoder, Rules
from core.decoding.one_by_one import decode_one_by_one, most_probable, score_of
from core.decoding.record import record, record_nothing
from core.decoding.sampling import Sampling, draw
from core.decoding.trace import DecodingTrace


class Translator(Protocol):
    """What decoding needs of a model. core.models.TranslationModel has it."""

    @property
    def network(self) -> PreTrainedModel: ...
    @property
    def tokenizer(self) -> PreTrainedTokenizerFast: ...


@torch.inference_mode()
def translate(
    model: Translator,
    text: str,
    *,
    num_beams: int = 1,
    length_penalty: float = 1.0,
    early_stopping: EarlyStopping = False,
    max_new_tokens: int = 60,
    forced_prefix: Sequence[int] | None = None,
    sampling: Sampling | None = None,
    generator: torch.Generator | None = None,
) -> DecodingTrace:
    """Translate text and keep every step: greedily, by beam search (num_beams > 1), or by sampling.

    Tokens and scores are those of `generate` in transformers with the same arguments. The network's own generation
    config has a say in the start token, the end tokens, forbidden tokens, and an end forced at the greatest length.

    length_penalty: the score is the sum of log-probabilities / length ** length_penalty; the end token counts in both.
        Above 0 long sentences gain.
    early_stopping: when beam search stops; see `beam_search`.
    max_new_tokens: where a sentence without an end is cut off.
    forced_prefix: ids of tokens that the sentence must begin with; none that the network can never say. Their
        probability counts in the score. If they hold an end token, the sentence ends there.
    sampling, generator: draw every token, with this generator, instead of taking the most probable.

    Returns: the trace; one without steps for text without tokens.
    Raises: ValueError if an argument breaks its rule, if text has more tokens than the network has positions, or if the
        network keeps no attention weights; UnusableNetworkError if the network gives NaN.
    """
    rules = Rules.of(model.network)
    prefix = until_end(forced_prefix or (), rules)
    check_method(num_beams, early_stopping, sampling, generator, model.network)
    check_penalty(length_penalty)
    check_length("max_new_tokens", max_new_tokens, model.network)
    check_prefix(prefix, max_new_tokens, model.network, rules)
    source_ids = encode(model, text)
    if not source_ids:
        return record_nothing(model.tokenizer, rules)

    decoder = Decoder(model.network, source_ids)
    if num_beams > 1:
        winner, search = beam_search(
            decoder,
            num_beams=num_beams,
            length_penalty=length_penalty,
            early_stopping=early_stopping,
            max_new_tokens=max_new_tokens,
            prefix=prefix,
        )
        moves = [node.move for node in winner.line()]
        return record(model.tokenizer, decoder, moves, winner.score, search, winner)
    choose = most_probable
    if sampling is not None and generator is not None:
        choose = partial(draw, sampling=sampling, generator=generator)
    moves = decode_one_by_one(decoder, choose, max_new_tokens=max_new_tokens, prefix=prefix)
    return record(model.tokenizer, decoder, moves, score_of(moves, length_penalty), sampling=sampling)


@torch.inference_mode()
def score_reference(model: Translator, text: str, reference: str, *, length_penalty: float = 1.0) -> DecodingTrace:
    """Let the network read a given translation, and keep how probable it finds each token (teacher forcing).

    Returns: the trace of the reference. At every step, `chosen` and `rank` are those of its token, and `candidates`
        says what the network would rather have said. A token that the network can never say makes the score −inf. One
        without steps for text without tokens.
    Raises: ValueError if text or reference has more tokens than the network has positions, length_penalty breaks its
        rule, or the network keeps no attention weights; UnusableNetworkError if the network gives NaN.
    """
    rules = Rules.of(model.network)
    check_penalty(length_penalty)
    reference_ids = until_end(model.tokenizer(reference).input_ids, rules)
    check_length("number of tokens in reference", len(reference_ids), model.network)
    source_ids = encode(model, text)
    if not source_ids:
        return record_nothing(model.tokenizer, rules)
    decoder = Decoder(model.network, source_ids)
    moves = decode_one_by_one(decoder, most_probable, max_new_tokens=len(reference_ids), prefix=reference_ids)
    return record(model.tokenizer, decoder, moves, score_of(moves, length_penalty))


def encode(model: Translator, text: str) -> tuple[int, ...]:
    """Return the ids of text, the end token last; nothing at all for text without a token of its own."""
    if not text.strip() or not model.tokenizer(text, add_special_tokens=False).input_ids:
        return ()
    source_ids = tuple(model.tokenizer(text).input_ids)
    check_length("number of tokens in text", len(source_ids), model.network)
    return source_ids


def until_end(token_ids: Sequence[int], rules: Rules) -> tuple[int, ...]:
    """Return the ids as far as the first end token."""
    ends = [i for i, token_id in enumerate(token_ids) if token_id in rules.end_ids]
    return tuple(token_ids[: ends[0] + 1] if ends else token_ids)

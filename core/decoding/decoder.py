"""One network on one sentence, read token by token."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache, PreTrainedModel


class UnusableNetworkError(ValueError):
    """The network gives NaN instead of probabilities."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a network's own generation config asks of every decoding."""

    start_id: int  # the first token that the decoder reads
    end_ids: frozenset[int]  # tokens that end a sentence
    forbidden: tuple[tuple[int, ...], ...]  # of each, the last token must not follow the others
    forced_end_ids: tuple[int, ...]  # where only one more token is allowed, it is one of these; empty = any

    @classmethod
    def of(cls, network: PreTrainedModel) -> "Rules":
        """Read the rules of a network.

        Raises: ValueError if the network does not say with which token its decoder starts.
        """
        config = network.generation_config
        start_id = config.bos_token_id if config.decoder_start_token_id is None else config.decoder_start_token_id
        if start_id is None:
            raise ValueError("the network's generation config must have a decoder_start_token_id or a bos_token_id")
        end_ids = frozenset(as_list(config.eos_token_id))
        forbidden = tuple(tuple(ids) for ids in config.bad_words_ids or () if not (len(ids) == 1 and ids[0] in end_ids))
        return cls(start_id, end_ids, forbidden, tuple(as_list(config.forced_eos_token_id)))

    def forbidden_after(self, read: tuple[int, ...]) -> list[int]:
        """Return the tokens that must not follow what the decoder has read."""
        return [token_id for *before, token_id in self.forbidden if read[len(read) - len(before) :] == tuple(before)]


def as_list(ids: int | Sequence[int] | None) -> Sequence[int]:
    if ids is None:
        return []
    return [ids] if isinstance(ids, int) else ids


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What the network expects next. A row is one beginning of a sentence; without beam search there is only one."""

    decoder_inputs: tuple[tuple[int, ...], ...]  # what each row has read
    log_probs: Tensor  # (rows, vocab_size) float32
    self_attention: Tensor  # (num_layers, rows, num_heads, seq_k) of the newest token
    cross_attention: Tensor  # (num_layers, rows, num_heads, seq_source)

    def allowed(self, rules: Rules, *, last: bool, forced: int | None) -> Tensor:
        """Return the log-probabilities with −inf for tokens that must not come now, (rows, vocab_size).

        last: no token can follow. A token that the rules then force is certain, whatever the network gives for it: 0.
        forced: the only token that may come; it goes before the rules.
        """
        if forced is not None:
            allowed = torch.full_like(self.log_probs, -torch.inf)
            allowed[:, forced] = self.log_probs[:, forced]
        elif last and rules.forced_end_ids:
            allowed = torch.full_like(self.log_probs, -torch.inf)
            allowed[:, list(rules.forced_end_ids)] = 0.0
        else:
            allowed = self.log_probs.clone()
            for row, read in enumerate(self.decoder_inputs):
                allowed[row, rules.forbidden_after(read)] = -torch.inf
        return allowed


class Decoder:
    """A sentence in the middle of its translation.

    It holds what must not be computed twice: the encoder's output, and the keys and values of all tokens read so far.
    Nothing of this is in the network, which many threads may use at once.

    Raises: ValueError if the network keeps no attention weights; UnusableNetworkError if it gives NaN.
    """

    def __init__(self, network: PreTrainedModel, source_ids: Sequence[int]) -> None:
        self.rules = Rules.of(network)
        self.source_ids = tuple(source_ids)
        self._network = network
        self._encoded = network.get_encoder()(input_ids=torch.tensor([source_ids]), output_attentions=True)
        if not self._encoded.attentions:
            raise ValueError('the network must have attn_implementation="eager": only this keeps the attention weights')
        self._cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        self._read: list[tuple[int, ...]] = [()]

    @property
    def encoder_attention(self) -> Tensor:
        """(num_layers, num_heads, seq_source, seq_source)"""
        return torch.cat(self._encoded.attentions)

    def advance(self, token_ids: Sequence[int], rows: Sequence[int] = (0,)) -> Prediction:
        """Read one more token in every row, and say what comes next.

        The new row i goes on from the old row `rows[i]` and reads `token_ids[i]`. So beam search drops some rows and
        doubles others; their keys and values in the cache move with them.
        """
        self._read = [(*self._read[row], token_id) for row, token_id in zip(rows, token_ids, strict=True)]
        self._cache.reorder_cache(torch.LongTensor(rows))
        output = self._network(
            encoder_outputs=self._encoded,
            decoder_input_ids=torch.tensor(token_ids)[:, None],  # (rows, 1): all earlier tokens are in the cache
            cache=self._cache,
            use_cache=True,
            output_attentions=True,
        )
        log_probs = output.logits[:, -1].float().log_softmax(-1)  # float32 for any network, as `generate` has it
        if log_probs.isnan().any():
            raise UnusableNetworkError("the network gives NaN for the next token: are its weights damaged?")
        return Prediction(
            decoder_inputs=tuple(self._read),
            log_probs=log_probs,
            self_attention=torch.stack(output.decoder_attentions)[:, :, :, -1],
            cross_attention=torch.stack(output.cross_attentions)[:, :, :, -1],
        )

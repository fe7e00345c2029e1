"""What a model's heads are worth: the mean loss on sentence pairs, with all heads and without one after the other.

The loss is the cross-entropy of each reference token given the source and the reference so far (teacher forcing), in
nats, averaged over all tokens of all pairs. Michel, Levy & Neubig 2019, "Are sixteen heads really better than one?",
removed the heads of a translation model one by one in this way, and measured BLEU.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from core.checks import check_sizes
from core.heads_gallery import HeadName
from core.heads_off import all_heads, switch_off
from core.models import TranslationModel
from core.quality import MeasurementCancelledError, Pair

BATCH = 25  # pairs: larger batches only hold more padding
IGNORED = -100  # what torch calls a place whose loss does not count


@dataclass(frozen=True, slots=True, eq=False)
class LossBatch:
    """Pairs as the network reads them, filled up to one length."""

    source_ids: Tensor  # (batch, seq_source)
    attention_mask: Tensor  # (batch, seq_source), 1 = a token
    decoder_input_ids: Tensor  # (batch, seq_target), the start token first
    labels: Tensor  # (batch, seq_target), IGNORED behind the end token

    @property
    def tokens(self) -> int:
        return int((self.labels != IGNORED).sum())


def loss_batches(model: TranslationModel, pairs: Sequence[Pair], *, batch: int = BATCH) -> tuple[LossBatch, ...]:
    """Tokenize pairs, and put those of similar length together.

    Raises: ValueError if there are no pairs, or batch is less than 1.
    """
    if not pairs:
        raise ValueError("pairs must hold at least one sentence pair")
    check_sizes(batch=batch)
    read = [tuple(torch.tensor(model.tokenizer(text).input_ids) for text in (p.source, p.reference)) for p in pairs]
    read.sort(key=lambda ids: (len(ids[1]), len(ids[0])))
    return tuple(_batch(model, read[i : i + batch]) for i in range(0, len(read), batch))


def _batch(model: TranslationModel, read: Sequence[tuple[Tensor, ...]]) -> LossBatch:
    facts = model.facts
    sources, targets = ([ids[side] for ids in read] for side in range(2))
    start = torch.tensor([facts.start_id])
    return LossBatch(
        source_ids=pad_sequence(sources, batch_first=True, padding_value=facts.pad_id),
        attention_mask=pad_sequence([torch.ones_like(ids) for ids in sources], batch_first=True),
        decoder_input_ids=pad_sequence(
            [torch.cat([start, ids[:-1]]) for ids in targets], batch_first=True, padding_value=facts.pad_id
        ),
        labels=pad_sequence(targets, batch_first=True, padding_value=IGNORED),
    )


@torch.inference_mode()
def mean_loss(model: TranslationModel, batches: Sequence[LossBatch]) -> float:
    """Nats per reference token. About 0.3 s for a hundred short pairs and the bundled model on one core.

    Raises: ValueError if there are no batches.
    """
    if not batches:
        raise ValueError("batches must hold at least one batch of pairs")
    total = 0.0
    for batch in batches:
        logits = model.network(
            input_ids=batch.source_ids,
            attention_mask=batch.attention_mask,
            decoder_input_ids=batch.decoder_input_ids,
            use_cache=False,
        ).logits  # (batch, seq_target, vocab_size)
        total += float(cross_entropy(logits.mT, batch.labels, ignore_index=IGNORED, reduction="sum"))
    return total / sum(batch.tokens for batch in batches)


@dataclass(frozen=True, slots=True)
class HeadCost:
    """One head: the loss without it, and how much more that is than with all heads (less, if negative)."""

    name: HeadName
    loss: float
    cost: float


@dataclass(frozen=True, slots=True)
class HeadCosts:
    """All heads of a model, the one that costs most first."""

    pairs: int
    tokens: int
    loss: float  # with all heads
    heads: tuple[HeadCost, ...]


def rank_heads(
    model: TranslationModel,
    pairs: Sequence[Pair],
    *,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> HeadCosts:
    """Switch each head off by itself; `on_progress(done, total)` counts losses, one more than there are heads.

    `cancelled()` is asked before every loss.
    Raises: ValueError if there are no pairs; MeasurementCancelledError.
    """
    batches = loss_batches(model, pairs)
    names: tuple[HeadName | None, ...] = (None, *all_heads(model))  # None: all heads are on
    losses: list[float] = []
    for name in names:
        if cancelled():
            raise MeasurementCancelledError(f"cancelled after {len(losses)} of {len(names)} losses")
        losses.append(mean_loss(switch_off(model, [name] if name else []), batches))
        on_progress(len(losses), len(names))
    whole = losses[0]
    found = [HeadCost(name, loss, loss - whole) for name, loss in zip(names, losses, strict=True) if name]
    return HeadCosts(
        pairs=len(pairs),
        tokens=sum(batch.tokens for batch in batches),
        loss=whole,
        heads=tuple(sorted(found, key=lambda each: each.cost, reverse=True)),
    )

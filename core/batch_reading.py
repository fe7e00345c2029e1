"""Who looks at whom in a batch: what masks leave of attention, in one pass of a small Transformer of random weights.

The three families of Raffel et al. 2020, "T5", section 3.2: encoder only, decoder only, and both.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.attention import AttentionTrace
from core.batches import PAD, Batch
from core.masks import padding_mask
from core.transformer import Attend, Stacks, Transformer, TransformerConfig, random_transformer

NAMES = {
    "encoder.layers.0.self_attention.block.attend": "encoder",
    "decoder.layers.0.self_attention.block.attend": "decoder",
    "decoder.layers.0.cross_attention.block.attend": "cross",
}


@dataclass(frozen=True, slots=True)
class PaddedRows:
    """What a padding mask leaves of padding in self-attention."""

    keys: int  # padded keys in all sentences of the batch
    looked_at: int  # of these, how many get any weight from anybody
    queries: int  # padded queries
    looking: int  # of these, how many still look at something: their row sums to 1


@dataclass(frozen=True, slots=True, eq=False)
class BatchReading:
    """The weights of every attention that there is, (batch, num_heads, seq_q, seq_k): "encoder", "decoder", "cross"."""

    source: Batch | None
    target: Batch | None
    weights: Mapping[str, Tensor]

    def sees(self, name: str, sentence: int) -> Tensor:
        """Who looks at whom in a sentence, in any head: bool (seq_q, seq_k)."""
        return (self.weights[name][sentence] > 0).any(dim=0)

    def padded_rows(self) -> PaddedRows:
        """What is left of padding in self-attention: the encoder's, or the decoder's where there is none."""
        name, batch = ("encoder", self.source) if self.source is not None else ("decoder", self.target)
        if batch is None:
            return PaddedRows(0, 0, 0, 0)
        padded = ~padding_mask(batch.lengths, batch.seq_len)[:, 0, 0]  # (batch, seq)
        weights = self.weights[name].mean(dim=1)  # (batch, seq, seq)
        looked_at = (weights.amax(dim=1) > 0) & padded
        looking = torch.isclose(weights.sum(dim=-1), torch.ones(()), atol=1e-5) & padded
        return PaddedRows(int(padded.sum()), int(looked_at.sum()), int(padded.sum()), int(looking.sum()))


def read_batch(source: Batch | None, target: Batch | None, *, seed: int, masked: bool = True) -> BatchReading:
    """Send a batch through one layer of each stack that has an input.

    masked: hide padding; the decoder hides the future in any case.
    Raises: ValueError if there is neither a source nor a target, one is empty, or they differ in sentences.
    """
    given = {name: batch for name, batch in (("source", source), ("target", target)) if batch is not None}
    if not given:
        raise ValueError("source and target must not both be None")
    for name, batch in given.items():
        if not batch.sentences:
            raise ValueError(f"{name} (0 sentences) must hold at least one")
    if len({len(batch.sentences) for batch in given.values()}) > 1:
        raise ValueError(
            "source ({}) and target ({}) must have equally many sentences".format(
                *(len(batch.sentences) for batch in given.values())
            )
        )
    stacks = Stacks.BOTH if len(given) == 2 else Stacks.ENCODER if source is not None else Stacks.DECODER
    words = [PAD, *sorted({token for batch in given.values() for each in batch.sentences for token in each} - {PAD})]
    config = TransformerConfig(
        num_layers=1,
        d_model=16,
        num_heads=2,
        d_ff=32,
        vocab_size=len(words),
        max_len=max(batch.seq_len for batch in given.values()),
        stacks=stacks,
    )
    network = random_transformer(config, generator=torch.Generator().manual_seed(seed))
    number = {word: index for index, word in enumerate(words)}
    ids = {
        name: torch.tensor([[number[token] for token in batch.padded(index)] for index in range(len(batch.sentences))])
        for name, batch in given.items()
    }
    masks = (
        {f"{name}_mask": padding_mask(batch.lengths, batch.seq_len) for name, batch in given.items()} if masked else {}
    )
    found: dict[str, Tensor] = {}
    with torch.no_grad():
        _look(network, found)
        network(**ids, **masks)
    return BatchReading(source, target, found)


def _look(network: Transformer, found: dict[str, Tensor]) -> None:
    """Take down the weights of every attention of the next pass."""
    for name, module in network.named_modules():
        if isinstance(module, Attend):

            def hook(_module: nn.Module, _inputs: object, trace: AttentionTrace, name: str = name) -> None:
                found[NAMES[name]] = trace.weights

            module.register_forward_hook(hook)

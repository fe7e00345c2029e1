"""Sizes of published Transformers, as far as `core.transformer` has them: it adds biases everywhere, and no more."""

from collections.abc import Mapping
from types import MappingProxyType

from core.transformer import NormPlace, PositionKind, Stacks, TransformerConfig

PUBLISHED: Mapping[str, TransformerConfig] = MappingProxyType(
    {
        "Transformer base": TransformerConfig(),
        "BERT base": TransformerConfig(
            num_layers=12,
            d_model=768,
            num_heads=12,
            d_ff=3072,
            vocab_size=30_522,
            stacks=Stacks.ENCODER,
            positions=PositionKind.LEARNT,
        ),
        "GPT-2": TransformerConfig(
            num_layers=12,
            d_model=768,
            num_heads=12,
            d_ff=3072,
            vocab_size=50_257,
            max_len=1024,
            stacks=Stacks.DECODER,
            norm=NormPlace.PRE,
            positions=PositionKind.LEARNT,
        ),
    }
)
"""Vaswani et al. 2017, table 3 (37 000 word pieces: section 5.1); Devlin et al. 2019, section 3, whose second kind of
embedding, one for each part of a text, is not here; Radford et al. 2019, table 2, first line."""

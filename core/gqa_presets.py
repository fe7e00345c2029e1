"""Well-known models and their published sizes: how many KV heads they have, and what that saves.

The numbers are those of the configuration that comes with the weights; `source` says where it is.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from core.gqa_costs import attention_parameters
from core.kv_heads import kv_cache_bytes
from core.latent_attention import LatentSizes, latent_cache_bytes


class HeadSharing(StrEnum):
    """How query heads share keys and values."""

    MHA = "MHA"  # each has its own
    GQA = "GQA"  # some share
    MQA = "MQA"  # all share
    MLA = "MLA"  # all read one compressed vector


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A decoder with multi-head, grouped-query or multi-query attention."""

    name: str
    num_layers: int
    d_model: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    d_ff: int
    vocab_size: int  # rows of the embedding
    max_context: int  # tokens
    source: str
    gated: bool = True  # the feed-forward block has three matrices instead of two
    tied: bool = False  # the embedding of tokens also scores the next token
    experts: int = 1  # feed-forward blocks per layer; all are kept in memory

    @property
    def sharing(self) -> HeadSharing:
        if self.num_kv_heads == self.num_heads:
            return HeadSharing.MHA
        return HeadSharing.MQA if self.num_kv_heads == 1 else HeadSharing.GQA

    @property
    def parameters(self) -> int:
        """Numbers in all large matrices: norms, biases, routers and learned positions (below 0.2 %) are left out."""
        embeddings = self.vocab_size * self.d_model * (1 if self.tied else 2)
        feed_forward = self.experts * (3 if self.gated else 2) * self.d_model * self.d_ff
        attention = attention_parameters(self.d_model, self.num_heads, self.num_kv_heads, self.head_dim)
        return embeddings + self.num_layers * (attention + feed_forward)

    def cache_bytes(self, *, seq_len: int, batch: int, bytes_per_number: int) -> int:
        """Bytes of the KV cache.

        Raises: ValueError as kv_cache_bytes does.
        """
        return kv_cache_bytes(
            num_layers=self.num_layers,
            num_kv_heads=self.num_kv_heads,
            head_dim=self.head_dim,
            seq_len=seq_len,
            batch=batch,
            bytes_per_number=bytes_per_number,
        )

    def with_kv_heads(self, num_kv_heads: int) -> "PublishedModel":
        """The same model, had it been built with another number of KV heads."""
        return replace(self, num_kv_heads=num_kv_heads)


@dataclass(frozen=True, slots=True)
class PublishedLatentModel:
    """A decoder with multi-head latent attention."""

    name: str
    num_layers: int
    sizes: LatentSizes
    feed_forward_parameters: int  # of all layers
    vocab_size: int
    max_context: int
    source: str

    @property
    def sharing(self) -> HeadSharing:
        return HeadSharing.MLA

    @property
    def parameters(self) -> int:
        """Numbers in all large matrices; its two embeddings are separate."""
        embeddings = 2 * self.vocab_size * self.sizes.d_model
        return embeddings + self.num_layers * self.sizes.parameters + self.feed_forward_parameters

    def cache_bytes(self, *, seq_len: int, batch: int, bytes_per_number: int) -> int:
        """Bytes of the cache.

        Raises: ValueError as latent_cache_bytes does.
        """
        return latent_cache_bytes(
            num_layers=self.num_layers,
            kv_lora_rank=self.sizes.kv_lora_rank,
            qk_rope_head_dim=self.sizes.qk_rope_head_dim,
            seq_len=seq_len,
            batch=batch,
            bytes_per_number=bytes_per_number,
        )


MODELS = (
    PublishedModel(
        name="GPT-2 XL",
        num_layers=48,
        d_model=1600,
        num_heads=25,
        num_kv_heads=25,
        head_dim=64,
        d_ff=6400,
        vocab_size=50257,
        max_context=1024,
        source="https://huggingface.co/openai-community/gpt2-xl/blob/main/config.json",
        gated=False,
        tied=True,
    ),
    PublishedModel(
        name="Llama 2 7B",
        num_layers=32,
        d_model=4096,
        num_heads=32,
        num_kv_heads=32,
        head_dim=128,
        d_ff=11008,
        vocab_size=32000,
        max_context=4096,
        source="https://huggingface.co/meta-llama/Llama-2-7b-hf/blob/main/config.json",
    ),
    PublishedModel(
        name="Gemma 7B",
        num_layers=28,
        d_model=3072,
        num_heads=16,
        num_kv_heads=16,
        head_dim=256,
        d_ff=24576,
        vocab_size=256000,
        max_context=8192,
        source="https://huggingface.co/google/gemma-7b/blob/main/config.json",
        tied=True,
    ),
    PublishedModel(
        name="Llama 2 70B",
        num_layers=80,
        d_model=8192,
        num_heads=64,
        num_kv_heads=8,
        head_dim=128,
        d_ff=28672,
        vocab_size=32000,
        max_context=4096,
        source="https://huggingface.co/meta-llama/Llama-2-70b-hf/blob/main/config.json",
    ),
    PublishedModel(
        name="Falcon 40B",
        num_layers=60,
        d_model=8192,
        num_heads=128,
        num_kv_heads=8,
        head_dim=64,
        d_ff=32768,
        vocab_size=65024,
        max_context=2048,
        source="https://huggingface.co/tiiuae/falcon-40b/blob/main/config.json",
        gated=False,
        tied=True,
    ),
    PublishedModel(
        name="Mistral 7B v0.3",
        num_layers=32,
        d_model=4096,
        num_heads=32,
        num_kv_heads=8,
        head_dim=128,
        d_ff=14336,
        vocab_size=32768,
        max_context=32768,
        source="https://huggingface.co/mistralai/Mistral-7B-v0.3/blob/main/config.json",
    ),
    PublishedModel(
        name="Mixtral 8x7B",
        num_layers=32,
        d_model=4096,
        num_heads=32,
        num_kv_heads=8,
        head_dim=128,
        d_ff=14336,
        vocab_size=32000,
        max_context=32768,
        source="https://huggingface.co/mistralai/Mixtral-8x7B-v0.1/blob/main/config.json",
        experts=8,
    ),
    PublishedModel(
        name="Llama 3.1 8B",
        num_layers=32,
        d_model=4096,
        num_heads=32,
        num_kv_heads=8,
        head_dim=128,
        d_ff=14336,
        vocab_size=128256,
        max_context=131072,
        source="https://huggingface.co/meta-llama/Meta-Llama-3.1-8B/blob/main/config.json",
    ),
    PublishedModel(
        name="Llama 3.1 405B",
        num_layers=126,
        d_model=16384,
        num_heads=128,
        num_kv_heads=8,
        head_dim=128,
        d_ff=53248,
        vocab_size=128256,
        max_context=131072,
        source="https://huggingface.co/meta-llama/Meta-Llama-3.1-405B/blob/main/config.json",
    ),
    PublishedModel(
        name="Qwen2.5 7B",
        num_layers=28,
        d_model=3584,
        num_heads=28,
        num_kv_heads=4,
        head_dim=128,
        d_ff=18944,
        vocab_size=152064,
        max_context=131072,
        source="https://huggingface.co/Qwen/Qwen2.5-7B/blob/main/config.json",
    ),
    PublishedModel(
        name="Gemma 2B",
        num_layers=18,
        d_model=2048,
        num_heads=8,
        num_kv_heads=1,
        head_dim=256,
        d_ff=16384,
        vocab_size=256000,
        max_context=8192,
        source="https://huggingface.co/google/gemma-2b/blob/main/config.json",
        tied=True,
    ),
    PublishedModel(
        name="Falcon 7B",
        num_layers=32,
        d_model=4544,
        num_heads=71,
        num_kv_heads=1,
        head_dim=64,
        d_ff=18176,
        vocab_size=65024,
        max_context=2048,
        source="https://huggingface.co/tiiuae/falcon-7b/blob/main/config.json",
        gated=False,
        tied=True,
    ),
)
"""Models by how much they share: MHA first, then GQA, then MQA."""

DEEPSEEK_V2 = PublishedLatentModel(
    name="DeepSeek-V2",
    num_layers=60,
    sizes=LatentSizes(
        d_model=5120,
        num_heads=128,
        q_lora_rank=1536,
        kv_lora_rank=512,
        qk_nope_head_dim=128,
        qk_rope_head_dim=64,
        v_head_dim=128,
    ),
    feed_forward_parameters=3 * 5120 * (12288 + 59 * (160 + 2) * 1536),  # one layer is dense, 59 have 160 + 2 experts
    vocab_size=102400,
    max_context=131072,
    source="https://arxiv.org/abs/2405.04434",  # sections 2.1.4 and 3.1.2
)


@dataclass(frozen=True, slots=True)
class Saving:
    """What a model saves by sharing KV heads: shares of what it would need with a KV head for every query head."""

    name: str
    weights: float
    cache: float


def saving(model: PublishedModel) -> Saving:
    """Compare a model with itself as MHA; an MHA model saves nothing."""
    own = model.with_kv_heads(model.num_heads)
    return Saving(model.name, 1 - model.parameters / own.parameters, 1 - model.num_kv_heads / model.num_heads)

"""What multi-head latent attention costs: a token is kept as one short vector that all heads read.

DeepSeek-AI 2024, "DeepSeek-V2", https://arxiv.org/abs/2405.04434, sections 2.1.2 to 2.1.4.
"""

from dataclasses import dataclass

from core.checks import check_even, check_not_negative, check_sizes
from core.gqa_costs import AttentionCost


@dataclass(frozen=True, slots=True)
class LatentSizes:
    """The sizes of a layer of multi-head latent attention, named as in its configuration."""

    d_model: int
    num_heads: int
    q_lora_rank: int  # numbers that a query is compressed to
    kv_lora_rank: int  # numbers that keys and values together are compressed to
    qk_nope_head_dim: int  # part of a query or key without position
    qk_rope_head_dim: int  # part with position; all heads share its key
    v_head_dim: int

    @property
    def cached_numbers(self) -> int:
        """Numbers kept per token and layer: the compressed vector, and the key's part with position."""
        return self.kv_lora_rank + self.qk_rope_head_dim

    @property
    def parameters(self) -> int:
        """Weights of one layer's projections, down and up, without norms."""
        q_head_dim = self.qk_nope_head_dim + self.qk_rope_head_dim
        return (
            self.d_model * self.q_lora_rank
            + self.q_lora_rank * self.num_heads * q_head_dim
            + self.d_model * self.cached_numbers
            + self.kv_lora_rank * self.num_heads * (self.qk_nope_head_dim + self.v_head_dim)
            + self.num_heads * self.v_head_dim * self.d_model
        )

    def equal_kv_heads(self, head_dim: int) -> float:
        """The number of KV heads of this head_dim whose cache would be as large.

        Raises: ValueError if head_dim is less than 1.
        """
        check_sizes(head_dim=head_dim)
        return self.cached_numbers / (2 * head_dim)


def proportioned(d_model: int, num_heads: int, head_dim: int) -> LatentSizes:
    """The sizes that latent attention has in a model of other sizes, in DeepSeek-V2's proportions.

    Raises: ValueError if a number is less than 1, or head_dim is odd: half of it carries the position.
    Source: DeepSeek-V2, sections 2.1.4 and 3.1.2: 4 · head_dim and half of head_dim per token, 12 · head_dim per query,
        but never more than d_model: that would compress nothing.
    """
    check_sizes(d_model=d_model, num_heads=num_heads, head_dim=head_dim)
    check_even("head_dim", head_dim)
    return LatentSizes(
        d_model=d_model,
        num_heads=num_heads,
        q_lora_rank=min(12 * head_dim, d_model),
        kv_lora_rank=4 * head_dim,
        qk_nope_head_dim=head_dim,
        qk_rope_head_dim=head_dim // 2,
        v_head_dim=head_dim,
    )


def latent_cache_bytes(
    *,
    num_layers: int,
    kv_lora_rank: int,
    qk_rope_head_dim: int,
    seq_len: int,
    batch: int,
    bytes_per_number: int,
) -> int:
    """Bytes of the cache: (kv_lora_rank + qk_rope_head_dim) · layers · seq_len · batch · bytes per number.

    Raises: ValueError if seq_len is negative, or another number is less than 1.
    Source: DeepSeek-V2, section 2.1.4, table 1.
    """
    check_sizes(
        num_layers=num_layers,
        kv_lora_rank=kv_lora_rank,
        qk_rope_head_dim=qk_rope_head_dim,
        batch=batch,
        bytes_per_number=bytes_per_number,
    )
    check_not_negative("seq_len", seq_len)
    return (kv_lora_rank + qk_rope_head_dim) * num_layers * seq_len * batch * bytes_per_number


def latent_cost(
    sizes: LatentSizes, *, num_layers: int, seq_len: int, batch: int, bytes_per_number: int
) -> AttentionCost:
    """The cost of one more token, beside those of `core.gqa_costs.cost_table`.

    Keys and values are never unpacked: the matrices that would do it are applied to the query and to the output
    instead, so that each head takes products with the short vectors themselves.
    Raises: ValueError as latent_cache_bytes does.
    Source: DeepSeek-V2, section 2.1.2 ("absorbed").
    """
    cache = latent_cache_bytes(
        num_layers=num_layers,
        kv_lora_rank=sizes.kv_lora_rank,
        qk_rope_head_dim=sizes.qk_rope_head_dim,
        seq_len=seq_len,
        batch=batch,
        bytes_per_number=bytes_per_number,
    )
    parameters = num_layers * sizes.parameters
    products = sizes.num_heads * (sizes.cached_numbers + sizes.kv_lora_rank)  # a score, and its part of the output
    return AttentionCost(
        parameters=parameters,
        cache_bytes=cache,
        multiply_adds=parameters + num_layers * products * seq_len,
        weight_bytes_moved=parameters * bytes_per_number / batch,
        cache_bytes_moved=cache // batch,
    )

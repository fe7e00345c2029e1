"""The table of a model's costs: a row for every legal number of KV heads, and one for latent attention."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.gqa_costs import AttentionCost, Fit, attention_parameters, cost_table, fit
from core.gqa_presets import PublishedModel
from core.latent_attention import latent_cost, proportioned


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one way of sharing costs: its attention, and how many users fit beside the whole model's weights."""

    num_kv_heads: int | None  # None: latent attention has none
    cost: AttentionCost
    fit: Fit


@dataclass(frozen=True, slots=True)
class Shares:
    """A cost as shares of another one: 1 = as much."""

    parameters: float
    cache: float
    multiply_adds: float
    bytes_moved: float


def cost_rows(model: PublishedModel, *, seq_len: int, batch: int, bytes_per_number: int) -> tuple[CostRow, ...]:
    """The model as it would be with every legal number of KV heads, rising, and last with latent attention.

    The latent row has DeepSeek-V2's proportions. A user is one sequence of seq_len tokens; batch changes only the cost.
    Raises: ValueError if seq_len or another number is less than 1, or the model's head_dim is odd.
    """
    load = {"seq_len": seq_len, "batch": batch, "bytes_per_number": bytes_per_number}
    table = cost_table(
        d_model=model.d_model,
        num_heads=model.num_heads,
        head_dim=model.head_dim,
        num_layers=model.num_layers,
        **load,
    )
    sizes = proportioned(model.d_model, model.num_heads, model.head_dim)
    latent = latent_cost(sizes, num_layers=model.num_layers, **load)
    costs: list[tuple[int | None, AttentionCost]] = [*table.items(), (None, latent)]
    own = attention_parameters(model.d_model, model.num_heads, model.num_kv_heads, model.head_dim)
    others = model.parameters - model.num_layers * own  # outside attention: the same in every row
    return tuple(
        CostRow(
            num_kv_heads,
            cost,
            fit(
                parameters=others + cost.parameters,
                bytes_per_user=cost.cache_bytes // batch,
                bytes_per_number=bytes_per_number,
            ),
        )
        for num_kv_heads, cost in costs
    )


def row_of(rows: Sequence[CostRow], num_kv_heads: int | None) -> CostRow:
    """The row of a number of KV heads.

    Raises: ValueError if there is none.
    """
    for row in rows:
        if row.num_kv_heads == num_kv_heads:
            return row
    raise ValueError(f"num_kv_heads ({num_kv_heads}) must be one of the rows")


def shares(cost: AttentionCost, whole: AttentionCost) -> Shares:
    """How much of another cost a cost is, part by part."""
    return Shares(
        parameters=cost.parameters / whole.parameters,
        cache=cost.cache_bytes / whole.cache_bytes,
        multiply_adds=cost.multiply_adds / whole.multiply_adds,
        bytes_moved=cost.bytes_moved / whole.bytes_moved,
    )

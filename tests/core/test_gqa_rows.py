"""The table of a model's costs, against the parts that it is made of and against numbers worked by hand."""

from dataclasses import replace

import pytest

from core.gqa_costs import AttentionCost, attention_cost
from core.gqa_presets import MODELS, PublishedModel
from core.gqa_rows import Shares, cost_rows, row_of, shares
from core.latent_attention import latent_cost, proportioned

LOAD = {"seq_len": 11, "batch": 3, "bytes_per_number": 2}
TINY = PublishedModel(
    name="tiny", num_layers=5, d_model=7, num_heads=6, num_kv_heads=2, head_dim=4, d_ff=13, vocab_size=17,
    max_context=19, source="by hand",
)  # fmt: skip


def test_there_is_a_row_for_every_legal_number_and_one_for_latent_attention() -> None:
    rows = cost_rows(TINY, **LOAD)
    assert [row.num_kv_heads for row in rows] == [1, 2, 3, 6, None]
    for row in rows[:-1]:
        assert row.num_kv_heads is not None
        assert row.cost == attention_cost(
            d_model=7, num_heads=6, num_kv_heads=row.num_kv_heads, head_dim=4, num_layers=5, **LOAD
        )
    assert rows[-1].cost == latent_cost(proportioned(7, 6, 4), num_layers=5, **LOAD)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_the_models_own_row_has_the_models_own_weights_and_cache(model: PublishedModel) -> None:
    for row in cost_rows(model, **LOAD)[:-1]:
        assert row.num_kv_heads is not None
        sized = model.with_kv_heads(row.num_kv_heads)
        assert row.fit.weight_bytes == 2 * sized.parameters
        assert row.fit.bytes_per_user == sized.cache_bytes(seq_len=11, batch=1, bytes_per_number=2)


def test_users_worked_by_hand() -> None:
    # Llama 3.1 8B in bfloat16: 16.06 GB of weights, 131,072 bytes of cache per token: 63.94 GB hold 59 × 8,192 tokens.
    llama = next(model for model in MODELS if model.name == "Llama 3.1 8B")
    rows = cost_rows(llama, seq_len=8192, batch=1, bytes_per_number=2)
    assert row_of(rows, 8).fit.bytes_per_user == 131_072 * 8192
    assert row_of(rows, 8).fit.users == 59
    # As MHA 24 · 2 · 4096 · 128 · 32 · 2 bytes more of weights, and four times the cache: (80 − 17.67) / 4.29.
    assert row_of(rows, 32).fit.users == 14


def test_the_batch_shares_the_weights_and_not_the_users() -> None:
    one, three = (row_of(cost_rows(TINY, **(LOAD | {"batch": batch})), 2) for batch in (1, 3))
    assert three.fit == one.fit
    assert three.cost.cache_bytes == 3 * one.cost.cache_bytes
    assert three.cost.weight_bytes_moved == pytest.approx(one.cost.weight_bytes_moved / 3)


def test_shares_are_part_by_part() -> None:
    whole, part = AttentionCost(10, 20, 40, 30.0, 50), AttentionCost(5, 4, 30, 10.0, 6)
    assert shares(part, whole) == Shares(0.5, 0.2, 0.75, 0.2)


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"num_kv_heads \(4\) must be one of the rows"):
        row_of(cost_rows(TINY, **LOAD), 4)
    with pytest.raises(ValueError, match=r"head_dim \(3\) must be even"):
        cost_rows(replace(TINY, head_dim=3), **LOAD)
    with pytest.raises(ValueError, match=r"bytes_per_user \(0\) must be at least 1"):
        cost_rows(TINY, **(LOAD | {"seq_len": 0}))
    with pytest.raises(ValueError, match=r"batch \(0\) must be at least 1"):
        cost_rows(TINY, **(LOAD | {"batch": 0}))

"""What the GQA page offers to take along runs, and gives the numbers of the page."""

import contextlib
import io
from typing import Any

import pytest
import torch

from core import models
from core.gqa import GroupedQueryAttention
from core.gqa_conversion import measure_encoder
from core.gqa_costs import cost_table, fit
from core.gqa_presets import DEEPSEEK_V2, MODELS
from core.gqa_snippets import conversion_program, costs_program, models_program, time_program
from core.gqa_times import DecoderSize, measure_decoding
from core.kv_cache import KVCache


def run(program: str) -> tuple[dict[str, Any], str]:
    names: dict[str, Any] = {"__name__": "snippet"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "snippet", "exec"), names)
    return names, printed.getvalue()


@pytest.mark.parametrize("num_kv_heads", [6, 3, 1])
def test_the_timed_token_is_the_pages(num_kv_heads: int) -> None:
    names, printed = run(time_program(d_model=30, num_heads=6, num_kv_heads=num_kv_heads, num_layers=2, seq_len=7))
    x = names["token"]
    with torch.inference_mode():
        for weights, (k, v) in zip(names["layers"], names["caches"], strict=True):
            layer = GroupedQueryAttention(30, 6, num_kv_heads)
            layer.load_state_dict({f"{name}_proj.weight": weight for name, weight in weights.items()})
            x = layer(x, cache=KVCache(k.clone(), v.clone(), length=6))
    torch.testing.assert_close(names["result"], x, rtol=1e-5, atol=1e-6)

    generator = torch.Generator().manual_seed(0)
    (time,) = measure_decoding(
        DecoderSize(d_model=30, num_heads=6, num_layers=2),
        generator=generator, lengths=(7,), bandwidth_numbers=2**12,
        on_progress=lambda *_: None, cancelled=lambda: False,
    ).times[(1, 2, 3, 6).index(num_kv_heads):][:1]  # fmt: skip
    assert f"weights {time.weight_bytes}\nbytes of the cache {time.cache_bytes}\n" in printed


def test_the_costs_are_the_pages() -> None:
    sizes = {"d_model": 13, "num_heads": 12, "head_dim": 5, "num_layers": 3}
    sizes |= {"seq_len": 7, "batch": 2, "bytes_per_number": 4}
    names, printed = run(costs_program(**sizes))
    assert names["table"] == {
        num_kv_heads: (cost.parameters, cost.cache_bytes, cost.multiply_adds, cost.bytes_moved)
        for num_kv_heads, cost in cost_table(**sizes).items()
    }
    assert len(printed.splitlines()) == 1 + 6


@pytest.mark.parametrize("most_tokens", [64, 5])
def test_the_conversion_is_the_pages(most_tokens: int) -> None:
    text = "L'eau n'est pas \"chaude\"."
    names, printed = run(conversion_program(folder="core/assets/atlas-fr-en", text=text, most_tokens=most_tokens))
    found = {
        (number, each.num_kv_heads, each.pooling.value): each.error
        for number, layer in enumerate(measure_encoder(models.load("atlas-fr-en"), text, most_tokens=most_tokens), 1)
        for each in layer
    }
    assert names["errors"] == pytest.approx(found, abs=1e-5)  # the page's model runs in float32 up to the layer
    assert len(printed.splitlines()) == len(found) == 3 * 3 * 2


@pytest.mark.parametrize(("seq_len", "bytes_per_number"), [(1, 4), (8192, 2), (131072, 1)])
def test_the_users_are_the_pages(seq_len: int, bytes_per_number: int) -> None:
    names, _ = run(models_program(seq_len=seq_len, bytes_per_number=bytes_per_number))
    assert names["users"] == {
        model.name: fit(
            parameters=model.parameters,
            bytes_per_user=model.cache_bytes(seq_len=seq_len, batch=1, bytes_per_number=bytes_per_number),
            bytes_per_number=bytes_per_number,
        ).users
        for model in (*MODELS, DEEPSEEK_V2)
    }


@pytest.mark.parametrize(
    "program",
    [
        time_program(d_model=4, num_heads=2, num_kv_heads=1, num_layers=1, seq_len=3),
        conversion_program(folder="somewhere", text="rien", most_tokens=5),
        models_program(seq_len=1, bytes_per_number=2),
        costs_program(d_model=4, num_heads=2, head_dim=2, num_layers=1, seq_len=3, batch=1, bytes_per_number=2),
    ],
)
def test_programs_need_nothing_of_this_project(program: str) -> None:
    assert "import core" not in program
    assert "from core" not in program

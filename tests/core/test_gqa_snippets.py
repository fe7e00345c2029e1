"""What the GQA page offers to take along runs, and gives the numbers of the page."""

import contextlib
import io
from typing import Any

import pytest
import torch

from core import models
from core.cached_decoding import decode_with_cache, read_again
from core.gqa import random_layer
from core.gqa_conversion import measure_encoder
from core.gqa_costs import cost_table, fit
from core.gqa_presets import DEEPSEEK_V2, MODELS
from core.gqa_snippets import conversion_program, costs_program, layer_program, models_program
from core.kv_heads import kv_cache_bytes


def run(program: str) -> tuple[dict[str, Any], str]:
    names: dict[str, Any] = {"__name__": "snippet"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "snippet", "exec"), names)
    return names, printed.getvalue()


@pytest.mark.parametrize("num_kv_heads", [6, 3, 1])
def test_the_layer_is_the_pages(num_kv_heads: int) -> None:
    sizes = {"d_model": 13, "num_heads": 6, "num_kv_heads": num_kv_heads, "head_dim": 5}
    names, printed = run(layer_program(seed=3, seq_len=7, **sizes))

    generator = torch.Generator().manual_seed(3)
    layer = random_layer(**sizes, generator=generator)
    x = torch.randn(1, 7, 13, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(names["at_once"], read_again(layer, x), rtol=0, atol=1e-13)
    torch.testing.assert_close(names["with_cache"], decode_with_cache(layer, x), rtol=0, atol=1e-13)
    torch.testing.assert_close(names["by_torch"], names["at_once"], rtol=0, atol=1e-13)

    cached = kv_cache_bytes(num_layers=1, num_kv_heads=num_kv_heads, head_dim=5, seq_len=7, batch=1, bytes_per_number=1)
    parameters = sum(parameter.numel() for parameter in layer.parameters())
    assert f"parameters {parameters}\nnumbers in the cache {cached}\n" in printed


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
        layer_program(seed=0, d_model=4, num_heads=2, num_kv_heads=1, head_dim=2, seq_len=3),
        conversion_program(folder="somewhere", text="rien", most_tokens=5),
        models_program(seq_len=1, bytes_per_number=2),
        costs_program(d_model=4, num_heads=2, head_dim=2, num_layers=1, seq_len=3, batch=1, bytes_per_number=2),
    ],
)
def test_programs_need_nothing_of_this_project(program: str) -> None:
    assert "import core" not in program
    assert "from core" not in program

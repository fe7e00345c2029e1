"""What the masks page offers to take along runs, and gives the numbers that the page shows."""

from typing import Any

import pytest
import torch

from core import snippets
from core.fill_values import Fill, masked_softmax
from core.masks import causal_mask, padding_mask, permutation_mask
from core.token_attention import gradient_reach, random_layer, token_vectors

TOKENS = ("The", "cat's", '"', "猫", "{x}", "<pad>", "cat's")
SOURCE = ("Le", "chat", "\\n", "<pad>", "<pad>")


def run(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(program, "snippet", "exec"), names)  # exactly what a student would run
    return names


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("fill", list(Fill))
@pytest.mark.parametrize("mask", [causal_mask(7), permutation_mask([2, 0, 3, 1, 6, 5, 4])])
def test_self_attention_is_reproduced(dtype: str, fill: Fill, mask: torch.Tensor) -> None:
    program = snippets.masks(
        queries=TOKENS, keys=None, attend_mask=mask.int().tolist(), seed=5, score_scale=1.6, fill=fill, dtype=dtype
    )
    if fill is Fill.MINUS_1E9 and dtype == "float16":
        with pytest.raises(RuntimeError, match="overflow"):
            run(program)
        return
    names = run(program)
    x = token_vectors(TOKENS, seed=5)
    layer = random_layer(torch.Generator().manual_seed(5), score_scale=1.6)
    scores = layer(x, x).scores[0].to(getattr(torch, dtype))
    close = {"atol": 0.02, "rtol": 0.02} if dtype != "float32" else {}
    torch.testing.assert_close(names["scores"], scores, **close)
    torch.testing.assert_close(names["weights"], masked_softmax(scores, mask, fill), equal_nan=True, **close)
    torch.testing.assert_close(names["reach"], gradient_reach(layer, x, None, mask))


def test_cross_attention_is_reproduced(capsys: pytest.CaptureFixture[str]) -> None:
    mask = padding_mask([3], 5)[0, 0].expand(7, 5)
    names = run(
        snippets.masks(
            queries=TOKENS,
            keys=SOURCE,
            attend_mask=mask.int().tolist(),
            seed=1,
            score_scale=2.0,
            fill=Fill.GUARDED,
            dtype="float32",
        )
    )
    x, memory = token_vectors(TOKENS, seed=1), token_vectors(SOURCE, seed=1)
    layer = random_layer(torch.Generator().manual_seed(1), score_scale=2.0)
    torch.testing.assert_close(names["reach"], gradient_reach(layer, x, memory, mask))
    assert "on average 3.0" in capsys.readouterr().out

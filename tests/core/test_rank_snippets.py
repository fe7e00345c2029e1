"""What the rank page offers to take along runs, and gives the numbers of the screen."""

from dataclasses import asdict
from typing import Any

import pytest
import torch

from core import rank_snippets
from core.masks import sliding_window_mask
from core.rank import default_tolerance, ranks_of, reconstruct, reconstruction_errors
from core.rank_depth import random_stack, random_tokens, residuals
from core.rank_heads import (
    Heads,
    attend,
    head_spectra,
    layer_spectra,
    random_heads,
    sweep_head_dims,
    sweep_outputs,
)


def ran(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(program, "snippet", "exec"), names)  # exactly what a student would run
    return names


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("left", [None, 2, 10])
@pytest.mark.parametrize("tolerance", [None, 1e-3])
def test_random_heads(left: int | None, tolerance: float | None, capsys: pytest.CaptureFixture[str]) -> None:
    heads = random_heads(3, 11, 5, generator=seeded(7))
    check(
        rank_snippets.random_ranks(
            seed=7, num_heads=3, seq_len=11, head_dim=5, head=1, k=4, temperature=0.5, left=left, tolerance=tolerance,
            share=0.8,
        ),
        heads, 1, left, tolerance,
    )  # fmt: skip
    assert "rank 4 rebuilds" in capsys.readouterr().out


def test_the_head_of_a_real_layer() -> None:
    heads = random_heads(3, 11, 5, generator=seeded(7))
    only = Heads(heads.q[2:], heads.k[2:], heads.v[2:])
    check(rank_snippets.given_ranks(heads, head=2, k=4, temperature=0.5, left=2, share=0.8), only, 0, 2, None)


def check(program: str, heads: Heads, head: int, left: int | None, tolerance: float | None) -> None:
    names = ran(program)
    mask = None if left is None else sliding_window_mask(11, left=left)
    trace = attend(heads, temperature=0.5, attend_mask=mask)
    one = head_spectra(trace, head)
    every = layer_spectra(trace, one)
    square = default_tolerance(11, 11) if tolerance is None else tolerance
    wide = default_tolerance(11, heads.q.shape[0] * 5) if tolerance is None else tolerance
    assert names["of_logits"] == pytest.approx(asdict(ranks_of(one.logits[None], tolerance=square, share=0.8)[0]))
    for found, expected in zip(names["of_weights"], ranks_of(every.weights, tolerance=square, share=0.8), strict=True):
        assert found == pytest.approx(asdict(expected))
    assert names["of_joined"] == pytest.approx(asdict(ranks_of(every.joined[None], tolerance=wide, share=0.8)[0]))
    torch.testing.assert_close(names["rebuilt"], reconstruct(one.weights, 4), atol=1e-12, rtol=0)
    assert names["error"] == pytest.approx(float(reconstruction_errors(one.weights.values)[4]), abs=1e-12)


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("mlp", [True, False])
def test_depth(skip: bool, mlp: bool, capsys: pytest.CaptureFixture[str]) -> None:
    names = ran(
        rank_snippets.depth(seed=3, seq_len=11, d_model=6, num_heads=2, num_layers=3, scale=1.5, skip=skip, mlp=mlp)
    )
    generator = seeded(3)
    x = random_tokens(11, 6, generator=generator)
    stack = random_stack(3, 6, 2, generator=generator)
    expected = residuals(x, stack, scale=1.5, skip=skip, mlp=mlp)
    assert names["residuals"] == pytest.approx(expected, rel=1e-9, abs=1e-14)
    assert "after layer 3" in capsys.readouterr().out


@pytest.mark.parametrize("left", [None, 2])
@pytest.mark.parametrize("tolerance", [None, 1e-3])
def test_a_sweep_of_random_heads(left: int | None, tolerance: float | None) -> None:
    heads, head_dims = random_heads(3, 11, 5, generator=seeded(7)), (1, 2, 5)
    program = rank_snippets.random_sweep(
        seed=7, num_heads=3, seq_len=11, head_dims=head_dims, head=1, temperature=0.5, left=left, tolerance=tolerance,
        share=0.8,
    )  # fmt: skip
    check_sweep(ran(program), heads, 1, head_dims, left, tolerance)


def test_a_sweep_of_the_head_of_a_real_layer() -> None:
    heads = random_heads(3, 11, 5, generator=seeded(7))
    only = Heads(heads.q[2:], heads.k[2:], heads.v[2:])
    program = rank_snippets.given_sweep(heads, head_dims=(1, 5), head=2, temperature=0.5, left=2, share=0.8)
    check_sweep(ran(program), only, 0, (1, 5), 2, None)


def check_sweep(
    names: dict[str, Any],
    heads: Heads,
    head: int,
    head_dims: tuple[int, ...],
    left: int | None,
    tolerance: float | None,
) -> None:
    mask = None if left is None else sliding_window_mask(11, left=left)
    swept = sweep_head_dims(heads, head, head_dims, temperature=0.5, attend_mask=mask)
    joined = sweep_outputs(heads, head_dims, temperature=0.5, attend_mask=mask)
    for number, head_dim in enumerate(head_dims):
        shapes = {"logits": (11, 11), "weights": (11, 11), "joined": (11, heads.q.shape[0] * head_dim)}
        values = {"logits": swept.logits[number], "weights": swept.weights[number], "joined": joined[number]}
        for name, shape in shapes.items():
            limit = default_tolerance(*shape) if tolerance is None else tolerance
            (expected,) = ranks_of(values[name][None], tolerance=limit, share=0.8)
            assert names[f"of_{name}"][number] == pytest.approx(asdict(expected))

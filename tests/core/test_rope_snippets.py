"""What the RoPE page offers to take along runs, and gives the numbers that the page shows."""

from typing import Any

import pytest
import torch

from core import rope_snippets
from core.claims.rope import compare_pairings, interpolate
from core.positions.extension import extend
from core.positions.precision import angle_errors
from core.positions.rope import inverse_frequencies
from core.positions.scalings import Method


def executed(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(program, "snippet", "exec"), names)  # exactly what a student would run
    return names


@pytest.mark.parametrize(("position", "base"), [(0, 10000.0), (7, 500.0)])
def test_two_pairings(position: int, base: float, capsys: pytest.CaptureFixture[str]) -> None:
    q = torch.randn(14, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    names = executed(rope_snippets.pairings(q=q, position=position, base=base))
    compared = compare_pairings(q[None], torch.tensor([position]), base=base)
    torch.testing.assert_close(names["half_split"](q), compared.half_split[0], atol=1e-14, rtol=0)
    torch.testing.assert_close(names["interleaved"](q), compared.interleaved[0], atol=1e-14, rtol=0)
    torch.testing.assert_close(names["as_complex"](q), compared.complex_form[0], atol=1e-14, rtol=0)
    torch.testing.assert_close(names["put_back"], compared.permuted[0], atol=1e-14, rtol=0)
    assert names["order"].tolist() == list(compared.order)
    assert "put back in order" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("head_dim", "base", "trained", "target"),
    [(128, 10000.0, 2048, 4096), (22, 500.0, 700, 5100), (256, 1e6, 16384, 131072), (64, 10000.0, 1024, 1024)],
)
def test_longer_texts(
    head_dim: int, base: float, trained: int, target: int, capsys: pytest.CaptureFixture[str]
) -> None:
    names = executed(rope_snippets.extension(head_dim=head_dim, base=base, trained_len=trained, target_len=target))
    rows = extend(head_dim, trained_len=trained, target_len=target, base=base)
    for row in rows:
        torch.testing.assert_close(names["per_token"][row.method], row.scaled.per_token, atol=0, rtol=1e-12)
        torch.testing.assert_close(names["last_angles"][row.method], row.last_angles, atol=0, rtol=1e-12)
        assert names["unseen"][row.method] == row.unseen_count
    by_method = {row.method: row.scaled for row in rows}
    assert names["ntk_base"] == pytest.approx(by_method[Method.NTK].base)
    assert names["attention_factor"] == pytest.approx(by_method[Method.YARN].attention_factor)
    first = interpolate(8, trained_len=trained, target_len=target)
    torch.testing.assert_close(names["fractional"], first.fractional, atol=1e-14, rtol=0)
    assert names["truncated"].tolist() == first.truncated.tolist()
    for dtype in (torch.float32, torch.bfloat16):
        expected = angle_errors(names["positions"], inverse_frequencies(head_dim, base=base), dtype).by_position
        torch.testing.assert_close(names["errors"][dtype], expected, atol=0, rtol=1e-12)
    assert "position 1,000,000" in capsys.readouterr().out

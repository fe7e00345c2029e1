"""Rotary positions: against transformers' own code, against float64, and what follows from their being rotations."""

import importlib
import math

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from core.positions.families import FAMILIES
from core.positions.pairing import Pairing
from core.positions.precision import angle_errors
from core.positions.rope import angles, inverse_frequencies, rotate, rotate_complex, rotation_tables, to_pairing

BATCH, HEADS, SEQ, WIDTH = 2, 3, 7, 5
HEAD_DIM = 2 * WIDTH
PAIRINGS = [Pairing.HALF_SPLIT, Pairing.INTERLEAVED]


def random(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=dtype)


# ------------------------------------------------------------------------------------------------------- transformers


@pytest.mark.parametrize("base", [10000.0, 500000.0])
def test_frequencies_are_those_of_transformers(base: float) -> None:
    config = LlamaConfig(head_dim=64, rope_parameters={"rope_type": "default", "rope_theta": base})
    expected, _ = LlamaRotaryEmbedding.compute_default_rope_parameters(config)
    torch.testing.assert_close(inverse_frequencies(64, base=base).float(), expected, atol=0, rtol=1e-6)


def llama_tables(positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Cosines and sines, (1, seq, head_dim), and the float32 frequencies they were made with."""
    embedding = LlamaRotaryEmbedding(LlamaConfig(head_dim=64))
    cos, sin = embedding(torch.zeros(1), positions[None])
    return cos, sin, embedding.inv_freq


def test_rotation_is_that_of_transformers_up_to_position_8192() -> None:
    positions = torch.cat((torch.arange(40), torch.arange(8153, 8193)))
    q, k = random(2, 1, HEADS, 80, 64, dtype=torch.float32)
    tables = rotation_tables(positions, inverse_frequencies(64).float())
    cos, sin = (torch.cat((half, half), dim=-1)[None] for half in (tables.cos, tables.sin))  # as transformers lays them
    for x, expected in zip((q, k), apply_rotary_pos_emb(q, k, cos, sin), strict=True):
        torch.testing.assert_close(rotate(x, tables.cos, tables.sin, pairing="half_split"), expected, atol=1e-5, rtol=0)


def test_tables_are_those_of_transformers_once_the_angles_are_float32() -> None:
    """Its angles are float32, and so a little off far out: all that differs from ours is that rounding."""
    positions = torch.arange(8193)
    cos, sin, inv_freq = llama_tables(positions)
    rounded = angles(positions, inv_freq, dtype=torch.float32)
    torch.testing.assert_close(torch.cat((rounded, rounded), -1)[None].cos(), cos, atol=1e-6, rtol=0)
    torch.testing.assert_close(torch.cat((rounded, rounded), -1)[None].sin(), sin, atol=1e-6, rtol=0)
    exact = np.outer(np.arange(8193), 10000.0 ** (-np.arange(0, 64, 2) / 64))
    theirs = np.abs(cos[0, :, :32].numpy() - np.cos(exact)).max()
    ours = np.abs(rotation_tables(positions, inverse_frequencies(64)).cos.numpy() - np.cos(exact)).max()
    assert 1e-5 < theirs < 2e-3
    assert ours < 1e-11


def interleaved(angle: Tensor) -> Tensor:
    return angle.repeat_interleave(2, dim=-1)


def halves(angle: Tensor) -> Tensor:
    return torch.cat((angle, angle), dim=-1)


def family_rotation(family: str, x: Tensor, angle: Tensor) -> Tensor:
    """x (batch, heads, seq, head_dim), turned by a family's own code."""
    module = importlib.import_module(f"transformers.models.{family}.modeling_{family}")
    if family == "gptj":
        turned: Tensor = module.apply_rotary_pos_emb(x.transpose(1, 2), angle.sin()[None], angle.cos()[None])
        return turned.transpose(1, 2)
    if family == "roformer":
        waves = torch.cat((angle.sin(), angle.cos()), dim=-1)[None, None]
        rotation = module.RoFormerSelfAttention.apply_rotary_position_embeddings
        return rotation(waves, x, x)[0]  # type: ignore[no-any-return]
    if family in ("deepseek_v2", "llama4"):
        factors = torch.polar(torch.ones_like(angle), angle)[None]
        if family == "llama4":
            return module.apply_rotary_emb(x.transpose(1, 2), x.transpose(1, 2), factors)[0].transpose(1, 2)  # type: ignore[no-any-return]
        return module.apply_rotary_emb(x, x, factors)[0]  # type: ignore[no-any-return]
    lay = interleaved if family == "cohere" else halves  # what their embedding makes of the angles
    cos, sin = lay(angle).cos()[None], lay(angle).sin()[None]
    return module.apply_rotary_pos_emb(x, x, cos, sin)[0]  # type: ignore[no-any-return]


@pytest.mark.parametrize("family", FAMILIES)
def test_families_turn_the_pairs_that_are_said_of_them(family: str) -> None:
    x = random(BATCH, HEADS, SEQ, HEAD_DIM, dtype=torch.float32)
    angle = angles(torch.arange(SEQ), inverse_frequencies(HEAD_DIM)).float()  # (seq, width)
    expected = family_rotation(family, x, angle)
    for pairing in PAIRINGS:
        difference = (rotate(x, angle.cos(), angle.sin(), pairing=pairing) - expected).abs().max()
        assert (difference < 1e-5) == (pairing is FAMILIES[family])


# ------------------------------------------------------------------------------------------------------------ exactness


def test_tables_are_right_to_position_one_million() -> None:
    positions = torch.tensor([0, 1, 4097, 65_537, 999_983, 1_000_000])
    tables = rotation_tables(positions, inverse_frequencies(128))
    exact = np.outer(positions.numpy().astype(np.longdouble), np.longdouble(10000) ** (-np.arange(0, 128, 2) / 128.0))
    np.testing.assert_allclose(tables.cos.numpy(), np.cos(exact).astype(float), atol=1e-9)
    np.testing.assert_allclose(tables.sin.numpy(), np.sin(exact).astype(float), atol=1e-9)


def test_tables_in_float32_keep_that() -> None:
    frequencies = inverse_frequencies(128).float()
    tables = rotation_tables(torch.tensor([1_000_000]), frequencies)
    assert tables.cos.dtype == torch.float32
    torch.testing.assert_close(tables.cos[0].double(), (1e6 * frequencies.double()).cos(), atol=1e-6, rtol=0)


def test_positions_stay_fractional() -> None:
    tables = rotation_tables(torch.tensor([[0.25], [1.5]]), torch.tensor([1.0, 0.1], dtype=torch.float64))
    assert tables.cos.shape == (2, 1, 2)
    assert tables.sin[1, 0].tolist() == pytest.approx([math.sin(1.5), math.sin(0.15)], abs=1e-7)


def test_errors_of_angles_by_hand() -> None:
    found = angle_errors(torch.tensor([0, 1, 257]), torch.tensor([1.0], dtype=torch.float64), torch.bfloat16)
    assert found.angle[:, 0].tolist() == [0, 0, 1]  # bfloat16 has no 257: it becomes 256
    rounded = torch.tensor(256.0, dtype=torch.bfloat16).cos().double()
    assert float(found.cos[2, 0]) == abs(float(rounded) - math.cos(257))
    assert torch.equal(found.by_position, torch.maximum(found.cos, found.sin)[:, 0])


def test_errors_of_angles_grow_with_the_position_and_with_the_coarseness() -> None:
    positions, frequencies = torch.tensor([10, 1000, 100_000]), inverse_frequencies(64)
    single, half = (
        angle_errors(positions, frequencies, dtype).by_position for dtype in (torch.float32, torch.bfloat16)
    )
    assert single[0] < single[1] < single[2]
    assert (single < half).all()
    assert angle_errors(positions, frequencies, torch.float64).by_position.max() == 0
    assert angle_errors(torch.tensor([70_000]), frequencies, torch.float16).cos.isnan().any()


# ----------------------------------------------------------------------------------------------------------- properties


def test_a_pair_by_hand() -> None:
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
    cos, sin = torch.zeros(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)  # a quarter turn
    assert rotate(x, cos, sin, pairing="half_split").tolist() == [-3, -4, 1, 2]
    assert rotate(x, cos, sin, pairing="interleaved").tolist() == [-2, 1, -4, 3]
    assert rotate_complex(x, cos, sin).tolist() == [-2, 1, -4, 3]


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_norms_are_kept_and_scores_see_the_distance_alone(pairing: Pairing) -> None:
    q, k = random(2, HEAD_DIM)
    frequencies = inverse_frequencies(HEAD_DIM)

    def turn(x: Tensor, position: float) -> Tensor:
        tables = rotation_tables(torch.tensor(position, dtype=torch.float64), frequencies)
        return rotate(x, tables.cos, tables.sin, pairing=pairing)

    torch.testing.assert_close(turn(q, 11).norm(), q.norm(), atol=1e-14, rtol=0)
    torch.testing.assert_close(turn(q, 11) @ turn(k, 4), turn(q, 107) @ turn(k, 100), atol=1e-12, rtol=0)
    assert abs(turn(q, 11) @ turn(k, 4) - turn(q, 12) @ turn(k, 4)) > 1e-3


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_dimensions_beyond_the_tables_pass_unturned(pairing: Pairing) -> None:
    x = random(BATCH, HEADS, SEQ, HEAD_DIM + 3)
    tables = rotation_tables(torch.arange(SEQ), inverse_frequencies(HEAD_DIM))
    whole = rotate(x, tables.cos, tables.sin, pairing=pairing)
    assert torch.equal(whole[..., HEAD_DIM:], x[..., HEAD_DIM:])
    assert torch.equal(whole[..., :HEAD_DIM], rotate(x[..., :HEAD_DIM], tables.cos, tables.sin, pairing=pairing))


def test_positions_of_each_sentence_want_an_axis_for_the_heads() -> None:
    x = random(BATCH, HEADS, SEQ, HEAD_DIM)
    positions = torch.stack((torch.arange(SEQ), torch.arange(SEQ) + 4))  # (batch, seq)
    tables = rotation_tables(positions, inverse_frequencies(HEAD_DIM))
    turned = rotate(x, tables.cos[:, None], tables.sin[:, None], pairing="half_split")
    alone = rotate(x[1, 2], tables.cos[1], tables.sin[1], pairing="half_split")
    assert torch.equal(turned[1, 2], alone)
    with pytest.raises(ValueError, match=r"cos \(shape \(2, 7, 5\)\) must broadcast against"):
        rotate(x, tables.cos, tables.sin, pairing="half_split")


def test_one_vector_at_many_positions() -> None:
    tables = rotation_tables(torch.arange(SEQ), inverse_frequencies(HEAD_DIM))
    assert rotate(random(HEAD_DIM + 1), tables.cos, tables.sin, pairing="interleaved").shape == (SEQ, HEAD_DIM + 1)


def test_the_type_of_x_stays() -> None:
    tables = rotation_tables(torch.arange(SEQ), inverse_frequencies(HEAD_DIM))
    x = random(SEQ, HEAD_DIM + 1).bfloat16()
    turned = rotate(x, tables.cos, tables.sin, pairing="half_split")
    assert turned.dtype == torch.bfloat16
    exact = rotate(x.double(), tables.cos, tables.sin, pairing="half_split")
    assert torch.equal(turned, exact.bfloat16())
    assert rotate_complex(x.float(), tables.cos, tables.sin).dtype == torch.float32


def test_gradients_flow_through() -> None:
    x = random(SEQ, HEAD_DIM).requires_grad_()
    tables = rotation_tables(torch.arange(SEQ), inverse_frequencies(HEAD_DIM))
    assert torch.autograd.gradcheck(lambda y: rotate(y, tables.cos, tables.sin, pairing="interleaved"), x)


# -------------------------------------------------------------------------------------------------------------- pairing


def test_reordering_by_hand() -> None:
    x = torch.arange(7)
    assert to_pairing(x, source="half_split", target="interleaved", width=3).tolist() == [0, 3, 1, 4, 2, 5, 6]
    assert to_pairing(x, source="interleaved", target="half_split", width=3).tolist() == [0, 2, 4, 1, 3, 5, 6]
    assert to_pairing(x, source="half_split", target="half_split", width=3).tolist() == list(range(7))


@pytest.mark.parametrize(("source", "target"), [PAIRINGS, PAIRINGS[::-1]])
def test_reordered_vectors_turn_alike(source: Pairing, target: Pairing) -> None:
    x = random(SEQ, HEAD_DIM)
    tables = rotation_tables(torch.arange(SEQ), inverse_frequencies(HEAD_DIM))
    reordered = to_pairing(x, source=source, target=target)
    turned = rotate(reordered, tables.cos, tables.sin, pairing=target)
    back = to_pairing(turned, source=target, target=source)
    assert torch.equal(back, rotate(x, tables.cos, tables.sin, pairing=source))
    assert not torch.allclose(rotate(x, tables.cos, tables.sin, pairing=target), back)
    assert torch.equal(to_pairing(reordered, source=target, target=source), x)


def test_complex_numbers_turn_interleaved_pairs() -> None:
    x = random(BATCH, HEADS, SEQ, HEAD_DIM + 1)
    tables = rotation_tables(torch.arange(SEQ), inverse_frequencies(HEAD_DIM))
    expected = rotate(x, tables.cos, tables.sin, pairing="interleaved")
    torch.testing.assert_close(rotate_complex(x, tables.cos, tables.sin), expected, atol=1e-14, rtol=0)


# --------------------------------------------------------------------------------------------------------------- errors

ONE = torch.ones(SEQ, WIDTH)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: inverse_frequencies(7), r"head_dim \(7\) must be even and at least 2"),
        (lambda: inverse_frequencies(0), r"head_dim \(0\) must be even and at least 2"),
        (lambda: inverse_frequencies(8, base=1.0), r"base \(1.0\) must be greater than 1"),
        (lambda: rotation_tables(torch.tensor([True]), ONE[0]), r"positions \(torch.bool\) must be real numbers"),
        (lambda: rotation_tables(torch.tensor([1j]), ONE[0]), r"positions \(torch.complex64\) must be real numbers"),
        (lambda: rotation_tables(torch.arange(2), ONE), r"frequencies \(torch.float32, shape \(7, 5\)\) must be"),
        (lambda: rotation_tables(torch.arange(2), torch.arange(2)), r"frequencies \(torch.int64, shape"),
        (lambda: rotate(ONE, ONE, ONE, pairing="half_split"), r"cos \(shape \(7, 5\)\) must be at most half as wide"),
        (lambda: rotate(torch.ones(11, 10), ONE, ONE, pairing="half_split"), r"cos .* must broadcast against"),
        (lambda: rotate(torch.ones(7, 10), ONE, ONE[:3], pairing="half_split"), r"sin \(shape \(3, 5\)\) must have"),
        (lambda: rotate(torch.ones(7, 10), ONE, ONE, pairing="halves"), r"pairing \('halves'\) must be one of half_"),
        (lambda: rotate(torch.arange(10), ONE, ONE, pairing="half_split"), r"x \(torch.int64\) must be floating"),
        (lambda: rotate_complex(ONE, ONE, ONE), r"must be at most half as wide"),
        (lambda: to_pairing(ONE, source="half_split", target="interleaved"), r"head_dim \(5\) must be even"),
        (lambda: to_pairing(ONE, source="half_split", target="x"), r"target \('x'\) must be one of"),
        (lambda: to_pairing(ONE, source="x", target="interleaved"), r"source \('x'\) must be one of"),
        (lambda: to_pairing(ONE, source="half_split", target="interleaved", width=3), r"width \(3\) must be"),
        (lambda: to_pairing(ONE, source="half_split", target="interleaved", width=-1), r"width \(-1\) must be"),
        (
            lambda: angle_errors(torch.arange(2), ONE[0], torch.float32),
            r"frequencies \(torch.float32\) must be float64",
        ),
        (
            lambda: angle_errors(torch.arange(2), ONE[0].double(), torch.int64),
            r"dtype \(torch.int64\) must be floating",
        ),
    ],
)
def test_what_is_refused(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        call()

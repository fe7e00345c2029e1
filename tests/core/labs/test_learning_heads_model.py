"""The layer: against torch's own attention, and what its number of heads does not change."""

import pytest
import torch

from core.labs.learning_heads_model import Model, new_model, run
from core.labs.learning_heads_task import NAMES, TAGS, draw_batch, table_rows


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def made(num_heads: int = 2, *, mlp: bool = False, look_ups: int = 3) -> Model:
    return new_model(12, num_heads, look_ups, mlp=mlp, generator=seeded())


@pytest.mark.parametrize("num_heads", [1, 2, 3])
@pytest.mark.parametrize("mlp", [False, True])
def test_it_is_torchs_attention(num_heads: int, mlp: bool) -> None:
    model = made(num_heads, mlp=mlp).double()
    batch = draw_batch(5, 3, generator=seeded(1))
    answered = run(model, batch.parts)
    x = model.table[batch.parts].sum(dim=2)
    expected, weights = torch.nn.functional.multi_head_attention_forward(
        x.transpose(0, 1), x.transpose(0, 1), x.transpose(0, 1), 12, num_heads,
        torch.cat([model.q, model.k, model.v], dim=1).T, torch.zeros(36, dtype=torch.float64), None, None, False, 0.0,
        model.o.T, torch.zeros(12, dtype=torch.float64), average_attn_weights=False,
    )  # fmt: skip
    torch.testing.assert_close(answered.trace.weights, weights)
    result = expected.transpose(0, 1)
    if model.mlp is not None:
        result = result + (result @ model.mlp.up + model.mlp.bias).relu() @ model.mlp.down
    assert answered.logits.shape == (5, NAMES, 3, TAGS)
    torch.testing.assert_close(answered.logits.flatten(2), result @ model.answer)


@pytest.mark.parametrize("mlp", [False, True])
def test_layers_of_any_number_of_heads_have_the_same_parameters(mlp: bool) -> None:
    one, several = made(1, mlp=mlp), made(4, mlp=mlp)
    for first, second in zip(one.parameters, several.parameters, strict=True):
        torch.testing.assert_close(first, second, atol=0, rtol=0)
        assert first.requires_grad
    assert one.size == several.size


def test_an_mlp_changes_no_other_parameter() -> None:
    plain, more = made().parameters, made(mlp=True).parameters
    for first, second in zip(plain, more, strict=False):
        torch.testing.assert_close(first, second, atol=0, rtol=0)
    assert len(more) == len(plain) + 3


def test_the_size_by_hand() -> None:
    shared = table_rows(3) * 12 + 4 * 12 * 12 + 12 * 3 * TAGS
    assert made().size == shared
    assert made(mlp=True).size == shared + 12 * 48 + 48 + 48 * 12


def test_the_order_of_the_tokens_does_not_matter() -> None:
    model, batch = made(mlp=True).double(), draw_batch(5, 3, generator=seeded(1))
    order = torch.randperm(NAMES, generator=seeded(2))
    torch.testing.assert_close(run(model, batch.parts[:, order]).logits, run(model, batch.parts).logits[:, order])


def test_a_double_is_the_same_and_not_trained() -> None:
    model = made(mlp=True)
    for first, second in zip(model.parameters, model.double().parameters, strict=True):
        assert second.dtype == torch.float64
        assert not second.requires_grad
        torch.testing.assert_close(first.detach().double(), second, atol=0, rtol=0)


@pytest.mark.parametrize(
    ("d_model", "num_heads", "said"),
    [
        (0, 1, r"d_model \(0\) must be at least 1"),
        (8, 0, r"num_heads \(0\) must be at least 1"),
        (8, 3, r"d_model \(8\) must be divisible by num_heads \(3\)"),
    ],
)
def test_what_is_impossible(d_model: int, num_heads: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        new_model(d_model, num_heads, 1, mlp=False, generator=seeded())

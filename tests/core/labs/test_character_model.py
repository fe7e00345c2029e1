"""The character model: a plain reference, what no mask lets through, and what two configurations have in common."""

import math

import pytest
import torch
from torch import Tensor, nn

from core.labs.character_model import (
    STD,
    CharacterModel,
    ModelConfig,
    Positions,
    new_model,
    next_character_loss,
)
from core.masks import causal_mask
from core.positions.scalings import Linear, Unscaled

SIZES = {"vocab_size": 13, "num_layers": 2, "d_model": 12, "num_heads": 3, "max_len": 11}


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def made(positions: Positions, *, std: float | None = None) -> CharacterModel:
    """A model in float64; with large weights its attention is far from even."""
    model = new_model(ModelConfig(**SIZES, positions=positions), generator=seeded()).double()
    if std is not None:
        with torch.no_grad():
            for weight in model.parameters():
                weight.normal_(std=std, generator=seeded(1))
    return model


def characters(batch: int = 5, seq_len: int = 7) -> Tensor:
    return torch.randint(SIZES["vocab_size"], (batch, seq_len), generator=seeded(2))


def plainly(model: CharacterModel, text: Tensor, mask: Tensor) -> Tensor:
    """The same network, written with nothing but torch."""
    config, seq_len = model.config, text.shape[1]
    x = model.embedding.weight[text]
    places = torch.arange(seq_len, dtype=torch.float64)[:, None]
    if config.positions is Positions.SINUSOIDAL:
        angles = places / 10000 ** (torch.arange(0, config.d_model, 2, dtype=torch.float64) / config.d_model)
        x = x + math.sqrt(2) * STD * torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    if config.positions is Positions.LEARNT:
        x = x + model.positions.weight[:seq_len]
    for layer in model.layers:
        normed = nn.functional.layer_norm(x, (config.d_model,), *layer.attention.norm.parameters())
        block = layer.attention.block
        q, k, v = (
            part(normed).unflatten(-1, (config.num_heads, -1)).transpose(1, 2) for part in (block.q, block.k, block.v)
        )
        if config.positions is Positions.ROPE:
            angles = places / 10000 ** (torch.arange(0, config.head_dim, 2, dtype=torch.float64) / config.head_dim)
            cos, sin = angles.cos().float().double(), angles.sin().float().double()
            q, k = (
                torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
                for a, b in (part.chunk(2, dim=-1) for part in (q, k))
            )
        looked = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + block.o(looked.transpose(1, 2).flatten(2))
        normed = nn.functional.layer_norm(x, (config.d_model,), *layer.feed_forward.norm.parameters())
        block = layer.feed_forward.block
        x = x + block.down(torch.relu(block.up(normed)))
    normed = nn.functional.layer_norm(x, (config.d_model,), *model.norm.parameters())
    return normed @ model.output.weight.T


@pytest.mark.parametrize("positions", Positions)
@pytest.mark.parametrize("leak", [0, 2, 7])
def test_it_is_the_plain_network(positions: Positions, leak: int) -> None:
    model, text, mask = made(positions, std=0.5), characters(), causal_mask(7, 7, offset=leak)
    torch.testing.assert_close(model(text, mask), plainly(model, text, mask), atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("positions", Positions)
@pytest.mark.parametrize("leak", [0, 1])
def test_no_layer_sees_beyond_the_mask(positions: Positions, leak: int) -> None:
    model, text, mask = made(positions, std=0.5), characters(), causal_mask(7, 7, offset=leak)
    other = text.clone()
    other[:, 6] = (other[:, 6] + 1) % SIZES["vocab_size"]
    moved = (model(text, mask) - model(other, mask)).abs().amax(dim=(0, 2))  # (seq_len,)
    reached = 6 - SIZES["num_layers"] * leak  # every layer carries what it sees so many places on
    assert (moved[:reached] == 0).all()
    assert (moved[reached:] > 0).all()


def test_without_positions_and_without_a_mask_order_is_not_seen() -> None:
    text, mask = characters(), causal_mask(7, 7, offset=7)
    order = torch.tensor([3, 1, 6, 0, 2, 5, 4])
    for positions in Positions:
        model = made(positions, std=0.5)
        same = torch.allclose(model(text, mask)[:, order], model(text[:, order], mask), atol=1e-9)
        assert same is (positions is Positions.NONE)


def test_rope_with_no_scaling_is_rope() -> None:
    model, text, mask = made(Positions.ROPE, std=0.5), characters(), causal_mask(7)
    usual = model(text, mask)
    unscaled = Unscaled().apply(model.config.head_dim, base=model.config.rope_base)
    assert torch.equal(model(text, mask, scaled=unscaled), usual)
    stretched = Linear(4.0).apply(model.config.head_dim, base=model.config.rope_base)
    assert not torch.allclose(model(text, mask, scaled=stretched), usual, atol=1e-6)


def test_the_trace_holds_the_weights_of_every_head() -> None:
    attention = made(Positions.ROPE, std=0.5).layers[0].attention.block
    x = torch.randn(5, 7, 12, generator=seeded(), dtype=torch.float64)
    trace = attention.trace(x, causal_mask(7), None)
    assert trace.weights.shape == (5, 3, 7, 7)
    assert (trace.weights.triu(1) == 0).all()
    torch.testing.assert_close(attention(x, causal_mask(7), None), attention.o(trace.output.transpose(1, 2).flatten(2)))


def test_what_configurations_share_begins_alike() -> None:
    models = {
        positions: new_model(ModelConfig(**SIZES, positions=positions), generator=seeded()) for positions in Positions
    }
    common = models[Positions.NONE].state_dict()
    for model in models.values():
        state = model.state_dict()
        assert all(torch.equal(state[name], value) for name, value in common.items())
    assert set(models[Positions.LEARNT].state_dict()) - set(common) == {"positions.weight"}


def test_it_begins_with_small_weights_and_no_biases() -> None:
    model = new_model(ModelConfig(31, d_model=64), generator=seeded())
    state = model.state_dict()
    assert all((value == 0).all() for name, value in state.items() if name.endswith("bias"))
    assert float(state["layers.0.feed_forward.block.up.weight"].std()) == pytest.approx(STD, rel=0.05)
    text = torch.zeros(2, 9, dtype=torch.int64)
    loss = next_character_loss(model(text, causal_mask(9)), text)
    assert loss.mean().item() == pytest.approx(math.log(31), abs=0.1)  # it knows nothing yet


def test_the_loss_of_every_prediction() -> None:
    logits = torch.tensor([[[0.0, 0.0], [math.log(3.0), 0.0]]])
    losses = next_character_loss(logits, torch.tensor([[0, 1]]))
    assert losses.tolist() == [[pytest.approx(math.log(2)), pytest.approx(math.log(4))]]


def test_learnt_positions_end() -> None:
    model = made(Positions.LEARNT)
    model(characters(seq_len=11), causal_mask(11))
    with pytest.raises(ValueError, match=r"seq_len \(12\) must be at most max_len \(11\)"):
        model(characters(seq_len=12), causal_mask(12))


@pytest.mark.parametrize("positions", [Positions.NONE, Positions.SINUSOIDAL, Positions.LEARNT])
def test_only_rope_can_be_scaled(positions: Positions) -> None:
    with pytest.raises(ValueError, match="scaled must be None with positions"):
        made(positions)(characters(), causal_mask(7), scaled=Unscaled().apply(4))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"vocab_size": 0}, "vocab_size"),
        ({"num_layers": 0}, "num_layers"),
        ({"d_model": 0}, "d_model"),
        ({"num_heads": 0}, "num_heads"),
        ({"max_len": 0}, "max_len"),
        ({"num_heads": 5}, r"d_model \(12\) must be divisible by num_heads \(5\)"),
        ({"d_model": 9, "positions": Positions.SINUSOIDAL}, r"d_model \(9\) must be even"),
        ({"d_model": 9, "positions": Positions.ROPE}, r"head_dim \(3\) must be even"),
    ],
)
def test_sizes_that_do_not_fit(changed: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ModelConfig(**{**SIZES, **changed})

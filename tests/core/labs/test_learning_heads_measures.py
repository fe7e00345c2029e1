"""What is measured: by hand where that is possible, and against core.rank and torch."""

import math

import pytest
import torch

from core.labs.learning_heads_measures import (
    MATRICES,
    RANKED,
    RANKS,
    History,
    Measured,
    attention_percent,
    loss_of,
    mean_ranks,
    measure,
)
from core.labs.learning_heads_model import Model, new_model, run
from core.labs.learning_heads_task import NAMES, TAGS, Batch, draw_batch
from core.rank import default_tolerance, ranks_of, singular_values


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def made(num_heads: int = 2, look_ups: int = 2) -> tuple[Model, Batch]:
    model = new_model(16, num_heads, look_ups, mlp=False, generator=seeded())
    return model, draw_batch(20, look_ups, generator=seeded(1))


def by_hand() -> Model:
    """One head that finds the first wish with a weight near 1, and hands its tag on; all is one-hot."""
    size = 2 * NAMES + TAGS
    name, tag, wish = (torch.zeros(size, size) for _ in range(3))
    name[:NAMES, :NAMES] = torch.eye(NAMES)
    wish[-NAMES:, :NAMES] = 1000 * torch.eye(NAMES)  # far above √d_model
    tag[NAMES : NAMES + TAGS, NAMES : NAMES + TAGS] = torch.eye(TAGS)
    answer = torch.zeros(size, TAGS)
    answer[NAMES : NAMES + TAGS] = torch.eye(TAGS)
    return Model(1, 1, torch.eye(size), wish, name, tag, torch.eye(size), answer, None)


def test_a_head_made_by_hand_answers_everything() -> None:
    found = measure(by_hand(), draw_batch(20, 1, generator=seeded()))
    assert found.accuracy == 1
    assert found.by_look_up == (1.0,)
    assert found.focus[0][0] == pytest.approx(1)
    assert found.loss == pytest.approx(math.log(1 + (TAGS - 1) / math.e))  # its logits are 1 and 0


def test_before_training_it_guesses() -> None:
    found = measure(*made())
    assert 0.5 / TAGS < found.accuracy < 2 / TAGS
    assert found.accuracy == pytest.approx(sum(found.by_look_up) / 2)
    assert len(found.focus) == len(found.focus[0]) == 2


@pytest.mark.parametrize("num_heads", [1, 2, 8])
def test_ranks_are_means_over_heads_and_sequences(num_heads: int) -> None:
    model, batch = made(num_heads)
    found = measure(model, batch)
    with torch.no_grad():
        trace = run(model.double(), batch.parts[:RANKED]).trace
    for matrix, tensor in zip(MATRICES, (trace.scores, trace.weights), strict=True):
        values = singular_values(tensor).flatten(0, 1)
        every = ranks_of(values, tolerance=default_tolerance(NAMES, NAMES))
        for name in RANKS:
            mean = sum(getattr(one, name) for one in every) / len(every)
            assert found.ranks[matrix][name] == pytest.approx(mean)
    assert found.ranks["logits"]["numerical"] == min(NAMES, 16 // num_heads)


def test_ranks_by_hand() -> None:
    found = mean_ranks(torch.stack([torch.eye(3), torch.diag(torch.tensor([2.0, 0, 0]))]).double())
    assert found == pytest.approx({"numerical": 2, "effective": 2, "stable": 2})
    with pytest.raises(ValueError, match="must be float64"):
        mean_ranks(torch.eye(3))


def test_the_loss_is_the_mean_of_all_answers() -> None:
    model, batch = made()
    answered = run(model, batch.parts)
    every = answered.logits.log_softmax(dim=-1).gather(-1, batch.answers[..., None])
    torch.testing.assert_close(loss_of(answered, batch), -every.mean())


def test_percent_of_attention() -> None:
    model, batch = made()
    percent = attention_percent(model, batch)
    assert len(percent) == 2
    assert all(abs(sum(row) - 100) <= NAMES / 2 for head in percent for row in head)
    weights = run(model, batch.parts).trace.weights[0].detach()
    assert percent[1][3][4] == round(100 * float(weights[1, 3, 4]))


def test_a_history_is_rounded_lists() -> None:
    history = History()
    ranks = {matrix: dict.fromkeys(RANKS, 1.23456) for matrix in MATRICES}
    for step in (0, 7):
        history.add(step, Measured(2.07944, 0.12345, (0.1,), ((0.1,),), ranks))
    plain = history.plain()
    assert plain["steps"] == [0, 7]
    assert plain["accuracy"] == [0.123, 0.123]
    assert plain["loss"] == [2.079, 2.079]
    assert plain["logits"] == plain["weights"] == {name: [1.23, 1.23] for name in RANKS}

"""What the page on recurrence offers to take along runs, and gives the numbers that the page shows."""

from typing import Any

import numpy as np
import pytest
import torch

from core import additive, recurrence_snippets
from core.additive import Form, align, printed_scores, scores
from core.long_range import gradient_study
from core.recurrence import Layer


def executed(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(program, "snippet", "exec"), names)  # exactly what a student would run
    return names


def test_gradients_are_those_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"length": 11, "dim": 5, "seeds": (0, 4), "recurrent_scale": 1.5, "gate_bias": 2.0}
    words = ("我", "爱", "it's", "我")
    sizes = executed(recurrence_snippets.layers(words=words, **settings))["sizes"]  # type: ignore[arg-type]
    for layer, expected in gradient_study(words, **settings).items():  # type: ignore[arg-type]
        torch.testing.assert_close(sizes[layer.value], expected, atol=0, rtol=0)
    assert Layer.ATTENTION.value in capsys.readouterr().out


@pytest.mark.parametrize("form", Form)
def test_alignment_in_torch_and_in_numpy(form: Form, capsys: pytest.CaptureFixture[str]) -> None:
    lesson = additive.lesson()
    words = [str(number) for number in range(12)]
    names = executed(
        recurrence_snippets.alignment(
            words=words, form=form, state=lesson.state, encoder_states=lesson.encoder_states, weights=lesson.weights
        )
    )
    expected = align(scores(form, lesson.state, lesson.encoder_states, lesson.weights), lesson.encoder_states)
    torch.testing.assert_close(names["scores"], expected.scores, atol=1e-12, rtol=0)
    torch.testing.assert_close(names["weights"], expected.weights, atol=1e-12, rtol=0)
    torch.testing.assert_close(names["context"], expected.context, atol=1e-12, rtol=0)
    printed = torch.softmax(printed_scores(lesson.encoder_states, lesson.weights.w_h, lesson.weights.v), dim=0)
    torch.testing.assert_close(names["printed_weights"], printed, atol=1e-12, rtol=0)
    np.testing.assert_allclose(names["numpy_weights"], expected.weights, atol=1e-12)
    np.testing.assert_allclose(names["numpy_context"], expected.context, atol=1e-12)
    assert "without s" in capsys.readouterr().out


def test_any_words_can_be_taken_along() -> None:
    for program in (
        recurrence_snippets.layers(
            words=('"""', "\\", "{x}"), length=24, dim=8, seeds=(0,), recurrent_scale=1.0, gate_bias=0.0
        ),
    ):
        compile(program, "snippet", "exec")

"""Costs counted by hand and on the tensors themselves, and times that can be stopped."""

import pytest
import torch

from core.additive import Form, random_weights
from core.alignment_cost import Cost, Size, cost, measure_forms

DIMS = {"decoder_dim": 5, "encoder_dim": 3, "attention_dim": 11}


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (Form.DOT, Cost(0, 7 * 3, 0, 0)),
        (Form.GENERAL, Cost(15, 15 + 21, 0, 0)),
        (Form.ADDITIVE, Cost(11 * 8 + 11, 55 + 77, 7 * 33, 77)),
        (Form.CONCAT, Cost(11 * 8 + 11, 7 * 88 + 77, 0, 77)),
    ],
)
def test_costs_by_hand(form: Form, expected: Cost) -> None:
    assert cost(form, seq_k=7, **DIMS) == expected


def test_parameters_are_those_of_the_weights() -> None:
    weights = random_weights(generator=torch.Generator(), **DIMS)
    additive = weights.w_s.numel() + weights.w_h.numel() + weights.v.numel()
    assert cost(Form.ADDITIVE, seq_k=2, **DIMS).parameters == additive
    assert cost(Form.CONCAT, seq_k=2, **DIMS).parameters == additive
    assert cost(Form.GENERAL, seq_k=2, **DIMS).parameters == weights.w_general.numel()


def test_every_form_is_timed() -> None:
    reports: list[tuple[int, int]] = []
    found = measure_forms(
        Size(seq_len=5, dim=3),
        generator=torch.Generator(),
        on_progress=lambda done, total: reports.append((done, total)),
        cancelled=lambda: False,
        repeats=2,
    )
    assert set(found) == set(Form)
    assert all(seconds > 0 for seconds in found.values())
    assert reports == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]


def test_timing_can_be_stopped() -> None:
    answers = iter([False, True])
    found = measure_forms(
        Size(5, 3), generator=torch.Generator(), on_progress=lambda *_: None, cancelled=lambda: next(answers)
    )
    assert list(found) == [Form.ADDITIVE]

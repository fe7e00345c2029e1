"""What the QKV page offers to take along runs, in both libraries, and gives the numbers of the screen."""

from typing import Any

import numpy as np
import pytest
import torch

from core.attention_snippets import Library, head_program, shelf_program
from core.projections import Head, Projection, Sharing, identity_head, random_head, run_head
from core.retrieval import look_up, read_shelf

both = pytest.mark.parametrize("library", list(Library))


def ran(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(program, "snippet", "exec"), names)  # exactly what a student would run
    assert names["weights"] is not None
    return names


@pytest.fixture(autouse=True)
def _single_precision_again():  # type: ignore[no-untyped-def]
    yield
    torch.set_default_dtype(torch.float32)  # the program in PyTorch sets it for itself


def equal(found: Any, expected: torch.Tensor) -> None:
    np.testing.assert_allclose(np.asarray(found), expected.numpy(), atol=1e-12)


@both
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("sharing", list(Sharing))
def test_a_head(library: Library, sharing: Sharing, scaled: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    head = random_head(7, 3, generator=generator, sharing=sharing)
    trace = run_head(torch.randn(5, 7, generator=generator, dtype=torch.float64), head, scaled=scaled)
    names = ran(head_program(library, trace, head))
    for name, expected in {"Q": trace.q, "scores": trace.scores, "weights": trace.weights}.items():
        equal(names[name], expected)
    equal(names["result"], trace.result)


@both
def test_a_head_with_biases_begins_with_its_queries(library: Library) -> None:
    plain = identity_head(4, 2)
    head = Head(Projection(plain.q.weight, torch.ones(2, dtype=torch.float64)), plain.k, plain.v, plain.o)
    trace = run_head(torch.eye(4, dtype=torch.float64), head)
    names = ran(head_program(library, trace, head))
    equal(names["output"], trace.output)
    assert "W_Q" not in names


@both
def test_a_large_head_begins_with_its_queries(library: Library) -> None:
    generator = torch.Generator().manual_seed(0)
    head = random_head(20, 10, generator=generator)
    trace = run_head(torch.randn(3, 20, generator=generator, dtype=torch.float64), head)
    names = ran(head_program(library, trace, head, most_numbers=500))
    equal(names["output"], trace.output)
    assert "X" not in names


@both
@pytest.mark.parametrize("softmax", [True, False])
def test_a_shelf(library: Library, softmax: bool, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [["a", 1, 0.5, 2], ["b", -1, 2, 0], ["c", 0, 0, 1]]
    shelf = read_shelf(rows, features=2, contents=1, most_rows=9, largest=9)
    query = torch.tensor([0.3, 1.7], dtype=torch.float64)
    answer = look_up(shelf, query, temperature=0.7, softmax=softmax)
    names = ran(shelf_program(library, shelf, query, temperature=0.7, softmax=softmax))
    similarities = look_up(shelf, query).similarities if not softmax else answer.similarities
    equal(names["scores"][0], similarities)
    if softmax:
        equal(names["weights"][0], answer.shares)
        equal(names["output"][0], answer.answer)
    assert len(capsys.readouterr().out.splitlines()) >= 2


@both
def test_each_library_stands_for_itself(library: Library) -> None:
    head = identity_head(2, 1)
    program = head_program(library, run_head(torch.eye(2, dtype=torch.float64), head), head)
    other = {"numpy": "torch", "torch": "numpy"}["torch" if library is Library.PYTORCH else "numpy"]
    assert f"import {other}" not in program

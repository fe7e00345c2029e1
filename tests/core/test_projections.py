"""One head from input to W_O, and every number of it explained."""

import math

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from core.projections import (
    MATRICES,
    Head,
    Projection,
    Rule,
    Sharing,
    explain,
    identity_head,
    random_head,
    run_head,
)

SEQ_LEN, D_MODEL, HEAD_DIM = 5, 7, 3


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def sentence(seed: int = 1) -> torch.Tensor:
    return torch.randn(SEQ_LEN, D_MODEL, generator=generator(seed), dtype=torch.float64)


def biased(head: Head) -> Head:
    def add(projection: Projection, seed: int) -> Projection:
        size = projection.weight.shape[1]
        return Projection(projection.weight, torch.randn(size, generator=generator(seed), dtype=torch.float64))

    return Head(add(head.q, 5), add(head.k, 6), add(head.v, 7), add(head.o, 8))


@pytest.mark.parametrize("scaled", [True, False])
def test_it_is_attention_as_torch_computes_it(scaled: bool) -> None:
    x, head = sentence(), biased(random_head(D_MODEL, HEAD_DIM, generator=generator()))
    trace = run_head(x, head, scaled=scaled)
    q, k, v = (F.linear(x, p.weight.T, p.bias)[None] for p in (head.q, head.k, head.v))
    expected = F.scaled_dot_product_attention(q, k, v, scale=None if scaled else 1.0)[0]
    torch.testing.assert_close(trace.output, expected)
    torch.testing.assert_close(trace.result, F.linear(expected, head.o.weight.T, head.o.bias))
    assert trace.scale == (1 / math.sqrt(HEAD_DIM) if scaled else 1.0)


def test_shapes() -> None:
    trace = run_head(sentence(), random_head(D_MODEL, HEAD_DIM, generator=generator()))
    shapes = {name: tuple(getattr(trace, name).shape) for name in MATRICES}
    square, narrow, wide = (SEQ_LEN, SEQ_LEN), (SEQ_LEN, HEAD_DIM), (SEQ_LEN, D_MODEL)
    assert list(shapes.values()) == [wide, narrow, narrow, narrow, square, square, narrow, wide]


def test_a_batch_is_many_sentences() -> None:
    head = random_head(D_MODEL, HEAD_DIM, generator=generator())
    both = run_head(torch.stack([sentence(1), sentence(2)]), head)
    torch.testing.assert_close(both.result[1], run_head(sentence(2), head).result)


def test_a_case_by_hand() -> None:
    x = torch.tensor([[1.0, 0.0], [0.0, 2.0]], dtype=torch.float64)
    trace = run_head(x, identity_head(2, 1), scaled=True)  # sees the first feature only
    assert trace.scores.tolist() == [[1, 0], [0, 0]]
    assert trace.weights[0].tolist() == pytest.approx([math.e / (math.e + 1), 1 / (math.e + 1)])
    assert trace.result[1].tolist() == [0.5, 0]


@pytest.mark.parametrize(
    ("sharing", "same"),
    [
        (Sharing.SEPARATE, set()),
        (Sharing.VALUE_IS_KEY, {"kv"}),
        (Sharing.QUERY_IS_KEY, {"qk"}),
        (Sharing.ONE, {"qk", "kv", "qv"}),
        (Sharing.NONE, {"qk", "kv", "qv"}),
    ],
)
def test_who_shares_a_matrix(sharing: Sharing, same: set[str]) -> None:
    head = random_head(D_MODEL, HEAD_DIM, generator=generator(), sharing=sharing)
    found = {a + b for a, b in ("qk", "kv", "qv") if torch.equal(getattr(head, a).weight, getattr(head, b).weight)}
    assert found == same


def test_without_matrices_the_input_is_all_three() -> None:
    x = sentence()
    trace = run_head(x, random_head(D_MODEL, HEAD_DIM, generator=generator(), sharing=Sharing.NONE))
    assert all(torch.equal(tensor, x) for tensor in (trace.q, trace.k, trace.v))


def test_random_projections_keep_the_variance() -> None:
    x = torch.randn(500, 64, generator=generator(), dtype=torch.float64)
    head = random_head(64, 32, generator=generator(1))
    assert float(head.q(x).var()) == pytest.approx(1, abs=0.1)


def test_a_seed_gives_the_same_head_again() -> None:
    one, other = (random_head(D_MODEL, HEAD_DIM, generator=generator(3)) for _ in range(2))
    assert torch.equal(one.o.weight, other.o.weight)


@pytest.mark.parametrize(("d_model", "head_dim", "name"), [(0, 1, "d_model"), (3, 0, "head_dim")])
def test_sizes_must_be_positive(d_model: int, head_dim: int, name: str) -> None:
    for make in (
        lambda: identity_head(d_model, head_dim),
        lambda: random_head(d_model, head_dim, generator=generator()),
    ):
        with pytest.raises(ValueError, match=rf"{name} \(0\) must be at least 1"):
            make()


def test_an_identity_cannot_invent_features() -> None:
    with pytest.raises(ValueError, match=r"head_dim \(4\) must be at most d_model \(3\)"):
        identity_head(3, 4)


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("scaled", [True, False])
def test_the_terms_give_the_number(matrix: str, scaled: bool) -> None:
    head = biased(random_head(D_MODEL, HEAD_DIM, generator=generator()))
    trace = run_head(sentence(), head, scaled=scaled)
    for row in range(SEQ_LEN):
        for column in range(getattr(trace, matrix).shape[1]):
            found = explain(trace, head, matrix, row, column)
            assert found.value == float(getattr(trace, matrix)[row, column])
            if found.rule is Rule.PRODUCT:
                total = found.factor * float(found.left @ found.right) + found.bias
                assert total == pytest.approx(found.value, abs=1e-12)
            elif found.rule is Rule.SOFTMAX:
                assert float(found.left[column] / found.left.sum()) == pytest.approx(found.value, abs=1e-12)
            else:
                assert matrix == "x"


def test_huge_scores_can_be_explained() -> None:
    x = sentence() * 1000
    head = identity_head(D_MODEL, HEAD_DIM)
    found = explain(run_head(x, head), head, "weights", 0, 0)
    assert bool(found.left.isfinite().all())


@pytest.mark.parametrize(("row", "column"), [(-1, 0), (SEQ_LEN, 0), (0, HEAD_DIM), (0, -1)])
def test_there_must_be_such_a_cell(row: int, column: int) -> None:
    head = random_head(D_MODEL, HEAD_DIM, generator=generator())
    with pytest.raises(ValueError, match=rf"cell \({row}, {column}\) must lie within \(5, 3\)"):
        explain(run_head(sentence(), head), head, "q", row, column)


def test_there_must_be_such_a_matrix() -> None:
    head = random_head(D_MODEL, HEAD_DIM, generator=generator())
    with pytest.raises(ValueError, match=r"matrix \('w'\) must be one of x, q, k"):
        explain(run_head(sentence(), head), head, "w", 0, 0)

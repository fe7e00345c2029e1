"""The claims about sinusoidal and rotary positions: measured, and judged on both sides of every threshold."""

import pytest
import torch

from core.claims import Verdict
from core.claims import rope as rope_claims
from core.claims import sinusoidal as sinusoidal_claims
from core.claims.rope import Decay, Interpolation
from core.positions.distance import Profile, Vectors, draw_vectors, profile, scores_by_distance
from core.positions.order import Setting, order_trials, random_layers, reversed_but_last
from core.positions.scalings import Unscaled
from core.positions.sinusoidal import shift, sinusoidal_encoding
from core.rope_as_printed import Outcome

# ---------------------------------------------------------------------------------------------------------- sinusoidal


def test_the_printed_frequency_is_right_for_even_dimensions() -> None:
    found = sinusoidal_claims.compare_frequencies(256)
    assert found.even_error < 1e-12
    assert found.odd_error == pytest.approx(1 - 10000 ** (-1 / 256), rel=1e-9)
    torch.testing.assert_close(found.measured, found.right, atol=0, rtol=1e-12)
    assert sinusoidal_claims.frequency_verdict(found.even_error, found.odd_error) is Verdict.ONLY_IF


SAME = sinusoidal_claims.SAME_FREQUENCY


@pytest.mark.parametrize(
    ("even", "odd", "expected"),
    [
        (SAME, SAME, Verdict.HOLDS),
        (SAME, 1.01 * SAME, Verdict.ONLY_IF),
        (1.01 * SAME, SAME, Verdict.DOES_NOT_HOLD),
    ],
)
def test_frequencies_are_judged(even: float, odd: float, expected: Verdict) -> None:
    assert sinusoidal_claims.frequency_verdict(even, odd) is expected


def test_a_shift_is_linear() -> None:
    found = shift(torch.arange(0, 100_000, 997), 64, 13)
    assert sinusoidal_claims.shift_verdict(found.residual) is Verdict.HOLDS
    assert sinusoidal_claims.shift_verdict(sinusoidal_claims.LINEAR) is Verdict.HOLDS
    assert sinusoidal_claims.shift_verdict(1.01 * sinusoidal_claims.LINEAR) is Verdict.DOES_NOT_HOLD


def test_order_leaks_in_through_a_second_causal_layer() -> None:
    generator = torch.Generator().manual_seed(0)
    words = torch.randn(7, 10, generator=generator, dtype=torch.float64)
    layers = random_layers(2, num_heads=2, d_model=10, head_dim=5, generator=generator)
    trials = order_trials(words, sinusoidal_encoding(7, 10), reversed_but_last(7), layers)
    assert sinusoidal_claims.order_verdict(sinusoidal_claims.order_changes(trials)) is Verdict.ONLY_IF
    alike = order_trials(words[:1].expand(7, 10), sinusoidal_encoding(7, 10), reversed_but_last(7), layers)
    assert sinusoidal_claims.order_verdict(sinusoidal_claims.order_changes(alike)) is Verdict.UNDECIDED


UNNOTICED, NOTICED = sinusoidal_claims.UNNOTICED, sinusoidal_claims.NOTICED


@pytest.mark.parametrize(
    ("no_mask", "one_layer", "two_layers", "positions", "expected"),
    [
        (0, 0, 0, NOTICED, Verdict.UNDECIDED),
        (UNNOTICED, UNNOTICED, NOTICED, 1.01 * NOTICED, Verdict.HOLDS),
        (UNNOTICED, UNNOTICED, 1.01 * NOTICED, 1.01 * NOTICED, Verdict.ONLY_IF),
        (1.01 * UNNOTICED, 0, 0, 1, Verdict.DOES_NOT_HOLD),
        (0, 1.01 * UNNOTICED, 0, 1, Verdict.DOES_NOT_HOLD),
    ],
)
def test_order_is_judged(
    no_mask: float, one_layer: float, two_layers: float, positions: float, expected: Verdict
) -> None:
    changes = dict(zip(Setting, (no_mask, one_layer, two_layers, positions), strict=True))
    assert sinusoidal_claims.order_verdict(changes) is expected


# ----------------------------------------------------------------------------------------------------------------- rope


def test_theta_31() -> None:
    assert rope_claims.theta() == pytest.approx(10000 ** (-62 / 64), rel=1e-14)
    assert f"{rope_claims.theta():.6f}" == "0.000133"
    assert rope_claims.theta_verdict(rope_claims.theta()) is Verdict.DOES_NOT_HOLD
    assert rope_claims.theta_verdict(0.0001004999) is Verdict.HOLDS
    assert rope_claims.theta_verdict(0.0001005001) is Verdict.DOES_NOT_HOLD
    with pytest.raises(ValueError, match=r"index \(32\) must be between 0 and 31"):
        rope_claims.theta(64, 32)


def test_the_ntk_base() -> None:
    found = rope_claims.ntk_bases()
    assert (round(found.measured), round(found.doubled)) == (20221, 40890)
    assert 10000 * found.factor_of_told ** (128 / 126) == pytest.approx(40000)
    assert rope_claims.ntk_verdict(found.measured) is Verdict.DOES_NOT_HOLD
    assert rope_claims.ntk_verdict(found.doubled) is Verdict.HOLDS
    assert rope_claims.ntk_verdict(38_001.0) is Verdict.HOLDS
    assert rope_claims.ntk_verdict(37_999.0) is Verdict.DOES_NOT_HOLD


def test_truncated_positions_are_shared() -> None:
    found = rope_claims.interpolate(8, trained_len=2048, target_len=4096)
    assert found.truncated.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert found.fractional.tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5]
    assert (found.shared, found.shared_fractional) == (4, 0)
    assert rope_claims.interpolation_verdict(found) is Verdict.DOES_NOT_HOLD
    alike = rope_claims.interpolate(8, trained_len=2048, target_len=2048)
    assert rope_claims.interpolation_verdict(alike) is Verdict.HOLDS
    both = Interpolation(torch.tensor([0.0, 0.0]), torch.tensor([0, 0]))
    assert rope_claims.interpolation_verdict(both) is Verdict.HOLDS  # not the cast's doing


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((8, 2, 1), r"target_len \(1\) must be at least 2"),
        ((8, 0, 1), r"trained_len \(0\) must be at least 1"),
        ((-1, 2, 3), r"seq_len \(-1\) must be at least 0"),
    ],
)
def test_impossible_lengths_are_refused(sizes: tuple[int, int, int], message: str) -> None:
    seq_len, trained_len, target_len = sizes
    with pytest.raises(ValueError, match=message):
        rope_claims.interpolate(seq_len, trained_len=trained_len, target_len=target_len)


def test_the_two_forms_agree_after_the_permutation_only() -> None:
    x = torch.randn(3, 7, 10, generator=torch.Generator().manual_seed(0))
    found = rope_claims.compare_pairings(x, torch.arange(7))
    assert found.as_given > 0.1
    assert found.after_permutation < 1e-6
    torch.testing.assert_close(found.interleaved, found.complex_form, atol=1e-6, rtol=0)
    assert found.order == (0, 5, 1, 6, 2, 7, 3, 8, 4, 9)
    assert rope_claims.pairing_verdict(found.as_given, found.after_permutation) is Verdict.ONLY_IF


def test_two_dimensions_make_one_pair_either_way() -> None:
    found = rope_claims.compare_pairings(torch.ones(7, 2), torch.arange(7))
    assert rope_claims.pairing_verdict(found.as_given, found.after_permutation) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("as_given", "permuted", "expected"),
    [
        (rope_claims.SAME, 1.0, Verdict.HOLDS),
        (1.01 * rope_claims.SAME, rope_claims.SAME, Verdict.ONLY_IF),
        (1.01 * rope_claims.SAME, 1.01 * rope_claims.SAME, Verdict.DOES_NOT_HOLD),
    ],
)
def test_pairings_are_judged(as_given: float, permuted: float, expected: Verdict) -> None:
    assert rope_claims.pairing_verdict(as_given, permuted) is expected


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], Verdict.UNDECIDED),
        ([Outcome.RIGHT], Verdict.HOLDS),
        ([Outcome.RIGHT, Outcome.WRONG_NUMBERS], Verdict.ONLY_IF),
        ([Outcome.RAISES, Outcome.WRONG_SHAPE], Verdict.DOES_NOT_HOLD),
    ],
)
def test_the_printed_complex_form_is_judged(outcomes: list[Outcome], expected: Verdict) -> None:
    assert rope_claims.printed_complex_verdict(outcomes) is expected


def test_special_vectors_decay_and_random_ones_do_not() -> None:
    distances = torch.arange(0, 32768, 32)
    measured = {}
    for kind in (Vectors.RANDOM, Vectors.EQUAL, Vectors.ONE_SIGN):
        q, k = draw_vectors(kind, 128, 64, generator=torch.Generator().manual_seed(0))
        scores = scores_by_distance(q, k, distances, Unscaled().apply(64), pairing="half_split")
        measured[kind] = rope_claims.measure_decay(profile(scores, distances))
    assert 0.9 < measured[Vectors.RANDOM].kept < 1.1
    for kind in (Vectors.EQUAL, Vectors.ONE_SIGN):
        decay = measured[kind]
        assert decay.kept < 0.3
        assert decay.lowest < -1
        assert decay.first_negative is not None
        assert 0.3 < decay.rising < 0.7
    assert rope_claims.decay_verdict(measured) is Verdict.ONLY_IF
    assert rope_claims.decay_verdict({Vectors.RANDOM: measured[Vectors.RANDOM]}) is Verdict.DOES_NOT_HOLD


def test_decay_by_hand() -> None:
    mean = torch.tensor([4.0, 3, 2, 1, 0, -1, 0, 0, 0, 2])
    found = rope_claims.measure_decay(Profile(torch.arange(0, 50, 5), mean, mean.abs(), (mean < 0).double()))
    assert found == Decay(near=4, far=2, lowest=-1, first_negative=25, rising=2 / 9, far_negative=0)
    assert found.kept == 0.5
    nine = torch.ones(9)
    with pytest.raises(ValueError, match=r"distances \(9\) must be at least 10"):
        rope_claims.measure_decay(Profile(nine, nine, nine, nine))
    ten = torch.ones(10)
    assert rope_claims.measure_decay(Profile(ten, ten, ten, ten)).first_negative is None


def decay(kept: float, rising: float = 0.0) -> Decay:
    return Decay(near=1.0, far=kept, lowest=0.0, first_negative=None, rising=rising, far_negative=0.0)


@pytest.mark.parametrize(
    ("special", "random", "expected"),
    [
        (decay(0.5), decay(0.5), Verdict.HOLDS),
        (decay(0.5), decay(0.51), Verdict.ONLY_IF),
        (decay(0.5), decay(0.5, rising=0.1), Verdict.ONLY_IF),
        (decay(0.51), decay(0.51), Verdict.DOES_NOT_HOLD),
    ],
)
def test_decay_is_judged(special: Decay, random: Decay, expected: Verdict) -> None:
    assert rope_claims.decay_verdict({Vectors.EQUAL: special, Vectors.RANDOM: random}) is expected


def test_nothing_measured_is_undecided() -> None:
    assert rope_claims.decay_verdict({}) is Verdict.UNDECIDED

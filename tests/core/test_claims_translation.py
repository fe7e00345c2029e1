"""Verdicts of the translation page, on both sides of every threshold."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.claims import Verdict
from core.claims.translation import (
    FEWEST_SENTENCES,
    REFUTING,
    ROUNDING,
    ChainDifference,
    Comparison,
    Fact,
    SearchCount,
    chain_differences,
    chain_verdict,
    compare_with_t5_small,
    count_searches,
    search_verdict,
    t5_small_verdict,
    width_verdict,
)
from core.quality import Interval

# ---------------------------------------------------------------------------------------------- the chain of tokens


@dataclass(frozen=True)
class Chain:
    start_token: str
    tokens: tuple[str, ...]
    finished: bool = True


def differences(start: str, *tokens: str, finished: bool = True) -> tuple[ChainDifference, ...]:
    return chain_differences(Chain(start, tokens, finished), padding_token="<pad>", end_token="</s>")


D = ChainDifference


def test_the_chain_as_told_differs_in_nothing() -> None:
    assert differences("<BOS>", "I", "love", "you", "<EOS>") == ()


def test_a_sentencepiece_chain_from_the_padding_token() -> None:
    told = differences("<pad>", "▁I", "▁love", "▁you", ".", "</s>")
    assert told == (D.BORROWED_START, D.WORD_MARKS, D.FULL_STOP)
    assert chain_verdict(told) is Verdict.ONLY_IF


@pytest.mark.parametrize(
    ("start", "tokens", "expected"),
    [
        ("</s>", ("I", "love", "you", "</s>"), {D.BORROWED_START}),
        ("<s>", ("▁I", "▁love", "▁you", "</s>"), {D.WORD_MARKS}),
        ("<s>", ("▁I", "▁lo", "ve", "▁you", "</s>"), {D.WORD_MARKS, D.SPLIT_WORDS}),
        ("<s>", ("▁", "I", "▁love", "▁you", ".", "</s>"), {D.WORD_MARKS, D.SPLIT_WORDS, D.FULL_STOP}),
        ("<s>", ("I", "love", "you", ".", "</s>"), {D.FULL_STOP}),
        ("<s>", ("▁I", "▁love", "▁you", "▁.", "</s>"), {D.WORD_MARKS, D.FULL_STOP}),
        ("<s>", ("▁I", "▁love", "▁you.", "</s>"), {D.WORD_MARKS, D.FULL_STOP}),
        ("<s>", ("I", "like", "you", "</s>"), {D.OTHER_WORDS}),
        ("<s>", ("you", "love", "I", "</s>"), {D.OTHER_WORDS}),
        ("<s>", ("▁I", "▁love", "▁you", "!", "</s>"), {D.WORD_MARKS, D.OTHER_WORDS}),
        ("<s>", ("</s>",), {D.OTHER_WORDS}),
    ],
)
def test_each_difference_is_seen_alone(start: str, tokens: tuple[str, ...], expected: set[ChainDifference]) -> None:
    assert set(differences(start, *tokens)) == expected


def test_a_sentence_that_was_cut_off_has_no_end() -> None:
    assert differences("<s>", "I", "love", "you", finished=False) == (D.NO_END,)
    assert differences("<s>", finished=False) == (D.OTHER_WORDS, D.NO_END)


def test_other_words_can_be_told() -> None:
    german = Chain("<s>", ("Ich", "liebe", "dich", "</s>"))
    told = ("Ich", "liebe", "dich")
    assert chain_differences(german, padding_token=None, end_token=None, told=told) == ()


def test_only_what_breaks_the_order_of_events_refutes_the_chain() -> None:
    assert chain_verdict(None) is Verdict.UNDECIDED
    assert chain_verdict(()) is Verdict.HOLDS
    for difference in ChainDifference:
        expected = Verdict.DOES_NOT_HOLD if difference in REFUTING else Verdict.ONLY_IF
        assert chain_verdict((difference,)) is expected
    assert chain_verdict((D.WORD_MARKS, D.NO_END)) is Verdict.DOES_NOT_HOLD
    assert chain_verdict((D.WORD_MARKS,), refuting=frozenset({D.WORD_MARKS})) is Verdict.DOES_NOT_HOLD


# ---------------------------------------------------------------------------------------------------------- T5-small


@dataclass(frozen=True)
class Facts:
    family: str = "t5"
    encoder_layers: int = 6
    decoder_layers: int = 6
    d_model: int = 512
    num_heads: int = 8


SENTENCE = "Das Haus ist wunderbar."


def judge(facts: Facts, name: str, *, num_beams: int = 4, translation: str | None = SENTENCE) -> Verdict:
    return t5_small_verdict(name, compare_with_t5_small(facts, num_beams=num_beams, translation=translation))


def test_all_as_told() -> None:
    assert judge(Facts(), "t5-small") is Verdict.HOLDS
    assert judge(Facts(), "t5-small", translation=None) is Verdict.HOLDS
    assert judge(Facts(), "a folder with a copy of it") is Verdict.HOLDS


def test_the_number_of_beams_is_a_condition() -> None:
    for beams in (1, 3, 5):
        assert judge(Facts(), "t5-small", num_beams=beams) is Verdict.ONLY_IF


@pytest.mark.parametrize(
    "facts",
    [
        replace(Facts(), family="marian"),  # Helsinki's models have all the other numbers
        replace(Facts(), encoder_layers=5),
        replace(Facts(), encoder_layers=7),
        replace(Facts(), decoder_layers=5),
        replace(Facts(), d_model=511),
        replace(Facts(), d_model=513),
        replace(Facts(), num_heads=7),
        replace(Facts(), num_heads=9),
    ],
)
def test_another_structure_refutes_only_if_it_is_that_of_t5_small(facts: Facts) -> None:
    assert judge(facts, "t5-small") is Verdict.DOES_NOT_HOLD
    assert judge(facts, "t5-small", num_beams=1) is Verdict.DOES_NOT_HOLD
    assert judge(facts, "atlas-fr-en") is Verdict.UNDECIDED


def test_another_sentence_refutes() -> None:
    assert judge(Facts(), "t5-small", translation="Das Haus ist schön.") is Verdict.DOES_NOT_HOLD


def test_the_comparison_says_what_was_told_and_what_was_measured() -> None:
    facts = Facts(encoder_layers=3, decoder_layers=2, d_model=256, num_heads=4)
    assert compare_with_t5_small(facts, num_beams=5) == (
        Comparison(Fact.FAMILY, "t5", "t5"),
        Comparison(Fact.ENCODER_LAYERS, 6, 3),
        Comparison(Fact.DECODER_LAYERS, 6, 2),
        Comparison(Fact.D_MODEL, 512, 256),
        Comparison(Fact.NUM_HEADS, 8, 4),
        Comparison(Fact.NUM_BEAMS, 4, 5),
    )


# --------------------------------------------------------------------------------------------------- beam and greedy


def test_searches_are_counted_sentence_by_sentence() -> None:
    greedy = [-1.0, -2.0, -3.0, -4.0]
    count = count_searches(greedy, [-0.5, -2.0, -3.5, -4.1])
    assert count == SearchCount(better=1, same=1, worse=(2, 3))
    assert count.sentences == 4
    assert count.share_worse == 0.5


def test_rounding_is_no_exception_and_more_than_rounding_is() -> None:
    assert count_searches([-1.0], [-1.0 - 0.9 * ROUNDING]).same == 1
    assert count_searches([-1.0], [-1.0 + 0.9 * ROUNDING]).same == 1
    assert count_searches([-1.0], [-1.0 - 1.1 * ROUNDING]).worse == (0,)
    assert count_searches([-1.0], [-1.0 + 1.1 * ROUNDING]).better == 1
    for exactly in (-1.25, -0.75):
        assert count_searches([-1.0], [exactly], tolerance=0.25) == SearchCount(better=0, same=1, worse=())


@given(st.lists(st.tuples(st.floats(-50, 0), st.floats(-50, 0))))
def test_every_sentence_is_counted_once(pairs: list[tuple[float, float]]) -> None:
    count = count_searches([g for g, _ in pairs], [b for _, b in pairs])
    assert count.sentences == len(pairs)
    assert 0 <= count.share_worse <= 1


def test_counts_need_the_same_sentences() -> None:
    with pytest.raises(ValueError, match=r"greedy \(2 sentences\) and beam \(1\)"):
        count_searches([-1.0, -2.0], [-1.0])


@pytest.mark.parametrize(
    ("sentences", "exceptions", "expected"),
    [
        (100, 0, Verdict.HOLDS),
        (100, 1, Verdict.ONLY_IF),
        (100, 10, Verdict.ONLY_IF),  # exactly the usual share
        (100, 11, Verdict.DOES_NOT_HOLD),
        (100, 100, Verdict.DOES_NOT_HOLD),
        (0, 0, Verdict.UNDECIDED),
    ],
)
def test_usually_means_nine_times_out_of_ten(sentences: int, exceptions: int, expected: Verdict) -> None:
    count = SearchCount(better=0, same=sentences - exceptions, worse=tuple(range(exceptions)))
    assert search_verdict(count) is expected


def test_what_usually_means_can_be_chosen() -> None:
    count = SearchCount(better=0, same=7, worse=(1, 2, 3))
    assert search_verdict(count, usual_share=0.3) is Verdict.ONLY_IF
    assert search_verdict(count, usual_share=0.29) is Verdict.DOES_NOT_HOLD
    assert search_verdict(None) is Verdict.UNDECIDED


# -------------------------------------------------------------------------------------------------------- wider beams


def interval(low: float, high: float, sentences: int = 100) -> Interval:
    return Interval(low=low, estimate=(low + high) / 2, high=high, confidence=0.95, sentences=sentences)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.01, 2.0, Verdict.HOLDS),
        (0.0, 2.0, Verdict.UNDECIDED),
        (-0.01, 2.0, Verdict.UNDECIDED),
        (-1.0, 0.01, Verdict.UNDECIDED),
        (-1.0, 0.0, Verdict.DOES_NOT_HOLD),
        (-1.0, -0.01, Verdict.DOES_NOT_HOLD),
        (0.0, 0.0, Verdict.DOES_NOT_HOLD),  # every sentence translated alike
    ],
)
def test_a_difference_counts_when_its_whole_interval_lies_on_one_side(
    low: float, high: float, expected: Verdict
) -> None:
    assert width_verdict(interval(low, high)) is expected


def test_few_sentences_decide_nothing() -> None:
    assert width_verdict(None) is Verdict.UNDECIDED
    assert width_verdict(interval(1.0, 2.0, FEWEST_SENTENCES - 1)) is Verdict.UNDECIDED
    assert width_verdict(interval(-2.0, -1.0, FEWEST_SENTENCES - 1)) is Verdict.UNDECIDED
    assert width_verdict(interval(1.0, 2.0, FEWEST_SENTENCES)) is Verdict.HOLDS
    assert width_verdict(interval(1.0, 2.0, 4), fewest_sentences=4) is Verdict.HOLDS


def test_a_least_gain_can_be_asked_for() -> None:
    assert width_verdict(interval(0.4, 2.0), no_gain=0.5) is Verdict.UNDECIDED
    assert width_verdict(interval(0.6, 2.0), no_gain=0.5) is Verdict.HOLDS
    assert width_verdict(interval(0.1, 0.5), no_gain=0.5) is Verdict.DOES_NOT_HOLD

"""BLEU, chrF and their bootstrap against sacrebleu and by hand; the measurement against a translator with a script."""

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sacrebleu
import torch
from hypothesis import given
from hypothesis import strategies as st

from core import quality
from core.claims import Verdict
from core.claims.translation import (
    ChainDifference,
    chain_differences,
    chain_verdict,
    compare_with_t5_small,
    count_searches,
    search_verdict,
    t5_small_verdict,
    width_verdict,
)
from core.decoding import translate
from core.models import TranslationModel, load
from core.quality import (
    Metric,
    Pair,
    QualityRun,
    bootstrap_interval,
    measure_quality,
    paired_difference,
    read_pairs,
    score,
    sentence_counts,
)
from tests.tiny import save_model, tiny_marian, tiny_t5, tiny_tokenizer

REFERENCES = [pair.reference for pair in read_pairs()]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def quality_of(metric: Metric, translations: Sequence[str], references: Sequence[str]) -> float:
    return score(metric, sentence_counts(metric, translations, references).sum(dim=0))


def spoil(sentence: str, words: int) -> str:
    """The sentence with its first words gone: a translation that is worse by as much as one likes."""
    return " ".join(sentence.split()[words:])


def run_of(translations: Sequence[str], references: Sequence[str] = REFERENCES) -> QualityRun:
    counts = {metric: sentence_counts(metric, translations, references) for metric in Metric}
    return QualityRun(
        translations=tuple(translations),
        log_probabilities=(-1.0,) * len(translations),
        scores=(-0.5,) * len(translations),
        counts=counts,
        bleu=score(Metric.BLEU, counts[Metric.BLEU].sum(dim=0)),
        chrf=score(Metric.CHRF, counts[Metric.CHRF].sum(dim=0)),
    )


# --------------------------------------------------------------------------------------------------------- the pairs


def test_the_pairs_are_about_a_hundred_different_everyday_sentences() -> None:
    pairs = read_pairs()
    assert len(pairs) == 100
    assert len({p.source.casefold() for p in pairs}) == len({p.reference.casefold() for p in pairs}) == 100
    assert pairs[0] == Pair("Mon vélo est derrière la maison.", "My bike is behind the house.")


def test_every_pair_is_written_with_care() -> None:
    for pair in read_pairs():
        words = [word for word in pair.source.replace("'", "' ").split() if word not in "?!"]
        assert 3 <= len(words) <= 12, pair
        for side in (pair.source, pair.reference):
            assert side == unicodedata.normalize("NFC", side).strip()
            assert side[0].isupper()
            assert side[-1] in ".?!"
            assert "  " not in side
        assert pair.source[-1] == pair.reference[-1]
        assert pair.source[-1] == "." or pair.source[-2] == " ", "French puts a space before ? and !"


def test_a_table_of_ones_own_can_be_read(tmp_path: Path) -> None:
    table = tmp_path / "own.tsv"
    table.write_text('english\tgerman\nHe said "no".\tEr sagte „nein“.\n', encoding="utf-8")
    assert read_pairs(table) == (Pair('He said "no".', "Er sagte „nein“."),)


# ------------------------------------------------------------------------------------------------------- the metrics


def test_bleu_by_hand() -> None:
    counts = sentence_counts(Metric.BLEU, ["the cat sat on the mat"], ["the cat sat on a mat"])
    # of 6 words 5 are there ("the" only once), of 5 pairs 3, of 4 triples 2, of 3 fours 1; no length penalty
    assert counts.tolist() == [[6, 6, 5, 3, 2, 1, 6, 5, 4, 3]]
    assert score(Metric.BLEU, counts[0]) == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** (1 / 4))


def test_bleu_of_a_short_translation_by_hand() -> None:
    assert quality_of(Metric.BLEU, ["the cat sat on"], ["the cat sat on a mat"]) == pytest.approx(
        100 * math.exp(1 - 6 / 4)  # all that is said is right; only the brevity penalty is left
    )


def test_bleu_of_two_sentences_is_that_of_their_summed_counts() -> None:
    counts = sentence_counts(Metric.BLEU, ["a b c d", "e f g x"], ["a b c d", "e f g h"])
    assert counts.sum(dim=0).tolist() == [8, 8, 7, 5, 3, 1, 8, 6, 4, 2]
    assert score(Metric.BLEU, counts.sum(dim=0)) == pytest.approx(100 * (7 / 8 * 5 / 6 * 3 / 4 * 1 / 2) ** (1 / 4))


def test_chrf_by_hand() -> None:
    counts = sentence_counts(Metric.CHRF, ["ab"], ["a bc"])
    said, wanted, both = [2, 1, 0, 0, 0, 0], [3, 2, 1, 0, 0, 0], [2, 1, 0, 0, 0, 0]
    assert counts.tolist() == [said + wanted + both]
    recall = (2 / 3 + 1 / 2) / 2  # precision is 1; lengths that one side lacks do not count
    assert score(Metric.CHRF, counts[0]) == pytest.approx(100 * 5 * 1 * recall / (4 * 1 + recall))


@pytest.mark.parametrize("metric", Metric)
def test_the_best_and_the_worst(metric: Metric) -> None:
    assert quality_of(metric, REFERENCES, REFERENCES) == pytest.approx(100)
    assert quality_of(metric, [""] * 100, REFERENCES) == 0
    assert quality_of(metric, ["ж"] * 100, REFERENCES) == 0


sentence = st.text(alphabet="ab c.,'é", max_size=25)


@given(st.lists(st.tuples(sentence, sentence), min_size=1, max_size=7))
def test_both_metrics_are_those_of_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    translations, references = [t for t, _ in pairs], [r for _, r in pairs]
    bleu = sacrebleu.corpus_bleu(translations, [references]).score
    chrf = sacrebleu.corpus_chrf(translations, [references]).score
    assert quality_of(Metric.BLEU, translations, references) == pytest.approx(bleu, abs=1e-9)
    assert quality_of(Metric.CHRF, translations, references) == pytest.approx(chrf, abs=1e-9)


def test_every_translation_needs_its_reference() -> None:
    with pytest.raises(ValueError, match=r"translations \(2\) and references \(1\) must be as many"):
        sentence_counts(Metric.BLEU, ["a", "b"], ["a"])


# --------------------------------------------------------------------------------------------------------- bootstrap

ROUGH = run_of([spoil(r, i % 3) for i, r in enumerate(REFERENCES)])
ROUGHER = run_of([spoil(r, 2 + i % 3) for i, r in enumerate(REFERENCES)])


def estimate(run: QualityRun, metric: Metric) -> float:
    return {Metric.BLEU: run.bleu, Metric.CHRF: run.chrf}[metric]


@pytest.mark.parametrize("metric", Metric)
def test_the_interval_covers_the_estimate_and_widens_with_confidence(metric: Metric) -> None:
    interval = bootstrap_interval(ROUGH, metric, generator=seeded())
    assert interval.estimate == pytest.approx(estimate(ROUGH, metric))
    assert interval.low < interval.estimate < interval.high
    assert (interval.confidence, interval.sentences) == (0.95, 100)
    narrow = bootstrap_interval(ROUGH, metric, generator=seeded(), confidence=0.5)
    assert interval.low < narrow.low < narrow.high < interval.high


def test_a_resample_is_scored_as_sacrebleu_would_score_it() -> None:
    draw = torch.randint(100, (1, 100), generator=seeded(7))[0].tolist()
    drawn = sacrebleu.corpus_bleu([ROUGH.translations[i] for i in draw], [[REFERENCES[i] for i in draw]]).score
    interval = bootstrap_interval(ROUGH, Metric.BLEU, generator=seeded(7), resamples=1)
    assert interval.low == pytest.approx(drawn)
    assert interval.high == pytest.approx(drawn)


def test_the_seed_decides_the_interval() -> None:
    first = bootstrap_interval(ROUGH, Metric.CHRF, generator=seeded(3))
    assert bootstrap_interval(ROUGH, Metric.CHRF, generator=seeded(3)) == first
    assert bootstrap_interval(ROUGH, Metric.CHRF, generator=seeded(4)) != first


def test_an_interval_gets_narrower_with_more_sentences() -> None:
    few = run_of(ROUGH.translations[:25], REFERENCES[:25])
    many = bootstrap_interval(ROUGH, Metric.BLEU, generator=seeded())
    less = bootstrap_interval(few, Metric.BLEU, generator=seeded())
    assert many.high - many.low < less.high - less.low


@pytest.mark.parametrize("metric", Metric)
def test_a_clear_difference_is_seen_in_both_directions(metric: Metric) -> None:
    better = paired_difference(ROUGH, ROUGHER, metric, generator=seeded())
    worse = paired_difference(ROUGHER, ROUGH, metric, generator=seeded())
    assert better.estimate == pytest.approx(estimate(ROUGH, metric) - estimate(ROUGHER, metric))
    assert 0 < better.low < better.estimate < better.high
    assert (worse.low, worse.high) == pytest.approx((-better.high, -better.low))
    assert width_verdict(better) is Verdict.HOLDS
    assert width_verdict(worse) is Verdict.DOES_NOT_HOLD


@pytest.mark.parametrize("metric", Metric)
def test_a_run_does_not_differ_from_itself(metric: Metric) -> None:
    same = paired_difference(ROUGH, ROUGH, metric, generator=seeded())
    assert (same.low, same.estimate, same.high) == (0, 0, 0)
    assert width_verdict(same) is Verdict.DOES_NOT_HOLD


def test_a_handful_of_changes_for_better_and_worse_is_undecided() -> None:
    changed = list(ROUGH.translations)
    changed[1], changed[3] = REFERENCES[1], spoil(REFERENCES[3], 2)
    difference = paired_difference(run_of(changed), ROUGH, Metric.BLEU, generator=seeded())
    assert difference.low < 0 < difference.high
    assert width_verdict(difference) is Verdict.UNDECIDED


def test_pairing_narrows_the_interval() -> None:
    slightly = run_of([REFERENCES[1] if i == 1 else t for i, t in enumerate(ROUGH.translations)])
    paired = paired_difference(slightly, ROUGH, Metric.BLEU, generator=seeded())
    alone = bootstrap_interval(ROUGH, Metric.BLEU, generator=seeded())
    assert paired.high - paired.low < (alone.high - alone.low) / 5


def test_bad_settings_are_named() -> None:
    with pytest.raises(ValueError, match=r"resamples \(0\) must be at least 1"):
        bootstrap_interval(ROUGH, Metric.BLEU, generator=seeded(), resamples=0)
    for confidence in (0.0, 1.0, 95.0):
        with pytest.raises(ValueError, match=rf"confidence \({confidence}\) must lie between 0 and 1"):
            paired_difference(ROUGH, ROUGHER, Metric.BLEU, generator=seeded(), confidence=confidence)
    few = run_of(ROUGH.translations[:7], REFERENCES[:7])
    with pytest.raises(ValueError, match=r"run \(100 sentences\) and other \(7\) must be of the same sentences"):
        paired_difference(ROUGH, few, Metric.BLEU, generator=seeded())


# ------------------------------------------------------------------------------- the measurement, with a scripted model

Said = tuple[str, list[float]]


def script(monkeypatch: pytest.MonkeyPatch, said: Callable[[str, int], Said]) -> list[Mapping[str, Any]]:
    """Let `translate` say what the script says; returns the list of calls that it will fill."""
    calls: list[Mapping[str, Any]] = []

    def scripted(model: object, text: str, *, num_beams: int, length_penalty: float) -> SimpleNamespace:
        calls.append({"model": model, "text": text, "num_beams": num_beams, "length_penalty": length_penalty})
        words, logs = said(text, num_beams)
        steps = tuple(SimpleNamespace(chosen=SimpleNamespace(log_probability=log)) for log in logs)
        return SimpleNamespace(text=words, steps=steps, score=sum(logs) / max(len(logs), 1) ** length_penalty)

    monkeypatch.setattr(quality, "translate", scripted)
    return calls


MODEL: Any = object()
PAIRS = read_pairs()[:40]
ANSWERS = {pair.source: pair.reference for pair in PAIRS}


def test_a_measurement_holds_what_the_translator_said(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = script(monkeypatch, lambda text, beams: (ANSWERS[text], [-0.5, -0.25]))
    run = measure_quality(MODEL, PAIRS, num_beams=3, length_penalty=2.0)
    assert calls == [{"model": MODEL, "text": p.source, "num_beams": 3, "length_penalty": 2.0} for p in PAIRS]
    assert run.translations == tuple(p.reference for p in PAIRS)
    assert run.log_probabilities == (-0.75,) * 40
    assert run.scores == (-0.75 / 4,) * 40
    assert (run.bleu, run.chrf) == pytest.approx((100, 100))
    assert {metric: tuple(counts.shape) for metric, counts in run.counts.items()} == {
        Metric.BLEU: (40, 10),
        Metric.CHRF: (40, 18),
    }


def test_a_translator_whose_beams_are_worse_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(text: str, beams: int) -> Said:
        return spoil(ANSWERS[text], beams - 1), [-1.0] * beams

    script(monkeypatch, said)
    greedy, beam = (measure_quality(MODEL, PAIRS, num_beams=beams) for beams in (1, 4))
    in_sums = count_searches(greedy.log_probabilities, beam.log_probabilities)
    in_scores = count_searches(greedy.scores, beam.scores)
    assert in_sums.worse == tuple(range(40))
    assert in_scores.same == 40  # per token both are as probable: the two measures differ, and say so
    assert search_verdict(in_sums) is Verdict.DOES_NOT_HOLD
    assert search_verdict(in_scores) is Verdict.HOLDS
    difference = paired_difference(beam, greedy, Metric.CHRF, generator=seeded())
    assert width_verdict(difference) is Verdict.DOES_NOT_HOLD


def test_a_translator_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, lambda text, beams: ("", []))
    run = measure_quality(MODEL, PAIRS, num_beams=1)
    assert (run.bleu, run.chrf) == (0, 0)
    assert run.log_probabilities == (0.0,) * 40


def test_progress_is_told_after_every_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = script(monkeypatch, lambda text, beams: (ANSWERS[text], [-1.0]))
    told: list[tuple[int, int, int]] = []
    measure_quality(
        MODEL, PAIRS[:3], num_beams=1, on_progress=lambda done, total: told.append((done, total, len(calls)))
    )
    assert told == [(1, 3, 1), (2, 3, 2), (3, 3, 3)]


def test_a_cancelled_measurement_stops_before_the_next_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = script(monkeypatch, lambda text, beams: (ANSWERS[text], [-1.0]))
    with pytest.raises(quality.MeasurementCancelledError, match="cancelled after 2 of 40 sentences"):
        measure_quality(MODEL, PAIRS, num_beams=1, cancelled=lambda: len(calls) == 2)
    assert len(calls) == 2


def test_nothing_cannot_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, lambda text, beams: ("", []))
    with pytest.raises(ValueError, match="pairs must hold at least one sentence pair"):
        measure_quality(MODEL, [], num_beams=1)


# ------------------------------------------------------------------------------------------------ with real networks


@pytest.fixture(scope="module", params=[tiny_marian, tiny_t5])
def tiny_model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TranslationModel:
    folder = tmp_path_factory.mktemp("model")
    save_model(request.param(), tiny_tokenizer(), folder)
    return load(str(folder))


@pytest.mark.parametrize("num_beams", [1, 3])
def test_a_network_is_measured_by_what_it_translates(tiny_model: TranslationModel, num_beams: int) -> None:
    pairs = read_pairs()[:5]
    run = measure_quality(tiny_model, pairs, num_beams=num_beams, length_penalty=0.5)
    for i, pair in enumerate(pairs):
        trace = translate(tiny_model, pair.source, num_beams=num_beams, length_penalty=0.5)
        assert run.translations[i] == trace.text
        assert run.scores[i] == trace.score
        assert run.log_probabilities[i] / len(trace.steps) ** 0.5 == pytest.approx(trace.score, rel=1e-5)
    assert run.bleu == pytest.approx(sacrebleu.corpus_bleu(run.translations, [[p.reference for p in pairs]]).score)


def test_a_real_trace_and_real_facts_can_be_judged(tiny_model: TranslationModel) -> None:
    facts = tiny_model.facts
    trace = translate(tiny_model, "Je t'aime.")
    differences = chain_differences(trace, padding_token=facts.pad_token, end_token=facts.end_token)
    assert ChainDifference.BORROWED_START in differences
    assert chain_verdict(differences) is Verdict.DOES_NOT_HOLD  # its weights are random, and so is what it says
    comparisons = compare_with_t5_small(facts, num_beams=4)
    assert comparisons[0].agrees == (facts.family == "t5")
    assert t5_small_verdict(tiny_model.name, comparisons) is Verdict.UNDECIDED

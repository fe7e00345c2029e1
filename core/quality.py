"""How well a model translates: BLEU and chrF over sentence pairs, and how far so few sentences can be trusted.

Both metrics are ratios of counts summed over all sentences, not means of sentence scores. So the counts are kept per
sentence: the quality of any resampled set is a sum of rows away, and a bootstrap needs no second translation.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import torch
from torch import Tensor

from core.checks import check_sizes
from core.decoding import Translator, translate

PAIRS = Path(__file__).parent / "assets" / "pairs-fr-en.tsv"
BLEU_ORDER = 4  # longest run of words that BLEU counts
CHRF_ORDER = 6  # longest run of characters that chrF counts
CHRF_BETA = 2  # how many times as much recall counts as precision


class Metric(StrEnum):
    BLEU = "bleu"
    CHRF = "chrf"


@dataclass(frozen=True, slots=True)
class Pair:
    source: str
    reference: str


@dataclass(frozen=True, slots=True, eq=False)
class QualityRun:
    """One way of translating a set of sentences, and how good it was."""

    translations: tuple[str, ...]
    log_probabilities: tuple[float, ...]  # of each translation, summed over its tokens
    scores: tuple[float, ...]  # the same, normalised for length as the search does
    counts: Mapping[Metric, Tensor]  # per sentence: see `sentence_counts`
    bleu: float  # 0 to 100, over all sentences together
    chrf: float


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate, and the bounds between which resampled sets of sentences put it."""

    low: float
    estimate: float
    high: float
    confidence: float  # the share of resamples inside
    sentences: int


class MeasurementCancelledError(Exception):
    """Whoever asked for a measurement no longer wants it."""


def read_pairs(path: Path = PAIRS) -> tuple[Pair, ...]:
    """Sentence pairs from a table with a heading, source<tab>reference; without `path`, those written for this project.

    None of these, French or English, occurs in the corpus that the bundled model was trained on.
    """
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple(Pair(source, reference) for source, reference in rows)


def measure_quality(
    model: Translator,
    pairs: Sequence[Pair],
    *,
    num_beams: int,
    length_penalty: float = 1.0,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> QualityRun:
    """Translate the sources one by one and compare with the references.

    `on_progress(done, total)` is called after every sentence, `cancelled()` asked before every one.

    Raises: ValueError if there are no pairs; MeasurementCancelledError.
    """
    if not pairs:
        raise ValueError("pairs must hold at least one sentence pair")
    translations: list[str] = []
    log_probabilities: list[float] = []
    scores: list[float] = []
    for done, pair in enumerate(pairs):
        if cancelled():
            raise MeasurementCancelledError(f"cancelled after {done} of {len(pairs)} sentences")
        trace = translate(model, pair.source, num_beams=num_beams, length_penalty=length_penalty)
        translations.append(trace.text)
        log_probabilities.append(sum(step.chosen.log_probability for step in trace.steps))
        scores.append(trace.score)
        on_progress(done + 1, len(pairs))
    references = [pair.reference for pair in pairs]
    counts = {metric: sentence_counts(metric, translations, references) for metric in Metric}
    return QualityRun(
        translations=tuple(translations),
        log_probabilities=tuple(log_probabilities),
        scores=tuple(scores),
        counts=counts,
        bleu=score(Metric.BLEU, counts[Metric.BLEU].sum(dim=0)),
        chrf=score(Metric.CHRF, counts[Metric.CHRF].sum(dim=0)),
    )


def sentence_counts(metric: Metric, translations: Sequence[str], references: Sequence[str]) -> Tensor:
    """What the metric counts in each sentence.

    Shapes: returns int64 (sentences, 10) for BLEU: words of the translation, words of the reference, then for runs of 1
        to 4 words how many of the translation's the reference has, and how many the translation has. For chrF
        (sentences, 18): for runs of 1 to 6 characters how many the translation has, the reference has, and both have.
    Raises: ValueError if there is not one reference per translation.
    Source: Papineni et al. 2002, section 2.2 (BLEU); Popović 2015 (chrF). Both as in sacrebleu, with its defaults.
    """
    if len(translations) != len(references):
        raise ValueError(f"translations ({len(translations)}) and references ({len(references)}) must be as many")
    count = _bleu_counts if metric is Metric.BLEU else _chrf_counts
    return torch.tensor(count(translations, references), dtype=torch.int64)


def score(metric: Metric, totals: Tensor) -> float:
    """The metric, 0 to 100, of a set of sentences from its summed counts, a row as `sentence_counts` has them."""
    return _bleu(totals.tolist()) if metric is Metric.BLEU else _chrf(totals.tolist())


def bootstrap_interval(
    run: QualityRun, metric: Metric, *, generator: torch.Generator, resamples: int = 1000, confidence: float = 0.95
) -> Interval:
    """How far the quality could have been from what it is, had other sentences like these been drawn.

    Draws as many sentences as there are, with replacement, `resamples` times; the bounds are percentiles.

    Raises: ValueError if resamples is not positive or confidence not between 0 and 1.
    Source: Koehn 2004, Statistical significance tests for machine translation evaluation.
    """
    counts = run.counts[metric]
    draws = _draw(len(counts), resamples, generator)
    return _interval(score(metric, counts.sum(dim=0)), _resampled(metric, counts, draws), confidence, len(counts))


def paired_difference(
    run: QualityRun,
    other: QualityRun,
    metric: Metric,
    *,
    generator: torch.Generator,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> Interval:
    """The interval of (quality of `run`) - (quality of `other`) over the same sentences.

    Both are scored on the same draws, so what makes a sentence hard for both cancels out. That is why this interval is
    much narrower than the two of `bootstrap_interval` would suggest.

    Raises: ValueError as for `bootstrap_interval`, or if the two runs are of different numbers of sentences.
    Source: Koehn 2004, section 4 (paired bootstrap resampling).
    """
    counts, other_counts = run.counts[metric], other.counts[metric]
    if len(counts) != len(other_counts):
        raise ValueError(f"run ({len(counts)} sentences) and other ({len(other_counts)}) must be of the same sentences")
    draws = _draw(len(counts), resamples, generator)
    differences = _resampled(metric, counts, draws) - _resampled(metric, other_counts, draws)
    estimate = score(metric, counts.sum(dim=0)) - score(metric, other_counts.sum(dim=0))
    return _interval(estimate, differences, confidence, len(counts))


def _draw(sentences: int, resamples: int, generator: torch.Generator) -> Tensor:
    check_sizes(resamples=resamples)
    return torch.randint(sentences, (resamples, sentences), generator=generator)


def _resampled(metric: Metric, counts: Tensor, draws: Tensor) -> Tensor:
    totals = counts[draws].sum(dim=1)  # (resamples, counts)
    return torch.tensor([score(metric, row) for row in totals], dtype=torch.float64)


def _interval(estimate: float, values: Tensor, confidence: float, sentences: int) -> Interval:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence ({confidence}) must lie between 0 and 1")
    tail = (1 - confidence) / 2
    low, high = torch.quantile(values, torch.tensor([tail, 1 - tail], dtype=values.dtype)).tolist()
    return Interval(low, estimate, high, confidence, sentences)


def _bleu_counts(translations: Sequence[str], references: Sequence[str]) -> list[list[int]]:
    from sacrebleu.metrics.bleu import BLEU  # here: 0.1 s that no page but one needs

    bleu = BLEU(effective_order=True)  # only keeps sacrebleu from warning about sentence scores, which go unused
    results = [bleu.sentence_score(t, [r]) for t, r in zip(translations, references, strict=True)]
    return [[result.sys_len, result.ref_len, *result.counts, *result.totals] for result in results]


def _bleu(totals: list[int]) -> float:
    from sacrebleu.metrics.bleu import BLEU

    length, reference_length, *ngrams = totals
    correct, total = ngrams[:BLEU_ORDER], ngrams[BLEU_ORDER:]
    return float(BLEU.compute_bleu(correct, total, length, reference_length, smooth_method="exp").score)


def _chrf_counts(translations: Sequence[str], references: Sequence[str]) -> list[list[int]]:
    from sacrebleu.metrics.helpers import extract_all_char_ngrams

    rows = []
    for translation, reference in zip(translations, references, strict=True):
        said = extract_all_char_ngrams(translation, CHRF_ORDER)
        wanted = extract_all_char_ngrams(reference, CHRF_ORDER)
        # a length that the reference does not reach is not counted against the translation
        row = [s.total() if w else 0 for s, w in zip(said, wanted, strict=True)]
        row += [w.total() for w in wanted]
        row += [(s & w).total() for s, w in zip(said, wanted, strict=True)]
        rows.append(row)
    return rows


def _chrf(totals: list[int]) -> float:
    said, wanted, both = (totals[i * CHRF_ORDER : (i + 1) * CHRF_ORDER] for i in range(3))
    ratios = [(b / s, b / w) for s, w, b in zip(said, wanted, both, strict=True) if s and w]
    if not any(precision for precision, _ in ratios):
        return 0.0
    precision = sum(p for p, _ in ratios) / len(ratios)
    recall = sum(r for _, r in ratios) / len(ratios)
    return 100 * (1 + CHRF_BETA**2) * precision * recall / (CHRF_BETA**2 * precision + recall)

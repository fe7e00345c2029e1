"""Does a wider beam translate better? The same sentences with several widths, compared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from core.claims.translation import SearchCount, count_searches
from core.quality import Interval, Metric, Pair, QualityRun, bootstrap_interval, measure_quality, paired_difference

if TYPE_CHECKING:
    from core.models import TranslationModel

WIDTHS = (1, 2, 4, 8)
COMPARED = 4  # the width that is held against greedy decoding


@dataclass(frozen=True, slots=True, eq=False)
class WidthStudy:
    """What came out of it; width 1 is greedy decoding."""

    pairs: tuple[Pair, ...]
    length_penalty: float
    runs: Mapping[int, QualityRun]  # by width
    intervals: Mapping[Metric, tuple[Interval, ...]]  # in the order of the widths
    gain: Mapping[Metric, Interval]  # quality with the compared width - quality of greedy decoding
    by_log_probability: SearchCount  # the compared width against greedy: sums of log-probabilities
    by_score: SearchCount  # the same with scores normalised for length


def study_widths(
    model: "TranslationModel",
    pairs: Sequence[Pair],
    *,
    length_penalty: float,
    generator: torch.Generator,
    widths: Sequence[int] = WIDTHS,
    compared: int = COMPARED,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> WidthStudy:
    """Translate the pairs' sources with every width; on_progress counts translated sentences over all widths.

    Raises: ValueError if 1 or `compared` is not among the widths; MeasurementCancelledError.
    """
    if 1 not in widths or compared not in widths:
        raise ValueError(f"widths ({tuple(widths)}) must hold 1 and {compared}")
    runs: dict[int, QualityRun] = {}
    for number, width in enumerate(widths):
        before = number * len(pairs)

        def report(done: int, _total: int, before: int = before) -> None:
            on_progress(before + done, len(widths) * len(pairs))

        runs[width] = measure_quality(
            model, pairs, num_beams=width, length_penalty=length_penalty, on_progress=report, cancelled=cancelled
        )
    greedy, beam = runs[1], runs[compared]
    return WidthStudy(
        pairs=tuple(pairs),
        length_penalty=length_penalty,
        runs=runs,
        intervals={
            metric: tuple(bootstrap_interval(run, metric, generator=generator) for run in runs.values())
            for metric in Metric
        },
        gain={metric: paired_difference(beam, greedy, metric, generator=generator) for metric in Metric},
        by_log_probability=count_searches(greedy.log_probabilities, beam.log_probabilities),
        by_score=count_searches(greedy.scores, beam.scores),
    )

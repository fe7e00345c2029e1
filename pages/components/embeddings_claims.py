"""The claims of the embeddings page, each with what was measured just now."""

import contextlib
from collections.abc import Callable, Mapping, Sequence

from core.claims import Verdict
from core.claims.embeddings import (
    MapStudy,
    SumTrial,
    distances_verdict,
    groups_verdict,
    sum_verdict,
    try_model,
    try_table,
)
from core.embeddings import read_sum, toy_vectors
from core.models import ModelError
from pages.components import embeddings_scene, shelf
from pages.components.arriving import arrive, watch
from pages.components.embeddings_words import TOY, Loaded, offered, read_vocabulary
from pages.components.i18n import _, joined
from pages.components.numbers import percent, signed
from pages.components.words import Claim

SUMS = "embeddings.sums"  # a place for what arrives
ASKED = "king - man + woman = queen"


# ----------------------------------------------------------------------------------------------------- sums of words


def of_sums() -> tuple[Claim, ...]:
    arrived = arrive(SUMS, ("sums", offered()), _try_sums, worker=embeddings_scene.SMALL)
    watch(SUMS)
    statement = _("king − man + woman ≈ queen.")
    if arrived.value is None:
        return (Claim(statement, Verdict.UNDECIDED, _("It is being measured on all vectors that are here.")),)
    trials: Mapping[str, SumTrial] = arrived.value
    verdict = sum_verdict(list(trials.values()))
    label = _("without the inputs") if verdict is Verdict.ONLY_IF else None
    return (Claim(statement, verdict, joined(_tried(name, trial) for name, trial in trials.items()), label=label),)


def _try_sums(on_progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> Mapping[str, SumTrial]:
    """The lesson's vectors, and the input embeddings of each model that is here."""
    asked = read_sum(ASKED)
    trials = {TOY: try_table(toy_vectors(), asked)}
    for name in offered():
        with contextlib.suppress(ModelError):  # the page says what is wrong with it when it is chosen
            trials[name] = try_model(read_vocabulary(name), asked)
    return trials


def _tried(name: str, trial: SumTrial) -> str:
    called = _("The lesson's vectors") if name == TOY else shelf.label(name)
    if trial.with_inputs == 1:
        return _("{vectors}: queen is the nearest of {count} words, cosine {cosine}.").format(
            vectors=called, count=f"{trial.num_words:,}", cosine=signed(trial.cosine, 3)
        )
    return _(
        "{vectors}: nearest of {count} words is {nearest}; queen is number {place}, without the inputs number "
        "{without}."
    ).format(
        vectors=called,
        count=f"{trial.num_words:,}",
        nearest=trial.nearest,
        place=f"{trial.with_inputs:,}",
        without=f"{trial.without_inputs:,}",
    )


# ------------------------------------------------------------------------------------------------------- t-SNE's maps


def of_maps(loaded: Loaded, *, asked: bool = False) -> tuple[Claim, ...]:
    """Measured on the words of the page; of many words only when it is asked for, as in the view that draws all "
    "maps."""
    groups, distances = (
        _("A t-SNE picture shows the groups."),
        _("What stands far apart in a t-SNE picture differs much."),
    )
    if not asked and len(loaded.words.words) > embeddings_scene.FEW:
        said = _("Not measured yet for so many words: open the view “Many maps”.")
        return tuple(Claim(statement, Verdict.UNDECIDED, said) for statement in (groups, distances))
    arrived = embeddings_scene.study(loaded)
    found: MapStudy | None = arrived.value
    if not asked:
        watch(embeddings_scene.STUDY)
    if found is None:
        failed, waits = _("t-SNE gives no picture of these numbers."), _("It is being measured on several maps.")
        said = failed if arrived.failed else waits
        return tuple(Claim(statement, Verdict.UNDECIDED, said) for statement in (groups, distances))
    return _groups(groups, found), _distances(distances, found)


def _groups(statement: str, found: MapStudy) -> Claim:
    """By the share of words whose nearest word is of their own group."""
    of_maps = found.by_perplexity(lambda quality: quality.own)
    verdict = groups_verdict(found.own, of_maps)
    if verdict is Verdict.UNDECIDED:
        return Claim(statement, verdict, _("There must be groups with several words to say so."))
    measured = _(
        "The nearest word is of the same group for {vectors} of the words by their vectors, for {pca} in PCA, and in "
        "t-SNE for {maps}."
    ).format(vectors=percent(found.own), pca=percent(found.pca.own), maps=_written(of_maps, percent))
    return Claim(statement, verdict, measured, label=_label(verdict))


def _distances(statement: str, found: MapStudy) -> Claim:
    """By the rank correlation of distances between groups."""
    of_maps = found.by_perplexity(lambda quality: quality.distances)
    verdict = distances_verdict(of_maps)
    if verdict is Verdict.UNDECIDED:
        return Claim(statement, verdict, _("There must be at least three groups to say so."))
    measured = _(
        "Distances between groups against those of the vectors: rank correlation {pca} in PCA, in t-SNE {maps}. "
        "Between two seeds of one perplexity it is {seeds}."
    ).format(
        pca=_two_digits(found.pca.distances),
        maps=_written(of_maps, _two_digits),
        seeds=_from_to(sorted(found.seeds_distances.values()), _two_digits),
    )
    return Claim(statement, verdict, measured, label=_label(verdict))


def _label(verdict: Verdict) -> str | None:
    return _("only with a fitting perplexity") if verdict is Verdict.ONLY_IF else None


def _written(of_maps: Mapping[int, Sequence[float]], write: Callable[[float], str]) -> str:
    """What the maps of each perplexity reach, from the smallest to the largest over their seeds."""
    return ", ".join(
        _("{values} (perplexity {perplexity})").format(values=_from_to(sorted(values), write), perplexity=perplexity)
        for perplexity, values in of_maps.items()
    )


def _from_to(values: Sequence[float], write: Callable[[float], str]) -> str:
    low, high = write(values[0]), write(values[-1])
    return low if low == high else _("{low} to {high}").format(low=low, high=high)


def _two_digits(number: float) -> str:
    return signed(number, 2)

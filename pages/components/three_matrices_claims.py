"""The claims of the page, judged by the comparison that ships: several seeds of every case."""

from collections.abc import Sequence

from core.claims import Verdict
from core.claims.three_matrices import cost_verdict, costs, counted, reason_verdict, symmetry_verdict
from core.labs.shipped import Run
from core.labs.three_matrices import Settings, cases
from core.labs.three_matrices_seeds import Compared, asymmetries, compare
from core.projections import Sharing
from pages.components.i18n import _
from pages.components.lab import results
from pages.components.numbers import percent
from pages.components.three_matrices_seeds import in_short
from pages.components.three_matrices_words import case_name
from pages.components.words import Claim


def cards(view: str) -> Sequence[Claim]:
    runs = results("three_matrices").runs
    if not runs:
        return ()
    shared = (
        _cost(runs, Sharing.QUERY_IS_KEY, _("Sharing Q = K costs expressiveness.")),
        _cost(runs, Sharing.VALUE_IS_KEY, _("Sharing V = K costs expressiveness.")),
        _cost(runs, Sharing.NONE, _("Using no matrices costs expressiveness.")),
    )
    return (*shared, _symmetry(runs) if view == "train" else _reason(runs))


def _cost(runs: Sequence[Run], sharing: Sharing, statement: str) -> Claim:
    every = counted(compare(runs, cases(), sharing.value))
    dear = [one for one in every if costs(one)]
    verdict = cost_verdict(every)
    if not dear:
        measured = _("In none of the {count} cases that three matrices solve is its accuracy lower.")
        return Claim(statement, verdict, measured.format(count=len(every)))
    worst = min(dear, key=lambda one: one.shared.mean)
    return Claim(
        statement,
        verdict,
        _(
            "Its accuracy is lower in {dear} of the {count} cases that three matrices solve; the lowest: {case}, "
            "{shared} instead of {separate}. Mean (lowest to highest) of {seeds} seeds."
        ).format(
            dear=len(dear),
            count=len(every),
            case=case_name(worst.case),
            shared=in_short(worst.shared),
            separate=in_short(worst.separate),
            seeds=worst.shared.count,
        ),
        label=_label(verdict, dear),
    )


def _label(verdict: Verdict, dear: Sequence[Compared]) -> str | None:
    if verdict is not Verdict.ONLY_IF:
        return None
    narrow = all(one.case.head_dim < Settings().head_dim for one in dear)
    return _("only in narrow heads") if narrow else _("only in some tasks")


def _symmetry(runs: Sequence[Run]) -> Claim:
    scores, weights = asymmetries(runs, Sharing.QUERY_IS_KEY.value)
    verdict = symmetry_verdict(scores, weights)
    return Claim(
        _("With Q = K, attention is symmetric."),
        verdict,
        _(
            "In all trained layers with Q = K, the scores differ from their transpose by at most {scores} of the "
            "largest, the weights by up to {weights}: each row is divided by its own sum."
        ).format(scores=percent(scores), weights=percent(weights)),
        label=_("only the scores") if verdict is Verdict.ONLY_IF else None,
    )


def _reason(runs: Sequence[Run]) -> Claim:
    undirected, masked, directed = compare(
        runs,
        (Settings(), Settings(look_at_self=False), Settings(task="three", look_at_self=False)),
        Sharing.QUERY_IS_KEY.value,
    )
    verdict = reason_verdict(undirected, masked, directed)
    return Claim(
        _("Q = K fails because its scores have no direction."),
        verdict,
        _(
            "Partners need none: accuracy {undirected}; where no token may look at itself: {masked}. Rings of three "
            "need one: {directed}, even then."
        ).format(
            undirected=in_short(undirected.shared),
            masked=in_short(masked.shared),
            directed=in_short(directed.shared),
        ),
        label=_("only one of two reasons") if verdict is Verdict.ONLY_IF else None,
    )

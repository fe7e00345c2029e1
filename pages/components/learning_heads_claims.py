"""What is told about heads that learn, judged by the trainings that ship."""

from collections.abc import Mapping, Sequence

from core.claims import Verdict
from core.claims.learning_heads import (
    better_verdict,
    catches_up,
    kinds_verdict,
    one_row_verdict,
    rank_verdict,
    share_of_owners,
    specialise_verdict,
)
from core.labs.learning_heads import HEADS
from core.labs.learning_heads_measures import MATRICES
from core.labs.learning_heads_seeds import (
    NARROW,
    NARROW_FOR_LONGER,
    WITH_MLP,
    Layer,
    accuracy,
    change,
    ranks,
    results,
    shares_of_one_head,
    solved,
    working,
)
from core.labs.learning_heads_sizes import head_dim_of
from core.labs.learning_heads_task import MOST_LOOK_UPS, NAMES
from core.labs.shipped import Run
from core.labs.spread import Spread
from pages.components import lab
from pages.components.i18n import _
from pages.components.learning_heads_words import heads, look_ups, spoken
from pages.components.numbers import percent, signed
from pages.components.words import Claim

USUAL = Layer()


def cards(view: str) -> Sequence[Claim]:
    """No cards without the comparison that ships."""
    runs = lab.results("learning_heads").runs
    every = {"kinds": _kinds, "row": _one_row, "own": _specialise, "rank": _rank, "better": _better}
    shown = {"train": ("row", "own", "rank"), "seeds": ("kinds", "better", "row", "rank")}[view]
    return [every[name](runs) for name in shown] if runs else []


def _kinds(runs: Sequence[Run]) -> Claim:
    of = {number: solved(results(runs, Layer(look_ups=number))) for number in range(1, MOST_LOOK_UPS + 1)}
    means = {number: {count: spread.mean for count, spread in by.items()} for number, by in of.items()}
    verdict = kinds_verdict(means)
    return Claim(
        _("More heads learn more kinds of relations."),
        verdict,
        _("Look-ups that layers of {heads} heads solve, means over the seeds: {each}.").format(
            heads=", ".join(map(str, HEADS)),
            each="; ".join(
                _("{solved} of {look_ups}").format(
                    solved=", ".join(f"{mean:.1f}" for mean in by.values()), look_ups=number
                )
                for number, by in means.items()
            ),
        ),
        label=_("up to as many as the task has") if verdict is Verdict.ONLY_IF else None,
    )


def _one_row(runs: Sequence[Run]) -> Claim:
    alone, behind = (results(runs, layer)[1] for layer in (USUAL, WITH_MLP))
    verdict = one_row_verdict(alone, behind)
    return Claim(
        _("A head has one row of weights for each query, so one head can serve one look-up only."),
        verdict,
        _(
            "One head, {look_ups}: {alone} right. With an MLP behind it: {behind}. It splits its weight, {weights} on "
            "average, and the MLP tells the tags apart by their amounts."
        ).format(
            look_ups=look_ups(USUAL.look_ups),
            alone=spoken(Spread.of(result.accuracy for result in alone)),
            behind=spoken(Spread.of(result.accuracy for result in behind)),
            weights=" + ".join(percent(share) for share in shares_of_one_head(behind)),
        ),
        label=_("without an MLP behind it") if verdict is Verdict.ONLY_IF else None,
    )


def _specialise(runs: Sequence[Run]) -> Claim:
    of = results(runs, USUAL)
    few, most = of[USUAL.look_ups], of[HEADS[-1]]
    verdict = specialise_verdict(few, most)
    at_work = working(of)[HEADS[-1]]
    return Claim(
        _("Heads specialise: each takes a look-up of its own."),
        verdict,
        _(
            "{look_ups}. Of {few} each, {share} have one of their own. Of {most}, {mean:.1f} work for a look-up (from "
            "{low:.0f} to {high:.0f}), several for the same; the others for none."
        ).format(
            look_ups=look_ups(USUAL.look_ups),
            few=heads(USUAL.look_ups),
            share=percent(share_of_owners(few)),
            most=heads(HEADS[-1]),
            mean=at_work.mean,
            low=at_work.low,
            high=at_work.high,
        ),
        label=_("only with as many heads as look-ups") if verdict is Verdict.ONLY_IF else None,
    )


def _rank(runs: Sequence[Run]) -> Claim:
    of = results(runs, USUAL)
    logits, weights = (change(of, matrix, "effective") for matrix in MATRICES)
    verdict = rank_verdict(logits, weights)
    only = _("only of the logits") if logits < weights else _("only of the weights")
    stable = [_signed(change(of, matrix, "stable")) for matrix in MATRICES]
    numerical = "; ".join(
        f"{heads(number)} {spread.mean:.0f}" for number, spread in ranks(of, "logits", "numerical")[1].items()
    )
    return Claim(
        _("Training lowers the rank of attention."),
        verdict,
        _(
            "Change of the effective rank, mean over all heads and seeds: logits {logits}, weights {weights}; of the "
            "stable rank: {stable}. head_dim bounds the numerical rank of the logits, before and after: {numerical}, "
            "of {names}."
        ).format(
            logits=_signed(logits),
            weights=_signed(weights),
            stable=", ".join(stable),
            numerical=numerical,
            names=NAMES,
        ),
        label=only if verdict is Verdict.ONLY_IF else None,
    )


def _better(runs: Sequence[Run]) -> Claim:
    wide, narrow, longer = (accuracy(results(runs, layer)) for layer in (USUAL, NARROW, NARROW_FOR_LONGER))
    means = [{number: spread.mean for number, spread in of.items()} for of in (wide, narrow, longer)]
    verdict = better_verdict(means[0], means[1])
    only = _("small heads learn slowly") if catches_up(means[1], means[2]) else _("only while head_dim suffices")
    return Claim(
        _("The more heads, the better."),
        verdict,
        _(
            "{look_ups}. {wide}; {narrow}: there {most} have a head_dim of {head_dim}. After {steps:,} instead of "
            "{usual:,} steps they reach {longer}."
        ).format(
            look_ups=look_ups(USUAL.look_ups),
            wide=_by_heads(USUAL, wide),
            narrow=_by_heads(NARROW, narrow),
            most=heads(HEADS[-1]),
            head_dim=head_dim_of(NARROW.d_model, HEADS[-1]),
            steps=NARROW_FOR_LONGER.steps,
            usual=NARROW.steps,
            longer=spoken(longer[HEADS[-1]]),
        ),
        label=only if verdict is Verdict.ONLY_IF else None,
    )


def _by_heads(layer: Layer, found: Mapping[int, Spread]) -> str:
    each = ", ".join(f"{heads(number)} {spoken(spread)}" for number, spread in found.items())
    return f"d_model {layer.d_model}: {each}"


def _signed(change: float) -> str:
    return ("+" if change > 0 else "") + signed(change, 1)

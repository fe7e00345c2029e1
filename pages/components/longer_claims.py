"""The claims of the page of longer texts, measured with all seeds of the comparison that ships."""

from collections.abc import Mapping, Sequence

from core.claims import Verdict
from core.claims.longer import (
    TOLD_SPAN,
    TOLD_TESTED,
    TOLD_TRAINED,
    Reading,
    drop_verdict,
    kind_costs,
    measure_reading,
    no_training_verdict,
    reach,
    scaling_verdict,
    short_training_verdict,
    unnoticed_verdict,
    worst,
)
from core.labs.longer import METHODS, Kind, Settings
from core.labs.longer_summary import span_ends
from core.labs.spread import Spread
from core.positions.scalings import Method
from pages.components.i18n import _
from pages.components.lab import results
from pages.components.longer_scene import method_names
from pages.components.numbers import signed
from pages.components.words import Claim


def cards(view: str) -> Sequence[Claim]:
    kinds = (_drop(Kind.SINUSOIDAL), _drop(Kind.ROPE), _unnoticed())
    found = {method: measure_reading(results("longer").runs, method, Settings().factor) for method in METHODS}
    readings = (
        _no_training(found[Method.NTK], found[Method.NONE]),
        _short_training(Method.LINEAR, found[Method.LINEAR]),
        _short_training(Method.YARN, found[Method.YARN]),
        _scaling(found),
    )
    return {"train": kinds, "position": (*kinds[:2], *readings[:2]), "seeds": (*kinds, *readings)}[view]


def _drop(kind: Kind) -> Claim:
    found = kind_costs(results("longer").runs, kind)
    statements = {
        Kind.SINUSOIDAL: _("Sinusoidal positions: trained at {trained}, tested at {tested}, quality drops."),
        Kind.ROPE: _("RoPE as it is: trained at {trained}, tested at {tested}, quality drops."),
    }
    return Claim(
        statements[kind].format(trained=TOLD_TRAINED, tested=TOLD_TESTED), drop_verdict(found), _costs_in_words(found)
    )


def _unnoticed() -> Claim:
    found = kind_costs(results("longer").runs, Kind.NONE)
    return Claim(
        _("Without positions no position is strange: length does not matter."),
        unnoticed_verdict(found),
        _costs_in_words(found),
    )


def _costs_in_words(found: Sequence[float]) -> str:
    if not found:
        return _("Not measured yet.")
    usual, spread = Settings(), Spread.of(found)
    first, last = span_ends(TOLD_SPAN, usual.trained_len)
    return _(
        "Trained at {length}, tested at {first} to {far}: {mean} nats above what windows of {length} reach ({low} to "
        "{high}; seeds: {seeds})."
    ).format(
        length=usual.trained_len,
        first=first,
        far=last,
        mean=signed(spread.mean, 2),
        low=signed(spread.low, 2),
        high=signed(spread.high, 2),
        seeds=spread.count,
    )


def _no_training(found: Reading, plain: Reading) -> Claim:
    usual = Settings()
    statement = _("With NTK a model reads {factor} times the trained length without training.")
    verdict = no_training_verdict(found)
    means, own = (
        ", ".join(signed(Spread.of(every).mean, 2) for every in reading.before.values() if every)
        for reading in (found, plain)
    )
    return Claim(
        statement.format(factor=usual.factor),
        verdict,
        _(
            "Cost within {first}, up to {second}, up to {third} characters: {means} nats on average; of RoPE as it is: "
            "{own}."
        ).format(
            first=usual.trained_len, second=2 * usual.trained_len, third=4 * usual.trained_len, means=means, own=own
        )
        if found.measured
        else _("Not measured yet."),
        label=_("only to {reach} × the length").format(reach=reach(found.before))
        if verdict is Verdict.ONLY_IF
        else None,
    )


def _short_training(method: Method, found: Reading) -> Claim:
    statements = {
        Method.LINEAR: _("Interpolation needs a training again, but a short one will do."),
        Method.YARN: _("YaRN needs a training again, but a short one will do."),
    }
    usual, verdict = Settings(), short_training_verdict(found)
    return Claim(
        statements[method],
        verdict,
        _(
            "Up to {length} characters it costs {before} nats at worst; after {more} steps more than the {steps} of "
            "the training, {after}."
        ).format(
            length=usual.factor * usual.trained_len,
            before=signed(worst(found.before), 2),
            more=usual.tune_steps,
            steps=usual.steps,
            after=signed(worst(found.after), 2),
        )
        if found.measured
        else _("Not measured yet."),
        label=_("better, not yet good") if verdict is Verdict.ONLY_IF else None,
    )


def _scaling(found: Mapping[Method, Reading]) -> Claim:
    plain, scaled = found[Method.NONE], {method: found[method] for method in METHODS if method is not Method.NONE}
    verdict = scaling_verdict(plain, scaled.values())
    names = method_names()
    return Claim(
        _("With the same short training, scaled positions do better than RoPE's own."),
        verdict,
        _("At worst: {own} nats as it is; {each}.").format(
            own=signed(worst(plain.after), 2),
            each=", ".join(f"{names[method]} {signed(worst(each.after), 2)}" for method, each in scaled.items()),
        )
        if verdict is not Verdict.UNDECIDED
        else _("Not measured yet."),
        label=_("only some scalings") if verdict is Verdict.ONLY_IF else None,
    )

"""What to look for in one run: the task, what its scores cannot do, and what the layers do instead."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.claims.three_matrices import nearly_ties
from core.labs.record import Record
from core.labs.three_matrices import Settings
from core.labs.three_matrices_seeds import bound_of
from core.labs.three_matrices_task import NAMES, TAGS, accuracy_of
from core.projections import Sharing
from pages.components.i18n import _
from pages.components.numbers import percent
from pages.components.three_matrices_words import variants


def in_words(settings: Settings, record: Record) -> Sequence[str]:
    """Sentences with the values of what is shown; empty ones where there is nothing to say."""
    measured = {name: found["measured"] for name, found in record.found.items() if "measured" in found}
    own = settings.task == "copy" and not settings.skip
    return (
        _task_in_words(settings),
        _bound_in_words(settings),
        _own_tag_in_words(settings, measured) if own else _shared_in_words(settings, measured),
        _tie_in_words(measured),
    )


def _task_in_words(settings: Settings) -> str:
    said = {
        "copy": _(
            "{names} tokens, each with a name and a tag, 1 of {tags}: A3 is A with tag 3. Each tells its own tag."
        ),
        "partner": _(
            "{names} tokens, each with a name and a tag, 1 of {tags}: A3 is A with tag 3. Each tells the tag of its "
            "partner: A of B, B of A; C of D, D of C."
        ),
        "three": _(
            "{names} tokens, each with a name and a tag, 1 of {tags}: A3 is A with tag 3. They stand in rings of "
            "three: A tells the tag of B, B that of C, C that of A."
        ),
        "successor": _(
            "{names} tokens, each with a name and a tag, 1 of {tags}: A3 is A with tag 3. Each tells the tag of its "
            "successor: A of B, B of C, …, L of A."
        ),
    }
    return said[settings.task].format(names=NAMES, tags=TAGS)


def _bound_in_words(settings: Settings) -> str:
    shared = bound_of(settings, Sharing.QUERY_IS_KEY.value)
    if settings.task == "copy":
        return (
            _("The skip connection hands every token its own tag: nobody has to look anywhere.")
            if settings.skip
            else ""
        )
    if shared == 1:
        return _("Here symmetric scores forbid nothing: every token can look most at the right one.")
    if settings.skip:
        return _(
            "With Q = K or none, at most {looking:.1%} look most at the right token. But with the skip connection a "
            "token knows its own tag, and can take it off what it has fetched."
        ).format(looking=shared)
    return _(
        "With Q = K or none, one token in each ring must look wrong (see the formula): at most {looking:.1%} look "
        "right; if the others guess, {accuracy:.1%} answer right."
    ).format(looking=shared, accuracy=accuracy_of(shared))


def _own_tag_in_words(settings: Settings, measured: Mapping[str, Any]) -> str:
    """A copy needs no look at oneself: the query knows the tag, and where it looks can tell it."""
    separate = measured.get(Sharing.SEPARATE.value)
    if separate is None:
        return ""
    if settings.look_at_self:
        return _(
            "With three matrices {accuracy} answer right, and {looking} look most at themselves: the query knows the "
            "tag, and can also ask for names that have come to stand for it."
        ).format(accuracy=percent(separate["accuracy"]), looking=percent(separate["looking_right"]))
    return _(
        "No token may look at itself, and with three matrices {accuracy} still answer right: the query knows the tag, "
        "and can ask for names that have come to stand for it. Masking the diagonal hides a token only as a key."
    ).format(accuracy=percent(separate["accuracy"]))


def _shared_in_words(settings: Settings, measured: Mapping[str, Any]) -> str:
    """What the layer with Q = K does."""
    found = measured.get(Sharing.QUERY_IS_KEY.value)
    if found is None or settings.task == "copy":
        return ""
    said = (
        _(
            "Q = K puts a mean weight of {own:.2f} on the token itself and {wanted:.2f} on its partner: of two tags it "
            "does not know whose is whose. The right answer has a probability of {probability:.2f}."
        )
        if settings.task == "partner" and settings.look_at_self and not settings.skip
        else _(
            "Q = K puts a mean weight of {own:.2f} on the token itself and {wanted:.2f} on the right one; the right "
            "answer has a probability of {probability:.2f}."
        )
    )
    return said.format(own=found["on_self"], wanted=found["on_wanted"], probability=found["probability"])


def _tie_in_words(measured: Mapping[str, Any]) -> str:
    """Accuracy counts the most probable answer, and is harsh where two are nearly as probable."""
    for variant, found in measured.items():
        if nearly_ties(found["accuracy"], found["probability"]):
            return _(
                "{variant}: the right answer has a probability of {probability:.2f}, but wins only {accuracy}: a near "
                "tie."
            ).format(
                variant=variants()[variant],
                probability=found["probability"],
                accuracy=percent(found["accuracy"]),
            )
    return ""

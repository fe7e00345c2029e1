"""What the tasks, the variants and the measures are called."""

from collections.abc import Mapping

from core.labs.three_matrices import Settings
from core.projections import Sharing
from pages.components.i18n import _

LETTERS = "ABCDEFGHIJKL"
"""The names of the tokens."""


def tasks() -> Mapping[str, str]:
    return {
        "copy": _("copy"),
        "partner": _("partner"),
        "three": _("ring of 3"),
        "successor": _("successor"),
    }


def variants() -> Mapping[str, str]:
    return {
        Sharing.SEPARATE.value: _("three"),
        Sharing.VALUE_IS_KEY.value: "V = K",
        Sharing.QUERY_IS_KEY.value: "Q = K",
        Sharing.NONE.value: _("no matrix"),
    }


def measures() -> Mapping[str, str]:
    """Of `core.labs.three_matrices_measures.Measured`, those that are compared."""
    return {
        "accuracy": _("accuracy"),
        "probability": _("probability of the right answer"),
        "looking_right": _("tokens that look most at the right one"),
        "loss": _("loss"),
    }


def case_name(case: Settings) -> str:
    """A case of the comparison, where it differs from the defaults."""
    said = [tasks()[case.task]]
    if not case.look_at_self:
        said.append(_("not at oneself"))
    if case.skip:
        said.append(_("skip connection"))
    if case.head_dim != Settings().head_dim:
        said.append(f"head_dim {case.head_dim}")
    return ", ".join(said)

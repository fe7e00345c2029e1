"""The controls of the page: what Start will train, or what is compared over the seeds."""

from core.labs.three_matrices import (
    FEWEST_STEPS,
    LEAST_D_MODEL,
    MOST_D_MODEL,
    MOST_HEAD_DIM,
    MOST_SEED,
    MOST_STEPS,
    Settings,
)
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.three_matrices_words import measures, tasks, variants

DEFAULTS = Settings()


def choose_settings(panel: Panel) -> Settings | None:
    """What Start will train; None without a variant."""
    task = panel.choice(
        "task", _("Whose tag does a token tell?"), tasks(), default=DEFAULTS.task,
        help=_("Its own; that of its partner; that of the next in a ring of three; that of the next of all."),
    )  # fmt: skip
    look_at_self = panel.toggle("look_at_self", _("A token may look at itself"), default=DEFAULTS.look_at_self)
    skip = panel.toggle(
        "skip", _("Skip connection"), default=DEFAULTS.skip,
        help=_("Adds the token to what it has fetched, so that it knows its own tag."),
    )  # fmt: skip
    with panel.beside():
        chosen = [
            variant for variant, name in variants().items() if panel.toggle(variant, name, default=True)
        ]  # what is not chosen is not trained
        d_model = panel.slider("d_model", "d_model", LEAST_D_MODEL, MOST_D_MODEL, default=DEFAULTS.d_model, step=8)
        head_dim = panel.slider("head_dim", "head_dim", 1, MOST_HEAD_DIM, default=DEFAULTS.head_dim, step=1)
        steps = panel.slider("steps", _("Steps"), FEWEST_STEPS, MOST_STEPS, default=DEFAULTS.steps, step=100)
        seed = panel.slider("seed", _("Seed"), 0, MOST_SEED, default=DEFAULTS.seed, step=1)
    if not chosen:
        return None
    return Settings(task, look_at_self, skip, tuple(chosen), d_model, head_dim, steps, seed)


def choose_measure(panel: Panel) -> str:
    return panel.choice("measure", _("Measured"), measures(), default="accuracy")

"""The controls of the page: what Start will train and what of it is shown, or what is compared over the seeds."""

from dataclasses import dataclass

from core.labs.learning_heads import FEWEST_STEPS, MOST_SEED, MOST_STEPS, WIDTHS, Settings
from core.labs.learning_heads_task import MOST_LOOK_UPS
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.learning_heads_words import measures

DEFAULTS = Settings()
TRAINED = {"2": (1, 2), "4": (1, 2, 4), "8": (1, 2, 4, 8)}


@dataclass(frozen=True, slots=True)
class Shown:
    """What is drawn of a training."""

    measure: str  # of rank
    num_heads: int  # whose attention


@dataclass(frozen=True, slots=True)
class Compared:
    """What is drawn of all seeds."""

    measure: str  # of rank
    look_ups: int  # of the layers whose heads and ranks are compared


def choose_training(panel: Panel) -> Settings:
    look_ups = _choose_look_ups(panel)
    names = {most: ", ".join(map(str, heads)) for most, heads in TRAINED.items()}
    most = panel.choice(
        "heads", _("Heads of the layers that are trained"), names, default="8",
        help=_("All layers have the same parameters: d_model is cut into so many heads."),
    )  # fmt: skip
    mlp = panel.toggle(
        "mlp", _("MLP behind the attention"), default=DEFAULTS.mlp,
        help=_("Without it all answers are linear functions of what the heads have fetched."),
    )  # fmt: skip
    with panel.beside():
        d_model = panel.slider("d_model", "d_model", WIDTHS[0], WIDTHS[-1], default=DEFAULTS.d_model, step=16)
        steps = panel.slider("steps", _("Steps"), FEWEST_STEPS, MOST_STEPS, default=DEFAULTS.steps, step=100)
    seed = panel.slider("seed", _("Seed"), 0, MOST_SEED, default=DEFAULTS.seed, step=1)
    return Settings(look_ups, TRAINED[most], d_model, mlp, steps, seed)


def choose_shown(panel: Panel, settings: Settings) -> Shown:
    names = {str(num_heads): str(num_heads) for num_heads in settings.heads}
    num_heads = panel.choice("shown", _("Attention of the layer with so many heads"), names, default="2")
    return Shown(_choose_measure(panel), int(num_heads))


def choose_compared(panel: Panel) -> Compared:
    return Compared(_choose_measure(panel), _choose_look_ups(panel))


def _choose_look_ups(panel: Panel) -> int:
    return panel.slider(
        "look_ups", _("Look-ups at once"), 1, MOST_LOOK_UPS, default=DEFAULTS.look_ups, step=1,
        help=_("Every token asks for the tags of so many others, each by its name."),
    )  # fmt: skip


def _choose_measure(panel: Panel) -> str:
    return panel.choice(
        "measure", _("Measure of rank"), measures(), default="effective",
        help=_("Of the logits and of the weights of every head; the mean over heads and sequences."),
    )  # fmt: skip

"""The controls of the open-book exam, and the names of what they choose."""

from dataclasses import dataclass

from core.labs.open_book import ALL, LEAKS, Settings
from core.labs.open_book_exam import CLOSED, OPEN
from core.labs.open_book_results import Winner
from core.labs.open_book_writing import PROMPTS
from pages.components.controls import Panel
from pages.components.i18n import _, ngettext

DEFAULTS = Settings()
BLANK = "none"  # no guess yet


@dataclass(frozen=True, slots=True)
class Asked:
    """What is shown of the exam."""

    way: str  # of the text, "greedy" or "sampled"
    prompt: int
    across: str  # of the curves, "steps" or "places"


def choose_guess(panel: Panel) -> Winner | None:
    """None before a prediction: the results of the exam are then covered."""
    options = {
        BLANK: "?",
        Winner.CLOSED.value: _("Closed"),
        Winner.OPEN.value: _("Open"),
        Winner.NEITHER.value: _("Neither"),
    }
    guess = panel.choice(
        "guess", _("Which book wins the exam?"), options, default=BLANK,
        help=_("Predict before you look: the results of the exam stay covered until then."),
    )  # fmt: skip
    return None if guess == BLANK else Winner(guess)


def choose_settings(panel: Panel) -> Settings:
    leaks = {str(leak): _("all") if leak == ALL else str(leak) for leak in LEAKS}
    leak = panel.choice(
        "leak", _("Characters shown ahead"), leaks, default=str(DEFAULTS.leak),
        help=_("In every layer a position sees so many characters after it. The next one is the answer."),
    )  # fmt: skip
    with panel.beside():
        num_layers = panel.slider("num_layers", _("Layers"), 1, 3, default=DEFAULTS.num_layers, step=1)
        d_model = panel.slider("d_model", "d_model", 32, 96, default=DEFAULTS.d_model, step=16)
        steps = panel.slider("steps", _("Steps"), 100, 600, default=DEFAULTS.steps, step=50)
        seed = panel.slider("seed", _("Seed"), 0, 99, default=DEFAULTS.seed, step=1)
    return Settings(num_layers=num_layers, d_model=d_model, steps=steps, leak=int(leak), seed=seed)


def choose_asked(panel: Panel) -> Asked:
    ways = {"greedy": _("most probable"), "sampled": _("drawn")}
    way = panel.choice(
        "way", _("Next character"), ways, default="greedy",
        help=_("The most probable one, always; or drawn as probable as it is."),
    )  # fmt: skip
    prompts = {str(number): f"{prompt.strip()} …" for number, prompt in enumerate(PROMPTS, start=1)}
    prompt = panel.choice("prompt", _("Beginning"), prompts, default="1")
    curves = {"steps": _("while it learns"), "places": _("by place")}
    across = panel.choice(
        "across", _("Loss of the exam"), curves, default="steps",
        help=_("While the models learn; or at the end, by the place of the question in its piece of text."),
    )  # fmt: skip
    return Asked(way, int(prompt) - 1, across)


def names() -> dict[str, str]:
    """The two models: curves of a record."""
    return {CLOSED: _("closed book"), OPEN: _("open book")}


def leak_name(leak: int) -> str:
    """What a model may see while it learns; 0 is the closed book."""
    if leak == 0:
        return _("closed book")
    if leak == ALL:
        return _("open: all")
    return ngettext("open: {count} ahead", "open: {count} ahead", leak).format(count=leak)

"""What the page of longer texts chooses and how it calls things, for all its views."""

from collections.abc import Mapping

from core.charts.curves import Axis
from core.labs.longer import Kind, Settings
from core.labs.longer_reading import LONGEST
from core.labs.longer_summary import SPANS
from core.positions.scalings import Method
from pages.components.controls import Panel
from pages.components.i18n import _

OTHERS: Mapping[str, bool] = {kind.value: not getattr(Settings(), kind) for kind in Kind}
"""The kinds that the default settings leave out."""

LOSSES = (0.25, 6.0)  # nats, of the axis
TICKS = (0.3, 0.5, 1.0, 2.0, 3.0, 5.0)
HEIGHT = 290


def choose(panel: Panel) -> Settings | None:
    """The settings of a training; None if nothing would be trained."""
    usual = Settings()
    with panel.beside():
        kinds = {
            "none": panel.toggle("none", _("No positions"), default=usual.none),
            "sinusoidal": panel.toggle("sinusoidal", _("Sinusoidal"), default=usual.sinusoidal),
            "learnt": panel.toggle("learnt", _("Learnt"), default=usual.learnt),
            "rope": panel.toggle("rope", _("RoPE"), default=usual.rope),
        }
    kinds["rope_long"] = panel.toggle(
        "rope_long", _("RoPE, trained on long texts"), default=usual.rope_long,
        help=_("On texts as long as those that all are tested on: what could be reached."),
    )  # fmt: skip
    with panel.beside():
        trained_len = panel.slider("trained_len", _("Trained length"), 16, 64, default=usual.trained_len, step=16)
        steps = panel.slider("steps", _("Steps"), 100, 600, default=usual.steps, step=100)
    with panel.beside():
        factor = panel.slider(
            "factor", _("Factor"), 2, LONGEST, default=usual.factor, step=2,
            help=_("Of RoPE's scalings. The short training is on texts that are longer by this factor."),
        )  # fmt: skip
        tune_steps = panel.slider(
            "tune_steps", _("Steps again"), 0, 100, default=usual.tune_steps, step=10,
            help=_("Of the short training: RoPE goes on learning with each reading of its positions."),
        )  # fmt: skip
    seed = panel.slider("seed", _("Seed"), 0, 9, default=usual.seed, step=1)
    if not any(kinds.values()):
        return None
    return Settings(
        **kinds, trained_len=trained_len, steps=steps, factor=factor, tune_steps=tune_steps, seed=seed
    )  # fmt: skip


def kind_names() -> Mapping[Kind, str]:
    return {
        Kind.NONE: _("no positions"),
        Kind.SINUSOIDAL: _("sinusoidal"),
        Kind.LEARNT: _("learnt"),
        Kind.ROPE: "RoPE",
        Kind.ROPE_LONG: _("RoPE, long"),
    }


def method_names() -> Mapping[Method, str]:
    return {
        Method.NONE: _("as it is"),
        Method.LINEAR: _("interpolation"),
        Method.NTK: "NTK",
        Method.YARN: "YaRN",
    }


def position_axis(trained_len: int) -> Axis:
    """From the first bucket to the longest text, the trained length and its multiples labelled."""
    first, ends = trained_len // LONGEST, tuple(trained_len * times for times in SPANS)
    return Axis(_("position in the text"), log=True, domain=(first, ends[-1]), ticks=(2 * first, 4 * first, *ends))


def loss_axis() -> Axis:
    return Axis(_("loss (nats)"), log=True, domain=LOSSES, ticks=TICKS)

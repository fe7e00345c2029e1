"""What stands folded below the page of longer texts."""

from collections.abc import Callable, Sequence

from core.labs.longer import Kind, Settings, fit, rate
from core.labs.longer_reading import loss_by_position, loss_in_windows
from core.labs.longer_summary import cost, found, reference, span_mean
from core.labs.record import Record
from core.longer_snippets import training
from core.positions.scalings import Linear, Ntk, Yarn, ntk_base
from pages.components.fold import Formula, Source, fold
from pages.components.i18n import _
from pages.components.numbers import signed
from pages.components.plot import Plot

SPAN = 4  # trained lengths, of the numbers in the formula
READING = (
    Source(
        "Extending Context Window of Large Language Models via Positional Interpolation",
        "Chen et al. 2023: divide positions, and train again for a short time",
        "https://arxiv.org/abs/2306.15595",
    ),
    Source(
        "YaRN: Efficient Context Window Extension of Large Language Models",
        "Peng et al. 2023: NTK by parts, and a sharper attention",
        "https://arxiv.org/abs/2309.00071",
    ),
    Source(
        "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
        "Press, Smith, Lewis 2021: sinusoidal positions and RoPE measured beyond their training; sliding windows",
        "https://arxiv.org/abs/2108.12409",
    ),
    Source(
        "The Impact of Positional Encoding on Length Generalization in Transformers",
        "Kazemnejad et al. 2023: also without any positions",
        "https://arxiv.org/abs/2305.19466",
    ),
)


def draw(settings: Settings, record: Record, plot: Plot) -> None:
    kind = Kind.ROPE if settings.rope else settings.kinds[0]
    readings: tuple[Callable[..., object], ...] = (ntk_base, Linear.apply, Ntk.apply, Yarn.apply)
    fold(
        "longer",
        formula=lambda: _formulas(settings, kind, record),
        code=(fit, rate, loss_by_position, loss_in_windows, *(readings if settings.rope else ())),
        plots=(plot,),
        snippet=lambda: training(settings, kind),
        reading=READING,
    )


def _formulas(settings: Settings, kind: Kind, record: Record) -> Sequence[Formula]:
    length = settings.trained_len
    loss = span_mean(found(record, kind, "loss"), SPAN)
    window = span_mean(reference(record, kind), SPAN)
    above = cost(record, kind, "loss", SPAN)
    numbers = [r"\text{–}" if number is None else signed(number, 3) for number in (loss, window, above)]
    return (
        Formula(
            r"-\log p(x_{t+1} \mid x_1 \dots x_t) \; - \; \bigl(-\log p(x_{t+1} \mid x_{t-n+1} \dots x_t)\bigr)",
            rf"n = {length}, \quad {SPAN // 2 * length} < t \le {SPAN * length}: \quad "
            rf"{numbers[0]} - {numbers[1]} = {numbers[2]}",
            _(
                "What strange positions cost, less what more context is worth: the mean loss of the next character "
                "after the whole text, less that in windows of the trained length n."
            ),
        ),
        Formula(
            r"\theta_j = b^{-2j/d}, \qquad \text{interpolation: } \frac{t}{s}\,\theta_j, \qquad "
            r"\text{NTK: } b' = b\, s^{d/(d-2)}",
            rf"s = {settings.factor}",
            _(
                "RoPE turns pair j of position t by t·θ. s is the factor. YaRN interpolates the slow pairs only, and "
                "makes the scores sharper."
            ),
        ),
    )

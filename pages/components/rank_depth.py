"""What depth does to the tokens: how far they differ after every layer of a stack, in four variants."""

from collections.abc import Iterable, Sequence

from core.charts.curves import Axis, curves, curves_data
from core.rank_depth import ROUNDING
from pages.components import rank_fold
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.plot import figure, part
from pages.components.rank_scene import brief
from pages.components.rank_stack import PURE, VARIANTS, WITH_SKIP, Chosen, Size, residuals_of, short
from pages.components.words import look_for

KEY = "rank.depth"
TICKS = (1e-16, 1e-12, 1e-8, 1e-4, 1.0)


def choose(panel: Panel) -> Chosen:
    scale = panel.slider(
        "scale", _("Scale of all weights"), 0.1, 4.0, default=1.0, step=0.1,
        help=_("At 1, a product with a matrix of weights keeps the variance."),
    )  # fmt: skip
    with panel.beside():
        num_layers = panel.slider("layers", _("Layers"), 1, 12, default=Size().num_layers, step=1)
        seq_len = panel.slider("tokens", _("Tokens"), 4, 64, default=Size().seq_len, step=4)
    with panel.beside():
        d_model = panel.slider("d_model", "d_model", 16, 64, default=Size().d_model, step=16)
        seed = panel.slider("seed", _("Seed"), 0, 99, default=0, step=1)
    return Chosen(Size(num_layers, seq_len, d_model, seed), scale)


def draw(chosen: Chosen) -> None:
    found = {variant: residuals_of(chosen.size, chosen.scale, variant) for variant in VARIANTS}
    look_for(*_in_words(chosen, found[PURE], found[WITH_SKIP]))
    plot = figure(
        KEY,
        [
            [
                part(
                    "residuals",
                    curves,
                    curves_data([range(len(values)) for values in found.values()], _drawable(found.values())),
                    series=(
                        _("attention alone"),
                        _("attention and MLP"),
                        _("attention, skip connections"),
                        _("attention and MLP, skip connections"),
                    ),
                    x=Axis(_("layer"), least_step=1),
                    y=Axis(
                        _("how far the tokens differ: ‖X − 1·mean‖ / ‖X‖"),
                        log=True,
                        domain=(ROUNDING, 2.0),
                        ticks=TICKS,
                    ),
                    height=340,
                )
            ]
        ],
        name=_("depth"),
        alt=_(
            "Four curves on a logarithmic axis: how far the tokens of a stack differ after every layer, for attention "
            "alone, with MLPs, with skip connections, and with both."
        ),
    )
    rank_fold.draw_depth(chosen, found, plot)


def _drawable(every: Iterable[Sequence[float]]) -> list[list[float]]:
    """The residuals, none less than rounding: a logarithmic axis has no place for 0."""
    return [[max(value, ROUNDING) for value in values] for values in every]


def _in_words(chosen: Chosen, pure: tuple[float, ...], skip: tuple[float, ...]) -> tuple[str, ...]:
    return (
        _(
            "Attention alone: before the first layer the tokens differ by {first:.2f} of their size, after layer "
            "{layers} by {last}. At 0 all are one and the same vector: a matrix of rank 1."
        ).format(first=pure[0], last=short(pure[-1]), layers=chosen.size.num_layers),
        _("With skip connections {last:.2g} is left after layer {layers}: they slow it.").format(
            last=skip[-1], layers=chosen.size.num_layers
        )
        if skip[-1] > pure[-1]
        else _("With skip connections {last:.2g} is left after layer {layers}: here they do not slow it.").format(
            last=skip[-1], layers=chosen.size.num_layers
        ),
        _(
            "Large weights let attention choose instead of average: tokens stay apart. About {least} is rounding."
        ).format(least=brief(ROUNDING)),
    )

"""What it takes: parameters, multiply-adds, activations and cache, part by part, and how they grow with the length."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.charts.curves import Axis, curves, curves_data
from core.charts.stacked import StackedWords, stacked, stacked_data
from core.transformer_costs import Cost, Growth, Part, cost_parts, growth
from pages.components import transformer_blocks, transformer_claims, transformer_fold
from pages.components.controls import Panel
from pages.components.gqa_words import amount
from pages.components.i18n import _
from pages.components.numbers import percent
from pages.components.plot import Part as Picture
from pages.components.plot import figure, part
from pages.components.transformer_scene import Scene, Subject, choose_sizes, choose_subject, growth_of
from pages.components.transformer_words import cost_name, part_name
from pages.components.words import Claim, look_for

KEY = "transformer.costs"
LENGTHS = tuple(2**power for power in range(4, 16))  # tokens
BYTES_OF = (Cost.ACTIVATIONS, Cost.CACHE)


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    scene: Scene
    parts: Mapping[Cost, Mapping[Part, int]]
    growth: Growth

    def total(self, cost: Cost) -> int:
        return sum(self.parts[cost].values())


controls = choose_subject


def sliders(panel: Panel, subject: Subject | None) -> Shown | None:
    scene = None if subject is None else choose_sizes(panel, subject)
    return None if scene is None else Shown(scene, cost_parts(scene.found.anatomy), growth_of(scene))


def picture(panel: Panel, shown: Shown | None) -> None:
    if shown is None:
        transformer_blocks.nothing()
        return
    look_for(*_in_words(shown))
    plot = figure(
        KEY,
        [[_bars(shown)], [_multiply_adds(shown), _memory(shown)]],
        name=_("costs"),
        alt=_(
            "Four stacked bars, for parameters, multiply-adds, activations and KV cache, each split among the parts of "
            "the Transformer; below them how multiply-adds and memory grow with the length."
        ),
    )
    transformer_fold.of_costs(shown.scene, shown.growth, plot, (cost_parts, growth))


def cards(subject: Subject | None) -> Sequence[Claim]:
    return transformer_claims.quadratic(), transformer_claims.memory()


played = transformer_blocks.played


def _bars(shown: Shown) -> Picture:
    def written(cost: Cost, number: float) -> str:
        return amount(number, "B" if cost in BYTES_OF else "") if number else _("none")

    return part(
        "bars",
        stacked,
        stacked_data(
            [list(shown.parts[cost].values()) for cost in Cost],
            [[written(cost, number) for number in shown.parts[cost].values()] for cost in Cost],
            [written(cost, shown.total(cost)) for cost in Cost],
        ),
        rows=tuple(cost_name(cost) for cost in Cost),
        parts=tuple(part_name(each) for each in Part),
        words=StackedWords(row=_("what"), part=_("part"), value=_("value"), share=_("share")),
        title=_("Where it goes; activations and cache of this batch in float32"),
    )


def _multiply_adds(shown: Shown) -> Picture:
    lengths = np.array(LENGTHS)
    matrices, products = zip(*(shown.growth.multiply_adds(length) for length in LENGTHS), strict=True)
    return _curves(
        "growth",
        shown,
        [lengths, lengths],
        [np.array(matrices), np.array(products)],
        (_("with matrices"), _("tokens with tokens")),
        _("multiply-adds"),
        _("Multiply-adds of one sequence: by matrices ∝ n, among tokens ∝ n²"),
    )


def _memory(shown: Shown) -> Picture:
    lengths = np.array(LENGTHS)
    rest, weights, cache = zip(*(shown.growth.bytes(length) for length in LENGTHS), strict=True)
    names = [_("activations"), _("attention weights")]
    drawn = [np.array(rest), np.array(weights)]
    if shown.growth.cached:
        names.append(_("KV cache"))
        drawn.append(np.array(cache))
    return _curves(
        "memory",
        shown,
        [lengths] * len(drawn),
        drawn,
        tuple(names),
        _("bytes"),
        _("Memory of one sequence in float32"),
    )


def _curves(
    name: str,
    shown: Shown,
    x: Sequence[np.ndarray],
    y: Sequence[np.ndarray],
    series: tuple[str, ...],
    axis: str,
    title: str,
) -> Picture:
    sizes = shown.scene.sizes
    return part(
        name,
        curves,
        curves_data(x, y, marks=[max(sizes.seq_source, sizes.seq_target)]),
        share=0.5,
        series=series,
        x=Axis(_("tokens n, source and target alike"), log=True, ticks=tuple(LENGTHS[::2])),
        y=Axis(axis, log=True, format=".0e"),
        title=title,
        height=170,
    )


def _in_words(shown: Shown) -> Sequence[str]:
    sentences = []
    for cost in (Cost.PARAMETERS, Cost.MULTIPLY_ADDS):
        most = max(Part, key=lambda each: shown.parts[cost][each])
        sentences.append(
            _("{cost}: {total}, the largest part ({share}) in “{part}”.").format(
                cost=cost_name(cost),
                total=amount(shown.total(cost)),
                share=percent(shown.parts[cost][most] / shown.total(cost)),
                part=part_name(most),
            )
        )
    sentences.append(
        _(
            "Attention among the tokens overtakes all matrices at {crossing:,.0f} tokens; the dashed line is at {here}."
        ).format(crossing=shown.growth.crossing, here=max(shown.scene.sizes.seq_source, shown.scene.sizes.seq_target))
    )
    return sentences

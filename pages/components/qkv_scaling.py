"""What √head_dim is good for: measured curves and the claims of the sentence view."""

from collections.abc import Sequence

import streamlit as st
import torch

from core import as_printed
from core.charts import curves
from core.claims.qkv import growth, printed_verdict, scaling_verdict, width_verdict
from core.model_heads import HeadEntropies, measure_entropies
from core.projections import random_head, run_head
from core.scaling import Saturation, measure_scaling
from pages.components import translator
from pages.components.i18n import _
from pages.components.plot import Part, part
from pages.components.words import Claim

HEAD_DIMS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SEEDS = 50
FRENCH = "Le chat dort dans le jardin."
TOLD_D_MODEL, TOLD_HEAD_DIM = 512, 64


@st.cache_data(max_entries=100, show_spinner=False)
def measured(seed: int) -> tuple[tuple[Saturation, ...], tuple[Saturation, ...]]:
    """Without the scaling, and with it, on the same queries and keys."""
    return tuple(
        measure_scaling(HEAD_DIMS, scaled=scaled, generator=torch.Generator().manual_seed(seed))
        for scaled in (False, True)
    )  # type: ignore[return-value]  # two of them


def parts(seed: int, head_dim: int) -> Sequence[Part]:
    """Three curves against head_dim; a dashed line stands at the head_dim of the picture above."""
    both = measured(seed)
    axes = {
        "variance": (_("score variance"), curves.Axis("", log=True)),
        "entropy": (_("entropy, bits"), curves.Axis("", domain=(0.0, 6.0), ticks=(0, 2, 4, 6))),
        "gradient": (_("softmax gradient"), curves.Axis("", domain=(0.0, 0.4), ticks=(0, 0.2, 0.4))),
    }
    return [
        part(
            field,
            curves.curves,
            curves.curves_data(
                [HEAD_DIMS] * 2, [[getattr(m, field) for m in line] for line in both], marks=(head_dim,)
            ),
            share=1 / len(axes),
            series=(_("unscaled"), _("scaled")),
            x=curves.Axis("head_dim", log=True, ticks=(1, 4, 16, 64, 256)),
            y=axis,
            title=title,
            height=100,
        )
        for field, (title, axis) in axes.items()
    ]


@st.cache_data(max_entries=1, show_spinner=False)
def _spreads() -> tuple[float, ...]:
    return as_printed.weight_spreads(SEEDS)


@st.cache_data(max_entries=1, show_spinner=False)
def _real_heads() -> HeadEntropies:
    return measure_entropies(translator.load(translator.BUNDLED), FRENCH, most_tokens=64)


@st.cache_data(max_entries=1, show_spinner=False)
def _widths() -> tuple[int, int]:
    """How many features come out of a head of the told size: without W_O, and with it."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, TOLD_D_MODEL, generator=generator, dtype=torch.float64)
    trace = run_head(x, random_head(TOLD_D_MODEL, TOLD_HEAD_DIM, generator=generator))
    return trace.output.shape[-1], trace.result.shape[-1]


def cards(seed: int) -> Sequence[Claim]:
    without, scaled = measured(seed)
    real = _real_heads()
    spreads, printed = _spreads(), as_printed.printed_spread()
    out, projected = _widths()
    return (
        Claim(
            _("Without 1/√head_dim the scores' variance grows with head_dim, and softmax saturates."),
            scaling_verdict(without, scaled),
            _(
                "For independent q and k of unit variance it grows as head_dim to the power {power:.2f}; the entropy "
                "falls from {high:.1f} to {low:.1f} bits. The {heads} real heads of the bundled model: {real:.1f} bits "
                "with the scaling, {bare:.1f} without."
            ).format(
                power=growth(without),
                high=without[0].entropy,
                low=without[-1].entropy,
                heads=real.heads,
                real=real.scaled,
                bare=real.unscaled,
            ),
        ),
        Claim(
            _("The 5 × 5 weights printed in the source texts come from the module printed there."),
            printed_verdict(printed, spreads),
            _(
                "Their standard deviation is {printed:.3f}. Run {count} times with new weights, the module gives "
                "{mean:.3f} on average, and never less than {least:.3f}."
            ).format(printed=printed, count=len(spreads), mean=sum(spreads) / len(spreads), least=min(spreads)),
        ),
        Claim(
            _("512 features go in, three times 64 lie in between, and 512 come out."),
            width_verdict(TOLD_D_MODEL, without=out, with_projection=projected),
            _("One head's output has {out} features; after W_O it has {projected}.").format(
                out=out, projected=projected
            ),
        ),
    )

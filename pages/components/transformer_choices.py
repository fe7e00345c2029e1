"""Three choices: where to normalise, how to say positions, and whether one matrix serves for all embeddings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import streamlit as st
import torch

from core.anatomy import Side
from core.charts.bar_table import TableWords, bar_table, bar_table_data
from core.charts.curves import Axis, curves, curves_data
from core.claims.transformer import Likeness
from core.initial_gradients import Start, measure_start
from core.model_pass import config_parameters
from core.models import AnyModel
from core.position_likeness import learnt_positions, likeness_by_distance, random_table
from core.positions.sinusoidal import sinusoidal_encoding
from core.transformer import NormPlace, PositionKind, TransformerConfig
from pages.components import shelf, transformer_claims, transformer_fold
from pages.components.controls import Panel
from pages.components.gqa_words import amount
from pages.components.i18n import _
from pages.components.plot import Part, figure, part
from pages.components.transformer_scene import BASE, LONGEST, SEEDS
from pages.components.transformer_words import norm_names, position_names, side_name, tied_names
from pages.components.words import Claim, look_for

KEY = "transformer.choices"
POSITIONS = 128  # whose vectors are compared
FAR = 64
CLAIMED_LAYERS = 6  # of the claims, as in Xiong et al. 2020, figure 3


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    num_layers: int
    starts: Mapping[NormPlace, Start]
    config: TransformerConfig
    likeness: Mapping[str, torch.Tensor]  # sinusoidal, untrained and, where there is a model, trained


def controls(panel: Panel) -> AnyModel | None:
    """The model whose trained positions are shown."""
    return shelf.loaded(shelf.MINILM)


def sliders(panel: Panel, model: AnyModel | None) -> Shown:
    with st.container(key="transformer_calm", gap="small"):  # each move sends gradients through twelve Transformers
        num_layers = panel.slider("depth", _("Layers of each stack"), 1, 12, default=6, step=1)
    with panel.beside():
        d_model = panel.slider("d_model", "d_model", 16, 1024, default=BASE["d_model"], step=16)
        vocab = panel.slider("vocab", _("Vocabulary"), 1000, 64_000, default=BASE["vocab"], step=1000)
    config = TransformerConfig(
        num_layers=num_layers, d_model=d_model, num_heads=8, d_ff=4 * d_model, vocab_size=vocab, max_len=LONGEST
    )
    return Shown(num_layers, starts(num_layers), config, _likeness(d_model, model, model.name if model else ""))


def starts(num_layers: int) -> Mapping[NormPlace, Start]:
    return {norm: _start(num_layers, norm) for norm in NormPlace}


@st.cache_resource(max_entries=24, show_spinner=False)
def _start(num_layers: int, norm: NormPlace) -> Start:
    return measure_start(num_layers, norm, seeds=SEEDS)


@st.cache_resource(max_entries=100, show_spinner=False)
def _likeness(d_model: int, _model: AnyModel | None, name: str) -> Mapping[str, torch.Tensor]:
    tables = {
        "sinusoidal": sinusoidal_encoding(POSITIONS, d_model),
        "untrained": random_table(POSITIONS, d_model, generator=torch.Generator().manual_seed(0)),
    }
    trained = None if _model is None else learnt_positions(_model.network)
    if trained is not None:
        tables["trained"] = trained[:POSITIONS]
    return {key: likeness_by_distance(table, FAR) for key, table in tables.items()}


def picture(panel: Panel, shown: Shown) -> None:
    look_for(*_in_words(shown))
    plot = figure(
        KEY,
        [[_gradients(shown), _stream(shown)], [_positions(shown), _tying(shown)]],
        name=_("three choices"),
        alt=_(
            "Curves of gradients and of vector lengths by layer, with pre-norm and with post-norm; curves of how alike "
            "positions are by their distance; a table of parameters with tied and untied embeddings."
        ),
    )
    transformer_fold.of_choices(
        shown.num_layers,
        shown.starts,
        plot,
        (measure_start, likeness_by_distance, config_parameters),
    )


def cards(model: AnyModel | None) -> Sequence[Claim]:
    measured = starts(CLAIMED_LAYERS)
    found = {
        key: Likeness(float(curve[1]), float(curve[FAR]))
        for key, curve in _likeness(BASE["d_model"], model, model.name if model else "").items()
    }
    return (
        transformer_claims.vanishing(measured[NormPlace.POST], CLAIMED_LAYERS),
        transformer_claims.bounds(measured),
        transformer_claims.positions(found["sinusoidal"], found["untrained"], found.get("trained"), FAR),
    )


def played(model: AnyModel | None) -> str | None:
    return "depth"


def _series() -> list[tuple[NormPlace, Side, str]]:
    names = norm_names()
    return [
        (norm, side, f"{names[norm.value]} · {side_name(side)}")
        for norm, side in product(NormPlace, (Side.DECODER, Side.ENCODER))
    ]


def _gradients(shown: Shown) -> Part:
    found = [shown.starts[norm].gradients[side].numpy() for norm, side, _name in _series()]
    layers = np.arange(1, shown.num_layers + 1)
    return part(
        "gradients",
        curves,
        curves_data(
            [layers] * len(found),
            [np.median(each, axis=0) for each in found],
            low=[each.min(axis=0) for each in found],
            high=[each.max(axis=0) for each in found],
        ),
        share=0.5,
        series=tuple(name for *_others, name in _series()),
        x=Axis(_("layer"), domain=(1, max(shown.num_layers, 2)), least_step=1),
        y=Axis(_("norm of the gradient"), log=True, domain=(0.003, 3), format="~g"),
        band=True,
        legend_columns=2,
        title=_("Before training: gradient of each feed-forward block’s second matrix"),
        height=128,
    )


def _stream(shown: Shown) -> Part:
    found = [shown.starts[norm].stream[side].numpy() for norm, side, _name in _series()]
    layers = np.arange(shown.num_layers + 1)
    return part(
        "stream",
        curves,
        curves_data(
            [layers] * len(found),
            [np.median(each, axis=0) for each in found],
            low=[each.min(axis=0) for each in found],
            high=[each.max(axis=0) for each in found],
        ),
        share=0.5,
        series=tuple(name for *_others, name in _series()),
        x=Axis(_("after layer (0: embeddings)"), domain=(0, shown.num_layers), least_step=1),
        y=Axis(_("root mean square"), domain=(0, 6)),
        band=True,
        legend_columns=2,
        title=_("Before training: size of the vectors between the layers"),
        height=128,
    )


def _positions(shown: Shown) -> Part:
    names = {
        "sinusoidal": _("sinusoidal"),
        "untrained": _("learnt, before training"),
        "trained": _("learnt, trained (MiniLM)"),
    }
    found = [curve.numpy() for curve in shown.likeness.values()]
    return part(
        "likeness",
        curves,
        curves_data([np.arange(FAR + 1)] * len(found), found),
        share=0.5,
        series=tuple(names[key] for key in shown.likeness),
        x=Axis(_("positions apart"), domain=(0, FAR)),
        y=Axis(_("mean cosine"), domain=(-0.2, 1)),
        symbols=False,
        title=_("How alike are the vectors of two positions?"),
        height=128,
    )


def _variants(config: TransformerConfig) -> Mapping[tuple[bool, PositionKind], int]:
    return {
        (tied, kind): config_parameters(replace(config, tied=tied, positions=kind))
        for tied, kind in product((True, False), PositionKind)
    }


def _tying(shown: Shown) -> Part:
    counts = _variants(shown.config)
    layers = min(counts.values()) - shown.config.vocab_size * shown.config.d_model
    tied, kinds = tied_names(), position_names()
    return part(
        "tying",
        bar_table,
        bar_table_data(
            [[count, count - layers] for count in counts.values()],
            [[amount(count), amount(count - layers)] for count in counts.values()],
        ),
        share=0.5,
        rows=tuple(f"{tied['tied' if is_tied else 'untied']} · {kinds[kind.value]}" for is_tied, kind in counts),
        columns=(_("Parameters"), _("in embeddings,\npositions, output")),
        words=TableWords(row_axis="", row=_("variant"), column=_("what"), value=_("value")),
        clickable=False,
        title=_("Parameters of {layers} + {layers} layers, {longest} positions").format(
            layers=shown.num_layers, longest=LONGEST
        ),
        height=112,
    )


def _in_words(shown: Shown) -> Sequence[str]:
    post, pre = shown.starts[NormPlace.POST], shown.starts[NormPlace.PRE]
    return (
        _(
            "In the post-norm decoder the last layer’s gradient is {post:.1f} times the first’s, with pre-norm "
            "{pre:.1f} times: one step size cannot suit all layers, so post-norm begins with small steps."
        ).format(post=post.unevenness(Side.DECODER), pre=pre.unevenness(Side.DECODER)),
        _(
            "Pre-norm pays with vectors that grow: {growth:.1f} times over {layers} layers, so that later blocks "
            "change less."
        ).format(growth=pre.growth(Side.DECODER), layers=shown.num_layers),
        _(
            "Measured at width 64, {seeds} seeds each (bands), with random tokens. The table is for the sizes on the "
            "left."
        ).format(seeds=SEEDS),
    )

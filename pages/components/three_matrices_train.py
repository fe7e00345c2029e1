"""One run: losses and accuracies while they come, and where every layer has learnt to look."""

import html

import numpy as np
import streamlit as st

from core.charts import curves, heatmaps
from core.labs.record import Record
from core.labs.three_matrices import Settings
from core.labs.three_matrices_model import sizes
from core.labs.three_matrices_seeds import bound_of
from core.labs.three_matrices_task import NAMES
from core.projections import Sharing
from pages.components import three_matrices_fold
from pages.components.i18n import _
from pages.components.lab import Lab, Seen
from pages.components.lab_curves import losses
from pages.components.numbers import percent
from pages.components.plot import Part, Plot, figure, part
from pages.components.three_matrices_look import in_words
from pages.components.three_matrices_words import LETTERS, variants
from pages.components.words import look_for

KEY = "three_matrices.train"
LOSSES = (0.0, 2.5)  # nats; guessing gives ln 8
CURVES_HEIGHT, MAPS_HEIGHT = 150, 190


def nothing() -> None:
    st.info(_("Nothing to train: choose at least one variant on the left."))


def draw(settings: Settings) -> None:
    lab = Lab("three_matrices", settings)
    lab.bar()

    def picture(seen: Seen) -> Plot:
        look_for(*in_words(settings, seen.record), beside=_table(settings, seen.record))
        return _figure(settings, seen.record)

    three_matrices_fold.draw_train(settings, lab.show(picture))


def _figure(settings: Settings, record: Record) -> Plot:
    chosen = settings.variants
    drawn = losses(
        "losses",
        _("Loss in training"),
        record,
        {variant: variants()[variant] for variant in chosen},
        steps=settings.steps,
        domain=LOSSES,
        y_title=_("loss, nats"),
        share=0.5,
        height=CURVES_HEIGHT,
    )
    return figure(
        KEY,
        [
            [drawn, _accuracies(settings, record)],
            [_map(settings, record, variant, len(chosen)) for variant in chosen],
        ],
        name=_("three matrices"),
        alt=_(
            "Curves of loss and of accuracy over the steps of a training, one for each variant; below a heatmap of the "
            "attention weights that each has learnt, of the same tokens."
        ),
    )


def _accuracies(settings: Settings, record: Record) -> Part:
    found = [record.found.get(variant, {}).get("accuracies", []) for variant in settings.variants]
    return part(
        "accuracies",
        curves.curves,
        curves.curves_data(
            [[step for step, _share in points] for points in found],
            [[share for _step, share in points] for points in found],
        ),
        share=0.5,
        series=_names(settings),
        x=curves.Axis(_("step"), domain=(0, settings.steps), format="d", least_step=1),
        y=curves.Axis(_("accuracy"), domain=(0.0, 1.04), ticks=(0, 0.5, 1)),
        title=_("Right answers on fresh sequences"),
        height=CURVES_HEIGHT,
    )


def _map(settings: Settings, record: Record, variant: str, count: int) -> Part:
    found = record.found.get(variant, {})
    weights = np.asarray(found["example"]["weights"]) / 100 if "example" in found else np.full((NAMES, NAMES), np.nan)
    mask = np.ones((NAMES, NAMES), bool) if settings.look_at_self else ~np.eye(NAMES, dtype=bool)
    return part(
        variant,
        heatmaps.heatmap,
        heatmaps.heatmap_data(weights, attend_mask=mask),
        share=1 / count,
        queries=_tokens(record),
        keys=_tokens(record),
        kind="weights",
        words=heatmaps.Words(
            row_axis=_("query: looks"),
            column_axis=_("key: is looked at"),
            query=_("query"),
            key=_("key"),
            value=_("weight"),
            masked=_("masked"),
            allowed=_("may look"),
        ),
        title=_("Weights: {variant}").format(variant=variants()[variant]),
        height=MAPS_HEIGHT,
        clickable=False,
    )


def _table(settings: Settings, record: Record) -> str:
    """Every variant with its size and what was measured of it last, as HTML."""
    columns = ("W_Q W_K W_V", _("all"), _("accuracy"), _("loss"), _("looks right"), _("at most"), "S−Sᵀ", "A−Aᵀ")
    head = "".join(f"<th>{html.escape(column)}</th>" for column in ("", *columns))
    rows = "".join(_row(settings, record, variant) for variant in settings.variants)
    what = _(
        "Numbers that are trained, of the matrices and in all; the last measurement on fresh sequences. S−Sᵀ, A−Aᵀ: "
        "largest difference of the scores below, and of the weights, to their transpose."
    )
    table = f'<table class="atlas-grid dense"><tr>{head}</tr>{rows}</table>'
    return f'<div class="atlas-wide" tabindex="0">{table}</div><small>{html.escape(what)}</small>'


def _row(settings: Settings, record: Record, variant: str) -> str:
    found = record.found.get(variant, {})
    projections, every = sizes(Sharing(variant), settings.d_model, settings.head_dim)
    cells = [f"{projections:,}", f"{every:,}"]
    if "measured" in found and "example" in found:
        measured, example = found["measured"], found["example"]
        cells += [percent(measured["accuracy"]), f"{measured['loss']:.2f}", percent(measured["looking_right"])]
        asymmetries = [percent(example["score_asymmetry"]), percent(example["weight_asymmetry"])]
    else:
        cells += ["–"] * 3
        asymmetries = ["–"] * 2
    cells += [percent(bound_of(settings, variant)), *asymmetries]
    said = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
    return f"<tr><th>{html.escape(variants()[variant])}</th>{said}</tr>"


def _tokens(record: Record) -> tuple[str, ...]:
    """The tokens of the example; only their names before anything has been trained."""
    tags = next((found["tags"] for found in record.found.values() if "tags" in found), None)
    if tags is None:
        return tuple(LETTERS)
    return tuple(f"{name}{tag}" for name, tag in zip(LETTERS, tags, strict=True))


def _names(settings: Settings) -> tuple[str, ...]:
    return tuple(variants()[variant] for variant in settings.variants)

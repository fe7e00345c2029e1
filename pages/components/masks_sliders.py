"""The sliders of the masks page: they change what is drawn, and not which controls there are."""

from dataclasses import replace
from functools import partial

import streamlit as st
import torch

from core.written_masks import OrderError, OrderProblem, read_order, shuffled_order, write_closed
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.masks_controls import MOST_TOKENS
from pages.components.masks_scene import SCORE_SCALE, Scene, Settings, attend_mask, scene
from pages.components.typed import quoted

CLOSED = r"|[0-9a-f]{1,5}(-[0-9a-f]{1,5}){0,19}"


def sliders(panel: Panel, settings: Settings) -> Scene:
    """Draw the sliders that this view and this mask use, and compute what they say."""
    if settings.view == "teaching":
        steps = settings.batch.seq_len
        step = panel.slider("step", _("Step"), 1, steps, default=min(2, steps), step=1)
        return scene(_layer(panel, replace(settings, query=step - 1)))
    if settings.view == "batch":
        return scene(_sentence(panel, settings))
    with panel.beside():
        settings = _sentence(panel, settings)
        seq_q = len(settings.queries)
        query = panel.slider("query", _("Query token"), 1, seq_q, default=min(5, seq_q), step=1)
    settings, *said = _of_kind(panel, replace(settings, query=query - 1))
    return scene(_layer(panel, settings), *said)


def _sentence(panel: Panel, settings: Settings) -> Settings:
    sentence = panel.slider("sentence", _("Sentence"), 1, len(settings.batch.sentences), default=1, step=1)
    return replace(settings, sentence=sentence - 1)


def _of_kind(panel: Panel, settings: Settings) -> tuple[Settings, *tuple[str, ...]]:
    """What only this kind of mask asks for; and what the user should know about it."""
    kind, seq_len = settings.kind, len(settings.queries)
    if kind == "window":
        with panel.beside():
            left = panel.slider("left", _("Before"), 0, MOST_TOKENS, default=settings.left, step=1)
            right = panel.slider("right", _("After"), 0, MOST_TOKENS, default=settings.right, step=1)
        return (replace(settings, left=left, right=right),)
    if kind == "prefix":
        usual = min(settings.prefix_len, seq_len)
        length = panel.slider("prefix", _("Prefix length"), 0, seq_len, default=usual, step=1)
        return (replace(settings, prefix_len=length),)
    if kind.startswith("xlnet"):
        return _ordered(panel, settings)
    return (_own(panel, settings) if kind == "own" else settings,)


def _ordered(panel: Panel, settings: Settings) -> tuple[Settings, *tuple[str, ...]]:
    """XLNet's order of prediction."""
    seq_len = len(settings.queries)
    if settings.typed_order is None:
        shuffle = panel.slider("shuffle", _("Shuffle"), 0, 99, default=0, step=1)
        return (replace(settings, order=shuffled_order(seq_len, torch.Generator().manual_seed(shuffle))),)
    try:
        return (replace(settings, order=read_order(settings.typed_order, seq_len)),)
    except OrderError as error:
        problems = {
            OrderProblem.NOT_NUMBERS: _("“{part}” in the order is not a whole number."),
            OrderProblem.TWICE: _("Position {part} stands in the order twice; each token is predicted once."),
            OrderProblem.OUT_OF_RANGE: _("Position {part} is not in this sentence: its positions are 1 to {last}."),
        }
        sentence = problems[error.problem].format(part=quoted(error.culprit), last=seq_len)
        return settings, sentence, _("The order of reading is used instead.")


def _own(panel: Panel, settings: Settings) -> Settings:
    """The cells that are closed, and what a keyboard needs to close them: the query and a key make a cell."""
    seq_k = len(settings.keys)
    closed = panel.hidden("closed", _("Closed cells"), default="", pattern=CLOSED)
    key = panel.slider("key", _("Key token"), 1, seq_k, default=min(2, seq_k), step=1)
    settings = replace(settings, closed=closed, key=key - 1)
    change = partial(turn, panel, settings, settings.query, settings.key)
    reopen = partial(panel.put, {"closed": ""})
    with panel.beside():
        st.button(
            _("Open or close"),
            on_click=change,
            key="masks.turn",
            type="tertiary",
            icon=":material/grid_on:",
            help=_("The cell in the row of the query token and the column of the key token."),
        )
        st.button(
            _("Open all"),
            on_click=reopen,
            key="masks.reopen",
            type="tertiary",
            icon=":material/undo:",
            disabled=not closed,
        )
    return settings


def turn(panel: Panel, settings: Settings, query: int, key: int) -> None:
    """Open a cell of one's own mask, or close it."""
    mask = attend_mask(settings)
    mask[query, key] = ~mask[query, key]
    panel.put({"closed": write_closed(mask)})


def _layer(panel: Panel, settings: Settings) -> Settings:
    told = _("Scores come from seeded random vectors and projections, and are multiplied by this number.")
    with panel.beside():
        scale = panel.slider("scale", _("Score scale"), 0.0, 5.0, default=SCORE_SCALE, step=0.1, help=told)
        seed = panel.slider("seed", _("Seed"), 0, 99, default=0, step=1)
    return replace(settings, score_scale=scale, seed=seed)

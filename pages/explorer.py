"""Attention explorer: what every head of a real model looks at in a text, and what that says and does not say."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from core import models
from core.models import AnyModel, Kind
from pages.components import (
    explorer_find,
    explorer_grid,
    explorer_hide,
    explorer_map,
    explorer_senses,
    explorer_write,
)
from pages.components.controls import Panel
from pages.components.explorer_scene import PAGE, Nothing, choose_model
from pages.components.i18n import _
from pages.components.words import Claim, claim_cards, heading

CHINESE = "bert-base-chinese"
TIRED = "The animal didn't cross the street because it was too tired."


@dataclass(frozen=True, slots=True)
class View:
    """What a view is made of; `controls` reads the text, and returns Nothing where there is nothing to show."""

    controls: Callable[[Panel, AnyModel], Any]
    sliders: Callable[[Panel, Any], Any]
    picture: Callable[[Panel, Any], None]
    cards: Callable[[Any], Sequence[Claim]]
    played: Callable[[Any], str | None]


def _view(module: Any, picture: Callable[[Panel, Any], None] | None = None) -> View:
    return View(module.controls, module.sliders, picture or module.picture, module.cards, module.played)


VIEWS = {
    "matrix": _view(explorer_map, explorer_map.matrix),
    "lines": _view(explorer_map, explorer_map.lines),
    "grid": _view(explorer_grid),
    "text": _view(explorer_map, explorer_map.text),
    "find": _view(explorer_find),
    "senses": _view(explorer_senses),
    "hide": _view(explorer_hide),
    "write": _view(explorer_write),
}


def render() -> None:
    settings: Any = None
    with Panel(PAGE) as panel:
        model = choose_model(panel)
        name = panel.choice("view", _("View"), _names(model), default="matrix")
        if model is not None:
            settings = VIEWS[name].controls(panel, model)
    view = VIEWS[name]
    heading(_("Attention explorer"), _("What does a real model look at, and what does that tell?"), panel)
    if isinstance(settings, Nothing):
        st.info(settings.sentence)
        settings = None
    if settings is not None:
        panel.follow(partial(view.sliders, panel, settings), partial(view.picture, panel))
        claim_cards(view.cards(settings))
    panel.finish(presets=_presets(), play=view.played(settings) if settings is not None else None)


def _names(model: AnyModel | None) -> dict[str, str]:
    names = {
        "matrix": _("Matrix"),
        "lines": _("Lines between tokens"),
        "grid": _("All heads"),
        "text": _("Shaded text"),
        "find": _("Find the head"),
        "senses": _("One word, two sentences"),
        "hide": _("Hide a token"),
    }
    if model is not None and model.facts.family.kind is Kind.DECODER:
        names["write"] = _("Continue the text")
    return names


def _presets() -> dict[str, dict[str, object]]:
    presets: dict[str, dict[str, object]] = {
        _("The cat sat"): {"view": "matrix"},
        _("A pronoun"): {"view": "find", "text_en": TIRED, "token": 11, "key": 3},
        _("Two banks"): {"view": "senses", "how": "mean"},
        _("Not explained"): {"view": "hide", "text_en": TIRED, "token": 1},
    }
    if models.allowed(CHINESE) and models.is_available(CHINESE):
        presets["银行"] = {"model": CHINESE, "view": "senses", "how": "mean"}
        presets["小明 … 他"] = {"model": CHINESE, "view": "find", "token": 7, "key": 2}
    for gpt2 in ("gpt2", "distilgpt2"):
        if models.allowed(gpt2) and models.is_available(gpt2):
            presets[_("It goes on")] = {"model": gpt2, "view": "write"}
            break
    return presets

"""The whole model at work: a translation, token by token."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from functools import partial

import streamlit as st

from core.decoding import Sampling
from core.models import TranslationModel
from pages.components import (
    translation_beams,
    translation_claims,
    translation_encoder,
    translation_fold,
    translation_quality,
    translation_steps,
    translator,
)
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.translation_scene import Scene, Shown, choose_maps, choose_step
from pages.components.translator import Method
from pages.components.words import claim_cards, heading

SENTENCE = "Je t'aime."
VIEWS = {
    "steps": translation_steps.view,
    "beams": translation_beams.view,
    "encoder": translation_encoder.view,
    "quality": translation_quality.view,
}


def render() -> None:
    with Panel("translation") as panel:
        model = translator.choose(panel)
        names = {"steps": _("Step by step"), "beams": _("Beam tree"), "encoder": _("Encoder"), "quality": _("Quality")}
        view = panel.choice("view", _("View"), names, default="steps")
        text, was_cut = _text(panel, model) if view != "quality" else ("", False)
        method = _method(panel) if view != "quality" else Method(length_penalty=_penalty(panel))
        forced = translator.prescribed(panel, model) if view != "quality" else ()
        trace = translator.translated(model, text, method, forced)
        which = choose_maps(panel, model, view)

    heading(_("Translation"), _("How does a Transformer turn one sentence into another, one token at a time?"), panel)
    if model is None or trace is None:
        st.info(_("There is nothing to show without a model that can translate. Every other page still works."))
        panel.finish(presets=_presets())
        return
    scene = Scene(panel, model, text, was_cut, trace, method, forced, Shown(0, *which))
    panel.follow(partial(choose_step, scene, view), partial(_picture, view))
    claim_cards(translation_claims.cards(scene))
    panel.finish(presets=_presets(), play="step" if trace.steps and view == "steps" else None)


def _picture(view: str, scene: Scene) -> None:
    plots = VIEWS[view](scene)
    if view == "quality":
        translation_fold.draw_quality(scene, plots)
    else:
        translation_fold.draw(scene, plots)


def _text(panel: Panel, model: TranslationModel | None) -> tuple[str, bool]:
    """The sentence as the model reads it: behind its task's prefix, and not longer than there is room; was it cut?"""
    forget = partial(panel.put, {"forced": ""})
    spoken = "en" if model is not None and model.tasks else "fr"
    sentence = panel.text(
        "sentence",
        _("Sentence"),
        default=SENTENCE,
        max_chars=1000,
        spoken=spoken,
        help=_("It is read in pieces: “+ing” goes on with the word before it, “␣” is the beginning of a word alone."),
        on_change=forget,
    )
    if model is None or not sentence.strip():
        return "", False
    tasks = {task.name: task.prefix for task in model.tasks}
    if tasks:
        known = {"en-de": _("English → German"), "en-fr": _("English → French"), "en-ro": _("English → Romanian")}
        names = {name: known.get(name, name) for name in tasks}
        task = panel.choice("task", _("Task"), names, default=next(iter(tasks)), on_change=forget)
        sentence = f"{tasks[task]}{sentence}"
    return translator.shorten(model, model.name, sentence)


def _method(panel: Panel) -> Method:
    """The way of decoding, with only the controls that belong to it."""
    names = {"greedy": _("Greedy"), "beam": _("Beam"), "sampled": _("Sampled")}
    method = panel.choice("method", _("Decoding"), names, default="greedy")
    if method == "greedy":
        return Method()
    left, right = st.container(key="translation_calm").columns(2)  # each move is a translation
    if method == "beam":
        with left:
            beams = panel.slider("beams", _("Beams"), 2, 8, default=4, step=1)
        with right:
            penalty = _penalty(panel)
        early = panel.toggle("early", _("Stop at the first full set of results"), default=False)
        return Method(num_beams=beams, length_penalty=penalty, early_stopping=early)
    with left:
        temperature = panel.slider("temperature", _("Temperature"), 0.1, 2.0, default=1.0, step=0.1)
        top_k = panel.slider("top_k", _("Top k (0: all)"), 0, 50, default=0, step=1)
    with right:
        seed = panel.slider("seed", _("Seed"), 0, 99, default=0, step=1)
        top_p = panel.slider("top_p", _("Top p"), 0.05, 1.0, default=1.0, step=0.05)
    return Method(sampling=Sampling(temperature=temperature, top_k=top_k, top_p=top_p), seed=seed)


def _penalty(panel: Panel) -> float:
    return panel.slider("penalty", _("Length penalty"), -1.0, 2.0, default=1.0, step=0.1)


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("A word it is unsure of"): {"sentence": "Il fait chaud.", "step": 3},
        _("A tree of beams"): {"sentence": "Où est-ce que tu habites ?", "method": "beam", "view": "beams"},
        _("Word order"): {"sentence": "J'ai vu un chat noir dans le jardin.", "step": 5},
    }

"""The whole model at work: a translation, token by token."""

from functools import partial

import streamlit as st

from core.decoding import Sampling
from core.models import TranslationModel
from pages.components import translation_claims, translation_fold, translation_views, translator
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.translator import Method
from pages.components.words import claim_cards, heading

SENTENCE = "Je t'aime."
VIEWS = {
    "steps": translation_views.steps,
    "beams": translation_views.beams,
    "encoder": translation_views.encoder,
    "quality": translation_views.quality,
}


def render() -> None:
    with Panel("translation") as panel:
        model = translator.choose(panel)
        text = _text(panel, model)
        method = _method(panel)
        view = panel.choice(
            "view",
            _("View"),
            {"steps": _("Step by step"), "beams": _("Beam tree"), "encoder": _("Encoder"), "quality": _("Quality")},
            default="steps",
        )
        forced = _forced(panel, model)
        trace = translator.trace(model, model.name, text, method, forced) if model else None
        shown = translation_views.choose(panel, trace, view)
        panel.finish(presets=_presets(), play="step" if trace and trace.steps and view == "steps" else None)

    heading(_("Translation"), _("How does a Transformer turn one sentence into another, one token at a time?"), panel)
    if model is None or trace is None:
        st.info(_("There is no model to translate with. Every other page still works."))
        return
    plots = VIEWS[view](panel, model, trace, method, shown)
    claim_cards(translation_claims.cards(model, method))
    translation_fold.draw(model, text, trace, method, shown.step, plots)


def _text(panel: Panel, model: TranslationModel | None) -> str:
    """The sentence as the model reads it: behind its task's prefix, and not longer than there is room."""
    forget = partial(panel.put, {"forced": ""})
    sentence = panel.text("sentence", _("Sentence"), default=SENTENCE, max_chars=1000, on_change=forget)
    if model is None or not sentence.strip():
        return ""
    tasks = {task.name: task.prefix for task in model.tasks}
    if tasks:
        names = {
            "en-de": _("English → German"),
            "en-fr": _("English → French"),
            "en-ro": _("English → Romanian"),
        }
        task = panel.choice("task", _("Task"), {name: names[name] for name in tasks}, default="en-de", on_change=forget)
        sentence = f"{tasks[task]}{sentence}"
    return translator.shorten(model, sentence)


def _method(panel: Panel) -> Method:
    """The way of decoding, with only the controls that belong to it."""
    names = {"greedy": _("Greedy"), "beam": _("Beam"), "sampled": _("Sampled")}
    method = panel.choice("method", _("Decoding"), names, default="greedy")
    if method == "greedy":
        return Method()
    left, right = st.columns(2)
    if method == "beam":
        with left:
            beams = panel.slider("beams", _("Beams"), 2, 8, default=4, step=1)
        with right:
            penalty = panel.slider("penalty", _("Length penalty"), -1.0, 2.0, default=1.0, step=0.1)
        early = panel.toggle("early", _("Stop at the first full set of results"), default=False)
        return Method(num_beams=beams, length_penalty=penalty, early_stopping=early)
    with left:
        temperature = panel.slider("temperature", _("Temperature"), 0.1, 2.0, default=1.0, step=0.1)
        top_k = panel.slider("top_k", _("Top k (0: all)"), 0, 50, default=0, step=1)
    with right:
        seed = panel.slider("seed", _("Seed"), 0, 99, default=0, step=1)
        top_p = panel.slider("top_p", _("Top p"), 0.05, 1.0, default=1.0, step=0.05)
    return Method(sampling=Sampling(temperature=temperature, top_k=top_k, top_p=top_p), seed=seed)


def _forced(panel: Panel, model: TranslationModel | None) -> tuple[int, ...]:
    """The tokens that the user has put into the model's mouth."""
    kept = panel.hidden("forced", _("Prescribed tokens"), default="", pattern=r"|\d{1,6}(-\d{1,6}){0,59}")
    ids = tuple(int(number) for number in kept.split("-") if number)
    if ids:
        st.button(
            _("Let the model speak for itself"), on_click=partial(panel.put, {"forced": ""}), icon=":material/undo:"
        )
    known = model is not None and all(number < model.facts.vocab_size for number in ids)
    return ids if known else ()


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("A word it is unsure of"): {"sentence": "Il fait très beau aujourd'hui.", "step": 3},
        _("A tree of beams"): {"sentence": "Où est-ce que tu habites ?", "method": "beam", "view": "beams"},
        _("Word order"): {"sentence": "J'ai vu un chat noir dans le jardin.", "step": 5},
    }


if __name__ == "__main__":  # a fresh server opened straight at this page
    import streamlit_app

    streamlit_app.main()

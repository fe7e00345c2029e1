"""The claims of the attention explorer, each with what was measured just now, on MiniLM or on the text on screen."""

import streamlit as st

from core.claims import Verdict
from core.claims.explorer import (
    TOLD,
    WORD,
    Importance,
    PronounHead,
    TwoSenses,
    importance_verdict,
    measure_importance,
    measure_pronouns,
    measure_senses,
    measure_share,
    pronoun_verdict,
    senses_verdict,
    sinks_verdict,
)
from core.models import AnyModel, ModelError
from pages.components import shelf
from pages.components.explorer_scene import Scene
from pages.components.i18n import _
from pages.components.numbers import percent, signed
from pages.components.words import Claim


def _minilm() -> AnyModel | None:
    try:
        return shelf.load(shelf.MINILM)
    except ModelError:
        return None


def _unmeasured() -> str:
    return _("MiniLM, on which it is measured, is not on this server.")


def pronouns() -> Claim:
    model = _minilm()
    found = _pronouns(model) if model is not None else None
    measured = _unmeasured()
    if found is not None:
        measured = _(
            "MiniLM, {sentences} sentences: its best head (layer {layer}, head {head}) gives the name {weight}, in "
            "{first} of them more than any other token. [CLS], [SEP] and full stops get {sinks} of the pronouns’ "
            "attention."
        ).format(
            sentences=found.sentences,
            layer=found.layer + 1,
            head=found.head + 1,
            weight=signed(found.weight, 2),
            first=found.first,
            sinks=percent(found.sinks),
        )
    return Claim(
        _("One head resolves pronouns: it gives {told} to the name.").format(told=signed(TOLD, 2)),
        pronoun_verdict(found),
        measured,
        label=_("a tendency") if pronoun_verdict(found) is Verdict.ONLY_IF else None,
    )


@st.cache_data(max_entries=1, show_spinner=False)
def _pronouns(_model: AnyModel) -> PronounHead | None:
    return measure_pronouns(_model)


def sinks(scene: Scene) -> Claim:
    share = measure_share(scene.reading, causal=scene.causal)
    return Claim(
        _("Attention shows which words matter."),
        sinks_verdict(share),
        _(
            "This text: {together} of all attention goes to special tokens, the first token and full stops; their even "
            "share would be {even}. One head gives them {largest}."
        ).format(together=percent(share.together), even=percent(share.even), largest=percent(share.largest)),
        label=_("only in part") if sinks_verdict(share) is Verdict.ONLY_IF else None,
    )


def senses() -> Claim:
    model = _minilm()
    found = _senses(model) if model is not None else None
    measured = _unmeasured()
    if found is not None:
        measured = _(
            "MiniLM, {pairs} pairs of sentences, last layer: cosine {within} with the same sense (at least {least}), "
            "{across} with different ones (at most {most}); below the first layer {before} and {behind}. The word that "
            "tells the sense gets {cue} of its attention, [CLS], [SEP] and full stops {sinks}."
        ).format(
            pairs=len(found.within) + len(found.across),
            within=signed(float(found.within[:, -1].mean()), 2),
            least=signed(float(found.within[:, -1].min()), 2),
            across=signed(float(found.across[:, -1].mean()), 2),
            most=signed(float(found.across[:, -1].max()), 2),
            before=signed(float(found.within[:, 0].mean()), 2),
            behind=signed(float(found.across[:, 0].mean()), 2),
            cue=percent(found.on_cue),
            sinks=percent(found.on_sinks),
        )
    return Claim(
        _("“{word}” beside a river gets another vector than “{word}” with money in it.").format(word=WORD),
        senses_verdict(found),
        measured,
        label=_("in the mean") if senses_verdict(found) is Verdict.ONLY_IF else None,
    )


@st.cache_resource(max_entries=1, show_spinner=False)
def _senses(_model: AnyModel) -> TwoSenses | None:
    return measure_senses(_model)


def importance() -> Claim:
    model = _minilm()
    found = None
    if model is not None:
        with st.spinner(_("Hiding every word of eight sentences…")):
            found = _importance(model)
    measured = _unmeasured()
    if found is not None:
        measured = _(
            "MiniLM, {count} sentences: rank correlation {mean} between the attention that words receive and how far "
            "the output moves without them ({least} to {most}); the first of one order is the first of the other in "
            "{first}. [CLS], no word at all, receives more than any."
        ).format(
            count=len(found.correlations),
            mean=signed(found.mean, 2),
            least=signed(min(found.correlations), 2),
            most=signed(max(found.correlations), 2),
            first=found.first,
        )
    return Claim(
        _("A token with much attention is an important token."),
        importance_verdict(found),
        measured,
        label=_("a tendency") if importance_verdict(found) is Verdict.ONLY_IF else None,
    )


@st.cache_data(max_entries=1, show_spinner=False)
def _importance(_model: AnyModel) -> Importance | None:
    return measure_importance(_model)

"""What the translation page shows: the model, the sentence, its translation, and which part of it is looked at."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from core.charts.heatmaps import Words
from core.decoding import DecodingTrace
from core.models import TranslationModel
from pages.components.controls import Panel
from pages.components.i18n import _, ngettext
from pages.components.numbers import signed
from pages.components.tokens import token_line
from pages.components.translator import Method


@dataclass(frozen=True, slots=True)
class Shown:
    """Which step, layer and head are drawn, counted from 0; None is the mean over all."""

    step: int
    layer: int | None
    head: int | None

    @property
    def name(self) -> str:
        match self.layer, self.head:
            case None, None:
                return _("mean over all layers and heads")
            case None, int(head):
                return _("mean over all layers, head {head}").format(head=head + 1)
            case int(layer), None:
                return _("layer {layer}, mean over all heads").format(layer=layer + 1)
            case layer, head:
                return _("layer {layer}, head {head}").format(layer=(layer or 0) + 1, head=(head or 0) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """All that a view needs."""

    panel: Panel
    model: TranslationModel
    text: str  # as the model reads it
    was_cut: bool
    trace: DecodingTrace
    method: Method
    forced: tuple[int, ...]
    shown: Shown


def choose_maps(panel: Panel, model: TranslationModel | None, view: str) -> tuple[int | None, int | None]:
    """The controls for layer and head, if this view draws attention."""
    if model is None or view not in ("steps", "encoder"):
        return None, None
    num_layers = model.facts.encoder_layers if view == "encoder" else model.facts.decoder_layers
    with panel.beside():
        layer = panel.choice("layer", _("Layer"), _numbered(num_layers), default="mean", narrow=True)
        head = panel.choice("head", _("Head"), _numbered(model.facts.num_heads), default="mean", narrow=True)
    return _number(layer), _number(head)


def choose_step(scene: Scene, view: str) -> Scene:
    """The control for the step, if this view draws one."""
    if view != "steps" or not scene.trace.steps:
        return scene
    panel = scene.panel
    step = panel.slider("step", _("Step"), 1, len(scene.trace.steps), default=1, step=1)
    return replace(scene, shown=replace(scene.shown, step=step - 1))


def _number(chosen: str) -> int | None:
    """Counted from 0; None for the mean."""
    return int(chosen) - 1 if chosen.isdigit() else None


def _numbered(count: int) -> dict[str, str]:
    return {"mean": _("mean")} | {str(number): str(number) for number in range(1, count + 1)}


def source_line(scene: Scene) -> str:
    """What the encoder reads, in HTML, and what became of the sentence on the way to it."""
    line = token_line(_("The encoder reads"), scene.trace.source_tokens, scene.trace.source_ids)
    return line + "".join(f'<p class="atlas-note">{html.escape(sentence)}</p>' for sentence in _about_the_source(scene))


def _about_the_source(scene: Scene) -> Sequence[str]:
    sentences = []
    tokenizer = scene.model.tokenizer
    unknown = scene.trace.source_ids.count(tokenizer.unk_token_id)
    if unknown:
        sentences.append(
            ngettext(
                "{count} token of the sentence is unknown to this model: it reads {mark} there, and can only guess.",
                "{count} tokens of the sentence are unknown to this model: it reads {mark} there, and can only guess.",
                unknown,
            ).format(count=unknown, mark=tokenizer.unk_token)
        )
    if scene.was_cut:
        sentences.append(
            _("The sentence was cut after {count} tokens: there is room for no more.").format(
                count=len(scene.trace.source_ids)
            )
        )
    return sentences


def result_line(scene: Scene) -> str:
    """The translation and its score, in HTML."""
    score = _("score {score}").format(score=signed(scene.trace.score, 3))
    text = scene.trace.text if scene.trace.finished else f"{scene.trace.text} …"
    return (
        f'<div class="atlas-tokens"><b>{html.escape(_("Translation"))}</b>'
        f'<span class="atlas-result">{html.escape(text)}</span> <small>{html.escape(score)}</small></div>'
    )


def say_that_there_is_nothing() -> None:
    st.info(_("There is nothing to translate yet. Type a sentence on the left."))


def heatmap_words(row_axis: str, column_axis: str) -> Words:
    return Words(
        row_axis=row_axis,
        column_axis=column_axis,
        query=_("query"),
        key=_("key"),
        value=_("weight"),
        masked=_("masked"),
        allowed=_("may look"),
    )

"""A decoder on its own continues the text: what could come next at every step, and where the model looks meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st
import torch

from core.charts import bars, shaded
from core.explorer import read_ids
from core.explorer_maps import shown_map
from core.explorer_writing import Continuation, continue_text
from core.models import AnyModel, TextModel
from pages.components import explorer_claims, explorer_fold, frame
from pages.components.controls import Panel
from pages.components.explorer_scene import Nothing, Scene, Shown, beside, choose_map, choose_text, name_of
from pages.components.i18n import _
from pages.components.numbers import percent
from pages.components.plot import GAP, Part, current_style, figure, part
from pages.components.tokens import plain, plainly, token_line
from pages.components.words import Claim, look_for

KEY = "explorer.write"
STEPS = 20
SHARE = 0.4
CANDIDATES = {"normal": 10, "projector": 7}


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A text and its continuation, read again as one."""

    scene: Scene
    continuation: Continuation


@dataclass(frozen=True, slots=True, eq=False)
class View:
    draft: Draft
    step: int
    shown: Shown  # the token that looks is the last one before this step


def controls(panel: Panel, model: AnyModel) -> Draft | Nothing:
    scene = choose_text(panel, model, pair=False)
    if isinstance(scene, Nothing):
        return scene
    return _draft(scene, model.name, scene.reading.texts)


@st.cache_resource(max_entries=6, show_spinner=False)
def _draft(_scene: Scene, name: str, texts: tuple[str, ...]) -> Draft:
    model = _scene.model
    if not isinstance(model, TextModel):
        raise TypeError(f"model ({name}) must be a decoder on its own")
    continuation = continue_text(model, texts[0], STEPS)
    return Draft(replace(_scene, reading=read_ids(model, texts, continuation.ids)), continuation)


def sliders(panel: Panel, draft: Draft) -> View:
    shown = choose_map(panel, draft.scene, token=False)
    step = panel.slider("step", _("Step"), 1, len(draft.continuation.steps), default=1, step=1)
    before = len(draft.continuation.ids) - len(draft.continuation.steps) + step - 2
    return View(draft, step - 1, replace(shown, token=max(0, before)))


def cards(draft: Draft) -> Sequence[Claim]:
    return (explorer_claims.sinks(draft.scene),)


def played(draft: Draft) -> str | None:
    return "step"


def picture(panel: Panel, view: View) -> None:
    look_for(*_in_words(view), beside=_said(view) + beside(view.draft.scene))
    plot = figure(
        KEY,
        [[_next(view), _looks(view)]],
        name=_("continuation, step {step}").format(step=view.step + 1),
        alt=_(
            "Bars: the most probable next tokens, the one that is taken is marked; the text so far, each token shaded "
            "by how much the last one looks at it."
        ),
    )
    explorer_fold.draw("explorer_write", view.shown, code=(continue_text, shown_map), plots=[plot])


def _said(view: View) -> str:
    """The text so far, with the token that comes next."""
    ids = view.draft.continuation.ids[: view.shown.token + 1]
    tokens = view.draft.scene.reading.tokens[: view.shown.token + 1]
    step = view.draft.continuation.steps[view.step]
    return token_line(_("The model has read"), tokens[-12:], ids[-12:], next_token=plain(step.chosen.token))


def _next(view: View) -> Part:
    step = view.draft.continuation.steps[view.step]
    count = CANDIDATES[frame.type_size()]
    shown = [replace(each, token=plain(each.token)) for each in step.candidates]
    return part(
        "next",
        bars.candidates,
        bars.candidates_data(shown, chosen_id=step.chosen.token_id, count=count),
        share=SHARE,
        count=count,
        words=bars.CandidateWords(
            axis=_("probability of being next"),
            token=_("token"),
            token_id=_("id"),
            probability=_("probability"),
            log_probability=_("log-probability"),
            drawn=_("probability of being drawn"),
        ),
        title=_("What could come next"),
        clickable=False,
    )


def _looks(view: View) -> Part:
    style = current_style()
    width = int((1 - SHARE) * (frame.room() - style.px(GAP)))
    texts = plainly(view.draft.scene.reading.tokens)
    row = view.shown.row.double()
    seen = torch.arange(len(texts)) <= view.shown.token
    return part(
        "looks",
        shaded.shaded,
        shaded.shaded_data(
            texts,
            torch.where(seen, row, torch.nan).numpy(),
            outer_width=width,
            scale=style.scale,
            chosen=[view.shown.token],
        ),
        share=1 - SHARE,
        texts=texts,
        lines=shaded.lines_of(texts, outer_width=width, scale=style.scale),
        words=shaded.ShadedWords(token=_("token"), value=_("weight")),
        title=_("Where the last token looks"),
        clickable=False,
    )


def _in_words(view: View) -> Sequence[str]:
    continuation = view.draft.continuation
    step = continuation.steps[view.step]
    return [
        _("The model continues: “{said}”.").format(said=continuation.said.strip()),
        _("Step {step} of {steps}: “{token}” is the most probable token, with {probability}; greedy takes it.").format(
            step=view.step + 1,
            steps=len(continuation.steps),
            token=plain(step.chosen.token),
            probability=percent(step.chosen.probability),
        ),
        _("Shaded: where the token before it looks ({map}).").format(map=name_of(view.shown)),
        _("At the end it says that the text is over.") if continuation.ended else "",
    ]

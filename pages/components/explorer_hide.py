"""Attention is not explanation: hide one token after the other, and see how far the output moves."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st
import torch

from core.charts import points, shaded
from core.charts.curves import Axis
from core.explorer_hide import Hidden, hide_each, rank_correlation, received
from core.models import AnyModel
from pages.components import explorer_claims, explorer_fold, frame
from pages.components.controls import Panel
from pages.components.explorer_scene import Nothing, Scene, Shown, beside, choose_text, spoken_of
from pages.components.i18n import _
from pages.components.job import job
from pages.components.numbers import signed
from pages.components.plot import GAP, Part, clicks, current_style, figure, part, picked
from pages.components.tokens import plainly
from pages.components.words import Claim, look_for

KEY = "explorer.hide"
HEIGHT = 215
AT_ONCE = 5e10  # parameters × tokens²: what takes about a second


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What every token had received and what its absence changes, and which one is looked at."""

    scene: Scene
    hidden: tuple[Hidden, ...]
    token: int

    @property
    def chosen(self) -> Hidden:
        return self.hidden[self.token]

    @property
    def words(self) -> tuple[Hidden, ...]:
        return tuple(each for each in self.hidden if not each.special)

    @property
    def correlation(self) -> float | None:
        """Between attention received and movement, over the tokens of the text."""
        if len(self.words) < 2:
            return None
        one, other = (torch.tensor([getattr(each, name) for each in self.words]) for name in ("received", "moved"))
        return rank_correlation(one, other)


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """A text whose tokens have been hidden, each in turn."""

    scene: Scene
    hidden: tuple[Hidden, ...]


def controls(panel: Panel, model: AnyModel) -> Ready | Nothing:
    scene = choose_text(panel, model)
    if isinstance(scene, Nothing):
        return scene
    scene = replace(scene, reading=replace(scene.reading, maps=scene.reading.maps[:1]), trace=None)
    if len(scene.reading.ids) < 2:
        return Nothing(_("One token alone cannot be hidden. Type a longer text on the left."))
    if model.facts.parameters * len(scene.reading.ids) ** 2 <= AT_ONCE:
        return Ready(scene, _hidden(scene, model.name, scene.reading.texts))
    key = hashlib.sha256(repr((model.name, scene.reading.texts)).encode()).hexdigest()[:16]
    count = len(scene.reading.ids)
    found = job(
        f"{KEY}.{key}",
        _("Hide each of {count} tokens").format(count=count),
        lambda on_progress, cancelled: hide_each(model, scene.reading, on_progress=on_progress, cancelled=cancelled),
        help=_("The model reads the text once for every token: with a long text or a large model that takes a while."),
    )
    if found is None or found.running or not found.result:
        return Nothing(
            _("The text is long for this model: press the button on the left, and wait for the result here.")
        )
    return Ready(scene, found.result)


@st.cache_resource(max_entries=40, show_spinner=False)
def _hidden(_scene: Scene, model: str, texts: tuple[str, ...]) -> tuple[Hidden, ...]:
    return hide_each(_scene.model, _scene.reading)


def sliders(panel: Panel, ready: Ready) -> View:
    token = panel.slider("token", _("Token that is hidden"), 1, len(ready.hidden), default=2, step=1)
    return View(ready.scene, ready.hidden, token - 1)


def cards(ready: Ready) -> Sequence[Claim]:
    return (explorer_claims.importance(), explorer_claims.sinks(ready.scene))


def played(ready: Ready) -> str | None:
    return "token"


def picture(panel: Panel, view: View) -> None:
    look_for(*_in_words(view), beside=beside(view.scene))

    def choose() -> None:
        for selection in ("points_token", "received_token", "moved_token"):
            token = picked(KEY, selection, "t")
            if token is not None:
                panel.put({"token": int(token) + 1})

    plot = figure(
        KEY,
        [[_strip(view, "received"), _strip(view, "moved")], [_points(view)]],
        name=_("attention and what hiding changes"),
        alt=_(
            "The text twice, shaded by the attention that each token receives, and by how far the output moves when "
            "the token is hidden; below it, the same as points."
        ),
        on_select=choose,
    )
    explorer_fold.draw("explorer_hide", _shown(view), code=(hide_each, received, rank_correlation), plots=[plot])


def _shown(view: View) -> Shown:
    """For the snippet: the first head of the last layer."""
    maps = view.scene.reading.maps[0]
    return Shown(view.scene, maps, explorer_fold.MEAN, maps.weights.shape[0] - 1, 0, view.token)


def _strip(view: View, what: str) -> Part:
    style = current_style()
    width = int((frame.room() - style.px(GAP)) / 2)
    texts = plainly(view.scene.reading.tokens)
    values = [getattr(each, what) for each in view.hidden]
    title = {
        "received": _("Attention that the token receives"),
        "moved": _("How far the output moves without it"),
    }[what]
    return part(
        what,
        shaded.shaded,
        shaded.shaded_data(texts, values, outer_width=width, scale=style.scale, chosen=[view.token], nonce=clicks(KEY)),
        share=0.5,
        texts=texts,
        lines=shaded.lines_of(texts, outer_width=width, scale=style.scale),
        most=_end(max(values)),
        words=shaded.ShadedWords(token=_("token"), value=title),
        title=title,
    )


def _end(largest: float) -> float:
    """Where the colours end: one of few numbers, so that most texts share one scale."""
    return next((end for end in (0.1, 0.25, 0.5, 1.0) if largest <= end), max(largest, 1.0))


def _points(view: View) -> Part:
    hidden = view.hidden
    positive = [each.received for each in hidden if each.received > 0]
    least, most = min(positive, default=0.01) * 0.8, max(positive, default=1.0) * 1.25
    return part(
        "points",
        points.points,
        points.points_data(
            [each.place for each in hidden],
            [each.received for each in hidden],
            [each.moved for each in hidden],
            least=least,
            square=[each.place for each in hidden if each.special],
            chosen=view.token,
            nonce=clicks(KEY),
        ),
        names=plainly(view.scene.reading.tokens),
        x=Axis(
            _("attention received (mean over layers, heads, other tokens)"),
            log=True,
            domain=(float(f"{least:.2g}"), float(f"{most:.2g}")),
        ),
        y=Axis(_("output moved"), domain=(0, _end(max(each.moved for each in hidden)))),
        kinds=("", _("special token")),
        title=_("Each token of the text is a point, special tokens are squares"),
        height=HEIGHT,
    )


def _in_words(view: View) -> Sequence[str]:
    reading, chosen = view.scene.reading, view.chosen
    most = max(view.hidden, key=lambda each: each.received)
    moved = max(view.hidden, key=lambda each: each.moved)
    what = (
        _("the probabilities of the next token move by {moved} of 1 (total variation)")
        if view.scene.causal
        else _("the mean of all other final vectors moves by {moved} of its length")
    ).format(moved=signed(chosen.moved, 3))
    correlation = view.correlation
    return [
        _("{token} receives {received} of the attention in the mean; without it, {what}.").format(
            token=spoken_of(reading.tokens, chosen.place), received=signed(chosen.received, 3), what=what
        ),
        _("{most} receives the most; hiding {moved} changes the most.").format(
            most=spoken_of(reading.tokens, most.place), moved=spoken_of(reading.tokens, moved.place)
        ),
        ""
        if correlation is None
        else _("Rank correlation over the words of this text: {number}.").format(number=signed(correlation, 2)),
    ]

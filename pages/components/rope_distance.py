"""Scores against the distance between query and key, with every scaling; and which pairs never complete a turn."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from core.charts import curves, profiles
from core.claims.rope import measure_decay
from core.positions.distance import Profile, Vectors, largest_score, profile, scores_by_distance, spread
from core.positions.frequencies import Waves, waves
from core.positions.pairing import Pairing
from core.positions.scalings import Method, Scaled, scaling_for
from pages.components import rope_fold, rope_table, translator
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.plot import Plot, figure, part
from pages.components.rope_scene import (
    LONGEST,
    SHORTEST,
    TRIALS,
    View,
    choose_base,
    choose_lengths,
    choose_size,
    drawn,
    method_names,
    of_a_head,
    vector_names,
)
from pages.components.words import look_for

KEY = "rope.distance"
LEGIBLE = 700  # pixels: six small charts stand side by side
SIZES = (16, 64, 128)
PAIRING = Pairing.HALF_SPLIT
POINTS = 110  # of each curve
HEADROOM = 1.15  # above the largest score, for other bases


@dataclass(frozen=True, slots=True)
class Settings:
    """The controls that change which others there are, or the axes."""

    kind: Vectors
    method: Method
    head_dim: int
    layer: int = 0
    head: int = 0


@dataclass(frozen=True, slots=True)
class Chosen:
    """All controls."""

    settings: Settings
    draw: int
    base: float
    trained: int
    target: int


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was computed from it."""

    q: Tensor  # (head_dim,), those that were chosen
    k: Tensor
    scaled: Mapping[Method, Scaled]
    scores: Mapping[Method, Tensor]  # (count,), of q and k
    profiles: Mapping[Method, Profile]  # over all draws of their kind
    kinds: Mapping[Vectors, Profile]  # of each kind, with the method that is looked at
    waves: Mapping[Method, Waves]


def view(panel: Panel) -> View:
    names = vector_names()
    if of_a_head() is None:
        del names[Vectors.REAL]
    options = {kind.value: name for kind, name in names.items()}
    kind = Vectors(panel.choice("kind", _("Queries and keys"), options, default=Vectors.RANDOM.value))
    settings = _settings(panel, kind)
    return partial(_sliders, panel, settings), _picture


def _settings(panel: Panel, kind: Vectors) -> Settings:
    head_dim, layer, head = 64, 1, 1
    if kind is Vectors.REAL:
        facts = translator.load(translator.BUNDLED).facts
        head_dim = facts.head_dim
        with panel.beside():
            layer = int(panel.choice("layer", _("Layer"), _numbered(facts.encoder_layers), default="1", narrow=True))
            head = int(panel.choice("head", _("Head"), _numbered(facts.num_heads), default="1", narrow=True))
    else:
        head_dim = choose_size(panel, "head_dim", SIZES, default=64)
    method = Method(panel.choice("method", _("Looked at closely"), method_names(), default=Method.NONE.value))
    return Settings(kind, method, head_dim, layer - 1, head - 1)


def _numbered(count: int) -> dict[str, str]:
    return {str(number): f"{number:d}" for number in range(1, count + 1)}


def _sliders(panel: Panel, settings: Settings) -> Chosen:
    draw = panel.slider("draw", _("Which q and k"), 1, 100, default=1, step=1)
    trained, target = choose_lengths(panel)
    return Chosen(settings, draw, choose_base(panel), trained, target)


@st.cache_resource(max_entries=1, show_spinner=False)
def distances() -> Tensor:
    return spread(LONGEST, POINTS)


def vectors(settings: Settings) -> tuple[Tensor, Tensor]:
    """Queries and keys of the kind that was chosen."""
    if settings.kind is not Vectors.REAL:
        return drawn(settings.kind, settings.head_dim, TRIALS)
    found = of_a_head(settings.layer, settings.head)
    return drawn(Vectors.RANDOM, settings.head_dim, TRIALS) if found is None else found


def compute(chosen: Chosen) -> Found:
    settings, factor = chosen.settings, chosen.target / chosen.trained
    q, k = vectors(settings)
    number = (chosen.draw - 1) % len(q)
    scaled, scores, shapes = {}, {}, {}
    for method in Method:
        scaling = scaling_for(method, factor=factor, trained_len=chosen.trained)
        scaled[method] = scaling.apply(settings.head_dim, base=chosen.base, seq_len=chosen.target)
        found = scores_by_distance(q, k, distances(), scaled[method], pairing=PAIRING)  # (trials, count)
        scores[method], shapes[method] = found[number], profile(found, distances())
    return Found(
        q[number],
        k[number],
        scaled,
        scores,
        shapes,
        {kind: _of_kind(chosen, kind, scaled[settings.method], shapes) for kind in _kinds()},
        {method: waves(one.per_token, chosen.trained) for method, one in scaled.items()},
    )


def _kinds() -> Sequence[Vectors]:
    return [kind for kind in Vectors if kind is not Vectors.REAL or of_a_head() is not None]


def _of_kind(chosen: Chosen, kind: Vectors, scaled: Scaled, known: Mapping[Method, Profile]) -> Profile:
    """The profile of a kind of vectors with the method that is looked at; real ones have a size of their own."""
    settings = chosen.settings
    if kind is settings.kind:
        return known[settings.method]
    q, k = vectors(Settings(kind, settings.method, settings.head_dim))
    if q.shape[-1] != settings.head_dim:
        scaling = scaling_for(settings.method, factor=chosen.target / chosen.trained, trained_len=chosen.trained)
        scaled = scaling.apply(q.shape[-1], base=chosen.base, seq_len=chosen.target)
    return profile(scores_by_distance(q, k, distances(), scaled, pairing=PAIRING), distances())


def _picture(chosen: Chosen) -> None:
    found = compute(chosen)
    look_for(*_in_words(chosen, found))
    plot = _figure(chosen, found)
    rope_fold.of_distance(chosen, found, (plot,))
    rope_table.draw(found.waves[Method.NONE], found.waves[chosen.settings.method], chosen.settings.method)


@st.cache_resource(max_entries=50, show_spinner=False)
def _highest(settings: Settings) -> float:
    """Where the axis of the scores ends, whatever the sliders say: YaRN's are largest where it stretches most."""
    q, k = vectors(settings)
    most = scaling_for(Method.YARN, factor=LONGEST / SHORTEST, trained_len=SHORTEST).apply(q.shape[-1])
    return math.ceil(HEADROOM * largest_score(q, k, distances(), most, pairing=PAIRING))


def _figure(chosen: Chosen, found: Found) -> Plot:
    settings, names = chosen.settings, tuple(method_names().values())
    highest = _highest(settings)
    side_by_side = part(
        "methods",
        profiles.profiles,
        profiles.profiles_data(
            distances(),
            torch.stack([found.scores[method] for method in Method]),
            torch.stack([found.profiles[method].size for method in Method]),
            marks=(chosen.trained, chosen.target),
        ),
        names=names,
        x=_distance_axis(),
        y=curves.Axis(_("score"), domain=(-highest, highest)),
        chosen=list(Method).index(settings.method),
        words=profiles.ProfileWords(size=_("usual size")),
        height=120,
    )
    turns = part(
        "waves",
        curves.curves,
        curves.curves_data(
            [found.waves[method].wavelengths for method in Method],
            [range(settings.head_dim // 2)] * len(names),
            marks=(chosen.trained, chosen.target),
        ),
        share=0.52,
        series=names,
        x=curves.Axis(
            _("wavelength in tokens"), log=True, domain=(5, 1e9), ticks=(10, 1e3, 1e5, 1e7, 1e9), format="~s"
        ),
        y=curves.Axis(_("pair"), domain=(0, settings.head_dim // 2)),
        symbols=False,
        title=_("Pairs beyond a dashed line never complete a turn in so many tokens"),
        height=120,
    )
    kinds = part(
        "kinds",
        curves.curves,
        curves.curves_data(
            [distances()] * len(found.kinds), [one.size / one.size[0] for one in found.kinds.values()],
            marks=(chosen.trained, chosen.target),
        ),
        share=0.48,
        series=tuple(vector_names()[kind] for kind in found.kinds),
        x=_distance_axis(),
        y=curves.Axis(_("size, at distance 1: 1"), domain=(0, 1.5), ticks=(0, 0.5, 1, 1.5)),
        symbols=False,
        title=_("How large scores of each kind usually are, {method}").format(method=method_names()[settings.method]),
        height=120,
    )  # fmt: skip
    return figure(
        KEY,
        [[side_by_side], [turns, kinds]],
        name=_("score against distance"),
        alt=_(
            "Six small charts, one for each method: the score of one query and key against the distance, and how large "
            "scores usually are; below them the wavelength of every pair, and the size of scores for each kind of "
            "vectors. Dashed lines mark trained and target length."
        ),
        least=LEGIBLE,
    )


def _distance_axis() -> curves.Axis:
    return curves.Axis(_("distance"), log=True, domain=(1, LONGEST), ticks=(1, 100, 10_000), format="~s")


def _in_words(chosen: Chosen, found: Found) -> Sequence[str]:
    settings = chosen.settings
    method, kind = method_names()[settings.method], vector_names()[settings.kind]
    shape = found.profiles[settings.method]
    decay = measure_decay(shape)
    trained, now = found.waves[Method.NONE], waves(found.scaled[settings.method].per_token, chosen.target)
    sentences = [
        _(
            "With {method}, q and k “{kind}”: scores have the usual size {near:.2f} at distance 1, {far:.2f} at the "
            "far end ({kept:.0%}). The band is this size over {trials} pairs, the line one pair."
        ).format(
            method=method, kind=kind, near=decay.near, far=decay.far, kept=decay.kept, trials=len(vectors(settings)[0])
        ),
        _(
            "In {trained:,} tokens {count} of {width} pairs never complete a turn. With {method}, {later} do not in "
            "{target:,} tokens."
        ).format(
            trained=chosen.trained,
            count=trained.incomplete_count,
            width=settings.head_dim // 2,
            method=method,
            later=now.incomplete_count,
            target=chosen.target,
        ),
    ]
    if settings.kind is Vectors.REAL:
        sentences.append(_("The bundled model was trained without RoPE: its heads had no reason to be made for it."))
    return sentences

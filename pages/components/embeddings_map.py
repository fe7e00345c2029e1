"""PCA and t-SNE side by side: the same words, drawn by two rules."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import streamlit as st
import torch

from core.charts import scatter
from core.claims.embeddings import LARGEST_PERPLEXITY
from core.embedding_maps import Pca, Start, fit_pca, nearest_points, run_tsne, turned
from core.embeddings import Near
from pages.components import embeddings_claims, embeddings_fold, embeddings_scene
from pages.components.arriving import Arrival, watch
from pages.components.controls import Panel
from pages.components.embeddings_scene import NEIGHBOURS, Mapped, Settings
from pages.components.embeddings_words import Loaded
from pages.components.i18n import _
from pages.components.numbers import percent
from pages.components.plot import Part, clicks, figure, part, picked
from pages.components.words import Claim, look_for

KEY = "embeddings.map"
LAST = "embeddings.last"  # in the session's state: the map that was drawn last
HEIGHT = 350


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    loaded: Loaded
    settings: Settings
    chosen: int | None = None  # a word's place
    turn: float = 0.0
    tilt: float = 0.0

    @property
    def flat(self) -> bool:
        return self.settings.components == 2


@dataclass(frozen=True, slots=True, eq=False)
class _Last:
    digest: str
    points: torch.Tensor


def controls(panel: Panel, loaded: Loaded) -> Scene:
    with panel.beside():
        dims = panel.choice("dims", _("Dimensions"), {"2": _("2-D"), "3": _("3-D")}, default="2", narrow=True)
        starts = {Start.RANDOM.value: _("random"), Start.PCA.value: _("the PCA")}
        if loaded.words.dim < int(dims):
            starts.pop(Start.PCA.value)
        start = panel.choice(
            "start",
            _("t-SNE starts"),
            starts,
            default=Start.RANDOM.value,
            narrow=True,
            help=_(
                "From random places, which the seed decides, or from the PCA, where the seed changes next to nothing."
            ),
        )
    return Scene(loaded, Settings(int(dims), Start(start), 5, 42))


def sliders(panel: Panel, scene: Scene) -> Scene:
    num_words, settings = len(scene.loaded.words.words), scene.settings
    slow = num_words > embeddings_scene.STUDIED  # then a t-SNE, which each move is, takes longer than a move
    with st.container(key="embeddings_calm", gap="small") if slow else nullcontext(), panel.beside():
        largest = min(num_words - 1, LARGEST_PERPLEXITY)
        perplexity = panel.slider(
            "perplexity",
            _("Perplexity"),
            min(2, largest),
            largest,
            default=5,
            step=1,
            help=_("About so many neighbours count for each word. It must be below the number of words."),
        )
        seed = 0
        if settings.start is Start.RANDOM:
            seed = panel.slider("seed", _("Seed"), 0, 99, default=42, step=1)
    turn, tilt = 0, 0
    if not scene.flat:
        with panel.beside():
            turn = panel.slider("turn", _("Turn"), -180, 180, default=30, step=5, format="%d°")
            tilt = panel.slider("tilt", _("Tilt"), -90, 90, default=20, step=5, format="%d°")
    chosen = embeddings_scene.choose_word(panel, scene.loaded)
    settings = replace(settings, perplexity=perplexity, seed=seed)
    return replace(scene, settings=settings, chosen=chosen, turn=turn, tilt=tilt)


def picture(panel: Panel, scene: Scene) -> None:
    loaded, settings = scene.loaded, scene.settings
    vectors, words = loaded.words.vectors, loaded.words.words
    fitted = embeddings_scene.pca(loaded.digest, vectors, settings.components)
    flat = fitted.project(vectors)  # (num_words, components)
    arrived = embeddings_scene.tsne(loaded, settings)
    if arrived.value is not None:
        st.session_state[LAST] = _Last(loaded.digest, arrived.value.points)
    near = embeddings_scene.neighbours(loaded, scene.chosen)
    look_for(*_in_words(scene, fitted, arrived), beside=_beside(scene, near, flat, arrived))

    def choose() -> None:
        for selection in ("pca_word", "tsne_word"):
            place = picked(KEY, selection, "w")
            if place is not None and 0 <= place < len(words):
                same = int(place) == scene.chosen
                panel.put({"word": "" if same else words[int(place)]})

    plot = figure(
        KEY,
        [*embeddings_scene.legend(loaded), [_pca_part(scene, fitted, flat, near), _tsne_part(scene, arrived, near)]],
        name=_("map of the words"),
        alt=_(
            "Two maps of the same words, by PCA and by t-SNE; each group has a shape and a colour of its own. Lines "
            "lead from the chosen word to its neighbours."
        ),
        on_select=choose,
    )
    watch(embeddings_scene.MAP)
    embeddings_fold.of_map(loaded, settings, fitted, plot, code=(fit_pca, Pca, run_tsne, turned))


def cards(loaded: Loaded) -> Sequence[Claim]:
    return embeddings_claims.of_maps(loaded)


def played(scene: Scene) -> str | None:
    return None if scene.flat else "turn"


# ------------------------------------------------------------------------------------------------------- the two maps


def _pca_part(scene: Scene, fitted: Pca, flat: torch.Tensor, near: Sequence[Near]) -> Part:
    shares = fitted.shares
    drawn = f"{sum(shares):.0%}"
    names = tuple(f"PC {number} ({share:.0%})" for number, share in enumerate(shares, start=1))
    axes = (names[0], names[1]) if scene.flat else ("", "")
    return _part(
        scene,
        "pca",
        flat,
        near,
        axes=axes,
        axis_names=() if scene.flat else names,
        title=_("PCA: {share} of the variance").format(share=drawn),
    )


def _tsne_part(scene: Scene, arrived: Arrival, near: Sequence[Near]) -> Part:
    """While a map is under way, the one before stands there, pale."""
    found: Mapped | None = arrived.value
    points, note = (None if found is None else found.points), None
    if points is None:
        note = 1 if arrived.failed else 0
        last: _Last | None = st.session_state.get(LAST)
        shape = (len(scene.loaded.words.words), scene.settings.components)
        fits = last is not None and last.digest == scene.loaded.digest and tuple(last.points.shape) == shape
        points = last.points if last is not None and fits else None
    return _part(
        scene,
        "tsne",
        points,
        near if note is None else (),
        axes=(_("no axis has a meaning"), " ") if scene.flat else ("", ""),
        axis_names=(),
        title=_("t-SNE: neighbours first"),
        note=note,
    )


def _part(
    scene: Scene,
    name: str,
    points: torch.Tensor | None,
    near: Sequence[Near],
    *,
    axes: tuple[str, str],
    axis_names: tuple[str, ...],
    title: str,
    note: int | None = None,
) -> Part:
    words = scene.loaded.words
    height = embeddings_scene.map_height(scene.loaded, HEIGHT, 0.5)
    reach, spokes = None, torch.zeros(0, 2)
    if points is None:
        frames = scatter.scatter_data(torch.zeros(0, 2), (), (), note=note)
    else:
        if not scene.flat:
            points = points - points.mean(dim=0)
            reach = float(points.norm(dim=1).max())
            points = turned(points, turn=scene.turn, tilt=scene.tilt)
            spokes = turned(reach * torch.eye(3, dtype=torch.float64), turn=scene.turn, tilt=scene.tilt)[:, :2]
        frames = scatter.scatter_data(
            points.numpy(),
            words.groups,
            words.words,
            near=scene.loaded.near,
            chosen=scene.chosen if note is None else None,
            linked=[each.index for each in near],
            reach=reach,
            spokes=spokes.numpy(),
            faint=note is not None,
            note=note,
            height=height,
            nonce=clicks(KEY),
        )
    return part(
        name,
        scatter.scatter,
        frames,
        share=0.5,
        names=words.words,
        groups=words.group_names,
        axes=axes,
        axis_names=axis_names,
        words=embeddings_scene.scatter_words(),
        title=title,
        height=height,
    )


# ---------------------------------------------------------------------------------------------------------- the words


def _beside(scene: Scene, near: Sequence[Near], flat: torch.Tensor, arrived: Arrival) -> str:
    if scene.chosen is None:
        return ""
    maps = [("PCA", flat), *([("t-SNE", arrived.value.points)] if arrived.value is not None else [])]
    count = min(NEIGHBOURS, len(flat) - 1)
    kept = [(_("near in {map}").format(map=name), nearest_points(points, scene.chosen, count)) for name, points in maps]
    return embeddings_scene.neighbour_list(scene.loaded, scene.chosen, near, kept)


def _in_words(scene: Scene, fitted: Pca, arrived: Arrival) -> Sequence[str]:
    found: Mapped | None = arrived.value
    sentences = [
        _(
            "PCA looks from where the words differ most: its {axes} axes hold {share} of the variance, and "
            "{rest} of it is not drawn."
        ).format(
            axes=scene.settings.components,
            share=percent(sum(fitted.shares)),
            rest=percent(max(0.0, 1 - sum(fitted.shares))),
        )
    ]
    if found is not None:
        sentences.append(
            _(
                "t-SNE only tries to keep neighbours. Of each word's {count} nearest, by distance, it keeps {tsne} and "
                "PCA {pca}; how far apart its heaps lie means nothing."
            ).format(count=found.compared, tsne=percent(found.kept), pca=percent(found.kept_by_pca))
        )
    elif arrived.failed:
        sentences.append(_("t-SNE gives no picture of these numbers. Choose another perplexity or another start."))
    else:
        sentences.append(_("t-SNE takes a moment longer: it moves the words step by step."))
    return [*sentences, *scene.loaded.notes]

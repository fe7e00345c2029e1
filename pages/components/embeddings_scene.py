"""What the views of the embeddings page share: maps computed once, the legend, the neighbours of a word."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st
import torch

from core.charts import scatter
from core.claims.embeddings import MapStudy, study_maps, trial_perplexities
from core.embedding_maps import Pca, Start, agreement, fit_pca, run_tsne
from core.embeddings import Near, nearest
from pages.components import frame, warm
from pages.components.arriving import Arrival, arrive
from pages.components.controls import Panel
from pages.components.embeddings_words import Loaded
from pages.components.i18n import _
from pages.components.numbers import signed
from pages.components.plot import NARROW, Part, current_style, part

MAP, STUDY = "embeddings.tsne", "embeddings.study"  # places for what arrives
COMPARED = 3  # nearest words of each word that are compared
FEW = 60  # words up to which all maps are studied without being asked for
STUDIED = 120  # words, at most, of which many maps are drawn
NEIGHBOURS = 5
ROOM = 130  # pixels that a picture gives to a table above it
BESIDE_MAP = 40  # pixels of a map's width that its axis and the gap to the next one take
SMALL, LARGE = "maps", "large maps"  # who computes them: nobody with a few words waits for somebody with many


@dataclass(frozen=True, slots=True)
class Settings:
    """Of a t-SNE map."""

    components: int
    start: Start
    perplexity: int
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Mapped:
    """A t-SNE map, and the share of each word's nearest words that it and the PCA keep."""

    points: torch.Tensor  # (num_words, components)
    compared: int  # words that are nearest to each
    kept: float
    kept_by_pca: float


def tsne(loaded: Loaded, settings: Settings) -> Arrival:
    """A Mapped once it is there."""
    vectors = loaded.words.vectors

    def work(on_progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> Mapped:
        points = run_tsne(
            vectors,
            components=settings.components,
            perplexity=settings.perplexity,
            seed=settings.seed,
            start=settings.start,
        )
        _freeze()
        count = min(COMPARED, len(vectors) - 1)
        flat = fit_pca(vectors, settings.components).project(vectors)  # (num_words, components)
        return Mapped(points, count, agreement(vectors, points, count), agreement(vectors, flat, count))

    return arrive(MAP, (loaded.digest, settings), work, worker=_worker(len(vectors)))


@st.cache_resource(show_spinner=False)
def _freeze() -> None:
    """scikit-learn has just been imported: the garbage collector need not search it after every run."""
    warm.freeze()


def _worker(num_words: int) -> str:
    return SMALL if num_words <= STUDIED else LARGE


@st.cache_resource(max_entries=40, show_spinner=False)
def pca(digest: str, _vectors: torch.Tensor, components: int) -> Pca:
    return fit_pca(_vectors, components)


# ------------------------------------------------------------------------------------------------------ many maps


@dataclass(frozen=True, slots=True, eq=False)
class Studied:
    """The words of which many maps are drawn: all, or some from everywhere in a long table."""

    vectors: torch.Tensor
    groups: tuple[int, ...]
    names: tuple[str, ...]


def studied(loaded: Loaded) -> Studied:
    step = -(-len(loaded.words.words) // STUDIED)
    words = loaded.words
    return Studied(words.vectors[::step], words.groups[::step], words.words[::step])


def study(loaded: Loaded) -> Arrival:
    """Maps with several perplexities and seeds; a MapStudy once it is there."""
    some = studied(loaded)

    def work(on_progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> MapStudy | None:
        found = study_maps(
            some.vectors,
            some.groups,
            perplexities=trial_perplexities(len(some.names)),
            on_progress=on_progress,
            cancelled=cancelled,
        )
        _freeze()
        return found

    return arrive(STUDY, (loaded.digest, some.groups), work, worker="studies")


# ------------------------------------------------------------------------------------------------- shared by pictures


def height(loaded: Loaded, usual: int) -> int:
    """Of a picture, in pixels; less if the table stands above it."""
    return usual - ROOM if loaded.editing else usual


def map_height(loaded: Loaded, usual: int, share: float) -> int:
    """Of a map that has this share of the width, in pixels: not higher than points can fill."""
    room = frame.room()
    width = room * (1 if room < NARROW else share) / current_style().scale - BESIDE_MAP
    return min(height(loaded, usual), int(width / scatter.ASPECT))


def legend(loaded: Loaded) -> list[list[Part]]:
    """A row with the groups' shapes and colours, if there are groups."""
    names = loaded.words.group_names
    if len(names) < 2:
        return []
    return [[part("legend", scatter.legend, scatter.legend_data(names), groups=names)]]


def scatter_words(*, target: str = "") -> scatter.ScatterWords:
    return scatter.ScatterWords(
        word=_("word"),
        group=_("group"),
        near=_("nearest by cosine"),
        notes=(_("t-SNE is being computed …"), _("t-SNE could not be computed for these numbers")),
        target=target,
    )


def choose_word(panel: Panel, loaded: Loaded) -> int | None:
    """The control for the word whose neighbours are listed; its place, or None."""
    words = loaded.words.words
    options = {"": "–", **{word: word for word in words}}
    name = panel.choice(
        "word",
        _("Neighbours of"),
        options,
        default="",
        narrow=True,
        help=_("Or click a point. The neighbours are those of the vectors, not of the picture."),
    )
    return words.index(name) if name else None


def neighbours(loaded: Loaded, chosen: int | None) -> tuple[Near, ...]:
    """By cosine, among all words of the page."""
    if chosen is None:
        return ()
    vectors = loaded.words.vectors
    return nearest(vectors, vectors[chosen], count=NEIGHBOURS, without=(chosen,))


def neighbour_list(
    loaded: Loaded, chosen: int, near: Sequence[Near], kept: Sequence[tuple[str, frozenset[int]]]
) -> str:
    """As HTML; kept: of each picture its name and the words that stand nearest to the chosen one there."""
    words = loaded.words.words
    title = html.escape(_("Nearest to “{word}”").format(word=words[chosen]))
    heads = "".join(f"<th><bdi>{html.escape(words[each.index])}</bdi></th>" for each in near)
    cosines = "".join(f"<td>{signed(each.cosine, 3)}</td>" for each in near)
    rows = f"<tr><td>{html.escape(_('cosine'))}</td>{cosines}</tr>"
    for name, there in kept:
        signs = "".join(f"<td>{'✓' if each.index in there else '–'}</td>" for each in near)
        rows += f"<tr><td>{html.escape(name)}</td>{signs}</tr>"
    return (
        f'<div style="overflow-x: auto"><table class="atlas-grid dense"><tr><th><b>{title}</b></th>{heads}</tr>{rows}'
        "</table></div>"
    )

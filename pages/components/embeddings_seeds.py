"""Many t-SNE maps of the same words: what they have in common, and what each has for itself."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.charts import map_grid
from core.claims.embeddings import SEEDS, MapQuality, MapStudy, study_maps, trial_perplexities
from core.embedding_maps import agreement, group_distances, own_share, rank_correlation
from pages.components import embeddings_claims, embeddings_fold, embeddings_scene
from pages.components.arriving import Arrival, watch
from pages.components.controls import Panel
from pages.components.embeddings_words import Loaded
from pages.components.i18n import _
from pages.components.numbers import percent, signed
from pages.components.plot import Part, figure, part
from pages.components.words import Claim, look_for

KEY = "embeddings.seeds"
HEIGHT = 350
SHARE = 0.24  # of the PCA
LEGIBLE = 700  # pixels


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    loaded: Loaded


def controls(panel: Panel, loaded: Loaded) -> Scene:
    return Scene(loaded)


def sliders(panel: Panel, scene: Scene) -> Scene:
    return scene


def picture(panel: Panel, scene: Scene) -> None:
    some = embeddings_scene.studied(scene.loaded)
    arrived = embeddings_scene.study(scene.loaded)
    found: MapStudy | None = arrived.value
    look_for(*_in_words(scene, arrived))
    plot = figure(
        KEY,
        [*embeddings_scene.legend(scene.loaded), [_pca_part(scene, found), _maps_part(scene, found)]],
        name=_("many maps"),
        alt=_(
            "Small t-SNE maps of the same words: a row for each perplexity, a column for each seed; beside them the "
            "PCA."
        ),
        least=LEGIBLE,
    )
    watch(embeddings_scene.STUDY, _("Maps drawn:"))
    embeddings_fold.of_study(
        some, found, plot, code=(study_maps, agreement, own_share, group_distances, rank_correlation)
    )


def cards(loaded: Loaded) -> Sequence[Claim]:
    return embeddings_claims.of_maps(loaded, asked=True)


def played(scene: Scene) -> None:
    """Nothing moves here."""


def _pca_part(scene: Scene, found: MapStudy | None) -> Part:
    some = embeddings_scene.studied(scene.loaded)
    said = (_said(found.pca),) if found is not None else ()
    return part(
        "pca",
        map_grid.map_grid,
        map_grid.map_grid_data([found.pca_map.numpy() if found is not None else None], some.groups, columns=1),
        share=SHARE,
        names=some.names,
        groups=scene.loaded.words.group_names,
        rows=("",),
        columns=("PCA",),
        word=_("word"),
        said=said,
        title=_("For comparison"),
        height=embeddings_scene.height(scene.loaded, HEIGHT) // len(trial_perplexities(len(some.names))),
    )


def _maps_part(scene: Scene, found: MapStudy | None) -> Part:
    some = embeddings_scene.studied(scene.loaded)
    perplexities = trial_perplexities(len(some.names))
    settings = [(perplexity, seed) for perplexity in perplexities for seed in SEEDS]
    maps = [found.maps[each].numpy() if found is not None else None for each in settings]
    return part(
        "maps",
        map_grid.map_grid,
        map_grid.map_grid_data(maps, some.groups, columns=len(SEEDS)),
        share=1 - SHARE,
        names=some.names,
        groups=scene.loaded.words.group_names,
        rows=tuple(str(perplexity) for perplexity in perplexities),
        columns=tuple(_("seed {number}").format(number=seed) for seed in SEEDS),
        word=_("word"),
        said=tuple(_said(found.qualities[each]) for each in settings) if found is not None else (),
        title=_("t-SNE; beside each row its perplexity"),
        height=embeddings_scene.height(scene.loaded, HEIGHT),
    )


def _said(quality: MapQuality) -> str:
    """Below a map; what cannot be measured is left out."""
    own = _("own group {share}").format(share=percent(quality.own)) if quality.own == quality.own else ""
    order = f"ρ {signed(quality.distances, 2)}" if quality.distances == quality.distances else ""
    return " · ".join(filter(None, (own, order)))


def _in_words(scene: Scene, arrived: Arrival) -> Sequence[str]:
    words = scene.loaded.words
    some = embeddings_scene.studied(scene.loaded)
    found: MapStudy | None = arrived.value
    sentences = [
        _(
            "Below each map: how many words have a word of their own group nearest to them, and the rank correlation "
            "ρ of the distances between groups with those of the vectors: 1 would be the same order, 0 is chance."
        )
    ]
    if arrived.failed:
        sentences.append(_("t-SNE gives no picture of these numbers."))
    if found is not None:
        alike = ", ".join(
            _("{share} with perplexity {perplexity}").format(share=percent(share), perplexity=perplexity)
            for perplexity, share in found.seeds_neighbours.items()
        )
        sentences.append(
            _("From one seed to another this share of the nearest words stays: {list}.").format(list=alike)
        )
    if len(some.names) < len(words.words):
        sentences.append(
            _("These are {some} of the {all} words, from everywhere in the table.").format(
                some=len(some.names), all=len(words.words)
            )
        )
    return [*sentences, *scene.loaded.notes]

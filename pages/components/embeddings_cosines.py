"""The cosine of every two words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.charts import heatmaps
from core.embeddings import cosines_to, nearest
from core.model_embeddings import cosines
from pages.components import embeddings_claims, embeddings_fold, embeddings_scene
from pages.components.controls import Panel
from pages.components.embeddings_words import Loaded
from pages.components.i18n import _
from pages.components.numbers import signed
from pages.components.plot import clicks, figure, part, picked
from pages.components.words import Claim, look_for

KEY = "embeddings.cosines"
MOST = 48  # words that are drawn
HEIGHT = 430
LEGIBLE = 620  # pixels


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    loaded: Loaded
    chosen: int | None = None

    @property
    def drawn(self) -> list[int]:
        """The words that are drawn: group by group; of many those nearest to the chosen word, or the first."""
        words = self.loaded.words
        places = list(range(len(words.words)))
        if len(places) > MOST and self.chosen is not None:
            near = nearest(words.vectors, words.vectors[self.chosen], count=MOST)
            places = sorted(each.index for each in near)
        return sorted(places[:MOST], key=lambda place: (words.groups[place], place))


def controls(panel: Panel, loaded: Loaded) -> Scene:
    return Scene(loaded)


def sliders(panel: Panel, scene: Scene) -> Scene:
    return replace(scene, chosen=embeddings_scene.choose_word(panel, scene.loaded))


def picture(panel: Panel, scene: Scene) -> None:
    words, drawn = scene.loaded.words, scene.drawn
    near = embeddings_scene.neighbours(scene.loaded, scene.chosen)
    beside = "" if scene.chosen is None else embeddings_scene.neighbour_list(scene.loaded, scene.chosen, near, ())
    look_for(*_in_words(scene), beside=beside)

    def choose() -> None:
        place = picked(KEY, "matrix_cell", "q")
        if place is not None and 0 <= place < len(drawn):
            panel.put({"word": words.words[drawn[int(place)]]})

    names = tuple(words.words[place] for place in drawn)
    matrix = part(
        "matrix",
        heatmaps.heatmap,
        heatmaps.heatmap_data(
            cosines(words.vectors[drawn]).numpy(),
            marked_row=None if scene.chosen is None else drawn.index(scene.chosen),
            nonce=clicks(KEY),
        ),
        queries=names,
        keys=names,
        kind="signed",
        words=heatmaps.Words(
            row_axis="", column_axis="", query=_("word"), key=_("and"), value=_("cosine"), masked="", allowed=""
        ),
        height=embeddings_scene.height(scene.loaded, HEIGHT),
    )
    plot = figure(
        KEY,
        [[matrix]],
        name=_("cosines"),
        alt=_("A heatmap: the cosine of the angle between every two words, from −1 to 1."),
        on_select=choose,
        least=LEGIBLE,
    )
    embeddings_fold.of_cosines(scene.loaded, drawn, plot, code=(cosines, cosines_to, nearest))


def cards(loaded: Loaded) -> Sequence[Claim]:
    return embeddings_claims.of_sums()


def played(scene: Scene) -> None:
    """Nothing moves here."""


def _in_words(scene: Scene) -> Sequence[str]:
    words, drawn = scene.loaded.words, scene.drawn
    matrix = cosines(words.vectors[drawn])
    inside, across = _means(scene, matrix.tolist())
    sentences = [
        _(
            "The cosine is 1 for two vectors that point the same way, 0 for a right angle, −1 for opposite ways; how "
            "long they are does not matter."
        )
    ]
    if inside is not None and across is not None:
        sentences.append(
            _("On average it is {inside} within a group and {across} between groups.").format(
                inside=signed(inside, 2), across=signed(across, 2)
            )
        )
    if len(drawn) < len(words.words):
        sentences.append(
            _("{most} of {all} words are drawn: those nearest to the chosen one, or the first.").format(
                most=len(drawn), all=len(words.words)
            )
        )
    return [*sentences, *scene.loaded.notes]


def _means(scene: Scene, matrix: list[list[float]]) -> tuple[float | None, float | None]:
    """Of the cosines of two different words, within groups and between them; None if there are none."""
    groups = [scene.loaded.words.groups[place] for place in scene.drawn]
    pairs = [(one, other) for one in range(len(groups)) for other in range(one)]
    inside = [matrix[a][b] for a, b in pairs if groups[a] == groups[b]]
    across = [matrix[a][b] for a, b in pairs if groups[a] != groups[b]]
    return (
        sum(inside) / len(inside) if inside else None,
        sum(across) / len(across) if across else None,
    )

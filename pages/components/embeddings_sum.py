"""Sums of words: king − man + woman, and which word is nearest to that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
import torch

from core.charts import cosine_bars, scatter
from core.embedding_maps import fit_pca
from core.embeddings import (
    SHORTEST,
    Sum,
    SumError,
    SumProblem,
    add_up,
    cosines_to,
    nearest,
    place_of,
    read_sum,
    steps_of,
)
from core.model_words import ModelWords
from pages.components import embeddings_claims, embeddings_fold, embeddings_scene
from pages.components.controls import MARKDOWN, Panel
from pages.components.embeddings_words import LONGEST, Loaded
from pages.components.i18n import _
from pages.components.numbers import signed
from pages.components.plot import Part, figure, part
from pages.components.tokens import plain
from pages.components.typed import quoted
from pages.components.words import Claim, look_for

KEY = "embeddings.sum"
SUM = "king - man + woman = queen"
HEIGHT = 330
MAP_SHARE = 0.46  # of the width
SHOWN = 9  # words in a ranking
DRAWN = 12  # words on the map: those of the sum, and others that are near to it
FEWEST = 4  # words that decide from where the map is looked at


@dataclass(frozen=True, slots=True)
class Ranked:
    """A word and its place among the neighbours of the sum."""

    word: str
    place: int
    cosine: float


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """A sum, the words nearest to it, and the same without the words of the sum."""

    asked: Sum
    vectors: Mapping[str, torch.Tensor]  # of the words of the sum, and of the expected one
    target: torch.Tensor  # (dim,)
    every: tuple[Ranked, ...]
    others: tuple[Ranked, ...]
    notes: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(term.word for term in self.asked.terms))

    @property
    def written(self) -> str:
        """The sum with real minus signs, not too long for a label."""
        signs = {1: " + ", -1: " − "}
        text = "".join(f"{signs[term.sign]}{term.word}" for term in self.asked.terms)
        return quoted(text.removeprefix(" + ").strip())


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    loaded: Loaded
    solved: Solved | None
    problem: str = ""


def controls(panel: Panel, loaded: Loaded) -> Scene:
    text = panel.text(
        "sum",
        _("Sum of words"),
        default=SUM,
        max_chars=200,
        help=_(
            "Words with + and − between them, and spaces around the signs. Behind = stands the word that you expect."
        ),
    )
    try:
        solved = _solve(loaded, read_sum(text))
        nothing = _("The words of this sum cancel out: what is left is 0 and points nowhere. Change a word.")
        return Scene(loaded, solved, "" if solved else nothing)
    except SumError as error:
        return Scene(loaded, None, _problem(error.problem))
    except KeyError as error:
        missing = quoted(str(error.args[0]))
        return Scene(loaded, None, _unknown(loaded).format(word=missing))


def sliders(panel: Panel, scene: Scene) -> Scene:
    return scene


def picture(panel: Panel, scene: Scene) -> None:
    solved = scene.solved
    if solved is None:
        st.info(scene.problem.translate(MARKDOWN))
        return
    look_for(*_in_words(solved))
    height = embeddings_scene.height(scene.loaded, HEIGHT)
    plot = figure(
        KEY,
        [
            *embeddings_scene.legend(scene.loaded),
            [
                _map_part(scene.loaded, solved),
                _ranking(solved, "every", solved.every, _("Nearest of all words"), height),
                _ranking(solved, "others", solved.others, _("Nearest, inputs left out"), height),
            ],
        ],
        name=_("sum of words"),
        alt=_(
            "The words as points in the plane of the PCA, with the sum as arrows; and bars: the words nearest to the "
            "sum by cosine, with the words of the sum among them and without."
        ),
    )
    embeddings_fold.of_sum(
        scene.loaded, solved.asked, solved.target, plot, code=(add_up, cosines_to, nearest, steps_of)
    )


def cards(loaded: Loaded) -> Sequence[Claim]:
    return embeddings_claims.of_sums()


def played(scene: Scene) -> None:
    """Nothing moves here."""


# ------------------------------------------------------------------------------------------------------------ solving


def _problem(problem: SumProblem) -> str:
    return {
        SumProblem.EMPTY: _("Type a sum on the left, such as king - man + woman."),
        SumProblem.NOT_A_SUM: _(
            "This is no sum of words. Put a + or − between any two words, with spaces around it: king - man + woman."
        ),
        SumProblem.TOO_LONG: _("These are too many words for one sum: six are enough."),
    }[problem]


def _unknown(loaded: Loaded) -> str:
    if loaded.model is None:
        return _("“{word}” is not in the table. Use its words, with spaces around + and −.")
    return _("This model does not know “{word}”. Use another word, with spaces around + and −.")


def _solve(loaded: Loaded, asked: Sum) -> Solved | None:
    """None if the sum points nowhere. Raises: KeyError for a word that is not there."""
    words = (*(term.word for term in asked.terms), *([asked.expected] if asked.expected else []))
    return _by_table(loaded, asked, words) if loaded.model is None else _by_model(loaded.model, asked, words)


def _by_table(loaded: Loaded, asked: Sum, words: Sequence[str]) -> Solved | None:
    table = loaded.words
    places = {word: place for place, word in enumerate(table.words)}
    vectors = {word: table.vectors[places[word]] for word in words}
    target = add_up(asked.terms, vectors)
    if float(target.norm()) < SHORTEST:
        return None
    inputs = {places[term.word] for term in asked.terms}

    def rank(without: frozenset[int]) -> tuple[Ranked, ...]:
        near = nearest(table.vectors, target, count=SHOWN, without=without)
        found = [Ranked(table.words[each.index], place, each.cosine) for place, each in enumerate(near, start=1)]
        if asked.expected is None or places[asked.expected] in without:
            return tuple(found)
        place = place_of(table.vectors, target, places[asked.expected], without=without)
        cosine = float(cosines_to(vectors[asked.expected][None], target))
        return _with(found, Ranked(asked.expected, place, cosine))

    return Solved(asked, vectors, target, rank(frozenset()), rank(frozenset(inputs)))


def _by_model(model: ModelWords, asked: Sum, words: Sequence[str]) -> Solved | None:
    looked = {word: model.look_up(word[:LONGEST]) for word in words}
    vectors: dict[str, torch.Tensor] = {}
    for word, found in looked.items():
        if found.vector is None:
            raise KeyError(word)
        vectors[word] = found.vector
    target = add_up(asked.terms, vectors)
    if float(target.norm()) < SHORTEST:
        return None
    inputs = [term.word for term in asked.terms]

    def rank(without: Sequence[str]) -> tuple[Ranked, ...]:
        near = model.nearest(target, count=SHOWN, without=without)
        ranked = [Ranked(word, place, cosine) for place, (word, cosine) in enumerate(near, start=1)]
        if asked.expected is None or asked.expected in without:
            return tuple(ranked)
        return _with(ranked, Ranked(asked.expected, *model.place_of(looked[asked.expected], target, without=without)))

    split = [found for found in looked.values() if len(found.pieces) > 1]
    notes = [
        _("“{word}” is no single piece of the vocabulary: it stands at the mean of {pieces}.").format(
            word=quoted(found.word), pieces=" ".join(plain(piece.removeprefix("##")) for piece in found.pieces)
        )
        for found in split[:2]
    ]
    notes.append(
        _("Ranked are the {count} pieces of the vocabulary that can stand as words.").format(
            count=f"{model.num_words:,}"
        )
    )
    return Solved(asked, vectors, target, rank(()), rank(inputs), tuple(notes))


def _with(ranked: list[Ranked], expected: Ranked) -> tuple[Ranked, ...]:
    """The ranking, with the expected word in its last line if it is not among the nearest."""
    if expected.place <= len(ranked):
        return tuple(ranked)
    return (*ranked[: SHOWN - 1], expected)


# ----------------------------------------------------------------------------------------------------------- pictures


def _map_part(loaded: Loaded, solved: Solved) -> Part:
    names, groups, vectors = _on_the_map(loaded, solved)
    fitted = fit_pca(vectors[: max(FEWEST, len(solved.vectors))], 2)
    arrows = fitted.project(steps_of(solved.asked.terms, solved.vectors))  # (num_arrows, 2, 2)
    expected = [names.index(solved.asked.expected)] if solved.asked.expected else []
    axes = [f"PC {number} ({share:.0%})" for number, share in enumerate(fitted.shares, start=1)]
    return part(
        "map",
        scatter.scatter,
        scatter.scatter_data(
            fitted.project(vectors).numpy(),
            groups,
            names,
            ringed=[*expected, *(names.index(word) for word in solved.inputs)],
            arrows=arrows.numpy(),
            target=fitted.project(solved.target).numpy(),
            target_name=solved.written,
            framed=max(FEWEST, len(solved.vectors)),
            height=embeddings_scene.map_height(loaded, HEIGHT, MAP_SHARE),
        ),
        share=MAP_SHARE,
        names=names,
        groups=loaded.words.group_names,
        axes=(axes[0], axes[1]),
        words=embeddings_scene.scatter_words(target=solved.written),
        title=_("PCA of the words of the sum, and others near"),
        height=embeddings_scene.map_height(loaded, HEIGHT, MAP_SHARE),
        clickable=False,
    )


def _on_the_map(loaded: Loaded, solved: Solved) -> tuple[tuple[str, ...], tuple[int, ...], torch.Tensor]:
    """The words of the sum, then those of the page that are nearest to it; what is in no group stands in the last."""
    table = loaded.words
    near = nearest(table.vectors, solved.target, count=DRAWN)
    others = [each.index for each in near if table.words[each.index] not in solved.vectors]
    others = others[: max(0, DRAWN - len(solved.vectors))]
    last = len(table.group_names) - 1
    own = [table.groups[table.words.index(word)] if word in table.words else last for word in solved.vectors]
    vectors = torch.stack([*solved.vectors.values(), *(table.vectors[place] for place in others)])
    return (
        (*solved.vectors, *(table.words[place] for place in others)),
        (*own, *(table.groups[place] for place in others)),
        vectors,
    )


def _ranking(solved: Solved, name: str, ranked: Sequence[Ranked], title: str, height: int) -> Part:
    def kind(word: str) -> int:
        if word == solved.asked.expected:
            return cosine_bars.WANTED
        return cosine_bars.GIVEN if word in solved.inputs else cosine_bars.PLAIN

    return part(
        name,
        cosine_bars.cosine_bars,
        cosine_bars.cosine_bars_data(
            [each.word for each in ranked],
            [each.cosine for each in ranked],
            [kind(each.word) for each in ranked],
            places=[each.place for each in ranked],
        ),
        share=(1 - MAP_SHARE) / 2,
        count=SHOWN,
        words=cosine_bars.CosineWords(
            axis=_("cosine with the sum"),
            word=_("word"),
            place=_("place"),
            given=_("one of the inputs"),
            wanted=_("expected"),
        ),
        title=title,
        height=height,
    )


def _in_words(solved: Solved) -> Sequence[str]:
    first, second = solved.every[0], solved.others[0] if solved.others else None
    sentences = [
        _("Nearest to {sum} is “{word}”, with a cosine of {cosine}.").format(
            sum=solved.written, word=first.word, cosine=signed(first.cosine, 3)
        )
    ]
    if first.word in solved.inputs and second is not None:
        sentences.append(
            _(
                "That is one of the inputs. Only when these may not be the answer, “{word}” comes first ({cosine}): "
                "most demonstrations leave them out without saying so."
            ).format(word=second.word, cosine=signed(second.cosine, 3))
        )
    expected = next((each for each in solved.every if each.word == solved.asked.expected), None)
    again = next((each for each in solved.others if each.word == solved.asked.expected), None)
    if expected is not None and again is not None:
        sentences.append(
            _("The expected word “{word}” is number {place} of all, and number {again} without the inputs.").format(
                word=expected.word, place=f"{expected.place:,}", again=f"{again.place:,}"
            )
        )
    return [*sentences, *solved.notes]

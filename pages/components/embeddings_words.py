"""The word vectors of the page: where they come from, and what is to be said about them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st
import torch

from core import models
from core.embedding_maps import are_equal
from core.embedding_tables import MOST_GROUPS
from core.embeddings import WordVectors, nearest_others, words_in
from core.model_words import Looked, ModelWords, model_words
from core.models import ModelError
from pages.components import embeddings_table, embeddings_upload, shelf, warm
from pages.components.controls import Panel
from pages.components.embeddings_upload import Nothing
from pages.components.i18n import _, ngettext
from pages.components.tokens import plain
from pages.components.typed import quoted

TOY, FILE = "toy", "file"
FEWEST, MOST = 3, 120  # words
LONGEST = 40  # characters of a word
TOLD = 4  # words that a sentence names
WORDS = """king queen man woman prince princess
cat dog horse bird fish
paris france tokyo japan
red green blue black white
one two three four five
bread water milk apple wine
walk walking swim swimming"""


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """Words on the page, with what computed things about them are kept by."""

    source: str
    words: WordVectors
    digest: str
    near: tuple[int, ...]  # of each word the nearest other one by cosine
    editing: bool = False  # there is a table above the picture
    model: ModelWords | None = None  # whose input embeddings these are
    notes: tuple[str, ...] = ()


def sources() -> dict[str, str]:
    labels = {name: shelf.label(name) for name in offered()}
    return {TOY: _("The lesson's 14 words"), **labels, FILE: _("A table of your own")}


def offered() -> tuple[str, ...]:
    """The models that are here."""
    return tuple(name for name in shelf.BUNDLED if models.allowed(name) and models.is_available(name))


def choose(panel: Panel) -> Loaded | Nothing:
    """The controls for the words, and the words; or why there are none."""
    options = sources()
    source = panel.choice(
        "source",
        _("Vectors"),
        options,
        default=TOY,
        help=_("Models: their input embeddings, which are the same whatever stands around a word."),
    )
    if source == TOY:
        table, editing = embeddings_table.choose(panel)
        return replace(_loaded(TOY, table), editing=editing)
    if source == FILE:
        brought = embeddings_upload.choose()
        return brought if isinstance(brought, Nothing) else _loaded(FILE, brought)
    text = panel.text(
        "words",
        _("Words"),
        default=WORDS,
        max_chars=1500,
        lines=5,
        help=_("Each line is a group; a name before a colon names it."),
    )
    return _of_model(source, text)


@st.cache_resource(max_entries=2, show_spinner=False)
def read_vocabulary(name: str) -> ModelWords:
    """Raises: ModelError, which is not kept."""
    model = shelf.load(name)
    table = model.network.get_input_embeddings().get_parameter("weight")
    found = model_words(model.tokenizer, table)
    warm.freeze()
    return found


def _loaded(source: str, words: WordVectors) -> Loaded:
    return Loaded(source, words, words.digest(), _near(words.digest(), words))


@st.cache_resource(max_entries=20, show_spinner=False)
def _near(digest: str, _words: WordVectors) -> tuple[int, ...]:
    return nearest_others(_words.vectors)


# ------------------------------------------------------------------------------------------------- words for a model


def _of_model(name: str, text: str) -> Loaded | Nothing:
    try:
        model = read_vocabulary(name)
    except ModelError as error:
        return Nothing(shelf.sentence(error.reason), wrong=True)
    found, notes = _looked_up(text, model)
    if len(found) < FEWEST:
        return Nothing(_("Type at least three different words that the model knows."), notes)
    vectors = _as_vectors(found)
    if are_equal(vectors.vectors):
        return Nothing(_("All vectors are the same: there is nothing to draw. Use different words."), notes)
    loaded = _loaded(name, vectors)
    return replace(loaded, model=model, notes=notes)


def _looked_up(text: str, model: ModelWords) -> tuple[list[tuple[Looked, str]], tuple[str, ...]]:
    """Each word that the model knows, with the name of its group; and what is to be said."""
    groups = words_in(text)
    listed = [(word, group or _("{word} …").format(word=quoted(words[0]))) for words, group in groups for word in words]
    looked = [(model.look_up(word[:LONGEST]), group) for word, group in listed[:MOST]]
    known = [(word, group) for word, group in looked if word.vector is not None]
    notes = []
    split = [word for word, _group in known if len(word.pieces) > 1]
    if split:
        told = "; ".join(f"{word.word} = {' '.join(map(plain, map(_bare, word.pieces)))}" for word in split[:TOLD])
        notes.append(
            ngettext(
                "{count} word is no single piece of the vocabulary, and stands at the mean of its pieces: {words}.",
                "{count} words are no single piece of the vocabulary, and stand at the mean of their pieces: {words}.",
                len(split),
            ).format(count=len(split), words=_few(told, len(split)))
        )
    unknown = [word.word for word, _group in looked if word.vector is None]
    if unknown:
        told = ", ".join(quoted(word) for word in unknown[:TOLD])
        notes.append(_("Not known to this model: {words}.").format(words=_few(told, len(unknown))))
    if len(listed) > MOST:
        notes.append(_("Only the first {most} words are used.").format(most=MOST))
    if len(groups) > MOST_GROUPS:
        notes.append(
            _("There are {most} shapes: what stands below line {most} joins that group.").format(most=MOST_GROUPS)
        )
    return known, tuple(notes)


def _few(told: str, count: int) -> str:
    if count <= TOLD:
        return told
    return _("{words} and {count} more").format(words=told, count=count - TOLD)


def _bare(piece: str) -> str:
    """WordPiece's mark in the way that the app writes it."""
    return piece.removeprefix("##")


def _as_vectors(found: Sequence[tuple[Looked, str]]) -> WordVectors:
    """At most as many groups as there are shapes: the rest joins the last one."""
    names = list(dict.fromkeys(group for _word, group in found))
    places = {name: min(place, MOST_GROUPS - 1) for place, name in enumerate(names)}
    return WordVectors(
        tuple(word.word for word, _group in found),
        torch.stack([word.vector for word, _group in found if word.vector is not None]),
        tuple(places[group] for _word, group in found),
        tuple(names[:MOST_GROUPS]),
    )

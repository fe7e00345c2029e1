"""The models of a server: which a visitor may take, how one is fetched, and one copy of each for everybody.

What is bundled stays in memory. Of all others there is one at a time: a classroom's server has no room for more.
"""

import os
import threading
from collections.abc import Callable, Mapping
from functools import cache

import streamlit as st

from core import models
from core.models import AnyModel, Family, Kind, ModelError, ModelProblem
from pages.components import warm
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.job import job

ATLAS = "atlas-fr-en"
MINILM = "minilm"
BUNDLED = (ATLAS, MINILM)  # come with the app, or with a package that is installed with it
MEGABYTE = models.MEGABYTE
FOLDER = "folder"
ANY_KIND = frozenset(Kind)
SEEN = "shelf.seen"  # in the session's state: names of models that this session has had
NAMES = {
    Family.BERT: "BERT",
    Family.DISTILBERT: "DistilBERT",
    Family.GPT2: "GPT-2",
    Family.MARIAN: "Marian",
    Family.T5: "T5",
}


class Place:
    """Room for one model; what was there makes way for the next one before that one is loaded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: tuple[str, AnyModel] | None = None

    def get(self, name: str) -> AnyModel:
        """The model of this name, loaded if another one is here. Raises: ModelError."""
        held = self._held
        if held is not None and held[0] == name:
            return held[1]
        with self._lock:
            if self._held is None or self._held[0] != name:
                self._held = held = None
                self._held = name, models.load_any(name)
                warm.freeze()
            return self._held[1]

    @property
    def name(self) -> str | None:
        """Which model is here."""
        held = self._held
        return None if held is None else held[0]


@st.cache_resource(show_spinner=False)
def place() -> Place:
    """The room for one more model, of all sessions together."""
    return Place()


@st.cache_resource(max_entries=len(BUNDLED), show_spinner=False)
def _bundled(name: str) -> AnyModel:
    model = models.load_any(name)
    warm.freeze()
    return model


def load(name: str) -> AnyModel:
    """A model, shared by all sessions: it is only read. Raises: ModelError, which is not kept."""
    return _bundled(name) if name in BUNDLED else place().get(name)


def forget() -> None:
    """Let go of every model."""
    _bundled.clear()
    place.clear()


def label(name: str) -> str:
    """What a model of the catalogue is called on a page."""
    return {
        ATLAS: _("Atlas, French → English (bundled)"),
        MINILM: _("MiniLM, English (bundled)"),
        "t5-small": _("T5-small, from English"),
        "bert-base-uncased": _("BERT base, English"),
        "bert-base-chinese": _("BERT base, Chinese"),
        "distilbert-base-uncased": _("DistilBERT, English"),
        "gpt2": _("GPT-2, English"),
        "distilgpt2": _("DistilGPT-2, English"),
    }[name]


def offered(kinds: frozenset[Kind] = ANY_KIND) -> dict[str, str]:
    """The models that a visitor of this server may choose, with their labels; the last one may be a folder."""
    names = [
        entry.name
        for entry in models.CATALOGUE.values()
        if entry.family.kind in kinds
        and models.allowed(entry.name)
        and (entry.repository is None or models.downloads_allowed() or models.is_available(entry.name))
    ]
    options = {name: label(name) for name in names}
    if models.folders_allowed() and models.largest_allowed() > 0:
        options[FOLDER] = _("A folder on this computer")
    return options


def choose(
    panel: Panel,
    options: Mapping[str, str],
    *,
    default: str,
    help: str,
    kinds: frozenset[Kind] = ANY_KIND,
    on_change: Callable[[], None] | None = None,
) -> AnyModel | None:
    """The control for the model, and all that may stand between choosing and having it.

    options: as `offered` gives them; default: one of them, which is bundled.
    Returns: the chosen model; the default, with a note, while the chosen one cannot be had; None without either.
    """
    name = panel.choice("model", _("Model"), options, default=default, help=help, on_change=on_change)
    if name == FOLDER:
        # Not in the address: a link must not make somebody else's computer open a folder.
        name = st.text_input(_("Folder"), key="model.folder", max_chars=400, persist_state="session").strip()
        if not name:
            st.caption(_("Type the full path of the folder; until then the bundled model is used."))
            return loaded(default, kinds)
        if name in models.CATALOGUE:
            name = os.path.join(os.curdir, name)  # a name without a path is no folder here
        return loaded(name, kinds) or loaded(default, kinds)
    if models.is_available(name):
        model = loaded(name, kinds)
        if model is not None or name == default:
            return model
    elif name == ATLAS:
        return loaded(name, kinds)  # which says what is wrong
    fetch(name)  # not here yet, or not whole
    return None if name == default else loaded(default, kinds)


def loaded(name: str, kinds: frozenset[Kind] = ANY_KIND) -> AnyModel | None:
    """The model; None, with a sentence about it, if it cannot be had or is of another kind."""
    try:
        if name in st.session_state.get(SEEN, ()):
            model = load(name)
        else:
            with st.spinner(_("Loading the model…"), show_time=False):  # it costs a thread, so only the first time
                model = load(name)
        if model.facts.family.kind not in kinds:
            raise ModelError(ModelProblem.UNSUPPORTED, f"A {model.facts.family} model is not wanted here.")
    except ModelError as error:
        st.error(sentence(error.reason, of_a_folder=name not in models.CATALOGUE, kinds=kinds), icon=":material/error:")
        return None
    st.session_state[SEEN] = {*st.session_state.get(SEEN, ()), name}
    return model


def fetch(name: str) -> None:
    """A button that says how much it fetches, progress, and what went wrong if something did."""
    size = models.CATALOGUE[name].size_bytes // MEGABYTE
    fetching = job(
        f"fetch.{name}",
        _("Fetch {size} MB").format(size=size),
        lambda on_progress, cancelled: models.download(name, on_progress=on_progress, cancelled=cancelled),
        unit=MEGABYTE,
        worker="fetch",
    )
    if fetching is not None and fetching.failed:
        reason = fetching.error.reason if isinstance(fetching.error, ModelError) else ModelProblem.HUB_ERROR
        st.error(sentence(reason), icon=":material/error:")
    elif fetching is not None and fetching.cancel.is_set():
        st.caption(sentence(ModelProblem.CANCELLED))
    st.caption(_("Until this model is here, the bundled one is used."))


def where(model: AnyModel) -> tuple[str, str | None]:
    """Where a program finds the model: a repository of the hub and its revision, or a folder and nothing."""
    entry = models.CATALOGUE.get(model.name)
    if entry is None:
        return model.name, None
    return entry.repository or f"core/assets/{model.name}", entry.revision


@cache
def _families(kinds: frozenset[Kind]) -> str:
    return ", ".join(name for family, name in NAMES.items() if family.kind in kinds)


def sentence(reason: ModelProblem, *, of_a_folder: bool = False, kinds: frozenset[Kind] = ANY_KIND) -> str:
    """What went wrong and what to do, for whoever uses the page.

    A folder without a model is spoken of like one that does not exist: nobody is to learn what is on the server's disk.
    kinds: what the page can use.
    """
    if of_a_folder and reason is ModelProblem.MISSING:
        reason = ModelProblem.UNKNOWN_NAME
    if of_a_folder and reason is ModelProblem.DAMAGED:
        return _("A file in this folder is damaged. Copy the model there again, or choose another folder.")
    sentences = {
        ModelProblem.UNKNOWN_NAME: _(
            "There is no folder of this name with a model in it ({families}). Type its full path; it must hold "
            "config.json, model.safetensors and tokenizer.json."
        ).format(families=_families(kinds)),
        ModelProblem.MISSING: _("A file of this model is missing. Install the app again, or fetch the model again."),
        ModelProblem.DAMAGED: _("A file of this model is damaged. Install the app again, or fetch the model again."),
        ModelProblem.WRONG_FILE: _("A file is not the one that belongs to this model. Fetch the model again."),
        ModelProblem.UNSUPPORTED: _(
            "This model cannot be shown here. It must be of one of these kinds: {families}. Its folder must hold the "
            "files config.json, model.safetensors and tokenizer.json."
        ).format(families=_families(kinds)),
        ModelProblem.TOO_LARGE: _(
            "This model is larger than this server allows ({size} MB in memory). Choose a smaller one."
        ).format(size=models.largest_allowed() // MEGABYTE),
        ModelProblem.FOLDERS_FORBIDDEN: _("The owner of this server does not let folders be opened."),
        ModelProblem.DOWNLOADS_FORBIDDEN: _("The owner of this server does not let models be fetched."),
        ModelProblem.NOT_DOWNLOADED: _("This model has not been fetched yet."),
        ModelProblem.BUSY: _("Somebody else is fetching this model now. Try again when they are done."),
        ModelProblem.CANCELLED: _("Stopped. The next attempt goes on from here."),
        ModelProblem.NO_NETWORK: _("The model hub cannot be reached. Check the network and try again."),
        ModelProblem.NOT_FOUND: _("The model hub no longer has this model. Use the bundled one."),
        ModelProblem.HUB_ERROR: _("The model hub answers with an error. Try again later."),
        ModelProblem.NO_SPACE: _("The disk is full. Make room and try again."),
        ModelProblem.NOT_WRITABLE: _("The folder for fetched models cannot be written to. Check its permissions."),
    }
    return sentences[reason]

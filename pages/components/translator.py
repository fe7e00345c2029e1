"""Models on a page: which one, how it is fetched, and its translations, computed once for everybody on the server."""

from dataclasses import dataclass
from functools import partial

import streamlit as st
import torch

from core import models
from core.decoding import DecodingTrace, Sampling, UnusableNetworkError, translate
from core.models import ModelError, ModelProblem, TranslationModel
from pages.components import warm
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.job import job

BUNDLED = "atlas-fr-en"
T5_SMALL = "t5-small"
MEGABYTE = 1_000_000
LONGEST_SOURCE = 64  # tokens, the end token among them
LONGEST_TARGET = 60
FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class Method:
    """How a sentence is decoded; plain values, so that it can be the key of a cache."""

    num_beams: int = 1
    length_penalty: float = 1.0
    early_stopping: bool = False
    sampling: Sampling | None = None
    seed: int = 0


@st.cache_resource(max_entries=2, show_spinner=False)
def load(name: str) -> TranslationModel:
    """A model, shared by all sessions: it is only read. Raises: ModelError, which is not kept."""
    model = models.load(name)
    warm.freeze()
    return model


@st.cache_resource(max_entries=40, show_spinner=False)
def trace(_model: TranslationModel, name: str, text: str, method: Method, forced: tuple[int, ...]) -> DecodingTrace:
    """The translation, with every step: moving along its steps computes nothing.

    Raises: ValueError if the model cannot say what is prescribed, or gives no numbers.
    """
    return decode(_model, text, method, forced)


def decode(model: TranslationModel, text: str, method: Method, forced: tuple[int, ...]) -> DecodingTrace:
    """The same, computed anew: for a model that shares its name with another one. Raises: as `trace` does."""
    generator = torch.Generator().manual_seed(method.seed) if method.sampling else None
    return translate(
        model,
        text,
        num_beams=method.num_beams,
        length_penalty=method.length_penalty,
        early_stopping=method.early_stopping,
        max_new_tokens=min(LONGEST_TARGET, model.facts.max_positions or LONGEST_TARGET),
        forced_prefix=forced or None,
        sampling=method.sampling,
        generator=generator,
    )


def translated(
    model: TranslationModel | None, text: str, method: Method, forced: tuple[int, ...]
) -> DecodingTrace | None:
    """The trace; None without a model, or, with a sentence about it, where the model gives none."""
    if model is None:
        return None
    try:
        return trace(model, model.name, text, method, forced)
    except UnusableNetworkError:
        st.error(_("This model gives no numbers for this sentence. Choose another model."), icon=":material/error:")
        return None


def prescribed(panel: Panel, model: TranslationModel | None) -> tuple[int, ...]:
    """The tokens that the user has put into the model's mouth; they are forgotten when the model changes."""
    kept = panel.hidden("forced", _("Prescribed tokens"), default="", pattern=r"|\d{1,6}(-\d{1,6}){0,59}")
    name = model.name if model else ""
    if st.session_state.setdefault("translator.model", name) != name:
        kept = ""
        panel.forget("forced")
    st.session_state["translator.model"] = name
    ids = tuple(int(number) for number in kept.split("-") if number)
    if not ids:
        return ()
    st.button(_("Let the model speak for itself"), on_click=partial(panel.put, {"forced": ""}), icon=":material/undo:")
    if model is None or not all(_can_say(model, number) for number in ids):
        st.caption(_("This model cannot say the tokens that are prescribed: they are left out."))
        return ()
    return ids


def _can_say(model: TranslationModel, token_id: int) -> bool:
    return token_id < model.facts.vocab_size and token_id not in model.facts.forbidden_ids


def place(model: TranslationModel) -> tuple[str, str | None]:
    """Where a program finds the model: a repository of the hub and its revision, or a folder and nothing."""
    entry = models.CATALOGUE.get(model.name)
    if entry is None:
        return model.name, None
    return entry.repository or f"core/assets/{model.name}", entry.revision


@st.cache_data(max_entries=200, show_spinner=False)
def shorten(_model: TranslationModel, name: str, text: str) -> tuple[str, bool]:
    """The text, cut behind the last token that there is room for; and whether it was cut."""
    room = min(LONGEST_SOURCE, _model.facts.max_positions or LONGEST_SOURCE)
    places = _model.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
    if len(places) <= room:
        return text, False
    cuts = (text[:end] for _start, end in reversed(places[: room - 1]))  # cut short, a text may split in another way
    return next((cut for cut in cuts if len(_model.tokenizer(cut).input_ids) <= room), ""), True


def choose(panel: Panel) -> TranslationModel | None:
    """The control for the model, and all that may stand between choosing and having it.

    Returns: the chosen model; the bundled one, with a note, while the chosen one cannot be had; None without either.
    """
    options = {BUNDLED: _("Atlas, French → English (bundled)")}
    if models.downloads_allowed() or models.is_available(T5_SMALL):
        options[T5_SMALL] = _("T5-small, from English")
    if models.folders_allowed():
        options[FOLDER] = _("A folder on this computer")
    name = panel.choice(
        "model",
        _("Model"),
        options,
        default=BUNDLED,
        help=_("T5-small has to be fetched once; a folder may hold any Marian or T5 model."),
        on_change=partial(panel.put, {"forced": ""}),
    )
    if name == FOLDER:
        # Not in the address: a link must not make somebody else's computer open a folder.
        name = st.text_input(_("Folder"), key="model.folder", max_chars=400, persist_state="session").strip()
        if not name:
            st.caption(_("Type the full path of the folder; until then the bundled model is used."))
            return _loaded(BUNDLED)
    in_catalogue = name in models.CATALOGUE
    model = _loaded(name) if models.is_available(name) or not in_catalogue or name == BUNDLED else None
    if model is not None or name == BUNDLED:
        return model
    if in_catalogue:  # not here yet, or not whole
        _fetch(name)
    return _loaded(BUNDLED)


def _loaded(name: str) -> TranslationModel | None:
    try:
        if name in st.session_state.get("translator.seen", ()):
            return load(name)
        with st.spinner(_("Loading the model…"), show_time=False):  # it costs a thread, so only the first time
            model = load(name)
        st.session_state["translator.seen"] = {*st.session_state.get("translator.seen", ()), name}
        return model
    except ModelError as error:
        st.error(sentence(error.reason, of_a_folder=name not in models.CATALOGUE), icon=":material/error:")
        return None


def _fetch(name: str) -> None:
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


def sentence(reason: ModelProblem, *, of_a_folder: bool = False) -> str:
    """What went wrong and what to do, for whoever uses the page.

    A folder without a model is spoken of like one that does not exist: nobody is to learn what is on the server's disk.
    """
    if of_a_folder and reason is ModelProblem.MISSING:
        reason = ModelProblem.UNKNOWN_NAME
    if of_a_folder and reason is ModelProblem.DAMAGED:
        return _("A file in this folder is damaged. Copy the model there again, or choose another folder.")
    sentences = {
        ModelProblem.UNKNOWN_NAME: _(
            "There is no folder of this name with a Marian or T5 model in it. Type its full path; it must hold "
            "config.json, model.safetensors and tokenizer.json."
        ),
        ModelProblem.MISSING: _("A file of this model is missing. Install the app again, or fetch the model again."),
        ModelProblem.DAMAGED: _("A file of this model is damaged. Install the app again, or fetch the model again."),
        ModelProblem.WRONG_FILE: _("A file is not the one that belongs to this model. Fetch the model again."),
        ModelProblem.UNSUPPORTED: _(
            "This model cannot be shown. The folder must hold a Marian or T5 model with the files config.json, "
            "model.safetensors and tokenizer.json."
        ),
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

"""Models that translate, on a page: which one, and its translations, computed once for everybody on the server."""

from dataclasses import dataclass
from functools import partial

import streamlit as st
import torch

from core.decoding import DecodingTrace, Sampling, UnusableNetworkError, translate
from core.models import Kind, ModelError, ModelProblem, TranslationModel
from pages.components import shelf
from pages.components.controls import Panel
from pages.components.i18n import _

BUNDLED = shelf.ATLAS
TRANSLATES = frozenset({Kind.BOTH})
LONGEST_SOURCE = 64  # tokens, the end token among them
LONGEST_TARGET = 60


@dataclass(frozen=True, slots=True)
class Method:
    """How a sentence is decoded; plain values, so that it can be the key of a cache."""

    num_beams: int = 1
    length_penalty: float = 1.0
    early_stopping: bool = False
    sampling: Sampling | None = None
    seed: int = 0


def load(name: str) -> TranslationModel:
    """A model, shared by all sessions: it is only read. Raises: ModelError, which is not kept."""
    model = shelf.load(name)
    if not isinstance(model, TranslationModel):
        raise ModelError(ModelProblem.UNSUPPORTED, f"A {model.facts.family} model does not translate.")
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
    model = shelf.choose(
        panel,
        shelf.offered(TRANSLATES),
        default=BUNDLED,
        help=_("T5-small has to be fetched once; a folder may hold any Marian or T5 model."),
        kinds=TRANSLATES,
        on_change=partial(panel.put, {"forced": ""}),
    )
    return model if isinstance(model, TranslationModel) else None


def place(model: TranslationModel) -> tuple[str, str | None]:
    """Where a program finds the model: a repository of the hub and its revision, or a folder and nothing."""
    return shelf.where(model)


def sentence(reason: ModelProblem, *, of_a_folder: bool = False) -> str:
    """What went wrong and what to do, for whoever uses a page that translates."""
    return shelf.sentence(reason, of_a_folder=of_a_folder, kinds=TRANSLATES)

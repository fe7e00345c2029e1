"""The three families: who reads and who writes, which mask goes where, and what each family is for."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from core import models
from core.batch_reading import BatchReading, read_batch
from core.batches import PAD, Batch, batch
from core.charts import heatmaps
from core.charts.reading import Look, ReadingWords, Row, reading, reading_data
from core.masks import causal_mask, combine, padding_mask
from core.models import Kind
from core.transformer import Stacks
from pages.components import transformer_claims, transformer_fold
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.masks_pictures import heatmap_words
from pages.components.plot import Part, clicks, figure, part, picked
from pages.components.transformer_words import family_names
from pages.components.words import Claim, look_for

KEY = "transformer.families"
SOURCE = "le chat noir dort\nil pleut"
TARGET = "<bos> the black cat sleeps\n<bos> it rains"
MOST_SENTENCES, MOST_TOKENS = 3, 8
HEIGHT = 120  # pixels, of the masks
LEGIBLE = 820


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A batch as a Transformer of this family reads it."""

    family: Stacks
    found: BatchReading
    said: tuple[str, ...]  # what the user should know about the texts

    @property
    def batch(self) -> Batch:
        """Of the tokens that look: the target, if there is one."""
        shown = self.found.target or self.found.source
        if shown is None:
            raise ValueError("found must be of a source or a target")
        return shown


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    read: Read
    sentence: int
    position: int  # of the token that looks, counted from 0

    @property
    def source(self) -> tuple[str, ...]:
        return self.read.found.source.padded(self.sentence) if self.read.found.source else ()

    @property
    def target(self) -> tuple[str, ...]:
        return self.read.found.target.padded(self.sentence) if self.read.found.target else ()


def controls(panel: Panel) -> Read | None:
    family = Stacks(panel.choice("family", _("Family"), family_names(), default=Stacks.BOTH.value))
    source = target = None
    help = _("One line for each sentence of the batch; tokens stand between spaces.")
    if family is not Stacks.DECODER:
        source = _choose(panel, "texts", _("Texts to read"), SOURCE, help)
    if family is not Stacks.ENCODER:
        target = _choose(panel, "written", _("Texts to write"), TARGET, help)
    given = [each for each in (source, target) if each is not None]
    sentences = min(len(each.sentences) for each in given)
    if not sentences:
        return None
    said = []
    if any(each.cut for each in given):
        said.append(
            _("What exceeds {sentences} sentences or {tokens} tokens is cut: there is room for no more.").format(
                sentences=MOST_SENTENCES, tokens=MOST_TOKENS
            )
        )
    if len({len(each.sentences) for each in given}) > 1:
        said.append(_("Every text needs a partner: the first {count} are shown.").format(count=sentences))
    source, target = (each and Batch(each.sentences[:sentences], each.cut) for each in (source, target))
    return Read(family, _reading(source, target, True), tuple(said))


def _choose(panel: Panel, name: str, label: str, default: str, help: str) -> Batch:
    text = panel.text(name, label, default=default, max_chars=400, lines=2, help=help)
    return batch(text.split("\n"), most_sentences=MOST_SENTENCES, most_tokens=MOST_TOKENS)


@st.cache_resource(max_entries=50, show_spinner=False)
def _reading(source: Batch | None, target: Batch | None, masked: bool) -> BatchReading:
    return read_batch(source, target, seed=0, masked=masked)


def sliders(panel: Panel, read: Read | None) -> Shown | None:
    if read is None:
        return None
    shown = read.batch
    with panel.beside():
        sentence = panel.slider("row", _("Sentence"), 1, len(shown.sentences), default=1, step=1)
        position = panel.slider(
            "position", _("Token that looks"), 1, shown.seq_len, default=min(3, shown.seq_len), step=1
        )
    return Shown(read, sentence - 1, position - 1)


def picture(panel: Panel, shown: Shown | None) -> None:
    if shown is None:
        st.info(_("There is no sentence yet. Type one on the left; one word is enough."))
        return
    look_for(*_in_words(shown), *shown.read.said, beside=_facts(shown.read.family))

    def choose() -> None:
        row, place = picked(KEY, "reading_token", "row"), picked(KEY, "reading_token", "place")
        rows = _rows(shown)
        if row is not None and place is not None and rows[int(row)].left == rows[_looking(shown)].left:
            panel.put({"position": int(place) + 1})

    plot = figure(
        KEY,
        [[_lines(shown)], _masks(shown)],
        name=_("families and masks"),
        alt=_(
            "Tokens in rows with lines to the tokens that they may look at; below, the masks of every attention as "
            "heatmaps of open and hatched cells."
        ),
        on_select=choose,
        least=LEGIBLE,
    )
    transformer_fold.of_families(shown.read.found, plot, (read_batch, causal_mask, padding_mask, combine))


def cards(read: Read | None) -> Sequence[Claim]:
    if read is None:
        return ()
    claims = [transformer_claims.padded_rows(read.found.padded_rows())]
    found = read.found
    if found.source is not None and found.target is not None:
        weights = _reading(found.source, found.target, False).weights["cross"].mean(dim=1)  # (batch, seq_q, seq_k)
        said = [weights[index, :length] for index, length in enumerate(found.target.lengths)]
        claims.insert(0, transformer_claims.no_mask(said, found.source.lengths))
    return (*claims, transformer_claims.printed_padding())


def played(read: Read | None) -> str | None:
    return None if read is None else "position"


# --------------------------------------------------------------------------------------------------------- the picture


def _rows(shown: Shown) -> tuple[Row, ...]:
    """From below: what is read, and what each block makes of it."""
    family, source, target = shown.read.family, shown.source, shown.target
    inputs, states = _("tokens"), _("after self-attention")
    if family is Stacks.ENCODER:
        return Row(source, 0, 0, inputs), Row(source, 0, 1, states)
    if family is Stacks.DECODER:
        return Row(target, 0, 0, inputs), Row(target, 0, 1, states)
    right = len(source) + 0.6
    return (
        Row(source, 0, 0, inputs),
        Row(source, 0, 1, states),
        Row(target, right, 0),
        Row(target, right, 1),
        Row(target, right, 2, _("after cross-attention")),
    )


def _looking(shown: Shown) -> int:
    """The row in which the chosen token is marked."""
    return 4 if shown.read.family is Stacks.BOTH else 1


def _lines(shown: Shown) -> Part:
    found, sentence = shown.read.found, shown.sentence
    places = {"encoder": (1, 0), "decoder": (1, 0), "cross": (4, 1)}
    if shown.read.family is Stacks.BOTH:
        places["decoder"] = (3, 2)
    looks = [Look(*places[name], found.sees(name, sentence).numpy()) for name in found.weights]
    rows = _rows(shown)
    titles = {
        Stacks.ENCODER: _("Encoder: every token looks at all that are not padding"),
        Stacks.DECODER: _("Decoder: every token looks at itself and at what came before it"),
        Stacks.BOTH: _(
            "Encoder (left) reads all at once; decoder (right) writes, and looks at what the encoder made of it"
        ),
    }
    return part(
        "reading",
        reading,
        reading_data(rows, looks, chosen=(_looking(shown), shown.position), padding=(PAD,), nonce=clicks(KEY)),
        rows=rows,
        words=ReadingWords(token=_("token"), sees=_("looks at so many")),
        title=titles[shown.read.family],
        height=190 if shown.read.family is Stacks.BOTH else 150,
    )


def _masks(shown: Shown) -> list[Part]:
    found = shown.read.found
    titles = {
        "encoder": _("Encoder: padding"),
        "decoder": _("Decoder: causal and padding"),
        "cross": _("Cross: padding of the source"),
    }
    tokens = {
        "encoder": (shown.source, shown.source),
        "decoder": (shown.target, shown.target),
        "cross": (shown.target, shown.source),
    }
    marked = {"encoder"} if shown.read.family is Stacks.ENCODER else {"decoder", "cross"}
    return [
        part(
            name,
            heatmaps.heatmap,
            heatmaps.heatmap_data(mask, attend_mask=mask, marked_row=shown.position if name in marked else None),
            share=1 / 3,
            queries=tokens[name][0],
            keys=tokens[name][1],
            kind="mask",
            words=heatmap_words(_("mask")),
            title=titles[name],
            height=HEIGHT,
            clickable=False,
        )
        for name in found.weights
        for mask in [found.sees(name, shown.sentence).numpy()]
    ]


# ------------------------------------------------------------------------------------------------------------ in words


def _facts(family: Stacks) -> str:
    lines: Mapping[Stacks, Mapping[str, str]] = {
        Stacks.ENCODER: {
            _("Reads"): _("the whole text at once, both ways"),
            _("Writes"): _("nothing: a vector for every token"),
            _("Learns"): _("to guess hidden words in the middle of a text"),
            _("Good for"): _("search, classification, finding names"),
            _("Examples"): "BERT, DistilBERT, RoBERTa, MiniLM",
        },
        Stacks.DECODER: {
            _("Reads"): _("from left to right, what came before"),
            _("Writes"): _("one token after the other, behind what it has read"),
            _("Learns"): _("to guess the next word of a text"),
            _("Good for"): _("writing, conversation, everything that can be asked in words"),
            _("Examples"): "GPT-2, Llama, Mistral, Qwen",
        },
        Stacks.BOTH: {
            _("Reads"): _("a source at once, both ways, with the encoder"),
            _("Writes"): _("a target with the decoder, one token after the other"),
            _("Learns"): _("to write the target that belongs to a source"),
            _("Good for"): _("translation, summaries, speech to text"),
            _("Examples"): _("the Transformer of 2017, T5, BART, Marian"),
        },
    }
    here = [entry.name for entry in models.CATALOGUE.values() if entry.family.kind is Kind(family.value)]
    shown = {**lines[family], _("In this app"): ", ".join(here)}
    rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in shown.items())
    return f'<table class="atlas-facts">{rows}</table>'


def _in_words(shown: Shown) -> Sequence[str]:
    found, sentence, position = shown.read.found, shown.sentence, shown.position
    name = "encoder" if shown.read.family is Stacks.ENCODER else "decoder"
    tokens = shown.source if name == "encoder" else shown.target
    seen = int(found.sees(name, sentence)[position].sum())
    sentences = [
        _("“{token}” looks at {seen} of {count} tokens of its own text.").format(
            token=tokens[position], seen=seen, count=len(tokens)
        )
    ]
    if shown.read.family is Stacks.BOTH:
        across = int(found.sees("cross", sentence)[position].sum())
        sentences.append(
            _("Across, it looks at {seen} of {count} vectors of the source, whatever has been written yet.").format(
                seen=across, count=len(shown.source)
            )
        )
    if tokens[position] == PAD:
        sentences.append(_("It is padding itself: nobody looks at it, and what it makes of the others is thrown away."))
    elif name == "decoder":
        sentences.append(
            _("From what it then knows, the decoder predicts the token after “{token}”.").format(token=tokens[position])
        )
    else:
        sentences.append(_("No causal mask: a token in the middle knows what comes after it."))
    return sentences

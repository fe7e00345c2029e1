"""The residual stream of a real model on a sentence: how long its vectors are, and what each block adds to them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import streamlit as st

from core.anatomy import Kind, Side, UnknownNetworkError
from core.charts import heatmaps
from core.charts.stream import StreamWords, stream, stream_data
from core.claims.transformer import Additions
from core.decoding import UnusableNetworkError, translate
from core.explorer import written
from core.hidden_tokens import Influence, measure_influence
from core.models import AnyModel, TranslationModel
from core.models import Kind as Stacks
from core.residual_stream import Step, Stream, read_stream, trace_stream
from pages.components import shelf, transformer_claims, transformer_fold
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.plot import Part, clicks, figure, part
from pages.components.tokens import plainly
from pages.components.transformer_scene import clicked
from pages.components.transformer_words import block_name, side_name
from pages.components.words import Claim, look_for

KEY = "transformer.stream"
FRENCH = "Le chat noir dort dans le jardin."
ENGLISH = "The cat sat on the mat."
MOST = 20  # tokens
HEIGHT, ROW = 190, 20  # pixels: of all rows of tokens, and of one at most


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A text as a model read it."""

    model: AnyModel
    tokens: dict[Side, tuple[str, ...]]
    ids: tuple[int, ...]
    said: tuple[int, ...]  # by a translation model
    stream: Stream
    was_cut: bool

    @property
    def sides(self) -> tuple[Side, ...]:
        return tuple(self.tokens)

    @property
    def additions(self) -> Additions:
        return Additions(tuple(float(step.ratio.mean()) for step in self.stream.steps))


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    read: Read
    chosen: dict[Side, int | None]  # a token of each stack, counted from 0; None: the mean of all


def controls(panel: Panel) -> Read | None:
    model = shelf.choose(
        panel,
        shelf.offered(),
        default=shelf.ATLAS,
        help=_("Bundled models are here; others have to be fetched once, or lie in a folder."),
    )
    if model is None:
        return None
    french = model.name == shelf.ATLAS
    text = panel.text(
        "french" if french else "sentence",
        _("French sentence") if french else _("Sentence"),
        default=FRENCH if french else ENGLISH,
        max_chars=400,
        spoken="fr" if french else "en",
    )
    if not text.strip():
        return None
    return _read(model, model.name, id(model), text)


@st.cache_resource(max_entries=30, show_spinner=False)
def _read(_model: AnyModel, name: str, identity: int, text: str) -> Read | None:
    """None if the model makes nothing of the text."""
    task = _model.tasks[0].prefix if isinstance(_model, TranslationModel) and _model.tasks else ""
    ids = _model.tokenizer(task + text).input_ids
    was_cut = len(ids) > MOST
    if was_cut:
        ends = _model.facts.family.kind is not Stacks.DECODER  # the others close a text with a token of its own
        ids = [*ids[: MOST - 1], ids[-1]] if ends else ids[:MOST]
    said: list[int] = []
    try:
        if isinstance(_model, TranslationModel):
            shortened = str(_model.tokenizer.decode(ids, skip_special_tokens=True)) if was_cut else task + text
            said = list(translate(_model, shortened, max_new_tokens=MOST).token_ids)
        found = read_stream(_model, ids, said)
    except (UnusableNetworkError, UnknownNetworkError):
        return None
    if isinstance(_model, TranslationModel):
        read = [_model.facts.start_id, *said[:-1]]
        tokens = {Side.ENCODER: _labels(_model, ids), Side.DECODER: _labels(_model, read)}
    else:
        side = Side.DECODER if _model.facts.family.kind is Stacks.DECODER else Side.ENCODER
        tokens = {side: _labels(_model, ids)}
    return Read(_model, tokens, tuple(ids), tuple(said), found, was_cut)


def _labels(model: AnyModel, ids: Sequence[int]) -> tuple[str, ...]:
    special = set(model.tokenizer.all_special_ids)
    return plainly(written(model.tokenizer, ids, [number in special for number in ids]))


def sliders(panel: Panel, read: Read | None) -> Shown | None:
    if read is None:
        return None
    labels = {Side.ENCODER: _("Source token"), Side.DECODER: _("Target token")}
    if len(read.sides) == 1:
        labels = dict.fromkeys(Side, _("Token"))
    chosen: dict[Side, int | None] = {}
    with panel.beside():
        for side in read.sides:
            number = panel.slider(
                side.value,
                labels[side],
                0,
                len(read.tokens[side]),
                default=0,
                step=1,
                help=_("0: the mean of all tokens"),
            )
            chosen[side] = number - 1 if number else None
    return Shown(read, chosen)


def picture(panel: Panel, shown: Shown | None) -> None:
    if shown is None:
        st.info(_("There is no sentence yet, or the model makes nothing of it. Type another one on the left."))
        return
    look_for(*_in_words(shown))

    def choose() -> None:
        for side in shown.read.sides:
            row = clicked(KEY, f"ratio_{side.value}_cell", "q")
            if row is not None:
                panel.put({side.value: int(row) + 1})

    sides = shown.read.sides
    plot = figure(
        KEY,
        [[_stream(shown, side) for side in sides], [_ratios(shown, side) for side in sides]],
        name=_("residual stream"),
        alt=_(
            "For each stack a chart of the blocks in order: a bar for the length of what each adds, a line for the "
            "length of the stream; below it a heatmap of tokens and blocks: what is added beside what is there."
        ),
        on_select=choose,
    )
    transformer_fold.of_stream(
        shown.read.model, shown.read.ids, shown.read.said, shown.read.stream, plot, (read_stream, trace_stream)
    )


def cards(read: Read | None) -> Sequence[Claim]:
    if read is None:
        return ()
    claims = [transformer_claims.little(read.additions)]
    translator = read.model if isinstance(read.model, TranslationModel) else None
    if translator is not None:
        claims.append(transformer_claims.important(translator, _influence(translator, read)))
    return claims


def _influence(model: TranslationModel, read: Read) -> Influence | None:
    return measure_influence(model, read.ids, read.said) if len(read.ids) > 1 and read.said else None


def played(read: Read | None) -> str | None:
    return None if read is None else read.sides[0].value


def _short(step: Step) -> str:
    names = {Kind.SELF_ATTENTION: _("self"), Kind.CROSS_ATTENTION: _("cross"), Kind.FEED_FORWARD: _("feed")}
    return f"{(step.block.layer or 0) + 1} {names[step.block.kind]}"


def _share(shown: Shown, side: Side) -> float:
    """Of the width: as many parts as the stack has blocks, with room for names."""
    widths = {each: len(shown.read.stream.of(each)) + 4 for each in shown.read.sides}
    return widths[side] / sum(widths.values())


def _lengths(steps: Sequence[Step], name: str) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = np.stack([getattr(step, name).norm(dim=-1).numpy() for step in steps])
    return found


def _stream(shown: Shown, side: Side) -> Part:
    steps = shown.read.stream.of(side)
    tables = {name: _lengths(steps, name) for name in ("before", "added", "after")}
    token = shown.chosen[side]
    whose = _("mean of all tokens") if token is None else f"“{shown.read.tokens[side][token]}”"
    return part(
        f"stream_{side.value}",
        stream,
        stream_data(tables["before"], tables["added"], tables["after"], token=token),
        share=_share(shown, side),
        blocks=tuple(_short(step) for step in steps),
        most=_axis(max(_longest(shown, each) for each in shown.read.sides)),
        words=StreamWords(
            axis=_("length of the vector"),
            block=_("block"),
            before=_("stream before the block"),
            added=_("added by the block"),
            after=_("stream after it"),
        ),
        title=f"{side_name(side)} · {whose}",
        height=140,
    )


def _longest(shown: Shown, side: Side) -> float:
    """The longest bar or point: of the chosen token, or of the means."""
    token, steps = shown.chosen[side], shown.read.stream.of(side)
    tables = [_lengths(steps, name) for name in ("added", "after")]
    return max(float((table.mean(axis=1) if token is None else table[:, token]).max()) for table in tables)


def _axis(longest: float) -> float:
    """Where an axis ends: the next of 10, 15, 20, 30, 50, 70, 100, …, so that it seldom changes."""
    steps = (1, 1.5, 2, 3, 5, 7)
    return next(scale * step for scale in (0.1, 1, 10, 100, 1000, 10_000) for step in steps if scale * step > longest)


def _ratios(shown: Shown, side: Side) -> Part:
    steps, tokens = shown.read.stream.of(side), shown.read.tokens[side]
    ratios = np.stack([step.ratio.numpy() for step in steps], axis=1)  # (tokens, blocks)
    return part(
        f"ratio_{side.value}",
        heatmaps.heatmap,
        heatmaps.heatmap_data(ratios, marked_row=shown.chosen[side], nonce=clicks(KEY)),
        share=_share(shown, side),
        queries=tokens,
        keys=tuple(_short(step) for step in steps),
        words=heatmaps.Words(
            row_axis=_("token"),
            column_axis=_("block"),
            query=_("token"),
            key=_("block"),
            value=_("added / stream"),
            masked="",
            allowed="",
        ),
        title=_("Length of what is added / of the stream (1 and more: one colour)"),
        height=min(ROW * len(tokens), HEIGHT),
    )


def _in_words(shown: Shown) -> Sequence[str]:
    read, additions = shown.read, shown.read.additions
    steps = read.stream.steps
    largest = steps[additions.ratios.index(additions.largest)]
    after = _("its normalisation brings the sum back to one size, so the line goes up and down")
    before = _("nothing shrinks the sum, so the line mostly climbs")
    sentences = [
        _(
            "The largest step: “{block}” of layer {layer} ({side}) adds {ratio:.2f} times the length of what it adds "
            "to."
        ).format(
            block=block_name(largest.block),
            layer=(largest.block.layer or 0) + 1,
            side=side_name(largest.block.side),
            ratio=additions.largest,
        ),
        _("This model normalises {where}: {why}.").format(
            where=_("after each block") if steps[0].normed_after else _("before each block"),
            why=after if steps[0].normed_after else before,
        ),
    ]
    side, token, step = _farthest(read)
    sentences.append(
        _("The longest single addition: “{block}” of layer {layer} adds {length:.0f} to “{token}”.").format(
            block=block_name(step.block),
            layer=(step.block.layer or 0) + 1,
            length=float(step.added[token].norm()),
            token=read.tokens[side][token],
        )
    )
    if read.was_cut:
        sentences.append(
            _("The sentence was cut after {count} tokens: there is room for no more.").format(count=len(read.ids))
        )
    return sentences


def _farthest(read: Read) -> tuple[Side, int, Step]:
    """The token, counted from 0, to which a block adds the longest vector."""
    step = max(read.stream.steps, key=lambda step: float(step.added.norm(dim=-1).max()))
    return step.block.side, int(step.added.norm(dim=-1).argmax()), step

"""A sentence with and without positions, and whether attention notices that its words have changed places."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa
import streamlit as st
import torch
from torch import Tensor

from core.charts import heatmaps
from core.claims.sinusoidal import order_changes
from core.masks import causal_mask
from core.model_embeddings import cosines, embed
from core.models import ModelError
from core.positions.order import Setting, put_back
from pages.components import sinusoidal_fold, translator
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.plot import Part, figure, part
from pages.components.sinusoidal_claims import order_card
from pages.components.sinusoidal_order import MOST_TOKENS, Scene, Settings, names, trials
from pages.components.sinusoidal_scene import tiny
from pages.components.tokens import plain, plainly, token_line
from pages.components.words import claim_cards, look_for

FEWEST_TOKENS = 3  # two words, and the end token, which keeps its place
HEIGHT = 230
SMALL = 1e-4  # a change below this is written as a power of ten


def draw(panel: Panel, settings: Settings) -> None:
    try:
        model = translator.load(translator.BUNDLED)
    except ModelError as error:
        st.error(translator.sentence(error.reason), icon=":material/error:")
        return
    embedded = embed(model, settings.text, most_tokens=MOST_TOKENS)
    if len(embedded.tokens) < FEWEST_TOKENS:
        st.info(_("Type at least two words on the left: one word alone has no order."))
        claim_cards([order_card(None)])
        return
    was_cut = len(model.tokenizer(settings.text).input_ids) > MOST_TOKENS
    scene = Scene(settings, embedded, was_cut, trials(model, settings))
    panel.follow(partial(_choose, panel, scene), _picture)
    claim_cards([order_card(order_changes(scene.trials))])


def _choose(panel: Panel, scene: Scene) -> Scene:
    """The sliders for what is drawn of the attention."""
    weights = scene.trial.original.weights
    with panel.beside():
        layer = panel.slider("layer", _("Layer"), 1, len(weights), default=3, step=1)
        head = panel.slider("head", _("Head"), 1, weights[0].shape[0], default=2, step=1)
    return replace(scene, layer=layer - 1, head=head - 1)


def _picture(scene: Scene) -> None:
    trial, tokens = scene.trial, scene.embedded.tokens
    original, moved = maps(scene)
    look_for(*_in_words(scene, original, moved), beside=_moved(tokens, trial.order) + _changes(scene))
    plot = figure(
        "sinusoidal.sentence",
        [[_maps(plainly(tokens), _data(scene, original, moved))]],
        name=_("sentence"),
        alt=_(
            "Four heatmaps of the same words: how alike their vectors are without and with positions; the attention "
            "to the sentence as written, and to the sentence in another order, sorted back."
        ),
    )
    sinusoidal_fold.draw_order(scene, [plot])


def maps(scene: Scene) -> tuple[Tensor, Tensor]:
    """The attention to the words as written, and in the other order, sorted back: (seq_len, seq_len) each."""
    trial = scene.trial
    original, permuted = (reading.weights[scene.layer][scene.head] for reading in (trial.original, trial.permuted))
    return original, put_back(permuted, trial.order)


def _data(scene: Scene, original: Tensor, moved: Tensor) -> Mapping[str, pa.Table]:
    embedded, trial = scene.embedded, scene.trial
    seq_len = len(embedded.tokens)
    causal = trial.setting in (Setting.CAUSAL_ONE_LAYER, Setting.CAUSAL_TWO_LAYERS)
    seen = causal_mask(seq_len) if causal else torch.ones(seq_len, seq_len, dtype=torch.bool)
    return heatmaps.panels_data(
        {
            "words": cosines(embedded.words),
            "placed": cosines(embedded.words + embedded.positions),
            "original": original,
            "moved": moved,
        },
        masks={"seen": seen, "seen_moved": put_back(seen, trial.order)},
        marked_row=seq_len - 1,
    )


def _maps(tokens: tuple[str, ...], data: Mapping[str, pa.Table]) -> Part:
    return part(
        "maps",
        heatmaps.panels,
        data,
        queries=tokens,
        keys=tokens,
        shown=(
            heatmaps.Panel(_("Alike: words alone"), "signed", "words", value_word=_("cosine")),
            heatmaps.Panel(_("Alike: words + positions"), "signed", "placed", value_word=_("cosine")),
            heatmaps.Panel(_("Attention, as written"), "weights", "original", "seen", _("weight")),
            heatmaps.Panel(_("Moved, sorted back"), "weights", "moved", "seen_moved", _("weight")),
        ),
        words=heatmaps.Words(
            row_axis=_("word"),
            column_axis="",
            query=_("word"),
            key=_("other word"),
            value=_("weight"),
            masked=_("masked"),
            allowed=_("may look"),
        ),
        height=HEIGHT,
        clickable=False,
    )


def _moved(tokens: Sequence[str], order: Sequence[int]) -> str:
    """The other order as a line of tokens, each with the place it was written in."""
    return token_line(_("Moved, from place"), [tokens[place] for place in order], order)


def _changes(scene: Scene) -> str:
    """How far the outputs change in each setting, in HTML."""
    called = names()
    lines = "".join(
        f'<tr class="{"marked" if trial.setting is scene.settings.setting else ""}">'
        f"<td>{html.escape(called[trial.setting])}</td><td>{_share(trial.change)}</td></tr>"
        for trial in scene.trials
    )
    head = f"<tr><th>{html.escape(_('Attention'))}</th><th>{html.escape(_('outputs change by'))}</th></tr>"
    return f'<table class="atlas-grid">{head}{lines}</table>'


def _share(change: float) -> str:
    return f"{change:.1%}" if change > SMALL else tiny(change)


def _in_words(scene: Scene, original: Tensor, moved: Tensor) -> Sequence[str]:
    trial, tokens = scene.trial, scene.embedded.tokens
    cut = _("The sentence was cut after {most} tokens.").format(most=MOST_TOKENS) if scene.was_cut else ""
    if [tokens[place] for place in trial.order] == list(tokens):
        same = _("In this order the sentence is the same: nothing can change. Type different words, or shuffle them.")
        return (same, cut)
    difference = float((original - moved).abs().max())
    about = {
        Setting.NO_MASK: _(
            "Without positions each word looks at the same words as before, wherever they stand now: the two maps of "
            "attention differ by {tiny_difference}, every output by {tiny_change}. That is rounding."
        ),
        Setting.CAUSAL_ONE_LAYER: _(
            "Under a causal mask earlier words see other words than before, so the maps differ by up to "
            "{difference:.2f}. But the last row, which sees all, stays as it was: its output changes by {tiny_change}."
        ),
        Setting.CAUSAL_TWO_LAYERS: _(
            "In the second layer the last word reads what the first layer wrote, and that depends on what each word "
            "could see: order leaks in, and the last output changes by {change:.1%}."
        ),
        Setting.WITH_POSITIONS: _(
            "With positions a word that stands elsewhere is another vector: the maps differ by up to "
            "{difference:.2f}, and the last output changes by {change:.1%}."
        ),
    }
    said = about[trial.setting].format(
        difference=difference, change=trial.change, tiny_difference=tiny(difference), tiny_change=tiny(trial.change)
    )
    return (said, _repeated(scene, tokens), cut)


def _repeated(scene: Scene, tokens: Sequence[str]) -> str:
    """About a word that stands in the sentence twice."""
    first = next((place for place, token in enumerate(tokens) if token in tokens[place + 1 :]), None)
    if first is None:
        return _("Use a word twice to see what positions add: alone, both are the same vector.")
    second = tokens.index(tokens[first], first + 1)
    placed = cosines(scene.embedded.words + scene.embedded.positions)
    return _(
        "“{word}” stands in places {first} and {second}: the same vector without positions, a cosine of {cosine:.2f} "
        "with them."
    ).format(word=plain(tokens[first]), first=first, second=second, cosine=float(placed[first, second]))

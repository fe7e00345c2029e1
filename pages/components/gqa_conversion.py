"""The view that turns multi-head attention into grouped-query attention: a real model's KV heads, merged."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.charts import curves
from core.gqa_conversion import ConversionError, Pooling, measure_encoder
from core.kv_heads import legal_kv_heads
from core.models import ModelError
from pages.components import translator
from pages.components.controls import Panel
from pages.components.gqa_sharing import sharing_part
from pages.components.gqa_words import row_name
from pages.components.i18n import _
from pages.components.plot import Part, Plot, figure, part
from pages.components.words import look_for

KEY = "gqa.conversion"
SENTENCE = "J'ai vu un chat noir dans le jardin."
HEIGHT = 250
HIGHEST = 1.5  # of the axes; an error of 1 is as large as the output itself

Errors = Sequence[Sequence[ConversionError]]


@dataclass(frozen=True, slots=True)
class Converted:
    """The sentence that the layers read, cut to what the model can read, and what merging does to their outputs."""

    text: str
    was_cut: bool
    num_heads: int
    layers: tuple[tuple[ConversionError, ...], ...]


@dataclass(frozen=True, slots=True)
class Shown:
    converted: Converted
    layer: int  # counted from 0
    num_kv_heads: int

    def error(self, layer: int, pooling: Pooling, num_kv_heads: int) -> float:
        return next(
            found.error
            for found in self.converted.layers[layer]
            if found.pooling is pooling and found.num_kv_heads == num_kv_heads
        )


def choose_sentence(panel: Panel) -> str:
    return panel.text("sentence", _("French sentence"), default=SENTENCE, max_chars=1000, spoken="fr")


def convert(sentence: str) -> Converted | None:
    """What merging does to the layers on this sentence; None, with a note, if there is nothing to read."""
    if not sentence.strip():
        st.info(_("There is nothing to read yet. Type a sentence on the left."))
        return None
    try:
        model = translator.load(translator.BUNDLED)
    except ModelError as error:
        st.error(translator.sentence(error.reason), icon=":material/error:")
        return None
    text, was_cut = translator.shorten(model, translator.BUNDLED, sentence)
    return Converted(text, was_cut, model.facts.num_heads, _errors(text))


@st.cache_resource(max_entries=40, show_spinner=False)
def _errors(text: str) -> tuple[tuple[ConversionError, ...], ...]:
    """All layers, all legal numbers, both ways: moving among them computes nothing."""
    return measure_encoder(translator.load(translator.BUNDLED), text, most_tokens=translator.LONGEST_SOURCE)


def choose(panel: Panel, converted: Converted) -> Shown:
    layer = panel.slider("layer", _("Layer"), 1, len(converted.layers), default=1, step=1)
    names = {str(count): row_name(converted.num_heads, count) for count in legal_kv_heads(converted.num_heads)}
    chosen = panel.choice("merged", _("KV heads"), names, default="2")
    return Shown(converted, layer - 1, int(chosen))


def view(shown: Shown) -> Sequence[Plot]:
    look_for(*_in_words(shown))
    plot = figure(
        KEY,
        [
            [
                sharing_part(shown.converted.num_heads, shown.num_kv_heads, share=0.32, height=HEIGHT),
                _one_layer(shown),
                _all_layers(shown),
            ]
        ],
        name=_("from MHA to GQA"),
        alt=_(
            "The layer's query heads and the merged KV heads they use; curves: the error of this layer's output "
            "against the number of KV heads, and the error of every layer, with the mean and with the first KV head."
        ),
    )
    return (plot,)


def _one_layer(shown: Shown) -> Part:
    counts = legal_kv_heads(shown.converted.num_heads)
    return part(
        "layer",
        curves.curves,
        curves.curves_data(
            [counts] * len(Pooling),
            [[shown.error(shown.layer, pooling, count) for count in counts] for pooling in Pooling],
            marks=[shown.num_kv_heads],
        ),
        share=0.34,
        series=_names(),
        x=curves.Axis(_("KV heads"), log=True, ticks=counts, format="d"),
        y=_error_axis(),
        title=_("The chosen layer"),
        height=HEIGHT,
    )


def _all_layers(shown: Shown) -> Part:
    layers = range(len(shown.converted.layers))
    numbers = tuple(layer + 1 for layer in layers)
    return part(
        "layers",
        curves.curves,
        curves.curves_data(
            [numbers] * len(Pooling),
            [[shown.error(layer, pooling, shown.num_kv_heads) for layer in layers] for pooling in Pooling],
            marks=[shown.layer + 1],
        ),
        share=0.34,
        series=_names(),
        x=curves.Axis(_("layer"), ticks=numbers, format="d", domain=(0.75, numbers[-1] + 0.25)),
        y=_error_axis(),
        title=_("All layers, with the chosen KV heads"),
        height=HEIGHT,
    )


def _names() -> tuple[str, ...]:
    """In the order of Pooling."""
    return _("mean of the heads"), _("first head")


def _error_axis() -> curves.Axis:
    return curves.Axis(_("error ÷ size of the output"), domain=(0, HIGHEST), ticks=(0, 0.5, 1, HIGHEST))


def _in_words(shown: Shown) -> Sequence[str]:
    mean, first = (shown.error(shown.layer, pooling, shown.num_kv_heads) for pooling in (Pooling.MEAN, Pooling.FIRST))
    if shown.num_kv_heads == shown.converted.num_heads:
        said = [_("With as many KV heads as query heads nothing is merged, and nothing changes.")]
    else:
        said = [
            _(
                "Layer {layer} of the bundled model has {heads} KV heads. Merged into {kv_heads}, without training, "
                "its output is off by {mean:.0%} of its size with the mean, by {first:.0%} with the first head alone."
            ).format(
                layer=shown.layer + 1,
                heads=shown.converted.num_heads,
                kv_heads=shown.num_kv_heads,
                mean=mean,
                first=first,
            )
        ]
    said.append(
        _(
            "That is why Ainslie et al. train a converted model on, with 5% of its first training: the mean is where "
            "they begin."
        )
    )
    if shown.converted.was_cut:
        said.append(
            _("The sentence was cut after {count} tokens: there is room for no more.").format(
                count=translator.LONGEST_SOURCE
            )
        )
    return said

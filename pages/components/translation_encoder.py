"""How the encoder's tokens look at each other, beside the structure of the model."""

import html
from collections.abc import Sequence

import streamlit as st

from core.attention_maps import describe, pick
from core.charts import heatmaps
from core.models import ModelFacts, Norm, Positions, TranslationModel
from pages.components.i18n import _
from pages.components.plot import Plot, draw
from pages.components.tokens import plain, plainly
from pages.components.translation_scene import (
    Scene,
    heatmap_words,
    result_line,
    say_that_there_is_nothing,
    source_line,
)
from pages.components.words import look_for


def view(scene: Scene) -> Sequence[Plot]:
    trace, shown = scene.trace, scene.shown
    if not trace.steps:
        say_that_there_is_nothing()
        return ()
    st.html(source_line(scene) + result_line(scene))
    weights = pick(trace.encoder_attention, layer=shown.layer, head=shown.head)  # (seq_source, seq_source)
    tokens = plainly(trace.source_tokens)
    left, right = st.columns([1.6, 1], gap="large")
    with left:
        plot = draw(
            "translation.encoder",
            heatmaps.heatmap,
            heatmaps.heatmap_data(weights.numpy()),
            name=_("encoder self-attention"),
            alt=_("Heatmap: how the source tokens look at each other in the encoder."),
            queries=tokens,
            keys=tokens,
            words=heatmap_words(_("query: looks"), _("key: is looked at")),
            title=_("Encoder self-attention"),
            expected_width=620,
            clickable=False,
        )
        received = describe(weights.mean(dim=0))  # what the tokens receive on average
        look_for(
            _("“{token}” receives most attention, {share:.0%} on average ({which}).").format(
                token=plain(trace.source_tokens[received.strongest]), share=received.weight, which=shown.name
            )
        )
    with right:
        _structure(scene.model)
    return (plot,)


def _structure(model: TranslationModel) -> None:
    """Facts that were read from the loaded model."""
    facts = model.facts
    rows = {
        _("Model"): model.name,
        _("Family"): facts.family,
        _("Encoder layers"): facts.encoder_layers,
        _("Decoder layers"): facts.decoder_layers,
        "d_model": facts.d_model,
        "d_ff": facts.d_ff if facts.d_ff == facts.decoder_d_ff else f"{facts.d_ff} / {facts.decoder_d_ff}",
        _("Heads"): facts.num_heads,
        "head_dim": facts.head_dim,
        _("Vocabulary"): f"{facts.vocab_size:,}",
        _("Parameters"): f"{facts.parameters:,}",
        _("Positions"): _positions(facts),
        _("Activation"): _("{activation}, gated").format(activation=facts.activation)
        if facts.gated
        else facts.activation,
        _("Normalisation"): _norm(facts),
        _("Scores divided by √head_dim"): _("yes") if facts.scaled_scores else _("no"),
        _("The decoder starts from"): facts.start_token,
    }
    cells = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows.items())
    st.html(f'<table class="atlas-facts">{"".join(cells)}</table>')
    if facts.positions is Positions.SINUSOIDAL:
        st.caption(
            _(
                "Close to the Transformer of 2017. What differs: its activation was ReLU, and its position encoding "
                "took sines and cosines in turn; here all sines stand before all cosines."
            )
        )


def _positions(facts: ModelFacts) -> str:
    return {
        Positions.SINUSOIDAL: _("sine and cosine, added"),
        Positions.RELATIVE: _("relative, learned per head and distance"),
    }[facts.positions]


def _norm(facts: ModelFacts) -> str:
    return {
        Norm.LAYER_NORM_AFTER: _("layer norm after each block"),
        Norm.RMS_NORM_BEFORE: _("RMS norm before each block"),
    }[facts.norm]

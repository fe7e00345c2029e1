"""All heads of a real model at once: one picture of all their maps, and one of them large."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from core.attention_maps import coarsen, describe
from core.charts import heatmaps, large_map, sheet
from core.charts.theme import Style
from core.explorer import run
from core.explorer_maps import strongest_pairs
from core.heads_gallery import Maps
from core.models import AnyModel
from pages.components import explorer_claims, explorer_fold, frame
from pages.components.controls import Panel
from pages.components.explorer_map import numbers
from pages.components.explorer_scene import (
    Nothing,
    Scene,
    Shown,
    beside,
    choose_map,
    choose_text,
    may_look,
    name_of,
    spoken_of,
)
from pages.components.i18n import _
from pages.components.numbers import percent
from pages.components.plot import GAP, Part, clicks, current_style, figure, part, picked
from pages.components.translation_scene import heatmap_words
from pages.components.words import Claim, look_for

KEY = "explorer.grid"
SHARE = 0.62
CELLS = 32  # tokens; of a longer text the large map is an image too
HEIGHT = {"normal": 390, "projector": 300}


def controls(panel: Panel, model: AnyModel) -> Scene | Nothing:
    return choose_text(panel, model)


def sliders(panel: Panel, scene: Scene) -> Shown:
    return choose_map(panel, scene, how=False, token=False)


def cards(scene: Scene) -> Sequence[Claim]:
    return (explorer_claims.sinks(scene), explorer_claims.pronouns())


def played(scene: Scene) -> str | None:
    return "layer"


def picture(panel: Panel, shown: Shown) -> None:
    look_for(*_in_words(shown), beside=beside(shown.scene))

    def choose() -> None:
        place = picked(KEY, "maps_map", "layer"), picked(KEY, "maps_map", "head")
        if place[0] is not None and place[1] is not None:
            panel.put({"layer": int(place[0]) + 1, "head": int(place[1]) + 1})

    plot = figure(
        KEY,
        [[_all(shown), _large(shown)]],
        name=_("all heads"),
        alt=_("A small attention map for every head, layers down and heads across; the chosen one is drawn large."),
        on_select=choose,
        table=partial(_table, shown),
    )
    explorer_fold.draw("explorer_grid", shown, code=(run, sheet.sheet_image, strongest_pairs), plots=[plot])


@st.cache_resource(max_entries=12, show_spinner=False)
def _image(_maps: Maps, _style: Style, key: tuple[str, ...]) -> tuple[str, Tensor, int]:
    """The image, what it tells of each map, and how many columns a map has. key: of model, texts, kind and theme."""
    weights = _maps.weights
    small = torch.stack([torch.stack([coarsen(one, sheet.MOST)[0] for one in layer]) for layer in weights])
    mask = may_look(_maps)
    seen = None if mask is None else torch.ones(small.shape[-2:], dtype=torch.bool).tril()
    largest = weights.flatten(2).amax(dim=-1, keepdim=True)
    told = torch.cat([strongest_pairs(weights), largest], dim=-1)  # (num_layers, num_heads, 3)
    image = sheet.sheet_image(_style, small.numpy(), None if seen is None else seen.numpy())
    return image, told, small.shape[-1]


def _all(shown: Shown) -> Part:
    style, scene = current_style(), shown.scene
    key = (scene.model.name, *scene.reading.texts, str(len(scene.reading.texts)), shown.maps.kind.value, style.name)
    image, told, columns = _image(shown.maps, style, key)
    layers, heads = shown.maps.weights.shape[:2]
    width = SHARE * (frame.room() - style.px(GAP))
    return part(
        "maps",
        sheet.sheet,
        sheet.sheet_data(image, told.numpy(), chosen=(shown.layer, shown.head), nonce=clicks(KEY)),
        share=SHARE,
        layers=layers,
        heads=heads,
        queries=shown.queries,
        keys=shown.keys,
        sharp=sheet.is_sharp(columns, heads, width),
        words=sheet.SheetWords(layers=_("layer"), heads=_("head"), strongest=_("largest weight"), weight=_("weight")),
        title=_("All heads: click on one"),
        height=HEIGHT[frame.type_size()],
    )


def _large(shown: Shown) -> Part:
    words = heatmap_words(_("query: looks"), _("key: is looked at"))
    mask = shown.attend_mask
    attend = None if mask is None else mask.numpy()
    height = HEIGHT[frame.type_size()] - 60
    if max(len(shown.queries), len(shown.keys)) > CELLS:
        return part(
            "large",
            large_map.large_map,
            large_map.large_map_data(current_style(), shown.weights.numpy(), attend_mask=attend),
            share=1 - SHARE,
            queries=shown.queries,
            keys=shown.keys,
            words=words,
            title=_("The chosen head"),
            height=height,
            clickable=False,
        )
    return part(
        "large",
        heatmaps.heatmap,
        heatmaps.heatmap_data(shown.weights.numpy(), attend_mask=attend),
        share=1 - SHARE,
        queries=shown.queries,
        keys=shown.keys,
        words=words,
        title=_("The chosen head"),
        height=min(height, max(150, 30 * len(shown.queries))),
        clickable=False,
    )


def _table(shown: Shown) -> pd.DataFrame:
    """Every weight of every head, as it is, with its tokens."""
    found = []
    for layer, heads in enumerate(shown.maps.weights):
        for head, weights in enumerate(heads):
            rows = numbers(weights, shown.queries, shown.keys)
            rows.insert(0, "head", head + 1)
            rows.insert(0, "layer", layer + 1)
            found.append(rows)
    return pd.concat(found, ignore_index=True)


def _in_words(shown: Shown) -> Sequence[str]:
    weights = shown.maps.weights  # (num_layers, num_heads, seq_q, seq_k)
    first = weights[..., 0].mean(dim=-1)  # (num_layers, num_heads)
    most = int((first > 0.5).sum())
    row = describe(shown.weights.mean(dim=0))
    return [
        _("In {count} of {all} heads, more than half of the attention goes to {token}.").format(
            count=most, all=first.numel(), token=spoken_of(shown.maps.keys, 0)
        ),
        _("The head that is drawn large ({map}) gives {weight} to {key}, more than to any other token.").format(
            map=name_of(shown), weight=percent(row.weight), key=spoken_of(shown.maps.keys, row.strongest)
        ),
        _("A cell of a small map stands for several tokens: the text is long.")
        if max(weights.shape[2:]) > sheet.MOST
        else "",
    ]

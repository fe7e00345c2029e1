"""Find the head: which one looks most from one token at another, and how much goes to places that say little."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.charts import curves, heatmaps, large_map, ranking
from core.charts.curves import Axis
from core.explorer import run
from core.explorer_maps import Ranked, rank_heads
from core.explorer_sinks import Sink, measure_sinks, which_sinks
from core.models import AnyModel
from pages.components import explorer_claims, explorer_fold
from pages.components.controls import Panel
from pages.components.explorer_scene import (
    Nothing,
    Scene,
    Shown,
    beside,
    choose_map,
    choose_text,
    spoken_of,
)
from pages.components.i18n import _, ngettext
from pages.components.numbers import percent
from pages.components.plot import Part, clicks, current_style, figure, part, picked
from pages.components.translation_scene import heatmap_words
from pages.components.words import Claim, look_for

KEY = "explorer.find"
SHOWN = 24  # heads in the ranking
HEIGHT = 235


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Two tokens, and the heads in order of the weight between them."""

    shown: Shown  # the head at the chosen place, and the token that looks
    key: int
    ranked: tuple[Ranked, ...]
    place: int

    @property
    def found(self) -> Ranked:
        return self.ranked[self.place]


def controls(panel: Panel, model: AnyModel) -> Scene | Nothing:
    return choose_text(panel, model)


def sliders(panel: Panel, scene: Scene) -> Search:
    shown = choose_map(panel, scene, how=False, token=False, head=False)
    seq_q, seq_k = shown.maps.weights.shape[2:]
    with panel.beside():
        query = panel.slider("token", _("Token that looks"), 1, seq_q, default=2, step=1)
        key = panel.slider("key", _("Looked at"), 1, seq_k, default=3, step=1)
    ranked = rank_heads(shown.maps.weights, min(query, seq_q) - 1, min(key, seq_k) - 1)
    place = panel.slider("place", _("Place in the order"), 1, min(SHOWN, len(ranked)), default=1, step=1)
    found = ranked[place - 1]
    chosen = replace(shown, layer=found.layer, head=found.head, token=min(query, seq_q) - 1)
    return Search(chosen, min(key, seq_k) - 1, ranked, place - 1)


def cards(scene: Scene) -> Sequence[Claim]:
    return (explorer_claims.pronouns(), explorer_claims.sinks(scene))


def played(scene: Scene) -> str | None:
    return "place"


def picture(panel: Panel, search: Search) -> None:
    shown = search.shown
    look_for(*_in_words(search), beside=beside(shown.scene))

    def choose() -> None:
        number = picked(KEY, "order_head", "head")
        if number is not None:
            num_heads = shown.maps.weights.shape[1]
            numbers = [_number(each, num_heads) for each in search.ranked]
            panel.put({"place": numbers.index(int(number)) + 1})

    rows = [[_order(search)], [_map(search), _sinks(shown)]]
    plot = figure(
        KEY,
        rows,
        name=_("heads in order"),
        alt=_(
            "Bars: how much each head looks from one token at the other, the most first; the map of the chosen head; "
            "curves: the share of all attention that goes to special tokens and full stops, layer by layer."
        ),
        on_select=choose,
    )
    explorer_fold.draw("explorer_find", shown, code=(run, rank_heads, measure_sinks), plots=[plot])


def _order(search: Search) -> Part:
    num_layers, num_heads = search.shown.maps.weights.shape[:2]
    weights = search.shown.maps.weights[:, :, search.shown.token, search.key].flatten()  # (num_layers · num_heads,)
    count = min(SHOWN, len(weights))
    return part(
        "order",
        ranking.ranking,
        ranking.ranking_data(
            weights.numpy(), shown=count, marked=[_number(search.found, num_heads)], nonce=clicks(KEY)
        ),
        names=tuple(f"{layer + 1}.{head + 1}" for layer in range(num_layers) for head in range(num_heads)),
        domain=(0.0, 1.0),
        words=ranking.RankingWords(name=_("layer.head"), value=_("weight")),
        title=ngettext(
            "The {count} head that looks most from one token at the other, as layer.head",
            "The {count} heads that look most from one token at the other, as layer.head",
            count,
        ).format(count=count),
        shown=count,
        format=".4f",
        crossed=False,
        height=95,
    )


def _number(head: Ranked, num_heads: int) -> int:
    """Among all heads, layer by layer."""
    return head.layer * num_heads + head.head


def _map(search: Search) -> Part:
    shown = search.shown
    words = heatmap_words(_("query: looks"), _("key: is looked at"))
    mask = shown.attend_mask
    attend = None if mask is None else mask.numpy()
    settings = {"queries": shown.queries, "keys": shown.keys, "words": words, "title": _("The chosen head")}
    if max(len(shown.queries), len(shown.keys)) > heatmaps.LIMIT:
        frames = large_map.large_map_data(
            current_style(), shown.weights.numpy(), attend_mask=attend, marked_row=shown.token
        )
        return part("map", large_map.large_map, frames, share=0.5, height=HEIGHT - 60, clickable=False, **settings)
    frames = heatmaps.heatmap_data(shown.weights.numpy(), attend_mask=attend, marked_row=shown.token)
    return part("map", heatmaps.heatmap, frames, share=0.5, height=HEIGHT - 60, clickable=False, **settings)


def _sinks(shown: Shown) -> Part:
    """Of the tokens that the encoder, or the only stack, reads."""
    reading = shown.scene.reading
    found = measure_sinks(reading.maps[0].weights, which_sinks(reading.tokens, reading.special))
    present = [number for number, sink in enumerate(Sink) if sink in found.tokens]
    layers = list(range(1, found.shares.shape[1] + 1))
    names = {
        Sink.START: _("special token in front"),
        Sink.END: _("separators, end"),
        Sink.FIRST: _("first token"),
        Sink.STOP: _("full stops"),
    }
    chosen = present or [0]
    return part(
        "sinks",
        curves.curves,
        curves.curves_data([layers] * len(chosen), [found.shares[number].numpy() for number in chosen]),
        share=0.5,
        series=tuple(names[list(Sink)[number]] for number in chosen),
        x=Axis(_("layer"), domain=(1, max(2, len(layers))), least_step=1, format="d"),
        y=Axis(_("share of all attention"), domain=(0, 1), format=".0%"),
        title=_("Share of special tokens, first token and full stops"),
        legend_columns=2,
        height=HEIGHT - 45,
    )


def _in_words(search: Search) -> Sequence[str]:
    shown, best = search.shown, search.ranked[0]
    if shown.attend_mask is not None and search.key > shown.token:
        return [
            _("A decoder looks only back: {key} stands behind {query}, and no head may look there.").format(
                query=spoken_of(shown.maps.queries, shown.token), key=spoken_of(shown.maps.keys, search.key)
            )
        ]
    most = shown.maps.weights[best.layer, best.head, shown.token].argmax()
    first = sum(each.rank == 1 for each in search.ranked)
    sentences = [
        ""
        if search.place == 0
        else _("Drawn: layer {layer}, head {head}, number {place} with {weight}.").format(
            layer=search.found.layer + 1,
            head=search.found.head + 1,
            place=search.place + 1,
            weight=percent(search.found.weight),
        ),
        _("No head looks more from {query} at {key} than layer {layer}, head {head}: {weight}.").format(
            query=spoken_of(shown.maps.queries, shown.token),
            key=spoken_of(shown.maps.keys, search.key),
            layer=best.layer + 1,
            head=best.head + 1,
            weight=percent(best.weight),
        ),
        _("In {count} of {all} heads that is where the token looks most.").format(count=first, all=len(search.ranked)),
    ]
    if int(most) != search.key:
        sentences.append(_("Even that head looks more at {other}.").format(other=spoken_of(shown.maps.keys, int(most))))
    return sentences

"""One map of a real model: as a matrix, as lines between the tokens, or as a text that is shaded."""

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
from torch import Tensor

from core.attention_maps import describe
from core.charts import heatmaps, large_map, links, shaded
from core.explorer import run
from core.explorer_maps import Together, rollout, shown_map
from core.explorer_sinks import measure_sinks, which_sinks
from core.heads_gallery import Kind
from core.models import AnyModel
from pages.components import explorer_claims, explorer_fold, frame
from pages.components.controls import Panel
from pages.components.explorer_scene import (
    Nothing,
    Scene,
    Shown,
    beside,
    choose_map,
    choose_text,
    name_of,
    spoken_of,
    titled,
)
from pages.components.i18n import _
from pages.components.numbers import percent
from pages.components.plot import Part, clicks, current_style, figure, part, picked
from pages.components.translation_scene import heatmap_words
from pages.components.words import Claim, look_for

HEIGHT = 400
LINES = 330


def controls(panel: Panel, model: AnyModel) -> Scene | Nothing:
    return choose_text(panel, model)


def sliders(panel: Panel, scene: Scene) -> Shown:
    return choose_map(panel, scene)


def cards(scene: Scene) -> Sequence[Claim]:
    return (explorer_claims.sinks(scene), explorer_claims.pronouns())


def played(scene: Scene) -> str | None:
    return "token"


def matrix(panel: Panel, shown: Shown) -> None:
    _draw(panel, shown, "matrix", _matrix(shown), ("map_cell", "q"), _("A heatmap of attention weights."))


def lines(panel: Panel, shown: Shown) -> None:
    said = _("Tokens in two rows, with a line for every weight; those of the chosen token stand out.")
    _draw(panel, shown, "lines", _lines(shown), ("map_query", "q"), said)


def text(panel: Panel, shown: Shown) -> None:
    said = _("The text, shaded by how much the chosen token looks at each other one, and by how much each looks at it.")
    if shown.maps.kind is Kind.CROSS:  # another text is looked at than looks
        _draw(panel, shown, "text", _text(shown), None, said)
    else:
        _draw(panel, shown, "text", _text(shown), ("map_token", "t"), said, below=_seen(shown))


def _draw(
    panel: Panel,
    shown: Shown,
    view: str,
    drawn: Part,
    selection: tuple[str, str] | None,
    alt: str,
    *,
    below: Part | None = None,
) -> None:
    key = f"explorer.{view}"
    look_for(*_in_words(shown), beside=beside(shown.scene))

    def choose() -> None:
        place = picked(key, *selection) if selection else None
        if place is not None:
            panel.put({"token": int(place) + 1})

    plot = figure(
        key,
        [[drawn]] if below is None else [[drawn], [below]],
        name=titled(shown),
        alt=alt,
        on_select=choose if selection else None,
        table=partial(table, shown),
    )
    code: list[Callable[..., object]] = [run, shown_map]
    if shown.how is Together.ROLLOUT:
        code.append(rollout)
    explorer_fold.draw(f"explorer_{view}", shown, code=code, plots=[plot])


def _matrix(shown: Shown) -> Part:
    words = heatmap_words(_("query: looks"), _("key: is looked at"))
    mask = shown.attend_mask
    attend = None if mask is None else mask.numpy()
    if max(len(shown.queries), len(shown.keys)) > heatmaps.LIMIT:
        return part(
            "map",
            large_map.large_map,
            large_map.large_map_data(
                current_style(),
                shown.weights.numpy(),
                attend_mask=attend,
                marked_row=shown.token,
                nonce=_nonce("matrix"),
            ),
            queries=shown.queries,
            keys=shown.keys,
            words=words,
            title=_("Attention weights: click on a row"),
            height=HEIGHT,
        )
    return part(
        "map",
        heatmaps.heatmap,
        heatmaps.heatmap_data(
            shown.weights.numpy(), attend_mask=attend, marked_row=shown.token, nonce=_nonce("matrix")
        ),
        queries=shown.queries,
        keys=shown.keys,
        words=words,
        title=_("Attention weights: click on a row"),
        height=min(HEIGHT, max(150, 34 * len(shown.queries))),
    )


def _lines(shown: Shown) -> Part:
    return part(
        "map",
        links.links,
        links.links_data(shown.weights.numpy(), chosen=shown.token, nonce=_nonce("lines")),
        queries=shown.queries,
        keys=shown.keys,
        words=links.LinkWords(query=_("query"), key=_("key"), weight=_("weight")),
        title=_("Above, the tokens that look: click on one; below, what they look at"),
        height=LINES,
    )


def _text(shown: Shown) -> Part:
    return _shaded(shown, "map", shown.row, _("Where the chosen token looks"))


def _seen(shown: Shown) -> Part:
    """The column of the chosen token."""
    return _shaded(shown, "seen", shown.weights[:, shown.token], _("Who looks at the chosen token"))


def _shaded(shown: Shown, name: str, weights: Tensor, title: str) -> Part:
    room, scale, cross = frame.room(), current_style().scale, shown.maps.kind is Kind.CROSS
    chosen = () if cross else (shown.token,)
    return part(
        name,
        shaded.shaded,
        shaded.shaded_data(
            shown.keys, weights.numpy(), outer_width=room, scale=scale, chosen=chosen, nonce=_nonce("text")
        ),
        texts=shown.keys,
        lines=shaded.lines_of(shown.keys, outer_width=room, scale=scale),
        words=shaded.ShadedWords(token=_("token"), value=_("weight")),
        title=title,
        clickable=not cross and name == "map",
    )


def _nonce(view: str) -> int:
    return clicks(f"explorer.{view}")


def table(shown: Shown) -> pd.DataFrame:
    """The numbers of the map, with their tokens."""
    return numbers(shown.weights, shown.queries, shown.keys)


def numbers(weights: Tensor, queries: Sequence[str], keys: Sequence[str]) -> pd.DataFrame:
    """weights: (seq_q, seq_k)."""
    index = [(q, k) for q in range(len(queries)) for k in range(len(keys))]
    return pd.DataFrame(
        {
            "query": [queries[q] for q, _k in index],
            "key": [keys[k] for _q, k in index],
            "q": [q for q, _k in index],
            "k": [k for _q, k in index],
            "weight": weights.flatten().tolist(),
        }
    )


def _in_words(shown: Shown) -> Sequence[str]:
    row, total = describe(shown.row), float(shown.row.sum())
    sentences = [
        _("{query} looks most at {key}: {weight} ({map}).").format(
            query=spoken_of(shown.maps.queries, shown.token),
            key=spoken_of(shown.maps.keys, row.strongest),
            weight=percent(row.weight),
            map=name_of(shown),
        )
    ]
    if shown.how is Together.MAXIMUM:
        sentences.append(
            _("Largest weights come from different heads: the row of this token sums to {total:.2f}, not to 1.").format(
                total=total
            )
        )
    else:
        sentences.append(_on_sinks(shown))
    return sentences


def _on_sinks(shown: Shown) -> str:
    if shown.maps.kind is Kind.CROSS:
        return ""
    if shown.maps.kind is Kind.DECODER and shown.scene.trace is not None:
        return _("Of this map’s attention, {share} goes to the first token, with which the decoder starts.").format(
            share=percent(float(shown.weights[:, 0].mean()))
        )
    reading = shown.scene.reading
    sinks = which_sinks(reading.tokens, reading.special)
    share = measure_sinks(shown.weights[None, None], sinks).together
    named = dict.fromkeys(_named(shown.scene))
    return _(
        "Of this map’s attention, {share} goes to {places}: places that often get much, whatever they say."
    ).format(share=percent(share), places=", ".join(named))


def _named(scene: Scene) -> Sequence[str]:
    """The sinks of this text, as they are written."""
    reading = scene.reading
    sinks = which_sinks(reading.tokens, reading.special)
    return [f"“{token.lstrip('▁')}”" for token, sink in zip(reading.tokens, sinks, strict=True) if sink is not None]

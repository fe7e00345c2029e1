"""Several charts as one: each keeps what it says, and its own data and selections."""

import json

import altair as alt
import numpy as np
import pytest
import vl_convert

from core.charts import bars, heatmaps
from core.charts.compose import compose, compose_data
from core.charts.export import to_svg
from core.charts.theme import style

LOOK = style("light")
QUERIES, KEYS = ("key_tokens", "b", 'c"'), ("x", "query_tokens[0]")


def grid(*, clickable: bool = True) -> dict[str, object]:
    spec: dict[str, object] = heatmaps.heatmap(LOOK, QUERIES, KEYS, outer_width=300, clickable=clickable).to_dict()
    return spec


def row() -> dict[str, object]:
    spec: dict[str, object] = bars.attention_bars(LOOK, KEYS, outer_width=300).to_dict()
    return spec


def test_two_charts_of_one_kind_keep_their_own_data_and_selections() -> None:
    whole = compose([{"one": grid(), "two": grid()}, {"bars": row()}])
    names = {param["name"] for param in whole["params"]}
    assert {"one_cell", "two_cell", "bars_key", "one_key_tokens", "two_query_tokens"} <= names
    views = [view for param in whole["params"] for view in param.get("views", ())]
    assert len(views) == len(set(views))
    written = json.dumps(whole["vconcat"])
    for view in views:
        assert f'"{view}"' in written
    assert '"one_cells"' in written
    assert '"cells"' not in written


def test_what_the_user_typed_is_not_touched() -> None:
    whole = compose([{"one": grid()}])
    tables = {param["name"]: json.loads(param["expr"]) for param in whole["params"] if "expr" in param}
    assert tables["one_query_tokens"] == list(QUERIES)
    assert tables["one_key_tokens"] == list(KEYS)


def test_it_is_a_valid_chart_that_shows_the_data_of_every_part() -> None:
    data = {
        "one": heatmaps.heatmap_data(np.eye(3, 2), marked_row=1),
        "bars": bars.attention_bars_data([0.25, 0.75]),
    }
    whole = compose([{"one": grid()}, {"bars": row()}])
    alt.VConcatChart.from_dict({**whole, "datasets": {}})
    drawn = to_svg(whole, compose_data(data), LOOK)
    assert "0.75" in drawn
    assert "query_tokens[0]" in drawn
    vl_convert.vegalite_to_vega(whole)


@pytest.mark.parametrize("rows", [[], [{}]])
def test_without_parts_there_is_no_chart(rows: list[dict[str, dict[str, object]]]) -> None:
    with pytest.raises(ValueError, match="rows must hold at least one part"):
        compose(rows)


def test_names_must_differ() -> None:
    with pytest.raises(ValueError, match=r"names of parts \(one, one\) must differ"):
        compose([{"one": grid()}, {"one": row()}])


def test_a_part_has_a_width_of_its_own() -> None:
    spec = heatmaps.heatmap(LOOK, QUERIES, KEYS).to_dict()
    with pytest.raises(ValueError, match="part one must have a width of its own"):
        compose([{"one": spec}])


def test_rows_with_wide_and_with_narrow_labels_take_no_more_room_than_the_widest() -> None:
    wide = heatmaps.heatmap(LOOK, ("a very long token", "b"), KEYS, outer_width=300).to_dict()
    data = {"one": heatmaps.heatmap_data(np.eye(2)), "bars": bars.attention_bars_data([0.25, 0.75])}

    def width(rows: list[dict[str, dict[str, object]]]) -> float:
        return float(to_svg(compose(rows), compose_data(data), LOOK).split('width="', 1)[1].split('"', 1)[0])

    assert width([{"one": wide}, {"bars": row()}]) == max(width([{"one": wide}]), width([{"bars": row()}]))

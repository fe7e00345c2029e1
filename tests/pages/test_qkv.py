"""The QKV page: every view and control, in every language; tables that cannot be read; odd sentences."""

import re
from functools import partial
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.retrieval import TableError, TableProblem
from pages.components import qkv_shelves, qkv_table
from tests.pages import apps
from tests.pages.apps import changed, charts, checked, presets, take_preset, words

VIEWS = ("library", "sentence", "matrices")
EXAMPLES = ("library", "restaurant", "cat", "sat")
OWN = '[["A \\"book\\"",1,0,0,2,0,0],["猫",0,1.5,-1,0,0,3]]'


opened = partial(apps.opened, "qkv")


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("view", VIEWS)
def test_opens(language: str, view: str) -> None:
    app = opened(language=language, view=view)
    assert {"en": "<h1>Queries, keys and values</h1>", "zh_CN": "<h1>查询、键与值</h1>"}[language] in words(app)
    assert len(app.get("vega_lite_chart")) == 1
    assert words(app).count('class="atlas-claim ') == {"library": 1, "sentence": 3, "matrices": 4}[view]


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("part", ["formula", "code", "downloads", "reading"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_folded_part_opens(language: str, view: str, part: str) -> None:
    app = opened(language=language, view=view)
    app.pills(key=f"qkv.fold.{language}").set_value(part)
    checked(app.run())


@pytest.mark.parametrize(
    ("view", "control", "low", "high"),
    [
        ("library", "q1", "-3.0", "3.0"),
        ("library", "q2", "-3.0", "3.0"),
        ("library", "q3", "-3.0", "3.0"),
        ("library", "temperature", "0.1", "5.0"),
        ("library", "weights", "softmax", "raw"),
        ("library", "shelf", "library", "cat"),
        ("library", "table", "", OWN),
        ("sentence", "sentence", "The cat", "A dog"),
        ("sentence", "query", "1", "6"),
        ("sentence", "d_model", "2", "32"),
        ("sentence", "head_dim", "1", "32"),
        ("sentence", "seed", "0", "99"),
        ("sentence", "scaled", "true", "false"),
        ("sentence", "cell", "x-1-0", "result-1-7"),
        ("sentence", "projections", "random", "identity"),
        ("matrices", "sharing", "separate", "none"),
        ("matrices", "sentence", "The cat", "A dog"),
        ("matrices", "wide_d_model", "16", "256"),
        ("matrices", "wide_head_dim", "8", "96"),
        ("matrices", "seed", "0", "99"),
        ("matrices", "angle", "0", "90"),
    ],
)
def test_every_control_changes_a_plot(view: str, control: str, low: str, high: str) -> None:
    one, other = (charts(opened(view=view, **{control: value})) for value in (low, high))
    assert changed(one, other)


@pytest.mark.parametrize(
    ("control", "low", "high"), [("layer", "1", "3"), ("head", "1", "4"), ("french", "Oui", "Non")]
)
def test_every_control_of_a_real_head_changes_a_plot(control: str, low: str, high: str) -> None:
    address = {"view": "sentence", "projections": "model"}
    one, other = (charts(opened(**address, **{control: value})) for value in (low, high))
    assert changed(one, other)


@pytest.mark.parametrize(
    ("sharing", "name"),
    [
        ("separate", "Three matrices"),
        ("value_is_key", "V = K, two matrices"),
        ("query_is_key", "Q = K, two matrices"),
        ("one", "One matrix: Q = K = V"),
        ("none", "None: Q = K = V = X"),
    ],
)
def test_the_chosen_variant_is_marked_in_the_table(sharing: str, name: str) -> None:
    assert f"<th>▸ {name}</th>" in words(opened(view="matrices", sharing=sharing))


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_example_fills_its_table(example: str, language: str) -> None:
    rows = len(charts(opened(shelf=example, language=language))["books"])
    assert rows == {"library": 4, "restaurant": 4, "cat": 3, "sat": 3}[example]


def test_choosing_an_example_brings_its_query_and_its_table() -> None:
    app = opened(table=OWN)
    app.selectbox(key="qkv_shelf.en").set_value("sat")
    app = checked(app.run())
    assert [app.session_state[f"qkv_q{number}"] for number in (1, 2, 3)] == [0.2, 1.0, 0.7]
    assert app.session_state["qkv_table"] == ""
    assert charts(app)["books"]["similarity"].tolist() == pytest.approx([0.2, 1.0, 0.7])


def test_raw_relevances_sum_to_more_than_one_and_softmax_to_one() -> None:
    address = {"shelf": "sat", "q1": "0.2", "q2": "1.0", "q3": "0.7"}
    sums = [float(charts(opened(**address, weights=w))["sum"]["share"].iloc[0]) for w in ("raw", "softmax")]
    assert sums == pytest.approx([1.9, 1.0])


def test_reset_goes_back_to_the_first_example() -> None:
    app = opened(shelf="cat", table=OWN, q1="-2.0")
    app.button(key="qkv.reset").click()
    app = checked(app.run())
    assert charts(app)["books"].equals(charts(opened())["books"])


def test_presets_show_something_else() -> None:
    for view in VIEWS:
        plain = charts(opened(view=view))
        app = opened(view=view)
        labels = presets(app)
        assert 2 <= len(labels) <= 3
        seen = [charts(take_preset(app, label)) for label in labels]
        assert sum(bool(changed(plain, found)) for found in seen) >= 2


# ------------------------------------------------------------------------------------------------------------ the table


@pytest.mark.parametrize("edit", ["true", "false"])
def test_a_table_of_ones_own_comes_from_the_address(edit: str) -> None:
    app = opened(table=OWN, edit=edit)
    assert len(charts(app)["books"]) == 2
    assert "atlas-refused" not in words(app)


@pytest.mark.parametrize(
    "table",
    [
        "[]",
        "nonsense",
        '[["a",1,0,0,2,0]]',
        '[["a",1,0,0,2,0,NaN]]',
        '[["a",1,0,0,2,0,"x"]]',
        '[["a",1,0,0,2,0,99]]',
        '[["",1,0,0,2,0,0]]',
        "[" + ",".join(['["a",1,0,0,2,0,0]'] * 9) + "]",
    ],
)
def test_a_broken_table_in_the_address_is_refused_aloud(table: str) -> None:
    app = opened(table=table)
    assert "atlas-refused" in words(app)
    assert len(charts(app)["books"]) == 4


def test_the_table_is_written_as_it_is_and_edited_on_demand() -> None:
    table = '[["<b>x</b> & y",1,0,0,2,0,0.25]]'
    app = opened(table=table)
    assert "&lt;b&gt;x&lt;/b&gt; &amp; y" in words(app)
    assert "<td>0.25</td>" in words(app)
    assert not app.dataframe
    app.toggle(key="qkv_edit").set_value(True)
    app = checked(app.run())
    assert app.dataframe[0].value.iloc[0].tolist() == ["<b>x</b> & y", 1, 0, 0, 2, 0, 0.25]
    assert "<td>0.25</td>" not in words(app)


def test_an_editor_that_was_away_begins_with_the_table_as_it_is_now() -> None:
    app = typed({**NOTHING, "edited_rows": {3: {"c1": 5}}})
    app.toggle(key="qkv_edit").set_value(False)
    app = checked(app.run())
    app.toggle(key="qkv_edit").set_value(True)
    app = checked(app.run())
    assert app.dataframe[0].value["c1"].tolist() == [1, 0.6, 0.2, 5]


@pytest.fixture
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what is called without a page around it."""
    monkeypatch.setattr("pages.components.i18n.language", lambda: "en")


@pytest.mark.usefixtures("_english")
@pytest.mark.parametrize("example", EXAMPLES)
def test_a_table_survives_the_address(example: str) -> None:
    shelf = qkv_table.shelf_of(qkv_shelves.examples()[example].rows)
    written = qkv_shelves.write(shelf)
    assert re.fullmatch(qkv_shelves.WRITTEN, written)
    again = qkv_table.shelf_of(qkv_shelves.read(written))
    assert again.titles == shelf.titles
    assert again.keys.equal(shelf.keys)
    assert again.values.equal(shelf.values)


def test_what_was_typed_is_put_into_the_table() -> None:
    rows = [["a", 1, 2, 3, 4, 5, 6], ["b", 1, 2, 3, 4, 5, 6], ["c", 0, 0, 0, 0, 0, 0]]
    changes: dict[str, Any] = {
        "edited_rows": {0: {"c0": "A", "c6": None}, 2: {"c1": 0.5}},
        "deleted_rows": [1],
        "added_rows": [{"c0": "new", "c3": 7}],
    }
    assert qkv_table.changed(rows, changes) == [
        ["A", 1, 2, 3, 4, 5, None],
        ["c", 0.5, 0, 0, 0, 0, 0],
        ["new", None, None, 7, None, None, None],
    ]


NOTHING: dict[str, Any] = {"edited_rows": {}, "deleted_rows": [], "added_rows": []}


def typed(changes: dict[str, Any], table: str = "") -> AppTest:
    """The page after these changes in its table: AppTest has no hands for it, so the callback is called here."""

    def page(changes: dict) -> None:  # type: ignore[type-arg]  # Any would have no name in there
        import streamlit as st

        from pages import qkv
        from pages.components import qkv_shelves, qkv_table

        class Stub:  # a Panel would be drawn twice
            def put(self, values: dict) -> None:  # type: ignore[type-arg]
                st.session_state["qkv_table"] = values["table"]

        if st.session_state.get("typed") is None and qkv_table.STATE in st.session_state:
            st.session_state["typed"] = True
            editor = st.session_state[qkv_table.STATE]
            example = qkv_shelves.examples()["library"]
            qkv_table._adopt(Stub(), editor, "library", example, changes)  # type: ignore[arg-type]
        qkv.render()

    app = AppTest.from_function(page, default_timeout=60, kwargs={"changes": changes})
    app.context["locale"] = "en"
    app.query_params["qkv_edit"] = "true"
    if table:
        app.query_params["qkv_table"] = table
    return checked(checked(app.run()).run())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"deleted_rows": [0, 1, 2, 3]}, "The table is empty."),
        ({"added_rows": [{"c0": "x"}]}, "Row 5 is not complete: “key: deep learning” needs a number."),
        ({"added_rows": [{}]}, "Row 5 has no title."),
        ({"edited_rows": {1: {"c4": None}}}, "Row 2 is not complete: “value: networks” needs a number."),
        ({"edited_rows": {1: {"c4": float("nan")}}}, "Row 2 is not complete"),
        ({"edited_rows": {0: {"c1": "three"}}}, "“three” is no number."),
        ({"edited_rows": {0: {"c1": 1000}}}, "1000 is too large."),
        ({"added_rows": [{f"c{n}": "x" if n == 0 else 1 for n in range(7)}] * 5}, "There is room for 8 rows"),
    ],
)
def test_a_table_that_cannot_be_read_is_explained_and_the_picture_stays(changes: dict[str, Any], told: str) -> None:
    app = typed({**NOTHING, **changes})
    assert told in app.warning[0].value
    assert len(charts(app)["books"]) == 4


def test_a_changed_cell_moves_the_picture_and_the_address() -> None:
    app = typed({**NOTHING, "edited_rows": {3: {"c1": 5}}})
    assert not app.warning
    assert charts(app)["books"]["similarity"].iloc[3] == pytest.approx(15)
    assert qkv_shelves.read(app.query_params["qkv_table"])[3][1] == 5


def test_what_was_typed_and_taken_back_leaves_the_address_empty() -> None:
    app = typed(NOTHING)
    assert "qkv_table" not in app.query_params


@pytest.mark.usefixtures("_english")
def test_every_problem_has_a_sentence() -> None:
    example = qkv_shelves.examples()["library"]
    for problem in TableProblem:
        error = TableError(problem, "", row=1, column=9, found="<b>")
        assert "{" not in qkv_table.sentence(error, example)


# --------------------------------------------------------------------------------------------------------- the sentence


@pytest.mark.parametrize(
    "sentence", ["x" * 10_000, "word", "😀😀", "مرحبا بالعالم", "<script>alert(1)</script> <b>x", "猫坐在垫子上"]
)
@pytest.mark.parametrize("view", ["sentence", "matrices"])
def test_odd_sentences_get_an_answer(view: str, sentence: str) -> None:
    app = opened(view=view, sentence=sentence)
    assert "<script>" not in words(app)
    assert charts(app)


@pytest.mark.parametrize("projections", ["random", "model"])
def test_a_long_sentence_is_cut_and_the_page_says_so(projections: str) -> None:
    name = "french" if projections == "model" else "sentence"
    app = opened(view="sentence", projections=projections, **{name: "le chat dort " * 25})
    assert "cut after 10 tokens" in words(app)


def test_a_sentence_that_just_fits_is_not_called_cut() -> None:
    app = opened(view="sentence", projections="model", french="Le chat dort dans le jardin.")
    assert "cut after" not in words(app)


@pytest.mark.parametrize("address", [{"sentence": " "}, {"projections": "model", "french": " "}])
def test_nothing_to_read(address: dict[str, str]) -> None:
    app = opened(view="sentence", **address)
    assert not charts(app)
    assert len(app.info) == 1


def test_a_click_explains_a_number_and_follows_its_row() -> None:
    app = opened(view="sentence", cell="q-3-2", query="4")
    assert "Q[on, feature 3] = " in words(app)
    frames = charts(app)
    assert frames["head_picked"].to_dict("list") == {"m": [1], "q": [3], "k": [2]}
    assert frames["head_mark"]["q"].tolist() == [3]


def test_a_cell_that_is_no_more_gives_way_to_the_strongest_weight() -> None:
    assert "weights[cat, " in words(opened(view="sentence", cell="q-1-9"))


def test_identity_cannot_have_more_features_than_the_input() -> None:
    app = opened(view="sentence", projections="identity", d_model="4", head_dim="9")
    assert app.slider(key="qkv_head_dim").max == 4


@pytest.mark.parametrize(
    "address",
    [
        {"view": "attic"},
        {"view": "library", "q1": "7"},
        {"view": "library", "shelf": "x"},
        {"view": "sentence", "d_model": "0"},
        {"view": "sentence", "cell": "w-1-1"},
        {"view": "sentence", "projections": "model", "layer": "9"},
        {"view": "matrices", "sharing": "all"},
        {"view": "matrices", "angle": "91"},
    ],
)
def test_an_impossible_address_falls_back_and_says_so(address: dict[str, str]) -> None:
    assert "atlas-refused" in words(opened(**address))

"""The embeddings page: every view and control, in every language, on the lesson's words, real models and own tables."""

import html
import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.embedding_maps import fit_pca, run_tsne
from core.embedding_tables import TableError, TableProblem, read_file
from core.embeddings import toy_vectors
from core.model_embeddings import cosines
from core.models import ModelError, ModelProblem
from pages import embeddings
from pages.components import arriving, embeddings_table, embeddings_words, shelf
from pages.components.embeddings_upload import STATE, Brought
from tests.pages.apps import charts, checked

LANGUAGES = ("en", "zh_CN")
VIEWS = ("map", "seeds", "sum", "cosines")
SOURCES = ("toy", "atlas-fr-en", "minilm")
TOY = toy_vectors()


def begun(*, language: str = "en", **address: str) -> AppTest:
    app = AppTest.from_string("from pages import embeddings; embeddings.render()", default_timeout=120)
    app.context["locale"] = language.replace("_", "-")
    for name, value in address.items():
        app.query_params[f"embeddings_{name}"] = value
    return app


def opened(*, language: str = "en", **address: str) -> AppTest:
    """The page as it opens at this address in a browser of this language, which must be without errors."""
    return checked(begun(language=language, **address).run())


def words(app: AppTest) -> str:
    return html.unescape(" ".join(element.proto.body for element in app.get("html")))


def spec(app: AppTest) -> str:
    return json.dumps(json.loads(app.get("vega_lite_chart")[0].proto.spec), ensure_ascii=False)


def plainly(text: str) -> str:
    """Markdown that is to be read as it is, as it is read."""
    return text.replace("\\", "")


def different(one: dict[str, pd.DataFrame], other: dict[str, pd.DataFrame]) -> bool:
    return any(name not in other or not one[name].equals(other[name]) for name in one)


# --------------------------------------------------------------------------------------------------------- every view


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("source", SOURCES)
def test_opens(language: str, view: str, source: str) -> None:
    app = opened(language=language, view=view, source=source)
    title = {"en": "Embeddings", "zh_CN": "词嵌入"}[language]
    assert f"<h1>{title}</h1>" in words(app)
    assert len(app.get("vega_lite_chart")) == 1  # one figure: see the benchmark
    assert "atlas-claim " in words(app)


@pytest.mark.parametrize(
    ("control", "values"),
    [
        ("perplexity", ("5", "2", "13")),
        ("seed", ("42", "0", "99")),
        ("dims", ("2", "3")),
        ("start", ("random", "pca")),
        ("word", ("", "king", "sad")),
        ("source", SOURCES),
        ("table", ("", '[["a","x",1,0,0,0,0],["b","x",0,1,0,0,0],["c","y",0,0,1,0,0]]')),
    ],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_control_of_the_map_changes_the_picture(language: str, control: str, values: tuple[str, ...]) -> None:
    first, *others = (charts(opened(language=language, **{control: value})) for value in values)
    assert all(different(first, other) for other in others)


@pytest.mark.parametrize(("control", "values"), [("turn", ("-180", "30", "180")), ("tilt", ("-90", "20", "90"))])
def test_space_can_be_turned(control: str, values: tuple[str, ...]) -> None:
    first, *others = (charts(opened(dims="3", **{control: value})) for value in values)
    assert all(different(first, other) for other in others)


# ------------------------------------------------------------------------------------------------------------ the map


def similar(drawn: pd.DataFrame, expected: np.ndarray) -> None:  # type: ignore[type-arg]
    """Up to where the middle is and how large the picture is."""
    seen = drawn[["x", "y"]].to_numpy()
    middle = (expected.min(axis=0) + expected.max(axis=0)) / 2
    scale = np.ptp(seen[:, 0]) / np.ptp(expected[:, 0])
    np.testing.assert_allclose(seen, scale * (expected - middle), atol=1e-4)


def test_the_maps_are_those_of_core() -> None:
    frames = charts(opened(perplexity="4", seed="7"))
    similar(frames["pca_points"], fit_pca(TOY.vectors, 2).project(TOY.vectors).numpy())
    similar(frames["tsne_points"], run_tsne(TOY.vectors, components=2, perplexity=4, seed=7).numpy())
    assert frames["pca_points"]["group"].tolist() == list(TOY.groups)
    assert sorted(frames["pca_names"]["w"]) == list(range(14))


def test_the_perplexity_stays_below_the_number_of_words() -> None:
    assert opened().slider(key="embeddings_perplexity").max == 13
    table = '[["a","x",1,0,0,0,0],["b","x",0,1,0,0,0],["c","y",0,0,1,0,0],["d","y",0,0,1,3,0]]'
    slider = opened(table=table).slider(key="embeddings_perplexity")
    assert (slider.min, slider.max, slider.value) == (2, 3, 3)
    three = '[["a","x",1,0,0,0,0],["b","x",0,1,0,0,0],["c","y",0,0,1,0,0]]'
    assert "embeddings_perplexity" not in {slider.key for slider in opened(table=three).slider}


def test_from_the_pca_there_is_no_seed_to_choose() -> None:
    assert "embeddings_seed" in {slider.key for slider in opened().slider}
    assert "embeddings_seed" not in {slider.key for slider in opened(start="pca").slider}


def test_neighbours_are_those_of_the_vectors() -> None:
    app = opened(word="cat")
    cat = cosines(TOY.vectors)[TOY.words.index("cat")]
    order = [index for index in cat.argsort(descending=True).tolist() if TOY.words[index] != "cat"][:5]
    for index in order:
        assert f"<bdi>{TOY.words[index]}</bdi>" in words(app)
        assert f"<td>{float(cat[index]):.3f}</td>".replace("-", "−") in words(app)
    frames = charts(app)
    assert len(frames["pca_links"]) == len(frames["tsne_links"]) == 5
    assert frames["pca_rings"]["strong"].tolist() == [1, 0, 0, 0, 0, 0]


def test_a_word_that_is_not_there_is_refused() -> None:
    assert "The address asks for Neighbours of = “emperor”" in words(opened(word="emperor"))


def test_a_chosen_word_that_leaves_the_table_is_forgotten() -> None:
    app = opened(word="sad")
    app.session_state["embeddings_table"] = '[["a","x",1,0,0,0,0],["b","x",0,1,0,0,0],["c","y",0,0,1,0,0]]'
    assert checked(app.run()).session_state["embeddings_word"] == ""


def test_t_sne_does_not_keep_the_page_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(seed="17")
    before = charts(app)
    monkeypatch.setattr(arriving, "PATIENCE", 0.0)
    monkeypatch.setattr(arriving, "begin", lambda work, worker: arriving.Job(work))  # nobody ever takes it up
    app.slider(key="embeddings_seed").set_value(18)
    frames = charts(checked(app.run()))
    assert frames["pca_points"].equals(before["pca_points"])
    assert frames["tsne_note"]["n"].tolist() == [0]
    assert set(frames["tsne_points"]["faint"]) == {1}  # the one before, pale
    assert frames["tsne_points"]["x"].equals(before["tsne_points"]["x"])
    assert "t-SNE takes a moment longer" in words(app)


def test_a_map_of_other_words_does_not_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened()
    monkeypatch.setattr(arriving, "PATIENCE", 0.0)
    monkeypatch.setattr(arriving, "begin", lambda work, worker: arriving.Job(work))
    app.session_state["embeddings_table"] = '[["a","x",1,0,0,2,0],["b","x",0,1,0,7,0],["c","y",0,0,1,0,9]]'
    frames = charts(checked(app.run()))
    assert frames["tsne_points"]["w"].tolist() == [-1]
    assert "It is being measured on several maps." in words(app)


def test_numbers_that_t_sne_cannot_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object, **_settings: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr("pages.components.embeddings_scene.run_tsne", broken)
    app = opened(seed="98")
    assert "t-SNE gives no picture of these numbers" in words(app)
    assert charts(app)["tsne_note"]["n"].tolist() == [1]


# ----------------------------------------------------------------------------------------------------------- many maps


def test_many_maps() -> None:
    app = opened(view="seeds")
    frames = charts(app)
    assert len(frames["maps_points"]) == 12 * 14
    assert len(frames["maps_cells"]) == 12
    assert spec(app).count("own group 86%") == 9  # of the PCA, and with the two smaller perplexities
    assert "with perplexity 13" in words(app)


def test_claims_about_maps() -> None:
    for view in ("map", "seeds"):
        said = words(opened(view=view))
        assert "only with a fitting perplexity" in said
        assert re.search(r"86% in PCA, and in t-SNE for 86% \(perplexity 2\), .* \(perplexity 13\)", said)
        assert "does not hold</b><q>What stands far apart in a t-SNE picture differs much.</q>" in said


def test_of_many_words_the_claims_wait_until_they_are_asked_for() -> None:
    generator = np.random.default_rng(0)
    rows = "\n".join(
        f"w{number},g{number % 3}," + ",".join(f"{x:.3f}" for x in generator.normal(size=7)) for number in range(130)
    )
    app = brought(rows.encode())
    assert words(app).count("open the view “Many maps”") == 2
    app = brought(rows.encode(), view="seeds")
    assert "These are 65 of the 130 words" in words(app)
    assert "being measured" not in words(app)


# ---------------------------------------------------------------------------------------------------------------- sums


def test_the_lesson_s_sum() -> None:
    app = opened(view="sum")
    frames = charts(app)
    assert frames["every_bars"]["word"].tolist()[:4] == ["queen", "woman", "king", "man"]
    assert frames["others_bars"]["word"].tolist()[0] == "queen"
    assert not set(frames["others_bars"]["word"]) & {"king", "man", "woman"}
    assert frames["every_bars"]["cosine"][0] == pytest.approx(1)
    arrows = frames["map_arrows"]
    steps = arrows[["x2", "y2"]].to_numpy() - arrows[["x", "y"]].to_numpy()
    np.testing.assert_allclose(steps[0], steps[1], atol=1e-5)


def test_minilm_has_the_queen_only_without_the_inputs() -> None:
    app = opened(view="sum", source="minilm")
    frames = charts(app)
    assert frames["every_bars"]["word"].tolist()[:2] == ["king", "queen"]
    assert frames["others_bars"]["word"].tolist()[0] == "queen"
    assert "That is one of the inputs. Only when these may not be the answer, “queen” comes first" in words(app)
    assert "without the inputs</b><q>king − man + woman ≈ queen.</q>" in words(app)


def test_an_expected_word_that_is_far_off_is_shown_in_the_last_line() -> None:
    bars = charts(opened(view="sum", source="atlas-fr-en"))["every_bars"]
    assert bars["word"].tolist()[-1] == "queen"
    assert bars["place"].tolist()[-1] > 1000
    assert bars["place"].tolist()[:-1] == list(range(1, len(bars)))


@pytest.mark.parametrize("source", ["toy", "minilm"])
@pytest.mark.parametrize("text", ["paris - france + japan", "king + queen = woman", "cat", "cat + dog + car", "- cat"])
def test_other_sums(source: str, text: str) -> None:
    assert len(charts(opened(view="sum", source=source, sum=text))["every_bars"]) == 9


@pytest.mark.parametrize(
    ("source", "text", "told"),
    [
        ("toy", "king - emperor", "“emperor” is not in the table."),
        ("toy", "king-man+woman", "“king-man+woman” is not in the table. Use its words, with spaces"),
        ("toy", "king man", "This is no sum of words."),
        ("toy", "  ", "Type a sum on the left"),
        ("toy", "king - king", "The words of this sum cancel out"),
        ("minilm", "king - king", "The words of this sum cancel out"),
        ("minilm", "king - 😀", "This model does not know “😀”."),
        ("toy", " + ".join(["cat"] * 7), "These are too many words"),
        ("toy", "<b>x</b> - $y$", "“<b>x</b>” is not in the table."),
    ],
)
def test_what_is_no_sum_is_explained(source: str, text: str, told: str) -> None:
    app = opened(view="sum", source=source, sum=text)
    assert told in plainly(app.info[0].value)
    assert not app.get("vega_lite_chart")


# ------------------------------------------------------------------------------------------------------------ cosines


def test_the_cosine_matrix() -> None:
    app = opened(view="cosines", word="dog")
    cells = charts(app)["matrix_cells"]
    np.testing.assert_allclose(cells["value"], cosines(TOY.vectors).numpy().ravel(), atol=1e-6)
    assert charts(app)["matrix_mark"]["q"].tolist() == [TOY.words.index("dog")]
    pairs = [(a, b) for a in range(14) for b in range(a)]
    for same, text in ((True, "within a group"), (False, "between groups")):
        values = [float(cosines(TOY.vectors)[a, b]) for a, b in pairs if (TOY.groups[a] == TOY.groups[b]) is same]
        assert f"{np.mean(values):.2f} {text}".replace("-", "−") in words(app)


def test_of_many_words_some_are_drawn() -> None:
    rows = "\n".join(f"w{number} {number} 1 {number % 5}" for number in range(90))
    app = brought(rows.encode(), view="cosines", word="w70")
    assert "48 of 90 words are drawn" in words(app)
    assert len(charts(app)["matrix_cells"]) == 48 * 48
    assert "w70" in spec(app)


# ------------------------------------------------------------------------------------------------- words for a model


def test_words_of_several_pieces_are_told() -> None:
    said = words(opened(source="atlas-fr-en", words="a: king queen\nb: roi reine chat"))
    assert "2 words are no single piece of the vocabulary" in said
    assert "queen = que +en; reine = re +ine." in said
    assert "1 word is no single piece" in words(opened(source="atlas-fr-en", words="king man queen"))


def test_words_that_a_model_does_not_know_are_left_out() -> None:
    app = opened(source="minilm", words="king queen 😀 man")
    assert "Not known to this model: 😀." in words(app)
    assert len(charts(app)["pca_points"]) == 3


@pytest.mark.parametrize("text", ["", "king", "king queen", "king king king", "😀 😁 😂"])
def test_too_few_words(text: str) -> None:
    app = opened(source="minilm", words=text)
    assert "Type at least three different words" in app.info[0].value
    assert not app.get("vega_lite_chart")


def test_words_that_are_one_to_the_model() -> None:
    app = opened(source="minilm", words="Paris paris PARIS")
    assert "All vectors are the same" in plainly(app.info[0].value)


def test_too_many_words_and_groups() -> None:
    many = "\n".join(f"g{number}: " + " ".join(f"w{number}x{k}" for k in range(20)) for number in range(9))
    app = opened(source="minilm", words=many)
    assert "Only the first 120 words are used." in words(app)
    assert "There are 8 shapes" in words(app)
    assert len(charts(app)["pca_points"]) == 120
    lines = "\n".join(f"g{number}: w{number}" for number in range(11))
    assert charts(opened(source="minilm", words=lines))["pca_points"]["group"].max() == 7


def test_odd_words_reach_nobody_as_code() -> None:
    odd = '<b>x</b> "y" \\ datum.w }} ${{}} param_1 {0}'
    app = opened(source="minilm", words=odd, word="<b>x</b>")
    assert "<bdi>\\</bdi>" in words(app) or "<bdi>datum.w</bdi>" in words(app)
    assert "<b>x</b></bdi>" not in " ".join(element.proto.body for element in app.get("html"))


def test_a_model_that_is_not_whole_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(name: str) -> None:
        raise ModelError(ModelProblem.DAMAGED, "broken")

    embeddings_words.read_vocabulary.clear()
    monkeypatch.setattr(shelf, "load", damaged)
    app = begun(source="minilm").run()
    assert not app.exception
    assert "is damaged" in plainly(app.error[0].value)
    assert not app.get("vega_lite_chart")


def test_a_model_that_is_not_there_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.models.is_available", lambda name: name != shelf.MINILM)
    app = opened(source="minilm")
    assert "which is not possible here" in words(app)
    assert len(charts(app)["pca_points"]) == 14


# ------------------------------------------------------------------------------------------------- a table of one's own


def brought(data: bytes, **address: str) -> AppTest:
    """The page with this file; AppTest has no hands for the uploader, so what it leaves behind is put there."""
    try:
        file = Brought("my.csv", read_file(data), None)
    except TableError as error:
        file = Brought("my.csv", None, error)
    app = begun(source="file", **address)
    app.session_state[STATE] = file
    app.run()
    assert not app.exception, app.exception[0].message
    return app


@pytest.mark.parametrize("view", VIEWS)
def test_a_file_is_shown(view: str) -> None:
    app = checked(brought(b"king,r,1,0,2\nman,r,1,1,0\nwoman,r,0,1,0\nqueen,s,0,0,2", view=view))
    assert len(app.get("vega_lite_chart")) == 1
    assert plainly(app.caption[0].value).startswith("my.csv: it is kept until you leave")


def test_without_a_file_the_page_asks_for_one() -> None:
    app = opened(source="file")
    assert "up to 2,000 words with up to 300 numbers each" in plainly(app.info[0].value)


def test_a_file_without_groups_has_no_legend() -> None:
    frames = charts(brought(b"a 1 2\nb 3 4\nc 5 9"))
    assert "legend_groups" not in frames
    assert set(frames["pca_points"]["group"]) == {0}
    assert "There must be groups with several words" not in words(brought(b"a 1 2\nb 3 4\nc 5 9"))


def test_a_file_of_two_dimensions_in_space() -> None:
    app = checked(brought(b"a 1 2\nb 3 4\nc 5 9\nd 0 1", dims="3"))
    (box,) = (box for box in app.selectbox if box.key == "embeddings_start.en")
    assert box.options == ["random"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "There is nothing in it."),
        (b"a 1 2\nb 3\nc 4 5", "Line 2 has 1 numbers or names behind its word; the first line has 2."),
        (b"a 1 2\nb nan 3\nc 4 5", "Line 2, number 1 is “nan”."),
        (b"a 1 2\na 2 3\nc 4 5", "“a” stands in line 1 and again in line 2."),
        (b"a 1 2\n\xff 2 3\nc 4 5", "Line 2 is not written in UTF-8."),
        (b"a,1,2\nb,,3\nc,4,5", "Line 2 is not complete: number 1 is missing."),
    ],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_that_cannot_be_read_is_explained(language: str, data: bytes, told: str) -> None:
    app = brought(data, language=language) if language == "en" else brought(data)
    assert "“my.csv” cannot be shown." in plainly(app.error[0].value)
    assert told in plainly(app.error[0].value)


@pytest.mark.parametrize("problem", list(TableProblem))
def test_every_problem_has_its_sentence(problem: TableProblem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.components.i18n.language", lambda: "en")
    told = embeddings_table.sentence(TableError(problem, line=7, number=3, found="seen", wanted="due"))
    assert told.endswith(".")
    assert "{" not in told


# ------------------------------------------------------------------------------------------------- the lesson's table

NOTHING: dict[str, Any] = {"edited_rows": {}, "deleted_rows": [], "added_rows": []}


def added(word: str, group: str) -> dict[str, Any]:
    """A new row, as the editor tells it."""
    return {"c0": word, "c1": group, **{f"c{number}": 0.5 for number in range(2, 7)}}


def typed(changes: dict[str, Any], *, language: str = "en") -> AppTest:
    """The page after these changes in its table: AppTest has no hands for it, so the callback is called here."""

    def page(changes: dict) -> None:  # type: ignore[type-arg]  # Any would have no name in there
        import streamlit as st

        from pages import embeddings
        from pages.components import embeddings_table

        class Stub:  # a Panel would be drawn twice
            def put(self, values: dict) -> None:  # type: ignore[type-arg]
                st.session_state["embeddings_table"] = values["table"]

        if st.session_state.get("typed") is None and embeddings_table.STATE in st.session_state:
            st.session_state["typed"] = True
            embeddings_table._adopt(Stub(), st.session_state[embeddings_table.STATE], changes)  # type: ignore[arg-type]
        embeddings.render()

    app = AppTest.from_function(page, default_timeout=120, kwargs={"changes": changes})
    app.context["locale"] = language.replace("_", "-")
    app.query_params["embeddings_edit"] = "true"
    return checked(checked(app.run()).run())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_is_edited_on_demand(language: str) -> None:
    assert not opened(language=language).dataframe
    frame = opened(language=language, edit="true").dataframe[0].value
    assert frame.shape == (14, 7)
    assert frame["c0"].tolist() == list(TOY.words)
    assert frame["c1"].iloc[0] == {"en": "royalty", "zh_CN": "皇室"}[language]
    np.testing.assert_allclose(frame.iloc[:, 2:].to_numpy(float), TOY.vectors.numpy())


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_changed_number_moves_the_picture_and_the_address(language: str) -> None:
    app = typed({**NOTHING, "edited_rows": {0: {"c2": 2.25}}}, language=language)
    assert not app.warning
    assert different(charts(opened()), charts(app))
    table = json.loads(app.query_params["embeddings_table"])
    assert table[0] == ["king", "royalty", 2.25, 0.9, -0.2, 0.1, 0.3]  # groups by names that no language changes
    assert re.fullmatch(embeddings_table.WRITTEN, app.query_params["embeddings_table"])
    again = charts(opened(table=app.query_params["embeddings_table"]))
    for name in ("pca_points", "tsne_points", "legend_groups"):
        pd.testing.assert_frame_equal(again[name].drop(columns="x"), charts(app)[name].drop(columns="x"))


def test_a_change_that_is_taken_back_leaves_the_address() -> None:
    assert "embeddings_table" not in typed({**NOTHING, "edited_rows": {0: {"c2": 0.8}}}).query_params


def test_rows_come_and_go() -> None:
    changes = {**NOTHING, "deleted_rows": [13], "added_rows": [added("glad", "feelings")]}
    table = json.loads(typed(changes).query_params["embeddings_table"])
    assert [row[0] for row in table] == [*TOY.words[:13], "glad"]
    assert table[-1][1] == "feelings"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"edited_rows": {0: {"c2": None}}}, "Line 1 is not complete: number 1 is missing."),
        ({"edited_rows": {0: {"c0": ""}}}, "Line 1 has no word."),
        ({"edited_rows": {0: {"c1": None}}}, "Line 1 has no group."),
        ({"edited_rows": {0: {"c0": "queen"}}}, "“queen” stands in line 1 and again in line 2."),
        ({"edited_rows": {3: {"c6": 10}}}, "Line 4, number 5: 10 is too large."),
        ({"edited_rows": {3: {"c6": "x"}}}, "“x” is no number."),
        ({"edited_rows": {0: {f"c{n}": 0 for n in range(2, 7)}}}, "All numbers of “king” in line 1 are 0"),
        ({"edited_rows": {0: {f"c{n}": 0.00001 for n in range(2, 7)}}}, "All numbers of “king” in line 1 are 0"),
        ({"deleted_rows": list(range(12))}, "There must be at least 3 words, and these are 2."),
        ({"added_rows": [added(f"w{k}", "g") for k in range(17)]}, "There is room for 30"),
        ({"added_rows": [added(f"w{k}", f"g{k}") for k in range(4)]}, "There are shapes for 8 groups"),
    ],
)
def test_a_table_that_cannot_be_read_is_explained_and_the_picture_stays(changes: dict[str, Any], told: str) -> None:
    app = typed({**NOTHING, **changes})
    assert told in plainly(app.warning[0].value)
    assert "The picture shows the last complete table." in plainly(app.warning[0].value)
    assert len(charts(app)["pca_points"]) == 14


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('[["a","x",1,0,0,0,0],["a","x",0,1,0,0,0],["c","y",0,0,1,0,0]]', "“a” stands in line 1"),
        ('[["a","x",1,0,0,0,0]]', "There must be at least 3 words"),
        ('[["a","x",0,0,0,0,0],["b","x",0,1,0,0,0],["c","y",0,0,1,0,0]]', "All numbers of “a”"),
    ],
)
def test_a_wrong_table_in_an_address(table: str, told: str) -> None:
    app = opened(table=table)
    assert told in plainly(app.warning[0].value)
    assert len(charts(app)["pca_points"]) == 14


@pytest.mark.parametrize("table", ["[", "[[1]]", '[["a","x",1,0,0,0]]', '[["a\nb","x",1,0,0,0,0]]', "x" * 9000])
def test_what_is_no_table_in_an_address(table: str) -> None:
    assert "The address asks for Table" in words(opened(table=table))


def test_odd_words_in_an_address() -> None:
    table = '[["<b>x</b>","\\"q\\"",1,0,0,0,0],["\\\\","猫 {0}",0,1,0,0,0],["datum","y",0,0,1,0,0]]'
    app = opened(table=table, word="<b>x</b>", edit="true")
    assert not app.warning
    assert app.dataframe[0].value["c0"].tolist() == ["<b>x</b>", "\\", "datum"]


# --------------------------------------------------------------------------------------------------- folded, presets


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("source", ["toy", "minilm"])
@pytest.mark.parametrize("opened_part", ["formula", "code", "downloads", "reading"])
def test_folded_parts(view: str, source: str, opened_part: str) -> None:
    app = begun(view=view, source=source)
    name = {"map": "map", "seeds": "study", "sum": "sum", "cosines": "cosines"}[view]
    app.session_state[f"embeddings_{name}.opened"] = opened_part
    checked(app.run())


@pytest.mark.parametrize("number", range(3))
def test_presets_show_something_else(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.components.i18n.language", lambda: "en")
    values = list(embeddings._presets().values())[number]
    app = opened(**{name: str(value) for name, value in values.items()})
    assert "which is not possible here" not in words(app)
    if number == 0:
        assert app.slider(key="embeddings_perplexity").value == 5  # the lesson's own settings, which Reset sets as well
        assert app.slider(key="embeddings_seed").value == 42
    else:
        assert different(charts(opened()), charts(app))

"""The masks page: every control, in every language, and what people type into it."""

import re
from functools import partial
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.components import masks_controls
from tests.pages import apps
from tests.pages.apps import changed, charts, checked, spec, take_preset, verdicts, words

LANGUAGES = ("en", "zh_CN")
VIEWS = ("weights", "reach", "batch", "teaching")
KINDS = ("padding", "causal", "both", "window", "prefix", "xlnet_query", "xlnet_content", "cross", "own")


opened = partial(apps.opened, "masks")


def grid(app: AppTest, column: str, part: str = "grids") -> np.ndarray[Any, Any]:
    """One column of a heatmap as a matrix."""
    cells = charts(app)[f"{part}_cells"]
    matrix: np.ndarray[Any, Any] = cells.pivot(index="q", columns="k", values=column).to_numpy()
    return matrix


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
def test_opens(language: str, view: str) -> None:
    app = opened(language=language, view=view)
    assert f"<h1>{ {'en': 'Masks', 'zh_CN': '掩码'}[language] }</h1>" in words(app)
    assert charts(app)
    assert 2 <= len(verdicts(app)) <= 4


@pytest.mark.parametrize("view", ["weights", "reach"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_opens(kind: str, view: str) -> None:
    assert charts(opened(kind=kind, view=view))


def test_no_two_kinds_are_the_same() -> None:
    sentence = "a b c d\na b c d e f"
    drawn = [grid(opened(kind=kind, sentences=sentence, sources="x y\nx y z"), "mask") for kind in KINDS]
    assert len({mask.tobytes() + bytes(mask.shape) for mask in drawn}) == len(KINDS)


@pytest.mark.parametrize(
    ("control", "values", "address"),
    [
        ("query", ("1", "9"), {}),
        ("sentence", ("1", "2"), {}),
        ("scale", ("0.0", "5.0"), {}),
        ("seed", ("0", "99"), {}),
        ("sentences", ("a b c", "d e"), {}),
        ("sources", ("a b c\nd", "e f\ng"), {"kind": "cross"}),
        ("left", ("0", "20"), {"kind": "window"}),
        ("right", ("0", "20"), {"kind": "window"}),
        ("prefix", ("0", "7"), {"kind": "prefix"}),
        ("shuffle", ("0", "99"), {"kind": "xlnet_query"}),
        ("order_by", ("shuffled", "typed"), {"kind": "xlnet_query"}),
        ("order", ("3 1 4 2", "2 1"), {"kind": "xlnet_query", "order_by": "typed"}),
        ("closed", ("", "1-2"), {"kind": "own"}),
        ("seed", ("0", "99"), {"kind": "own"}),
        ("fill", ("inf", "1e9"), {"kind": "xlnet_query"}),
        ("fill", ("inf", "guarded"), {"kind": "xlnet_query"}),
        ("dtype", ("float32", "float16"), {}),
        ("dtype", ("float16", "bfloat16"), {}),
        ("query", ("1", "9"), {"view": "reach"}),
        ("scale", ("0.0", "5.0"), {"view": "reach"}),
        ("seed", ("0", "99"), {"view": "reach"}),
        ("sentence", ("1", "2"), {"view": "batch"}),
        ("sources", ("a b c\nd", "e f\ng"), {"view": "batch"}),
        ("taught", ("我 爱 NLP", "I love NLP !"), {"view": "teaching"}),
        ("step", ("1", "4"), {"view": "teaching"}),
        ("scale", ("0.0", "5.0"), {"view": "teaching"}),
        ("seed", ("0", "99"), {"view": "teaching"}),
    ],
)
def test_every_control_changes_a_plot(control: str, values: tuple[str, str], address: dict[str, str]) -> None:
    one, other = (charts(opened(**(address | {control: value}))) for value in values)
    assert changed(one, other)


# ------------------------------------------------------------------------------------------------ what really happens


EMPTY = {"kind": "xlnet_query", "order_by": "typed", "order": "3 1 4 2", "sentences": "The cat sat down", "query": "3"}


def test_the_order_of_the_texts() -> None:
    mask = grid(opened(**EMPTY), "mask")
    assert mask.tolist() == [[0, 0, 1, 0], [1, 0, 1, 1], [0, 0, 0, 0], [1, 0, 1, 0]]


def test_an_empty_row_is_nan_with_minus_infinity() -> None:
    app = opened(**EMPTY, fill="inf")
    assert np.isnan(grid(app, "weights")[2]).all()
    assert grid(app, "seen")[2].tolist() == [1, 1, 1, 1]  # drawn as what it is, not as masked
    assert "NaN" in words(app)


def test_an_empty_row_attends_to_the_forbidden_with_minus_1e9() -> None:
    app = opened(**EMPTY, fill="1e9")
    assert grid(app, "weights")[2].tolist() == [0.25] * 4
    assert charts(app)["row_bars"]["attend"].tolist() == [1] * 4
    assert "each forbidden key gets 0.250" in words(app)


def test_an_empty_row_is_zero_when_guarded() -> None:
    app = opened(**EMPTY)
    assert grid(app, "weights")[2].tolist() == [0.0] * 4
    assert grid(app, "seen")[2].tolist() == [0] * 4


def test_float16_refuses_minus_1e9() -> None:
    app = opened(fill="1e9", dtype="float16")
    assert "into a float16" in words(app)
    assert "RuntimeError: value cannot be converted to type" in words(app)
    assert "weights" not in charts(app)["grids_cells"]
    assert '"grids_cells_1"' in spec(app)
    assert '"grids_cells_2"' not in spec(app)  # there are two heatmaps, not three
    assert '"grids_cells_2"' in spec(opened())


def test_weights_sum_to_one_and_lie_where_they_may() -> None:
    app = opened()
    weights, mask = grid(app, "weights"), grid(app, "mask").astype(bool)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-6)
    assert (weights[~mask] == 0).all()


def test_gradients_are_hatched_where_they_are_exactly_zero() -> None:
    attend = grid(opened(view="reach", kind="causal"), "attend", "depends")
    assert np.array_equal(attend, np.tri(9, dtype=np.int8))
    itself = grid(opened(view="reach", kind="xlnet_query", order_by="typed", order="1"), "attend", "depends")
    assert np.diag(itself).tolist() == [0, 0, 1, 1, 1, 1, 1]  # through the query, though the mask forbids it


def test_mean_context() -> None:
    contexts = charts(opened(view="reach", kind="causal", sentences="a b c d e f g h i j"))
    assert contexts["context_contexts"]["count"].tolist() == list(range(1, 11))
    assert contexts["context_mean"]["count"].tolist() == [5.5]


def test_the_answer_lies_in_view_without_the_mask_only() -> None:
    app = opened(view="teaching")
    cells = charts(app)["grids_cells"]
    answer = cells[(cells["q"] == 1) & (cells["k"] == 2)].iloc[0]
    assert answer["open"] > 0
    assert answer["causal"] == 0
    assert "“我” it must say “爱”" in words(app)
    assert "&lt;eos&gt;" in words(app)


def test_a_batch_has_three_masks() -> None:
    app = opened(view="batch", sentences="a b c\nd", sources="x\ny z")
    masks = [grid(app, "attend", part) for part in ("encoder", "decoder", "cross")]
    assert [mask.tolist() for mask in masks] == [
        [[1, 0], [1, 0]],
        [[1, 0, 0], [1, 1, 0], [1, 1, 1]],
        [[1, 0]] * 3,
    ]
    assert "(2,\u00a01,\u00a03,\u00a03)" in words(app)


def test_every_claim_is_shown_where_it_belongs() -> None:
    """Claims 13 to 18, some of two parts."""
    fills, row, code = "−1e9 is as good", "A masked softmax gives the row", "The printed function makes"
    xlnet, no_mask, gradient, context = "XLNet, order of", "Cross-attention needs no mask", "gradient is zero", "half."
    expected: dict[tuple[str, str], list[str]] = {
        ("weights", "both"): [fills, row, code],
        ("weights", "padding"): [fills, row, code],
        ("weights", "causal"): [fills, row],
        ("weights", "xlnet_query"): [fills, row, xlnet],
        ("weights", "cross"): [fills, row, no_mask],
        ("reach", "both"): [gradient, context, code],
        ("reach", "xlnet_content"): [gradient, context, xlnet],
        ("reach", "cross"): [gradient, context, no_mask],
        ("batch", "both"): [no_mask, code],
        ("teaching", "both"): [gradient, context],
    }
    for (view, kind), claims in expected.items():
        told = re.findall(r"<q>(.*?)</q>", words(opened(view=view, kind=kind)))
        assert len(told) == len(claims)
        assert all(part in claim for part, claim in zip(claims, told, strict=True)), told


def test_verdicts_follow_what_is_on_screen() -> None:
    assert verdicts(opened()) == ["only_if", "does_not_hold", "does_not_hold"]
    assert verdicts(opened(kind="xlnet_query"))[2] == "does_not_hold"
    assert verdicts(opened(kind="cross"))[2] == "only_if"
    assert verdicts(opened(kind="cross", sentences="a b", sources="c d"))[2] == "undecided"
    assert verdicts(opened(view="reach"))[:2] == ["only_if", "does_not_hold"]
    assert verdicts(opened(view="reach", kind="causal"))[0] == "holds"
    assert verdicts(opened(view="reach", kind="own"))[0] == "undecided"
    assert verdicts(opened(view="reach", kind="own", closed="2"))[0] == "holds"
    assert verdicts(opened(view="reach", kind="own", closed="1"))[0] == "only_if"


def test_the_specification_is_the_same_wherever_the_sliders_of_one_sentence_stand() -> None:
    """Only then is the picture changed in place, which is what makes it quick."""
    usual = spec(opened())
    for control, value in (("query", "9"), ("scale", "5.0"), ("seed", "99"), ("fill", "inf"), ("dtype", "bfloat16")):
        assert spec(opened(**{control: value})) == usual, control
    assert spec(opened(view="reach")) == spec(opened(view="reach", query="2", seed="3", scale="0.0"))
    assert spec(opened(view="teaching")) == spec(opened(view="teaching", step="4", seed="3"))


def test_a_slider_changes_the_picture_of_a_session() -> None:
    app = opened()
    before = charts(app)
    app.slider(key="masks_query").set_value(2).run()
    after = charts(checked(app))
    assert after["grids_mark"]["q"].tolist() == [1]
    assert before["grids_cells"].equals(after["grids_cells"])
    assert not before["row_bars"].equals(after["row_bars"])
    assert "“cat” may look at 2 of 9 tokens" in words(app)


def test_the_table_of_steps_shows_those_around_the_chosen_one() -> None:
    app = opened(view="teaching", taught=" ".join("abcdefghijklmnopqrs"), step="12")
    rows = re.findall(r"<tr[^>]*><td>(\d+)</td>", words(app))
    assert len(rows) == 6
    assert "12" in rows
    assert re.search(r"<tr class=marked><td>12</td><td>k</td><td>l</td>", words(app))


# --------------------------------------------------------------------------------------------------------- your own


def press(app: AppTest, icon: str) -> AppTest:
    next(button for button in app.button if button.icon == icon).click()
    return checked(app.run())


def test_cells_are_closed_and_opened_again_with_the_keyboard() -> None:
    app = press(opened(kind="own", query="3", key="6"), ":material/grid_on:")
    mask = grid(app, "mask")
    assert (mask == 0).sum() == 1
    assert mask[2, 5] == 0
    assert app.query_params["masks_closed"] == "0-0-20-0-0-0-0"
    assert "“sat” may not look at “mat”, number 6" in words(app)
    assert grid(press(app, ":material/grid_on:"), "mask").all()
    assert "masks_closed" not in app.query_params


def test_all_cells_are_opened() -> None:
    assert grid(press(opened(kind="own", closed="7f-1"), ":material/undo:"), "mask").all()


# ------------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("order", "said"),
    [("1 1", "twice"), ("1 9", "1 to 7"), ("one", "not a whole number"), ("0 1", "1 to 7")],
)
def test_a_bad_order_is_explained_and_the_order_of_reading_used(order: str, said: str) -> None:
    app = opened(kind="xlnet_query", order_by="typed", order=order)
    assert said in app.info[0].value
    assert grid(app, "mask").tolist() == np.tri(7, k=-1, dtype=np.int8).tolist()


@pytest.mark.parametrize("view", ["weights", "reach", "batch"])
@pytest.mark.parametrize("sentences", ["", "   \n\t\n", "\u200b"])
def test_nothing_to_look_at(sentences: str, view: str) -> None:
    app = opened(sentences=sentences, view=view)
    assert not charts(app)
    assert app.info


def test_nothing_to_teach() -> None:
    app = opened(view="teaching", taught=" ")
    assert not charts(app)
    assert app.info


@pytest.mark.parametrize(
    "sentences",
    [
        "word",
        "word " * 200,
        "مرحبا بالعالم\nשלום",
        "<script>alert(1)</script>\n'); alert(1)",
        "银行很大\n我今天去银行取钱",
        "a\n" * 20,
        "{x} \\frac 😀",
    ],
)
@pytest.mark.parametrize("view", ["weights", "reach", "batch"])
def test_odd_sentences_get_an_answer(sentences: str, view: str) -> None:
    app = opened(sentences=sentences[:600], view=view)
    assert charts(app)
    assert "<script>" not in words(app)


@pytest.mark.parametrize("view", ["weights", "reach", "teaching"])
def test_a_long_word_is_quoted_in_part(view: str) -> None:
    app = opened(view=view, sentences="x" * 10_000, taught="x" * 10_000)
    assert charts(app)
    assert "x" * 41 not in words(app)


def test_what_is_too_long_is_cut_and_said() -> None:
    app = opened(sentences="word " * 100)
    assert f"{masks_controls.MOST_TOKENS} tokens" in app.info[0].value
    assert grid(app, "mask").shape == (20, 20)


def test_sentences_without_a_partner_are_left_out_and_said() -> None:
    app = opened(kind="cross", sentences="a\nb c\nd", sources="x y\nz")
    assert "3 sentences and 2 source sentences" in app.info[0].value


@pytest.mark.parametrize(
    "address",
    [
        {"query": "99"},
        {"sentence": "0"},
        {"kind": "none"},
        {"view": "<b>"},
        {"fill": "0"},
        {"dtype": "float8"},
        {"scale": "nan"},
        {"closed": "xyz", "kind": "own"},
        {"closed": "1" * 300, "kind": "own"},
        {"prefix": "-1", "kind": "prefix"},
    ],
)
def test_an_impossible_address_falls_back_and_says_so(address: dict[str, str]) -> None:
    assert "atlas-refused" in words(opened(**address))


@pytest.mark.parametrize("number", range(3))
def test_presets(number: int) -> None:
    app = take_preset(opened(), number)
    assert charts(app)
    assert changed(charts(opened()), charts(app))


@pytest.mark.parametrize("part", ["formula", "code", "downloads", "reading"])
@pytest.mark.parametrize(
    "address",
    [{}, {"view": "reach"}, {"view": "teaching"}, EMPTY, {"fill": "1e9", "dtype": "float16"}, {"kind": "cross"}],
)
def test_folded_parts(part: str, address: dict[str, str]) -> None:
    app = opened(**address)
    app.session_state["masks.opened"] = part
    app = checked(app.run())
    assert {"formula": app.get("latex"), "code": app.code}.get(part, True)

"""The folded parts below a page: each computed when it is opened, and only then."""

import inspect
import io
import zipfile
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from pages.components import fold as module
from tests.pages.apps import Start


def app(calls: list[str], plotted: bool = False) -> None:
    import pyarrow as pa

    from core.charts.theme import style
    from core.masks import causal_mask
    from pages.components.fold import Formula, Source, fold
    from pages.components.plot import Plot

    def formula() -> list[Formula]:
        calls.append("formula")
        return [Formula(r"\frac{a}{b}", r"\frac{1}{2}", "a is <b>one</b>.")]

    def snippet() -> str:
        calls.append("snippet")
        return "import torch\n"

    frames = {"cells": pa.table({"i": [0, 1], "w": [0.25, 0.75]}), "marks": pa.table({"i": [1]})}
    plots = [Plot("masks.weights", "weights", {"mark": "rect"}, frames, style("light", "normal"))] if plotted else []
    reading = [
        Source("Attention Is All You Need", "Vaswani et al. 2017, section 3.2", "https://arxiv.org/abs/1706.03762")
    ]
    fold("masks", formula=formula, code=[causal_mask], plots=plots, snippet=snippet, reading=reading)


def opened(at: AppTest, part: str | None) -> AppTest:
    at.pills(key="masks.fold.en").set_value(part).run()
    assert not at.exception, at.exception
    return at


def kinds(at: AppTest) -> set[str]:
    """What lies in the open part."""
    return {kind for kind in ("latex", "code", "markdown", "download_button") if at.get(kind)}


def test_folded_parts_compute_and_send_nothing(start: Start) -> None:
    calls: list[str] = []
    at = start(app, calls=calls, plotted=True)
    assert calls == []
    assert kinds(at) == set()


@pytest.mark.parametrize(
    ("locale", "language", "labels"),
    [
        ("en", "en", ["Formula", "Code that ran", "Take it along", "Read more"]),
        ("zh-CN", "zh_CN", ["公式", "实际运行的代码", "下载", "延伸阅读"]),
    ],
)
def test_the_parts_are_named(start: Start, locale: str, language: str, labels: list[str]) -> None:
    pills = start(app, locale=locale, calls=[]).pills(key=f"masks.fold.{language}")
    shown = [option.content for option in pills.proto.options]
    assert all(text.endswith(label) for text, label in zip(shown, labels, strict=True))


def test_formula(start: Start) -> None:
    calls: list[str] = []
    at = opened(start(app, calls=calls), "formula")
    assert [latex.value.strip("$\n") for latex in at.latex] == [r"\frac{a}{b}", r"\frac{1}{2}"]
    assert at.caption[0].value == "a is <b>one</b>."
    assert calls == ["formula"]
    assert len(at.code) == 0


def test_the_code_is_that_of_the_very_function(start: Start) -> None:
    from core.masks import causal_mask

    at = opened(start(app, calls=[]), "code")
    assert at.markdown[0].value == "`core.masks.causal_mask`"
    assert (at.code[0].value, at.code[0].language) == (inspect.getsource(causal_mask).strip(), "python")


def test_reading(start: Start) -> None:
    at = opened(start(app, calls=[]), "reading")
    assert "[Attention Is All You Need](https://arxiv.org/abs/1706.03762)" in at.markdown[0].value
    assert "Vaswani et al. 2017, section 3.2" in at.markdown[0].value


def test_downloads_are_offered_but_not_made(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> Any:
        raise AssertionError("made before anyone pressed the button")

    for maker in ("to_svg", "to_png", "_packed"):
        monkeypatch.setattr(module, maker, never)
    calls: list[str] = []
    at = opened(start(app, calls=calls, plotted=True), "downloads")
    assert [button.label for button in at.download_button] == [
        "SVG",
        "PNG",
        "ZIP",
        "These numbers in plain PyTorch",
    ]
    assert calls == []


def test_the_data_of_several_datasets_come_in_one_archive() -> None:
    cells = pa.table({"i": [0, 1], "w": [0.25, 0.75], "nonce": [3, 3]})
    frames = {"cells": cells, "tokens": pa.table({"token": ["a,b", "愛"]}), "mark": cells, "uniform": cells[:0]}
    ending, _, data = module._csv({}, frames)
    assert ending == "zip"
    with zipfile.ZipFile(io.BytesIO(data())) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert {name: text.splitlines() for name, text in files.items()} == {
        "cells.csv": ["i,w", "0,0.25", "1,0.75"],
        "tokens.csv": ["token", '"a,b"', "愛"],
    }


def test_the_data_of_one_dataset_come_as_one_table() -> None:
    ending, mime, data = module._csv({}, {"cells": pa.table({"i": [0], "w": [0.5], "nonce": [1]})})
    assert (ending, mime, data()) == ("csv", "text/csv", "i,w\n0,0.5\n")


def test_a_table_names_the_tokens_that_its_numbers_stand_for() -> None:
    spec = {
        "params": [{"name": "one_key_tokens", "expr": '["a", "愛"]'}, {"name": "one_query_tokens", "expr": '["x"]'}]
    }
    cells = pa.table({"q": [0, 0], "k": [0, 1], "weight": [0.5, 0.5]})
    _, _, data = module._csv(spec, {"one_cells": cells, "one_mark": cells})
    assert data().splitlines() == ["query,key,q,k,weight", "x,a,0,0,0.5", "x,愛,0,1,0.5"]


def test_one_part_is_open_at_a_time(start: Start) -> None:
    calls: list[str] = []
    at = opened(start(app, calls=calls), "formula")
    assert kinds(at) == {"latex"}
    assert kinds(opened(at, "downloads")) == {"download_button"}
    assert calls == ["formula"]


def test_what_is_closed_again_computes_no_more(start: Start) -> None:
    calls: list[str] = []
    at = opened(start(app, calls=calls), "formula")
    opened(at, None)
    at.run()
    assert calls == ["formula"]
    assert kinds(at) == set()


def several(calls: list[str]) -> None:
    from pages.components.fold import fold

    snippets = {name: lambda name=name: calls.append(name) or "" for name in ("PyTorch", "NumPy")}
    fold("masks", formula=lambda: [], code=[], plots=[], snippet=snippets, reading=[])


def test_a_page_may_offer_a_program_for_each_library(start: Start) -> None:
    calls: list[str] = []
    at = opened(start(several, calls=calls), "downloads")
    labels = [button.label for button in at.download_button]
    assert labels == ["These numbers in plain PyTorch", "These numbers in plain NumPy"]
    assert calls == []


def test_a_picture_that_is_an_image_comes_with_its_own_table() -> None:
    frames = {"image": pa.table({"url": ["data:image/png;base64,"]})}
    ending, _mime, data = module._csv({}, frames, lambda: pd.DataFrame({"weight": [0.25]}))
    assert (ending, data()) == ("csv", "weight\n0.25\n")

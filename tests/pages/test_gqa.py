"""The page on GQA: every view and control, in every language, and what an address may ask for."""

import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.gqa_presets import MODELS
from core.gqa_times import LENGTHS, DecoderSize, DecodingTime, DecodingTimes
from core.kv_heads import kv_head_of, legal_kv_heads
from core.models import catalogue
from pages.components import gqa_measured, shelf, translator
from pages.components.gqa_scene import BY_KEY, DEFAULT, of_model
from pages.components.gqa_words import amount
from tests.pages import apps
from tests.pages.apps import changed, charts, checked, take_preset, verdicts, words

LANGUAGES = ("en", "zh_CN")
CLAIMS = {"sharing": 3, "measured": 2, "conversion": 2, "models": 1}
SIZE = DecoderSize()


opened = partial(apps.opened, "gqa")


def costs(app: AppTest) -> list[list[float]]:
    """The table: parameters, cache, multiply-adds, bytes moved, users; a row for each number of KV heads, then MLA."""
    values: list[list[float]] = charts(app)["costs_cells"]["value"].to_numpy().reshape(-1, 5).tolist()
    return values


def times(heads: tuple[int, ...] = (1, 2, 4, 8, 16), lengths: tuple[int, ...] = LENGTHS) -> DecodingTimes:
    """As if somebody had pressed the button: a millisecond for every KV head, and one for every 512 tokens."""
    found = (
        DecodingTime(
            num_kv_heads=count,
            seq_len=length,
            weight_bytes=30_000_000,
            cache_bytes=1536 * count * length,
            seconds=1e-3 * (count + length / 512),
            seconds_without=0.2 if length <= 512 else None,
        )
        for count in heads
        for length in lengths
    )
    return DecodingTimes(1e10, tuple(found))


@pytest.fixture
def _measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gqa_measured, "measured", lambda: {SIZE: times()})


# ------------------------------------------------------------------------------------------------------------ all views


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", CLAIMS)
def test_opens(language: str, view: str) -> None:
    app = opened(language=language, view=view)
    assert f"<h1>{ {'en': 'Sharing KV heads: GQA', 'zh_CN': '共享 KV 头：GQA'}[language] }</h1>" in words(app)
    assert len(verdicts(app)) == CLAIMS[view]
    assert "groups" not in words(app)


@pytest.mark.usefixtures("_measured")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", ["formula", "code", "downloads", "reading"])
@pytest.mark.parametrize(
    ("view", "key"),
    [
        ("sharing", "gqa"),
        ("measured", "gqa_measured"),
        ("conversion", "gqa_conversion"),
        ("models", "gqa_models"),
    ],
)
def test_every_folded_part_opens(language: str, part: str, view: str, key: str) -> None:
    app = opened(language=language, view=view)
    app.session_state[f"{key}.opened"] = part
    checked(app.run())


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ({"kv_heads_llama_3_1_8b": "5"}, "KV heads"),
        ({"kv_heads_llama_3_1_8b": "0"}, "KV heads"),
        ({"kv_heads_llama_3_1_8b": "64"}, "KV heads"),
        ({"context": "99"}, "Context: 2ⁿ tokens"),
        ({"batch": "x"}, "Batch"),
        ({"layers_llama_3_1_8b": "0"}, "Layers"),
        ({"head_dim_llama_3_1_8b": "17"}, "head_dim"),
        ({"model": "<b>GPT-9</b>"}, "Published model"),
        ({"number": "int4"}, "Numbers"),
        ({"view": "nowhere"}, "View"),
        ({"view": "conversion", "merged": "3"}, "KV heads"),
        ({"view": "conversion", "layer": "4"}, "Layer"),
    ],
)
def test_bad_addresses_fall_back_and_it_is_said(address: dict[str, str], named: str) -> None:
    app = opened(**address)
    assert f"The address asks for {named} = “" in words(app)
    assert "<b>GPT" not in words(app)


def test_presets_set_what_they_show() -> None:
    app = opened(**{"model": "falcon-7b", "kv_heads_falcon-7b": "71"})
    app = take_preset(app, "One KV head for 71")
    assert charts(app)["heads_queries"]["kv"].tolist() == [0] * 71
    app = opened(view="conversion")
    assert charts(take_preset(app, "Each its own"))["heads_queries"]["kv"].tolist() == list(range(32))


# -------------------------------------------------------------------------------------------------------------- sharing


@pytest.mark.parametrize("key", BY_KEY)
def test_every_published_model_shows_its_own_sharing_and_source(key: str) -> None:
    model = BY_KEY[key]
    app = opened(model=key)
    assert charts(app)["heads_queries"]["kv"].tolist() == list(kv_head_of(model.num_heads, model.num_kv_heads))
    assert f'href="{model.source}"' in words(app)
    legal = legal_kv_heads(model.num_heads)
    assert charts(app)["costs_mark"]["row"].tolist() == [legal.index(model.num_kv_heads)]
    assert len(costs(app)) == len(legal) + 1
    options = app.selectbox(key=f"gqa_{of_model('kv_heads', key)}.en").options
    assert [int(option.split(" · ")[0]) for option in options] == list(legal)


def test_models_have_different_addresses() -> None:
    assert len(BY_KEY) == len(MODELS)


def test_a_changed_size_stays_with_its_model() -> None:
    app = opened(**{"model": "llama-2-7b", "layers_llama_2_7b": "40"})
    assert "layers 32 → 40" in words(app)
    assert "→" not in words(opened(**{"model": "gemma-7b", "layers_llama_2_7b": "40"}))


@pytest.mark.parametrize(
    ("control", "values"),
    [
        ("context", (7, 17)),
        ("batch", (1, 64)),
        (of_model("layers", DEFAULT), (1, 128)),
        (of_model("head_dim", DEFAULT), (16, 256)),
        (of_model("kv_heads", DEFAULT), (1, 32)),
        ("number", ("float32", "int8")),
        ("model", ("gpt-2-xl", "falcon-40b")),
    ],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_control_changes_the_picture(language: str, control: str, values: tuple[object, object]) -> None:
    default, low, high = (
        charts(opened(language=language, **address)) for address in ({}, *({control: value} for value in values))
    )
    assert changed(default, low)
    assert changed(default, high)
    assert changed(low, high)


def test_the_numbers_worked_by_hand() -> None:
    # Llama 3.1 8B, 8,192 tokens, batch 8, bfloat16: the row of 8 KV heads.
    parameters, cache, multiply_adds, moved, users = costs(opened())[3]
    assert parameters == 32 * 2 * 4096 * 128 * (32 + 8)
    assert cache == 2 * 32 * 8 * 128 * 8192 * 8 * 2
    assert multiply_adds == parameters + 32 * 2 * 32 * 128 * 8192
    assert moved == (2 * parameters + cache) / 8
    assert users == 59


def test_latent_attention_is_the_last_row() -> None:
    # 4 · 128 + 64 numbers per token and layer.
    assert costs(opened())[-1][1] == (512 + 64) * 32 * 8192 * 8 * 2


def test_weights_that_do_not_fit_are_said() -> None:
    assert "Nobody fits in 80 GB" in words(opened(model="llama-3.1-405b"))
    assert "Only weights and caches are counted" in words(opened())


def test_a_context_beyond_the_published_one_is_said() -> None:
    assert "was published for at most 4,096 tokens" in words(opened(model="llama-2-7b", context=13))
    assert "was published for at most" not in words(opened(model="llama-2-7b", context=12))


def test_mha_has_nothing_to_compare_with() -> None:
    assert "each of the 32 query heads has a KV head of its own" in words(opened(model="llama-2-7b"))


def test_the_rule_is_told_in_the_codes_own_words() -> None:
    helps = opened(model="qwen2.5-7b").selectbox(key="gqa_kv_heads_qwen2_5_7b.en").help
    assert "num_heads (28) must be divisible by num_kv_heads (3)" in helps


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (7, "7 B"),
        (999, "999 B"),
        (1000, "1.00 kB"),
        (999_499, "999 kB"),
        (999_999, "1.00 MB"),
        (1_073_741_824, "1.07 GB"),
        (34_400_000_000, "34.4 GB"),
        (8.66e12, "8.66 TB"),
        (1.2e18, "1,200 PB"),
    ],
)
def test_amounts_have_three_digits(number: float, text: str) -> None:
    assert amount(number, "B") == text


# ------------------------------------------------------------------------------------------------------------- measured


def test_before_the_measurement_nothing_is_drawn_or_judged() -> None:
    app = opened(view="measured")
    assert not charts(app)
    assert verdicts(app) == ["holds", "undecided"]
    assert any("about 13 seconds and 400 MB" in text.value for text in app.markdown)


@pytest.mark.usefixtures("_measured")
@pytest.mark.parametrize("language", LANGUAGES)
def test_measured_times_are_drawn_beside_their_bound(language: str) -> None:
    app = opened(language=language, view="measured")
    heads = charts(app)["heads_curves"]
    assert heads[heads["s"] == 0]["y"].tolist() == [17, 18, 20, 24, 32]  # milliseconds at 8,192 tokens
    bound = [1000 * (30_000_000 + 1536 * count * 8192) / 1e10 for count in (1, 2, 4, 8, 16)]
    assert heads[heads["s"] == 1]["y"].tolist() == pytest.approx(bound)
    memory = charts(app)["memory_curves"]
    assert memory[memory["s"] == 1]["y"].tolist() == pytest.approx([1.536e-3 * c * 8192 for c in (1, 2, 4, 8, 16)])
    assert verdicts(app) == ["holds", "holds"]


@pytest.mark.usefixtures("_measured")
@pytest.mark.parametrize(("control", "values"), [("measured_context", (128, 2048)), ("measured_heads", (1, 8))])
def test_every_control_of_the_times_changes_the_picture(control: str, values: tuple[int, int]) -> None:
    one, other = (charts(opened(view="measured", **{control: value})) for value in values)
    assert changed(one, other)


@pytest.mark.usefixtures("_measured")
def test_times_below_the_bound_are_explained() -> None:
    assert "4 of 20 times lie below the bound" in words(opened(view="measured"))


def test_what_there_was_no_time_for_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    some = times((1, 2, 4)).times + times((8,), (128, 512)).times
    monkeypatch.setattr(gqa_measured, "measured", lambda: {SIZE: DecodingTimes(1e10, some)})
    app = opened(view="measured")
    assert app.session_state["gqa_measured_context"] == "512"  # the longest of which all were measured
    assert app.session_state["gqa_measured_heads"] == "8"
    assert "8 KV heads with 2,048 tokens were not measured" in words(opened(view="measured", measured_context=2048))


@pytest.mark.parametrize("part", ["formula", "code", "downloads", "reading"])
def test_before_a_measurement_the_folded_parts_open_too(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gqa_measured, "measured", dict)
    app = opened(view="measured")
    app.session_state["gqa_measured.opened"] = part
    checked(app.run())
    if part == "formula":  # 3 layers · 2 · 16 heads · 64 · 8192 tokens · 4 bytes
        assert any("+ 201{,}326{,}592}{v}" in latex.value for latex in app.latex)


def test_the_models_can_be_taken_along() -> None:
    assert "This table as CSV" in [button.label for button in opened(view="models").get("download_button")]


def test_nothing_measured_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gqa_measured, "measured", lambda: {SIZE: DecodingTimes(1e10, ())})
    assert verdicts(opened(view="measured")) == ["holds", "undecided"]


def test_the_button_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[DecoderSize, DecodingTimes] = {}
    small = DecoderSize(d_model=8, num_heads=2, num_layers=1)
    monkeypatch.setattr(gqa_measured, "measured", lambda: found)
    monkeypatch.setattr(gqa_measured, "SIZE", small)
    monkeypatch.setattr("core.gqa_times.ENOUGH", 0.0)
    app = opened(view="measured")
    app.button(key="gqa.times.job.start").click()
    app = checked(app.run())
    assert app.session_state["gqa.times.job"].finished.wait(timeout=60)
    assert {time.num_kv_heads for time in found[small].times} == {1, 2}
    assert charts(checked(app.run()))


# ----------------------------------------------------------------------------------------------------------- conversion


def test_the_conversion_is_drawn_for_every_layer() -> None:
    shown = charts(opened(view="conversion"))
    layer, layers = shown["layer_curves"], shown["layers_curves"]
    assert layer["x"].tolist() == [1, 2, 4] * 2
    assert layer[layer["x"] == 4]["y"].tolist() == pytest.approx([0, 0], abs=1e-6)
    assert layers["x"].tolist() == [1, 2, 3] * 2
    assert (layers["y"] > 0.1).all()


def test_the_conversion_is_judged() -> None:
    app = opened(view="conversion")
    assert verdicts(app)[0] == "does_not_hold"
    assert re.search(r"Closer in \d of 6 cases", words(app))


@pytest.mark.parametrize(
    ("control", "values"),
    [("layer", (1, 3)), ("merged", (1, 4)), ("sentence", ("Où est la gare ?", "Je t'aime."))],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_control_of_the_conversion_changes_the_picture(
    language: str, control: str, values: tuple[object, object]
) -> None:
    one, other = (charts(opened(language=language, view="conversion", **{control: value})) for value in values)
    assert changed(one, other)


def test_without_merging_nothing_changes_and_it_is_said() -> None:
    assert "nothing is merged" in words(opened(view="conversion", merged=4))


@pytest.mark.parametrize(
    "sentence",
    ["😀😀😀", "مرحبا بالعالم", "<script>alert(1)</script>", "猫", "chat " * 190, "\u202eenvers", "a" * 10_000],
)
def test_odd_sentences_get_an_answer(sentence: str) -> None:
    app = opened(view="conversion", sentence=sentence)
    assert charts(app)
    assert "<script>" not in words(app)


def test_a_long_sentence_is_cut_and_the_page_says_so() -> None:
    assert "cut after 64 tokens" in words(opened(view="conversion", sentence="le chat et " * 80))


@pytest.mark.parametrize("sentence", ["", "   ", "\u200b"])
def test_an_empty_sentence_gets_a_hint(sentence: str) -> None:
    app = opened(view="conversion", sentence=sentence or " ")
    assert "Type a sentence on the left" in app.main.info[0].value
    assert not charts(app)


@pytest.fixture
def _damaged_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    shutil.copytree(catalogue.ASSETS / translator.BUNDLED, tmp_path / translator.BUNDLED)
    (tmp_path / translator.BUNDLED / "model.safetensors").unlink()
    monkeypatch.setattr(catalogue, "ASSETS", tmp_path)
    shelf.forget()
    yield
    shelf.forget()


@pytest.mark.usefixtures("_damaged_model")
def test_without_the_model_the_other_views_work() -> None:
    app = apps.begun("gqa", view="conversion")
    assert not app.exception
    assert len(app.main.error) == 1
    assert charts(opened())


# --------------------------------------------------------------------------------------------------------------- models


def table(app: AppTest) -> pd.DataFrame:
    found: pd.DataFrame = app.dataframe[0].value
    return found


def test_all_models_are_listed_with_latent_attention_last() -> None:
    shown = table(opened(view="models"))
    assert shown["Model"].tolist() == [*(model.name for model in MODELS), "DeepSeek-V2"]
    assert shown["KV heads"].tolist()[-1] == "–"
    assert set(shown["Sharing"]) == {"MHA", "GQA", "MQA", "MLA"}
    assert shown["Source"].str.startswith("https://").all()
    llama = shown[shown["Model"] == "Llama 3.1 8B"].iloc[0]
    assert llama["Cache per token, kB"] == pytest.approx(131.072)
    assert llama["Users in 80 GB"] == 59


@pytest.mark.parametrize(("control", "values"), [("context", (7, 17)), ("number", ("float32", "int8"))])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_control_of_the_models_changes_the_table(
    language: str, control: str, values: tuple[object, object]
) -> None:
    one, other = (table(opened(language=language, view="models", **{control: value})) for value in values)
    assert not one.equals(other)


def test_contexts_that_are_too_long_are_said() -> None:
    assert "Some models read fewer tokens" in words(opened(view="models"))
    assert "Some models read fewer tokens" not in words(opened(view="models", context=10))

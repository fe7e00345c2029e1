"""The page on the whole Transformer: every view and control, in every language, on models built and loaded."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.anatomy import Block, Kind, Side
from core.hidden_tokens import measure_influence
from core.model_pass import Sizes, config_parameters, pass_of_network, pass_through
from core.models import ModelError, ModelProblem
from core.transformer import NormPlace, PositionKind, Stacks, TransformerConfig
from pages.components import shelf, transformer_scene
from pages.components.transformer_blocks import columns_of
from tests.core.test_anatomy import NETWORKS
from tests.pages.apps import charts, checked
from tests.tiny import save_model, tiny_marian, tiny_t5, tiny_tokenizer
from tests.tiny_text import byte_pairs, distilbert, gpt2, word_pieces

LANGUAGES = ("en", "zh_CN")
VIEWS = ("blocks", "costs", "choices", "stream", "families")
SMALL = {"num_layers": "1", "d_model": "32", "heads": "1", "d_ff": "64", "vocab": "1000"}


def opened(*, language: str = "en", **address: str) -> AppTest:
    """The page as it opens at this address in a browser of this language, which must be without errors."""
    app = AppTest.from_string("from pages import transformer; transformer.render()", default_timeout=120)
    app.context["locale"] = language.replace("_", "-")
    for name, value in address.items():
        app.query_params[f"transformer_{name}"] = value
    return checked(app.run())


def spec(app: AppTest) -> str:
    return json.dumps(json.loads(app.get("vega_lite_chart")[0].proto.spec), ensure_ascii=False)


def words(app: AppTest) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


def different(one: dict[str, pd.DataFrame], other: dict[str, pd.DataFrame]) -> bool:
    return any(name not in other or not one[name].equals(other[name]) for name in one)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
def test_opens(language: str, view: str) -> None:
    app = opened(language=language, view=view)
    title = {"en": "The whole Transformer", "zh_CN": "完整的 Transformer"}[language]
    assert f"<h1>{title}</h1>" in words(app)
    assert len(app.get("vega_lite_chart")) == 1  # one figure: see the benchmark
    assert "atlas-claim " in words(app)


# ------------------------------------------------------------------------------------------------- blocks and shapes

OWN_SLIDERS = {
    "num_layers": ("1", "12"),
    "heads": ("0", "4"),
    "d_model": ("16", "1024"),
    "d_ff": ("64", "4096"),
    "vocab": ("1000", "64000"),
    "batch": ("2", "32"),
    "source": ("1", "512"),
    "target": ("1", "512"),
}


@pytest.mark.parametrize("control", OWN_SLIDERS)
@pytest.mark.parametrize("view", ["blocks", "costs"])
def test_every_slider_changes_the_picture(view: str, control: str) -> None:
    first = charts(opened(view=view))
    for value in OWN_SLIDERS[control]:
        assert different(first, charts(opened(view=view, **{control: value})))


@pytest.mark.parametrize(
    ("control", "value"),
    [("stacks", "encoder"), ("stacks", "decoder"), ("norm", "pre"), ("positions", "learnt"), ("tied", "untied")],
)
@pytest.mark.parametrize("view", ["blocks", "costs"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_choice_changes_the_picture(language: str, view: str, control: str, value: str) -> None:
    first, other = (charts(opened(language=language, view=view, **address)) for address in ({}, {control: value}))
    assert different(first, other)


@pytest.mark.parametrize("stacks", [each.value for each in Stacks])
@pytest.mark.parametrize("norm", [each.value for each in NormPlace])
def test_what_is_shown_is_what_is_counted(stacks: str, norm: str) -> None:
    app = opened(stacks=stacks, norm=norm, positions="learnt", tied="untied", **SMALL)
    config = TransformerConfig(
        num_layers=1,
        d_model=32,
        num_heads=2,
        d_ff=64,
        vocab_size=1000,
        max_len=512,
        stacks=Stacks(stacks),
        norm=NormPlace(norm),
        positions=PositionKind.LEARNT,
        tied=False,
    )
    assert f"{config_parameters(config):,} parameters" in words(app)
    cells = charts(app)["table_cells"]
    assert cells.loc[cells["column"] == 0, "value"].sum() == config_parameters(config)
    anatomy = pass_through(config, Sizes(1, 10, 9)).anatomy
    assert cells.loc[cells["column"] == 1, "value"].sum() == anatomy.multiply_adds
    assert "A real pass" in words(app)
    shapes = set(charts(app)["stacks_shapes"]["text"])
    assert {"1 × 10 × 32"} <= shapes if stacks != "decoder" else {"1 × 9 × 32"} <= shapes


def test_a_large_one_says_that_only_shapes_went_through() -> None:
    assert "only shapes went through" in words(opened())


@pytest.mark.parametrize("name", shelf.BUNDLED)
def test_a_bundled_model_is_shown_as_it_is(name: str) -> None:
    app = opened(subject="real", model=name)
    network = shelf.load(name).network
    found = pass_of_network(network, Sizes(1, 10, 9)).anatomy
    assert f"{found.parameters:,} parameters" in words(app)
    assert found.parameters == shelf.load(name).facts.parameters
    cells = charts(app)["table_cells"]
    assert cells.loc[cells["column"] == 0, "value"].sum() == found.parameters


def test_a_click_on_a_block_or_a_row_chooses_it() -> None:
    app = opened(block="decoder.cross_attention")
    assert "Cross-attention · Decoder · 6 layers" in words(app)
    assert "Each token of the target looks" in words(app)
    blocks = charts(app)["stacks_blocks"]
    assert blocks["chosen"].sum() == 1
    norm = opened(block="decoder.norm.cross_attention")
    assert "Normalisation · Decoder · 6 layers" in words(norm)


def test_a_click_in_the_picture_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit calls on_select with what was clicked in the session's state."""
    app = opened(**SMALL)
    blocks = pass_through(TransformerConfig(1, 32, 2, 64, 1000, 512), Sizes(1, 10, 9)).anatomy.in_general()
    number = list(blocks).index(Block(Side.DECODER, Kind.FEED_FORWARD))
    app.session_state["transformer_block"] = "decoder.feed_forward"
    marked = charts(checked(app.run()))["stacks_blocks"]
    assert marked.loc[marked["chosen"] == 1, "n"].tolist() == [number]


@pytest.mark.parametrize(
    "block", ["decoder.cross_attention", "encoder.pooler", "encoder.norm.embedding", "nonsense", "x" * 500]
)
def test_a_block_that_is_not_there_falls_back(block: str) -> None:
    app = opened(stacks="decoder", block=block)
    assert "Masked self-attention · Decoder" in words(app)


@pytest.mark.parametrize("block", ["decoder.output", "encoder.embedding", "encoder.positions", "encoder.feed_forward"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_block_says_what_it_does(language: str, block: str) -> None:
    texts = words(opened(language=language, block=block))
    assert {"en": "What it does", "zh_CN": "作用"}[language] in texts


def test_sizes_travel_with_the_data_and_leave_the_picture_as_it_is() -> None:
    usual, other = opened(), opened(num_layers=3, d_model=64)
    assert spec(usual) == spec(other)
    assert set(charts(usual)["stacks_captions"]["layers"]) == {0, 6}
    assert set(charts(other)["stacks_captions"]["layers"]) == {0, 3}


def test_a_shared_matrix_is_counted_once() -> None:
    assert "18,944,000, shared with the embedding" in words(opened(block="decoder.output"))
    assert "shared with" not in words(opened(block="decoder.output", tied="untied"))


@pytest.mark.parametrize("name", NETWORKS)
def test_every_family_has_a_diagram(name: str) -> None:
    anatomy = pass_of_network(NETWORKS[name](), Sizes(1, 5, 4)).anatomy
    blocks = anatomy.in_general()
    columns = columns_of(anatomy, blocks)
    drawn = [box.number for column in columns for box in (column.embedding, *column.before, *column.after)]
    drawn += [box.number for column in columns for sub in column.layer for box in sub.blocks]
    drawn += [column.positions.number for column in columns if column.positions]
    assert sorted(drawn) == list(range(len(blocks)))
    assert [column.added for column in columns] == [not name.startswith("t5")] * len(columns)


def test_without_a_model_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModelError(ModelProblem.DAMAGED, name)

    monkeypatch.setattr(shelf, "load", missing)
    for view in ("blocks", "costs", "stream"):
        app = AppTest.from_string("from pages import transformer; transformer.render()", default_timeout=120)
        app.query_params.update({"transformer_view": view, "transformer_subject": "real"})
        app.run()
        assert not app.exception
        assert app.error
        assert app.info
        assert not app.get("vega_lite_chart")


FOLDERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "t5": lambda: (tiny_t5(), tiny_tokenizer()),
    "marian": lambda: (tiny_marian(), tiny_tokenizer()),
    "gpt2": lambda: (gpt2(), byte_pairs()),
    "distilbert": lambda: (distilbert(), word_pieces()),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_model_from_a_folder(name: str, tmp_path: Path) -> None:
    save_model(*FOLDERS[name](), tmp_path)
    for view in ("blocks", "costs", "stream"):
        app = opened(view=view, subject="real")
        app.session_state["transformer_model"] = shelf.FOLDER
        app.run()
        app.text_input(key="model.folder").set_value(str(tmp_path)).run()
        checked(app)
        assert len(app.get("vega_lite_chart")) == 1
    assert "The largest step" in words(app)


# ------------------------------------------------------------------------------------------------------------- costs


def test_the_bars_add_up() -> None:
    app = opened(view="costs", **SMALL)
    segments = charts(app)["bars_segments"]
    config = TransformerConfig(1, 32, 2, 64, 1000, 512)
    found = pass_through(config, Sizes(1, 10, 9)).anatomy
    sums = segments.groupby("row")["value"].sum().tolist()
    assert sums[:2] == [found.parameters, found.multiply_adds]
    assert segments.groupby("row")["to"].max().tolist() == pytest.approx([1] * 4)


def test_an_encoder_has_no_cache() -> None:
    app = opened(view="costs", stacks="encoder")
    assert charts(app)["bars_totals"]["text"].tolist()[-1] == "none"
    assert set(charts(app)["memory_curves"]["s"]) == {0, 1}
    assert set(charts(opened(view="costs"))["memory_curves"]["s"]) == {0, 1, 2}


# ------------------------------------------------------------------------------------------------------ three choices


@pytest.mark.parametrize(
    ("control", "values"), [("depth", ("1", "12")), ("d_model", ("16", "1024")), ("vocab", ("1000", "64000"))]
)
def test_every_slider_of_the_choices_changes_the_picture(control: str, values: tuple[str, ...]) -> None:
    first = charts(opened(view="choices"))
    for value in values:
        assert different(first, charts(opened(view="choices", **{control: value})))


def test_the_choices_are_measured() -> None:
    app = opened(view="choices", depth="3")
    found = transformer_scene.SEEDS
    gradients = charts(app)["gradients_curves"]
    assert len(gradients) == 4 * 3
    assert (gradients["low"] <= gradients["y"]).all()
    assert found == 3
    table = charts(app)["tying_cells"]
    config = TransformerConfig(num_layers=3, tied=False, positions=PositionKind.LEARNT)
    assert table.loc[table["column"] == 0, "value"].max() == config_parameters(config)


def test_without_minilm_the_choices_are_shown_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, kinds: object = None) -> None:
        return None

    monkeypatch.setattr(shelf, "loaded", missing)
    app = opened(view="choices")
    assert "not decided" in words(app)
    assert set(charts(app)["likeness_curves"]["s"]) == {0, 1}


# ---------------------------------------------------------------------------------------------------- residual stream


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_token_can_be_looked_at(language: str) -> None:
    first = charts(opened(language=language, view="stream"))
    for control in ("encoder", "decoder"):
        for value in ("1", "9"):
            assert different(first, charts(opened(language=language, view="stream", **{control: value})))


def test_the_stream_of_another_sentence_and_model() -> None:
    first = charts(opened(view="stream"))
    assert different(first, charts(opened(view="stream", french="Il pleut.")))
    app = opened(view="stream", model=shelf.MINILM)
    assert {"stream_encoder_steps", "ratio_encoder_cells", "ratio_encoder_mark"} == set(charts(app))
    assert "A token with much attention" not in words(app)  # there is no translation to move


def test_influence_is_measured_on_this_sentence() -> None:
    app = opened(view="stream")
    model = shelf.load(shelf.ATLAS)
    ids = model.tokenizer("Le chat noir dort dans le jardin.").input_ids
    said = model.tokenizer("The black cat is sleeping in the garden.").input_ids
    found = measure_influence(model, ids, said).correlation
    assert f"On this sentence: {found:.2f}." in words(app)
    assert "12 sentences" in words(app)


@pytest.mark.parametrize("text", ["", "   ", "a", "🙂", "mot " * 99, "<pad> </s>", "عربي", "\u202e"])
@pytest.mark.parametrize("model", shelf.BUNDLED)
def test_any_text_is_read_or_answered_with_a_sentence(model: str, text: str) -> None:
    name = "french" if model == shelf.ATLAS else "sentence"
    app = opened(view="stream", model=model, **{name: text})
    assert app.info or len(app.get("vega_lite_chart")) == 1
    if len(text) > 300:
        assert "was cut after 20 tokens" in words(app)


# ------------------------------------------------------------------------------------------------- families and masks


@pytest.mark.parametrize("family", [each.value for each in Stacks])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_family_has_its_masks(language: str, family: str) -> None:
    app = opened(language=language, view="families", family=family)
    names = {name.removesuffix("_cells") for name in charts(app) if name.endswith("_cells")}
    expected = {"both": {"encoder", "decoder", "cross"}, "encoder": {"encoder"}, "decoder": {"decoder"}}
    assert names == expected[family]
    first = charts(app)
    for control, value in (("row", "2"), ("position", "1")):
        assert different(first, charts(opened(language=language, view="families", family=family, **{control: value})))


def test_the_models_of_each_family_are_named() -> None:
    assert "atlas-fr-en, t5-small" in words(opened(view="families"))
    assert "gpt2, distilgpt2" in words(opened(view="families", family="decoder"))
    assert "minilm" in words(opened(view="families", family="encoder"))


def test_padding_is_hidden_and_says_so() -> None:
    app = opened(view="families", row="2", position="5")
    assert "It is padding itself" in words(app)
    cells = charts(app)["cross_cells"]
    assert not cells.loc[cells["k"] >= 2, "attend"].any()
    assert "only as keys" in words(app)
    assert "torch refuses" in words(app)


def test_sentences_of_one_length_have_no_padding() -> None:
    app = opened(view="families", texts="a b\nc d", written="x y\nz w")
    assert "This batch has no padding" in words(app)
    assert words(app).count("not decided") == 2


@pytest.mark.parametrize(
    ("texts", "written"),
    [
        ("", ""),
        ("a", ""),
        ("\n\n", "x"),
        ("a\nb\nc\nd", "x"),
        ("w " * 60, "x"),
        ("我爱你", "I love you"),
        ("<b>", "</b>"),
        ("<pad> a\nb", "x\ny"),
    ],
)
def test_any_texts_are_read_or_answered_with_a_sentence(texts: str, written: str) -> None:
    app = opened(view="families", texts=texts, written=written)
    assert app.info or len(app.get("vega_lite_chart")) == 1
    assert "<b><" not in words(app)


# -------------------------------------------------------------------------------------------- addresses, presets, folds


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("fold", ["formula", "code", "downloads", "reading"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_folded_parts_open(language: str, view: str, fold: str) -> None:
    app = AppTest.from_string("from pages import transformer; transformer.render()", default_timeout=120)
    app.context["locale"] = language.replace("_", "-")
    app.query_params["transformer_view"] = view
    app.session_state[f"transformer_{view}.opened"] = fold
    checked(app.run())


@pytest.mark.parametrize("name", list(OWN_SLIDERS))
@pytest.mark.parametrize("value", ["nonsense", "-5", "1e9", "nan"])
def test_a_bad_address_is_answered_with_a_sentence(name: str, value: str) -> None:
    assert "The address asks for" in words(opened(**{name: value}))


def test_presets_ask_for_what_there_is() -> None:
    script = """
    import streamlit as st
    from pages.components.transformer_scene import presets
    st.session_state["found"] = presets()
    """
    found = AppTest.from_string(script).run().session_state["found"]
    assert len(found) == 3
    first = charts(opened())
    for values in found.values():
        app = opened(**{name: str(value) for name, value in values.items()})
        assert "The address asks for" not in words(app)
        assert different(first, charts(app))


@pytest.mark.parametrize(
    ("block", "page"), [("encoder.self_attention", "Attention heads"), ("decoder.self_attention", "Masks")]
)
def test_links_lead_to_the_page_of_the_block(block: str, page: str) -> None:
    (link,) = opened(block=block).get("page_link")
    assert link.proto.label.endswith(page)


def test_a_normalisation_leads_to_the_choices() -> None:
    app = opened(block="encoder.norm.feed_forward")
    app.button(key="transformer.blocks.more").click().run()
    checked(app)
    assert app.session_state["transformer_view"] == "choices"

"""The heads page: every view and control, in every language, on the bundled model."""

import json
import re
from functools import partial
from typing import Any

import pytest
import torch

from core.decoding import translate
from core.heads_gallery import HeadName, Kind
from core.heads_loss import HeadCost, HeadCosts, rank_heads
from core.heads_off import all_heads, switch_off
from core.models import ModelError, ModelProblem, TranslationModel
from pages.components import heads_model, heads_off, heads_without, translator
from tests.pages import apps
from tests.pages.apps import changed, charts, checked, presets, take_preset, words

LANGUAGES = ("en", "zh_CN")
VIEWS = ("split", "made", "gallery", "off")
BOY = "Le garçon lit parce qu'il aime les livres."


@pytest.fixture(autouse=True)
def _nothing_is_ranked() -> None:
    heads_without.rankings().clear()


opened = partial(apps.opened, "heads")


def model() -> TranslationModel:
    return translator.load(translator.BUNDLED)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
def test_opens(language: str, view: str) -> None:
    app = opened(language=language, view=view)
    title = {"en": "Attention heads", "zh_CN": "注意力头"}[language]
    assert f"<h1>{title}</h1>" in words(app)
    assert len(app.get("vega_lite_chart")) == 1  # one figure: see the benchmark
    assert "atlas-claim " in words(app)


# ------------------------------------------------------------------------------------------------- split and merge


@pytest.mark.parametrize(
    ("control", "values"),
    [
        ("num_heads", ("1", "4", "12")),
        ("head", ("1", "4")),
        ("seed", ("0", "99")),
        ("d_model", ("8", "12", "16")),
        ("words", ("The cat sat", "a")),
    ],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_control_of_the_split_changes_the_picture(language: str, control: str, values: tuple[str, ...]) -> None:
    first, *others = (charts(opened(language=language, **{control: value})) for value in values)
    assert all(changed(first, other) for other in others)


@pytest.mark.parametrize("d_model", ["8", "12", "16"])
def test_only_legal_numbers_of_heads_are_offered(d_model: str) -> None:
    app = opened(d_model=d_model)
    (offered,) = (box.options for box in app.selectbox if box.key == "heads_num_heads.en")
    assert [int(count) for count in offered] == [n for n in range(1, 17) if int(d_model) % n == 0]
    for count in offered:
        app = opened(d_model=d_model, num_heads=count)
        assert f"{d_model} = {count} × {int(d_model) // int(count)}" in charts(app)["board_labels"]["text"].tolist()


def test_the_number_of_heads_does_not_change_the_parameters() -> None:
    said = {count: words(opened(num_heads=count)) for count in ("1", "6", "12")}
    assert all("have 576 parameters (144 each)" in text for text in said.values())
    assert "576 parameters for 1, 2, 3, 4, 6, 12 heads" in said["1"]
    assert "does not hold" in said["1"]


def test_the_printed_numpy_code_is_run() -> None:
    assert "axes don&#x27;t match array" in words(opened())
    assert "2 × 8 × 10 × 10" in words(opened())


def test_fewer_heads_take_back_the_chosen_one() -> None:
    app = opened(num_heads="12", head="12")
    assert app.slider(key="heads_head").value == 12
    app.session_state["heads_num_heads"] = "2"
    assert checked(app.run()).slider(key="heads_head").value == 2


# ------------------------------------------------------------------------------------------------- hand-made heads


@pytest.mark.parametrize("language", LANGUAGES)
def test_hand_made_heads_say_so(language: str) -> None:
    app = opened(language=language, view="made")
    spec = json.dumps(json.loads(app.get("vega_lite_chart")[0].proto.spec), ensure_ascii=False)
    assert spec.count({"en": "Made by hand", "zh_CN": "手工编写"}[language]) == 3
    assert charts(app)["grammar_cells"]["value"].tolist() == pytest.approx(
        [0.1, 0.8, 0.1, 0.4, 0.1, 0.5, 0.1, 0.8, 0.1]
    )
    assert charts(app)["pronoun_bars"]["weight"].iloc[0] == pytest.approx(0.85)


def test_the_measured_head_is_the_one_that_comes_closest() -> None:
    trace = translate(model(), BOY)
    tokens = trace.source_tokens
    weights = trace.encoder_attention[:, :, tokens.index("▁il"), tokens.index("▁garçon")]
    layer, head = divmod(int(weights.argmax()), weights.shape[1])
    app = opened(view="made")
    assert f"E{layer + 1}.{head + 1} lets “il” look most at “garçon”, with {float(weights.max()):.0%}" in words(app)
    assert charts(app)["measured_bars"]["weight"].max() >= float(weights.max()) - 1e-6


# --------------------------------------------------------------------------------------------------- a real model


@pytest.mark.parametrize(
    ("control", "values"),
    [
        ("measure", ("entropy", "distance", "previous", "next", "same", "first", "punctuation")),
        ("smallest", ("false", "true")),
        ("kind", ("encoder", "decoder", "cross")),
        ("layer", ("1", "3")),
        ("head_no", ("1", "4")),
        ("sentence", ("Le chat noir dort dans le jardin.", BOY)),
    ],
)
def test_every_control_of_the_gallery_changes_the_picture(control: str, values: tuple[str, ...]) -> None:
    first, *others = (charts(opened(view="gallery", **{control: value})) for value in values)
    assert all(changed(first, other) for other in others)


def test_all_heads_are_there_in_the_order_of_the_measure() -> None:
    frames = charts(opened(view="gallery", measure="entropy"))
    assert len(frames["maps_heads"]) == len(all_heads(model())) == 36
    first_row = frames["table_cells"].query("row == 0").sort_values("column")["value"].tolist()
    assert first_row == sorted(first_row, reverse=True)
    upwards = charts(opened(view="gallery", measure="entropy", smallest="true"))
    assert upwards["table_cells"].query("row == 0").sort_values("column")["value"].tolist() == first_row[::-1]


def test_a_sentence_about_the_order_has_its_unit_once() -> None:
    said = re.search(r"Sorted by “(.*?)”: \S+ stands first, with (.*?)\.<", words(opened(view="gallery")))
    assert said is not None
    assert said[1] == "the previous token"
    assert re.fullmatch(r"\d+%", said[2])
    assert "Sorted by “entropy, bits”" in words(opened(view="gallery", measure="entropy"))


def test_long_texts_are_quoted_in_part() -> None:
    assert f"There is no head called “{'x' * 40}…”" in words(opened(view="off", off="x" * 200))
    assert "On “le chat et le chat et le chat et le chat" in words(opened(view="gallery", sentence="le chat et " * 9))


def test_the_chosen_head_is_drawn_large() -> None:
    trace = translate(model(), BOY)
    frames = charts(opened(view="gallery", sentence=BOY, kind="cross", layer="2", head_no="3"))
    assert torch.tensor(frames["large_cells"]["value"].to_numpy()).equal(trace.cross_attention[1, 2].flatten())


def test_claims_about_real_heads() -> None:
    said = words(opened(view="gallery"))
    assert "of 36 heads put more than 50% of their weight on one place" in said
    assert "One head has rank 8 to 12" in said
    assert "does not hold" in said


# ------------------------------------------------------------------------------------------------------ switched off


def test_a_head_that_is_off_is_off_everywhere() -> None:
    on, off = opened(view="off", sentence=BOY), opened(view="off", sentence=BOY, off="C3.1, c3.2 C3.3;C3.4 C3.1")
    heads = [HeadName(Kind.CROSS, 2, head) for head in range(4)]
    said = translate(switch_off(model(), heads), BOY).text
    assert said != translate(model(), BOY).text
    assert said in words(off)
    assert said not in words(on)
    assert charts(off)["maps_heads"]["off"].sum() == 4
    assert charts(on)["maps_heads"]["off"].sum() == 0
    shifts = charts(off)["next_shifts"]
    assert (shifts["before"] != shifts["after"]).any()
    assert (charts(on)["next_shifts"]["before"] == charts(on)["next_shifts"]["after"]).all()
    assert "Off: C3.1, C3.2, C3.3, C3.4." in words(off)
    # and the shared model says what it said before
    assert said not in words(opened(view="off", sentence=BOY))
    assert said not in words(opened(view="gallery", sentence=BOY))


def test_losses_are_those_of_the_heads_that_are_off() -> None:
    name = model().name
    one, two = ((HeadName(Kind.CROSS, 2, 0),), (HeadName(Kind.CROSS, 2, 0), HeadName(Kind.ENCODER, 0, 0)))
    losses = [heads_without.loss(model(), name, off) for off in ((), one, two)]
    assert losses[0] < losses[1] < losses[2]
    assert f"from {losses[0]:.3f} to {losses[2]:.3f}" in words(opened(view="off", off="E1.1 C3.1"))


def test_steps_have_next_tokens_of_their_own() -> None:
    first, last = (charts(opened(view="off", off="C3.1", step=step)) for step in ("1", "5"))
    assert changed(first, last)


@pytest.mark.parametrize("listed", ["Z9", "E9.9", "E1.1 <b>", "E0.0", "😀", "E1.99"])
def test_what_names_no_head_is_said(listed: str) -> None:
    app = opened(view="off", off=listed)
    assert "There is no head called" in words(app)
    assert "<b>”" not in words(app)


def test_names_are_read_as_they_are_written() -> None:
    found, wrong = heads_model.named(" ".join(map(heads_model.short, all_heads(model()))), model())
    assert found == all_heads(model())
    assert wrong == ()
    assert heads_model.named("d2.1，E1.3、x", model()) == (
        (HeadName(Kind.ENCODER, 0, 2), HeadName(Kind.DECODER, 1, 0)), ("x",),
    )  # fmt: skip


def test_all_heads_can_be_off() -> None:
    opened(view="off", off=" ".join(map(heads_model.short, all_heads(model()))))


def test_a_ranking_is_asked_for_and_then_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(view="off")
    assert "rank all heads" in words(app)
    assert "costs_bars" not in charts(app)
    costs = tuple(HeadCost(name, 1.0 - i / 100, 0.3 - i / 100) for i, name in enumerate(reversed(all_heads(model()))))
    heads_without.rankings()[model().name] = HeadCosts(pairs=100, tokens=700, loss=0.5, heads=costs)
    app = checked(app.run())
    bars = charts(app)["costs_bars"]
    assert bars["head"].tolist() == list(range(35, -1, -1))
    assert "6 of 36 cost less than 1% of the loss" in words(app)
    assert not [button for button in app.button if button.key == "heads.ranking.start"]


def test_a_ranking_is_measured_once_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def measured(shared: TranslationModel, pairs: Any, **settings: Any) -> HeadCosts:
        asked.append(shared)
        return rank_heads(shared, pairs[:2], **settings)

    monkeypatch.setattr(heads_off, "rank_heads", measured)
    app = opened(view="off")
    app.button(key="heads.ranking.start").click()
    app = checked(app.run())
    app.session_state["heads.ranking"].finished.wait(60)
    app = checked(app.run())
    assert len(charts(app)["costs_bars"]) == 36
    assert "costs_bars" in charts(opened(view="off"))
    assert asked == [model()]


# ------------------------------------------------------------------------------------------------- anything typed


ODD = [
    "😀😀😀",
    "مرحبا بالعالم",
    "<script>alert(1)</script> <b>gras</b>",
    "猫",
    "\u202eenvers",
    "▁ </s> <pad>",
    "'",
    "a" * 10_000,
]


@pytest.mark.parametrize("sentence", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("view", ["split", "gallery", "off"])
def test_odd_sentences_get_an_answer(view: str, sentence: str) -> None:
    name = "words" if view == "split" else "sentence"
    app = opened(view=view, **{name: sentence})
    assert "<script>" not in words(app)
    assert "<b>gras" not in words(app)
    assert charts(app)


@pytest.mark.parametrize("sentence", ["", "   ", "\u200b"])
@pytest.mark.parametrize("view", ["split", "gallery", "off"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_typed(view: str, sentence: str, language: str) -> None:
    name = "words" if view == "split" else "sentence"
    app = opened(language=language, view=view, **{name: sentence})
    assert not charts(app)
    assert len(app.info) == 1


def test_long_sentences_are_cut_and_drawn_coarsely() -> None:
    app = opened(view="gallery", sentence="le chat et " * 80)
    assert "cut after 64 tokens" in words(app)
    assert "small maps stands for up to" in words(app)
    assert len(charts(app)["maps_cells"]) <= 36 * heads_model.SMALL**2
    assert "cut after 8 tokens" in words(opened(words="one two three four five six seven eight nine"))


@pytest.mark.parametrize(
    "address",
    [
        {"num_heads": "5"},
        {"num_heads": "12", "d_model": "8"},
        {"d_model": "13"},
        {"head": "99"},
        {"seed": "-1"},
        {"view": "<b>"},
        {"view": "gallery", "measure": "beauty"},
        {"view": "gallery", "layer": "7"},
        {"view": "off", "step": "0"},
    ],
)
def test_an_impossible_address_falls_back_and_says_so(address: dict[str, str]) -> None:
    app = opened(**address)
    assert "atlas-refused" in words(app)
    assert "<b>”" not in words(app)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
def test_presets_and_reset(view: str, language: str) -> None:
    app = opened(view=view, language=language)
    before = charts(app)
    labels = presets(app)
    assert len(labels) == 3
    seen = []
    for label in labels:
        app = take_preset(app, label)
        seen.append(charts(app))
    assert all(changed(one, before) for one in seen)
    app.button(key="heads.reset").click()
    app = checked(app.run())
    assert bool(changed(charts(app), before)) == (view != "split")


@pytest.mark.parametrize("part", ["formula", "code", "downloads", "reading"])
@pytest.mark.parametrize("view", VIEWS)
def test_the_folded_parts_open(view: str, part: str) -> None:
    app = opened(view=view)
    app.session_state[f"heads_{view}.opened"] = part
    checked(app.run())


def test_a_damaged_model_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(name: str) -> TranslationModel:
        raise ModelError(ModelProblem.DAMAGED, "damaged")

    monkeypatch.setattr(translator, "load", damaged)
    for view in ("made", "gallery", "off"):
        app = apps.begun("heads", view=view)
        assert not app.exception
        assert len(app.main.error) == 1
        assert not app.info  # no sentence would help

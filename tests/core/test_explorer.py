"""Reading with real models: transformers' own attentions, texts of any length, rollout, sinks, senses."""

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from torch import Tensor

from core import models
from core.claims.explorer import measure_share
from core.decoding import translate
from core.explorer import Reading, read, read_ids, run, with_translation, written
from core.explorer_hide import hide_each, rank_correlation, received
from core.explorer_maps import Together, rank_heads, rollout, shown_map, strongest_pairs
from core.explorer_senses import cosines, find_word, looks, most_seen, word_vectors
from core.explorer_sinks import Sink, measure_sinks, which_sinks
from core.explorer_snippets import attention
from core.explorer_writing import continue_text
from core.heads_gallery import Kind
from core.models import AnyModel, TextModel
from core.models import Kind as Halves
from tests import tiny, tiny_text

TEXT = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], AnyModel]:
    makers = {
        "bert": (tiny_text.bert, tiny_text.word_pieces),
        "distilbert": (tiny_text.distilbert, tiny_text.word_pieces),
        "gpt2": (tiny_text.gpt2, tiny_text.byte_pairs),
        "t5": (tiny.tiny_t5, tiny.tiny_tokenizer),
    }
    made: dict[str, AnyModel] = {}

    def make(name: str) -> AnyModel:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            tiny.save_model(makers[name][0](), makers[name][1](), folder)
            made[name] = models.load_any(str(folder))
        return made[name]

    return make


@pytest.fixture(scope="module")
def minilm() -> AnyModel:
    return models.load_any("minilm")


@pytest.fixture(scope="module")
def atlas() -> models.TranslationModel:
    return models.load("atlas-fr-en")


def reading_of(model: AnyModel, text: str = TEXT, pair: str | None = None) -> Reading:
    reading = read(model, text, pair)
    assert reading is not None
    return reading


# --------------------------------------------------------------------------------------------------------------- read


def test_the_attentions_of_minilm_are_those_of_transformers(minilm: AnyModel) -> None:
    for pair in (None, "It slept."):
        reading = reading_of(minilm, TEXT, pair)
        texts = [TEXT] if pair is None else [TEXT, pair]
        batch = minilm.tokenizer(*texts, return_tensors="pt")
        with torch.no_grad():
            out = minilm.network(**batch, output_attentions=True, output_hidden_states=True)
        assert list(reading.ids) == batch.input_ids[0].tolist()
        assert list(reading.parts) == batch.token_type_ids[0].tolist()
        torch.testing.assert_close(reading.maps[0].weights, torch.cat(out.attentions), rtol=0, atol=0)
        torch.testing.assert_close(reading.states, torch.cat(out.hidden_states), rtol=0, atol=0)


def test_the_attentions_of_the_bundled_model_are_those_of_transformers(atlas: models.TranslationModel) -> None:
    text = "Le chat noir dort dans le jardin."
    trace = translate(atlas, text)
    reading = with_translation(reading_of(atlas, text), trace)
    source = atlas.tokenizer(text, return_tensors="pt").input_ids
    said = torch.tensor([[trace.start_id, *trace.token_ids[:-1]]])
    with torch.no_grad():
        out = atlas.network(input_ids=source, decoder_input_ids=said, output_attentions=True, use_cache=False)
    for kind, theirs in (
        (Kind.ENCODER, out.encoder_attentions),
        (Kind.DECODER, out.decoder_attentions),
        (Kind.CROSS, out.cross_attentions),
    ):
        torch.testing.assert_close(reading.of(kind).weights, torch.cat(theirs), rtol=0, atol=2e-6)


@pytest.mark.parametrize("name", ["bert", "distilbert", "gpt2", "t5"])
def test_every_family_can_be_read(name: str, small: Callable[[str], AnyModel]) -> None:
    model = small(name)
    reading = reading_of(model, "The black cat is sleeping.")
    weights = reading.maps[0].weights
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))
    assert weights.shape[2:] == (len(reading.ids),) * 2
    assert reading.states.shape[:2] == (weights.shape[0] + 1, len(reading.ids))
    assert len(reading.tokens) == len(reading.places) == len(reading.special) == len(reading.ids)
    decoder = name == "gpt2"
    assert (reading.maps[0].kind is Kind.DECODER) is decoder
    assert (float(weights.triu(1).abs().max()) == 0) is decoder


def test_only_kinds_that_there_are(minilm: AnyModel) -> None:
    with pytest.raises(ValueError, match=r"kind \(cross\) must be one of encoder"):
        reading_of(minilm).of(Kind.CROSS)


def test_only_encoders_take_a_pair(small: Callable[[str], AnyModel]) -> None:
    with pytest.raises(ValueError, match=r"pair .* must be None for a model that is no encoder"):
        read(small("gpt2"), "a", "b")
    with pytest.raises(ValueError, match=r"most_tokens \(4\) must be at least 5"):
        read(small("gpt2"), "a", most_tokens=4)


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "\n"])
def test_a_text_without_tokens(text: str, minilm: AnyModel) -> None:
    assert read(minilm, text) is None


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
@settings(max_examples=25, deadline=None)
@given(text=st.text(max_size=300), most=st.integers(5, 40))
def test_any_text_has_no_more_tokens_than_there_is_room_for(
    name: str, text: str, most: int, small: Callable[[str], AnyModel]
) -> None:
    reading = read(small(name), text, most_tokens=most)
    assert reading is None or 1 <= len(reading.ids) <= most


@settings(max_examples=15, deadline=None)
@given(text=st.text(max_size=120), pair=st.text(max_size=120), most=st.integers(5, 30))
def test_any_pair_has_no_more_tokens_than_there_is_room_for(
    text: str, pair: str, most: int, small: Callable[[str], AnyModel]
) -> None:
    reading = read(small("bert"), text, pair, most_tokens=most)
    assert reading is None or (len(reading.ids) <= most and reading.ids.count(3) >= 2)


def test_of_a_long_text_the_beginning_is_read(minilm: AnyModel) -> None:
    long = reading_of(minilm, "word " * 500)
    assert (len(long.ids), long.was_cut) == (128, True)
    assert long.texts == (" ".join(["word"] * 126),)
    assert not reading_of(minilm).was_cut
    both = reading_of(minilm, "a " * 300, "b " * 20)
    assert (len(both.ids), sum(both.parts)) == (128, 21)  # the shorter one whole, with its separator
    assert len(reading_of(minilm, "a " * 300, "b " * 300).ids) == 128


def test_tokens_are_written_alike_whatever_the_tokenizer(minilm: AnyModel, small: Callable[[str], AnyModel]) -> None:
    assert reading_of(minilm, "Embeddings!").tokens == ("[CLS]", "▁em", "bed", "ding", "s", "▁!", "[SEP]")
    assert "".join(reading_of(small("gpt2"), "The black cat").tokens).replace("▁", " ") == " The black cat"
    half = small("gpt2").tokenizer("é").input_ids[:1]
    assert written(small("gpt2").tokenizer, half, [False]) != ("\ufffd",)
    assert written(small("gpt2").tokenizer, [0], [True]) == (tiny_text.END,)


# --------------------------------------------------------------------------------------------------------------- maps


def random_weights(*shape: int) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)


def test_heads_seen_together() -> None:
    weights = random_weights(3, 2, 5, 7)
    assert torch.equal(shown_map(weights, Together.HEAD, layer=2, head=1), weights[2, 1])
    torch.testing.assert_close(shown_map(weights, Together.MEAN, layer=1), (weights[1, 0] + weights[1, 1]) / 2)
    assert torch.equal(shown_map(weights, Together.MAXIMUM, layer=0), torch.maximum(weights[0, 0], weights[0, 1]))
    for name, arguments in (("layer", {"layer": 3}), ("head", {"layer": 0, "head": -1})):
        with pytest.raises(ValueError, match=rf"{name} \(-?\d\) must be between 0 and"):
            shown_map(weights, Together.HEAD, **arguments)
    with pytest.raises(ValueError, match=r"seq_q \(5\) must equal seq_k \(7\)"):
        shown_map(weights, Together.ROLLOUT, layer=0)


def test_rollout_by_hand() -> None:
    """Two layers of one head: the first swaps two tokens, the second looks at the first token only."""
    swap, first = torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    one, two = rollout(torch.stack([swap, first])[:, None]).tolist()
    assert one == [[0.5, 0.5], [0.5, 0.5]]
    assert two == [[0.5, 0.5], [0.5, 0.5]]
    assert rollout(torch.stack([first, swap])[:, None])[1].tolist() == [[0.75, 0.25], [0.75, 0.25]]


def test_rollout_is_the_product_of_the_paper() -> None:
    weights = random_weights(4, 3, 5, 5)
    expected = np.eye(5)
    for layer in weights.double().numpy():
        expected = (0.5 * layer.mean(axis=0) + 0.5 * np.eye(5)) @ expected
    found = rollout(weights)
    np.testing.assert_allclose(found[-1], expected, rtol=1e-12)
    torch.testing.assert_close(found.sum(dim=-1), torch.ones(4, 5, dtype=torch.float64))


def test_heads_in_order() -> None:
    weights = random_weights(3, 2, 5, 7)
    ranked = rank_heads(weights, 4, 6)
    assert [each.weight for each in ranked] == sorted((float(w) for w in weights[:, :, 4, 6].flatten()), reverse=True)
    best = ranked[0]
    assert best.weight == float(weights[best.layer, best.head, 4, 6])
    assert best.rank == 1 + int((weights[best.layer, best.head, 4] > best.weight).sum())
    equal = rank_heads(torch.full((2, 2, 1, 1), 1.0), 0, 0)
    assert [(each.layer, each.head) for each in equal] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for name, query, key in (("query", 5, 0), ("key", 0, 7)):
        with pytest.raises(ValueError, match=rf"{name} \({max(query, key)}\) must be between 0 and"):
            rank_heads(weights, query, key)


def test_where_the_largest_weight_lies() -> None:
    weights = torch.zeros(1, 2, 3, 5)
    weights[0, 0, 2, 4] = weights[0, 1, 1, 0] = 1.0
    assert strongest_pairs(weights).tolist() == [[[2, 4], [1, 0]]]


# -------------------------------------------------------------------------------------------------------------- sinks


def test_which_tokens_are_sinks() -> None:
    tokens, special = ["[CLS]", "▁a", "▁.", "▁b", "。", "[SEP]", "[SEP]"], [True, *[False] * 4, True, True]
    assert which_sinks(tokens, special) == (Sink.START, None, Sink.STOP, None, Sink.STOP, Sink.END, Sink.END)
    assert which_sinks(["▁The", "▁cat"], [False, False]) == (Sink.FIRST, None)


def test_shares_of_sinks_by_hand() -> None:
    weights = torch.tensor([[[[0.5, 0.3, 0.2], [0.7, 0.1, 0.2]]]])  # one layer, one head, two queries, three keys
    found = measure_sinks(weights, [Sink.START, None, Sink.END])
    assert found.shares[:, 0].tolist() == pytest.approx([0.6, 0.2, 0.0, 0.0])
    assert (found.together, found.even, found.of(Sink.START)) == pytest.approx((0.8, 2 / 3, 0.6))
    assert found.heads.tolist() == [[pytest.approx(0.8)]]
    causal = measure_sinks(torch.ones(1, 1, 3, 3).tril() / 3, [Sink.FIRST, None, None], causal=True)
    assert causal.even == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    with pytest.raises(ValueError, match=r"sinks \(1\) must be as many as the keys \(3\)"):
        measure_sinks(weights, [None])


def test_sinks_of_minilm_get_more_than_their_even_share(minilm: AnyModel) -> None:
    share = measure_share(reading_of(minilm))
    assert share.together > 2 * share.even
    assert share.largest <= 1 + 1e-6


# --------------------------------------------------------------------------------------------------------------- hide


def test_nobody_looks_at_a_hidden_token(small: Callable[[str], AnyModel]) -> None:
    for name in ("bert", "distilbert", "gpt2", "t5"):
        model = small(name)
        reading = reading_of(model, "The black cat is sleeping.")
        states, weights = run(model, reading.ids, reading.parts, hidden=2)
        visible = weights[:, :, 3:, 2] if name == "gpt2" else weights[..., 2]
        assert float(visible.abs().max()) == 0
        assert not torch.equal(states[-1, -1], reading.states[-1, -1])


def test_attention_received_by_hand() -> None:
    weights = torch.tensor([[[[0.5, 0.5, 0.0], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]]])
    assert received(weights, causal=False).tolist() == pytest.approx([0.15, 0.4, 0.1])
    lower = torch.tensor([[[[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.1, 0.3, 0.6]]]])
    assert received(lower, causal=True).tolist() == pytest.approx([0.25, 0.3, 0.0])


def test_hiding_an_encoder_s_token_moves_the_mean_of_the_others(minilm: AnyModel) -> None:
    reading = reading_of(minilm, "The cat sat.")
    found = hide_each(minilm, reading)
    batch = minilm.tokenizer("The cat sat.", return_tensors="pt")
    for place in (0, 2):
        batch["attention_mask"] = torch.ones_like(batch.input_ids)
        with torch.no_grad():
            before = minilm.network(**batch).last_hidden_state[0].double()
            batch["attention_mask"][0, place] = 0
            after = minilm.network(**batch).last_hidden_state[0].double()
        keep = [other for other in range(len(before)) if other != place]
        old, new = before[keep].mean(dim=0), after[keep].mean(dim=0)
        assert found[place].moved == pytest.approx(float((new - old).norm() / old.norm()), rel=1e-5)
    assert [each.place for each in found if each.special] == [0, len(reading.ids) - 1]


def test_hiding_a_decoder_s_token_moves_the_next_token(small: Callable[[str], AnyModel]) -> None:
    model = small("gpt2")
    reading = reading_of(model, "The black cat is sleeping")
    found = hide_each(model, reading)
    assert all(0 <= each.moved <= 1 for each in found)
    mask = torch.ones(1, len(reading.ids), dtype=torch.long)
    mask[0, 1] = 0
    with torch.no_grad():
        logits = [
            model.network(input_ids=torch.tensor([reading.ids]), attention_mask=each).logits[0, -1].double().softmax(0)
            for each in (torch.ones_like(mask), mask)
        ]
    assert found[1].moved == pytest.approx(float((logits[0] - logits[1]).abs().sum() / 2), rel=1e-5)


def test_hiding_can_be_watched_and_stopped(minilm: AnyModel) -> None:
    reading, seen = reading_of(minilm, "The cat sat."), list[tuple[int, int]]()
    hide_each(minilm, reading, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(place, 6) for place in range(6)]
    assert hide_each(minilm, reading, cancelled=lambda: True) == ()


def test_one_token_alone_is_not_hidden(small: Callable[[str], AnyModel]) -> None:
    assert hide_each(small("gpt2"), reading_of(small("gpt2"), "a")) == ()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3)), min_size=2, max_size=12))
def test_rank_correlation_is_spearman_s(pairs: list[tuple[int, int]]) -> None:
    one, other = (torch.tensor(values, dtype=torch.float64) for values in zip(*pairs, strict=True))
    found = rank_correlation(one, other)
    if len(set(one.tolist())) == 1 or len(set(other.tolist())) == 1:
        assert found is None
    else:
        assert found == pytest.approx(float(spearmanr(one, other).statistic), abs=1e-12)


def test_rank_correlation_needs_as_many_of_both() -> None:
    with pytest.raises(ValueError, match=r"one \(2,\) and other \(3,\) must be of one shape"):
        rank_correlation(torch.zeros(2), torch.zeros(3))


# ------------------------------------------------------------------------------------------------------------- senses


def test_words_are_found_as_wholes(minilm: AnyModel, atlas: models.TranslationModel) -> None:
    text = "The bankers at the Bank sat on a bank."
    reading = reading_of(minilm, text)
    (place,) = find_word(reading, text, "bank")
    assert reading.tokens[place] == "▁bank"
    assert reading.places[place] == (19, 23)
    assert find_word(reading, text, "banker") == ()
    assert find_word(reading, text, "") == find_word(reading, text, "river") == ()
    pieces = reading_of(minilm, "I like embeddings.")
    assert len(find_word(pieces, "I like embeddings.", "embeddings")) == 4
    french = reading_of(atlas, "L'avocat parle.")
    assert [french.tokens[place] for place in find_word(french, "L'avocat parle.", "avocat")] == ["▁avocat"]


def test_a_word_is_looked_for_in_the_first_text_only(minilm: AnyModel) -> None:
    reading = reading_of(minilm, "He sat.", "A bank.")
    assert find_word(reading, "He sat.", "bank") == ()


def test_vectors_and_looks_of_a_word(minilm: AnyModel) -> None:
    reading = reading_of(minilm)
    vectors = word_vectors(reading, (2, 3))
    torch.testing.assert_close(vectors, (reading.states[:, 2] + reading.states[:, 3]) / 2)
    torch.testing.assert_close(cosines(vectors, vectors), torch.ones(7, dtype=torch.float64))
    torch.testing.assert_close(cosines(vectors, -2 * vectors), -torch.ones(7, dtype=torch.float64))
    torch.testing.assert_close(looks(reading, (3,)), reading.maps[0].weights[:, :, 3])
    with pytest.raises(ValueError, match="must hold at least one token"):
        word_vectors(reading, ())


def test_what_a_word_looks_at_most() -> None:
    weights = torch.tensor([0.4, 0.3, 0.2, 0.1])
    assert most_seen(weights, (1,), [True, False, False, False]) == 2
    assert most_seen(weights, (1, 2, 3), [True, False, False, False]) is None


# ------------------------------------------------------------------------------------------------------------ writing


def test_a_decoder_continues_as_generate_does(small: Callable[[str], AnyModel]) -> None:
    model = small("gpt2")
    assert isinstance(model, TextModel)
    text = "The black cat"
    ids = model.tokenizer(text, return_tensors="pt").input_ids
    said = model.network.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=9, do_sample=False, pad_token_id=0
    )[0].tolist()
    found = continue_text(model, text, 9)
    assert list(found.ids) == said
    with torch.no_grad():
        logits = model.network(input_ids=torch.tensor([said])).logits[0].double().softmax(dim=-1)
    start = ids.shape[1]
    for number, step in enumerate(found.steps):
        assert step.chosen.token_id == said[start + number]
        assert step.chosen.probability == pytest.approx(float(logits[start + number - 1].max()), rel=1e-4)
        assert len(step.candidates) == 10
    again = read_ids(model, [text], found.ids)
    assert again.ids == found.ids
    assert len(again.tokens) == again.maps[0].weights.shape[-1] == len(said)


def test_a_text_that_is_over(small: Callable[[str], AnyModel]) -> None:
    model = small("gpt2")
    assert isinstance(model, TextModel)
    first = continue_text(model, "The black cat", 1).steps[0].chosen
    tokenizer = copy.deepcopy(model.tokenizer)
    tokenizer.eos_token = tokenizer.convert_ids_to_tokens(first.token_id)
    found = continue_text(replace(model, tokenizer=tokenizer), "The black cat", 9)
    assert (len(found.steps), found.ended, found.said) == (1, True, "")


def test_of_a_very_long_text_the_end_is_continued(small: Callable[[str], AnyModel]) -> None:
    model = small("gpt2")
    assert isinstance(model, TextModel)
    assert len(continue_text(model, "cat " * 500, 3, most_tokens=11).ids) <= 14


def test_what_cannot_be_continued(small: Callable[[str], AnyModel]) -> None:
    decoder, encoder = small("gpt2"), small("bert")
    assert isinstance(decoder, TextModel)
    assert isinstance(encoder, TextModel)
    with pytest.raises(ValueError, match=r"model \(bert\) must be a decoder"):
        continue_text(encoder, "a", 3)
    with pytest.raises(ValueError, match=r"steps \(0\) must be at least 1"):
        continue_text(decoder, "a", 0)
    with pytest.raises(ValueError, match="must hold at least one token"):
        continue_text(decoder, "", 3)


# ------------------------------------------------------------------------------------------------------------ snippets


@pytest.mark.parametrize("how", list(Together))
@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_the_program_prints_the_same_numbers(
    name: str, how: Together, small: Callable[[str], AnyModel], capsys: pytest.CaptureFixture[str]
) -> None:
    model = small(name)
    reading = reading_of(model, "The cat sat on the mat.")
    program = attention(
        kind=model.facts.family.kind,
        folder=model.name,
        revision=None,
        texts=reading.texts,
        how=how,
        layer=1,
        head=2,
    )
    exec(compile(program, "snippet", "exec"), {})
    _tokens, *rows = capsys.readouterr().out.strip().splitlines()
    expected = shown_map(reading.maps[0].weights, how, layer=1, head=2)
    found = torch.tensor([[float(number) for number in row.split()] for row in rows], dtype=expected.dtype)
    torch.testing.assert_close(found, expected, rtol=0, atol=6e-5)


@pytest.mark.parametrize("kind", list(Kind))
def test_the_program_for_a_translation(
    kind: Kind, atlas: models.TranslationModel, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "Le chat dort."
    trace = translate(atlas, text)
    reading = with_translation(reading_of(atlas, text), trace)
    program = attention(
        kind=Halves.BOTH,
        folder=str(Path(models.CATALOGUE["atlas-fr-en"].folder)),
        revision=None,
        texts=reading.texts,
        how=Together.HEAD,
        layer=0,
        head=3,
        said=trace.token_ids,
        side=kind.value,
    )
    exec(compile(program, "snippet", "exec"), {})
    _tokens, *rows = capsys.readouterr().out.strip().splitlines()
    found = torch.tensor([[float(number) for number in row.split()] for row in rows])
    torch.testing.assert_close(found, reading.of(kind).weights[0, 3], rtol=0, atol=6e-5)

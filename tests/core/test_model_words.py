"""The tables in which real models look words up."""

import pytest
import torch

from core.embeddings import add_up, read_sum
from core.model_words import ModelWords, model_words
from core.models import load_any


def words_of(name: str) -> ModelWords:
    model = load_any(name)
    return model_words(model.tokenizer, model.network.get_input_embeddings().get_parameter("weight"))


@pytest.fixture(scope="module")
def atlas() -> ModelWords:
    return words_of("atlas-fr-en")


@pytest.fixture(scope="module")
def minilm() -> ModelWords:
    return words_of("minilm")


@pytest.mark.parametrize("name", ["atlas-fr-en", "minilm"])
def test_a_word_of_one_piece_is_a_row_of_the_table(name: str) -> None:
    model = load_any(name)
    found = words_of(name).look_up("king")
    (number,) = model.tokenizer("king", add_special_tokens=False).input_ids
    assert found.pieces == (model.tokenizer.convert_ids_to_tokens(number),)
    assert found.vector is not None
    assert found.vector.dtype == torch.float64
    ids = torch.tensor([[number]])
    with torch.no_grad():
        expected = model.network.get_input_embeddings()(ids)[0, 0]
    torch.testing.assert_close(found.vector, expected.double())


def test_a_word_of_several_pieces_is_their_mean(atlas: ModelWords) -> None:
    found = atlas.look_up("queen")
    assert found.pieces == ("▁que", "en")
    rows = [atlas.table[atlas.tokenizer.convert_tokens_to_ids(piece)].double() for piece in found.pieces]
    torch.testing.assert_close(found.vector, (rows[0] + rows[1]) / 2)


def test_pieces_of_words_are_told_apart(minilm: ModelWords) -> None:
    assert minilm.look_up("Tokyo").pieces == ("tokyo",)  # MiniLM knows no capitals
    assert len(minilm.look_up("flibbertigibbet").pieces) > 1
    assert all(piece.startswith("##") for piece in minilm.look_up("flibbertigibbet").pieces[1:])


@pytest.mark.parametrize("word", ["猫猫𓀀", "", "😀"])
def test_what_a_model_does_not_know(atlas: ModelWords, word: str) -> None:
    assert atlas.look_up(word).vector is None


def test_what_counts_as_a_word(atlas: ModelWords, minilm: ModelWords) -> None:
    for model, whole, parts in (
        (atlas, ("▁king", "▁roi"), ("en", "▁", "</s>", "▁1", ",")),
        (minilm, ("king", "don"), ("##s", "[CLS]", "[unused7]", "1999", "!")),
    ):
        ids = {piece: model.tokenizer.convert_tokens_to_ids(piece) for piece in (*whole, *parts)}
        assert {piece for piece, number in ids.items() if model.is_word[number]} == set(whole)
    assert atlas.num_words == int(atlas.is_word.sum()) > 5000
    assert minilm.num_words > 20_000


def test_king_man_woman(minilm: ModelWords) -> None:
    asked = read_sum("king - man + woman = queen")
    vectors = {term.word: minilm.look_up(term.word).vector for term in asked.terms}
    target = add_up(asked.terms, vectors)  # type: ignore[arg-type]
    table = minilm.table.double()
    cosines = (table @ target / (table.norm(dim=1) * target.norm())).masked_fill(~minilm.is_word, -2)
    order = cosines.argsort(descending=True).tolist()
    expected = minilm.tokenizer.convert_ids_to_tokens(order[:5])
    near = minilm.nearest(target, count=5)
    assert [word for word, _cosine in near] == expected
    assert [cosine for _word, cosine in near] == pytest.approx([float(cosines[i]) for i in order[:5]], abs=1e-5)
    without = minilm.nearest(target, count=3, without=["king", "man", "woman"])
    assert [word for word, _cosine in without] == [word for word in expected if word not in vectors][:3]
    queen = minilm.look_up("queen")
    place, cosine = minilm.place_of(queen, target)
    assert expected[place - 1] == "queen"
    assert cosine == pytest.approx(float(cosines[minilm.tokenizer.convert_tokens_to_ids("queen")]), abs=1e-6)
    assert minilm.place_of(queen, target, without=["king", "man", "woman"])[0] == place - 1


def test_the_place_that_a_word_of_several_pieces_would_have(atlas: ModelWords) -> None:
    queen, king = atlas.look_up("queen"), atlas.look_up("king")
    assert queen.vector is not None
    assert king.vector is not None
    assert atlas.place_of(queen, queen.vector)[0] == 1
    cosines = atlas.table[atlas.is_word].double() @ king.vector
    cosines /= atlas.table[atlas.is_word].double().norm(dim=1) * king.vector.norm()
    own = float(torch.cosine_similarity(queen.vector, king.vector, dim=0))
    assert atlas.place_of(queen, king.vector) == (1 + int((cosines > own).sum()), pytest.approx(own))


def test_what_has_no_place(atlas: ModelWords) -> None:
    king = atlas.look_up("king")
    with pytest.raises(ValueError, match=r"word \('😀'\) must be known to the model"):
        atlas.place_of(atlas.look_up("😀"), torch.ones(atlas.table.shape[1], dtype=torch.float64))
    nowhere = torch.zeros(atlas.table.shape[1], dtype=torch.float64)
    for call in (lambda: atlas.place_of(king, nowhere), lambda: atlas.nearest(nowhere, count=3)):
        with pytest.raises(ValueError, match="must be longer than"):
            call()

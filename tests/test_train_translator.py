"""The training program keeps what the app shows out of the training data."""

from pathlib import Path

import pytest

from tools.train_translator import SHOWN, split

HEADER = "french\tenglish\n"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Sentences of one word: too short to be held out, so all of them are trained on."""
    path = tmp_path / "fra.txt"
    path.write_text("Go away!\tPartez !\tCC-BY\nGood evening.\tBonsoir.\tCC-BY\n", encoding="utf-8")
    return path


def test_sentences_that_are_shown_are_not_trained_on(corpus: Path, tmp_path: Path) -> None:
    shown = tmp_path / "pairs.tsv"
    shown.write_text(f"{HEADER}Bonne nuit.\tGood night.\nUn chat.\tA cat.\n", encoding="utf-8")
    sentences = split(corpus, shown)
    assert [p.french for p in sentences.train] == ["Partez !", "Bonsoir."]
    assert split(corpus).train == sentences.train
    assert len(SHOWN.read_text(encoding="utf-8").splitlines()) == 101


@pytest.mark.parametrize(
    ("pair", "known"),
    [("BONSOIR !\tGood night.", "'BONSOIR !'"), ("Salut.\tgood evening", "'good evening'")],
)
def test_a_sentence_that_is_both_is_refused(pair: str, known: str, corpus: Path, tmp_path: Path) -> None:
    shown = tmp_path / "pairs.tsv"
    shown.write_text(f"{HEADER}Un chat.\tA cat.\n{pair}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"^{known} of pairs.tsv must not be in the training data$"):
        split(corpus, shown)

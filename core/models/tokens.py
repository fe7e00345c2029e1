"""Load a tokenizer.json, and make sure that it speaks the network's ids."""

from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from core.models.problems import ModelError, ModelProblem
from core.models.settings import Settings, read_json

FILE = "tokenizer.json"


def load_tokenizer(settings: Settings, path: Path) -> PreTrainedTokenizerFast:
    """The tokenizer, with the end and padding tokens that the network was trained with.

    Raises: ModelError if the file is no tokenizer, or not the one of this network.
    """
    raw = read_json(path)
    config = settings.config
    try:
        # Written and read again, as transformers does to copy it: a file may survive the first reading only.
        tokenizer = Tokenizer.from_str(Tokenizer.from_file(str(path)).to_str())
    except Exception as error:  # the library raises no narrower type, for whatever is wrong with a file
        if type(error) is not Exception:
            raise
        raise ModelError(ModelProblem.DAMAGED, f"{FILE} holds no tokenizer: {error}.") from error
    tokenizer.no_truncation()  # both may be left over from training
    tokenizer.no_padding()
    largest = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)
    if largest >= config.vocab_size:
        raise ModelError(
            ModelProblem.WRONG_FILE,
            f"{FILE} has tokens up to id {largest}, but vocab_size ({config.vocab_size}) in config.json ends below.",
        )
    pad, end, start = map(tokenizer.id_to_token, (settings.pad_id, settings.end_id, settings.start_id))
    if pad is None or end is None or start is None:
        raise ModelError(
            ModelProblem.WRONG_FILE, f"{FILE} lacks a token for padding, start or end, whose ids stand in config.json."
        )
    if tokenizer.encode("").ids != [settings.end_id]:
        raise ModelError(
            ModelProblem.WRONG_FILE,
            f"{FILE} must put the end token {end} (id {settings.end_id}) after a text, and nothing before it.",
        )
    unknown = _unknown(raw.get("model"))
    if unknown is not None and unknown not in tokenizer.get_vocab(with_added_tokens=False):
        raise ModelError(
            ModelProblem.UNSUPPORTED,
            f"{FILE} has {unknown!r} stand for unknown words, but its vocabulary does not hold this token.",
        )
    wrapped: PreTrainedTokenizerFast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        pad_token=pad,
        eos_token=end,
        unk_token=unknown,
        clean_up_tokenization_spaces=False,
    )
    return wrapped


def _unknown(model: Any) -> str | None:
    """The token for what the vocabulary does not have; Unigram models store its id, the others its text."""
    match model:
        case {"unk_token": str(token)}:
            return token
        case {"unk_id": int(number), "vocab": list(vocab)}:
            return str(vocab[number][0])
    return None

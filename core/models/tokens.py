"""Load a tokenizer.json, and make sure that it speaks the network's ids."""

from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from core.models.catalogue import Family, Kind
from core.models.problems import ModelError, ModelProblem
from core.models.settings import Settings, read_json

FILE = "tokenizer.json"
MASK = "[MASK]"  # stands for a hidden word


def load_tokenizer(settings: Settings, path: Path) -> PreTrainedTokenizerFast:
    """The tokenizer, with the special tokens that the network was trained with.

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
    special = _special_tokens(tokenizer, settings)
    unknown = _unknown(raw.get("model"))
    if unknown is not None and unknown not in tokenizer.get_vocab(with_added_tokens=False):
        raise ModelError(
            ModelProblem.UNSUPPORTED,
            f"{FILE} has {unknown!r} stand for unknown words, but its vocabulary does not hold this token.",
        )
    wrapped: PreTrainedTokenizerFast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, unk_token=unknown, clean_up_tokenization_spaces=False, **special
    )
    return wrapped


def _special_tokens(tokenizer: Tokenizer, settings: Settings) -> dict[str, Any]:
    """The tokens that frame a text, once the file is known to put them where this kind of network wants them."""
    match settings.family.kind:
        case Kind.ENCODER:
            return _frame_of_an_encoder(tokenizer, settings)
        case Kind.DECODER:
            end = _token(tokenizer, settings.end_id)
            if tokenizer.encode("").ids:
                raise ModelError(ModelProblem.WRONG_FILE, f"{FILE} must put nothing before or after a text.")
            return {"eos_token": end, "bos_token": end}
    pad, end, _start = (_token(tokenizer, number) for number in (settings.pad_id, settings.end_id, settings.start_id))
    if tokenizer.encode("").ids != [settings.end_id]:
        raise ModelError(
            ModelProblem.WRONG_FILE,
            f"{FILE} must put the end token {end} (id {settings.end_id}) after a text, and nothing before it.",
        )
    return {"pad_token": pad, "eos_token": end}


def _frame_of_an_encoder(tokenizer: Tokenizer, settings: Settings) -> dict[str, Any]:
    pad = _token(tokenizer, settings.pad_id)
    frame, pair = tokenizer.encode("").tokens, tokenizer.encode("", "")
    if len(frame) != 2 or frame[0] == frame[1] or pair.tokens != [*frame, frame[1]]:
        raise ModelError(
            ModelProblem.WRONG_FILE,
            f"{FILE} must put one token before a text and another one behind each text, as [CLS] and [SEP].",
        )
    parts = getattr(settings.config, "type_vocab_size", max(pair.type_ids) + 1)
    if max(pair.type_ids) >= parts:
        raise ModelError(
            ModelProblem.WRONG_FILE,
            f"{FILE} tells {max(pair.type_ids) + 1} parts of a text apart; type_vocab_size in config.json is {parts}.",
        )
    special: dict[str, Any] = {"pad_token": pad, "cls_token": frame[0], "sep_token": frame[1]}
    if tokenizer.token_to_id(MASK) is not None:
        special["mask_token"] = MASK
    if settings.family is Family.BERT:  # it is told which part of a pair a token belongs to; DistilBERT is not
        special["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
    return special


def _token(tokenizer: Tokenizer, number: int | None) -> str:
    token = None if number is None else tokenizer.id_to_token(number)
    if token is None:
        raise ModelError(
            ModelProblem.WRONG_FILE, f"{FILE} lacks a token for padding, start or end, whose ids stand in config.json."
        )
    return token


def _unknown(model: Any) -> str | None:
    """The token for what the vocabulary does not have; Unigram models store its id, the others its text."""
    match model:
        case {"unk_token": str(token)}:
            return token
        case {"unk_id": int(number), "vocab": list(vocab)}:
            return str(vocab[number][0])
    return None

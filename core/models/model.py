"""Models, ready to be looked into: those that translate, and those that only read or only write."""

from dataclasses import dataclass

from transformers import PreTrainedModel, PreTrainedTokenizerFast

from core.models.catalogue import Task
from core.models.facts import ModelFacts, TextFacts


@dataclass(frozen=True, slots=True, eq=False)
class TranslationModel:
    """A network with its tokenizer. Many threads may use one at the same time: nothing in it changes.

    The network is a MarianMTModel or T5ForConditionalGeneration in float32, in eval mode, without gradients, with
    attention written out (`eager`), so that its weights can be asked for.
    """

    name: str  # what it was loaded by: of the catalogue, or the full path of its folder
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    facts: ModelFacts
    tasks: tuple[Task, ...]  # of a T5: the caller puts the prefix of one before the text; empty for Marian

    def normalize(self, text: str) -> str:
        """What the tokenizer makes of a text before it splits it; the text itself where it has no such rules."""
        return _normalize(self.tokenizer, text)


@dataclass(frozen=True, slots=True, eq=False)
class TextModel:
    """An encoder or a decoder on its own, with its tokenizer. Many threads may use one: nothing in it changes.

    The network is a BertModel, DistilBertModel (encoders) or GPT2LMHeadModel (a decoder, with the scores of the next
    token) in float32, in eval mode, without gradients, with attention written out (`eager`).
    """

    name: str  # what it was loaded by: of the catalogue, or the full path of its folder
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    facts: TextFacts

    def normalize(self, text: str) -> str:
        """What the tokenizer makes of a text before it splits it; the text itself where it has no such rules."""
        return _normalize(self.tokenizer, text)


AnyModel = TranslationModel | TextModel


def _normalize(tokenizer: PreTrainedTokenizerFast, text: str) -> str:
    normalizer = tokenizer.backend_tokenizer.normalizer
    return text if normalizer is None else str(normalizer.normalize_str(text))

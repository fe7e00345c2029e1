"""The claims of the translation page: one measurement and one verdict for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from core.claims import Verdict
from core.tokens import WORD_MARK

if TYPE_CHECKING:  # core.quality imports torch; claims can be judged without it
    from core.quality import Interval


# --------------------------------------------- "Je t'aime" is decoded as <BOS> → I → love → you → <EOS>

FULL_STOP = "."


class Spoken(Protocol):
    """What is compared with the chain; a `core.decoding.DecodingTrace` is one."""

    @property
    def start_token(self) -> str: ...
    @property
    def tokens(self) -> tuple[str, ...]: ...
    @property
    def finished(self) -> bool: ...


class ChainDifference(StrEnum):
    """One way in which a decoder's chain of tokens is not the one that is told."""

    BORROWED_START = "borrowed_start"  # decoding starts from the padding or the end token: there is no <BOS>
    WORD_MARKS = "word_marks"  # pieces carry a mark where a word begins
    SPLIT_WORDS = "split_words"  # a word takes more than one step
    FULL_STOP = "full_stop"  # a full stop is said before the end
    OTHER_WORDS = "other_words"  # not the words that are told
    NO_END = "no_end"  # cut off: no end token came


REFUTING = frozenset({ChainDifference.OTHER_WORDS, ChainDifference.NO_END})


def chain_differences(
    spoken: Spoken,
    *,
    padding_token: str | None,
    end_token: str | None,
    told: Sequence[str] = ("I", "love", "you"),
) -> tuple[ChainDifference, ...]:
    """In what a decoder's chain differs from the one told: a start token of its own, one token per word, an end token.

    Worked example: `<pad> ▁I ▁love ▁you . </s>` differs by BORROWED_START, WORD_MARKS and FULL_STOP.
    """
    pieces = spoken.tokens[:-1] if spoken.finished else spoken.tokens
    marked = any(WORD_MARK in piece for piece in pieces)
    text = ("" if marked else " ").join(pieces)  # a tokenizer without marks has one piece per word
    words = text.removesuffix(FULL_STOP).replace(WORD_MARK, " ").split()
    steps_for_words = len(pieces) - (pieces[-1:] in {(FULL_STOP,), (WORD_MARK + FULL_STOP,)})
    found = {
        ChainDifference.BORROWED_START: spoken.start_token in {padding_token, end_token},
        ChainDifference.WORD_MARKS: marked,
        ChainDifference.SPLIT_WORDS: words == list(told) and steps_for_words > len(words),
        ChainDifference.FULL_STOP: text.endswith(FULL_STOP),
        ChainDifference.OTHER_WORDS: words != list(told),
        ChainDifference.NO_END: not spoken.finished,
    }
    return tuple(difference for difference, is_so in found.items() if is_so)


def chain_verdict(
    differences: Sequence[ChainDifference] | None, *, refuting: frozenset[ChainDifference] = REFUTING
) -> Verdict:
    """Judge the chain by its differences; None if nothing was translated yet.

    The claim is about the order of events: a start, one word after the other, an end. Another name for the start token,
    marks on the pieces, a word in two pieces, or a full stop are conditions to state (ONLY_IF). Other words, or no end,
    refute it.
    """
    if differences is None:
        return Verdict.UNDECIDED
    if refuting.intersection(differences):
        return Verdict.DOES_NOT_HOLD
    return Verdict.ONLY_IF if differences else Verdict.HOLDS


# ----------------------------- T5-small: 6 + 6 layers, d_model 512, 8 heads, 4 beams, "Das Haus ist wunderbar."

T5_SMALL = "t5-small"
T5_FAMILY = "t5"


class Fact(StrEnum):
    FAMILY = "family"
    ENCODER_LAYERS = "encoder_layers"
    DECODER_LAYERS = "decoder_layers"
    D_MODEL = "d_model"
    NUM_HEADS = "num_heads"
    NUM_BEAMS = "num_beams"
    TRANSLATION = "translation"


SETTINGS = frozenset({Fact.NUM_BEAMS})  # chosen by whoever translates, not part of the model

T5_SMALL_AS_TOLD: Mapping[Fact, int | str] = {
    Fact.FAMILY: T5_FAMILY,
    Fact.ENCODER_LAYERS: 6,
    Fact.DECODER_LAYERS: 6,
    Fact.D_MODEL: 512,
    Fact.NUM_HEADS: 8,
    Fact.NUM_BEAMS: 4,
    Fact.TRANSLATION: "Das Haus ist wunderbar.",
}


class Structure(Protocol):
    """The part of `core.models.ModelFacts` that the claim speaks of."""

    @property
    def family(self) -> str: ...
    @property
    def encoder_layers(self) -> int: ...
    @property
    def decoder_layers(self) -> int: ...
    @property
    def d_model(self) -> int: ...
    @property
    def num_heads(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is told of T5-small beside what was read from the loaded model."""

    fact: Fact
    told: int | str
    measured: int | str

    @property
    def agrees(self) -> bool:
        return self.told == self.measured


def compare_with_t5_small(
    structure: Structure, *, num_beams: int, translation: str | None = None
) -> tuple[Comparison, ...]:
    """Put the loaded model and the search in use beside what is told of T5-small.

    `translation` is what the model makes of "The house is wonderful." in German; None leaves it out of the comparison.
    """
    measured: dict[Fact, int | str | None] = {
        Fact.FAMILY: structure.family,
        Fact.ENCODER_LAYERS: structure.encoder_layers,
        Fact.DECODER_LAYERS: structure.decoder_layers,
        Fact.D_MODEL: structure.d_model,
        Fact.NUM_HEADS: structure.num_heads,
        Fact.NUM_BEAMS: num_beams,
        Fact.TRANSLATION: translation,
    }
    return tuple(
        Comparison(fact, T5_SMALL_AS_TOLD[fact], value) for fact, value in measured.items() if value is not None
    )


def t5_small_verdict(name: str, comparisons: Sequence[Comparison], *, settings: frozenset[Fact] = SETTINGS) -> Verdict:
    """Judge what is told of T5-small by the model that is loaded under `name`.

    HOLDS if all agrees. ONLY_IF if the model agrees and only a setting does not: four beams are the reader's choice, no
    property of the model. When the model itself differs, the claim is refuted only if that model is T5-small; another
    model says nothing about it (UNDECIDED). A copy of T5-small in a folder has another name and is known by agreeing.
    """
    differing = {comparison.fact for comparison in comparisons if not comparison.agrees}
    if not differing:
        return Verdict.HOLDS
    if differing <= settings:
        return Verdict.ONLY_IF
    return Verdict.DOES_NOT_HOLD if name == T5_SMALL else Verdict.UNDECIDED


# ------------------------------------ Beam search finds a sentence at least as probable as greedy search does

ROUNDING = 1e-4  # sums of float32 log-probabilities of one and the same sentence differ by less
USUAL_SHARE = 0.1  # "usually": at least nine times out of ten


@dataclass(frozen=True, slots=True)
class SearchCount:
    """On how many sentences beam search did better than greedy search, the same, or worse."""

    better: int
    same: int
    worse: tuple[int, ...]  # which sentences, so that they can be shown

    @property
    def sentences(self) -> int:
        return self.better + self.same + len(self.worse)

    @property
    def share_worse(self) -> float:
        """Between 0 and 1; 0 for no sentences."""
        return len(self.worse) / max(self.sentences, 1)


def count_searches(greedy: Sequence[float], beam: Sequence[float], *, tolerance: float = ROUNDING) -> SearchCount:
    """Compare, sentence by sentence, how probable the model finds what the two searches came up with.

    Both in the same measure, and the two measures answer different questions. *Summed log-probabilities* are what the
    claim means by "probable". *Normalised scores* (the sum divided by length ** length_penalty) are what beam search
    maximises: with a length penalty above 0 it may rightly prefer a longer, less probable sentence, so that exceptions
    in the sum need not be failures of the search. Failures remain, in both measures: greedy's path can fall out of the
    beam while better beginnings lead to worse ends.

    Raises: ValueError if the two differ in length.
    """
    if len(greedy) != len(beam):
        raise ValueError(f"greedy ({len(greedy)} sentences) and beam ({len(beam)}) must be of the same sentences")
    gains = [b - g for g, b in zip(greedy, beam, strict=True)]
    return SearchCount(
        better=sum(gain > tolerance for gain in gains),
        same=sum(abs(gain) <= tolerance for gain in gains),
        worse=tuple(i for i, gain in enumerate(gains) if gain < -tolerance),
    )


def search_verdict(count: SearchCount | None, *, usual_share: float = USUAL_SHARE) -> Verdict:
    """Judge "at least as probable" by its exceptions; None if not counted yet.

    HOLDS without exception *on these sentences*: a proof it is not. ONLY_IF ("usually") while at most `usual_share` of
    the sentences are exceptions. With more than that, a reader who relies on the claim is misled: DOES_NOT_HOLD.
    """
    if count is None or count.sentences == 0:
        return Verdict.UNDECIDED
    if not count.worse:
        return Verdict.HOLDS
    return Verdict.ONLY_IF if count.share_worse <= usual_share else Verdict.DOES_NOT_HOLD


# -------------------------------------------------------------------------- A wider beam translates better

NO_GAIN = 0.0  # points of BLEU or chrF
FEWEST_SENTENCES = 30  # with fewer, a bootstrap interval is too narrow for what it promises


def width_verdict(
    difference: "Interval | None", *, no_gain: float = NO_GAIN, fewest_sentences: int = FEWEST_SENTENCES
) -> Verdict:
    """Judge by the interval of (quality with the wider beam) - (quality with the narrower one); None if not measured.

    HOLDS if the whole interval lies above `no_gain`, DOES_NOT_HOLD if none of it does (also when the two widths
    translate every sentence alike, which is an interval of 0 to 0). An interval on both sides means that so few
    sentences cannot tell: UNDECIDED. The interval is for one comparison: whoever tries many widths and penalties will
    find one that seems to win.
    """
    if difference is None or difference.sentences < fewest_sentences:
        return Verdict.UNDECIDED
    if difference.low > no_gain:
        return Verdict.HOLDS
    return Verdict.DOES_NOT_HOLD if difference.high <= no_gain else Verdict.UNDECIDED

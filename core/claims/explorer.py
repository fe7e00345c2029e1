"""The claims about what attention shows: one verdict for each, and what it takes to measure it on a real encoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from core.claims import Verdict
from core.explorer import Reading, read
from core.explorer_hide import hide_each, rank_correlation
from core.explorer_senses import cosines, find_word, looks, word_vectors
from core.explorer_sinks import measure_sinks, which_sinks
from core.models import AnyModel

# ---------------------------------------------------------------------- "head 5 resolves the pronoun: 0.85 on the name"

TOLD = 0.85


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A sentence with a pronoun, and what it stands for."""

    text: str
    pronoun: str
    name: str


PRONOUNS = (
    Pronoun("John was hungry because he had missed lunch.", "he", "John"),
    Pronoun("Mary told the guests that she was leaving.", "she", "Mary"),
    Pronoun("The animal didn't cross the street because it was too tired.", "it", "animal"),
    Pronoun("The dog barked at the door until it was fed.", "it", "dog"),
    Pronoun("Peter had lost the keys, so he called a friend.", "he", "Peter"),
    Pronoun("Anna sold the old car after she moved to town.", "she", "Anna"),
    Pronoun("The children were late because they missed the bus.", "they", "children"),
    Pronoun("The teacher smiled when she saw the letter.", "she", "teacher"),
)
"""Written for this page."""


@dataclass(frozen=True, slots=True)
class PronounHead:
    """The head that looks from the pronoun to its name the most, over all sentences."""

    sentences: int
    layer: int
    head: int
    weight: float  # mean over the sentences
    first: int  # in how many of them the name gets more than any other token
    sinks: float  # what the pronouns give to [CLS], [SEP] and full stops instead, mean over all heads


def measure_pronouns(model: AnyModel, sentences: Sequence[Pronoun] = PRONOUNS) -> PronounHead | None:
    """Search all heads for the one; sentences whose words the model does not see as wholes are left out; None if all.

    A word of several tokens gives the mean of them, and gets their sum.
    """
    rows, sunk = [], []
    for each in sentences:
        reading = read(model, each.text)
        if reading is None:
            continue
        pronoun, name = (find_word(reading, each.text, word) for word in (each.pronoun, each.name))
        if not pronoun or not name:
            continue
        row = looks(reading, pronoun)  # (num_layers, num_heads, seq_len)
        to_name = row[..., list(name)].sum(dim=-1)  # (num_layers, num_heads)
        others = [place for place in range(row.shape[-1]) if place not in name]
        rows.append(torch.stack([to_name, (to_name > row[..., others].amax(dim=-1)).float()]))
        sinks = which_sinks(reading.tokens, reading.special)
        sunk.append(float(row[..., [place for place, sink in enumerate(sinks) if sink]].sum(dim=-1).mean()))
    if not rows:
        return None
    weight, first = torch.stack(rows).mean(dim=0), torch.stack(rows).sum(dim=0)
    layer, head = divmod(int(weight[0].argmax()), weight.shape[-1])
    return PronounHead(
        len(rows), layer, head, float(weight[0, layer, head]), int(first[1, layer, head]), sum(sunk) / len(sunk)
    )


def pronoun_verdict(found: PronounHead | None, *, told: float = TOLD) -> Verdict:
    """Judge "one head resolves pronouns, with 0.85 on the name" by the best head that there is.

    HOLDS if it gives the name as much as is told, in the mean; ONLY_IF if the name gets the most of it in more than
    half of the sentences: a tendency. UNDECIDED without a sentence.
    """
    if found is None:
        return Verdict.UNDECIDED
    if found.weight >= told:
        return Verdict.HOLDS
    return Verdict.ONLY_IF if 2 * found.first > found.sentences else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------------- attention goes to words that mean something


@dataclass(frozen=True, slots=True)
class SinkShare:
    """How much of all attention goes to special tokens and full stops."""

    together: float
    even: float  # if all tokens got the same
    largest: float  # of one head


def measure_share(reading: Reading, *, causal: bool = False) -> SinkShare:
    """Of one text, over all layers and heads of its first kind of maps."""
    found = measure_sinks(reading.maps[0].weights, which_sinks(reading.tokens, reading.special), causal=causal)
    return SinkShare(found.together, found.even, float(found.heads.max()))


def sinks_verdict(share: SinkShare) -> Verdict:
    """Judge "attention shows which words matter" by how much goes to no word at all.

    DOES_NOT_HOLD if sinks get more than half; HOLDS if no more than their even share; ONLY_IF in between.
    """
    if share.together > 0.5:
        return Verdict.DOES_NOT_HOLD
    return Verdict.HOLDS if share.together <= share.even else Verdict.ONLY_IF


# -------------------------------------------------------------------------------- "bank" is another word beside "river"


@dataclass(frozen=True, slots=True)
class Sense:
    """Sentences in which one word has one meaning; each holds a word that tells which."""

    sentences: tuple[str, ...]
    cues: tuple[str, ...]


WORD = "bank"
SENSES = (
    Sense(
        (
            "She sat on the bank of the river and watched the water.",
            "The boat drifted to the muddy bank of the stream.",
            "Trees grew on the steep bank above the lake.",
        ),
        ("river", "stream", "lake"),
    ),
    Sense(
        (
            "He put his money into the bank on Monday.",
            "The bank raised the interest on every loan.",
            "She asked the bank for a credit card.",
        ),
        ("money", "interest", "credit"),
    ),
)
"""Written for this page."""


@dataclass(frozen=True, slots=True, eq=False)
class TwoSenses:
    """Cosines between the vectors of one word in several sentences, layer by layer."""

    within: Tensor  # (pairs, num_layers + 1), pairs of sentences with the same sense
    across: Tensor  # (pairs, num_layers + 1), with different ones
    on_cue: float  # weight from the word to the one that tells its sense, mean over sentences, layers and heads
    on_sinks: float  # to [CLS], [SEP] and full stops, the same mean


def measure_senses(model: AnyModel, word: str = WORD, senses: Sequence[Sense] = SENSES) -> TwoSenses | None:
    """None if the model does not see the word as a whole in every sentence."""
    vectors, cues, sinks = [], [], []
    for number, sense in enumerate(senses):
        for text, cue in zip(sense.sentences, sense.cues, strict=True):
            reading = read(model, text)
            places = find_word(reading, text, word) if reading else ()
            if reading is None or not places:
                return None
            vectors.append((number, word_vectors(reading, places)))
            row = looks(reading, places).mean(dim=(0, 1))  # (seq_len,)
            cues.append(float(row[list(find_word(reading, text, cue))].sum()))
            told = which_sinks(reading.tokens, reading.special)
            sinks.append(float(row[[place for place, sink in enumerate(told) if sink]].sum()))
    pairs = [(a == b, cosines(one, other)) for (a, one), (b, other) in combinations(vectors, 2)]
    return TwoSenses(
        torch.stack([cosine for same, cosine in pairs if same]),
        torch.stack([cosine for same, cosine in pairs if not same]),
        sum(cues) / len(cues),
        sum(sinks) / len(sinks),
    )


def senses_verdict(found: TwoSenses | None) -> Verdict:
    """Judge "the word gets another vector in another sense" by the last layer.

    HOLDS if every pair with the same sense is more alike there than any pair with different ones; ONLY_IF if the mean
    is; UNDECIDED without a measurement.
    """
    if found is None:
        return Verdict.UNDECIDED
    within, across = found.within[:, -1], found.across[:, -1]
    if float(within.min()) > float(across.max()):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if float(within.mean()) > float(across.mean()) else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------- a token with much attention is an important token

IMPORTANCE_TEXTS = (
    "The cat sat on the mat.",
    "The animal didn't cross the street because it was too tired.",
    "She sat on the bank of the river and watched the water.",
    "He put his money into the bank on Monday.",
    "My sister lives in Paris with her two children.",
    "The train arrived late because of the heavy snow.",
    "I have lost my red umbrella in the station.",
    "Nobody expected the old bridge to fall last night.",
)
"""Written for this page."""


@dataclass(frozen=True, slots=True)
class Importance:
    """How well the attention that words receive tells how far the output moves without them."""

    correlations: tuple[float, ...]  # rank correlation over the words of each text
    first: int  # in how many texts the word with the most attention also moves the output most

    @property
    def mean(self) -> float:
        return sum(self.correlations) / len(self.correlations)


def measure_importance(model: AnyModel, texts: Sequence[str] = IMPORTANCE_TEXTS) -> Importance | None:
    """Hide every word of every text in turn; None if no text has two words that differ."""
    found, first = [], 0
    for text in texts:
        reading = read(model, text)
        hidden = [] if reading is None else [each for each in hide_each(model, reading) if not each.special]
        if len(hidden) < 2:
            continue
        received, moved = (torch.tensor([getattr(each, name) for each in hidden]) for name in ("received", "moved"))
        correlation = rank_correlation(received, moved)
        if correlation is not None:
            found.append(correlation)
            first += int(received.argmax() == moved.argmax())
    return Importance(tuple(found), first) if found else None


def importance_verdict(found: Importance | None, *, strong: float = 0.9, weak: float = 0.3) -> Verdict:
    """Judge by the mean rank correlation: HOLDS from `strong` on, DOES_NOT_HOLD below `weak`, else a tendency.

    strong: at 0.9 the order of ten words differs by a few neighbours that changed places; weak: at 0.3 it says next to
    nothing about a single word.
    """
    if found is None:
        return Verdict.UNDECIDED
    if found.mean >= strong:
        return Verdict.HOLDS
    return Verdict.ONLY_IF if found.mean >= weak else Verdict.DOES_NOT_HOLD

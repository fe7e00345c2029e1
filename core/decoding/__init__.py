"""Translating a sentence one inspectable step at a time.

    trace        what a decoding leaves behind: candidates, attention and hypotheses of every step
    decoder      one network on one sentence: `advance` reads one more token and says what it expects next
    sampling     probabilities changed by temperature, top-k and top-p, and a token drawn from them
    one_by_one   greedy and sampled decoding, and teacher forcing
    beam         beam search
    arguments    what the arguments of a decoding must keep to
    record       from what a decoding did to its trace
    translation  `translate` and `score_reference`, which put these together

Tokens and scores are those of `generate` in transformers. What is written here is the decoding itself; the networks and
their caches of keys and values are those of transformers.
"""

from core.decoding.decoder import UnusableNetworkError
from core.decoding.sampling import Sampling
from core.decoding.trace import Candidate, DecodingTrace, Fate, Hypothesis, Step
from core.decoding.translation import Translator, score_reference, translate

__all__ = [
    "Candidate",
    "DecodingTrace",
    "Fate",
    "Hypothesis",
    "Sampling",
    "Step",
    "Translator",
    "UnusableNetworkError",
    "score_reference",
    "translate",
]

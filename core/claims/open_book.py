"""The claims about a model that sees the answers while it learns, and about how a model comes to see them."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.claims import Verdict
from core.labs.character_model import CharacterModel, new_model
from core.labs.open_book import ALL, Settings, model_config
from core.labs.open_book_exam import GUESSING, Score, book_mask
from core.labs.open_book_results import MARGIN, Row
from core.labs.text import ALPHABET

# ------------------------------------------------------------------- the model with the lower training loss is better


def lower_is_better_verdict(
    training: tuple[float, float], exam: tuple[float, float], *, margin: float = MARGIN
) -> Verdict:
    """Judge by the losses of two models in training and in the exam: must the order be the same?

    UNDECIDED if their losses differ by no more than the margin, in either: that much one seed differs from another.
    """
    learnt, examined = training[0] - training[1], exam[0] - exam[1]
    if abs(learnt) <= margin or abs(examined) <= margin:
        return Verdict.UNDECIDED
    return Verdict.HOLDS if (learnt > 0) == (examined > 0) else Verdict.DOES_NOT_HOLD


# ------------------------------------------------ "bidirectional GPT-2": GPT2LMHeadModel without a mask sees the future

TOKENS = 12
STD = 0.2  # of all weights: large enough for attention to be uneven


@dataclass(frozen=True, slots=True)
class Reach:
    """The largest change of an earlier position's logits when the last token is another one."""

    without: float  # GPT2LMHeadModel, no mask given
    ones: float  # the same with an attention mask of ones: every token may be seen
    twin: float  # a model with a mask that lets everything be seen


@torch.no_grad()
def measure_reach(seed: int = 0) -> Reach:
    """Change the last token, and see what moves before it: in a tiny random GPT-2, and in our own open-book model.

    float64. Source of the model: `transformers.GPT2LMHeadModel`.
    """
    from transformers import GPT2Config, GPT2LMHeadModel

    generator = torch.Generator().manual_seed(seed)
    config = GPT2Config(
        vocab_size=len(ALPHABET),
        n_positions=TOKENS,
        n_embd=32,
        n_layer=2,
        n_head=4,
        bos_token_id=None,
        eos_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):  # constructors draw first weights from everybody's generator
        gpt2 = GPT2LMHeadModel(config).double()
        twin = new_model(model_config(Settings(d_model=32, leak=ALL)), generator=generator).double()
    gpt2.train(False)
    _draw(gpt2, generator)
    _draw(twin, generator)
    tokens = torch.randint(len(ALPHABET), (1, TOKENS), generator=generator)  # (batch = 1, seq_len)
    other = tokens.clone()
    other[0, -1] = (other[0, -1] + 1) % len(ALPHABET)
    ones = torch.ones_like(tokens)
    return Reach(
        _moved(gpt2(tokens).logits, gpt2(other).logits),
        _moved(gpt2(tokens, attention_mask=ones).logits, gpt2(other, attention_mask=ones).logits),
        _moved(_logits(twin, tokens), _logits(twin, other)),
    )


def _draw(model: nn.Module, generator: torch.Generator) -> None:
    for weight in model.parameters():
        if weight.ndim > 1:
            weight.normal_(std=STD, generator=generator)


def _logits(model: CharacterModel, tokens: Tensor) -> Tensor:
    logits: Tensor = model(tokens, book_mask(tokens.shape[1], ALL))  # (batch, seq_len, vocab_size)
    return logits


def _moved(one: Tensor, other: Tensor) -> float:
    return float((one - other)[:, :-1].abs().max())


def gpt2_verdict(reach: Reach, *, rounding: float = 1e-9) -> Verdict:
    """HOLDS if a future token moves an earlier logit by more than rounding, without a mask or with one of ones."""
    return Verdict.HOLDS if max(reach.without, reach.ones) > rounding else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------------------- one character ahead is a small leak


def glimpse_verdict(closed: Row, glimpse: Row, *, margin: float = MARGIN) -> Verdict:
    """Judge by all seeds: DOES_NOT_HOLD if even the best of those that peeped fails worse than the worst that did not.

    HOLDS if their means differ by no more than the margin; else UNDECIDED.
    """
    if glimpse.honest.low > closed.honest.high + margin:
        return Verdict.DOES_NOT_HOLD
    return Verdict.HOLDS if glimpse.honest.mean <= closed.honest.mean + margin else Verdict.UNDECIDED


# --------------------------------------------------- it fails only because the exam's mask is not that of its training


def unfair_verdict(closed: Score, so_far: Score, *, guessing: float = GUESSING, margin: float = MARGIN) -> Verdict:
    """Judge by the open-book model's loss under its own mask, on a text that ends where the question is asked.

    HOLDS if it then comes near to the closed book; DOES_NOT_HOLD if it is no better than guessing even so; else the
    mask explains a part (ONLY_IF).
    """
    if so_far.loss <= closed.loss + margin:
        return Verdict.HOLDS
    return Verdict.DOES_NOT_HOLD if so_far.loss >= guessing else Verdict.ONLY_IF

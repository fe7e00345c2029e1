"""The open-book exam: one model learns to predict the next character from the past, its twin may also look ahead.

Both begin with the same weights and read the same pieces of text in the same order, step by step side by side. The twin
finds every answer in the text that it is asked about. Then both are examined: see `open_book_exam`.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.checks import check_between, check_divisible
from core.labs.character_model import CharacterModel, ModelConfig, Positions, new_model, next_character_loss
from core.labs.events import Event, Found, Step
from core.labs.open_book_exam import CLOSED, OPEN, SEQ_LEN, attention_by_distance, book_mask, honest, sit
from core.labs.open_book_writing import compose
from core.labs.text import ALPHABET, draw_batch, make_texts

ALL = SEQ_LEN  # a leak of every later character
LEAKS = (1, 2, 4, ALL)
NUM_HEADS = 4
TRAIN_STORIES, UNSEEN_STORIES = 2000, 200
BATCH, EXAM_PIECES, QUIZ_PIECES = 32, 128, 32
LEARNING_RATE, WARM_UP = 3e-3, 20
EVERY = 25  # steps between two quizzes
DIGITS = 4
SEEDS = range(5)  # of the comparison
COMPARED = (1, 2, ALL)


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be chosen. Raises: ValueError if it is out of bounds.

    leak: how many later characters the twin may look at in each layer; ALL: every one.
    """

    num_layers: int = 2
    d_model: int = 64
    steps: int = 400
    leak: int = ALL
    seed: int = 0

    def __post_init__(self) -> None:
        check_between("num_layers", self.num_layers, 1, 3)
        check_between("d_model", self.d_model, 16, 96)
        check_divisible("d_model", self.d_model, "2 · num_heads", 2 * NUM_HEADS)
        check_between("steps", self.steps, 1, 600)
        check_between("leak", self.leak, 1, ALL)
        check_between("seed", self.seed, 0, 9999)


def train(settings: Settings) -> Iterator[Event]:
    """Both trainings, a step of one and then a step of the other; quizzes meanwhile, and the exam at the end.

    Findings: those of `quiz` and of `examine`, for each of the two.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    texts = make_texts(train=TRAIN_STORIES, unseen=UNSEEN_STORIES, generator=generator)
    closed = new_model(model_config(settings), generator=generator)
    models = {CLOSED: closed, OPEN: copy.deepcopy(closed)}
    leaks = {CLOSED: 0, OPEN: settings.leak}
    exam = draw_batch(texts.unseen, batch=EXAM_PIECES, seq_len=SEQ_LEN + 1, generator=generator)
    marks: dict[str, tuple[list[int], list[float]]] = {name: ([], []) for name in models}
    optimisers = {name: torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE) for name, model in models.items()}
    done = 0
    for step in range(settings.steps + 1):
        if step > 0:
            piece = draw_batch(texts.train, batch=BATCH, seq_len=SEQ_LEN + 1, generator=generator)
            for name, model in models.items():
                loss = train_step(model, optimisers[name], piece, leaks[name], learning_rate(step, settings.steps))
                done += 1
                yield Step(name, step, loss, BATCH * SEQ_LEN, done, 2 * settings.steps)
        if step % EVERY == 0 or step == settings.steps:
            for name, model in models.items():
                yield from quiz(name, model, exam[:QUIZ_PIECES], leaks[name], step, marks[name])
    for name, model in models.items():
        yield Found(name, "exam", sit(model, exam, leak=leaks[name]))
        yield Found(name, "texts", compose(model, texts.train, leak=leaks[name], seed=settings.seed))


def comparison() -> Sequence[Settings]:
    """Every leak that is compared, with every seed."""
    return [Settings(leak=leak, seed=seed) for seed in SEEDS for leak in COMPARED]


def model_config(settings: Settings) -> ModelConfig:
    """Positions are told by RoPE: of the ways to tell them it learns these stories soonest."""
    return ModelConfig(
        vocab_size=len(ALPHABET),
        num_layers=settings.num_layers,
        d_model=settings.d_model,
        num_heads=NUM_HEADS,
        positions=Positions.ROPE,
        max_len=SEQ_LEN + 1,
    )


def learning_rate(step: int, steps: int) -> float:
    """It rises for the first steps, and falls to a twentieth in the second half; step counts from 1."""
    rise = min(1.0, step / WARM_UP)
    fall = max(0.0, 2 * step / steps - 1)  # 0 until half of the steps, 1 at the last one
    return LEARNING_RATE * rise * (1 - 0.95 * fall)


def train_step(model: CharacterModel, optimiser: torch.optim.Optimizer, piece: Tensor, leak: int, rate: float) -> float:
    """One step on pieces of text, (batch, seq_len + 1). Returns: the mean loss of seq_len questions, in nats.

    The last character is read, too, but no question is asked about what follows it: every answer stands in the book.
    """
    for group in optimiser.param_groups:
        group["lr"] = rate
    logits = model(piece, book_mask(piece.shape[1], leak))[:, :-1]  # (batch, seq_len, vocab_size)
    loss = next_character_loss(logits, piece[:, 1:]).mean()
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    return loss.item()


def quiz(
    name: str, model: CharacterModel, pieces: Tensor, leak: int, step: int, marks: tuple[list[int], list[float]]
) -> Iterator[Found]:
    """A short exam while it still learns: `honest_curve`, the marks so far, and `attention`, where its heads look."""
    steps, losses = marks
    steps.append(step)
    losses.append(round(honest(model, pieces).loss, DIGITS))
    yield Found(name, "honest_curve", {"steps": list(steps), "losses": list(losses)})
    weights = attention_by_distance(model, pieces, leak=leak)  # (num_layers, num_heads, 2 · REACH + 1)
    yield Found(name, "attention", [[[round(w, 3) for w in head] for head in layer] for layer in weights.tolist()])

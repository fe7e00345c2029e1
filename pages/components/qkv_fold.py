"""What stands folded below the QKV page, whatever its view."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from core.attention_snippets import Library
from pages.components.fold import Formula, Source, fold
from pages.components.plot import Plot

READING = (
    Source(
        "Attention Is All You Need",
        "Vaswani et al. 2017, sections 3.2.1 and 3.2.2; footnote 4 on the scaling",
        "https://arxiv.org/abs/1706.03762",
    ),
    Source(
        "Key-Value Memory Networks for Directly Reading Documents",
        "Miller et al. 2016: keys to match, values to answer",
        "https://arxiv.org/abs/1606.03126",
    ),
    Source(
        "Reformer: The Efficient Transformer",
        "Kitaev, Kaiser, Levskaya 2020, section 2: Q = K",
        "https://arxiv.org/abs/2001.04451",
    ),
    Source(
        "Neural Machine Translation by Jointly Learning to Align and Translate",
        "Bahdanau, Cho, Bengio 2015: one vector as key and as value",
        "https://arxiv.org/abs/1409.0473",
    ),
)


def draw(
    formulas: Callable[[], Sequence[Formula]],
    *,
    code: Sequence[Callable[..., Any]],
    plots: Sequence[Plot],
    program: Callable[[str], str],
) -> None:
    fold(
        "qkv",
        formula=formulas,
        code=code,
        plots=plots,
        snippet={library.value: partial(program, library.value) for library in Library},
        reading=READING,
    )

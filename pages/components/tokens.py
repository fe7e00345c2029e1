"""Tokens as people read them."""

import html
from collections.abc import Sequence

from core.tokens import WORD_MARK


def plain(token: str) -> str:
    """A piece without the mark of a word's beginning; "+ing" goes on with the word before it."""
    if token.startswith(WORD_MARK):
        return token.removeprefix(WORD_MARK) or "␣"
    return f"+{token}" if token[:1].isalnum() else token


def plainly(tokens: Sequence[str]) -> tuple[str, ...]:
    """Labels for an axis; equal tokens stay apart by their places."""
    return tuple(plain(token) for token in tokens)


def token_line(title: str, tokens: Sequence[str], ids: Sequence[int], *, next_token: str | None = None) -> str:
    """A line of tokens in HTML, each with its id below it, and behind an arrow the one that comes next."""
    cells = [
        f'<span class="atlas-token">{html.escape(plain(token))}<small>{number}</small></span>'
        for token, number in zip(tokens, ids, strict=True)
    ]
    if next_token is not None:
        cells.append(f'<span class="atlas-next">→ <b>{html.escape(next_token)}</b></span>')
    return f'<div class="atlas-tokens"><b>{html.escape(title)}</b>{"".join(cells)}</div>'

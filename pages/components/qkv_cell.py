"""One number of a head, term by term."""

import html
from collections.abc import Sequence

from core.projections import Computation, Head, HeadTrace, Rule, explain
from pages.components.i18n import _
from pages.components.typed import quoted

MOST_TERMS = 10  # that are written out


def told(words: Sequence[str], trace: HeadTrace, head: Head, matrix: str, row: int, column: int) -> str:
    """As HTML."""
    computation = explain(trace, head, matrix, row, column)
    title = f"{_names()[matrix]}[{quoted(words[row])}, {_column(words, matrix, column)}]"
    return (
        f'<div class="atlas-look"><b>{html.escape(_("This number, term by term (click another cell)"))}</b>'
        f"<p><strong>{html.escape(title)} = {computation.value:.4f}</strong></p>"
        f"<p>{html.escape(_terms(computation, matrix, column))}</p></div>"
    )


def _names() -> dict[str, str]:
    return {
        "x": "X",
        "q": "Q",
        "k": "K",
        "v": "V",
        "scores": _("scores"),
        "weights": _("weights"),
        "output": _("output"),
        "result": _("output·W_O"),
    }


def _column(words: Sequence[str], matrix: str, column: int) -> str:
    if matrix in ("scores", "weights"):
        return quoted(words[column])
    return _("feature {number}").format(number=column + 1)


def _terms(computation: Computation, matrix: str, column: int) -> str:
    if computation.rule is Rule.GIVEN:
        return _("the input: nothing is computed here")
    if computation.rule is Rule.SOFTMAX:
        top = float(computation.left[column])
        terms = _shortened([f"{term:.3f}" for term in computation.left.tolist()])
        return _("= {top:.3f} / ({terms}): each term is e to the power of a score, less the row's largest").format(
            top=top, terms=terms
        )
    pairs = zip(computation.left.tolist(), computation.right.tolist(), strict=True)
    terms = _shortened([f"{_signed(a)}·{_signed(b)}" for a, b in pairs])
    if computation.factor != 1:
        return f"= {computation.factor:.3f} · ({terms})"
    bias = f" + {_signed(computation.bias)}" if computation.bias else ""
    return f"= {terms}{bias}"


def _signed(number: float) -> str:
    return f"(−{-number:.2f})" if number < 0 else f"{number:.2f}"


def _shortened(terms: Sequence[str]) -> str:
    if len(terms) <= MOST_TERMS:
        return " + ".join(terms)
    more = _("{count} more").format(count=len(terms) - MOST_TERMS)
    return " + ".join((*terms[:MOST_TERMS], f"… ({more})"))

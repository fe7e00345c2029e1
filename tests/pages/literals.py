"""Finds text that a person would see and that no catalogue can translate: string literals that bypass gettext.

Two nets. The narrow one looks at the arguments that are shown (labels, titles, claims, help …): no letter in them may
come from a literal outside _(). It follows names to what is assigned to them, f-strings, and the values put into a
format. The wide one looks everywhere for prose, two words in a row, since helpers return text and HTML too.

Not text: HTML tags, icons, LaTeX, names as in code (d_model), and what is called the same in every language.
"""

import ast
import re
from collections.abc import Iterator, Mapping

from tools.messages import ARGUMENTS

SAME_IN_EVERY_LANGUAGE = re.compile(r"\b(BLEU|chrF|SVG|PNG|CSV|PyTorch|[a-z]+(_[a-z0-9]+)+)\b")
MARKUP = re.compile(r"<[^<>]*>|:material/\w+:|&\w+;|\\[A-Za-z]+")
LETTER = re.compile(r"[^\W\d_]")
PROSE = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,}")
HOLE = "\0"  # stands for what an f-string puts in

FIRST, SECOND, BOTH = (0,), (1,), (0, 1)
EVERY = tuple(range(20))

STREAMLIT: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("title", "header", "subheader", "markdown", "text", "caption", "html", "badge", "toast"), FIRST),
    **dict.fromkeys(("info", "success", "warning", "error", "spinner", "status", "dialog", "expander"), FIRST),
    **dict.fromkeys(("popover", "tabs", "button", "download_button", "link_button", "form_submit_button"), FIRST),
    **dict.fromkeys(("checkbox", "toggle", "slider", "number_input", "text_input", "text_area", "table"), FIRST),
    **dict.fromkeys(("radio", "selectbox", "multiselect", "pills", "segmented_control", "select_slider"), BOTH),
    **dict.fromkeys(("write", "metric"), EVERY),
    "progress": SECOND,
}
PANEL: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("slider", "toggle", "text", "hidden"), SECOND),
    "choice": (1, 2),
}
OURS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("heading", "look_for"), EVERY),
    "Claim": (0, 2),
    "Formula": (2,),
    "token_line": FIRST,
    "job": SECOND,
}
KEYWORDS = {"label", "help", "title", "text", "alt", "placeholder", "caption", "page_title"}
KEYWORDS |= {"statement", "measurement", "question", "axis", "label_axis"}
WORDS = ("Words", "Labels")  # a class whose name ends so holds what a chart says
KEYS_ARE_SHOWN = {"presets", "navigation", "dataframe"}  # of a dictionary given to these

Literal = tuple[int, str]


def bypassing(source: str) -> list[Literal]:
    """The literals of a module that are shown without being translated, with their lines."""
    tree = ast.parse(source)
    return sorted({*_shown_literals(tree), *_prose(tree)})


# ----------------------------------------------------------------------------------------- arguments that are shown


def _shown_literals(tree: ast.Module) -> Iterator[Literal]:
    assigned = _assignments(tree)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        for argument in _shown_arguments(call):
            for line, text in _texts(argument, assigned, frozenset()):
                if _has_letters(text):
                    yield line, text.replace(HOLE, "{}")


def _shown_arguments(call: ast.Call) -> Iterator[ast.expr]:
    function, receiver = _name(call)
    positions = (PANEL if receiver == "panel" else STREAMLIT if receiver else OURS).get(function, ())
    for position, argument in enumerate(call.args):
        if position in positions:
            yield argument
        if function in KEYS_ARE_SHOWN and isinstance(argument, ast.Dict):
            yield from (key for key in argument.keys if key is not None)
    for keyword in call.keywords:
        if keyword.arg in KEYS_ARE_SHOWN and isinstance(keyword.value, ast.Dict):
            yield from (key for key in keyword.value.keys if key is not None)
        elif keyword.arg in KEYWORDS or function.endswith(WORDS):
            yield keyword.value


def _name(call: ast.Call) -> tuple[str, str]:
    """`st.write` → ("write", "st"); `heading` → ("heading", "")."""
    if isinstance(call.func, ast.Attribute):
        receiver = call.func.value
        return call.func.attr, receiver.id if isinstance(receiver, ast.Name) else "?"
    return (call.func.id if isinstance(call.func, ast.Name) else ""), ""


def _assignments(tree: ast.Module) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.AugAssign) and value is not None:
            for target in targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(value)
    return found


def _texts(node: ast.expr, assigned: Mapping[str, list[ast.expr]], seen: frozenset[str]) -> Iterator[Literal]:
    """The literals that become part of what this expression shows."""
    match node:
        case ast.Constant(value=str(text)):
            yield node.lineno, text
        case ast.JoinedStr():
            yield node.lineno, _template(node)
            parts: list[ast.expr] = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        case ast.Name(id=name) if name not in seen:
            seen |= {name}
            parts = assigned.get(name, [])
        case ast.IfExp():
            parts = [node.body, node.orelse]
        case ast.BoolOp() | ast.List() | ast.Tuple() | ast.Set():
            parts = node.values if isinstance(node, ast.BoolOp) else node.elts
        case ast.Dict():
            parts = node.values
        case ast.BinOp(op=ast.Add() | ast.Mod() | ast.BitOr()):  # a path is joined by a slash
            parts = [node.left, node.right]
        case ast.Starred() | ast.NamedExpr():
            parts = [node.value]
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
            parts = [node.elt]
        case ast.DictComp():
            parts = [node.value]
        case ast.Subscript():
            parts = [node.value]
        case ast.Call() if _name(node)[0] in {"format", "join", "escape", "str", "tuple", "list", "dict"}:
            receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            parts = [*receiver, *node.args, *(keyword.value for keyword in node.keywords)]
        case _:  # a call of _ or ngettext is what we want; other calls are the business of the wide net
            parts = []
    if not isinstance(node, ast.Constant):
        for part in parts:
            yield from _texts(part, assigned, seen)


def _template(node: ast.JoinedStr) -> str:
    return "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values)


def _has_letters(text: str) -> bool:
    return bool(LETTER.search(SAME_IN_EVERY_LANGUAGE.sub("", MARKUP.sub("", text))))


# ----------------------------------------------------------------------------------------------------- prose anywhere


def _prose(node: ast.AST) -> Iterator[Literal]:
    match node:
        case ast.Module() | ast.ClassDef() | ast.FunctionDef():
            children = list(ast.iter_child_nodes(node))
            if ast.get_docstring(node, clean=False) is not None:
                children.remove(node.body[0])
            if isinstance(node, ast.Module):  # a constant is content, such as a sentence to translate
                children = [c for c in children if not isinstance(c, ast.Assign | ast.AnnAssign)]
        case ast.Expr(value=ast.Constant(value=str())):
            return  # a docstring of a constant
        case ast.Call(func=ast.Name(id=name)) if name in {*ARGUMENTS, "Source"}:  # titles of papers stay as they are
            return
        case ast.Raise():
            return  # seen by programmers
        case ast.Dict():
            content = [v for k, v in zip(node.keys, node.values, strict=True) if _is(k, "sentence")]
            children = [c for c in ast.iter_child_nodes(node) if c not in content]
        case ast.JoinedStr():
            if PROSE.search(MARKUP.sub("", _template(node))):
                yield node.lineno, _template(node).replace(HOLE, "{}")
            children = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        case ast.Constant(value=str(text)):
            if PROSE.search(MARKUP.sub("", text)):
                yield node.lineno, text
            return
        case _:
            children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from _prose(child)


def _is(node: ast.expr | None, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text

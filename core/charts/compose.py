"""Several charts as one: a browser answers much sooner with one picture of three parts than with three pictures.

Every part keeps its specification. Only its names get the part's own name in front, so that two parts of one kind do
not share their data: the dataset "cells" of the part "looks" is called "looks_cells", its selection "looks_cell".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

Spec = Mapping[str, Any]

_OF_THE_WHOLE = ("$schema", "config", "padding", "autosize", "usermeta", "params")
"""What a specification says once, for all its parts."""

_RESOLVE = {"scale": {"color": "independent", "shape": "independent"}}
"""Every part has colours, symbols and a legend of its own."""

_MARGIN = {"data": {"values": []}, "mark": {"type": "rect", "aria": False}, "width": 0, "height": 0}
"""A view of nothing: what follows it in a row begins with its labels where every other row does."""


def compose(rows: Sequence[Mapping[str, Spec]], *, spacing: float = 20) -> dict[str, Any]:
    """One specification of rows of parts: name → ``to_dict()`` of a chart with a width of its own.

    Datasets and selections: those of the parts, as ``part_name``.
    Raises: ValueError if there are no parts, a name occurs twice, or a part fills its container.
    """
    names = [name for row in rows for name in row]
    if not names:
        raise ValueError("rows must hold at least one part")
    if len(set(names)) < len(names):
        raise ValueError(f"names of parts ({', '.join(names)}) must differ")
    renamed = [{name: _renamed(name, spec) for name, spec in row.items()} for row in rows]
    parts = [part for row in renamed for part in row.values()]
    for name, part in zip(names, parts, strict=True):
        if part.get("width") == "container":
            raise ValueError(f"part {name} must have a width of its own")
    lines = [_row([_inner(part) for part in row.values()], spacing) for row in renamed]
    if len(lines) > 1:  # else a row with narrow labels would begin where the plot of a row with wide ones does
        lines = [_row([_MARGIN, line], 0) for line in lines]
    whole = {key: parts[0][key] for key in _OF_THE_WHOLE if key in parts[0]}
    whole["autosize"] = {"type": "pad", "contains": "padding"}
    whole["params"] = [param for part in parts for param in part.get("params", ())]
    return {**whole, "vconcat": lines, "spacing": spacing, "resolve": _RESOLVE}


def compose_data(parts: Mapping[str, Mapping[str, pa.Table]]) -> dict[str, pa.Table]:
    """The data of the whole, from those of its parts."""
    return {f"{part}_{name}": frame for part, frames in parts.items() for name, frame in frames.items()}


def _row(views: Sequence[Spec], spacing: float) -> Spec:
    return {"hconcat": list(views), "spacing": spacing, "resolve": _RESOLVE}


def _inner(part: Spec) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key not in _OF_THE_WHOLE}


def _renamed(prefix: str, spec: Spec) -> Spec:
    """The specification with the prefix before the names of its data, views, selections and tables of labels."""
    params = spec.get("params", ())
    tables = {param["name"] for param in params if "expr" in param}  # their texts are the user's: never searched
    names = {*_names_in(spec), *(param["name"] for param in params)}
    words = re.compile(rf"\b({'|'.join(map(re.escape, sorted(tables)))})\b") if tables else None

    def change(value: Any, key: str = "") -> Any:
        if isinstance(value, Mapping):
            if value.get("name") in tables and "expr" in value:
                return {**value, "name": f"{prefix}_{value['name']}"}
            return {inner: change(part, inner) for inner, part in value.items()}
        if isinstance(value, list):
            return [change(part, key) for part in value]
        if not isinstance(value, str) or key in ("title", "text"):
            return value
        if key in ("name", "views", "param") and value in names:
            return f"{prefix}_{value}"
        return words.sub(rf"{prefix}_\1", value) if words else value

    changed: Spec = change(spec)
    return changed


def _names_in(part: Any) -> set[str]:
    """All that is called by a ``name`` in a specification: its data and its views."""
    if isinstance(part, Mapping):
        own = {part["name"]} if isinstance(part.get("name"), str) else set()
        return own.union(*(_names_in(inner) for inner in part.values()))
    return set().union(*(_names_in(inner) for inner in part)) if isinstance(part, list) else set()

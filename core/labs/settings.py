"""Settings of a training, as they travel to another process and into a file: plain values only."""

import json
from dataclasses import asdict
from typing import Any

from core.labs.events import JSON


def plain(settings: Any) -> dict[str, JSON]:
    """The fields of a dataclass as JSON gives them back: tuples are lists.

    Raises: TypeError if it is no instance of a dataclass, or holds what JSON does not know; ValueError for NaN or
        infinity.
    """
    values: dict[str, JSON] = json.loads(json.dumps(asdict(settings), allow_nan=False))
    return values

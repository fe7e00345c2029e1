"""Which experiments there are: a worker imports no other module, whatever it is asked for."""

from collections.abc import Mapping
from types import MappingProxyType

EXPERIMENTS: Mapping[str, str] = MappingProxyType(
    {
        "open_book": "core.labs.open_book",
        "three_matrices": "core.labs.three_matrices",
        "longer": "core.labs.longer",
        "learning_heads": "core.labs.learning_heads",
    }
)
"""name → the module with its `Settings`, `train` and `comparison`."""

"""The examples in the docstrings of the labs are true."""

import doctest
import importlib
import pkgutil

import pytest

from core import labs

MODULES = sorted(module.name for module in pkgutil.iter_modules(labs.__path__, "core.labs."))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_some() -> None:
    assert sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES) > 0

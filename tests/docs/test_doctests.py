"""The examples in docstrings show what they say they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import taxonomist


def has_examples(module: pkgutil.ModuleInfo) -> bool:
    spec = module.module_finder.find_spec(module.name, None)
    return ">>>" in (spec.loader.get_source(module.name) or "")


MODULES = [
    module.name
    for module in pkgutil.walk_packages(taxonomist.__path__, "taxonomist.")
    if has_examples(module)
]


def test_there_are_examples():
    assert MODULES


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.attempted
    assert results.failed == 0

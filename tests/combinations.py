"""Combinations of options that are fewer than all, and yet show every pair of values together."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable


def covering(options: dict[str, Iterable[Any]]) -> list[tuple[Any, ...]]:
    """Return combinations of values in which any two values of two options meet.

    The next one is always the first that brings most new pairs together.
    """
    values = [list(given) for given in options.values()]
    everything = list(product(*(range(len(given)) for given in values)))
    pairs = {row: set(combinations(enumerate(row), 2)) for row in everything}
    missing = set().union(*pairs.values())
    chosen = []
    while missing:
        best = max(everything, key=lambda row: len(pairs[row] & missing))
        chosen.append(tuple(given[i] for given, i in zip(values, best, strict=True)))
        missing -= pairs[best]
    return chosen


def every_pair(**options: Iterable[Any]) -> pytest.MarkDecorator:
    """Return the decorator that runs a test with such combinations."""
    return pytest.mark.parametrize(tuple(options), covering(options), ids=str)

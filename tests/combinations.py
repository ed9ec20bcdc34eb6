"""Products of options: enough combinations to show every pair of values, the rest as slow tests."""

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
    """Return the decorator that runs a test with the whole product of options.

    Combinations that only repeat pairs of values which others show are slow tests.
    """
    return _quick_and_slow(options, covering(options))


def every_value(**options: Iterable[Any]) -> pytest.MarkDecorator:
    """Return the decorator that runs a test with the whole product of options.

    Combinations beyond those in which each value occurs are slow tests: fewer than by
    ``every_pair``, for claims that another test shows for every pair of values.
    """
    values = [list(given) for given in options.values()]
    most = max(map(len, values))
    return _quick_and_slow(options, [tuple(v[k % len(v)] for v in values) for k in range(most)])


def _quick_and_slow(
    options: dict[str, Iterable[Any]], quick: list[tuple[Any, ...]]
) -> pytest.MarkDecorator:
    rest = [row for row in product(*options.values()) if not _is_among(row, quick)]
    slow = [pytest.param(*row, marks=pytest.mark.slow) for row in rest]
    return pytest.mark.parametrize(tuple(options), [*quick, *slow], ids=str)


def _is_among(row: tuple[Any, ...], others: list[tuple[Any, ...]]) -> bool:
    """Return whether a row occurs, by identity or equality of its values."""
    return any(all(a is b or a == b for a, b in zip(row, other, strict=True)) for other in others)

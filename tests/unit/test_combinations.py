"""Fewer combinations than all still show every pair of values."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from tests.combinations import covering, every_pair


def test_any_two_values_meet():
    options = {"a": "uvw", "b": [0, 1], "c": [None, {}, []], "d": "xy"}
    found = covering(options)
    assert len(found) < 36 / 3
    for (i, first), (j, second) in combinations(enumerate(options.values()), 2):
        for one, other in product(first, second):
            assert any(row[i] == one and row[j] == other for row in found)


def test_two_options_meet_in_full():
    assert sorted(covering({"a": "uv", "b": "xyz"})) == list(product("uv", "xyz"))


def test_what_is_left_of_the_product_is_slow():
    values = every_pair(a="uv", b=[0, 1], c=[None, {}]).args[1]
    slow = [tuple(row.values) for row in values if hasattr(row, "values")]
    quick = [row for row in values if not hasattr(row, "values")]
    assert all(row.marks == (pytest.mark.slow.mark,) for row in values if hasattr(row, "marks"))
    assert sorted(map(str, quick + slow)) == sorted(map(str, product("uv", [0, 1], [None, {}])))
    assert len(quick) == 4

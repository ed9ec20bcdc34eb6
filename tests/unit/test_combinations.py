"""Fewer combinations than all still show every pair of values."""

from __future__ import annotations

from itertools import combinations, product

from tests.combinations import covering, every_pair, every_value


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
    marked = [row for row in values if hasattr(row, "marks")]
    quick = [row for row in values if not hasattr(row, "marks")]
    slow = [row.values for row in marked]
    assert all(mark.name == "slow" for row in marked for mark in row.marks)
    assert sorted(map(str, quick + slow)) == sorted(map(str, product("uv", [0, 1], [None, {}])))
    assert len(quick) == 4


def test_every_value_occurs_and_the_rest_is_slow():
    values = every_value(a="uvw", b=[0, 1], c=[None]).args[1]
    quick = [row for row in values if not hasattr(row, "marks")]
    assert quick == [("u", 0, None), ("v", 1, None), ("w", 0, None)]
    slow = [row.values for row in values if hasattr(row, "marks")]
    assert sorted(map(str, quick + slow)) == sorted(map(str, product("uvw", [0, 1], [None])))

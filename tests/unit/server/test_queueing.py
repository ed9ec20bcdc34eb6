"""The order of the queue."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from taxonomist.server.queueing import deal, mixed, ordered
from taxonomist.server.store.waiting import BranchTotal, Waiting

SIZES = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 20), min_size=1)


@given(SIZES, st.integers(0, 60), st.data())
def test_places_are_dealt_out_and_none_is_wasted(sizes, n, data):
    masses = {branch: data.draw(st.floats(0, 100)) for branch in sizes}
    quotas = deal(n, masses, sizes)
    assert sum(quotas.values()) == min(n, sum(sizes.values()))
    assert all(0 <= quotas[branch] <= sizes[branch] for branch in sizes)
    if n >= len(sizes):
        assert all(quotas.values())


def test_places_go_by_mass():
    assert deal(10, {"a": 8.0, "b": 2.0}, {"a": 50, "b": 50}) == {"a": 8, "b": 2}
    assert deal(10, {"a": 8.0, "b": 2.0}, {"a": 3, "b": 50}) == {"a": 3, "b": 7}
    assert deal(3, {"a": 100.0, "b": 0.0}, {"a": 50, "b": 50}) == {"a": 2, "b": 1}


@given(st.integers(0, 30), st.integers(0, 30))
def test_mixing_keeps_all_and_both_orders(n, n_marked):
    given_numbers, marked = list(range(n)), list(range(100, 100 + n_marked))
    found = mixed(given_numbers, marked)
    assert [number for number in found if number < 100] == given_numbers
    assert [number for number in found if number >= 100] == marked


def rows(branch, risks, **fields):
    start = fields.pop("start")
    common = {"is_random": False, "is_skipped": False, **fields}
    return [Waiting(start + i, branch, risk, **common) for i, risk in enumerate(risks)]


def test_the_largest_risks_come_first_skipped_last_and_random_ones_are_mixed_in():
    found = [
        *rows("a", [0.9, 0.8, 0.7, 0.1], start=0),
        *rows("b", [0.85], start=10),
        *rows("b", [2.0], start=20, is_skipped=True),
        *rows("a", [0.0, 0.0], start=30, is_random=True),
    ]
    totals = [BranchTotal("a", 6, 2.5), BranchTotal("b", 2, 2.85)]
    assert ordered(found, totals, 20, 0.1) == [0, 10, 1, 30, 2, 3, 20, 31]
    assert ordered(found, totals, 4, 0.25) == [0, 10, 20, 30]
    assert ordered(found, totals, 4, 0.0) == [0, 10, 1, 20]


def test_without_others_random_ones_fill_the_queue():
    found = rows("a", [0.1] * 5, start=0, is_random=True)
    assert ordered(found, [BranchTotal("a", 5, 0.5)], 3, 0.1) == [0, 1, 2]

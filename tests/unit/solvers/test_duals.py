"""Where dual variables are kept: growth, selection and round trips against a plain dict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist.compiled.arrays import Duals
from taxonomist.compiled.duals import count_positive, drop_all_zeros
from taxonomist.solvers.duals import (
    DualStore,
    Entries,
    no_duals,
    of_items,
    positive,
    renumbered,
)

N_ITEMS = 4

variables = st.tuples(
    st.integers(0, 9),
    st.integers(10, 19),
    st.sampled_from([0.0, 0.25, 1.0]),
    st.sampled_from([0.5, 2.0]),
)
items = st.integers(0, N_ITEMS - 1)
groups = st.lists(items, unique=True).map(lambda group: np.array(group, dtype=np.intp))
tables = st.lists(st.lists(variables, max_size=5), min_size=1, max_size=6)
operations = st.one_of(
    st.tuples(st.just("place"), groups, st.integers(0, 9)),
    st.tuples(st.just("add"), items, st.lists(variables, max_size=4)),
    st.tuples(st.just("zero"), items, st.integers(0, 9)),
    st.tuples(st.just("drop")),
)


def duals_of(table):
    """Return variables (own, other, beta, delta) of each item as duals with holes between them."""
    size = np.array([len(row) for row in table])
    room = size + 2
    duals = Duals(
        np.cumsum(room) - room,
        room,
        size,
        *(np.full(room.sum(), 99, dtype=kind) for kind in (np.intp, np.intp, float, float)),
    )
    for start, row in zip(duals.start, table, strict=True):
        for a, variable in enumerate(row):
            write(duals, start + a, variable)
    return duals


def write(duals, a, variable):
    for place, value in zip(duals[3:], variable, strict=True):
        place[a] = value


def rows_of(duals):
    """Return the variables of each item, in their order."""
    return [
        [tuple(place[a].item() for place in duals[3:]) for a in range(start, start + size)]
        for start, size in zip(duals.start, duals.size, strict=True)
    ]


def positive_rows(table):
    return [[variable for variable in row if variable[2] > 0] for row in table]


@given(tables)
def test_entries_and_back(table):
    duals = duals_of(table)
    entries = Entries.of(duals)
    flat = [(i, *variable) for i, row in enumerate(table) for variable in row]
    assert list(zip(*(part.tolist() for part in entries), strict=True)) == flat
    stored = entries.stored(len(table))
    assert rows_of(stored) == table
    assert len(stored.beta) == stored.size.sum() == len(flat)
    np.testing.assert_array_equal(stored.room, stored.size)
    for one, other in zip(Entries.of(stored), entries, strict=True):
        np.testing.assert_array_equal(one, other)


@given(tables, st.data())
def test_selected_entries(table, data):
    entries = Entries.of(duals_of(table))
    n = len(entries.beta)
    chosen = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    for one, other in zip(entries.select(chosen), entries, strict=True):
        np.testing.assert_array_equal(one, other[chosen])


@given(tables)
def test_positive_ones(table):
    duals = duals_of(table)
    found = positive(duals)
    assert rows_of(found) == positive_rows(table)
    assert len(found.beta) == found.size.sum()
    found.beta[:] = found.own[:] = found.start[:] = 77
    assert rows_of(duals) == table


@given(tables, st.lists(st.integers(0, 8)))
def test_those_of_some_items(table, chosen):
    found = of_items(duals_of(table), np.array(chosen, dtype=np.intp))
    assert rows_of(found) == [table[i] if i < len(table) else [] for i in chosen]
    assert len(found.beta) == found.size.sum()


@given(tables, st.data())
def test_those_of_some_items_among_all(table, data):
    n = len(table)
    places = sorted(data.draw(st.sets(st.integers(0, 9), min_size=n, max_size=n)))
    found = renumbered(duals_of(table), np.array(places), 10)
    rows = dict(zip(places, table, strict=True))
    assert rows_of(found) == [rows.get(i, []) for i in range(10)]
    assert rows_of(of_items(found, np.array(places))) == table


def test_stored_tables_are_copies():
    entries = Entries.of(duals_of([[(1, 11, 0.5, 2.0)], []]))
    stored = entries.stored(2)
    stored.beta[0] = stored.own[0] = 5
    stored.room[0] = 8
    assert entries.beta.tolist() == [0.5]
    assert entries.own.tolist() == [1]
    assert stored.size.tolist() == [1, 0]


@pytest.mark.parametrize("n_items", [0, 1, 5])
def test_none(n_items):
    duals = no_duals(n_items)
    assert rows_of(duals) == [[] for _ in range(n_items)]
    assert len(Entries.of(duals).beta) == 0
    assert count_positive(duals) == 0
    assert [part.dtype.kind for part in duals] == list("iiiiiff")
    assert DualStore(duals).largest_room == 0


class Kept:
    """A store beside a dict of what it must hold."""

    def __init__(self, table):
        self.given = duals_of(table)
        self.store = DualStore(self.given)
        self.rows = dict(enumerate(positive_rows(table)))

    def place(self, group, n_new):
        before = self.store.duals.start.copy(), self.store.duals.room.copy()
        had_room = self.store.duals.size + n_new <= before[1]
        self.store.make_place(group, n_new)
        duals = self.store.duals
        assert (duals.size[group] + n_new <= duals.room[group]).all()
        stays = had_room | ~np.isin(np.arange(N_ITEMS), group)
        for old, new in zip(before, (duals.start, duals.room), strict=True):
            np.testing.assert_array_equal(old[stays], new[stays])

    def add(self, i, new):
        self.place(np.array([i]), len(new))
        duals = self.store.duals
        for variable in new:
            write(duals, duals.start[i] + duals.size[i], variable)
            duals.size[i] += 1
        self.rows[i] = self.rows[i] + new

    def zero(self, i, a):
        if a < len(self.rows[i]):
            own, other, _, delta = self.rows[i][a]
            self.rows[i][a] = own, other, 0.0, delta
            self.store.duals.beta[self.store.duals.start[i] + a] = 0.0

    def drop(self):
        drop_all_zeros(self.store.duals)
        self.rows = dict(enumerate(positive_rows(self.rows.values())))

    def check(self):
        duals = self.store.duals
        assert rows_of(duals) == list(self.rows.values())
        taken = [
            a for start, room in zip(*duals[:2], strict=True) for a in range(start, start + room)
        ]
        assert len(set(taken)) == len(taken)
        assert all(0 <= a < len(duals.beta) for a in taken)
        assert len({len(place) for place in duals[3:]}) == 1
        assert self.store.largest_room >= duals.room.max()


@given(
    st.lists(st.lists(variables, max_size=5), min_size=N_ITEMS, max_size=N_ITEMS),
    st.lists(operations, max_size=12),
)
def test_growth_keeps_every_variable(table, steps):
    kept = Kept(table)
    kept.check()
    for name, *arguments in steps:
        getattr(kept, name)(*arguments)
        kept.check()
    assert rows_of(positive(kept.store.duals)) == positive_rows(kept.rows.values())
    assert rows_of(kept.given) == table


def test_room_grows_by_a_factor():
    """One variable more at a time must not copy all of them each time."""
    store = DualStore(no_duals(3))
    n_moves, n_tables, before, length = 0, 0, -1, 0
    for _ in range(1000):
        store.make_place(np.array([1]), 1)
        duals = store.duals
        n_moves += duals.start[1] != before
        n_tables += len(duals.beta) != length
        before, length = duals.start[1], len(duals.beta)
        duals.beta[duals.start[1] + duals.size[1]] = duals.size[1]
        duals.size[1] += 1
    assert n_moves <= 11
    assert n_tables <= n_moves
    assert len(store.duals.beta) <= 6000
    np.testing.assert_array_equal(Entries.of(store.duals).beta, np.arange(1000))

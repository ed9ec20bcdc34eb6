"""The storage of dual variables between passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.compiled.arrays import Duals

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Floats, Objects


class Entries(NamedTuple):
    """Active dual variables as columns of a table, in the order of their items."""

    item: Codes
    own: Codes
    other: Codes
    beta: Floats
    delta: Floats

    @classmethod
    def of(cls, duals: Duals) -> Entries:
        """Return the active variables of all items."""
        at = ranges(duals.start, duals.size)
        item = np.repeat(np.arange(len(duals.size)), duals.size)
        return cls._make([item, *(table[at] for table in duals[3:])])

    def select(self, chosen: Codes) -> Entries:
        """Return some of the variables."""
        return Entries._make(table[chosen] for table in self)

    def stored(self, n_items: int) -> Duals:
        """Return the variables as ``Duals`` without spare room."""
        size = np.bincount(self.item, minlength=n_items)
        tables = (table.copy() for table in self[1:])
        return Duals._make([np.cumsum(size) - size, size, size.copy(), *tables])


def no_duals(n_items: int) -> Duals:
    """Return ``Duals`` without any active variable."""
    nothing = np.empty(0, dtype=np.intp)
    return Entries(nothing, nothing, nothing, np.empty(0), np.empty(0)).stored(n_items)


def positive(duals: Duals) -> Duals:
    """Return the positive variables, without spare room."""
    entries = Entries.of(duals)
    return entries.select(np.flatnonzero(entries.beta > 0)).stored(len(duals.size))


def of_items(duals: Duals, items: Codes) -> Duals:
    """Return the variables of some items, in their order; those of unknown items are zero."""
    known = items[items < len(duals.size)]
    at = ranges(duals.start[known], duals.size[known])
    to = np.repeat(np.flatnonzero(items < len(duals.size)), duals.size[known])
    return Entries._make([to, *(table[at] for table in duals[3:])]).stored(len(items))


def renumbered(duals: Duals, items: Codes, n_items: int) -> Duals:
    """Return the variables of some items, in ascending order, as variables of all items."""
    entries = Entries.of(duals)
    return entries._replace(item=items[entries.item]).stored(n_items)


class DualStore:
    """Dual variables whose number can grow; an item that needs more room moves to the end.

    Parameters
    ----------
    duals
        Variables to start from; they are copied.
    """

    def __init__(self, duals: Duals) -> None:
        self.duals = positive(duals)
        self.largest_room = int(self.duals.room.max(initial=0))
        self._end = len(self.duals.beta)

    def make_place(self, items: Codes, n_new: int) -> None:
        """Make room for ``n_new`` more variables of each of some items."""
        duals = self.duals
        items = items[duals.size[items] + n_new > duals.room[items]]
        if not len(items):
            return
        room = 2 * (duals.size[items] + n_new)
        start = self._end + np.cumsum(room) - room
        self._end += int(room.sum())
        if self._end > len(duals.beta):
            duals = Duals._make([*duals[:3], *(_grown(table, self._end) for table in duals[3:])])
        size = duals.size[items]
        for table in duals[3:]:
            table[ranges(start, size)] = table[ranges(duals.start[items], size)]
        duals.start[items] = start
        duals.room[items] = room
        self.duals = duals
        self.largest_room = max(self.largest_room, int(room.max()))


def _grown(table: Objects, n_needed: int) -> Objects:
    """Return a longer table, with zeros at its end: spare room takes no memory until it is used."""
    longer = np.zeros(3 * n_needed // 2, table.dtype)
    longer[: len(table)] = table
    return longer


def ranges(start: Codes, size: Codes) -> Codes:
    """Return start, start + 1, ..., ``size`` of them, for each pair, one after another."""
    ends = np.cumsum(size)
    return np.repeat(start - ends + size, size) + np.arange(int(size.sum()))

"""Labellings with dual variables between sweeps: where those of each item are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled.markov_arrays import Columns
from taxonomist.solvers.duals import ranges

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Floats

FIRST_ROOM = 8
"""Labellings, and codes for each node, that there is room for at first, for each item."""


def no_columns(n_items: int) -> Columns:
    """Return no labellings, without room for any."""
    per_item = np.zeros((6, n_items), dtype=np.intp)
    nothing = np.empty(0, dtype=np.intp)
    tables = nothing, nothing, np.empty(0), np.empty(0), np.empty(0, dtype=np.int32)
    return Columns._make([*per_item, *tables])


def packed(columns: Columns, items: Codes) -> Columns:
    """Return the labellings with positive dual variables of some items, and no room for others.

    Items that have none, because they are not known, may be among them.
    """
    known = items < len(columns.size)
    size = np.zeros(len(items), dtype=np.intp)
    size[known] = columns.size[items[known]]
    start = np.zeros(len(items), dtype=np.intp)
    start[known] = columns.start[items[known]]
    at = ranges(start, size)
    of = np.repeat(np.arange(len(items)), size)
    is_used = columns.alpha[at] > 0
    at, of = at[is_used], of[is_used]
    count = columns.n_codes[at]
    codes = columns.codes[ranges(columns.begin[at], count)]
    size = np.bincount(of, minlength=len(items))
    code_size = np.bincount(of, weights=count, minlength=len(items)).astype(np.intp)
    begin = np.cumsum(count) - count
    rooms = [np.cumsum(size) - size, size.copy(), size]
    code_rooms = [np.cumsum(code_size) - code_size, code_size.copy(), code_size]
    tables = begin, count, columns.alpha[at], columns.loss[at], codes
    return Columns._make([*rooms, *code_rooms, *tables])


def within(columns: Columns, costs: Floats, is_exact: bool) -> Columns:
    """Return the labellings with dual variables that sum to at most C_i, or exactly to it."""
    of = np.repeat(np.arange(len(columns.size)), columns.size)
    total = np.bincount(of, weights=columns.alpha, minlength=len(costs))
    ratio = np.divide(costs, total, out=np.ones(len(costs)), where=total > 0)
    return columns._replace(alpha=columns.alpha * (ratio if is_exact else np.minimum(ratio, 1))[of])


class LabellingStore:
    """Labellings whose number can grow.

    Parameters
    ----------
    columns
        Where to begin; they are copied.
    n_nodes
        Nodes of the tree, by which the first room is measured.
    """

    def __init__(self, columns: Columns, n_nodes: int) -> None:
        n_items = len(columns.size)
        self.columns = packed(columns, np.arange(n_items))
        self.end = np.array([len(self.columns.alpha), len(self.columns.codes)])
        self._least = FIRST_ROOM * n_items + 4, 4 * (n_nodes * n_items + n_nodes)
        self.grow()

    @property
    def n_used(self) -> int:
        """Number of positive dual variables."""
        at = ranges(self.columns.start, self.columns.size)
        return int(np.count_nonzero(self.columns.alpha[at] > 0))

    def grow(self) -> None:
        """Make half as much room again."""
        more, more_codes = (
            max(least, size // 2)
            for least, size in zip(
                self._least, (len(self.columns.alpha), len(self.columns.codes)), strict=True
            )
        )
        tables = [np.pad(table, (0, more)) for table in self.columns[6:10]]
        codes = np.pad(self.columns.codes, (0, more_codes))
        self.columns = Columns._make([*self.columns[:6], *tables, codes])

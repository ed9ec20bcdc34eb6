"""The storage of labellings with dual variables between sweeps, and the sweeps over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled import markov
from taxonomist.compiled.markov_arrays import ActiveLabellings
from taxonomist.solvers.duals import ranges

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from taxonomist._typing import Codes, Floats, Reals
    from taxonomist.compiled.arrays import Findings
    from taxonomist.compiled.marginal_arrays import EdgeMarginals
    from taxonomist.compiled.markov_arrays import MarkovArrays
    from taxonomist.solvers.markov_graph import GraphProblem
    from taxonomist.solvers.markov_problem import MarkovProblem

LABELLINGS_PER_ITEM = 8
"""Labellings of each item, and codes for each node, that there is room for at first."""


def no_labellings(n_items: int) -> ActiveLabellings:
    """Return ``ActiveLabellings`` without any labelling."""
    per_item = np.zeros((6, n_items), dtype=np.intp)
    nothing = np.empty(0, dtype=np.intp)
    tables = nothing, nothing, np.empty(0), np.empty(0), np.empty(0, dtype=np.int32)
    return ActiveLabellings._make([*per_item, *tables])


def packed(labellings: ActiveLabellings, items: Codes) -> ActiveLabellings:
    """Return the labellings of some items with positive dual variables, without spare room.

    Items with unknown numbers have no labellings.
    """
    known = items < len(labellings.size)
    size = np.zeros(len(items), dtype=np.intp)
    size[known] = labellings.size[items[known]]
    start = np.zeros(len(items), dtype=np.intp)
    start[known] = labellings.start[items[known]]
    at = ranges(start, size)
    of = np.repeat(np.arange(len(items)), size)
    is_used = labellings.alpha[at] > 0
    at, of = at[is_used], of[is_used]
    count = labellings.n_codes[at]
    codes = labellings.codes[ranges(labellings.begin[at], count)]
    size = np.bincount(of, minlength=len(items))
    code_size = np.bincount(of, weights=count, minlength=len(items)).astype(np.intp)
    begin = np.cumsum(count) - count
    rooms = [np.cumsum(size) - size, size.copy(), size]
    code_rooms = [np.cumsum(code_size) - code_size, code_size.copy(), code_size]
    tables = begin, count, labellings.alpha[at], labellings.loss[at], codes
    return ActiveLabellings._make([*rooms, *code_rooms, *tables])


def within(labellings: ActiveLabellings, costs: Floats, is_exact: bool) -> ActiveLabellings:
    """Return the labellings with dual variables scaled to sum to at most C_i, or exactly to C_i."""
    of = np.repeat(np.arange(len(labellings.size)), labellings.size)
    total = np.bincount(of, weights=labellings.alpha, minlength=len(costs))
    ratio = np.divide(costs, total, out=np.ones(len(costs)), where=total > 0)
    return labellings._replace(
        alpha=labellings.alpha * (ratio if is_exact else np.minimum(ratio, 1))[of]
    )


class LabellingStore:
    """Labellings whose number can grow.

    Parameters
    ----------
    labellings
        Labellings to start from; they are copied.
    n_nodes
        Nodes of the tree; more nodes need more room for codes.
    """

    def __init__(self, labellings: ActiveLabellings, n_nodes: int) -> None:
        n_items = len(labellings.size)
        self.labellings = packed(labellings, np.arange(n_items))
        self.end = np.array([len(self.labellings.alpha), len(self.labellings.codes)])
        self._least = LABELLINGS_PER_ITEM * n_items + 4, 4 * (n_nodes * n_items + n_nodes)
        self.grow()

    @property
    def n_used(self) -> int:
        """Number of positive dual variables."""
        at = ranges(self.labellings.start, self.labellings.size)
        return int(np.count_nonzero(self.labellings.alpha[at] > 0))

    def grow(self) -> None:
        """Make the tables half as large again."""
        more, more_codes = (
            max(least, size // 2)
            for least, size in zip(
                self._least, (len(self.labellings.alpha), len(self.labellings.codes)), strict=True
            )
        )
        tables = [np.pad(table, (0, more)) for table in self.labellings[6:10]]
        codes = np.pad(self.labellings.codes, (0, more_codes))
        self.labellings = ActiveLabellings._make([*self.labellings[:6], *tables, codes])


class LabellingSweeps:
    """Loops over items and their labellings, whose number can grow.

    Parameters
    ----------
    problem
        What to solve.
    dtype
        Type of the weights.
    start
        Labellings to start from; marginals of edges are not used.
    """

    def __init__(
        self,
        problem: MarkovProblem | GraphProblem,
        dtype: DTypeLike,
        start: ActiveLabellings | EdgeMarginals | None,
    ) -> None:
        begin = no_labellings(problem.n_items)
        if isinstance(start, ActiveLabellings):
            begin = start
        self.is_fresh = len(begin.alpha) == 0
        self._problem, self._dtype = problem, dtype
        self._scratch = problem.scratch(dtype)
        self._store = LabellingStore(begin, problem.n_nodes)

    @property
    def n_used(self) -> int:
        """Number of positive dual variables."""
        return self._store.n_used

    def result(self) -> ActiveLabellings:
        """Return the labellings with positive dual variables."""
        return packed(self._store.labellings, np.arange(self._problem.n_items))

    def sweep(
        self,
        group: Codes,
        begin: int,
        arrays: MarkovArrays,
        W: Reals,
        findings: Findings,
        tol: float,
        rest: Codes,
        calm: Codes,
    ) -> tuple[int, float]:
        """Solve items; return where there was no more room, and the gain of the dual."""
        labellings, end = self._store.labellings, self._store.end
        return markov.sweep(
            group, begin, arrays, W, labellings, end, self._scratch, findings, tol, rest, calm
        )

    def make_place(self, item: int) -> None:
        """Make room for more labellings of the item at which the last sweep stopped."""
        room = len(self._scratch.G)
        if self._store.labellings.size[item] + markov.MOST_TURNS > room:
            self._scratch = self._problem.scratch(self._dtype, 2 * room)
        else:
            self._store.grow()

    def inspect(self, items: Codes, arrays: MarkovArrays, W: Reals, findings: Findings) -> None:
        """Write the findings about items at fixed weights; threads may call this."""
        scratch = self._problem.scratch(self._dtype)
        markov.inspect(items, arrays, W, self._store.labellings, scratch, findings)

    def add_up(self, items: Codes, arrays: MarkovArrays, W: Reals) -> None:
        """Add the items' part of w(α) to the weights."""
        markov.add_up(items, arrays, W, self._store.labellings, self._scratch)

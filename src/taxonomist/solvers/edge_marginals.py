"""Dual ascent in the marginals of one item's edges: the default for edge features on trees.

Problem       the problem of ``taxonomist.solvers.markov_problem`` with edge features, slacks that
              are not signed, and finite costs
Dual          max_μ  Σ_i <ℓ_i, μ_i> - ½ ||w(μ)||²,  w_z(μ) = Σ_i (C_i [z is true] - μ_iz) x_i,
              μ_i in C_i M, with M the marginals of all distributions over labellings: on a tree,
              μ >= 0, each edge's sum to C_i, and edges that share a node agree on how much of C_i
              is at each of its labels                                     [RSSS06, Eq. 5-8]
Notation      as in ``markov_problem``; g_iz = ℓ_z - <w_t - w_z, x_i>, with the edge's true code t;
              G_iy = Σ g_iz over the codes of a labelling y
Step          Dynamic programming finds the labelling with the largest G_iy, and the one with the
              smallest among those whose codes all have μ_iz > 0. Where they differ, mass goes from
              the second to the first. The nodes that differ fall into connected parts of the tree,
              which share no codes, and so each part has a step of its own: as far as the dual
              rises, or until a marginal is 0. Up to eight such steps are taken at a visit.
Stopping      as in ``taxonomist.solvers.markov``; the violation of an item is the difference of the
              two G_iy
Cost          Sweep O(nnz n_codes + n_items n_nodes); memory n_features x n_codes weights, and two
              numbers for each positive marginal of a wrong labelling of an edge.
Differences   The paper climbs towards one labelling at a time, with one step for the whole tree;
              see ``taxonomist.solvers.subspace``. Steps between two labellings by their marginals
              are those of Garber and Meshi (2016). A tree of n nodes needs up to n labellings, and
              n² codes, for what n marginals say, which is why no labellings are stored.
References    [RSSS06, Eq. 5-8], [RSSS06, Sec. 3.4]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled import edge_marginals as loops
from taxonomist.compiled.marginal_arrays import EdgeMarginals, marginal_scratch
from taxonomist.solvers.duals import ranges
from taxonomist.solvers.markov_problem import MarkovProblem

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from taxonomist._typing import Codes, Floats, Integers, Reals
    from taxonomist.compiled.arrays import Findings
    from taxonomist.compiled.markov_arrays import ActiveLabellings, MarkovArrays
    from taxonomist.solvers.markov_graph import GraphProblem

MARGINALS_PER_ITEM = 16
"""Marginals of each item that there is room for at first."""


def has_edge_marginals(problem: MarkovProblem | GraphProblem) -> bool:
    """Return whether the dual of a problem is a function of the marginals of its edges.

    With signed slacks the truth is no labelling, and linear constraints on marginals cannot say so.
    """
    is_tree = isinstance(problem, MarkovProblem) and problem.tree.stride == 4
    is_finite = bool(np.isfinite(problem.costs).all())
    return is_tree and problem.slack == "example" and is_finite


# Tables of marginals --------------------------------------------------------------------------


def stored(items: Codes, codes: Integers, mass: Floats, n_items: int) -> EdgeMarginals:
    """Return marginals without spare room; entries are in ascending order of items and codes."""
    size = np.bincount(items, minlength=n_items)
    start = np.cumsum(size) - size
    return EdgeMarginals(start, size.copy(), size, codes.astype(np.int32), mass)


def no_marginals(n_items: int) -> EdgeMarginals:
    """Return ``EdgeMarginals`` of items whose labellings are true."""
    nothing = np.empty(0, dtype=np.intp)
    return stored(nothing, nothing, np.empty(0), n_items)


def marginals_of(marginals: EdgeMarginals, items: Codes) -> EdgeMarginals:
    """Return the marginals of some items, without spare room.

    Items with unknown numbers have the true labellings.
    """
    known = np.flatnonzero(items < len(marginals.size))
    size = marginals.size[items[known]]
    at = ranges(marginals.start[items[known]], size)
    of = np.repeat(known, size)
    return stored(of, marginals.codes[at], marginals.mass[at], len(items))


def marginals_within(marginals: EdgeMarginals, costs: Floats) -> EdgeMarginals:
    """Return marginals scaled such that those of no edge exceed C_i; there is no spare room."""
    of = np.repeat(np.arange(len(costs)), marginals.size)
    edges, place = np.unique(np.stack([of, marginals.codes // 4]), axis=1, return_inverse=True)
    used = np.zeros(len(costs))
    np.maximum.at(
        used, edges[0], np.bincount(place.ravel(), marginals.mass, minlength=edges.shape[1])
    )
    ratio = np.divide(costs, used, out=np.ones(len(costs)), where=used > costs)
    return marginals._replace(mass=marginals.mass * ratio[of])


def marginals_from(labellings: ActiveLabellings) -> EdgeMarginals:
    """Return the marginals of labellings with dual variables, without spare room."""
    at = ranges(labellings.start, labellings.size)
    n_codes = labellings.n_codes[at]
    codes = labellings.codes[ranges(labellings.begin[at], n_codes)]
    of = np.repeat(np.repeat(np.arange(len(labellings.size)), labellings.size), n_codes)
    alpha = np.repeat(labellings.alpha[at], n_codes)
    is_wrong = (codes > 0) & (alpha > 0)
    keys = np.stack([of[is_wrong], codes[is_wrong] - 1])
    found, place = np.unique(keys, axis=1, return_inverse=True)
    mass: Floats = np.bincount(place.ravel(), alpha[is_wrong], minlength=found.shape[1]).astype(
        float
    )
    return stored(found[0], found[1], mass, len(labellings.size))


# Sweeps ---------------------------------------------------------------------------------------


class MarginalSweeps:
    """Loops over items and their marginals, whose number can grow.

    Parameters
    ----------
    problem
        What to solve.
    dtype
        Type of the weights.
    start
        Marginals, or labellings with dual variables, to start from.
    """

    def __init__(
        self,
        problem: MarkovProblem | GraphProblem,
        dtype: DTypeLike,
        start: EdgeMarginals | ActiveLabellings | None,
    ) -> None:
        if start is None:
            begin = no_marginals(problem.n_items)
        elif isinstance(start, EdgeMarginals):
            begin = marginals_of(start, np.arange(problem.n_items))
        else:
            begin = marginals_from(start)
        self.is_fresh = len(begin.mass) == 0
        self._n_nodes, self._dtype = problem.n_nodes, dtype
        self._scratch = marginal_scratch(problem.n_nodes, dtype)
        self._marginals = begin
        self._end = np.array([len(begin.mass)])
        self._least = MARGINALS_PER_ITEM * problem.n_items + 2 * problem.n_codes
        self.make_place(0)

    @property
    def n_used(self) -> int:
        """Number of positive marginals of wrong labellings of edges."""
        return int(self._marginals.size.sum())

    def result(self) -> EdgeMarginals:
        """Return the marginals without spare room."""
        return marginals_of(self._marginals, np.arange(len(self._marginals.size)))

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
        """Visit items; return where there was no more room, and the gain of the dual."""
        return loops.sweep(
            group,
            begin,
            arrays,
            W,
            self._marginals,
            self._end,
            self._scratch,
            findings,
            tol,
            rest,
            calm,
        )

    def make_place(self, item: int) -> None:  # noqa: ARG002 (all items share the room)
        """Make the tables half as large again."""
        more = max(self._least, len(self._marginals.mass) // 2)
        tables = (np.pad(table, (0, more)) for table in self._marginals[3:])
        self._marginals = EdgeMarginals._make([*self._marginals[:3], *tables])

    def inspect(self, items: Codes, arrays: MarkovArrays, W: Reals, findings: Findings) -> None:
        """Write the findings about items at fixed weights; threads may call this."""
        scratch = marginal_scratch(self._n_nodes, self._dtype)
        loops.inspect(items, arrays, W, self._marginals, scratch, findings)

    def add_up(self, items: Codes, arrays: MarkovArrays, W: Reals) -> None:
        """Add the items' part of w(μ) to the weights."""
        loops.add_up(items, arrays, W, self._marginals, self._scratch)

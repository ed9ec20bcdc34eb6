"""The marginals that the subspace solver climbs in: those of edges, and those of partial paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from taxonomist.compiled import path_subspace, subspace
from taxonomist.solvers.marginal_polytope import MarginalPolytope, PathPolytope

if TYPE_CHECKING:
    from taxonomist._typing import Floats
    from taxonomist.compiled.arrays import Findings
    from taxonomist.compiled.markov_arrays import MarkovArrays, MarkovScratch
    from taxonomist.solvers.markov_problem import MarkovProblem


class Marginals(Protocol):
    """Marginals of all items, and the steps of one item whose truth, scores and norms are known."""

    @property
    def mu(self) -> Floats:
        """The marginals, (n_items, n_codes)."""

    @property
    def used(self) -> Floats:
        """How much of C_i the dual variables of each item take up."""

    def begin(self, arrays: MarkovArrays, i: int) -> None:
        """Prepare the steps of an item at the present weights."""

    def ascend(self, arrays: MarkovArrays, i: int, limit: int) -> float:
        """Take up to ``limit`` steps [RSSS06, Alg. 2]; return the gain of the dual."""

    def use_up(self, arrays: MarkovArrays, i: int) -> None:
        """Give all of C_i to the labelling with the largest G."""

    def look(self, arrays: MarkovArrays, i: int, findings: Findings) -> None:
        """Write the findings about an item."""


class MarginalsOfEdges:
    """Marginals μ_e(i, u) of the four labellings of each edge [RSSS06, Eq. 5]."""

    def __init__(self, problem: MarkovProblem, oracle: str, scratch: MarkovScratch) -> None:
        self._mu = np.zeros((problem.n_items, problem.n_codes))
        self._tree, self._scratch = problem.tree, scratch
        self._slope = subspace.make_slope(problem.n_codes)
        self._polytope = MarginalPolytope(problem.tree) if oracle == "linear_program" else None

    @property
    def mu(self) -> Floats:
        """The marginals, (n_items, n_codes)."""
        return self._mu

    @property
    def used(self) -> Floats:
        """How much of C_i the dual variables of each item take up."""
        total: Floats = self._mu[:, :4].sum(axis=1)
        return total

    def begin(self, arrays: MarkovArrays, i: int) -> None:  # noqa: ARG002
        """Prepare the steps of an item at the present weights."""
        subspace.begin(self._tree, self._scratch, self._slope)

    def ascend(self, arrays: MarkovArrays, i: int, limit: int) -> float:
        """Take up to ``limit`` steps [RSSS06, Alg. 2]; return the gain of the dual."""
        cost, state = arrays.costs[i], (self._mu, self._scratch, self._slope)
        if self._polytope is None:
            return subspace.ascend(self._tree, i, limit, cost, arrays.is_signed, *state)
        gain = 0.0
        for _ in range(limit):
            self._slope.target[:] = cost * self._polytope.best(self._slope.gradient)
            more = subspace.climb(self._tree, i, *state)
            gain += more
            if not more > 0.0:
                break
        return gain

    def use_up(self, arrays: MarkovArrays, i: int) -> None:
        """Give all of C_i to the labelling with the largest G."""
        subspace.aim(self._tree, arrays.costs[i], True, self._scratch, self._slope)
        subspace.settle(self._tree, i, self._mu, self._scratch, self._slope)

    def look(self, arrays: MarkovArrays, i: int, findings: Findings) -> None:
        """Write the findings about an item."""
        state = self._mu, self._scratch, self._slope
        subspace.look(self._tree, i, arrays.costs[i], arrays.is_signed, *state, findings)


class PathMarginals:
    """Marginals μ_j(i) of the path from the root to each node [RSSS06, Sec. 4].

    One number for each node instead of four for each edge. The prefixes of a path have at least its
    weight, because a labelling that is positive along a path is positive along its prefixes.
    """

    def __init__(self, problem: MarkovProblem, oracle: str, scratch: MarkovScratch) -> None:
        self._point = path_subspace.make_path_point(problem.n_items, problem.n_codes)
        self._scratch = scratch
        self._polytope = PathPolytope(problem.tree) if oracle == "linear_program" else None

    @property
    def mu(self) -> Floats:
        """The marginals, (n_items, n_codes)."""
        return self._point.mu

    @property
    def used(self) -> Floats:
        """How much of C_i the dual variables of each item take up."""
        return self._point.mass

    def begin(self, arrays: MarkovArrays, i: int) -> None:  # noqa: ARG002
        """Prepare the steps of an item at the present weights."""
        path_subspace.begin(arrays, self._scratch, self._point)

    def ascend(self, arrays: MarkovArrays, i: int, limit: int) -> float:
        """Take up to ``limit`` steps [RSSS06, Alg. 2]; return the gain of the dual."""
        if self._polytope is None:
            return path_subspace.ascend(arrays, i, limit, self._scratch, self._point)
        gain, point, scratch = 0.0, self._point, self._scratch
        for _ in range(limit):
            mass, linear, mu = self._polytope.best(scratch.truth, scratch.score, point.true)
            cost = arrays.costs[i]
            point.totals[:], point.target[:] = (cost * mass, cost * linear), cost * mu
            more = path_subspace.climb(i, scratch, point)
            gain += more
            if not more > 0.0:
                break
        return gain

    def use_up(self, arrays: MarkovArrays, i: int) -> None:
        """Give all of C_i to the labelling with the largest G."""
        path_subspace.aim(arrays, i, self._scratch, self._point)
        path_subspace.settle(i, self._scratch, self._point)

    def look(self, arrays: MarkovArrays, i: int, findings: Findings) -> None:
        """Write the findings about an item."""
        path_subspace.look(arrays, i, self._scratch, self._point, findings)

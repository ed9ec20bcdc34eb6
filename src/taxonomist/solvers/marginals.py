"""The marginals that the subspace solver climbs in: of edges, of partial paths, and on a DAG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from taxonomist.compiled import code_subspace, subspace
from taxonomist.compiled.graph_arrays import LabelledDag
from taxonomist.solvers.marginal_polytope import MarginalPolytope, PathPolytope

if TYPE_CHECKING:
    from taxonomist._typing import Floats
    from taxonomist.compiled.arrays import Findings
    from taxonomist.compiled.markov_arrays import MarkovArrays, MarkovScratch
    from taxonomist.solvers.markov_graph import GraphProblem
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


class CodeMarginals:
    """Marginals of partial paths, or of what labellings of a DAG use [RSSS06, Sec. 4].

    With path features, one number for each node instead of four for each edge. The prefixes of a
    path have at least its weight, because a labelling that is positive along a path is positive
    along its prefixes. On a DAG, edges that agree at their nodes need not be the marginals of any
    weights of labellings; these are, as steps go towards labellings only.
    """

    def __init__(
        self,
        problem: MarkovProblem | GraphProblem,
        polytope: PathPolytope | None,
        scratch: MarkovScratch,
    ) -> None:
        self._point = code_subspace.make_code_point(problem.n_items, problem.n_codes)
        self._scratch, self._polytope = scratch, polytope

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
        code_subspace.begin(arrays, self._scratch, self._point)

    def ascend(self, arrays: MarkovArrays, i: int, limit: int) -> float:
        """Take up to ``limit`` steps [RSSS06, Alg. 2]; return the gain of the dual."""
        if self._polytope is None:
            return code_subspace.ascend(arrays, i, limit, self._scratch, self._point)
        gain, point, scratch = 0.0, self._point, self._scratch
        for _ in range(limit):
            mass, linear, mu = self._polytope.best(scratch.truth, scratch.score, point.true)
            cost = arrays.costs[i]
            point.totals[:], point.target[:] = (cost * mass, cost * linear), cost * mu
            more = code_subspace.climb(i, scratch, point)
            gain += more
            if not more > 0.0:
                break
        return gain

    def use_up(self, arrays: MarkovArrays, i: int) -> None:
        """Give all of C_i to the labelling with the largest G."""
        code_subspace.aim(arrays, i, self._scratch, self._point)
        code_subspace.settle(i, self._scratch, self._point)

    def look(self, arrays: MarkovArrays, i: int, findings: Findings) -> None:
        """Write the findings about an item."""
        code_subspace.look(arrays, i, self._scratch, self._point, findings)


def marginals_for(
    problem: MarkovProblem | GraphProblem, oracle: str, scratch: MarkovScratch
) -> Marginals:
    """Return the marginals to climb in for a problem, all 0.

    Parameters
    ----------
    problem
        The problem.
    oracle
        What finds update directions, ``"dynamic"`` or ``"linear_program"``.
    scratch
        Work arrays for one item.
    """
    if isinstance(problem.tree, LabelledDag):
        return CodeMarginals(problem, None, scratch)
    if problem.tree.stride == 1:
        polytope = PathPolytope(problem.tree) if oracle == "linear_program" else None
        return CodeMarginals(problem, polytope, scratch)
    return MarginalsOfEdges(problem, oracle, scratch)

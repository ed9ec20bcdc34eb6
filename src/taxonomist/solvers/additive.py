"""Dual ascent over items for the Markov tree with additive features.

Problem       min_{w, ξ}  ½ ||w||² + Σ_i C_i ξ_i
              s.t.  <w, φ(x_i, y_i) - φ(x_i, y)> >= ℓ(y_i, y) - ξ_i  for all labellings y,
              ξ_i >= 0, with φ(x, y) = Σ_e φ_e(x, y_e) instead of a block for each edge: all edges
              share the weights w_u of their labellings u, and what tells them apart are the
              features φ_e(x) of each edge                        [RSSS06, Eq. 1; RSSS06, Sec. 2.3]
Dual          as in ``taxonomist.solvers.markov_problem``, with these features
Notation      as there; φ_e(x) are the columns of X that the lower node of e owns, and the columns
              that no node owns; W the shared weights, (n_shared, 4); d_iy = φ(x_i, y_i) - φ(x_i, y)
Step          Item after item, in random order: the labelling with the largest G_iy, found by
              dynamic programming, is added to those of the item; pairwise steps move weight among
              these, with the products <d_iy, d_iy'>, and the weights follow.
Stopping      The certificate from inspecting all items at fixed weights after each pass.
Cost          A visit O(nnz + n_nodes + |S_i| n_shared); memory n_shared x 4 for each labelling with
              a dual variable. Neither grows with the number of edges that share the weights.
Differences   None from the representation. The paper suggests a primal method, because products of
              different edges do not vanish; here the explicit d_iy play that part, since they are
              short.
References    [RSSS06, Eq. 1, 2], [RSSS06, Sec. 2.3]
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled import additive, markov
from taxonomist.compiled.arrays import Findings
from taxonomist.compiled.labelling_search import loss_found, mark_truth, worst_gradient
from taxonomist.compiled.markov_arrays import EVERYWHERE, markov_scratch
from taxonomist.solvers.labelling_store import no_labellings
from taxonomist.solvers.markov import HARD_SHARE, SHARE, MarkovSolution, bounds, is_hard
from taxonomist.solvers.solution import Pass

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Codes, Floats
    from taxonomist.solvers.markov_problem import MarkovProblem
    from taxonomist.solvers.solution import Options

MOST_STEPS = 50
"""Pairwise steps of an item at a visit."""


def solve(
    problem: MarkovProblem,
    shared: Codes,
    options: Options,
    callback: Callable[[Pass], object] | None = None,
) -> MarkovSolution:
    """Return the solution of a problem with additive features.

    Parameters
    ----------
    problem
        What to solve, with edge features, rows of features, and a slack for each item.
    shared
        The row of the shared weights that each column of X uses, (n_features,).
    options
        Tolerance, limits, seed. One thread is used, and weights are float64.
    callback
        Called after each pass; a true answer stops.

    Returns
    -------
    MarkovSolution
        Its weights are those of all edges, (n_features, n_codes), in which the shared ones are
        repeated; the objective counts them once.
    """
    state = _State(problem, shared, options)
    for _ in range(options.max_iter):
        state.sweep()
        state.look()
        if state.record(callback) or state.certificate.reaches(options):
            break
    W = expanded(state.W, shared, problem.owner, problem.n_codes)
    converged = state.certificate.reaches(options)
    nothing = (no_labellings(problem.n_items),)
    return MarkovSolution(W, nothing, state.certificate, converged, state.history)


def expanded(W: Floats, shared: Codes, owner: Codes, n_codes: int) -> Floats:
    """Return the weights of all edges, (n_features, n_codes), from the shared ones."""
    full = np.zeros((len(shared), n_codes))
    everywhere = owner == EVERYWHERE
    full[everywhere] = np.tile(W[shared[everywhere]], n_codes // 4)
    own = np.flatnonzero(~everywhere)
    full[own[:, None], 4 * (owner[own] - 1)[:, None] + np.arange(4)] = W[shared[own]]
    return full


class _Labellings:
    """The labellings of an item that have dual variables; the first is the truth."""

    def __init__(self, n_weights: int, cost: float) -> None:
        self.differences = np.zeros((1, n_weights))
        self.losses = np.zeros(1)
        self.alpha = np.array([cost])

    def add(self, difference: Floats, loss: float) -> None:
        """Drop the labellings without weight, and add one."""
        kept = self.alpha > 0
        kept[0] = True
        self.differences = np.vstack([self.differences[kept], difference])
        self.losses = np.append(self.losses[kept], loss)
        self.alpha = np.append(self.alpha[kept], 0.0)

    def gradients(self, W: Floats) -> Floats:
        """Return G of each labelling; that of the truth is 0."""
        G: Floats = self.losses - self.differences @ W.ravel()
        return G


class _State:
    """The state of the solver between passes."""

    def __init__(self, problem: MarkovProblem, shared: Codes, options: Options) -> None:
        self.problem, self.shared, self.options = problem, shared, options
        self.started = perf_counter()
        everyone = np.arange(problem.n_items)
        arrays = problem.arrays()
        self.arrays = arrays._replace(rows=problem.items.rows(everyone, arrays.row_of))
        self.rng = np.random.default_rng(options.random_state)
        self.W = np.zeros((int(shared.max()) + 1, 4))
        self.scratch = markov_scratch(problem.tree, problem.n_codes, np.float64)
        self.labellings = [_Labellings(self.W.size, cost) for cost in problem.costs]
        self.findings = Findings(*np.zeros((4, problem.n_items)))
        self.history: list[Pass] = []
        self.look()

    def sweep(self) -> None:
        """Solve all items once."""
        known, total = self.certificate, float(self.problem.costs.sum())
        tol = SHARE * (known.primal - known.dual) / total if 0 < total < np.inf else 0.0
        if is_hard(self.problem.costs):
            tol = HARD_SHARE * known.violation
        difference = np.zeros_like(self.W)
        for i in self.rng.permutation(self.problem.n_items):
            self._visit(i, max(tol, 1e-12), difference)

    def _visit(self, i: int, tol: float, difference: Floats) -> None:
        """Add the worst labelling of an item, and solve the item."""
        worst, mine = self._worst(i), self.labellings[i]
        G = mine.gradients(self.W)
        if worst > G.max() + 0.1 * tol:
            additive.write_difference(self.arrays, i, self.shared, self.scratch, difference)
            mine.add(difference.ravel(), loss_found(self.problem.tree, self.scratch))
            G = mine.gradients(self.W)
        before, differences = mine.alpha.copy(), mine.differences
        additive.shift(differences @ differences.T, G, mine.alpha, tol, MOST_STEPS)
        moved = mine.alpha[1:] - before[1:]
        self.W += (moved @ differences[1:]).reshape(self.W.shape)
        mark_truth(self.arrays.labels, i, self.scratch.truth, 0)

    def _worst(self, i: int) -> float:
        """Find the worst labelling of an item; return its G."""
        mark_truth(self.arrays.labels, i, self.scratch.truth, 1)
        additive.write_scores(self.arrays, i, self.shared, self.W, self.scratch)
        return worst_gradient(self.arrays, self.scratch)

    def look(self) -> None:
        """Inspect all items at fixed weights, which gives the certificate."""
        costs, found = self.problem.costs, self.findings
        for i, mine in enumerate(self.labellings):
            worst = self._worst(i)
            G, alpha = mine.gradients(self.W), mine.alpha
            found.slack[i] = max(worst, 0.0)
            if costs[i] == np.inf:
                factor = markov.next_factor(self.arrays, 1.0, worst, self.scratch)
                found.slack[i] = markov.hard_factor(self.arrays, factor, self.scratch)
            found.violation[i] = max(worst, G.max()) - G[alpha > 0].min(initial=np.inf)
            found.linear[i] = alpha[1:] @ mine.losses[1:]
            found.quadratic[i] = found.linear[i] - alpha[1:] @ G[1:]
            mark_truth(self.arrays.labels, i, self.scratch.truth, 0)
        self.certificate = bounds(costs, found)

    def record(self, callback: Callable[[Pass], object] | None) -> bool:
        """Add a pass to the history; return whether the callback wants to stop."""
        primal, dual, _, violation = self.certificate
        n_active = sum(int(np.count_nonzero(mine.alpha[1:])) for mine in self.labellings)
        entry = Pass(perf_counter() - self.started, primal, dual, violation, n_active, True)
        self.history.append(entry)
        return callback is not None and bool(callback(entry))

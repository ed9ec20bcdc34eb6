"""The hierarchical MinOver perceptron: each step is for the triple with the smallest margin.

Problem       Find w with  f(x_i, y) - f(x_i, c) > margin  for all i, y in Y_i, c not in Y_i,
              f(x, c) = Σ_z λ_z(c) <w_z, φ(x)>  as in ``taxonomist.solvers.problem``   [CH07]
Dual          w_z = Σ α_iyc (λ_z(y) - λ_z(c)) φ(x_i),  α >= 0
Notation      as in ``taxonomist.solvers.problem``; the dual variables that are returned are
              β_iyc = α_iyc / Δ(y, c): how often a triple was the worst
Step          α_iyc += Δ(y, c) for the triple with the smallest f(x_i, y) - f(x_i, c): the first
              item among equals, and its smallest category numbers.
Stopping      The smallest margin is above ``margin``, or ``max_iter`` steps. If some unit vector
              separates by γ, with R the length of the longest Φ(x_i, y) - Φ(x_i, c), there are at
              most (2 margin + R² max Δ) / (γ² min Δ) steps, and the margin of w / ||w|| is at least
              γ margin / (2 margin + R² max Δ) in the end. Otherwise steps may come to undo each
              other, as for two items that are alike but for their labels, and no others follow;
              that is noticed where it happens within ``LONGEST_ROUND`` steps, and ends the search,
              as does a pair of categories with the same attributes.
Cost          A step takes one row of the kernel, and for each item with k(x_i, x_j) != 0 a change
              at the attributes in which the two categories differ; some items' margins are then
              computed anew. Memory holds n_items x n_attributes scores but no Gram matrix where
              items are rows of features. The weights themselves are made in the end.
Differences   Items whose cost C_i is zero have no triples, and costs do not matter otherwise. Items
              with k(x_i, x_i) = 0 have none either: their margins are zero whatever the weights
              are. ``ridge`` adds to k(x_i, x_i), as a feature of its own for each item would, which
              makes all items separable and the margin soft; 0 is the paper's algorithm.
              ``average`` returns the mean of w over all steps.
References    [CH07, Alg. 2]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taxonomist.compiled import minover
from taxonomist.compiled.arrays import Attributes, Labels, no_rows
from taxonomist.errors import ParameterError
from taxonomist.inference.linear_scorer import as_rows
from taxonomist.solvers.duals import Entries
from taxonomist.solvers.problem import loss_arrays
from taxonomist.solvers.weights import feature_matrix, weights_from_duals

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Bools, Codes, Floats, Reals
    from taxonomist.compiled.arrays import Duals
    from taxonomist.solvers.problem import JointProblem

KEPT_BYTES = 2**28
"""Most memory for rows of kernels that are not products of sparse rows. Rows are kept because the
same items come up again."""

LONGEST_ROUND = 50
"""Longest cycle of steps that is recognised."""

UNMOVED = 1e-12
"""A cycle's steps cancel if their sum is at most this part of their squared lengths."""


@dataclass(frozen=True)
class MinOverOptions:
    """How the perceptron is trained.

    Attributes
    ----------
    margin
        Margin above which all triples are satisfactory [CH07, Alg. 2].
    max_iter
        Most steps.
    ridge
        What is added to k(x_i, x_i) while training; above 0 the margin is soft.
    average
        Whether to return the mean of the weights after each step, not the last ones.
    report_every
        Steps between entries of the history.
    dtype
        Type of the weights that are returned; training is in float64 whatever it is.
    """

    margin: float = 1.0
    max_iter: int = 100_000
    ridge: float = 0.0
    average: bool = False
    report_every: int = 1000
    dtype: str = "float64"


class Progress(NamedTuple):
    """An entry of the history: the smallest margin, and how many items have one of 0 or less."""

    seconds: float
    n_iter: int
    margin: float
    n_errors: int


@dataclass(frozen=True)
class MinOverSolution:
    """The weights, and how they were found.

    Attributes
    ----------
    W
        Unscaled weights w, or their mean, (n_features, n_attributes); in dual form the
        coefficients of the kernel expansion, (n_items, n_attributes).
    last
        The weights after the last step, from which training can go on; ``W`` unless averaged.
    duals
        The dual variables that this call added: β_iyc is the number of steps of a triple.
    margin
        Smallest margin at the last weights, infinite where there are no triples; with a
        ``ridge``, of the items with the feature that it adds.
    n_iter
        Steps of this call.
    n_averaged
        Steps over which ``W`` is a mean, those of the start included; 0 if it is ``last``.
    converged
        Whether the margin is above the one that was asked for.
    is_hopeless
        Whether steps came to undo each other or to do nothing: more of them would not help.
    history
        An entry every ``report_every`` steps, and at the end.
    """

    W: Reals
    last: Reals
    duals: Duals
    margin: float
    n_iter: int
    n_averaged: int
    converged: bool
    is_hopeless: bool
    history: list[Progress] = field(default_factory=list)


def solve(
    problem: JointProblem,
    options: MinOverOptions,
    callback: Callable[[Progress], object] | None = None,
    start: MinOverSolution | None = None,
) -> MinOverSolution:
    """Return weights that rank all items' own categories above the others by a margin, if possible.

    Parameters
    ----------
    problem
        The items and their categories; its slack is not used.
    options
        The margin and limits; nothing is random, and one thread is used.
    callback
        Called with each entry of the history; a true answer stops.
    start
        A solution to start from, possibly of other items. In dual form its weights must have a row
        for each item of this problem; in primal form what a ``ridge`` did for its items is lost.

    Returns
    -------
    MinOverSolution
        Weights, dual variables and history.

    Raises
    ------
    ValueError
        If the weights of the start have another shape.
    """
    search = _Search(problem, options, start)
    history: list[Progress] = []
    while True:
        outcome = search.advance()
        history.append(search.progress())
        margin = history[-1].margin
        wants_stop = callback is not None and callback(history[-1])
        converged = outcome == minover.SATISFIED or margin > options.margin
        is_hopeless = outcome == minover.STUCK or (not converged and search.goes_round(margin))
        if wants_stop or converged or is_hopeless or search.n_taken == options.max_iter:
            break
    W, last, n_averaged = search.weights(start)
    return MinOverSolution(
        W=W,
        last=last,
        duals=search.duals(np.ones(search.n_taken)),
        margin=margin,
        n_iter=search.n_taken,
        n_averaged=n_averaged,
        converged=converged,
        is_hopeless=is_hopeless,
        history=history,
    )


class _Search:
    """Scores, bounds of margins, and the steps so far."""

    def __init__(
        self, problem: JointProblem, options: MinOverOptions, start: MinOverSolution | None
    ) -> None:
        self.started = perf_counter()
        self.problem, self.options = problem, options
        self.n_taken = 0
        self.rows = _KernelRows(problem)
        self.data = _arrays(problem, self.rows.arrays(float(options.ridge)))
        self.steps = minover.Steps(*np.empty((3, 0), dtype=np.intp))
        n_attributes, n_nodes = problem.attributes.shape[1], len(self.data.loss.miss)
        self.scratch = minover.minover_scratch(
            problem.n_items, problem.n_categories, n_attributes, n_nodes
        )
        scores = np.zeros((problem.n_items, n_attributes))
        if start is not None:
            scores += self.rows.scores(_checked(problem, start.last), options.ridge)
        idle = ~_have_triples(problem, options.ridge)
        self.state = minover.MinOverState(
            scores=scores,
            bound=np.where(idle, np.inf, -np.inf),
            is_exact=idle,
            reach=np.array([np.abs(scores @ problem.attributes.T).max(initial=0.0)]),
        )

    def advance(self) -> int:
        """Take the steps up to the next entry of the history; return why they ended."""
        n_wanted = min(self.n_taken + self.options.report_every, self.options.max_iter)
        if n_wanted > len(self.steps.item):
            more = max(n_wanted, 2 * self.n_taken) - len(self.steps.item)
            self.steps = minover.Steps(*(np.pad(table, (0, more)) for table in self.steps))
        while True:
            outcome, self.n_taken, item = minover.take_steps(
                self.data,
                self.state,
                self.steps,
                self.n_taken,
                n_wanted,
                float(self.options.margin),
                self.scratch,
            )
            if outcome != minover.ROW_WANTED:
                return outcome
            self.rows.fetch(item)

    def progress(self) -> Progress:
        """Return an entry for the history."""
        n_errors = minover.count_errors(self.data, self.state, self.scratch)
        margin = minover.settle(self.data, self.state, -np.inf, self.scratch)
        return Progress(perf_counter() - self.started, self.n_taken, margin, n_errors)

    def goes_round(self, margin: float) -> bool:
        """Return whether the steps since the last triple was taken before cancel each other.

        Then the same steps would follow for ever, because the items cannot be separated.
        """
        if margin > 0 or self.n_taken == 0:
            return False
        first = max(0, self.n_taken - LONGEST_ROUND - 1)
        triples = np.stack([table[first : self.n_taken] for table in self.steps])
        item, own, other = triples
        attributes = self.problem.attributes
        changes = (attributes[own] - attributes[other]).toarray()
        changes *= self.problem.loss.pairs(own, other)[:, None]
        K = self.rows.between(item) + self.options.ridge * (item[:, None] == item)
        products = changes @ changes.T * K
        again = np.flatnonzero((triples == triples[:, -1:]).all(axis=0))[:-1]
        return any(
            products[at:, at:].sum() <= UNMOVED * products[at:, at:].trace() for at in again + 1
        )

    def duals(self, shares: Floats) -> Duals:
        """Return the dual variables that follow from the steps, each step times its share."""
        n = self.problem.n_categories
        item, own, other = (table[: self.n_taken] for table in self.steps)
        triples, which = np.unique((item * n + own) * n + other, return_inverse=True)
        beta = np.bincount(which, shares).astype(np.float64)
        item, own, other = triples // n**2, triples // n % n, triples % n
        delta = self.problem.loss.pairs(own, other)
        return Entries(item, own, other, beta, delta).stored(self.problem.n_items)

    def weights(self, start: MinOverSolution | None) -> tuple[Reals, Reals, int]:
        """Return the wanted weights, the last weights, and how many steps the first average."""
        n_taken, dtype = self.n_taken, self.options.dtype
        first: Floats | float = 0.0
        before: Floats | float = 0.0
        n_averaged = n_taken
        if start is not None:
            first = np.asarray(start.last, dtype=np.float64)
            before = start.n_averaged * np.asarray(start.W, dtype=np.float64)
            n_averaged += start.n_averaged
        last = self._sum(np.ones(n_taken)) + first
        if not self.options.average or n_averaged == 0:
            last = last.astype(dtype, copy=False)
            return last, last, 0
        # A step that n others follow is in n + 1 of the weights.
        total = self._sum(np.arange(n_taken, 0.0, -1.0)) + n_taken * first + before
        return (total / n_averaged).astype(dtype), last.astype(dtype), n_averaged

    def _sum(self, shares: Floats) -> Reals:
        """Return the sum of what the steps add to the weights, each times its share."""
        return weights_from_duals(self.problem, self.duals(shares), np.float64)


class _KernelRows:
    """Rows k(x_i, ·) of the kernel: products of sparse rows, or a table of rows in use."""

    def __init__(self, problem: JointProblem) -> None:
        n_items = problem.n_items
        self._items = problem.items
        self._X: Any = None if problem.items.dual_form else feature_matrix(problem)
        self._is_sparse = hasattr(self._X, "indptr")
        most = max(1, KEPT_BYTES // (8 * max(1, n_items)))
        n_kept = 0 if self._is_sparse else min(n_items, most)
        self._table = np.empty((n_kept, n_items))
        self._place = np.full(n_items, -1)
        self._n_fetched = 0

    def arrays(self, ridge: float) -> minover.Kernel:
        """Return the arrays from which compiled loops compute kernel rows."""
        if self._is_sparse:
            # The rows of the transpose are the columns.
            rows, columns = (as_rows(M, np.float64) for M in (self._X, self._X.T.tocsr()))
        else:
            rows = columns = no_rows()
        return minover.Kernel(rows, columns, self._table, self._place, ridge)

    def fetch(self, i: int) -> None:
        """Add the kernel row of an item to the table; if that is full, replace the oldest row."""
        at = self._n_fetched % len(self._table)
        self._place[self._place == at] = -1
        self._table[at] = self._X @ self._X[i] if self._X is not None else self._block([i])[0]
        self._place[i] = at
        self._n_fetched += 1

    def between(self, items: Codes) -> Floats:
        """Return the kernel between all pairs of some items."""
        if self._is_sparse:
            return np.asarray((self._X[items] @ self._X[items].T).toarray())
        K = np.empty((len(items), len(items)))
        for k, i in enumerate(items.tolist()):
            if self._place[i] < 0:
                self.fetch(i)
            K[k] = self._table[self._place[i], items]
        return K

    def scores(self, W: Reals, ridge: float) -> Floats:
        """Return <w_z, φ(x_i)> for all items and attributes."""
        if self._X is not None:
            return np.asarray(self._X @ W)
        out = ridge * W
        for batch in self._items.batches():
            out[batch] += self._block(batch) @ W
        return np.asarray(out)

    def _block(self, items: Codes | list[int]) -> Floats:
        """Return rows of the Gram matrix of items of one batch."""
        row_of = np.zeros(len(self._place), dtype=np.intp)
        rows = self._items.rows(np.asarray(items), row_of)
        return np.asarray(rows.data.reshape(-1, len(row_of))[row_of[items]])


def _arrays(problem: JointProblem, kernel: minover.Kernel) -> minover.MinOverArrays:
    """Return the arrays for the compiled loops."""
    labels, attributes = problem.labels, problem.attributes
    return minover.MinOverArrays(
        kernel=kernel,
        labels=Labels(labels.indptr.astype(np.intp), labels.indices.astype(np.intp)),
        attributes=Attributes(
            attributes.indptr.astype(np.intp),
            attributes.indices.astype(np.intp),
            attributes.data.astype(np.float64),
            np.empty((0, 0)),
        ),
        loss=loss_arrays(problem.loss),
    )


def _have_triples(problem: JointProblem, ridge: float) -> Bools:
    """Return which items have triples whose margins depend on the weights."""
    n_own = np.diff(problem.labels.indptr)
    has_pairs = (n_own > 0) & (n_own < problem.n_categories)
    can_move = (problem.items.norms > 0) | (ridge > 0)
    return np.asarray(has_pairs & can_move & (problem.costs > 0))


def _checked(problem: JointProblem, W: Reals) -> Floats:
    """Return the weights to start from; raise an error if their shape does not fit the problem."""
    shape = (problem.items.n_weights, problem.attributes.shape[1])
    if W.shape != shape:
        raise ParameterError(
            f"The weights to start from have shape {W.shape}, but this problem has {shape[0]} "
            f"{'items' if problem.items.dual_form else 'features'} and {shape[1]} attributes."
        )
    return np.asarray(W, dtype=np.float64)

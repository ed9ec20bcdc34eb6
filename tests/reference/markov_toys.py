"""Small problems of the maximum-margin Markov tree, and what their solutions must be."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

from taxonomist.losses import labelling_loss
from taxonomist.solvers.markov_problem import MarkovProblem, labelled_tree, parents
from taxonomist.solvers.problem import FeatureRows, GramRows
from taxonomist.taxonomy import Taxonomy
from tests.reference import markov_tree as reference

PARENTS = {
    "tree": {"a": "r", "b": "r", "c": "a", "d": "a", "e": "b"},
    "chain": {"a": "r", "b": "a", "c": "b"},
    "star": {"a": "r", "b": "r", "c": "r", "d": "r"},
    "edge": {"a": "r"},
}
SHAPES = tuple(PARENTS)
LOSSES = (
    "symmetric_difference",
    "hierarchical_uniform",
    "hierarchical_sibling",
    "hierarchical_subtree",
    "costs",
    "costs of nodes",
)
SLACKS = ("example", "example_signed", "edge")


class Toy(NamedTuple):
    """Features, labels, costs, and the model to train."""

    X: np.ndarray
    Y: np.ndarray
    C: np.ndarray
    loss: Any  # LabellingLoss
    features: str
    train_on: str
    slack: str
    owner: np.ndarray
    edge_loss: str = "upper"

    def items(self, kind: str = "sparse", dtype: str = "float64") -> Any:
        """Return the rows of the items; a Gram matrix is one of the linear kernel."""
        if kind == "gram":
            K = self.X @ self.X.T
            return GramRows(lambda members: K[members], K.diagonal().copy(), 1e9)
        rows = FeatureRows(sparse.csr_array(self.X) if kind == "sparse" else self.X, dtype)
        rows.norms = np.sum(self.X[:, self.owner == -1] ** 2, axis=1)
        return rows

    def problem(self, items: Any = None) -> MarkovProblem:
        """Return the problem; the items are sparse float64 rows by default."""
        return MarkovProblem(
            items=items or self.items(),
            labels=sparse.csr_array(self.Y.astype(bool)),
            costs=self.C,
            tree=labelled_tree(self.loss, self.features, self.train_on, self.edge_loss),
            slack=self.slack,
            owner=self.owner if (self.owner != -1).any() else np.empty(0, np.intp),
        )

    def instance(self) -> reference.Instance:
        """Return the problem for the oracle."""
        return reference.Instance(
            X=self.X,
            Y=self.Y,
            parent=parents(self.loss.taxonomy),
            C=self.C,
            node_costs=self.loss.costs,
            charge=self.loss.charge,
            features=self.features,
            train_on=self.train_on,
            slack=self.slack,
            owner=self.owner,
            edge_loss=self.edge_loss,
        )

    def select(self, items: Any) -> Toy:
        """Return the problem of some of the items."""
        return self._replace(X=self.X[items], Y=self.Y[items], C=self.C[items])


def toy(
    shape: str = "tree",
    loss: str = "symmetric_difference",
    C: float = 1.0,
    slack: str = "example",
    features: str = "edge",
    train_on: str = "all",
    n_local: int = 0,
) -> Toy:
    """Return a random problem with costs that differ by item.

    One item has no features, two have the same, one has no labels at all, and one node no items.
    """
    n, n_features = 12, 10
    rng = np.random.default_rng(0)
    taxonomy = Taxonomy.from_parents(PARENTS[shape])
    above = parents(taxonomy)
    Y = (rng.random((n, taxonomy.n_nodes)) < 0.35).astype(int)
    Y[:, -1] = 0
    Y[3] = 0
    for j in range(len(above) - 1, 0, -1):
        Y[:, above[j]] |= Y[:, j]
    X = rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.6)
    X += 0.7 * (Y @ rng.normal(size=(Y.shape[1], n_features)))
    X[0] = 0
    X[1:3] = X[1]
    owner = np.full(n_features, -1)
    if n_local:
        owner[-n_local:] = rng.integers(1, taxonomy.n_nodes, size=n_local)
    costs = C * rng.uniform(0.5, 1.5, size=n)
    return Toy(X, Y, costs, _loss(loss, taxonomy), features, train_on, slack, owner)


def _loss(name: str, taxonomy: Taxonomy) -> Any:
    """Return a loss by name, or one of given costs."""
    if not name.startswith("costs"):
        return labelling_loss(name, taxonomy)
    costs = np.random.default_rng(1).uniform(0.2, 1.0, size=taxonomy.n_nodes)
    return labelling_loss(costs, taxonomy, charge="parent" if name == "costs" else "node")


def steps_of(problem: MarkovProblem, solution: Any) -> list[reference.Step]:
    """Return the labellings of a solution as the oracle has them."""
    places = [slice(0, problem.n_codes)]
    if problem.slack == "edge":
        places = [place for place, _ in problem.parts()]
    steps = []
    for k, (place, labellings) in enumerate(zip(places, solution.labellings, strict=True)):
        for i, (start, size) in enumerate(zip(labellings.start, labellings.size, strict=True)):
            for c in range(start, start + size):
                on = np.zeros(problem.n_codes)
                begin = labellings.begin[c]
                for code in labellings.codes[begin : begin + labellings.n_codes[c]]:
                    on[place.start + abs(code) - 1] -= np.sign(code)
                steps.append(reference.Step(i, k, on, labellings.loss[c], labellings.alpha[c]))
    return steps


def check_history(solution: Any, rounding: float) -> None:
    """Check that the dual never falls and that the bounds never cross."""
    exact = [entry for entry in solution.history if entry.is_exact]
    for entry in exact:
        assert entry.primal - entry.dual >= -rounding * abs(entry.primal)
    for before, after in pairwise(exact):
        assert after.dual >= before.dual - rounding * abs(before.dual)
    assert solution.certificate[:2] == exact[-1][1:3]
    assert solution.certificate.violation == exact[-1].violation


def check_claims(claimed: Any, found: Any, best: float, tol: float, precision: float) -> None:
    """Check a certificate against that of the oracle, and against the optimum."""
    size = abs(best)
    assert claimed.primal == pytest.approx(found.primal, abs=precision * size)
    assert claimed.dual == pytest.approx(found.dual, abs=precision * size)
    gap = (found.primal - found.dual) / max(abs(found.primal), abs(found.dual))
    assert claimed.gap == pytest.approx(gap, abs=2 * precision)
    assert claimed.gap <= tol
    assert claimed.primal == pytest.approx(best, rel=2 * tol)

"""The maximum-margin Markov network on a DAG by enumeration: slow, obvious, every labelling.

The notation is that of ``tests.reference.markov_tree``. A node has an edge to each of its parents.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from taxonomist.losses import labelling_loss
from taxonomist.solvers.markov_graph import GraphProblem, labelled_dag
from taxonomist.solvers.problem import FeatureRows, GramRows
from taxonomist.taxonomy import Taxonomy
from tests.reference.joint_svm import minimise
from tests.reference.markov_toys import steps_of

PARENTS = {
    "diamond": {"a": "r", "b": "r", "c": ["a", "b"], "d": "c"},
    "ladder": {"a": "r", "b": "r", "c": ["a", "b"], "d": ["b"], "e": ["c", "d"]},
    "three parents": {"a": "r", "b": "r", "c": "r", "d": ["a", "b", "c"]},
    "shortcut": {"a": "r", "b": "a", "c": ["r", "b"]},
}


class GraphToy(NamedTuple):
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

    @property
    def taxonomy(self) -> Taxonomy:
        """The DAG."""
        return self.loss.taxonomy

    @property
    def edges(self) -> list[tuple[int, int]]:
        """Pairs (parent, child), by child."""
        indptr, indices = self.taxonomy.parent_indptr, self.taxonomy.parent_indices
        n_nodes = self.taxonomy.n_nodes
        return [(int(p), j) for j in range(n_nodes) for p in indices[indptr[j] : indptr[j + 1]]]

    @property
    def block_nodes(self) -> np.ndarray:
        """The node of every block."""
        if self.features == "edge":
            return np.repeat([j for _, j in self.edges], 4)
        return np.arange(self.taxonomy.n_nodes)

    @property
    def labellings(self) -> np.ndarray:
        """All labellings that a model must beat, the truth included."""
        found = np.array(list(product((0, 1), repeat=self.taxonomy.n_nodes)))
        if self.train_on == "consistent":
            found = found[is_closed(self.edges, found)]
        return found

    def items(self, kind: str = "sparse", dtype: str = "float64") -> Any:
        """Return the rows of the items; a Gram matrix is one of the linear kernel."""
        if kind == "gram":
            K = self.X @ self.X.T
            return GramRows(lambda members: K[members], K.diagonal().copy(), 1e9)
        rows = FeatureRows(sparse.csr_array(self.X) if kind == "sparse" else self.X, dtype)
        rows.norms = np.sum(self.X[:, self.owner == -1] ** 2, axis=1)
        return rows

    def problem(self, items: Any = None) -> GraphProblem:
        """Return the problem; the items are sparse float64 rows by default."""
        return GraphProblem(
            items=items or self.items(),
            labels=sparse.csr_array(self.Y.astype(bool)),
            costs=self.C,
            tree=labelled_dag(self.loss, self.features, self.train_on),
            slack=self.slack,
            owner=self.owner if (self.owner != -1).any() else np.empty(0, np.intp),
            edge_loss=self.edge_loss,
        )


def is_closed(edges: list[tuple[int, int]], u: np.ndarray) -> np.ndarray:
    """Return whether all parents of every positive node are positive, for labellings as rows."""
    return np.all([u[:, j] <= u[:, p] for p, j in edges], axis=0)


def graph_toy(
    shape: Any = "diamond",
    loss: str = "symmetric_difference",
    C: float = 1.0,
    slack: str = "example",
    features: str = "edge",
    train_on: str = "all",
    n_local: int = 0,
    edge_loss: str = "upper",
    seed: int = 0,
) -> GraphToy:
    """Return a random problem with costs that differ by item; ``shape`` may be a taxonomy."""
    n, n_features = 8, 6
    rng = np.random.default_rng(seed)
    taxonomy = Taxonomy.from_parents(PARENTS[shape]) if isinstance(shape, str) else shape
    closed = taxonomy.ancestor_matrix()
    Y = ((rng.random((n, taxonomy.n_nodes)) < 0.3) @ closed.toarray() > 0).astype(int)
    Y[3] = 0
    X = rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.6)
    X += 0.7 * (Y @ rng.normal(size=(Y.shape[1], n_features)))
    X[0] = 0
    owner = np.full(n_features, -1)
    if n_local:
        owner[-n_local:] = rng.integers(1, taxonomy.n_nodes, size=n_local)
    costs = rng.uniform(0.2, 1.0, size=taxonomy.n_nodes)
    made = (
        labelling_loss(costs, taxonomy, charge="parent" if loss == "costs" else "node")
        if loss.startswith("costs")
        else labelling_loss(loss, taxonomy)
    )
    weights = C * rng.uniform(0.5, 1.5, size=n)
    return GraphToy(X, Y, weights, made, features, train_on, slack, owner, edge_loss)


def losses(toy: GraphToy, y: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return ℓ(y, u) of labellings as rows, by the public loss."""
    return toy.loss(np.tile(y, (len(u), 1)), u)


def edge_losses(toy: GraphToy, y: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the part of every edge in the loss, (n_labellings, n_edges), for slacks of edges.

    A charge is shared by the edges to the parents, each of which needs its own upper node right;
    that of the root is shared by the edges below it. With ``edge_loss="shared"``, all edges at a
    node share a charge that does not depend on parents.
    """
    edges, costs = toy.edges, toy.loss.costs
    found = np.zeros((len(u), len(edges)))
    for e, (p, j) in enumerate(edges):
        n_above = sum(child == j for _, child in edges)
        wrong, wrong_above = u[:, j] != y[j], u[:, p] != y[p]
        if toy.edge_loss == "shared" and toy.loss.charge == "node":
            at = [sum(node in edge for edge in edges) for node in (j, p)]
            found[:, e] = costs[j] / at[0] * wrong + costs[p] / at[1] * wrong_above
            continue
        if toy.loss.charge == "parent":
            wrong = wrong & ~wrong_above
        found[:, e] = costs[j] / n_above * wrong
        if p == 0:
            found[:, e] += costs[0] / sum(parent == 0 for parent, _ in edges) * wrong_above
    return found


def blocks(toy: GraphToy, u: np.ndarray) -> np.ndarray:
    """Return which blocks labellings turn on, 1 or 0, (n_labellings, n_blocks)."""
    u = np.atleast_2d(u)
    if toy.features == "edge":
        on = [
            (u[:, p] == above) & (u[:, j] == own)
            for p, j in toy.edges
            for above, own in product((0, 1), repeat=2)
        ]
        return np.array(on).T.astype(float)
    above = toy.taxonomy.ancestor_matrix().toarray()
    return np.array([u[:, above[j]].all(axis=1) for j in range(u.shape[1])]).T.astype(float)


def copies(toy: GraphToy, i: int) -> np.ndarray:
    """Return x_i in every block, (n_features, n_blocks): local features only at their own nodes."""
    is_there = (toy.owner[:, None] == -1) | (toy.owner[:, None] == toy.block_nodes)
    return toy.X[i][:, None] * is_there


def constraints(toy: GraphToy, i: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return, for every slack of item i, all differences of blocks and the losses."""
    y, u = toy.Y[i], toy.labellings
    u = u[(u != y).any(axis=1)]
    differences = blocks(toy, y) - blocks(toy, u)
    if toy.slack != "edge":
        return [(differences, losses(toy, y, u))]
    parts = edge_losses(toy, y, u)
    edge_of_block = np.repeat(np.arange(len(toy.edges)), 4)
    return [(differences * (edge_of_block == e), parts[:, e]) for e in range(len(toy.edges))]


def primal_optimum(toy: GraphToy) -> float:
    """Return the minimum of Eq. 1, by a general QP solver over all labellings."""
    n_features, n_blocks = toy.X.shape[1], len(toy.block_nodes)
    n_weights, n_factors = n_features * n_blocks, len(constraints(toy, 0))
    n_slacks = len(toy.X) * n_factors
    rows, least = [], []
    for i in range(len(toy.X)):
        for k, (differences, charges) in enumerate(constraints(toy, i)):
            phi = (copies(toy, i) * differences[:, None, :]).reshape(len(charges), -1)
            slack = np.tile(np.eye(n_slacks)[i * n_factors + k], (len(charges), 1))
            rows.append(np.column_stack([phi, slack]))
            least.append(charges)
    if toy.slack != "example_signed":
        rows.append(np.eye(n_slacks, n_weights + n_slacks, n_weights))
        least.append(np.zeros(n_slacks))
    unique = np.unique(np.column_stack([np.concatenate(rows), np.concatenate(least)]), axis=0)
    squared = np.concatenate([np.ones(n_weights), np.zeros(n_slacks)])
    linear = np.concatenate([np.zeros(n_weights), np.repeat(toy.C, n_factors)])
    return minimise(np.diag(squared), linear, unique[:, :-1], unique[:, -1])[1]


def objective(toy: GraphToy, W: np.ndarray) -> float:
    """Return the primal value of weights, by the worst of all labellings."""
    total = np.sum(W * W) / 2
    for i in range(len(toy.X)):
        score = np.sum(W * copies(toy, i), axis=0)
        for differences, charges in constraints(toy, i):
            worst = np.max(charges - differences @ score)
            total += toy.C[i] * (worst if toy.slack == "example_signed" else max(worst, 0.0))
    return float(total)


def dual_value(toy: GraphToy, problem: GraphProblem, solution: Any) -> tuple[float, np.ndarray]:
    """Return the dual value and the weights of the dual variables, and check that they may be."""
    W, linear = np.zeros((toy.X.shape[1], problem.n_codes)), 0.0
    used = np.zeros((len(toy.X), len(solution.labellings)))
    for i, k, on, charge, alpha in steps_of(problem, solution):
        differences, charges = constraints(toy, i)[k]
        is_same = (differences == on).all(axis=1)
        assert np.isclose(charges[is_same], charge, rtol=1e-12).any()
        assert alpha > 0
        used[i, k] += alpha
        linear += alpha * charge
        W += alpha * copies(toy, i) * on
    assert (used <= toy.C[:, None] * (1 + 1e-12)).all()
    if toy.slack == "example_signed":
        assert np.allclose(used[:, 0], toy.C, rtol=1e-12)
    return float(linear - np.sum(W * W) / 2), W

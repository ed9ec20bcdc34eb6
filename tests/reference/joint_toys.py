"""Small joint problems, once as what a solver takes and once as dense arrays for the oracle."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from taxonomist.losses import category_loss, weighted_tree
from taxonomist.solvers.duals import Entries
from taxonomist.solvers.problem import FeatureRows, JointProblem, one_label_each
from taxonomist.taxonomy import Taxonomy
from tests.reference.joint_svm import Instance, certificate

SHAPES = ("tree", "dag", "flat", "real")
LOSSES = ("zero_one", "tree", "weighted", "matrix", "callable")


class Toy(NamedTuple):
    """Features, labels, costs and what they are labelled with."""

    X: np.ndarray
    y: np.ndarray
    costs: np.ndarray
    attributes: Any  # CSR
    loss: Any  # CategoryLoss

    def problem(self, items: Any = None) -> JointProblem:
        """Return the problem; the items are sparse float64 rows by default."""
        items = items or FeatureRows(sparse.csr_array(self.X), "float64")
        labels = one_label_each(self.y, self.attributes.shape[0])
        return JointProblem(items, labels, self.costs, self.attributes, self.loss)

    def instance(self, K: np.ndarray | None = None) -> Instance:
        """Return the problem for the oracle; the kernel is linear by default."""
        K = self.X @ self.X.T if K is None else K
        loss = self.loss.rows(range(self.loss.n_categories))
        return Instance(K, self.y, self.attributes.toarray(), loss, self.costs)

    def margins(self, W: np.ndarray) -> np.ndarray:
        """Return f(x_i, y_i) - f(x_i, c) for all items and categories."""
        f = self.X @ W @ self.attributes.toarray().T
        return f[np.arange(len(f)), self.y][:, None] - f


def toy(shape: str = "tree", loss: str = "tree", C: float = 1.0, seed: int = 0, n: int = 30) -> Toy:
    """Return a random problem with costs that differ by item.

    One item has no features, two have the same, and one category has no items.
    """
    rng = np.random.default_rng(seed)
    taxonomy = _taxonomy("tree" if shape == "real" else shape, rng)
    leaves = np.flatnonzero(taxonomy.is_leaf)
    attributes = taxonomy.ancestor_matrix()[leaves][:, 1:].astype(np.float64)
    if shape == "real":
        attributes = sparse.csr_array(rng.normal(size=(len(leaves), 4)))
    y = rng.integers(len(leaves) - 1, size=n)
    X = rng.normal(size=(n, 20)) * (rng.random((n, 20)) < 0.4)
    X[:, : len(leaves)] += np.eye(len(leaves))[y]
    X[0] = 0
    X[1:3] = X[1]
    costs = C * rng.uniform(0.5, 1.5, size=n)
    return Toy(X, y, costs, attributes, category_loss(_loss(loss, taxonomy, rng), taxonomy))


def separable(shape: str = "tree", seed: int = 0, C: float = np.inf) -> Toy:
    """Return a problem that a hard margin solves."""
    found = toy(shape, seed=seed)
    rng = np.random.default_rng(seed)
    n_categories = found.attributes.shape[0]
    X = 3 * np.eye(n_categories)[found.y] + rng.normal(scale=0.3, size=(30, n_categories))
    return found._replace(X=X, costs=np.full(30, C))


def alpha_of(given: Any, of: Any) -> np.ndarray:
    """Return dual variables, or those of a solution, as a dense array α.

    ``of`` is the instance, or the shape (n_items, n_categories).
    """
    duals = getattr(given, "duals", given)
    shape = (len(of.y), len(of.attributes)) if isinstance(of, Instance) else of
    alpha = np.zeros(shape)
    entries = Entries.of(duals)
    alpha[entries.item, entries.other] = entries.beta * entries.delta
    return alpha


def recomputed(instance: Instance, solution: Any, X: np.ndarray | None = None) -> Any:
    """Return the oracle's certificate of a solution; without X its weights are coefficients."""
    W = np.asarray(solution.W, dtype=np.float64)
    scores = (instance.K if X is None else X) @ W
    squared = np.sum(W * scores) if X is None else np.sum(W * W)
    return certificate(instance, scores, squared, alpha_of(solution.duals, instance))


def _taxonomy(shape: str, rng: np.random.Generator) -> Taxonomy:
    """Return a taxonomy of the given shape with six or so leaves."""
    if shape == "flat":
        return Taxonomy.flat([f"c{k}" for k in range(6)])
    edges = [("r", "a"), ("r", "b"), ("r", "c"), ("a", "d"), ("a", "e"), ("b", "f"), ("b", "g")]
    edges += [(rng.choice(["d", "f", "c"]), leaf) for leaf in ("h", "i", "j")]
    if shape == "dag":
        edges += [("b", "d"), ("c", "e"), ("c", "h"), ("f", "j")]
    return Taxonomy.from_edges([(str(p), c) for p, c in dict.fromkeys(edges)])


def _loss(name: str, taxonomy: Taxonomy, rng: np.random.Generator) -> Any:
    """Return a loss in the form that users give it."""
    if name == "weighted":
        tables = rng.uniform(0.2, 2.0, size=(3, taxonomy.n_nodes))
        return weighted_tree(*(dict(zip(taxonomy.nodes, row, strict=True)) for row in tables))
    if name == "matrix":
        n = int(taxonomy.is_leaf.sum())
        return rng.uniform(0.2, 3.0, size=(n, n)) * (1 - np.eye(n))
    if name == "callable":
        return lambda true, predicted: taxonomy.distance(true, predicted) ** 2 / 4
    return name

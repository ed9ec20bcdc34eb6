"""Coupled binary SVMs straight from CH04, Eq. 22: slow, obvious, every constraint written out.

Notation: i item, r category, z attribute; K the kernel matrix, s_ir ``signs``, Λ ``attributes``,
C_ir ``costs``. Everything is dense. Only numpy and a general interior-point solver are used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import clarabel
import numpy as np
from scipy import sparse

from taxonomist.solvers.binary import BinaryProblem
from taxonomist.solvers.problem import FeatureRows

SHAPES = ("tree", "dag", "flat", "real")


class Instance(NamedTuple):
    """Binary problems as dense arrays."""

    K: np.ndarray  # (n_items, n_items)  k(x_i, x_j)
    signs: np.ndarray  # (n_items, n_categories)
    attributes: np.ndarray  # (n_categories, n_attributes)
    costs: np.ndarray  # (n_items, n_categories)


class Certificate(NamedTuple):
    """What follows from weights and dual variables by definition."""

    primal: float
    dual: float
    G: np.ndarray  # (n_items, n_categories)  1 - s_ir f(x_i, r)
    violation: np.ndarray  # (n_items, n_categories)  projected gradients


class Toy(NamedTuple):
    """Features, labels, costs and attributes of a small problem."""

    X: np.ndarray
    Y: np.ndarray  # bool
    costs: np.ndarray
    attributes: np.ndarray
    weight: np.ndarray | None = None

    def problem(self, items: Any = None) -> BinaryProblem:
        """Return what a solver takes; the items are sparse float64 rows by default."""
        items = items or FeatureRows(sparse.csr_array(self.X), "float64")
        labels, attributes = sparse.csr_array(self.Y), sparse.csr_array(self.attributes)
        return BinaryProblem(items, labels, self.costs, attributes, self.weight)

    def instance(self, K: np.ndarray | None = None) -> Instance:
        """Return what the oracle takes; the kernel is linear by default."""
        K = self.X @ self.X.T if K is None else K
        weight = np.ones(self.Y.shape[1]) if self.weight is None else self.weight
        costs = self.costs[:, None] * np.where(self.Y, weight, 1.0)
        return Instance(K, np.where(self.Y, 1.0, -1.0), self.attributes, costs)


def toy(shape: str = "tree", C: float = 1.0, seed: int = 0, n: int = 24) -> Toy:
    """Return a random problem with costs that differ by item and weights that differ by category.

    One item has no features, two have the same, one has no category, and one has all of them.
    """
    rng = np.random.default_rng(seed)
    attributes = random_attributes(shape, rng)
    n_categories = len(attributes)
    Y = rng.random((n, n_categories)) < 0.3
    X = rng.normal(size=(n, 12)) * (rng.random((n, 12)) < 0.5)
    X[:, :n_categories] += Y[:, :12]
    X[0] = 0
    if n > 6:
        X[1:3] = X[1]
        Y[3], Y[4] = False, True
    costs = C * rng.uniform(0.5, 1.5, size=n)
    return Toy(X, Y, costs, attributes, rng.uniform(0.5, 3.0, size=n_categories))


def random_attributes(shape: str, rng: np.random.Generator) -> np.ndarray:
    """Return attributes of the leaves below a root that has none, with node weights that differ."""
    if shape == "flat":
        return np.eye(5)
    if shape == "real":
        return rng.normal(size=(5, 4))
    n_nodes = 10
    above = np.eye(n_nodes)
    is_leaf = np.ones(n_nodes, dtype=bool)
    for node in range(3, n_nodes):
        for parent in rng.integers(node, size=2 if shape == "dag" else 1):
            above[node] = np.maximum(above[node], above[parent])
            is_leaf[parent] = False
    return (above * rng.uniform(0.4, 1.2, size=n_nodes))[is_leaf]


def primal_optimum(instance: Instance, X: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the minimum of Eq. 22 for the linear kernel, and the weights that reach it.

    The variables are w, feature after feature, then ξ, item after item.
    """
    n_items, n_categories = instance.signs.shape
    n_weights = X.shape[1] * instance.attributes.shape[1]
    n_pairs = n_items * n_categories
    margins = [
        instance.signs[i, r] * np.outer(X[i], instance.attributes[r]).ravel()
        for i in range(n_items)
        for r in range(n_categories)
    ]
    rows = np.block(
        [
            [np.array(margins), np.eye(n_pairs)],  # 22b
            [np.zeros((n_pairs, n_weights)), np.eye(n_pairs)],
        ]
    )
    least = np.repeat([1.0, 0.0], n_pairs)
    squared = np.repeat([1.0, 0.0], [n_weights, n_pairs])
    linear = np.concatenate([np.zeros(n_weights), instance.costs.ravel()])
    found, value = _minimise(np.diag(squared), linear, rows, least)  # 22a
    return value, found[:n_weights].reshape(X.shape[1], -1)


def dual_optimum(instance: Instance) -> tuple[float, np.ndarray]:
    """Return the maximum of the dual and the α that reaches it, for any kernel."""
    s = instance.signs.ravel()
    products = np.kron(instance.K, instance.attributes @ instance.attributes.T)
    eye = np.eye(len(s))
    rows = np.concatenate([eye, -eye])
    least = np.concatenate([np.zeros(len(s)), -instance.costs.ravel()])
    found, value = _minimise(products * np.outer(s, s), -np.ones(len(s)), rows, least)
    return -value, found.reshape(instance.signs.shape)


def coefficients(instance: Instance, alpha: np.ndarray) -> np.ndarray:
    """Return A with w_z(α) = Σ_i A[i, z] φ(x_i), shape (n_items, n_attributes)."""
    A = np.zeros((len(alpha), instance.attributes.shape[1]))
    for i, r in np.ndindex(alpha.shape):
        A[i] += alpha[i, r] * instance.signs[i, r] * instance.attributes[r]
    return A


def certificate(
    instance: Instance, scores: np.ndarray, squared_norm: float, alpha: np.ndarray
) -> Certificate:
    """Return both objectives, gradients and projected gradients by definition.

    The weights w are given by ``scores``, <w_z, φ(x_i)> (n_items, n_attributes), and ||w||².
    """
    primal = squared_norm / 2
    G, violation = np.zeros_like(alpha), np.zeros_like(alpha)
    for i, r in np.ndindex(alpha.shape):
        f = instance.attributes[r] @ scores[i]
        G[i, r] = 1 - instance.signs[i, r] * f
        primal += instance.costs[i, r] * max(G[i, r], 0)
        most_up = instance.costs[i, r] - alpha[i, r]
        violation[i, r] = max(G[i, r] * (most_up > 0), -G[i, r] * (alpha[i, r] > 0), 0)
    A = coefficients(instance, alpha)
    dual = alpha.sum() - np.sum(A * (instance.K @ A)) / 2
    return Certificate(primal, dual, G, violation)


def recomputed(instance: Instance, solution: Any, X: np.ndarray | None = None) -> Certificate:
    """Return the certificate of a solution; without X its weights are coefficients."""
    W = np.asarray(solution.W, dtype=np.float64)
    scores = (instance.K if X is None else X) @ W
    squared = np.sum(W * scores) if X is None else np.sum(W * W)
    return certificate(instance, scores, squared, solution.alpha)


def _minimise(
    P: np.ndarray, q: np.ndarray, rows: np.ndarray, least: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the x that minimises ½ x'Px + q'x subject to rows x >= least, and the minimum."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-10
    cones = [clarabel.NonnegativeConeT(len(rows))]
    P, A = sparse.csc_matrix(np.triu(P)), sparse.csc_matrix(-rows)
    found = clarabel.DefaultSolver(P, q, A, -least, cones, settings).solve()
    if str(found.status) not in ("Solved", "AlmostSolved"):
        raise ArithmeticError(f"The reference solver gave up: {found.status}.")
    return np.array(found.x), found.obj_val

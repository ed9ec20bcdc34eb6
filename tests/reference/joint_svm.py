"""The joint SVM of CH04 straight from its equations: slow, obvious, every constraint written out.

Notation: i item, c category, z attribute; K the kernel matrix, Λ ``attributes``, Δ ``loss``,
C_i ``costs``. Everything is dense. Only numpy and a general interior-point solver are used.
"""

from __future__ import annotations

from typing import NamedTuple

import clarabel
import numpy as np
from scipy import sparse


class Instance(NamedTuple):
    """A joint problem as dense arrays."""

    K: np.ndarray  # (n_items, n_items)  k(x_i, x_j)
    y: np.ndarray  # (n_items,)
    attributes: np.ndarray  # (n_categories, n_attributes)
    loss: np.ndarray  # (n_categories, n_categories)  Δ(true, predicted)
    costs: np.ndarray  # (n_items,)

    @property
    def wrong(self) -> list[tuple[int, int]]:
        """All pairs of an item and a category that is not its own."""
        n_categories = len(self.attributes)
        return [(i, c) for i, y in enumerate(self.y) for c in range(n_categories) if c != y]


class Certificate(NamedTuple):
    """What follows from weights and dual variables by definition."""

    primal: float
    dual: float
    F: np.ndarray  # (n_items, n_categories)
    slack: np.ndarray  # (n_items,)
    psi: np.ndarray  # (n_items,)


def primal_optimum(instance: Instance, X: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the minimum of Eq. 24 for the linear kernel, and the weights that reach it.

    The variables are w, feature after feature, then ξ; an infinite cost forces ξ_i = 0.
    """
    n_items, n_features = X.shape
    n_attributes = instance.attributes.shape[1]
    n_weights = n_features * n_attributes
    soft = np.isfinite(instance.costs)
    rows, least = [], []
    for i, c in instance.wrong:
        difference = instance.attributes[instance.y[i]] - instance.attributes[c]
        xi = np.eye(n_items)[i] / instance.loss[instance.y[i], c] * soft[i]
        rows.append(np.concatenate([np.outer(X[i], difference).ravel(), xi]))
        least.append(1.0)
    rows += [*np.eye(n_items, n_weights + n_items, n_weights)]
    least += [0.0] * n_items
    squared = np.concatenate([np.ones(n_weights), np.zeros(n_items)])
    linear = np.concatenate([np.zeros(n_weights), np.where(soft, instance.costs, 0.0)])
    found, value = minimise(np.diag(squared), linear, np.array(rows), np.array(least))
    return value, found[:n_weights].reshape(n_features, n_attributes)


def dual_optimum(instance: Instance, allowed: np.ndarray | None = None) -> tuple[float, np.ndarray]:
    """Return the maximum of Eq. 25 and the α that reaches it, for any kernel.

    Where ``allowed`` (n_items, n_categories) is False, α stays 0: the reduced problem.
    """
    pairs = [(i, c) for i, c in instance.wrong if allowed is None or allowed[i, c]]
    alpha = np.zeros((len(instance.y), len(instance.attributes)))
    if not pairs:
        return 0.0, alpha
    i, c = np.array(pairs).T
    differences = instance.attributes[instance.y[i]] - instance.attributes[c]
    products = instance.K[np.ix_(i, i)] * (differences @ differences.T)  # Eq. 19
    share = (i == np.arange(len(instance.y))[:, None]) / instance.loss[instance.y[i], c]
    soft = np.isfinite(instance.costs)
    rows = np.concatenate([np.eye(len(pairs)), -share[soft]])
    least = np.concatenate([np.zeros(len(pairs)), -instance.costs[soft]])
    alpha[i, c], value = minimise(products, -np.ones(len(pairs)), rows, least)
    return -value, alpha


def coefficients(instance: Instance, alpha: np.ndarray) -> np.ndarray:
    """Return A with w_z(α) = Σ_i A[i, z] φ(x_i), shape (n_items, n_attributes) [CH04, Eq. 13]."""
    A = np.zeros((len(instance.y), instance.attributes.shape[1]))
    for i, c in instance.wrong:
        A[i] += alpha[i, c] * (instance.attributes[instance.y[i]] - instance.attributes[c])
    return A


def certificate(
    instance: Instance, scores: np.ndarray, squared_norm: float, alpha: np.ndarray
) -> Certificate:
    """Return both objectives, F [CH04, Eq. 28], ξ [Eq. 30] and ψ [Eq. 33] by definition.

    The weights w are given by ``scores``, <w_z, φ(x_i)> (n_items, n_attributes), and ||w||².
    With a hard margin, the primal point is w divided by its smallest margin.
    """
    n_items, n_categories = alpha.shape
    F = np.zeros((n_items, n_categories))
    margins = np.full((n_items, n_categories), np.inf)
    for i, c in instance.wrong:
        difference = instance.attributes[instance.y[i]] - instance.attributes[c]
        margins[i, c] = difference @ scores[i]
        F[i, c] = instance.loss[instance.y[i], c] * (1 - margins[i, c])
    slack = F.max(axis=1)
    if np.isinf(instance.costs).any():
        least = margins.min()
        primal = squared_norm / 2 / least**2 if least > 0 else np.inf
    else:
        primal = squared_norm / 2 + instance.costs @ slack
    A = coefficients(instance, alpha)
    dual = alpha.sum() - np.sum(A * (instance.K @ A)) / 2  # Eq. 16
    return Certificate(primal, dual, F, slack, violations(instance, F, alpha))


def violations(instance: Instance, F: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return ψ_i [CH04, Eq. 33]; C_i is used up where only rounding says that it is not."""
    psi = np.zeros(len(F))
    for i, y in enumerate(instance.y):
        others = np.arange(F.shape[1]) != y
        used = np.sum(alpha[i, others] / instance.loss[y, others])
        positive = alpha[i] > 0  # Eq. 27
        positive[y] = used < instance.costs[i] * (1 - 1e-12)
        psi[i] = F[i].max() - F[i, positive].min()
    return psi


def minimise(
    P: np.ndarray, q: np.ndarray, rows: np.ndarray, least: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the x that minimises ½ x'Px + q'x subject to rows x >= least, and the minimum."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-10
    found = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P)),
        q,
        sparse.csc_matrix(-rows),
        -least,
        [clarabel.NonnegativeConeT(len(rows))],
        settings,
    ).solve()
    if str(found.status) not in ("Solved", "AlmostSolved"):
        raise ArithmeticError(f"The reference solver gave up: {found.status}.")
    return np.array(found.x), found.obj_val

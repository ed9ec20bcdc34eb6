"""The multilabel SVM of CH07 straight from its definitions: slow, obvious, every pair written out.

Notation: i item, y one of its categories, c one of the others, z attribute; K the kernel matrix,
Y the label sets, Λ ``attributes``, Δ ``loss``, C_i ``costs``. With ``slack="pair"`` each pair
(y, c) of an item has a slack of its own, as if it were an example of its own. Everything is dense.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tests.reference.joint_svm import minimise


class Instance(NamedTuple):
    """A joint problem over label sets as dense arrays."""

    K: np.ndarray  # (n_items, n_items)  k(x_i, x_j)
    Y: np.ndarray  # (n_items, n_categories)  bool
    attributes: np.ndarray  # (n_categories, n_attributes)
    loss: np.ndarray  # (n_categories, n_categories)  Δ(true, predicted)
    costs: np.ndarray  # (n_items,)
    slack: str = "example"

    @property
    def triples(self) -> list[tuple[int, int, int]]:
        """All (i, y, c) with y a category of item i and c none."""
        return [
            (i, int(y), int(c))
            for i, own in enumerate(self.Y)
            for y in np.flatnonzero(own)
            for c in np.flatnonzero(~own)
        ]

    @property
    def sharing(self) -> list[list[tuple[int, int, int]]]:
        """The triples that share a slack: those of an item, or each alone."""
        if self.slack == "pair":
            return [[triple] for triple in self.triples]
        groups = [[t for t in self.triples if t[0] == i] for i in range(len(self.Y))]
        return [group for group in groups if group]


class Certificate(NamedTuple):
    """What follows from weights and dual variables by definition."""

    primal: float
    dual: float
    margins: np.ndarray  # (n_items, n_categories, n_categories)  f(x_i, y) - f(x_i, c)
    G: np.ndarray  # (n_items, n_categories, n_categories)
    slack: np.ndarray  # (n_items,)  ξ_i, or the sum of the item's ξ_iyc
    psi: np.ndarray  # (n_items,)  the largest of the item's where each pair has one


def primal_optimum(instance: Instance, X: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the minimum of the primal for the linear kernel, and the weights that reach it.

    The variables are w, feature after feature, then the slacks; an infinite cost forces them to 0.
    """
    n_features, n_attributes = X.shape[1], instance.attributes.shape[1]
    n_weights, n_slacks = n_features * n_attributes, len(instance.sharing)
    costs = np.array([instance.costs[group[0][0]] for group in instance.sharing])
    soft = np.isfinite(costs)
    rows = [np.eye(n_slacks, n_weights + n_slacks, n_weights)]
    least = [0.0] * n_slacks
    for s, group in enumerate(instance.sharing):
        for i, y, c in group:
            difference = instance.attributes[y] - instance.attributes[c]
            xi = np.eye(n_slacks)[s] / instance.loss[y, c] * soft[s]
            rows.append(np.concatenate([np.outer(X[i], difference).ravel(), xi])[None])
            least.append(1.0)
    squared = np.concatenate([np.ones(n_weights), np.zeros(n_slacks)])
    linear = np.concatenate([np.zeros(n_weights), np.where(soft, costs, 0.0)])
    found, value = minimise(np.diag(squared), linear, np.concatenate(rows), np.array(least))
    return value, found[:n_weights].reshape(n_features, n_attributes)


def dual_optimum(instance: Instance) -> tuple[float, np.ndarray]:
    """Return the maximum of the dual, and the α (n_items, n_categories, n_categories) at it."""
    n_items, n_categories = instance.Y.shape
    alpha = np.zeros((n_items, n_categories, n_categories))
    if not instance.triples:
        return 0.0, alpha
    i, y, c = np.array(instance.triples).T
    differences = instance.attributes[y] - instance.attributes[c]
    products = instance.K[np.ix_(i, i)] * (differences @ differences.T)
    rows, least = [*np.eye(len(i))], [0.0] * len(i)
    for group in instance.sharing:
        cost = instance.costs[group[0][0]]
        if np.isfinite(cost):
            among = np.array([triple in group for triple in instance.triples])
            rows.append(np.where(among, -1 / instance.loss[y, c], 0.0))
            least.append(-cost)
    alpha[i, y, c], value = minimise(products, -np.ones(len(i)), np.array(rows), np.array(least))
    return -value, alpha


def coefficients(instance: Instance, alpha: np.ndarray) -> np.ndarray:
    """Return A with w_z(α) = Σ_i A[i, z] φ(x_i), shape (n_items, n_attributes)."""
    A = np.zeros((len(instance.Y), instance.attributes.shape[1]))
    for i, y, c in instance.triples:
        A[i] += alpha[i, y, c] * (instance.attributes[y] - instance.attributes[c])
    return A


def certificate(
    instance: Instance, scores: np.ndarray, squared_norm: float, alpha: np.ndarray
) -> Certificate:
    """Return both objectives, G, ξ and ψ by definition.

    The weights w are given by ``scores``, <w_z, φ(x_i)> (n_items, n_attributes), and ||w||².
    With a hard margin, the primal point is w divided by its smallest margin.
    """
    margins, G = np.zeros(alpha.shape), np.zeros(alpha.shape)
    for i, y, c in instance.triples:
        margins[i, y, c] = (instance.attributes[y] - instance.attributes[c]) @ scores[i]
        G[i, y, c] = instance.loss[y, c] * (1 - margins[i, y, c])
    slack, psi = np.zeros(len(instance.Y)), np.zeros(len(instance.Y))
    for group in instance.sharing:
        i = group[0][0]
        slack[i] += max(0.0, max(G[triple] for triple in group))
        psi[i] = max(psi[i], violation(instance, group, G, alpha))
    if np.isinf(instance.costs).any():
        least = min((margins[triple] for triple in instance.triples), default=np.inf)
        primal = squared_norm / 2 / least**2 if least > 0 else np.inf
    else:
        primal = squared_norm / 2 + instance.costs @ slack
    A = coefficients(instance, alpha)
    dual = alpha.sum() - np.sum(A * (instance.K @ A)) / 2
    return Certificate(primal, dual, margins, G, slack, psi)


def at_alpha(instance: Instance, alpha: np.ndarray) -> Certificate:
    """Return the certificate of w(α)."""
    A = coefficients(instance, alpha)
    return certificate(instance, instance.K @ A, float(np.sum(A * (instance.K @ A))), alpha)


def violation(
    instance: Instance, group: list[tuple[int, int, int]], G: np.ndarray, alpha: np.ndarray
) -> float:
    """Return ψ of the triples that share a slack [CH07, Alg. 1].

    C_i is used up where only rounding says that it is not. Where it is 0 nothing can be better.
    """
    cost = instance.costs[group[0][0]]
    if cost == 0:
        return 0.0
    used = sum(alpha[i, y, c] / instance.loss[y, c] for i, y, c in group)
    zeta = cost - used if used < cost * (1 - 1e-12) else 0.0
    lower = max(0.0, max(G[triple] for triple in group))
    positive = [G[triple] for triple in group if alpha[triple] > 0]
    upper = min(positive) if zeta == 0 else min([0.0, *positive])
    return lower - upper


def violation_within(instance: Instance, G: np.ndarray, alpha: np.ndarray, i: int) -> float:
    """Return ψ_i over the pairs with α_iyc > 0 only."""
    active = [(i, int(y), int(c)) for y, c in np.argwhere(alpha[i] > 0)]
    groups = [[triple] for triple in active] if instance.slack == "pair" else [active]
    return max((violation(instance, group, G, alpha) for group in groups if group), default=0.0)


def maximal_loss(instance: Instance, f: np.ndarray) -> np.ndarray:
    """Return each item's largest Δ(y, c) with f(x, y) <= f(x, c), 0 if there is no such pair."""
    worst = np.zeros(len(f))
    for i, y, c in instance.triples:
        if f[i, y] <= f[i, c]:
            worst[i] = max(worst[i], instance.loss[y, c])
    return worst


def ranking_loss(instance: Instance, f: np.ndarray) -> np.ndarray:
    """Return each item's sum of Δ(y, c) over the pairs with f(x, y) <= f(x, c)."""
    total = np.zeros(len(f))
    for i, y, c in instance.triples:
        total[i] += instance.loss[y, c] * (f[i, y] <= f[i, c])
    return total

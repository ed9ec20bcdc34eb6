"""The maximum-margin Markov tree of RSSS06 by enumeration: slow, obvious, every constraint written.

Notation: i item, j node, y and u labellings (0 or 1 for every node), b a block of φ(x, y), which
is a copy of x that a labelling turns on or off. A factor is what has a slack of its own where
slacks are given out by edges. Everything is dense. Only numpy and a general interior-point solver
are used.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from tests.reference.joint_svm import minimise


class Instance(NamedTuple):
    """A problem as dense arrays."""

    X: np.ndarray  # (n_items, n_features)
    Y: np.ndarray  # (n_items, n_nodes)  0 or 1, closed under ancestors
    parent: np.ndarray  # (n_nodes,)  the root, node 0, is its own
    C: np.ndarray  # (n_items,)
    node_costs: np.ndarray  # (n_nodes,)  c_j
    charge: str  # "node" for ℓ_Δ, "parent" for ℓ_H̃
    features: str  # "edge" or "path"
    train_on: str  # "all" or "consistent"
    slack: str  # "example", "example_signed" or "edge"
    owner: np.ndarray  # (n_features,)  node of each local feature, -1 for global ones
    edge_loss: str = "upper"  # or "shared": a charge of ℓ_Δ is split over all edges at its node

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.parent)

    @property
    def block_nodes(self) -> np.ndarray:
        """The node of every block."""
        nodes = np.arange(self.n_nodes)
        return np.repeat(nodes[1:], 4) if self.features == "edge" else nodes

    @property
    def labellings(self) -> np.ndarray:
        """All labellings that a model must beat, the truth included."""
        found = np.array(list(product((0, 1), repeat=self.n_nodes)))
        if self.train_on == "consistent":
            found = found[(found <= found[:, self.parent]).all(axis=1)]
        return found

    def others(self, i: int) -> np.ndarray:
        """All labellings that item i must beat."""
        found = self.labellings
        return found[(found != self.Y[i]).any(axis=1)]


class Certificate(NamedTuple):
    """What follows from weights and dual variables by definition."""

    primal: float
    dual: float
    slack: np.ndarray  # (n_items, n_factors)
    violation: np.ndarray  # (n_items, n_factors)  largest G less the smallest of a positive α


class Step(NamedTuple):
    """A labelling's dual variable and what it multiplies."""

    i: int
    factor: int  # 0 unless slacks are given out by edges
    blocks: np.ndarray  # (n_blocks,)  blocks of the truth less those of the labelling
    loss: float
    alpha: float


# Losses and features; u may be one labelling, or many as rows.


def node_charges(instance: Instance, y: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return what every node is charged [RSSS06, Sec. 2.1], shape of u."""
    charges = np.zeros(u.shape)
    for j, c in enumerate(instance.node_costs):
        p = instance.parent[j]
        is_charged = y[j] != u[..., j]
        if instance.charge == "parent" and j > 0:
            is_charged &= y[p] == u[..., p]
        charges[..., j] = c * is_charged
    return charges


def loss(instance: Instance, y: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return ℓ(y, u)."""
    return node_charges(instance, y, u).sum(axis=-1)


def factor_losses(instance: Instance, y: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the loss of every factor: edge after edge, or path after path.

    Edges have the charge of their lower node; those below the root share its charge. Shared
    charges are those of both ends of an edge, each divided by its number of neighbours.
    """
    charges = node_charges(instance, y, u)
    if instance.features == "path":
        return charges
    if instance.edge_loss == "shared" and instance.charge == "node":
        edges = [(int(instance.parent[j]), j) for j in range(1, instance.n_nodes)]
        n_neighbours = [sum(j in edge for edge in edges) for j in range(instance.n_nodes)]
        shares = charges / n_neighbours
        return np.stack([shares[..., p] + shares[..., j] for p, j in edges], axis=-1)
    below_root = instance.parent[1:] == 0
    return charges[..., 1:] + below_root * charges[..., :1] / below_root.sum()


def blocks(instance: Instance, u: np.ndarray) -> np.ndarray:
    """Return which blocks labellings turn on, 1 or 0, (..., n_blocks)."""
    on = np.zeros((*u.shape[:-1], len(instance.block_nodes)))
    for b, j in enumerate(instance.block_nodes):
        p = instance.parent[j]
        if instance.features == "edge":
            above, own = divmod(b % 4, 2)
            on[..., b] = (u[..., p] == above) & (u[..., j] == own)
        else:
            on[..., b] = u[..., j] if j == 0 else u[..., j] * on[..., p]
    return on


def copies(instance: Instance, i: int) -> np.ndarray:
    """Return x_i in every block, (n_features, n_blocks): local features only at their own nodes."""
    is_there = (instance.owner[:, None] == -1) | (instance.owner[:, None] == instance.block_nodes)
    return instance.X[i][:, None] * is_there


# The full primal.


class Constraints(NamedTuple):
    """What one item demands of one slack: <w, Δφ> >= ℓ - ξ, for every labelling but the truth."""

    slack: int  # number of the slack among those of the item
    differences: np.ndarray  # (n_labellings, n_blocks)  blocks of the truth less those of another
    losses: np.ndarray  # (n_labellings,)


def constraints(instance: Instance, i: int) -> list[Constraints]:
    """Return all constraints of item i."""
    y, others = instance.Y[i], instance.others(i)
    differences = blocks(instance, y) - blocks(instance, others)
    if instance.slack != "edge":
        return [Constraints(0, differences, loss(instance, y, others))]
    losses = factor_losses(instance, y, others)
    return [
        Constraints(k, differences * (instance.block_nodes == j), losses[:, k])
        for k, j in enumerate(np.unique(instance.block_nodes))
    ]


def primal_optimum(instance: Instance) -> tuple[float, np.ndarray]:
    """Return the minimum of Eq. 1 and the weights that reach it, (n_features, n_blocks)."""
    n_items, n_features = instance.X.shape
    shape = n_features, len(instance.block_nodes)
    n_weights, n_factors = shape[0] * shape[1], _n_factors(instance)
    n_slacks = n_items * n_factors
    rows, least = [], []
    for i in range(n_items):
        for k, differences, losses in constraints(instance, i):
            phi = copies(instance, i) * differences[:, None, :]
            slack = np.tile(np.eye(n_slacks)[i * n_factors + k], (len(losses), 1))
            rows.append(np.column_stack([phi.reshape(len(losses), -1), slack]))
            least.append(losses)
    if instance.slack != "example_signed":
        rows.append(np.eye(n_slacks, n_weights + n_slacks, n_weights))
        least.append(np.zeros(n_slacks))
    is_hard = np.repeat(np.isinf(instance.C), n_factors)
    if is_hard.any():
        rows.append(-np.eye(n_slacks, n_weights + n_slacks, n_weights)[is_hard])
        least.append(np.zeros(is_hard.sum()))
    unique = np.unique(np.column_stack([np.concatenate(rows), np.concatenate(least)]), axis=0)
    squared = np.concatenate([np.ones(n_weights), np.zeros(n_slacks)])
    costs = np.where(is_hard, 0.0, np.repeat(instance.C, n_factors))
    linear = np.concatenate([np.zeros(n_weights), costs])
    found, value = minimise(np.diag(squared), linear, unique[:, :-1], unique[:, -1])
    return value, found[:n_weights].reshape(shape)


def _n_factors(instance: Instance) -> int:
    """Return how many slacks an item has."""
    return len(np.unique(instance.block_nodes)) if instance.slack == "edge" else 1


# Certificates.


def slacks(instance: Instance, W: np.ndarray) -> np.ndarray:
    """Return the smallest slacks that weights allow, (n_items, n_factors)."""
    found = np.zeros((len(instance.X), _n_factors(instance)))
    if instance.slack == "example_signed":
        found -= np.inf
    for i in range(len(instance.X)):
        score = np.sum(W * copies(instance, i), axis=0)
        for k, differences, losses in constraints(instance, i):
            found[i, k] = max(found[i, k], np.max(losses - differences @ score))
    return found


def weights(instance: Instance, steps: list[Step]) -> np.ndarray:
    """Return w(α), (n_features, n_blocks)."""
    W = np.zeros((instance.X.shape[1], len(instance.block_nodes)))
    for step in steps:
        W += step.alpha * copies(instance, step.i) * step.blocks
    return W


def certificate(instance: Instance, W: np.ndarray, steps: list[Step]) -> Certificate:
    """Return both objectives, slacks and violations of weights and dual variables."""
    slack = slacks(instance, W)
    primal = np.sum(W * W) / 2 + np.sum(instance.C[:, None] * slack)
    implied = weights(instance, steps)
    dual = sum(step.alpha * step.loss for step in steps) - np.sum(implied**2) / 2
    violation = slack - _lowest(instance, W, steps)
    return Certificate(float(primal), float(dual), slack, violation)


def _lowest(instance: Instance, W: np.ndarray, steps: list[Step]) -> np.ndarray:
    """Return the smallest G of a positive dual variable; the truth has what others leave of C."""
    used = np.zeros((len(instance.X), _n_factors(instance)))
    lowest = np.full(used.shape, np.inf)
    for i, k, on, charge, alpha in steps:
        used[i, k] += alpha
        lowest[i, k] = min(lowest[i, k], charge - np.sum(W * copies(instance, i) * on))
    has_truth = (used < instance.C[:, None] * (1 - 1e-12)) & (instance.slack != "example_signed")
    return np.where(has_truth, np.minimum(lowest, 0.0), lowest)


# Marginals.


def marginal_weights(instance: Instance, mu: np.ndarray) -> np.ndarray:
    """Return w of marginals (n_items, n_blocks): Σ_i Σ_b μ_ib (truth of b's edge - b) x_i."""
    W = np.zeros((instance.X.shape[1], len(instance.block_nodes)))
    for i in range(len(instance.X)):
        true = blocks(instance, instance.Y[i])
        for b, weight in enumerate(mu[i]):
            is_same_edge = instance.block_nodes == instance.block_nodes[b]
            on = true * is_same_edge - (np.arange(mu.shape[1]) == b)
            W += weight * copies(instance, i) * on
    return W


def marginal_dual(instance: Instance, mu: np.ndarray) -> float:
    """Return the dual value of marginals [RSSS06, Eq. 8]; the loss is that of every edge."""
    linear = 0.0
    for i, y in enumerate(instance.Y):
        for b, weight in enumerate(mu[i]):
            if weight != 0:
                u = y.copy()
                j = instance.block_nodes[b]
                u[instance.parent[j]], u[j] = divmod(b % 4, 2)
                linear += weight * factor_losses(instance, y, u)[j - 1]
    return float(linear - np.sum(marginal_weights(instance, mu) ** 2) / 2)


def node_marginals(instance: Instance, mu: np.ndarray, j: int) -> list[np.ndarray]:
    """Return what every edge at node j says of its labels 0 and 1, for marginals of one item."""
    found = []
    for b in range(0, len(mu), 4):
        lower = instance.block_nodes[b]
        table = mu[b : b + 4].reshape(2, 2)
        if lower == j:
            found.append(table.sum(axis=0))
        if instance.parent[lower] == j:
            found.append(table.sum(axis=1))
    return found

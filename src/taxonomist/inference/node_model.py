"""``NodeModel``: coherent probabilities of nodes from the margins of all nodes.

A logistic model of a few features of an item and a node, fitted to held-out items: the margin of
the node, its margin against siblings, the mean and the least margin above it, the best margin below
it, the logarithm of its frequency, and the best margin of the item. A node is never more probable
than its parents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import Bools, Codes, Floats, Reals
    from taxonomist.taxonomy import Taxonomy

N_FEATURES = 8
PRIOR = 1.0
"""Strength of the prior of the logistic model, in pairs of an item and a node."""
MOST_STEPS = 50


class NodeMargins(NamedTuple):
    """Margins of items, (n_nodes, n_items), against all others and against siblings."""

    above: Reals
    beside: Reals


@dataclass(frozen=True, eq=False)
class NodeModel:
    """A logistic model of node probabilities.

    Attributes
    ----------
    taxonomy
        The taxonomy.
    coef
        The weights of the features, (n_features,); the last is the intercept.
    log_frequency
        The logarithm of the share of training items at or below each node; -inf if there are none.
    is_certain
        Whether all training items are at or below each node.
    """

    taxonomy: Taxonomy
    coef: Floats
    log_frequency: Floats
    is_certain: Bools

    def probabilities(self, margins: NodeMargins) -> Floats:
        """Return coherent probabilities, (n_nodes, n_items)."""
        found = np.zeros(margins.above.shape)
        features = node_features(self.taxonomy, margins, self.log_frequency)
        for code, table in enumerate(features):
            if self.is_certain[code]:
                found[code] = 1.0
            elif np.isfinite(self.log_frequency[code]):
                found[code] = expit(self.coef @ table)
        return coherent(self.taxonomy, found)


def node_features(
    taxonomy: Taxonomy, margins: NodeMargins, log_frequency: Floats
) -> Iterator[Floats]:
    """Yield the features of each node, (n_features, n_items), in the order of codes.

    Nodes above the root's children have no margin above them; their own margin takes its place.
    """
    above = margins.above.astype(np.float64)
    total, count = above.copy(), np.ones(len(above))
    least, below = above.copy(), above.copy()
    parents = [_parents(taxonomy, code) for code in range(len(above))]
    for code in range(1, len(above)):
        inner = [p for p in parents[code] if p != 0]
        if inner:
            total[code] += np.mean([total[p] for p in inner], axis=0)
            count[code] += np.mean([count[p] for p in inner])
            np.minimum(least[code], np.min([least[p] for p in inner], axis=0), out=least[code])
    for code in range(len(above) - 1, 0, -1):
        for parent in parents[code]:
            np.maximum(below[parent], below[code], out=below[parent])
    best = above[1:].max(axis=0) if len(above) > 1 else above[0]
    for code in range(len(above)):
        own = above[code]
        mean = (total[code] - own) / (count[code] - 1) if count[code] > 1 else own
        rate = log_frequency[code] if np.isfinite(log_frequency[code]) else 0.0
        yield np.stack(
            [
                own,
                margins.beside[code].astype(np.float64),
                mean,
                least[code],
                below[code],
                np.full_like(own, rate),
                best,
                np.ones_like(own),
            ]
        )


def coherent(taxonomy: Taxonomy, probabilities: Floats) -> Floats:
    """Limit the probability of each node, (n_nodes, n_items), by those of all its parents."""
    probabilities[0] = 1.0
    for code in range(1, len(probabilities)):
        for parent in _parents(taxonomy, code):
            np.minimum(probabilities[code], probabilities[parent], out=probabilities[code])
    return probabilities


def fit_logistic(tables: list[Floats], truth: list[Bools], weights: list[Floats]) -> Floats:
    """Return the weights of a logistic model, by Newton's method.

    Parameters
    ----------
    tables
        Features, each (n_features, n_pairs).
    truth
        Whether the item of each pair belongs to the node.
    weights
        The weights of the pairs.
    """
    coef = np.zeros(N_FEATURES)
    loss = np.inf
    for _ in range(MOST_STEPS):
        slope, curvature = PRIOR * coef, PRIOR * np.eye(N_FEATURES)
        for table, is_in, weight in zip(tables, truth, weights, strict=True):
            chance = expit(coef @ table)
            slope = slope + table @ (weight * (chance - is_in))
            curvature = curvature + (table * (weight * chance * (1 - chance))) @ table.T
        step = np.linalg.solve(curvature, slope)
        coef = coef - step
        if np.abs(step).max() < 1e-6 or not np.isfinite(loss):
            break
    return coef


def _parents(taxonomy: Taxonomy, code: int) -> Codes:
    """Return the parents of a node."""
    return taxonomy.parent_indices[slice(*taxonomy.parent_indptr[code : code + 2])]

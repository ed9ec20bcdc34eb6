"""Sums over items for Newton's method on binary SVMs whose items are in shards.

Problem       that of ``taxonomist.solvers.newton_svm`` for some columns b with the same items, and
              with many features:  min_w  ½ ||w||² + Σ_i C_i max(0, 1 - y_i <w, x_i>)²
Step          The direction s solves H s = -g about, by conjugate gradients, with the gradient
              g = w - w(α), α_i = 2 C_i max(0, 1 - y_i <w, x_i>), and
              H v = v + 2 Σ_i C_i <v, x_i> x_i over the items with a positive slack. Then w += t s,
              where t is the best of some sizes.
Stopping      α is a point of the dual, whose gap at w is ½ ||g||².
Cost          Every sum is one over all items, so the result does not depend on the shards. A shard
              keeps nothing but its items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist.solvers.changes import Change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Floats, Reals
    from taxonomist.solvers.node_shards import NodeShard

SIZES = 2.0 ** np.arange(1, -9, -1)
"""The sizes t of a step."""


class ShardMargins(NamedTuple):
    """What a shard finds at some weights.

    Attributes
    ----------
    lacking
        1 - y_ib <w_b, x_i>, (n_items, n_columns).
    change
        w(α_k).
    slack
        Σ C ξ² of each column.
    """

    lacking: Reals
    change: Change
    slack: Floats


def margins_at(shard: NodeShard, own: CSR, W: Reals, constant: float) -> ShardMargins:
    """Return what a shard finds at some weights.

    Parameters
    ----------
    shard
        The items.
    own
        The columns in which each item is positive, (n_items, n_columns) boolean.
    W
        The weights of the features of this shard, (n_features, n_columns).
    constant
        The value of the constant feature.
    """
    signs = signs_of(own)
    lacking = 1 - signs * _scores(shard, W, constant)
    found = np.maximum(lacking, 0)
    change = _pulled(shard, 2 * signs * shard.costs[:, None] * found, constant)
    return ShardMargins(lacking.astype(np.float32), change, _squares(shard, found))


def duals_at(shard: NodeShard, own: CSR, W: Reals, constant: float) -> CSR:
    """Return α of some weights, (n_items, n_columns); see ``margins_at``."""
    found = np.maximum(1 - signs_of(own) * _scores(shard, W, constant), 0)
    return csr_array(2 * shard.costs[:, None] * found, dtype=np.float32)


def curved(shard: NodeShard, lacking: Reals, V: Reals, constant: float) -> Change:
    """Return the part of a shard in H v - v, for a direction of each column."""
    scores = np.where(lacking > 0, _scores(shard, V, constant), 0)
    return _pulled(shard, 2 * shard.costs[:, None] * scores, constant)


def slacks_along(shard: NodeShard, own: CSR, lacking: Reals, V: Reals, constant: float) -> Floats:
    """Return Σ C ξ² of each column after steps of all sizes, (n_sizes, n_columns)."""
    steps = signs_of(own) * _scores(shard, V, constant)
    return np.stack([_squares(shard, np.maximum(lacking - t * steps, 0)) for t in SIZES])


def signs_of(own: CSR) -> Reals:
    """Return y_ib."""
    return np.where(own.toarray(), np.float32(1), np.float32(-1))


def add_up(values: Sequence[Floats]) -> Floats:
    """Return the sum of the values of all shards."""
    total: Floats = np.sum(values, axis=0)
    return total


def _scores(shard: NodeShard, W: Reals, constant: float) -> Reals:
    """Return <w, x> of all items and columns."""
    found: Reals = shard.X @ W[:-1] + constant * W[-1]
    return found


def _squares(shard: NodeShard, slack: Reals) -> Floats:
    """Return Σ C ξ² of each column."""
    return np.asarray(shard.costs.astype(float) @ np.square(slack))


def _pulled(shard: NodeShard, values: Reals, constant: float) -> Change:
    """Return the sum of the rows of all items, times the values of each column."""
    bias = constant * values.sum(axis=0, keepdims=True)
    return Change.of(shard.features, np.vstack([shard.X.T @ values, bias]))

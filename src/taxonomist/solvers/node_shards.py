"""CoCoA+ rounds of independent binary SVMs whose items are in shards.

Problem       those of ``taxonomist.solvers.node_svms``: some columns b with the same items, which
              are in K shards
Dual          as there; w_b(α) = Σ_k w_b(α_k), where α_k are the dual variables of shard k
Notation      as there; f feature; σ'_f ``coupling``, between 1 and K; γ_b ``steps``
Step          In a round, shard k maximises over changes Δα_k, with w_b = w_b(α) fixed,
              Σ_i (α_i + Δα_i) - <w_b, w_b(Δα_k)> - ½ Σ_f σ'_f w_bf(Δα_k)² - ½ Σ_i D_i (α_i + Δα_i)²
              [MSJ15], by passes of dual coordinate ascent. Then α_k += γ_b Δα_k and
              w_b += γ_b Σ_k w_b(Δα_k), where γ_b in [0, 1] maximises the dual of column b along the
              sum of changes.
Stopping      The gap of all columns together at w before a round: the sums over items are those of
              all shards, and ||w_b||² is known. It is the same as on one machine.
Differences   σ' and γ are chosen as in ``taxonomist.solvers.shards``. With
              x'_f = √σ'_f x_f and w'_f = w_f / √σ'_f the step above is that of the local loop.
References    [MSJ15]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist.compiled.arrays import Labels, Rows, read_only
from taxonomist.compiled.node_svm import BlockArrays, BlockState, Scratch, ascend_share
from taxonomist.solvers.changes import Change
from taxonomist.solvers.node_jobs import widths_for
from taxonomist.solvers.row_norms import row_norms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Codes, Floats, Reals
    from taxonomist.solvers.shards import SharedWeights


class NodeShard(NamedTuple):
    """The items of a shard.

    Attributes
    ----------
    X
        Their rows, in single precision, with the features that occur.
    features
        The numbers of these features, in ascending order, and that of the constant feature.
    costs
        C_i.
    """

    X: CSR
    features: Codes
    costs: Reals

    @classmethod
    def of(cls, X: CSR, costs: Floats) -> NodeShard:
        """Return the shard of some items."""
        features, places = np.unique(X.indices, return_inverse=True)
        shape = X.shape[0], len(features)
        rows = csr_array((X.data, places.astype(np.int32), X.indptr), shape=shape)
        known = np.append(features, X.shape[1]).astype(np.intp)
        return cls(rows, known, costs.astype(np.float32))


class FamilyShard(NamedTuple):
    """The items of a shard, and their labels.

    Attributes
    ----------
    items
        The items.
    closed
        Their nodes, (n_items, n_nodes), closed under ancestors.
    """

    items: NodeShard
    closed: CSR


class NodeLoss(NamedTuple):
    """What all shards share.

    Attributes
    ----------
    constant
        The value of the constant feature.
    is_squared
        Whether the hinge loss is squared.
    """

    constant: float
    is_squared: bool


class NodeRound(NamedTuple):
    """How a round is done.

    Attributes
    ----------
    n_passes
        The number of passes over the items of a shard.
    seed
        A number above 0, on which the order of items depends.
    """

    n_passes: int
    seed: int


class NodeFindings(NamedTuple):
    """The share of a shard, or of several, in the objectives of each column.

    Attributes
    ----------
    linear
        Σ α - ½ Σ D α².
    slack
        Σ C ξ² or Σ C ξ.
    slope, curvature
        Derivatives of ``linear`` along the change: Σ Δα (1 - D α) and Σ D Δα².
    """

    linear: Floats
    slack: Floats
    slope: Floats
    curvature: Floats

    @classmethod
    def joined(cls, parts: Sequence[NodeFindings]) -> NodeFindings:
        """Return the share of all shards."""
        return cls._make(sum(values) for values in zip(*parts, strict=True))


class NodeShardRound(NamedTuple):
    """The result of a round in one shard.

    Attributes
    ----------
    duals
        α_k + Δα_k, (n_items, n_columns).
    change
        w(Δα_k).
    findings
        The share in the objectives, at the weights before the round.
    """

    duals: CSR
    change: Change
    findings: NodeFindings


def solve_node_shard(
    shard: NodeShard,
    own: CSR,
    duals: CSR,
    shared: SharedWeights,
    loss: NodeLoss,
    given: NodeRound,
) -> NodeShardRound:
    """Certify a shard at given weights, and maximise its share of the dual.

    Parameters
    ----------
    shard
        The items.
    own
        The columns in which each item is positive, (n_items, n_columns) boolean.
    duals
        α_k, (n_items, n_columns).
    shared
        The weights.
    loss
        What all shards share.
    given
        How the round is done.
    """
    given_rows, n_columns = shared.rows(shard.features), shared.W.shape[1]
    scale = np.sqrt(given_rows.coupling).astype(np.float32)
    before = duals.toarray().astype(np.float32)
    begin = (given_rows.W / scale[:, None]).astype(np.float32)
    rows = _scaled_rows(shard.X, scale)
    constant = float(loss.constant * scale[-1])
    W = np.zeros((len(begin), widths_for(n_columns)), np.float32)
    W[:, :n_columns] = begin
    state = BlockState(W, before.copy(), np.zeros(n_columns), np.zeros(n_columns))
    block = BlockArrays(
        rows,
        Labels(own.indptr.astype(np.intp), own.indices.astype(np.intp)),
        row_norms(rows, constant),
        shard.costs,
        constant,
        loss.is_squared,
        0,
        0,
    )
    slack, linear = np.zeros(n_columns), np.zeros(n_columns)
    scratch = Scratch.of(len(before), W.shape[1])
    ascend_share(block, state, scratch, slack, linear, np.uint64(given.seed), given.n_passes)
    change = Change.of(shard.features, (W[:, :n_columns] - begin) / scale[:, None])
    along = _derivatives(before, state.alpha, shard.costs, loss)
    return NodeShardRound(csr_array(state.alpha), change, NodeFindings(linear, slack, *along))


def _scaled_rows(X: CSR, scale: Reals) -> Rows:
    """Return rows with each feature times a number."""
    return read_only(Rows(X.indptr.astype(np.intp), X.indices, X.data * scale[X.indices]))


def _derivatives(
    before: Reals, after: Reals, costs: Reals, loss: NodeLoss
) -> tuple[Floats, Floats]:
    """Return the slope and the curvature of the linear term of each column along a change."""
    quadratic = 0.5 / costs.astype(float) if loss.is_squared else np.zeros(len(costs))
    slope, curvature = np.zeros(before.shape[1]), np.zeros(before.shape[1])
    for b in range(before.shape[1]):
        step = after[:, b].astype(float) - before[:, b]
        slope[b] = step @ (1 - quadratic * before[:, b])
        curvature[b] = quadratic @ np.square(step)
    return slope, curvature


def node_weights(shard: NodeShard, own: CSR, duals: CSR, constant: float) -> Change:
    """Return w(α_k), as a change from 0."""
    signs = 2.0 * own.toarray() - 1.0
    signed = duals.toarray() * signs
    values = np.vstack([shard.X.T @ signed, constant * signed.sum(axis=0, keepdims=True)])
    return Change.of(shard.features, values)


def best_steps(w: Reals, change: Change, findings: NodeFindings) -> Floats:
    """Return the γ in [0, 1] of each column that maximises the dual along the sum of changes.

    Parameters
    ----------
    w
        The weights before the round, (n_features + 1, n_columns).
    change
        The sum of the changes of all shards.
    findings
        The findings of all shards.
    """
    values = change.values.toarray()
    slope = findings.slope - (w[change.rows] * values).sum(axis=0)
    curvature = findings.curvature + np.square(values, dtype=np.float64).sum(axis=0)
    steps = np.ones_like(slope)
    np.divide(slope, curvature, out=steps, where=curvature > 0)
    found: Floats = np.clip(steps, 0.0, 1.0)
    return found


def part_way(before: CSR, after: CSR, steps: Floats) -> CSR:
    """Return dual variables between two others, with a γ for each column: α + γ Δα."""
    if (steps == 1.0).all():
        return after
    mixed = before.multiply(1.0 - steps[None]) + after.multiply(steps[None])
    found = csr_array(mixed, dtype=np.float32)
    found.eliminate_zeros()
    return found

"""Newton's method for classifiers of ``DaskPathSVC`` whose items are in shards.

Rounds of CoCoA+ come near the optimum quickly, if the items of shards are alike. If they are not,
as with files that are sorted by category, or if the tolerance is small, the last part of the way
takes long. These steps are sums over all items, whatever the shards; see
``taxonomist.solvers.node_newton``. They need the squared hinge loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist.distributed.engine import reduce
from taxonomist.distributed.rounds import change_of
from taxonomist.solvers.changes import Change
from taxonomist.solvers.node_newton import (
    SIZES,
    add_up,
    curved,
    duals_at,
    margins_at,
    slacks_along,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import CSR, Codes, Floats, Reals
    from taxonomist.distributed.engine import Engine, Handle
    from taxonomist.solvers.node_newton import ShardMargins
    from taxonomist.solvers.node_shards import FamilyShard, NodeLoss

MOST_GRADIENTS = 10
"""Most conjugate gradients of a step."""
STRICTNESS = 0.2
"""The gradients end when the residual is this part of the first one."""


class Descent(NamedTuple):
    """The weights after a step, and their certificate.

    Attributes
    ----------
    W
        The weights before the step, (n_features + 1, n_columns).
    primal, dual
        Both objectives of each column at these weights.
    after
        The weights after the step.
    n_passes
        The number of passes over the items.
    """

    W: Floats
    primal: Floats
    dual: Floats
    after: Floats
    n_passes: int


def newton_step(
    engine: Engine,
    shards: Sequence[Handle],
    features: Sequence[Codes],
    W: Floats,
    nodes: Codes,
    loss: NodeLoss,
) -> Descent:
    """Certify weights, and make a step.

    Parameters
    ----------
    engine
        The engine.
    shards
        Handles of ``FamilyShard``.
    features
        The features of each.
    W
        The weights, (n_features + 1, n_columns).
    nodes
        The node of each column.
    loss
        What all shards share.
    """

    def sent(
        function: Callable[..., object], V: Floats, *columns: Sequence[Handle]
    ) -> list[Handle]:
        own = [engine.scatter(V[rows].astype(np.float32), is_for_all=False) for rows in features]
        return engine.map(function, shards, *columns, own, shared=(nodes, loss))

    def summed(changes: list[Handle]) -> Floats:
        (found,) = engine.gather([reduce(engine, Change.joined, changes)])
        whole = np.zeros_like(W)
        whole[found.rows] = found.values.toarray()
        return whole

    found = sent(family_margins, W)
    gradient = W - summed(engine.map(change_of, found))
    (slack,) = engine.gather([reduce(engine, add_up, engine.map(slack_of, found))])
    lacking = engine.map(lacking_of, found)
    primal = 0.5 * np.square(W).sum(axis=0) + slack
    dual = primal - 0.5 * np.square(gradient).sum(axis=0)
    direction, n_passes = _conjugate(
        gradient, lambda V: V + summed(sent(family_curved, V, lacking))
    )
    (slacks,) = engine.gather([reduce(engine, add_up, sent(family_slacks, direction, lacking))])
    squares = [np.square(W + t * direction).sum(axis=0) for t in SIZES]
    best = (0.5 * np.array(squares) + slacks).argmin(axis=0)
    return Descent(W, primal, dual, W + SIZES[best] * direction, n_passes + 2)


def _conjugate(gradient: Floats, product: Callable[[Floats], Floats]) -> tuple[Floats, int]:
    """Solve H s = -g about, for every column; return s and the number of products."""
    s, residual = np.zeros_like(gradient), -gradient
    p, squared = residual.copy(), np.square(residual).sum(axis=0)
    enough = STRICTNESS**2 * squared
    n_products = 0
    while n_products < MOST_GRADIENTS and (squared > enough).any():
        Hp = product(p)
        n_products += 1
        size = squared / np.maximum((p * Hp).sum(axis=0), np.finfo(float).tiny)
        s += size * p
        residual -= size * Hp
        before, squared = squared, np.square(residual).sum(axis=0)
        p = residual + squared / np.maximum(before, np.finfo(float).tiny) * p
    return s, n_products


def family_margins(shard: FamilyShard, W: Reals, nodes: Codes, loss: NodeLoss) -> ShardMargins:
    """Return what a shard finds at some weights."""
    return margins_at(shard.items, csr_array(shard.closed[:, nodes]), W, loss.constant)


def family_duals(shard: FamilyShard, W: Reals, nodes: Codes, loss: NodeLoss) -> CSR:
    """Return the dual variables that follow from some weights."""
    return duals_at(shard.items, csr_array(shard.closed[:, nodes]), W, loss.constant)


def family_curved(shard: FamilyShard, lacking: Reals, V: Reals, _: Codes, loss: NodeLoss) -> Change:
    """Return the part of a shard in the product of the curvature and a direction."""
    return curved(shard.items, lacking, V, loss.constant)


def family_slacks(
    shard: FamilyShard, lacking: Reals, V: Reals, nodes: Codes, loss: NodeLoss
) -> Floats:
    """Return the slacks of a shard after steps of all sizes."""
    own = csr_array(shard.closed[:, nodes])
    return slacks_along(shard.items, own, lacking, V, loss.constant)


def lacking_of(found: ShardMargins) -> Reals:
    """Return what items lack of a margin of 1."""
    return found.lacking


def slack_of(found: ShardMargins) -> Floats:
    """Return the sums of costs."""
    return found.slack

"""Classifiers of ``DaskPathSVC`` whose items do not fit on one worker: rounds over shards of items.

The children of a node, or all nodes, need the same items. Where these exceed a worker's share of
memory, they stay in shards, each of the items of some neighbouring parts. A block of columns after
the other is solved by rounds of CoCoA+, see ``taxonomist.solvers.node_shards``, and if they become
slow by Newton's method, see ``path_newton``, to the gap to which it is solved on one machine.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist.distributed.path_batches import Solved, columns_of, fold_batches, make_batch
from taxonomist.distributed.path_newton import family_duals, newton_step
from taxonomist.distributed.path_parts import PathPart, send_rows
from taxonomist.distributed.rounds import Rounds, ShardTasks, shares_of
from taxonomist.solvers.node_jobs import mixed_seeds
from taxonomist.solvers.node_shards import (
    FamilyShard,
    NodeFindings,
    NodeLoss,
    NodeRound,
    NodeShard,
    best_steps,
    node_weights,
    part_way,
    solve_node_shard,
)
from taxonomist.solvers.sequential import SLOWLY
from taxonomist.solvers.solution import Certificate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Codes, Floats, Reals
    from taxonomist.distributed.engine import Engine, Handle
    from taxonomist.distributed.path_batches import Batch, Gathering
    from taxonomist.models.path_columns import ColumnPlan
    from taxonomist.models.path_learning import PathParameters
    from taxonomist.solvers.changes import Change
    from taxonomist.solvers.node_shards import NodeShardRound
    from taxonomist.solvers.node_svms import NodeOptions
    from taxonomist.solvers.shards import SharedWeights

MOST_PASSES = 64
"""Most passes over the items of a shard in a round. There is one at first; rounds that lower the
gap slowly double the number."""
MOST_SLOW = 4
"""So many rounds that lower the gap slowly are enough for Newton's method to take over."""

logger = logging.getLogger(__name__)


class SetShards(NamedTuple):
    """The shards of a set.

    Attributes
    ----------
    number
        The number of the set.
    handles
        Handles of ``FamilyShard``.
    features
        The features of each.
    """

    number: int
    handles: list[Handle]
    features: list[Codes]


class SplitFamily:
    """A family whose items stay in shards.

    Parameters
    ----------
    engine
        The engine.
    parts
        Handles of ``PathPart``.
    gathering
        The family, with a batch for each block of columns.
    n_shards
        The number of shards; there is at most one for each part.
    n_features
        The number of features.
    given, options
        Parameters of the classifiers and of the solver.
    """

    def __init__(
        self,
        engine: Engine,
        parts: Sequence[Handle],
        gathering: Gathering,
        n_shards: int,
        n_features: int,
        given: PathParameters,
        options: NodeOptions,
    ) -> None:
        self.engine, self.gathering = engine, gathering
        self.n_features, self.given, self.options = n_features, given, options
        pieces = engine.map(send_rows, parts, shared=(gathering.parents,))
        n_values = engine.gather(engine.map(n_values_of, pieces))
        shares = shares_of(n_values, min(n_shards, len(pieces)))
        self.rows = engine.map(PathPart.joined, [[pieces[k] for k in share] for share in shares])

    def solve(self, plans: Sequence[ColumnPlan]) -> list[list[tuple[Batch, Solved]]]:
        """Return the solved batches of each set, given the plan of each."""
        batches = self.gathering.batches
        shards = self._shards(0)
        known = [self._run(shards, batch, None) for batch in batches]
        found = [list(zip(batches, known, strict=True))]
        for number, plan in enumerate(plans[1:], 1):
            shards = self._shards(number)
            found.append([])
            for wide, needed in fold_batches(plan, self.gathering):
                for batch in [make_batch(plan, [block]) for block in wide.numbers]:
                    start = self._start(batch, [known[k] for k in needed])
                    found[-1].append((batch, self._run(shards, batch, start)))
        return found

    def _shards(self, number: int) -> SetShards:
        """Return the shards of the items of a set."""
        engine = self.engine
        handles = engine.map(make_shard, self.rows, shared=(number, self.given.C))
        return SetShards(number, handles, engine.gather(engine.map(features_of, handles)))

    def _start(self, batch: Batch, known: list[Solved]) -> Floats:
        """Return the weights of a batch for all items, from those of some batches."""
        before = [key for solved in known for key in columns_of(solved.families)]
        places = {key: place for place, key in enumerate(before)}
        W = np.hstack([self._weights_of(solved) for solved in known])
        return W[:, [places[key] for key in columns_of(batch.families)]]

    def _weights_of(self, solved: Solved) -> Floats:
        """Return the weights of solved columns, (n_features + 1, n_columns)."""
        W = np.zeros((self.n_features + 1, len(solved.bias)))
        W[solved.features] = solved.values.reshape(len(solved.features), -1)
        W[-1] = solved.bias / (self.given.constant or 1.0)
        return W

    def _run(self, shards: SetShards, batch: Batch, start: Floats | None) -> Solved:
        """Solve a batch for the items of a set."""
        loss = NodeLoss(self.given.constant, self.given.is_squared)
        seed = int(mixed_seeds(self.options.random_state, batch.seeds[:1])[0])
        shape = self.n_features + 1, len(batch.families[0].nodes)
        rounds = FamilyRounds(self.engine, shards, batch, loss, shape, self.options, seed, start)
        return rounds.run()


class FamilyRounds(Rounds):
    """The rounds of a block of columns."""

    def __init__(
        self,
        engine: Engine,
        shards: SetShards,
        batch: Batch,
        loss: NodeLoss,
        shape: tuple[int, int],
        options: NodeOptions,
        seed: int,
        start: Floats | None,
    ) -> None:
        nodes = batch.families[0].nodes
        tasks = ShardTasks(
            begin_duals, family_weights, solve_family, NodeFindings.joined, part_way, (nodes, loss)
        )
        duals = None
        if start is not None and loss.is_squared:
            own = [start[rows] for rows in shards.features]
            duals = engine.map(family_duals, shards.handles, own, shared=(nodes, loss))
        super().__init__(engine, shards.handles, tasks, np.zeros(shape), duals)
        self.batch, self.loss, self.options, self.seed = batch, loss, options, seed
        self.features = shards.features
        self.number, self.n_passes, self.n_done = shards.number, 1, 0
        self.best = np.zeros(shape, np.float32)
        self.primal, self.dual = np.full(shape[1], np.inf), np.full(shape[1], -np.inf)

    def run(self) -> Solved:
        """Go on until the gap is small enough; return the classifiers."""
        previous, number, n_slow = self.certified_round(0).gap, 0, 0
        while self._is_wanted() and not (self.loss.is_squared and n_slow == MOST_SLOW):
            number += 1
            if self.certified_round(number).gap > SLOWLY * previous:
                n_slow += 1
                self.n_passes = min(2 * self.n_passes, MOST_PASSES)
            previous = self.gap
        n_steps, self.w = 0, self.best.astype(float)
        while self._is_wanted():
            n_steps += 1
            self.insist(self._descend, f"step {n_steps}")
        family = self.batch.families[0]
        logger.info(
            "Nodes %d to %d, set %d: a gap of %.2g after %d rounds and %d steps, %d passes.",
            *(family.nodes[0], family.nodes[-1], self.number, self.gap),
            *(number + 1, n_steps, self.n_done),
        )
        features = np.flatnonzero(self.best[:-1].any(axis=1)).astype(np.int32)
        return Solved(
            self.batch.families,
            features,
            np.zeros(len(features), np.intp),
            self.best[features].ravel(),
            np.float32(self.loss.constant) * self.best[-1],
            self.primal,
            self.dual,
            self.gap <= self.options.tol,
            self.n_done,
            None,
        )

    def _is_wanted(self) -> bool:
        """Return whether the gap is still too large, and there may be more passes."""
        return self.gap > self.options.tol and self.n_done < self.options.max_iter

    @property
    def gap(self) -> float:
        """The relative gap of all columns together."""
        primal, dual = float(self.primal.sum()), float(self.dual.sum())
        return (primal - dual) / primal if primal > 0 else 0.0

    def _descend(self) -> None:
        """Make a step of Newton's method."""
        shared = self.batch.families[0].nodes, self.loss
        w = self.w.astype(float, copy=False)
        found = newton_step(self.engine, self.shards, self.features, w, *shared)
        self._keep_best(found.W.astype(np.float32), found.primal, found.dual)
        self.w = found.after
        self.n_done += found.n_passes

    def _round(self, number: int) -> Certificate:
        """Do a round, and return the certificate of the weights before it."""
        W = self.w.astype(np.float32)
        seed = (self.seed + 2 * number) % 2**63 | 1
        found = self.exchange(self.send_to_all(W), NodeRound(self.n_passes, seed))
        half = 0.5 * np.square(W, dtype=np.float64).sum(axis=0)
        self._keep_best(W, half + found.findings.slack, found.findings.linear - half)
        self.take(found, best_steps(self.w, found.moved, found.findings))
        self.n_done += self.n_passes
        return Certificate(float(self.primal.sum()), float(self.dual.sum()), self.gap, np.inf)

    def _keep_best(self, W: Reals, primal: Floats, dual: Floats) -> None:
        """Keep the weights of those columns whose primal value is the smallest so far."""
        is_better = primal < self.primal
        self.best[:, is_better] = W[:, is_better]
        self.primal = np.minimum(self.primal, primal)
        self.dual = np.maximum(self.dual, dual)


def n_values_of(rows: PathPart) -> int:
    """Return the number of stored values of some items."""
    return int(rows.X.nnz)


def make_shard(rows: PathPart, number: int, C: float) -> FamilyShard:
    """Return the items of a set as a shard."""
    used = np.flatnonzero(rows.masks[number])
    items = NodeShard.of(rows.X[used], C * rows.weights[used])
    return FamilyShard(items, rows.closed[used])


def features_of(shard: FamilyShard) -> Codes:
    """Return the features that occur in a shard."""
    return shard.items.features


def begin_duals(shard: FamilyShard, nodes: Codes, _: NodeLoss) -> CSR:
    """Return the dual variables of a shard to begin with."""
    return csr_array((len(shard.items.costs), len(nodes)), dtype=np.float32)


def family_weights(shard: FamilyShard, duals: CSR, nodes: Codes, loss: NodeLoss) -> Change:
    """Return the weights that follow from the dual variables of a shard."""
    return node_weights(shard.items, shard.closed[:, nodes], duals, loss.constant)


def solve_family(
    shard: FamilyShard,
    duals: CSR,
    shared: SharedWeights,
    nodes: Codes,
    loss: NodeLoss,
    given: NodeRound,
) -> NodeShardRound:
    """Do a round in a shard."""
    own = csr_array(shard.closed[:, nodes])
    return solve_node_shard(shard.items, own, duals, shared, loss, given)

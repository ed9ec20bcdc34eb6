"""``Rounds``: rounds of CoCoA+ over shards of items, which go on when a worker is lost.

Items and their dual variables stay in shards. In a round, the weights go to one worker and from
there to all shards, each solves its share of the dual, and the changes are summed in a tree; see
``taxonomist.solvers.shards``. Every few rounds the dual variables are copied to the driver. When
a worker is lost, Dask makes its shard anew; its dual variables are those of the last copy, and the
weights follow from the dual variables of all shards. So no more than the work of a few rounds is
lost, and the certificate stays exact.
"""

from __future__ import annotations

import logging
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from taxonomist.distributed.engine import reduce
from taxonomist.errors import ClusterError
from taxonomist.solvers.changes import Change
from taxonomist.solvers.shards import SharedWeights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import Codes, Floats, Reals
    from taxonomist.distributed.engine import Engine, Handle
    from taxonomist.solvers.solution import Certificate

T = TypeVar("T")

logger = logging.getLogger(__name__)

CHECKPOINT = 8
"""Rounds between copies of the dual variables."""
MOST_LOSSES = 10
"""How often in a row a round may lose a worker before the fit is given up."""
PAUSE, LONGEST_PAUSE = 0.05, 5.0
"""Seconds to wait after the loss of a worker, doubled with each further loss in the same round."""


class ShardTasks(NamedTuple):
    """What is done with a shard.

    Attributes
    ----------
    begin
        Returns the dual variables to begin with, given a shard and ``shared``.
    weights
        Returns w(α_k), given a shard, its dual variables and ``shared``.
    solve
        Does a round, given a shard, its dual variables, its ``SharedWeights``, ``shared`` and what
        a round gives. The result has ``duals``, ``change`` and ``findings``.
    join
        Adds the findings of a list of shards.
    part_way
        Returns the dual variables between two others.
    shared
        Values, or handles, for all shards and rounds.
    """

    begin: Callable[..., object]
    weights: Callable[..., Change]
    solve: Callable[..., object]
    join: Callable[..., object]
    part_way: Callable[..., object]
    shared: tuple[object, ...] = ()


class Exchange(NamedTuple):
    """What comes back in a round.

    Attributes
    ----------
    moved
        The sum of the changes of all shards.
    findings
        The sum of their findings.
    after
        Handles of the dual variables after the changes.
    """

    moved: Change
    findings: Any
    after: list[Handle]


class Rounds:
    """Rounds over shards. A subclass implements ``_round``.

    Parameters
    ----------
    engine
        The engine.
    shards
        Handles of the shards.
    tasks
        What is done with a shard.
    w
        The weights to begin with, which are 0.
    duals
        Handles of dual variables to begin with; None stands for those of ``tasks.begin``.
    """

    def __init__(
        self,
        engine: Engine,
        shards: Sequence[Handle],
        tasks: ShardTasks,
        w: Reals,
        duals: Sequence[Handle] | None = None,
    ) -> None:
        self.engine, self.shards = engine, list(shards)
        self.tasks = tasks
        self.w = w
        self.coupling: Floats = np.ones(w.shape[0])
        self.n_lost = 0
        self.duals = self._fresh() if duals is None else list(duals)
        self._has_weights = duals is None
        self._copies: list[object] = [None] * len(self.shards)

    # To be defined by subclasses ---------------------------------------------------------------

    def _round(self, number: int) -> Certificate:
        """Do a round, and return the certificate of the weights before it."""
        raise NotImplementedError

    # For subclasses ----------------------------------------------------------------------------

    def certified_round(self, number: int) -> Certificate:
        """Do a round; after the loss of a worker, restore what it had and do it again."""
        n_before = self.n_lost

        def attempt() -> Certificate:
            if self.n_lost > n_before:
                self._replace_lost()
                self._has_weights = False
            if not self._has_weights:
                self._sum_weights()
            if number and number % CHECKPOINT == 0:
                self._copy_duals()
            return self._round(number)

        return self.insist(attempt, f"round {number}")

    def insist(self, attempt: Callable[[], T], what: str) -> T:
        """Call a function again when a worker was lost meanwhile."""
        n_in_a_row = 0
        while True:
            try:
                return attempt()
            except ClusterError:
                self.n_lost += 1
                n_in_a_row += 1
                if n_in_a_row > MOST_LOSSES:
                    raise
                logger.warning("A worker was lost in %s; its shards go on.", what)
                # The scheduler may take a moment to notice.
                sleep(min(PAUSE * 2**n_in_a_row, LONGEST_PAUSE))

    def send_to_all(self, W: Reals) -> list[Handle]:
        """Send all weights; return their handle for each shard."""
        weights = SharedWeights(W, self.coupling.copy())
        return [self.engine.scatter(weights, is_for_all=False)] * len(self.shards)

    def exchange(self, sent: Sequence[Handle], *given: object) -> Exchange:
        """Solve all shards, each with the weights that it was sent, and return the sums."""
        engine, tasks = self.engine, self.tasks
        shared = *tasks.shared, *given
        results = engine.map(tasks.solve, self.shards, self.duals, sent, shared=shared)
        after = engine.map(duals_of, results)
        change = reduce(engine, Change.joined, engine.map(change_of, results))
        findings = reduce(engine, tasks.join, engine.map(findings_of, results))
        del results
        moved, found = engine.gather([change, findings])
        return Exchange(moved, found, after)

    def take(self, found: Exchange, step: float | Floats) -> None:
        """Make a step along the changes of all shards, and set the coupling to that of these."""
        if np.all(step == 1):
            self.duals = found.after
        else:
            pairs = self.duals, found.after
            self.duals = self.engine.map(self.tasks.part_way, *pairs, shared=(step,))
        found.moved.add_to(self.w, step)
        self.coupling[found.moved.rows] = found.moved.couplings()

    # After a loss ------------------------------------------------------------------------------

    def _fresh(self) -> list[Handle]:
        return self.engine.map(self.tasks.begin, self.shards, shared=self.tasks.shared)

    def _copy_duals(self) -> None:
        """Copy the dual variables to the driver, and begin anew from the copies.

        Without that, a lost worker would make Dask repeat all rounds.
        """
        found = self.engine.gather(self.duals)
        self._copies = list(found)
        self.duals = [self.engine.scatter(duals, is_for_all=False) for duals in self._copies]

    def _replace_lost(self) -> None:
        """Replace lost dual variables by their last copies."""
        engine = self.engine
        held = [engine.is_held(handle) for handle in self.duals]
        fresh = self._fresh()
        for k, (is_held, copy) in enumerate(zip(held, self._copies, strict=True)):
            if not is_held:
                self.duals[k] = fresh[k] if copy is None else engine.scatter(copy, is_for_all=False)

    def _sum_weights(self) -> None:
        """Compute the weights that follow from the dual variables of all shards."""
        engine, tasks = self.engine, self.tasks
        parts = engine.map(tasks.weights, self.shards, self.duals, shared=tasks.shared)
        (found,) = engine.gather([reduce(engine, Change.joined, parts)])
        self.w[:] = 0
        found.add_to(self.w, 1.0)
        self._has_weights = True


def duals_of(result: Any) -> object:
    """Return the dual variables after a round."""
    return result.duals


def change_of(result: Any) -> Change:
    """Return the change of the weights."""
    change: Change = result.change
    return change


def findings_of(result: Any) -> object:
    """Return the share in the certificate."""
    return result.findings


def shares_of(n_values: Sequence[int], n_shards: int) -> list[Codes]:
    """Return the parts of each shard: neighbours, of about the same number of stored values."""
    work = np.array(n_values, dtype=float) + 1e-9
    ends = np.cumsum(work)
    shard = np.minimum((ends - work / 2) * n_shards // ends[-1], n_shards - 1)
    return [np.flatnonzero(shard == k) for k in np.unique(shard)]

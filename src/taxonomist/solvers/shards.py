"""CoCoA+ rounds over shards of items: each solves some of its items, and changes are added.

Problem       the joint problem of ``taxonomist.solvers.problem``, items in K shards
Dual          as there; w(α) = Σ_k w(α_k), where α_k are the dual variables of shard k
Notation      as there; K ``n_shards``; f feature; σ'_f ``coupling``, between 1 and K; γ ``step``
Step          In a round, shard k draws some of its items, its batch, and maximises over changes
              Δα_k of their dual variables, with w = w(α) fixed,
              Σ (α_k + Δα_k) - <w, w(Δα_k)> - ½ Σ_f σ'_f ||w_f(Δα_k)||²  [MSJ15], by one pass of
              ``taxonomist.solvers.sequential``. Then α_k += γ Δα_k and w += γ Σ_k w(Δα_k), where γ
              in [0, 1] maximises the dual along the sum of changes: changes are added, and where
              that would be too long a step, it is shortened. So the dual never falls.
Stopping      The certificate of all items at fixed w: primal and dual are sums over items, so each
              shard returns its share. It is the same as on one machine. Between certificates the
              dual is known exactly, and the primal is estimated from what items lacked when they
              were visited.
Cost          A round has one pass over the batches, and copies of the rows of w that these need.
              A certificate has one pass over all items.
Differences   In the paper a shard solves all its items in every round. The same items then meet in
              every round, and each shard corrects alone what all correct at once: with 8 shards of
              20 Newsgroups, 40 times as many visits of items are needed as on one machine. Batches
              that are drawn anew in every pass over the items mix them as the order of visits does
              on one machine, and twice as many are enough.
              With σ'_f = K, as in the paper, γ = 1 never lowers the dual, but steps are K times too
              short for features that one shard has, and common words differ much from rare ones.
              So every feature has a σ'_f of its own, which follows
              ||Σ_k w_f(Δα_k)||² / Σ_k ||w_f(Δα_k)||² of the last round that changed it. That is at
              most the number of shards that have the feature, and the choice of γ keeps the dual
              from falling.
              No new loop: with x'_f = √σ'_f x_f and w'_f = w_f / √σ'_f, scores are the same, and
              both the curvature of an item's QP and the change of w' in the shard are those of the
              step above. So the sequential loop runs with scaled features.
References    [MSJ15]
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist._typing import is_sparse
from taxonomist.compiled.arrays import no_rows
from taxonomist.compiled.duals import count_positive
from taxonomist.solvers.changes import Change, summed_rows
from taxonomist.solvers.duals import Entries, no_duals, of_items, positive
from taxonomist.solvers.problem import FeatureRows, JointProblem
from taxonomist.solvers.sequential import PassState
from taxonomist.solvers.solution import Certificate, Solution
from taxonomist.solvers.weights import coefficients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

    from taxonomist._typing import CSR, Codes, Floats, Matrix, Reals
    from taxonomist.compiled.arrays import Duals
    from taxonomist.compiled.joint_arrays import JointArrays
    from taxonomist.losses import CategoryLoss
    from taxonomist.solvers.solution import Options

NOTHING = Certificate(np.inf, 0.0, 1.0, np.inf)


class Window(NamedTuple):
    """Which items of each shard are in a round: a part of them in the random order of a pass.

    Attributes
    ----------
    seed
        The seed of the order.
    begin, end
        Where the part begins and ends, between 0 and 1.
    """

    seed: int
    begin: float
    end: float


class Shard(NamedTuple):
    """The items of a shard, or a batch of them.

    Attributes
    ----------
    X
        Their rows, with the features that occur.
    features
        The numbers of these features, in ascending order.
    problem
        The problem of these items.
    arrays
        The problem for the compiled loops, as yet without rows.
    """

    X: Matrix
    features: Codes
    problem: JointProblem
    arrays: JointArrays

    @classmethod
    def of(
        cls,
        X: Matrix,
        labels: CSR,
        costs: Floats,
        attributes: CSR,
        loss: CategoryLoss,
        options: Options,
    ) -> Shard:
        """Return the shard of some items."""
        X, features = _with_own_features(X)
        items = FeatureRows(X, np.dtype(options.dtype))
        problem = JointProblem(items, labels, costs, attributes, loss)
        return cls(X, features, problem, problem.arrays())

    def members(self, window: Window) -> Codes:
        """Return the numbers of the items in a window."""
        n_items = self.problem.n_items
        order = np.random.default_rng(window.seed).permutation(n_items)
        return order[round(window.begin * n_items) : round(window.end * n_items)]

    def take(self, members: Codes, dtype: DTypeLike) -> Shard:
        """Return some of the items, with the features that occur in these."""
        X, found = _with_own_features(self.X[members])
        known = self.problem
        items = FeatureRows(X, np.dtype(dtype))
        labels, costs = known.labels[members], known.costs[members]
        problem = replace(known, items=items, labels=labels, costs=costs)
        return Shard(X, self.features[found], problem, problem.arrays(like=self.arrays))

    def state(self, duals: Duals, shared: SharedWeights, options: Options) -> PassState:
        """Return the state of the sequential loop with scaled features and weights."""
        own = shared.rows(self.features)
        scale = np.sqrt(own.coupling)
        items = self.problem.items
        assert isinstance(items, FeatureRows)
        scaled = replace(self.problem, items=items.scaled(scale))
        begin = Solution(own.W, duals, NOTHING, converged=False)
        # Another worker may have made the shard; arrays that were sent cannot be written to.
        arrays = writable(self.arrays)._replace(rows=no_rows(), norms=scaled.items.norms)
        state = PassState(scaled, replace(options, n_threads=1), begin, arrays)
        state.W *= (1 / scale).astype(state.W.dtype)[:, None]
        return state

    def weights(self, duals: Duals, dtype: DTypeLike) -> Change:
        """Return w(α_k), as a change from 0."""
        return self.change(no_duals(self.problem.n_items), duals, dtype)

    def change(self, before: Duals, after: Duals, dtype: DTypeLike) -> Change:
        """Return w(Δα_k) of a change between dual variables."""
        moved = coefficients(self.problem, after) - coefficients(self.problem, before)
        moved.eliminate_zeros()
        if not is_sparse(self.X):
            return Change.of(self.features, (moved.T @ self.X).T.astype(dtype))
        return Change.of(self.features, summed_rows(csr_array(self.X.T, dtype=dtype), moved))


def _with_own_features(X: Matrix) -> tuple[Matrix, Codes]:
    """Return rows without the features that do not occur, and the numbers of those that do."""
    if not is_sparse(X):
        return X, np.arange(X.shape[1])
    occurs = np.zeros(X.shape[1], bool)
    occurs[X.indices] = True
    features = np.flatnonzero(occurs)
    place = np.empty(X.shape[1], np.int32)
    place[features] = np.arange(len(features))
    shape = X.shape[0], len(features)
    return csr_array((X.data, place[X.indices], X.indptr), shape=shape), features


class SharedWeights(NamedTuple):
    """The weights that a shard gets in a round.

    Attributes
    ----------
    W
        The weights of all shards together: some of their rows.
    coupling
        σ'_f of these features.
    is_whole
        Whether these are all features; otherwise they are those that the shard asked for.
    """

    W: Reals
    coupling: Floats
    is_whole: bool = True

    @property
    def n_bytes(self) -> int:
        """The size of the weights."""
        return self.W.nbytes + self.coupling.nbytes

    def rows(self, features: Codes) -> SharedWeights:
        """Return the rows of some features; if a shard asked for them, these are all rows."""
        if not self.is_whole:
            return self
        return SharedWeights(self.W[features], self.coupling[features], is_whole=False)


class RoundOptions(NamedTuple):
    """How a round is done.

    Attributes
    ----------
    window
        The items of each shard that are solved.
    tol
        The violation of an item that is not worth a step.
    """

    window: Window
    tol: float


class BatchFindings(NamedTuple):
    """What the batch of a shard, or those of several, had when its items were visited.

    Attributes
    ----------
    linear
        The change of Σ α.
    gap
        Σ C ξ - Σ α + Σ α times margins, which over all items is the duality gap.
    violation
        The largest ψ_i.
    n_active
        The number of positive dual variables of the shard after the change.
    """

    linear: float
    gap: float
    violation: float
    n_active: int

    @classmethod
    def joined(cls, parts: Sequence[BatchFindings]) -> BatchFindings:
        """Return the findings of all shards."""
        linear, gap, violation, n_active = zip(*parts, strict=True)
        return cls(sum(linear), sum(gap), max(violation), sum(n_active))


class ShardRound(NamedTuple):
    """The result of a round in one shard.

    Attributes
    ----------
    duals
        The dual variables of all items after the whole change.
    change
        w(Δα_k).
    findings
        What the batch had.
    """

    duals: Duals
    change: Change
    findings: BatchFindings


class ShardFindings(NamedTuple):
    """The share of a shard, or of several, in the certificate.

    Attributes
    ----------
    linear, quadratic
        Σ α, and the sum of α times margins, which over all shards is ||w||².
    slack
        Σ C ξ.
    violation
        The largest ψ_i.
    n_active, n_pairs
        The numbers of positive dual variables, and of all.
    """

    linear: float
    quadratic: float
    slack: float
    violation: float
    n_active: int
    n_pairs: int

    @classmethod
    def joined(cls, parts: Sequence[ShardFindings]) -> ShardFindings:
        """Return the share of all shards."""
        linear, quadratic, slack, violation, n_active, n_pairs = zip(*parts, strict=True)
        sums = sum(linear), sum(quadratic), sum(slack)
        return cls(*sums, max(violation), sum(n_active), sum(n_pairs))

    def certificate(self) -> Certificate:
        """Return the certificate of all shards together."""
        dual = self.linear - self.quadratic / 2
        primal = self.quadratic / 2 + self.slack
        gap = (primal - dual) / primal if primal > 0 else 0.0
        return Certificate(primal, dual, gap, self.violation)


def batch_features(shard: Shard, window: Window) -> Codes:
    """Return the features that occur in the items of a window."""
    return shard.features[_with_own_features(shard.X[shard.members(window)])[1]]


def solve_shard(
    shard: Shard, duals: Duals, shared: SharedWeights, options: Options, given: RoundOptions
) -> ShardRound:
    """Maximise the dual over the items of a window, with the others and all other shards fixed.

    Parameters
    ----------
    shard
        The items.
    duals
        Their dual variables.
    shared
        The weights.
    options
        The options.
    given
        How the round is done.
    """
    members = shard.members(given.window)
    dtype = shared.W.dtype
    if not len(members):
        nothing = BatchFindings(0.0, 0.0, 0.0, len(duals.beta))
        return ShardRound(duals, shard.change(duals, duals, dtype), nothing)
    batch = shard.take(members, dtype)
    before = of_items(duals, members)
    state = batch.state(before, shared, replace(options, random_state=given.window.seed))
    state.solve_all(given.tol)
    after, found = positive(state.store.duals), state.findings
    lacking = batch.problem.costs * found.slack - found.linear + found.quadratic
    together = with_items(duals, members, after)
    findings = BatchFindings(
        linear=linear_of(after) - linear_of(before),
        gap=float(lacking.sum()),
        violation=float(found.violation.max()),
        n_active=len(together.beta),
    )
    return ShardRound(together, batch.change(before, after, dtype), findings)


def certify_shard(
    shard: Shard, duals: Duals, shared: SharedWeights, options: Options
) -> ShardFindings:
    """Return the share of a shard in the certificate at given weights."""
    problem = shard.problem
    if not problem.n_items:
        return ShardFindings(0.0, 0.0, 0.0, 0.0, 0, 0)
    state = shard.state(duals, shared._replace(coupling=np.ones(len(shared.W))), options)
    state.inspect_all()
    found = state.findings
    return ShardFindings(
        linear=float(found.linear.sum()),
        quadratic=float(found.quadratic.sum()),
        slack=float((problem.costs * found.slack).sum()),
        violation=float(found.violation.max()),
        n_active=count_positive(duals),
        n_pairs=problem.n_pairs,
    )


def linear_of(duals: Duals) -> float:
    """Return Σ α of stored dual variables."""
    return float((duals.beta * duals.delta).sum())


def writable(given: Any) -> Any:
    """Return a named tuple of arrays, with copies of those arrays that cannot be written to."""
    if isinstance(given, tuple):
        return type(given)(*map(writable, given))
    return np.require(given, requirements="W") if isinstance(given, np.ndarray) else given


def best_step(w: Reals, change: Change, linear: float) -> tuple[float, float]:
    """Return the γ in [0, 1] that maximises the dual along the sum of changes, and what it gains.

    Parameters
    ----------
    w
        The weights before the round, (n_features, n_attributes).
    change
        The sum of the changes of all shards.
    linear
        The change of Σ α.
    """
    squared = change.squared()
    slope = linear - change.along(w)
    step = float(np.clip(slope / squared, 0.0, 1.0)) if squared > 0 else 1.0
    return step, step * slope - step**2 * squared / 2


def with_items(duals: Duals, items: Codes, own: Duals) -> Duals:
    """Return dual variables with those of some items, in the order of ``own``, replaced."""
    is_new = np.zeros(len(duals.size), bool)
    is_new[items] = True
    kept, new = Entries.of(duals), Entries.of(own)
    kept = kept.select(np.flatnonzero(~is_new[kept.item]))
    new = new._replace(item=items[new.item])
    both = Entries._make(np.concatenate(pair) for pair in zip(kept, new, strict=True))
    return both.select(np.argsort(both.item, kind="stable")).stored(len(is_new))


def part_way(before: Duals, after: Duals, step: float) -> Duals:
    """Return dual variables between two others: α + γ Δα."""
    if step == 1.0:
        return after
    both = [Entries.of(duals) for duals in (before, after)]
    beta = [(1.0 - step) * both[0].beta, step * both[1].beta]
    item, own, other = (np.concatenate(columns) for columns in list(zip(*both, strict=True))[:3])
    delta = np.concatenate([entries.delta for entries in both])
    order = np.lexsort((other, own, item))
    keys = np.stack([item, own, other])[:, order]
    is_first = np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))
    place = np.cumsum(is_first) - 1
    sums: Floats = np.zeros(int(is_first.sum()))
    np.add.at(sums, place, np.concatenate(beta)[order])
    first = order[is_first]
    mixed = Entries(item[first], own[first], other[first], sums, delta[first])
    return positive(mixed.stored(len(before.size)))

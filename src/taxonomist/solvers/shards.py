"""CoCoA+ rounds over shards of items: each solves its share, and changes of weights are added.

Problem       the joint problem of ``taxonomist.solvers.problem``, items in K shards
Dual          as there; w(α) = Σ_k w(α_k), where α_k are the dual variables of shard k
Notation      as there; K ``n_shards``; f feature; σ'_f ``coupling``, between 1 and K; γ ``step``
Step          In a round, shard k maximises over changes Δα_k, with w = w(α) fixed,
              Σ (α_k + Δα_k) - <w, w(Δα_k)> - ½ Σ_f σ'_f ||w_f(Δα_k)||²  [MSJ15], by passes of
              ``taxonomist.solvers.sequential``. Then α_k += γ Δα_k and w += γ Σ_k w(Δα_k), where γ
              in [0, 1] maximises the dual along the sum of changes: changes are added, and where
              that would be too long a step, it is shortened. So the dual never falls.
Stopping      The certificate at w before a round: primal and dual are sums over all items, so each
              shard returns its share. It is the same as on one machine. It needs a full pass at
              fixed w; while the gap is large, items are solved as they are inspected instead,
              which finds better pairs. Then the dual is exact and the primal an estimate.
Cost          A round has one full pass and some active passes over the items of each shard, and a
              copy of w for each; w goes to all shards, and the rows that changed come back.
Differences   With σ'_f = K, as in the paper, γ = 1 never lowers the dual, but steps are K times too
              short for features that one shard has, and common words differ much from rare ones.
              So every feature has a σ'_f of its own, which follows
              ||Σ_k w_f(Δα_k)||² / Σ_k ||w_f(Δα_k)||² of the last round. That is at most the number
              of shards that have the feature, and the choice of γ keeps the dual from falling.
              No new loop: with x'_f = √σ'_f x_f and w'_f = w_f / √σ'_f, scores are the same, and
              both the curvature of an item's QP and the change of w' in the shard are those of the
              step above. So the sequential loop runs with scaled features.
References    [MSJ15]
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist._typing import is_sparse
from taxonomist.compiled.arrays import fixed, no_rows
from taxonomist.compiled.changes import write_scaled
from taxonomist.compiled.duals import count_positive
from taxonomist.solvers.changes import Change, summed_rows
from taxonomist.solvers.duals import Entries, no_duals, positive
from taxonomist.solvers.problem import FeatureRows, JointProblem
from taxonomist.solvers.sequential import PassState
from taxonomist.solvers.solution import Certificate, Solution
from taxonomist.solvers.weights import coefficients, feature_matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

    from taxonomist._typing import CSR, Codes, Floats, Matrix, Reals
    from taxonomist.compiled.arrays import Duals
    from taxonomist.compiled.joint_arrays import JointArrays
    from taxonomist.losses import CategoryLoss
    from taxonomist.solvers.solution import Options

NOTHING = Certificate(np.inf, 0.0, 1.0, np.inf)


class Shard(NamedTuple):
    """The items of a shard.

    Attributes
    ----------
    problem
        The problem of these items, with the features that occur.
    features
        The numbers of these features, in ascending order.
    arrays
        The problem for the compiled loops, as yet without rows.
    """

    problem: JointProblem
    features: Codes
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
        """Return the shard of some items, which are stored in random order."""
        order = np.random.default_rng(options.random_state).permutation(X.shape[0])
        features: Codes = np.arange(X.shape[1])
        if is_sparse(X):
            features, places = np.unique(X.indices, return_inverse=True)
            shape = X.shape[0], len(features)
            X = csr_array((X.data, places.astype(X.indices.dtype), X.indptr), shape=shape)
        problem = JointProblem(
            items=FeatureRows(X, np.dtype(options.dtype)).take(order),
            labels=labels[order],
            costs=costs[order],
            attributes=attributes,
            loss=loss,
        )
        return cls(problem, features.astype(np.intp), problem.arrays())

    def weights(self, duals: Duals, dtype: DTypeLike) -> Change:
        """Return w(α_k), as a change from 0."""
        return self.change(no_duals(self.problem.n_items), duals, dtype)

    def change(self, before: Duals, after: Duals, dtype: DTypeLike) -> Change:
        """Return w(Δα_k) of a change between dual variables."""
        moved = coefficients(self.problem, after) - coefficients(self.problem, before)
        moved.eliminate_zeros()
        items = feature_matrix(self.problem)
        if not is_sparse(items):
            return Change.of(self.features, (moved.T @ items).T.astype(dtype))
        return Change.of(self.features, summed_rows(csr_array(items.T, dtype=dtype), moved))


class ShardFindings(NamedTuple):
    """The share of a shard, or of several, in the certificate.

    Attributes
    ----------
    linear, quadratic
        Σ α, and the sum of α times margins, which over all shards is ||w||², when items were
        inspected.
    linear_before, linear_after
        Σ α before and after the change.
    slack
        Σ C ξ.
    violation
        The largest ψ_i.
    n_active, n_pairs, n_passes
        The numbers of positive dual variables, of all dual variables, and of passes over items
        after the full one; of several shards, the largest number of passes.
    """

    linear: float
    quadratic: float
    linear_before: float
    linear_after: float
    slack: float
    violation: float
    n_active: int
    n_pairs: int
    n_passes: int

    @classmethod
    def joined(cls, parts: Sequence[ShardFindings]) -> ShardFindings:
        """Return the share of all shards."""
        return cls(
            linear=sum(part.linear for part in parts),
            quadratic=sum(part.quadratic for part in parts),
            linear_before=sum(part.linear_before for part in parts),
            linear_after=sum(part.linear_after for part in parts),
            slack=sum(part.slack for part in parts),
            violation=max(part.violation for part in parts),
            n_active=sum(part.n_active for part in parts),
            n_pairs=sum(part.n_pairs for part in parts),
            n_passes=max(part.n_passes for part in parts),
        )

    def certificate(self) -> Certificate:
        """Return the certificate of all shards together, whose weights were fixed."""
        return self.estimate(self.quadratic)

    def estimate(self, squared: float) -> Certificate:
        """Return the certificate as it would be if the weights had not changed in shards.

        The dual is exact, and ``squared`` is the squared norm of the weights before the round.
        """
        dual = self.linear_before - squared / 2
        primal = dual + self.quadratic + self.slack - self.linear
        gap = (primal - dual) / primal if primal > 0 else 0.0
        return Certificate(primal, dual, gap, self.violation)


class SharedWeights(NamedTuple):
    """What all shards get in a round.

    Attributes
    ----------
    W
        The weights of all shards together, (n_features, n_columns).
    coupling
        σ'_f of the features, (n_features,).
    """

    W: Reals
    coupling: Floats

    @property
    def n_bytes(self) -> int:
        """The size of the weights."""
        return self.W.nbytes + self.coupling.nbytes

    def scale(self, features: Codes) -> Floats:
        """Return √σ'_f of some features."""
        scale: Floats = np.sqrt(self.coupling[features])
        return scale

    def scaled(self, features: Codes, scale: Floats, out: Reals) -> None:
        """Write w_f / √σ'_f of some features over the first columns of some rows."""
        write_scaled(fixed(self.W), fixed(features), 1.0 / scale, out)


class ShardRound(NamedTuple):
    """The result of a round in one shard.

    Attributes
    ----------
    duals
        The dual variables after the whole change.
    change
        w(Δα_k).
    findings
        The share in the certificate at the weights before the round.
    """

    duals: Duals
    change: Change
    findings: ShardFindings


class RoundOptions(NamedTuple):
    """How a round is done.

    Attributes
    ----------
    n_passes
        Most passes over the items of a shard after the full one.
    tol
        The violation of an item that is not worth a step.
    is_certified
        Whether the full pass keeps the weights fixed, which gives a certificate. Otherwise items
        are solved as they are inspected.
    seed
        The seed of the order of items.
    """

    n_passes: int
    tol: float
    is_certified: bool
    seed: int


def solve_shard(
    shard: Shard, duals: Duals, shared: SharedWeights, options: Options, given: RoundOptions
) -> ShardRound:
    """Certify a shard at given weights, and maximise its share of the dual.

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
    problem = shard.problem
    if not problem.n_items:
        return ShardRound(
            duals, shard.change(duals, duals, shared.W.dtype), ShardFindings(*[0] * 9)
        )
    state = _state(shard, duals, shared, replace(options, random_state=given.seed, n_threads=1))
    with ThreadPoolExecutor(1) as pool:
        state.pool = pool
        if given.is_certified:
            state.inspect_all()
        else:
            state.solve_all(given.tol)
        found = state.findings
        certified = float(found.linear.sum()), float(found.quadratic.sum())
        slack = float((problem.costs * found.slack).sum())
        worst, n_active = float(found.violation.max()), count_positive(state.store.duals)
        n_done = state.few_passes(given.n_passes, given.tol)
    after = positive(state.store.duals)
    ends = *certified, linear_of(duals), linear_of(after)
    sums = *ends, slack, worst
    findings = ShardFindings(*sums, n_active, problem.n_pairs, n_done)
    return ShardRound(after, shard.change(duals, after, shared.W.dtype), findings)


def _state(shard: Shard, duals: Duals, shared: SharedWeights, options: Options) -> PassState:
    """Return the state of the sequential loop with scaled features and weights."""
    scale = shared.scale(shard.features)
    items = shard.problem.items
    assert isinstance(items, FeatureRows)
    scaled = replace(shard.problem, items=items.scaled(scale))
    no_weights = np.empty((len(scale), 0))
    begin = Solution(no_weights, duals, NOTHING, converged=False)
    # Another worker may have made the shard; arrays that were sent cannot be written to.
    arrays = writable(shard.arrays)._replace(rows=no_rows(), norms=scaled.items.norms)
    state = PassState(scaled, options, begin, arrays)
    shared.scaled(shard.features, scale, state.W)
    return state


def linear_of(duals: Duals) -> float:
    """Return Σ α of stored dual variables."""
    return float((duals.beta * duals.delta).sum())


def writable(given: Any) -> Any:
    """Return a named tuple of arrays, with copies of those arrays that cannot be written to."""
    if isinstance(given, tuple):
        return type(given)(*map(writable, given))
    return np.require(given, requirements="W") if isinstance(given, np.ndarray) else given


def best_step(w: Reals, change: Change, findings: ShardFindings) -> float:
    """Return the γ in [0, 1] that maximises the dual along the sum of changes.

    Parameters
    ----------
    w
        The weights before the round, (n_features, n_attributes).
    change
        The sum of the changes of all shards.
    findings
        The findings of all shards.
    """
    squared = change.squared()
    slope = findings.linear_after - findings.linear_before - change.along(w)
    return float(np.clip(slope / squared, 0.0, 1.0)) if squared > 0 else 1.0


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

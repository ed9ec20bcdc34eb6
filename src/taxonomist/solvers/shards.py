"""CoCoA+ rounds over shards of items: each solves its share, and changes of weights are added.

Problem       the joint problem of ``taxonomist.solvers.problem``, items in K shards
Dual          as there; w(α) = Σ_k w(α_k), where α_k are the dual variables of shard k
Notation      as there; K ``n_shards``, σ' = K
Step          In a round, shard k maximises over changes Δα_k, with w = w(α) fixed,
              D_k(α_k + Δα_k) - <w, w(Δα_k)> - σ'/2 ||w(Δα_k)||²  [MSJ15], by passes of
              ``taxonomist.solvers.sequential``. Then α_k += Δα_k and w += Σ_k w(Δα_k): changes are
              added, not averaged. With σ' = K this never lowers the dual.
Stopping      The certificate at w before a round: primal and dual are sums over all items, so each
              shard returns its share. It is the same as on one machine.
Cost          A round has one full pass and some active passes over the items of each shard;
              it sends w to every shard, and the changes of w back.
Differences   No new loop: with x' = √σ' x and w' = w / √σ', scores are the same, and both the
              curvature of an item's QP and the change of w' in the shard are those of the step
              above. So the sequential loop runs on scaled rows.
References    [MSJ15], CoCoA+ with γ = 1
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist.compiled.duals import count_positive
from taxonomist.solvers.duals import no_duals, positive
from taxonomist.solvers.problem import FeatureRows, JointProblem
from taxonomist.solvers.sequential import PassState
from taxonomist.solvers.solution import Certificate, Solution
from taxonomist.solvers.weights import coefficients, feature_matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Floats, Matrix, Reals
    from taxonomist.compiled.arrays import Duals
    from taxonomist.losses import CategoryLoss
    from taxonomist.solvers.solution import Options

NOTHING = Certificate(np.inf, 0.0, 1.0, np.inf)


@dataclass(frozen=True)
class Shard:
    """Some items of a joint problem.

    Attributes
    ----------
    problem
        The problem of these items, whose rows are multiplied by √σ'.
    n_shards
        σ', the number of all shards.
    """

    problem: JointProblem
    n_shards: int

    @classmethod
    def of(
        cls,
        X: Matrix,
        labels: CSR,
        costs: Floats,
        attributes: CSR,
        loss: CategoryLoss,
        options: Options,
        n_shards: int,
    ) -> Shard:
        """Return the shard of some items, in random order."""
        order = np.random.default_rng(options.random_state).permutation(X.shape[0])
        dtype = np.dtype(options.dtype)
        rows = FeatureRows(X * np.sqrt(n_shards), dtype)
        problem = JointProblem(
            items=rows.take(order),
            labels=labels[order],
            costs=costs[order],
            attributes=attributes,
            loss=loss,
        )
        return cls(problem, n_shards)

    def no_duals(self) -> Duals:
        """Return the dual variables to begin with."""
        return no_duals(self.problem.n_items)

    def weights(self, duals: Duals) -> Matrix:
        """Return w(α_k), (n_attributes, n_features), sparse if the rows are."""
        found = coefficients(self.problem, duals).T @ feature_matrix(self.problem)
        return found / np.sqrt(self.n_shards)


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
    n_active, n_pairs, n_passes
        The numbers of positive dual variables, of all dual variables, and of passes over items
        after the full one; of several shards, the largest number of passes.
    """

    linear: float
    quadratic: float
    slack: float
    violation: float
    n_active: int
    n_pairs: int
    n_passes: int

    @classmethod
    def joined(cls, parts: Sequence[ShardFindings]) -> ShardFindings:
        """Return the share of all shards."""
        linear, quadratic, slack, violation, n_active, n_pairs, n_passes = zip(*parts, strict=True)
        totals = sum(linear), sum(quadratic), sum(slack), max(violation)
        return cls(*totals, sum(n_active), sum(n_pairs), max(n_passes))

    def certificate(self) -> Certificate:
        """Return the certificate of all shards together."""
        dual = self.linear - self.quadratic / 2
        primal = self.quadratic / 2 + self.slack
        gap = (primal - dual) / primal if primal > 0 else 0.0
        return Certificate(primal, dual, gap, self.violation)


class ShardRound(NamedTuple):
    """The result of a round in one shard.

    Attributes
    ----------
    duals
        The new dual variables.
    change
        w(Δα_k), (n_attributes, n_features), sparse if the rows are.
    findings
        The share in the certificate at the weights before the round.
    """

    duals: Duals
    change: Matrix
    findings: ShardFindings


def solve_shard(
    shard: Shard, duals: Duals, W: Reals, options: Options, n_passes: int, tol: float
) -> ShardRound:
    """Certify a shard at given weights, and maximise its share of the dual.

    Parameters
    ----------
    shard
        The items.
    duals
        Their dual variables.
    W
        The weights of all shards together, (n_features, n_attributes).
    options
        The options; the seed should differ from round to round.
    n_passes
        Most passes over the items.
    tol
        The violation of an item that is not worth a step.
    """
    problem = shard.problem
    if not problem.n_items:
        nothing = csr_array((problem.attributes.shape[1], W.shape[0]))
        return ShardRound(duals, nothing, ShardFindings(0.0, 0.0, 0.0, 0.0, 0, 0, 0))
    begin = Solution(W / np.sqrt(shard.n_shards), duals, NOTHING, converged=False)
    state = PassState(problem, replace(options, n_threads=1), begin)
    with ThreadPoolExecutor(1) as pool:
        state.pool = pool
        state.inspect_all()
        found = state.findings
        sums = float(found.linear.sum()), float(found.quadratic.sum())
        slack = float((problem.costs * found.slack).sum())
        n_active = count_positive(state.store.duals)
        n_done = state.few_passes(n_passes, tol)
    after = positive(state.store.duals)
    change = coefficients(problem, after) - coefficients(problem, duals)
    changed = np.flatnonzero(np.diff(csr_array(change).indptr))
    moved = csr_array(change)[changed].T @ feature_matrix(problem)[changed]
    worst = float(found.violation.max())
    findings = ShardFindings(*sums, slack, worst, n_active, problem.n_pairs, n_done)
    return ShardRound(after, moved / np.sqrt(shard.n_shards), findings)

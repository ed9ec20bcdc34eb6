"""The fit of ``DaskHierarchicalSVC``: rounds over shards, until the duality gap is small."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.distributed.joint_parts import (
    JointSetting,
    begin_duals,
    encode_items,
    make_shard,
    shard_weights,
)
from taxonomist.distributed.loading import load_parts
from taxonomist.distributed.memory import check_memory, check_weights
from taxonomist.distributed.rounds import Rounds, ShardTasks, shares_of
from taxonomist.errors import LabelError, ParameterError
from taxonomist.inference.linear_scorer import LinearScorer
from taxonomist.inference.row_maps import FeatureMap
from taxonomist.losses import category_loss
from taxonomist.models.certificates import certificate_facts, log_pass, solver_options
from taxonomist.models.learning import Learned
from taxonomist.solvers.changes import squared_norm
from taxonomist.solvers.sequential import FIRST_TOLERANCE, NEAR, SLOWLY
from taxonomist.solvers.shards import (
    RoundOptions,
    ShardFindings,
    best_step,
    part_way,
    solve_shard,
)
from taxonomist.solvers.solution import Certificate, Pass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.distributed.engine import Engine, Handle
    from taxonomist.models.hierarchical_svc import HierarchicalSVC
    from taxonomist.solvers.solution import Options

CERTIFIED_GAP = 0.1
"""Below this estimated gap, or near the tolerance, rounds give a certificate."""
TINY = np.finfo(float).tiny
MOST_PASSES = 4
"""Most passes over the items of a shard after the full one. There is one at first, and two from the
first certificate on; rounds that lower the gap slowly double that. More than these need as many
rounds, but more visits."""
LEAST_STRICTNESS = 1 / 64
"""How small a part of an item's share of the gap its violation must be at least."""
TASKS = ShardTasks(begin_duals, shard_weights, solve_shard, ShardFindings.joined, part_way)


@dataclass(frozen=True)
class Round:
    """A round in the record of a fit.

    Attributes
    ----------
    n_passes
        The largest number of passes over the items of a shard after the full one.
    bytes_out, bytes_back
        The bytes of the weights, once for each shard, and of the changes that come back.
    step, coupling
        γ, and the mean of all σ'_f.
    """

    n_passes: int
    bytes_out: int
    bytes_back: int
    step: float
    coupling: float


def check_joint(model: HierarchicalSVC) -> None:
    """Raise if the parameters ask for what shards cannot do."""
    model.check()
    for name, is_fine, wanted in (
        ("kernel", model.kernel == "linear", "'linear'"),
        ("fit_intercept", not model.fit_intercept, "False; constant=1.0 gives biases"),
        ("solver", model.solver in ("auto", "sequential"), "'auto' or 'sequential'"),
        ("C", np.isfinite(model.C), "finite"),
    ):
        if not is_fine:
            raise ParameterError(
                f"On a cluster, {name} must be {wanted}. Got {getattr(model, name)!r}."
            )


def fit_joint(
    engine: Engine,
    blocks: Sequence[Sequence[Handle]],
    model: HierarchicalSVC,
    n_shards: int | None = None,
) -> tuple[HierarchicalSVC, list[Round]]:
    """Fit a local model to items that are elsewhere.

    Parameters
    ----------
    engine
        The engine.
    blocks
        The blocks of X, of y and of weights.
    model
        The unfitted model, which is fitted.
    n_shards
        The number of shards. None stands for one for each thread, and at most one for each block.

    Returns
    -------
    model : HierarchicalSVC
    rounds : list of Round
    """
    check_joint(model)
    parts, facts = load_parts(engine, blocks, model)
    capacity = engine.capacity()
    check_memory(capacity, facts.n_bytes)
    (model.n_features_in_,) = facts.n_features
    if facts.feature_names is not None:
        model.feature_names_in_ = facts.feature_names
    targets = facts.labels.targets(model.taxonomy)
    if not targets.is_single:
        raise LabelError(
            "HierarchicalSVC takes one label per item, but y has label sets. Use DaskPathSVC."
        )
    categories = targets.categories
    shares = shares_of(facts.n_values, min(len(parts), n_shards or capacity.n_threads))
    setting = JointSetting(
        targets,
        model.attributes_of(targets),
        category_loss(model.loss, categories.expanded, categories.codes),
        model.C,
        model.n_features_in_ + bool(model.constant_feature),
    )
    options = solver_options(model)
    shape = setting.n_columns, setting.attributes.shape[1]
    check_weights(capacity, *shape, np.dtype(options.dtype).itemsize)
    shared = engine.scatter(setting)
    encoded = engine.map(encode_items, parts, shared=(shared,))
    del parts
    groups = [[encoded[k] for k in share] for share in shares]
    shards = engine.map(make_shard, groups, shared=(options, shared))
    del encoded, groups
    total_cost = model.C * float(facts.all_weights.sum())
    fit = _JointRounds(engine, shards, setting, options, total_cost)
    certificate = fit.run()
    converged = certificate.reaches(options)
    known = certificate_facts(model, certificate, converged, fit.history, fit.findings.n_pairs)
    scorer = LinearScorer(fit.certified, setting.attributes, FeatureMap())
    model.store(Learned(scorer, known), targets)
    return model, fit.rounds


class _JointRounds(Rounds):
    """The rounds of a fit."""

    def __init__(
        self,
        engine: Engine,
        shards: list[Handle],
        setting: JointSetting,
        options: Options,
        total_cost: float,
    ) -> None:
        shape = setting.n_columns, setting.attributes.shape[1]
        tasks = TASKS._replace(shared=(options,))
        super().__init__(engine, shards, tasks, np.zeros(shape, options.dtype))
        self.options, self.total_cost = options, total_cost
        self.nearly = replace(options, tol=NEAR * options.tol)
        self.history: list[Pass] = []
        self.rounds: list[Round] = []
        self.started = perf_counter()
        largest = setting.loss.rows(range(min(16, len(setting.targets.categories))))
        self.tol = FIRST_TOLERANCE * float(largest.max(initial=0.0))
        self.strictness, self.n_passes = 1.0, 1
        self.is_certified = False
        self.findings: ShardFindings

    def run(self) -> Certificate:
        """Go on until the certificate is good enough; return it."""
        found = Certificate(np.inf, 0.0, np.inf, np.inf)
        for number in range(self.options.max_iter):
            is_near = found.gap < CERTIFIED_GAP or found.reaches(self.nearly)
            self.is_certified = is_near or number == self.options.max_iter - 1
            previous, found = found, self.certified_round(number)
            if self.is_certified and found.reaches(self.options):
                break
            self._adapt(previous, found)
        return found

    def _adapt(self, previous: Certificate, found: Certificate) -> None:
        """Set passes and tolerance for the next round."""
        if self.is_certified:
            slow = self.n_passes > 1 and found.gap > SLOWLY * previous.gap
            self.n_passes = min(2 * self.n_passes, MOST_PASSES) if slow else max(self.n_passes, 2)
            if found.gap > 0.5 * previous.gap:
                self.strictness = max(0.5 * self.strictness, LEAST_STRICTNESS)
        self._lower_tolerance(found)

    def _round(self, number: int) -> Certificate:
        """Do a round, and return the certificate of the weights before it, or an estimate."""
        W = self.w.copy()
        seed = self.options.random_state + number
        given = RoundOptions(self.n_passes, self.tol, self.is_certified, seed)
        coupling = float(self.coupling.mean())
        found = self.exchange(W, given)
        self.findings = found.findings
        step = best_step(W, found.moved, self.findings)
        if self.is_certified:
            self.certified, certificate = W, self.findings.certificate()
        else:
            certificate = self.findings.estimate(squared_norm(W))
        self.take(found, step)
        n_bytes = found.bytes_out, found.moved.n_bytes
        self.rounds.append(Round(self.findings.n_passes, *n_bytes, step, coupling))
        entry = Pass(
            perf_counter() - self.started,
            certificate.primal,
            certificate.dual,
            certificate.violation,
            self.findings.n_active,
            self.is_certified,
        )
        self.history.append(entry)
        log_pass(entry)
        return certificate

    def _lower_tolerance(self, found: Certificate) -> None:
        """Lower the tolerance for items to their share of the gap."""
        share = self.strictness * found.gap * abs(found.dual) / max(self.total_cost, TINY)
        if self.options.stop == "violation":
            share = max(share, 0.1 * self.options.tol)
        if share > 0:
            self.tol = max(min(0.6 * self.tol, share), 0.1 * share)

"""The fit of ``DaskHierarchicalSVC``: rounds of CoCoA+, until the duality gap is small.

Items and their dual variables stay in shards. In a round, the weights go to all shards, each solves
its share of the dual, and the changes of weights are summed in a tree; see
``taxonomist.solvers.shards``. Every few rounds the dual variables are copied to the driver. When
a worker is lost, Dask makes its shard anew; its dual variables are those of the last copy, and the
weights follow from the dual variables of all shards. So no more than the work of a few rounds is
lost, and the certificate stays exact.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from time import perf_counter, sleep
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.distributed.engine import reduce
from taxonomist.distributed.joint_parts import (
    JointSetting,
    begin_duals,
    change_of,
    duals_of,
    encode_items,
    features_of,
    findings_of,
    make_shard,
    shard_weights,
)
from taxonomist.distributed.loading import load_parts
from taxonomist.distributed.memory import check_memory
from taxonomist.errors import ClusterError, LabelError, ParameterError
from taxonomist.inference.linear_scorer import LinearScorer
from taxonomist.inference.row_maps import FeatureMap
from taxonomist.losses import category_loss
from taxonomist.models.certificates import certificate_facts, log_pass, solver_options
from taxonomist.models.learning import Learned
from taxonomist.solvers.sequential import FIRST_TOLERANCE, SLOWLY
from taxonomist.solvers.shards import (
    Change,
    RoundOptions,
    ShardFindings,
    best_step,
    part_way,
    solve_shard,
)
from taxonomist.solvers.solution import Pass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Codes, Floats
    from taxonomist.compiled.arrays import Duals
    from taxonomist.distributed.engine import Engine, Handle
    from taxonomist.distributed.loading import PartFacts
    from taxonomist.models.hierarchical_svc import HierarchicalSVC
    from taxonomist.solvers.solution import Certificate, Options

logger = logging.getLogger(__name__)

CHECKPOINT = 8
"""Rounds between copies of the dual variables."""
MOST_PASSES = 64
"""Most passes over the items of a shard in a round. There is one at first; rounds that lower the
gap slowly double the number."""
LEAST_STRICTNESS = 1 / 64
"""How small a part of an item's share of the gap its violation must be at least."""
MOST_LOSSES = 10
"""How often workers may be lost before the fit is given up."""
PAUSE, LONGEST_PAUSE = 0.05, 5.0
"""Seconds to wait after the loss of a worker, doubled with each loss."""


@dataclass(frozen=True)
class Round:
    """A round in the record of a fit.

    Attributes
    ----------
    n_passes
        The largest number of passes over the items of a shard after the full one.
    bytes_out, bytes_back
        The bytes of weights that go to all shards, and of the changes that come back.
    step, coupling
        γ and σ'.
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
    shares = _shares(facts, min(len(parts), n_shards or capacity.n_threads))
    setting = JointSetting(
        targets,
        model.attributes_of(targets),
        category_loss(model.loss, categories.expanded, categories.codes),
        model.C,
        model.n_features_in_ + bool(model.constant_feature),
    )
    options = solver_options(model)
    shared = engine.scatter(setting)
    encoded = engine.map(encode_items, parts, shared=(shared,))
    del parts
    groups = [[encoded[k] for k in share] for share in shares]
    shards = engine.map(make_shard, groups, shared=(options, shared))
    del encoded, groups
    total_cost = model.C * float(facts.all_weights.sum())
    fit = _Rounds(engine, shards, setting, options, total_cost)
    certificate = fit.run()
    converged = certificate.reaches(options)
    known = certificate_facts(model, certificate, converged, fit.history, fit.findings.n_pairs)
    model.store(
        Learned(LinearScorer(fit.certified, setting.attributes, FeatureMap()), known), targets
    )
    return model, fit.rounds


def _shares(facts: PartFacts, n_shards: int) -> list[Codes]:
    """Return the parts of each shard: neighbours, of about the same number of stored values."""
    work = np.cumsum(np.array(facts.n_values, dtype=float) + 1e-9)
    shard = np.minimum((work - work[0]) * n_shards // work[-1], n_shards - 1)
    return [np.flatnonzero(shard == k) for k in np.unique(shard)]


@dataclass
class _Rounds:
    """The rounds of a fit."""

    engine: Engine
    shards: list[Handle]
    setting: JointSetting
    options: Options
    total_cost: float
    history: list[Pass] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        setting = self.setting
        self.w: Floats = np.zeros((setting.n_columns, setting.attributes.shape[1]))
        self.coupling, self.strictness = 1.0, 1.0
        self.duals = self.engine.map(begin_duals, self.shards)
        self.features = self.engine.gather(self.engine.map(features_of, self.shards))
        self.copies: list[Duals | None] = [None] * len(self.shards)
        self.started = perf_counter()
        largest = setting.loss.rows(range(min(256, len(setting.targets.categories))))
        self.tol = FIRST_TOLERANCE * float(largest.max(initial=0.0))
        self.n_passes = 1
        self.findings: ShardFindings
        self.n_lost = 0

    def run(self) -> Certificate:
        """Go on until the certificate is good enough; return it."""
        certificate, previous = self._certified_round(0), np.inf
        for number in range(1, self.options.max_iter):
            if certificate.reaches(self.options):
                break
            if certificate.gap > SLOWLY * previous:
                self.n_passes = min(2 * self.n_passes, MOST_PASSES)
            if certificate.gap > 0.5 * previous:
                self.strictness = max(0.5 * self.strictness, LEAST_STRICTNESS)
            previous = certificate.gap
            self._lower_tolerance(certificate)
            certificate = self._certified_round(number)
        return certificate

    def _certified_round(self, number: int) -> Certificate:
        """Do a round; after the loss of a worker, restore what it had and do it again."""
        is_whole = True
        while True:
            try:
                if not is_whole:
                    self._restore()
                is_whole = True
                if number and number % CHECKPOINT == 0:
                    self._copy_duals()
                return self._round(number)
            except ClusterError:
                self.n_lost += 1
                if self.n_lost > MOST_LOSSES:
                    raise
                logger.warning("A worker was lost in round %d; its shards go on.", number)
                is_whole = False
                # The scheduler may take a moment to notice.
                sleep(min(PAUSE * 2**self.n_lost, LONGEST_PAUSE))

    def _round(self, number: int) -> Certificate:
        """Do a round, and return the certificate of the weights before it."""
        engine, dtype = self.engine, np.dtype(self.options.dtype)
        W = self.w.astype(dtype)
        options = replace(self.options, random_state=self.options.random_state + number)
        given = RoundOptions(self.n_passes, self.tol, self.coupling)
        own = [W[features] for features in self.features]
        sent = [engine.scatter(rows, is_for_all=False) for rows in own]
        results = engine.map(solve_shard, self.shards, self.duals, sent, shared=(options, given))
        after = engine.map(duals_of, results)
        change = reduce(engine, Change.joined, engine.map(change_of, results))
        findings = reduce(engine, ShardFindings.joined, engine.map(findings_of, results))
        del results
        moved, self.findings = engine.gather([change, findings])
        step = best_step(self.w, moved, self.findings)
        self.duals = engine.map(part_way, self.duals, after, shared=(step,)) if step < 1 else after
        self.w[moved.rows] += step * moved.values
        self.certified = W
        self._follow(moved)
        certificate = self.findings.certificate()
        self.rounds.append(
            Round(
                self.findings.n_passes,
                sum(rows.nbytes for rows in own),
                moved.n_bytes,
                step,
                given[2],
            )
        )
        entry = Pass(
            perf_counter() - self.started,
            certificate.primal,
            certificate.dual,
            certificate.violation,
            self.findings.n_active,
            is_exact=True,
        )
        self.history.append(entry)
        log_pass(entry)
        return certificate

    def _copy_duals(self) -> None:
        """Copy the dual variables to the driver, and begin anew from the copies.

        Without that, a lost worker would make Dask repeat all rounds.
        """
        found = self.engine.gather(self.duals)
        self.copies = list(found)
        self.duals = [self.engine.scatter(duals, is_for_all=False) for duals in self.copies]

    def _restore(self) -> None:
        """Replace lost dual variables by their last copies, and compute the weights again."""
        engine = self.engine
        held = [engine.is_held(handle) for handle in self.duals]
        fresh = engine.map(begin_duals, self.shards)
        for k, (is_held, copy) in enumerate(zip(held, self.copies, strict=True)):
            if not is_held:
                self.duals[k] = fresh[k] if copy is None else engine.scatter(copy, is_for_all=False)
        parts = engine.map(shard_weights, self.shards, self.duals)
        (found,) = engine.gather([reduce(engine, Change.joined, parts)])
        self.w = np.zeros_like(self.w)
        self.w[found.rows] = found.values

    def _follow(self, moved: Change) -> None:
        """Set the coupling to that of the changes of this round."""
        apart = self.findings.change_squared
        if apart > 0:
            together = float(np.square(moved.values).sum())
            self.coupling = float(np.clip(together / apart, 1.0, len(self.shards)))

    def _lower_tolerance(self, certificate: Certificate) -> None:
        """Lower the tolerance for items to their share of the gap."""
        share = self.strictness * certificate.gap * abs(certificate.dual) / self.total_cost
        if self.options.stop == "violation":
            share = max(share, 0.1 * self.options.tol)
        if share > 0:
            self.tol = max(min(0.6 * self.tol, share), 0.1 * share)

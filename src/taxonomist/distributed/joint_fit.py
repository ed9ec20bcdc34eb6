"""The fit of ``DaskHierarchicalSVC``: rounds over shards, until the duality gap is small."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, log2
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.distributed.engine import reduce
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
from taxonomist.solvers.sequential import FIRST_TOLERANCE, NEAR
from taxonomist.solvers.shards import (
    BatchFindings,
    RoundOptions,
    ShardFindings,
    SharedWeights,
    Window,
    batch_features,
    best_step,
    certify_shard,
    linear_of,
    part_way,
    solve_shard,
)
from taxonomist.solvers.solution import Certificate, Pass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Codes
    from taxonomist.distributed.engine import Engine, Handle
    from taxonomist.models.hierarchical_svc import HierarchicalSVC
    from taxonomist.solvers.solution import Options

TINY = np.finfo(float).tiny
MUCH_CONFLICT, LITTLE_CONFLICT = 0.15, 0.03
"""If ||Σ_k w(Δα_k)||² / Σ_k ||w(Δα_k)||² - 1 is above the first times √(K - 1), rounds take half
as many items, and if it is less than the second, twice as many. Judged by visits of items: with
these, 8 shards need 1.5 times those of one machine on 20 Newsgroups, and 0.8 times on 4,000
synthetic texts of ``benchmarks/distributed.py``; 64 shards of these need 0.9 times."""
LEAST_SHARE, MOST_SHARE = 1 / 64, 1 / 4
"""The smallest and the largest part of its items that one of several shards solves in a round. If
most items were in all rounds, each shard would go on to correct what another one has just done."""
STRICTNESS, LEAST_STRICTNESS = 1 / 4, 1 / 64
"""How small a part of an item's share of the gap its violation must be. It is halved, but not below
the second one, by certificates that are not good enough."""
TASKS = ShardTasks(begin_duals, shard_weights, solve_shard, BatchFindings.joined, part_way)


@dataclass(frozen=True)
class Round:
    """A round in the record of a fit.

    Attributes
    ----------
    share
        The part of its items that a shard solved; 0 if the round only gave a certificate.
    bytes_out, bytes_back
        The bytes of the weights that went to all shards, and of the changes that came back, with
        the numbers of the features that shards asked for. Copies of dual variables are not in it.
    step, coupling
        γ, and the mean of all σ'_f.
    conflict
        ||Σ_k w(Δα_k)||² / Σ_k ||w(Δα_k)||².
    """

    share: float
    bytes_out: int
    bytes_back: int = 0
    step: float = 0.0
    coupling: float = 1.0
    conflict: float = 1.0


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
    known = certificate_facts(model, certificate, converged, fit.history, fit.found.n_pairs)
    scorer = LinearScorer(fit.w, setting.attributes, FeatureMap())
    model.store(Learned(scorer, known), targets)
    return model, fit.rounds


class _JointRounds(Rounds):
    """The rounds of a fit.

    A pass over all items takes several rounds, each with other items, in a random order that is
    drawn anew for every pass. After a pass with a promising estimate, a round gives a certificate.
    """

    found: ShardFindings

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
        self.strictness = STRICTNESS
        self.dual = 0.0
        # One shard has nobody to conflict with.
        self.least, self.most = (LEAST_SHARE, MOST_SHARE) if len(shards) > 1 else (1.0, 1.0)
        # As many items in a round as one shard has, within these limits.
        self.share = float(np.clip(1 / len(shards), self.least, self.most))
        self.window = Window(options.random_state, 0.0, 0.0)
        self.lacking, self.violation, self.n_active = 0.0, 0.0, 0
        self.estimate: Certificate | None = None

    def run(self) -> Certificate:
        """Go on until the certificate is good enough; return it."""
        for number in range(self.options.max_iter):
            self.is_certified = number == self.options.max_iter - 1 or self._is_promising()
            found = self.certified_round(number)
            if self.is_certified and found.reaches(self.options):
                break
        return found

    def _is_promising(self) -> bool:
        """Return whether a pass has just ended that may have reached the tolerance."""
        return self.estimate is not None and self.estimate.reaches(self.nearly)

    def _round(self, number: int) -> Certificate:  # noqa: ARG002
        """Solve some items of each shard, or certify the weights."""
        found = self._certify() if self.is_certified else self._solve()
        entry = Pass(
            perf_counter() - self.started,
            found.primal,
            found.dual,
            found.violation,
            self.n_active,
            self.is_certified,
        )
        self.history.append(entry)
        log_pass(entry)
        return found

    def _certify(self) -> Certificate:
        """Return the certificate of the present weights; if it is bad, put off the next."""
        sent = self.send_to_all(self.w.copy())
        columns = self.shards, self.duals, sent
        findings = self.engine.map(certify_shard, *columns, shared=self.tasks.shared)
        joined = reduce(self.engine, ShardFindings.joined, findings)
        (self.found,) = self.engine.gather([joined])
        certificate = self.found.certificate()
        self.rounds.append(Round(0.0, len(sent) * (self.w.nbytes + self.coupling.nbytes)))
        self.dual, self.n_active = certificate.dual, self.found.n_active
        if self.estimate is not None:
            # How much better than the estimate the certificate is tends to stay.
            better = self.estimate.gap / max(certificate.gap, TINY)
            self.nearly = replace(self.options, tol=min(better, NEAR) * self.options.tol)
        self.strictness = max(self.strictness / 2, LEAST_STRICTNESS)
        self._lower_tolerance(certificate)
        self.estimate = None
        return certificate

    def _solve(self) -> Certificate:
        """Solve the next items of each shard; return the estimated certificate of this pass."""
        window = self._next_window()
        asked = self.engine.gather(self.engine.map(batch_features, self.shards, shared=(window,)))
        sent, bytes_out = self._send(asked)
        found = self.exchange(sent, RoundOptions(window, self.tol))
        coupling = float(self.coupling.mean())
        step, gain = best_step(self.w, found.moved, found.findings.linear)
        self.take(found, step)
        self.dual += gain
        conflict = found.moved.conflict()
        part = window.end - window.begin
        bytes_back = sum(features.nbytes for features in asked) + found.moved.n_bytes
        self.rounds.append(Round(part, bytes_out, bytes_back, step, coupling, conflict))
        return self._advance(window, found.findings, conflict)

    def _next_window(self) -> Window:
        """Return the items of the next round; few that would be left are taken, too."""
        begin = self.window.end
        end = begin + self.share
        return self.window._replace(begin=begin, end=1.0 if end > 1 - self.share / 2 else end)

    def _send(self, asked: list[Codes]) -> tuple[list[Handle], int]:
        """Send the weights that shards asked for; return their handles and their bytes."""
        # Rows leave the driver one after another; all weights would go from worker to worker.
        n_rows, n_hops = sum(map(len, asked)), 1 + ceil(log2(len(asked)))
        if n_rows >= n_hops * len(self.w):
            sent = self.send_to_all(self.w.copy())
            return sent, len(sent) * (self.w.nbytes + self.coupling.nbytes)
        weights = SharedWeights(self.w, self.coupling)
        parts = [weights.rows(features) for features in asked]
        n_bytes = sum(part.n_bytes for part in parts)
        return [self.engine.scatter(part, is_for_all=False) for part in parts], n_bytes

    def _advance(self, window: Window, found: BatchFindings, conflict: float) -> Certificate:
        """Set what the next round does; return the certificate that this pass makes likely."""
        self.window = window
        self.lacking += found.gap
        self.violation = max(self.violation, found.violation)
        self.n_active = found.n_active
        primal = self.dual + self.lacking / window.end
        gap = (primal - self.dual) / primal if primal > 0 else 0.0
        estimate = Certificate(primal, self.dual, gap, self.violation)
        if window.end == 1:
            self.estimate = estimate
            self._lower_tolerance(estimate)
            self.window = Window(window.seed + 1, 0.0, 0.0)
            self.lacking = self.violation = 0.0
        others = (len(self.shards) - 1) ** 0.5
        if conflict - 1 > MUCH_CONFLICT * others:
            self.share = max(self.share / 2, self.least)
        elif conflict - 1 <= LITTLE_CONFLICT * others:
            self.share = min(2 * self.share, self.most)
        return estimate

    def _lower_tolerance(self, found: Certificate) -> None:
        """Lower the tolerance for items to their share of the gap."""
        share = self.strictness * found.gap * abs(found.dual) / max(self.total_cost, TINY)
        if self.options.stop == "violation":
            share = max(share, 0.1 * self.options.tol)
        if share > 0:
            self.tol = max(min(0.6 * self.tol, share), 0.1 * share)

    def _sum_weights(self) -> None:
        """Compute weights and dual value that follow from the dual variables of all shards."""
        super()._sum_weights()
        linear = self.engine.gather(self.engine.map(linear_of, self.duals))
        self.dual = sum(linear) - squared_norm(self.w) / 2

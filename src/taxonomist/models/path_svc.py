"""``PathSVC``: a binary SVM for every node, and the whole path decides."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from taxonomist._threads import n_threads
from taxonomist.inference.blend import fit_blend
from taxonomist.inference.block_weights import BlockWeights, sparse_rows
from taxonomist.inference.path_scorer import Blend, PathScorer
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.learning import Learned
from taxonomist.models.parameters import Number, Word, above_zero, at_least
from taxonomist.models.path_columns import path_columns
from taxonomist.models.traits import Traits
from taxonomist.solvers.node_svms import NodeOptions, NodeProblems, solve

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats, FoldsLike, MatrixLike, Seed
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.learning import Training
    from taxonomist.models.parameters import Requirement
    from taxonomist.models.path_columns import PathColumns
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy

logger = logging.getLogger(__name__)

DEFAULTS = NodeOptions()
MOST_WORK = 2e9
MAX_PARTS = 2**22


class PathStart(NamedTuple):
    """Dual variables of a fit: (n_items, n_columns), the node and kind of each column."""

    alpha: CSR
    nodes: Codes
    kinds: Codes

    def of(self, items: Codes) -> PathStart:
        return self._replace(alpha=self.alpha[items])


class BlendTuning:
    """Fits the blend on held-out scores."""

    needs_scores = True

    def __init__(self, model, training, held_out):
        self._model, self._training = model, training
        n_kept = max(1, MAX_PARTS // len(training.targets.categories))
        self._kept = np.zeros(len(training.weights), bool)
        self._kept[np.random.default_rng(0).permutation(held_out)[:n_kept]] = True
        self._found = []

    def take(self, items, scored):
        scorer = scored.scorer
        columns = self._training.targets.labels[items].indices
        use = self._kept[items] & scorer.seen[columns]
        if not use.any():
            return
        parts = np.stack(scorer.parts(scored.raw[use])).transpose(0, 2, 1)
        parts[:, :, ~scorer.seen] = -np.inf
        self._found.append((parts, columns[use], self._training.weights[items[use]]))

    def finish(self):
        scorer = self._model.scorer_
        if not self._found:
            return {}
        parts = np.concatenate([p for p, _, _ in self._found], axis=1)
        columns = np.concatenate([c for _, c, _ in self._found])
        weights = np.concatenate([w for _, _, w in self._found])
        theta = fit_blend(parts, columns, weights, np.array(scorer.blend))
        blend = Blend(*theta.tolist())
        return {"scorer_": replace(scorer, blend=blend), "blend_": blend._asdict()}


class PathSVC(TaxonomyClassifier):
    traits = Traits(single={"path": {}}, parts=(PathScorer, BlockWeights, PathStart))
    parameters: ClassVar[dict[str, Requirement]] = {
        "C": above_zero(),
        "negatives": Word(("auto", "all", "siblings", "both")),
        "loss": Word(("squared_hinge", "hinge")),
        "constant": at_least(0),
        "tol": Number("above 0", lambda value: value > 0),
        "max_iter": Number("above 0", lambda value: value > 0),
    }

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        C: float = 1.0,
        negatives: str = "auto",
        loss: str = "squared_hinge",
        constant: float = 1.0,
        cv: FoldsLike | None = 3,
        tol: float = DEFAULTS.tol,
        max_iter: int = DEFAULTS.max_iter,
        warm_start: bool = False,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.negatives = negatives
        self.loss = loss
        self.constant = constant
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_rows(self, X: MatrixLike, reset: bool) -> CSR:
        """Return validated rows, sparse and in single precision."""
        rows = validate_data(
            self, X, accept_sparse="csr", dtype=(np.float32, np.float64), reset=reset
        )
        return csr_array(rows, dtype=np.float32)

    def learn(self, training: Training, start: PathStart | None = None) -> Learned:
        """Learn the classifiers of all nodes; see ``TaxonomyClassifier.learn``."""
        items = np.flatnonzero(training.weights)
        used = training.with_weight()
        targets, categories = used.targets, used.targets.categories
        columns = path_columns(categories, targets.labels, self._negatives(used))
        problem = NodeProblems(
            sparse_rows(used.X),
            used.X.shape[1],
            self.C * used.weights,
            columns.groups,
            self.constant,
            self.loss == "squared_hinge",
        )
        begin = None if start is None else _group_starts(start.of(items), columns)
        solution = solve(problem, self._options(), None, begin)
        scorer = path_scorer(solution.weights, columns, categories)
        primal, dual = float(solution.primal.sum()), float(solution.dual.sum())
        facts = {
            "objective_": primal,
            "dual_objective_": dual,
            "duality_gap_": (primal - dual) / primal if primal > 0 else 0.0,
            "converged_": solution.converged,
            "n_iter_": solution.n_passes,
            "blend_": scorer.blend._asdict(),
        }
        alpha = _whole(solution.duals, columns, items, len(training.weights))
        return Learned(scorer, facts, PathStart(alpha, columns.nodes, columns.kinds))

    def start_of(self, items: Codes) -> PathStart | None:
        return None if self.start_ is None else self.start_.of(items)

    def tuning(self, training, held_out):
        return BlendTuning(self, training, held_out)

    def probabilities(self, scored: Scored) -> Floats:
        scores = scored.categories
        found = softmax(np.where(scored.scorer.seen, scores, -np.inf), axis=1)
        return found

    def source_title(self, source: int) -> tuple[str, str]:
        expanded = self.targets_.categories.expanded
        node = expanded.nodes[source]
        return expanded.terminals.get(node, node), expanded.names[source]

    def _negatives(self, training: Training) -> str:
        if self.negatives != "auto":
            return self.negatives
        n_nodes = training.targets.categories.expanded.n_nodes
        return "both" if n_nodes * training.X.nnz <= MOST_WORK else "siblings"

    def _options(self) -> NodeOptions:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return NodeOptions(self.tol, self.max_iter, int(seed), n_threads(self.n_jobs))


def path_scorer(weights, columns: PathColumns, categories) -> PathScorer:
    codes = categories.codes
    paths = csr_array(categories.expanded.ancestor_matrix()[codes])
    shape = len(codes), weights.n_columns

    def table(column_of: Codes, rows: Codes, nodes: Codes) -> CSR:
        found = column_of[nodes]
        has = found >= 0
        return csr_array((np.ones(has.sum()), (rows[has], found[has])), shape=shape)

    rows = np.repeat(np.arange(len(codes)), np.diff(paths.indptr))
    return PathScorer(
        weights,
        table(columns.above, np.arange(len(codes)), codes),
        table(columns.above, rows, paths.indices),
        table(columns.beside, rows, paths.indices),
        columns.nodes,
        columns.seen[codes],
    )


def _whole(duals, columns: PathColumns, items: Codes, n_items: int) -> CSR:
    rows, cols, values = [], [], []
    first = 0
    for alpha, group in zip(duals, columns.groups, strict=True):
        found = alpha.tocoo()
        rows.append(items[group.items[found.row]])
        cols.append(found.col + first)
        values.append(found.data)
        first += alpha.shape[1]
    if not rows:
        return csr_array((n_items, 0), dtype=np.float32)
    where = np.concatenate(rows), np.concatenate(cols)
    return csr_array((np.concatenate(values), where), shape=(n_items, first))


def _group_starts(start: PathStart, columns: PathColumns) -> list[CSR]:
    """Return the dual variables of each group; new columns start at 0."""
    old = {key: c for c, key in enumerate(zip(start.kinds.tolist(), start.nodes.tolist()))}
    keys = list(zip(columns.kinds.tolist(), columns.nodes.tolist()))
    alpha = start.alpha.tocsc()
    found, first = [], 0
    for group in columns.groups:
        n = group.own.shape[1]
        which = [old.get(key, -1) for key in keys[first : first + n]]
        part = alpha[:, np.maximum(which, 0)].tocsr()[group.items]
        if -1 in which:
            part = csr_array(part * (np.array(which) >= 0).astype(np.float32))
        found.append(part)
        first += n
    return found

"""Learning the classifiers of ``PathSVC``, with warm starts."""

from __future__ import annotations

import logging
import warnings
from itertools import count, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.exceptions import ConvergenceWarning

from taxonomist.inference.block_weights import sparse_rows
from taxonomist.inference.node_model import Frequencies, NodeModel
from taxonomist.inference.node_scorer import NodeScorer
from taxonomist.inference.path_scorer import PathScorer
from taxonomist.models.dense_arrays import check_weights
from taxonomist.models.learning import Learned
from taxonomist.models.path_columns import path_columns
from taxonomist.models.typical_features import typical_features
from taxonomist.solvers.node_svms import NodeProblems, solve

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.inference.block_weights import BlockWeights
    from taxonomist.models.learning import Training
    from taxonomist.models.path_branches import Branches
    from taxonomist.models.path_columns import PathColumns
    from taxonomist.models.targets import Targets
    from taxonomist.solvers.node_svms import NodeOptions, NodeSolution
    from taxonomist.taxonomy import Categories, Taxonomy

logger = logging.getLogger(__name__)

MOST_WORK = 500_000_000
"""Nodes times stored values up to which ``negatives="auto"`` trains both kinds of classifiers.
A classifier against all other items visits all stored values, so that this many take about 5
seconds of one core; classifiers against siblings visit them once per level of the taxonomy."""

MOST_CATEGORIES = 256
"""Categories up to which scores have typical features. With the 1,200 of naics2012, these took half
as long as all classifiers, and gained nothing."""


class PathStart(NamedTuple):
    """The state of a fit, for warm starts.

    Attributes
    ----------
    alpha
        Dual variables, (n_items, n_columns).
    nodes, kinds
        The id of the node, and the kind, of each column.
    negatives
        The negative items that were chosen.
    primal, dual
        Both objectives of each column.
    """

    alpha: CSR
    nodes: tuple[str, ...]
    kinds: Codes
    negatives: str
    primal: Floats
    dual: Floats

    def of(self, items: Codes) -> PathStart:
        """Return the state of some items; those that are new start at 0."""
        n_old, n_columns = self.alpha.shape
        if items.max(initial=0) < n_old:
            return self._replace(alpha=self.alpha[items])
        new = csr_array((int(items.max()) + 1 - n_old, n_columns), dtype=np.float32)
        return self._replace(alpha=csr_array(vstack([self.alpha, new]))[items])

    def places(self, nodes: tuple[str, ...], kinds: Codes) -> Codes:
        """Return the columns of some nodes; for those that are new, the number of columns."""
        keys = dict(zip(zip(self.kinds.tolist(), self.nodes, strict=True), count(), strict=False))
        wanted = zip(kinds.tolist(), nodes, strict=True)
        n_old = self.alpha.shape[1]
        return np.fromiter(map(keys.get, wanted, repeat(n_old)), np.intp, len(nodes))

    def columns(self, nodes: tuple[str, ...], kinds: Codes) -> CSR:
        """Return the dual variables of some columns; those that are new start at 0."""
        n_old, which = self.alpha.shape[1], self.places(nodes, kinds)
        if np.array_equal(which, np.arange(n_old)):
            return self.alpha
        # The last column stands for those that are new.
        shape = self.alpha.shape[0], n_old + 1
        old = csr_array((self.alpha.data, self.alpha.indices, self.alpha.indptr), shape=shape)
        return csr_array(old[:, which])


class PathParameters(NamedTuple):
    """The parameters of the classifiers; see ``PathSVC``."""

    C: float
    negatives: str
    constant: float
    is_squared: bool
    beam: int | None
    complement: bool


def learn_paths(
    training: Training,
    given: PathParameters,
    options: NodeOptions,
    start: PathStart | None,
    branches: Branches | None = None,
) -> tuple[Learned, NodeSolution]:
    """Learn the classifiers of all nodes.

    Parameters
    ----------
    training
        The items.
    given
        The parameters of the classifiers.
    options
        The solver options.
    start
        The state of the last fit of these items, or None.
    branches
        The branches whose classifiers are trained anew; None stands for all.
    """
    items, used = np.flatnonzero(training.weights), training.with_weight()
    taxonomy = path_taxonomy(used.targets)
    negatives = given.negatives
    if negatives == "auto" and start is not None:
        negatives = start.negatives
    negatives = chosen_negatives(negatives, taxonomy, used.X.nnz)
    columns = path_columns(taxonomy, closed_labels(used.targets), negatives)
    sizes, widths = np.diff(columns.groups.first), np.diff(columns.groups.columns)
    n_features = min(used.X.shape[1], used.X.nnz)
    check_weights(n_features, int(widths[sizes == columns.n_items].sum()))
    problems = NodeProblems(
        sparse_rows(used.X),
        used.X.shape[1],
        given.C * used.weights,
        columns.groups,
        given.constant,
        given.is_squared,
    )
    names = tuple(map(taxonomy.nodes.__getitem__, columns.nodes.tolist()))
    begin, kept = None, None
    if start is not None and branches is not None:
        kept = branches.kept(columns, taxonomy, start.of(items), names)
    elif start is not None:
        begin = start.of(items).columns(names, columns.kinds)
    solution = solve(problems, options, _log, begin, kept)
    scorer = scorer_of(solution.weights, columns, used.targets, given.beam)
    has_typical = given.complement and negatives != "siblings"
    if has_typical and isinstance(scorer, PathScorer) and len(scorer.counts) <= MOST_CATEGORIES:
        scorer = scorer.with_typical(typical_features(used.X, used.targets.labels, used.weights))
    alpha = solution.duals
    if len(items) < len(training.weights):
        alpha = _spread(alpha, items, len(training.weights))
    state = alpha, names, columns.kinds, negatives, solution.primal, solution.dual
    return Learned(scorer, {}, PathStart(*state)), solution


def solution_facts(solution: NodeSolution, tol: float) -> dict[str, object]:
    """Return the fitted attributes of a solution; warn if the solver did not converge.

    Parameters
    ----------
    solution
        The classifiers.
    tol
        The relative duality gap that was wanted.
    """
    primal, dual = float(solution.primal.sum()), float(solution.dual.sum())
    gap = (primal - dual) / primal if primal > 0 else 0.0
    if not solution.converged:
        warnings.warn(
            f"Stopped after {solution.n_passes} passes with duality gap {gap:.1e}; wanted "
            f"{tol:.1e} for all classifiers. Increase max_iter, or accept with a larger tol.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return {
        "objective_": primal,
        "dual_objective_": dual,
        "duality_gap_": gap,
        "converged_": solution.converged,
        "n_iter_": solution.n_passes,
        "fit_seconds_": solution.seconds,
    }


def path_taxonomy(targets: Targets) -> Taxonomy:
    """Return the taxonomy of the classifiers.

    An interior category of single labels has a terminal of its own. Label sets need none: a label
    set that ends at an inner node has no node below it.
    """
    categories = targets.categories
    return categories.expanded if targets.is_single else categories.taxonomy


def chosen_negatives(negatives: str, taxonomy: Taxonomy, n_values: int) -> str:
    """Return the negative items of classifiers; ``"auto"`` depends on the work.

    Parameters
    ----------
    negatives
        The parameter of ``PathSVC``.
    taxonomy
        The taxonomy of the classifiers.
    n_values
        The number of stored values of all items.
    """
    if negatives != "auto":
        return negatives
    return negatives_within(MOST_WORK, taxonomy.n_nodes, n_values)


def negatives_within(most_work: int, n_nodes: int, n_values: float) -> str:
    """Return both kinds of negative items if nodes times stored values are within a limit."""
    return "both" if n_nodes * n_values <= most_work else "siblings"


def scorer_of(
    weights: BlockWeights, columns: PathColumns, targets: Targets, beam: int | None
) -> PathScorer | NodeScorer:
    """Return the scorer of classifiers.

    Parameters
    ----------
    weights
        The weights of all columns.
    columns
        The columns; their groups are not needed.
    targets
        The categories.
    beam
        See ``PathSVC``.
    """
    make = _single_scorer if targets.is_single else _set_scorer
    return make(weights, columns, targets.categories, beam)


def closed_labels(targets: Targets) -> CSR:
    """Return the nodes of each item, closed under ancestors."""
    if not targets.is_single:
        return targets.close(targets.labels)
    categories = targets.categories
    return csr_array(targets.labels @ categories.expanded.ancestor_matrix()[categories.codes])


def _single_scorer(
    weights: BlockWeights, columns: PathColumns, categories: Categories, beam: int | None
) -> PathScorer:
    """Return the scorer of one category per item."""
    codes = categories.codes
    places = columns.nodes, categories.expanded, columns.above, columns.beside, codes
    return PathScorer(weights, *places, columns.counts[codes], beam=beam)


def _set_scorer(
    weights: BlockWeights, columns: PathColumns, categories: Categories, _: int | None
) -> NodeScorer:
    """Return the scorer of label sets, which takes margins for log-odds until it is tuned."""
    taxonomy = categories.taxonomy
    model = NodeModel.of_margins(taxonomy, Frequencies.of(columns.counts, columns.n_items))
    nodes = taxonomy.codes(categories.ids)
    return NodeScorer(weights, columns.nodes, columns.above, columns.beside, nodes, model)


def _spread(alpha: CSR, items: Codes, n_items: int) -> CSR:
    """Return the dual variables with rows of 0 for items that are not used."""
    counts = np.zeros(n_items, dtype=np.intp)
    counts[items] = np.diff(alpha.indptr)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return csr_array((alpha.data, alpha.indices, indptr), shape=(n_items, alpha.shape[1]))


def _log(n_done: int, n_blocks: int) -> None:
    """Log the progress of the solver."""
    logger.debug("%d of %d blocks of classifiers are solved.", n_done, n_blocks)

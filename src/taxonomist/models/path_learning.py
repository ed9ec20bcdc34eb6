"""Learning the classifiers of ``PathSVC``, with warm starts."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from taxonomist.inference.block_weights import sparse_rows
from taxonomist.inference.node_model import Frequencies, NodeModel
from taxonomist.inference.node_scorer import NodeScorer
from taxonomist.inference.path_scorer import PathScorer
from taxonomist.models.learning import Learned
from taxonomist.models.path_columns import path_columns
from taxonomist.solvers.node_svms import NodeProblems, solve

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes
    from taxonomist.inference.block_weights import BlockWeights
    from taxonomist.models.learning import Training
    from taxonomist.models.path_columns import PathColumns
    from taxonomist.models.targets import Targets
    from taxonomist.solvers.node_svms import NodeOptions, NodeSolution
    from taxonomist.taxonomy import Categories, Taxonomy

logger = logging.getLogger(__name__)

MOST_WORK = 2_000_000_000
"""Nodes times stored values up to which ``negatives="auto"`` trains both kinds of classifiers.
A classifier against all other items visits all stored values, so that this many take about 20
seconds of one core; classifiers against siblings visit them once per level of the taxonomy."""


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
    """

    alpha: CSR
    nodes: tuple[str, ...]
    kinds: Codes
    negatives: str

    def of(self, items: Codes) -> PathStart:
        """Return the state of some items; those that are new start at 0."""
        n_old, n_columns = self.alpha.shape
        if items.max(initial=0) < n_old:
            return self._replace(alpha=self.alpha[items])
        new = csr_array((int(items.max()) + 1 - n_old, n_columns), dtype=np.float32)
        return self._replace(alpha=csr_array(vstack([self.alpha, new]))[items])


class PathParameters(NamedTuple):
    """The parameters of the classifiers; see ``PathSVC``."""

    C: float
    negatives: str
    constant: float
    is_squared: bool


def learn_paths(
    training: Training, given: PathParameters, options: NodeOptions, start: PathStart | None
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
    """
    items, used = np.flatnonzero(training.weights), training.with_weight()
    taxonomy = path_taxonomy(used.targets)
    negatives = given.negatives
    if negatives == "auto" and start is not None:
        negatives = start.negatives
    elif negatives == "auto":
        negatives = "both" if taxonomy.n_nodes * used.X.nnz <= MOST_WORK else "siblings"
    columns = path_columns(taxonomy, _closed(used.targets), negatives)
    problems = NodeProblems(
        sparse_rows(used.X),
        used.X.shape[1],
        given.C * used.weights,
        columns.groups,
        given.constant,
        given.is_squared,
    )
    begin = None if start is None else _group_starts(start.of(items), columns, taxonomy)
    solution = solve(problems, options, _log, begin)
    make = _single_scorer if used.targets.is_single else _set_scorer
    scorer = make(solution.weights, columns, used.targets.categories)
    alpha = _whole(solution.duals, columns, items, len(training.weights))
    names = tuple(taxonomy.nodes[code] for code in columns.nodes.tolist())
    return Learned(scorer, {}, PathStart(alpha, names, columns.kinds, negatives)), solution


def path_taxonomy(targets: Targets) -> Taxonomy:
    """Return the taxonomy of the classifiers.

    An interior category of single labels has a terminal of its own. Label sets need none: a label
    set that ends at an inner node has no node below it.
    """
    categories = targets.categories
    return categories.expanded if targets.is_single else categories.taxonomy


def _closed(targets: Targets) -> CSR:
    """Return the nodes of each item, closed under ancestors."""
    if not targets.is_single:
        return targets.close(targets.labels)
    categories = targets.categories
    return csr_array(targets.labels @ categories.expanded.ancestor_matrix()[categories.codes])


def _single_scorer(
    weights: BlockWeights, columns: PathColumns, categories: Categories
) -> PathScorer:
    """Return the scorer of one category per item."""
    codes = categories.codes
    paths = csr_array(categories.expanded.ancestor_matrix()[codes])
    rows = np.repeat(np.arange(len(codes)), np.diff(paths.indptr))
    shape = len(codes), weights.n_columns

    def table(column_of: Codes, rows: Codes, nodes: Codes) -> CSR:
        found = column_of[nodes]
        has = found >= 0
        return csr_array((np.ones(has.sum()), (rows[has], found[has])), shape=shape)

    return PathScorer(
        weights,
        columns.nodes,
        table(columns.above, np.arange(len(codes)), codes),
        table(columns.above, rows, paths.indices),
        table(columns.beside, rows, paths.indices),
        columns.counts[codes],
    )


def _set_scorer(weights: BlockWeights, columns: PathColumns, categories: Categories) -> NodeScorer:
    """Return the scorer of label sets, which takes margins for log-odds until it is tuned."""
    taxonomy = categories.taxonomy
    model = NodeModel.of_margins(taxonomy, Frequencies.of(columns.counts, columns.n_items))
    nodes = taxonomy.codes(categories.ids)
    return NodeScorer(weights, columns.nodes, columns.above, columns.beside, nodes, model)


def _whole(duals: list[CSR], columns: PathColumns, items: Codes, n_items: int) -> CSR:
    """Return the dual variables of all groups as one table, (n_items, n_columns)."""
    rows, places, values = [np.arange(0)], [np.arange(0)], [np.empty(0, np.float32)]
    first = 0
    for alpha, group in zip(duals, columns.groups, strict=True):
        found = alpha.tocoo()
        rows.append(items[group.items[found.row]])
        places.append(found.col + first)
        values.append(found.data)
        first += alpha.shape[1]
    where = np.concatenate(rows), np.concatenate(places)
    return csr_array((np.concatenate(values), where), shape=(n_items, first))


def _group_starts(start: PathStart, columns: PathColumns, taxonomy: Taxonomy) -> list[CSR]:
    """Return the dual variables of each group; columns that are new start at 0."""
    old = {key: c for c, key in enumerate(zip(start.kinds.tolist(), start.nodes, strict=True))}
    keys = [
        (kind, taxonomy.nodes[code])
        for kind, code in zip(columns.kinds.tolist(), columns.nodes.tolist(), strict=True)
    ]
    # The last column stands for those that are new.
    n_old = start.alpha.shape[1]
    alpha = csr_array(
        (start.alpha.data, start.alpha.indices, start.alpha.indptr),
        shape=(start.alpha.shape[0], n_old + 1),
    ).tocsc()
    found, first = [], 0
    for group in columns.groups:
        end = first + group.own.shape[1]
        which = [old.get(key, n_old) for key in keys[first:end]]
        found.append(csr_array(csr_array(alpha[:, which])[group.items]))
        first = end
    return found


def _log(n_done: int, n_blocks: int) -> None:
    """Log the progress of the solver."""
    logger.debug("%d of %d blocks of classifiers are solved.", n_done, n_blocks)

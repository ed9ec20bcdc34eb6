"""Parts of ``MaxMarginMarkovClassifier``: trees, local features and warm starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist._typing import Matrix, Reals, is_sparse
from taxonomist.compiled.graph_arrays import LabelledDag
from taxonomist.compiled.markov_arrays import EVERYWHERE
from taxonomist.errors import ParameterError, TaxonomyError
from taxonomist.solvers.labelling_store import packed, within
from taxonomist.solvers.markov_graph import graph_node_map
from taxonomist.solvers.markov_problem import node_map

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.compiled.markov_arrays import ActiveLabellings, Tree
    from taxonomist.solvers.markov_graph import GraphProblem
    from taxonomist.solvers.markov_problem import MarkovProblem
    from taxonomist.taxonomy import Taxonomy


WEIGHT_ROWS_AT_A_TIME = 4096
"""Rows of weights that are converted at a time."""


@dataclass(frozen=True, eq=False)
class Start:
    """The state of a fit, for warm starts.

    Attributes
    ----------
    tree, slack
        The tree, or the DAG, and the slack of the solved problem.
    items
        The items of the problem, in ascending order.
    labels
        The true labellings of the items.
    columns
        The active labellings of the items, with dual variables.
    """

    tree: Tree | LabelledDag
    slack: str
    items: Codes
    labels: CSR
    columns: tuple[ActiveLabellings, ...]

    def of(self, items: Codes) -> Start:
        """Return the state of some items of the fit, renumbered."""
        place = np.searchsorted(self.items, items)
        known = place < len(self.items)
        known[known] = self.items[place[known]] == items[known]
        kept = place[known]
        columns = tuple(packed(part, kept) for part in self.columns)
        return replace(self, items=np.flatnonzero(known), labels=self.labels[kept], columns=columns)

    def at(
        self, problem: MarkovProblem | GraphProblem, items: Codes
    ) -> tuple[ActiveLabellings, ...] | None:
        """Return dual variables for a problem, from the items whose labels are unchanged."""
        if self.slack != problem.slack or not is_same_tree(self.tree, problem.tree):
            return None
        _, mine, theirs = np.intersect1d(self.items, items, assume_unique=True, return_indices=True)
        is_same = np.diff((self.labels[mine] != problem.labels[theirs]).tocsr().indptr) == 0
        place = np.full(len(items), len(self.items))
        place[theirs[is_same]] = mine[is_same]
        is_exact = problem.slack == "example_signed"
        if is_exact and not (place < len(self.items)).all():
            return None
        return tuple(within(packed(part, place), problem.costs, is_exact) for part in self.columns)


def check_edges(taxonomy: Taxonomy) -> None:
    """Raise if the taxonomy has no edges."""
    if taxonomy.n_nodes == 1:
        raise TaxonomyError(
            "The taxonomy has only a root, so there is nothing to decide: give a taxonomy with at "
            "least one category below the root."
        )


def feature_owners(taxonomy: Taxonomy, local_features: Any, n_features: int, n_all: int) -> Codes:
    """Return the node that uses each local feature, or ``EVERYWHERE`` for global features.

    The result is empty if there are no local features. ``n_all`` includes the constant feature.
    """
    if not local_features:
        return np.empty(0, dtype=np.intp)
    owner = np.full(n_all, EVERYWHERE, dtype=np.intp)
    for node, columns in local_features.items():
        code = taxonomy.code(node)
        if code == 0:
            raise ParameterError(f"Local features need a node below the root. Got {node!r}.")
        if not isinstance(columns, slice):
            columns = np.atleast_1d(np.asarray(columns))
            if columns.dtype.kind not in "iu" or np.any(columns >= n_features):
                raise ParameterError(
                    f"local_features of {node!r} must be numbers of columns of X, which has "
                    f"{n_features}, or a slice. Got {columns.tolist()!r}."
                )
        places = np.arange(n_features)[columns]
        if np.any(owner[places] != EVERYWHERE):
            twice = places[owner[places] != EVERYWHERE][0]
            raise ParameterError(
                f"Column {twice} of X is a local feature of two nodes; give it one."
            )
        owner[places] = code
    return owner


def global_norms(X: Matrix, owner: Codes) -> Floats:
    """Return the squared lengths of items without their local features."""
    shared = owner == EVERYWHERE
    if is_sparse(X):
        squares = type(X)((X.data.astype(np.float64) ** 2, X.indices, X.indptr), shape=X.shape)
        return np.asarray(squares @ shared.astype(np.float64)).ravel()
    values = np.asarray(X, dtype=np.float64)[:, shared] ** 2
    return np.asarray(values.sum(axis=1))


def is_same_tree(one: Tree | LabelledDag, other: Tree | LabelledDag) -> bool:
    """Return whether two trees, or two DAGs, have the same labellings and losses."""
    if isinstance(one, LabelledDag) and isinstance(other, LabelledDag):
        return (
            np.array_equal(one.indptr, other.indptr)
            and np.array_equal(one.indices, other.indices)
            and np.array_equal(one.costs, other.costs)
            and one[3:] == other[3:]
        )
    if isinstance(one, LabelledDag) or isinstance(other, LabelledDag):
        return False
    return (
        np.array_equal(one.parent, other.parent)
        and np.array_equal(one.up, other.up)
        and np.array_equal(one.loss, other.loss)
    )


def node_weights(W: Reals, tree: Tree | LabelledDag) -> Reals:
    """Return the weights of nodes in consistent labellings, (n_rows, n_nodes)."""
    to_nodes = graph_node_map(tree) if isinstance(tree, LabelledDag) else node_map(tree)
    weights = np.empty((len(W), to_nodes.shape[1]), dtype=W.dtype)
    for begin in range(0, len(W), WEIGHT_ROWS_AT_A_TIME):
        end = begin + WEIGHT_ROWS_AT_A_TIME
        weights[begin:end] = W[begin:end] @ to_nodes
    return weights


def zero_loss(tree: Tree | LabelledDag) -> Tree | LabelledDag:
    """Return the tree, or the DAG with all its labellings, without losses."""
    if isinstance(tree, LabelledDag):
        return tree._replace(costs=np.zeros_like(tree.costs), is_closed=False)
    return tree._replace(loss=np.zeros_like(tree.loss))

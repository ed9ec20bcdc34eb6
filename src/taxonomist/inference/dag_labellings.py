"""Consistent labellings of a DAG: the best one, max-marginals and marginal probabilities.

This is to a DAG what ``taxonomist.inference.labellings`` is to a tree. A labelling is consistent if
all parents of every positive node are positive, so it is closed under ancestors; its score is the
sum of the gains of its positive nodes.

best            by a minimum cut, exact on every DAG; see ``taxonomist.compiled.closures``
max-marginals   by a junction tree if it is small, otherwise by a minimum cut for each node: exact
marginals       by a junction tree if it is small, otherwise approximate: a node with several
                parents adds an equal share of its sum to each, which bounds the sum over all
                labellings from above and is exact on trees
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled import cliques, dag_labellings
from taxonomist.compiled.closures import closure_scratch, make_dag
from taxonomist.inference.junction_tree import eliminate, junction_tree
from taxonomist.inference.labellings import best_temperature

if TYPE_CHECKING:
    from taxonomist._typing import Bools, Codes, Floats, Integers, Reals
    from taxonomist.compiled.closures import Dag
    from taxonomist.inference.junction_tree import JunctionTree

MAX_CLOSED_STATES = 2**17
"""The largest junction tree of consistent labellings that is used, in states of all cliques."""

MAX_SUMMED_STATES = 2**23
"""The largest number of states, those of a junction tree times items, for fitting a temperature."""


@dataclass(frozen=True, eq=False)
class DagLabellings:
    """The consistent labellings of a DAG.

    Attributes
    ----------
    indptr, indices
        The parents of each node as CSR arrays. Parents come before their children.
    is_category
        Whether each node is a category. The labels of a labelling are its positive categories
        without positive children.
    least
        The minimum number of labels. ``max_marginals`` ignores it; ``marginals`` only checks
        whether it is above 0.
    """

    indptr: Codes
    indices: Codes
    is_category: Bools
    least: int = 0

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.indptr) - 1

    @property
    def dag(self) -> Dag:
        """The graph for compiled loops."""
        return make_dag(self.indptr, self.indices)

    @property
    def junction_tree(self) -> JunctionTree | None:
        """The junction tree of the consistent labellings, or None if it is too large."""
        ends, parents = (np.asarray(part, np.intp) for part in (self.indptr, self.indices))
        return _closed_tree(ends.tobytes(), parents.tobytes())

    def depths(self) -> Codes:
        """Return the number of edges of the longest path from the root to each node."""
        depth = np.zeros(self.n_nodes, dtype=np.intp)
        for j in range(1, self.n_nodes):
            depth[j] = depth[self._parents(j)].max() + 1
        return depth

    def best(self, gains: Reals) -> Bools:
        """Return the best labelling of each item with at least ``least`` labels.

        Parameters
        ----------
        gains
            What each node adds to the score, (n_items, n_nodes).

        Returns
        -------
        ndarray, shape (n_items, n_nodes), bool
            Exact for ``least`` 0 and 1. More labels are added one after another, each the best one
            given those before. If no labelling has ``least`` labels, the result has fewer.
        """
        found = np.zeros(np.shape(gains), dtype=bool)
        dag = self.dag
        dag_labellings.best_dag_labellings(
            dag, self.is_category, self.least, gains, closure_scratch(dag), found
        )
        return found

    def max_marginals(self, gains: Reals) -> Floats:
        """Return the best score with each node minus the best without it, (n_items, n_nodes)."""
        found = np.zeros(np.shape(gains))
        tree = self.junction_tree
        if tree is None:
            dag = self.dag
            dag_labellings.dag_max_marginals(dag, gains, closure_scratch(dag), found)
        else:
            scratch = cliques.clique_scratch(tree.cliques)
            cliques.clique_max_marginals(tree.cliques, gains, scratch, found)
        return found

    def values(self, gains: Reals) -> Floats:
        """Return the gain of each node plus the best gain below it, (n_items, n_nodes).

        A node with several parents adds an equal share to each of them.
        """
        found = np.zeros(np.shape(gains))
        dag_labellings.shared_values(self.dag, gains, found)
        return found

    def is_open(self, truth: Bools) -> Bools:
        """Return whether all parents of each node are positive, (n_items, n_nodes)."""
        seen = np.ones(truth.shape, dtype=bool)
        for j in range(1, self.n_nodes):
            seen[:, j] = truth[:, self._parents(j)].all(axis=1)
        return seen

    def with_refusals(self, gains: Floats, off: Floats) -> Floats:
        """Return gains plus what each node adds if all its parents are positive and it is not.

        The parents of a node share it evenly, so that gains stay sums over nodes.
        """
        result: Floats = gains.copy()
        for j in range(1, self.n_nodes):
            above = self._parents(j)
            result[:, above] += off[:, [j]] / len(above)
        return result

    def marginals(self, gains: Reals, temperature: float = 1.0) -> Floats:
        """Return the probability of each node, (n_items, n_nodes).

        No node is more probable than any of its parents. If ``least`` is above 0, the probabilities
        are conditional on at least one label. Without a small junction tree they are approximate,
        and the condition is that the root is positive.
        """
        found = np.zeros(np.shape(gains))
        tree, needs_label = self.junction_tree, self.least > 0
        if tree is None:
            dag_labellings.shared_marginals(self.dag, needs_label, gains, 1 / temperature, found)
        else:
            cliques.clique_marginals(
                tree.cliques,
                self.is_category,
                needs_label,
                gains,
                1 / temperature,
                cliques.sum_scratch(tree.cliques),
                found,
            )
        dag_labellings.limit_to_parents(self.dag, found)
        return found

    def fit_temperature(self, gains: Reals, truth: Bools, weights: Floats) -> float:
        """Return the temperature that maximizes the likelihood of the true labellings.

        Parameters
        ----------
        gains
            Gains of held-out items, (n_items, n_nodes).
        truth
            The true labellings of the held-out items, (n_items, n_nodes). If ``least`` is above 0,
            items without a label are ignored. A large junction tree sees only some of the items.
        weights
            The weight of each item.
        """
        if self.least > 0:
            has_label = truth[:, self.is_category].any(axis=1)
            gains, truth, weights = gains[has_label], truth[has_label], weights[has_label]
        if self.junction_tree is not None:
            n_kept = max(1, MAX_SUMMED_STATES // self.junction_tree.n_states)
            kept = np.arange(0, len(gains), -(-len(gains) // n_kept) or 1)
            gains, truth, weights = gains[kept], truth[kept], weights[kept]
        scores = np.einsum("ij,ij->i", gains, truth)

        def cost(scale: float) -> float:
            return float(weights @ (self.log_partitions(gains, scale) - scale * scores))

        return best_temperature(cost, gains)

    def log_partitions(self, gains: Reals, scale: float) -> Floats:
        """Return log Σ_y exp(scale x score(y)) of each item, or an upper bound; see ``marginals``.

        If ``least`` is above 0, the sum is over labellings with a label.
        """
        logs = np.zeros(len(gains))
        tree, needs_label = self.junction_tree, self.least > 0
        if tree is None:
            dag_labellings.shared_log_partitions(self.dag, needs_label, gains, scale, logs)
        else:
            scratch = cliques.sum_scratch(tree.cliques)
            cliques.clique_log_partitions(
                tree.cliques, self.is_category, needs_label, gains, scale, scratch, logs
            )
        return logs

    def _parents(self, j: int) -> Codes:
        return self.indices[self.indptr[j] : self.indptr[j + 1]]


@lru_cache(maxsize=8)
def _closed_tree(indptr: bytes, indices: bytes) -> JunctionTree | None:
    """Return the junction tree of the consistent labellings, or None if it is too large."""
    return closed_tree(np.frombuffer(indptr, np.intp), np.frombuffer(indices, np.intp))


def closed_tree(
    indptr: Codes, indices: Codes, max_states: int = MAX_CLOSED_STATES
) -> JunctionTree | None:
    """Return the junction tree of the labellings that are closed under ancestors.

    Parameters
    ----------
    indptr, indices
        The parents of each node as CSR arrays.
    max_states
        The largest number of states of all cliques; None is returned if there are more.
    """
    order = eliminate(indptr, indices)
    if order is None:
        return None
    above = ancestor_sets(indptr, indices)

    def extend(states: Integers, nodes: list[int], node: int) -> list[Bools]:
        needed = [k for k, other in enumerate(nodes) if other in above[node]]
        is_whole: Bools = np.all(states[:, needed] > 0, axis=1)
        return [np.ones(len(states), dtype=bool), is_whole]

    return junction_tree(order, extend, 2, max_states)


def ancestor_sets(indptr: Codes, indices: Codes) -> list[set[int]]:
    """Return the ancestors of each node, itself excluded."""
    above: list[set[int]] = []
    for j in range(len(indptr) - 1):
        parents = indices[indptr[j] : indptr[j + 1]].tolist()
        above.append(set(parents).union(*(above[p] for p in parents)))
    return above

"""``MarginScorer``: margins of one classifier per node, and top-down decisions.

Decisions are made from the top down [RSSS06, Sec. 5]: a node is positive for an item if its
classifier accepts the item and all its parents are positive. For nodes with several parents, this
is the only rule that gives label sets closed under ancestors without adding nodes that their
classifier rejects.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy.sparse import csc_array, csr_array

from taxonomist.inference.scorers import DenseScorer, ScorePart, strongest
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Bools, Codes, Floats, Integers, Matrix
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy

MARGINS_AT_A_TIME = 2**24
"""Margins held in memory at a time, 128 MiB."""


@dataclass(frozen=True, eq=False)
class MarginScorer(DenseScorer):
    """Scores of categories from margins of nodes, which are the raw scores.

    The score of a category is the minimum of the margins of the category and all its ancestors. If
    the category is an inner node, the score is also limited by the negative margins of its
    children. A score is therefore positive exactly for the most specific labels of the predicted
    set. A score that no classifier limits is set to 1 beyond the other scores of the item.

    Attributes
    ----------
    taxonomy
        The taxonomy.
    nodes
        The node of each category.
    constants
        The infinite margins of nodes without a classifier, (n_nodes,). NaN for other nodes.
    """

    taxonomy: Taxonomy
    nodes: Codes
    constants: Floats

    def margins(self, X: Matrix, codes: Codes, out: Floats) -> None:
        """Write the margins of nodes with a classifier into ``out``, (n_nodes, n_items)."""
        raise NotImplementedError

    def accepts(self, code: int, X: Matrix) -> Bools:
        """Return whether the classifier of a node accepts each item."""
        raise NotImplementedError

    def shares(self, code: int, row: Matrix) -> tuple[Integers, Floats]:
        """Return features and their contributions to the margin of a node for one item."""
        raise NotImplementedError

    @property
    def n_categories(self) -> int:  # type: ignore[override]
        """The number of categories."""
        return len(self.nodes)

    @property
    def block_size(self) -> int:
        """The number of items to score per block if not all scores are kept."""
        return max(1, MARGINS_AT_A_TIME // self.taxonomy.n_nodes)

    def raw(self, X: Matrix, n_threads: int = 1) -> Floats:  # noqa: ARG002
        """Return the margins of all nodes, (n_items, n_nodes)."""
        margins = np.repeat(self.constants[:, None], X.shape[0], axis=1)
        self.margins(X, np.flatnonzero(np.isnan(self.constants)), margins)
        return margins.T

    def categories(self, raw: Any) -> Floats:
        """Return finite category scores."""
        return _finite(category_scores(self.taxonomy, raw.T, self.nodes).T)

    def best_of(self, raw: Any, k: int) -> tuple[Codes, Floats]:
        """Return the best categories; ties are broken by the margins of the categories.

        Ties are common, because all categories below a node with a low margin have its score.
        """
        scores = category_scores(self.taxonomy, raw.T, self.nodes).T
        best = np.lexsort((-raw[:, self.nodes], -scores))[:, :k]
        return best, np.take_along_axis(_finite(scores), best, axis=1)

    def explain(self, row: Matrix, category: int, against: int | None, n: int) -> list[ScorePart]:
        """Explain the margin that limits a score; see ``Explains``."""
        margins = self.raw(row)
        scores = self.categories(margins)[0]
        parts = [self._limit(row, margins[0], category, float(scores[category]), 1.0, n)]
        if against is not None:
            parts.append(self._limit(row, margins[0], against, float(scores[against]), -1.0, n))
        return parts

    def _limit(
        self, row: Matrix, margins: Floats, category: int, score: float, factor: float, n: int
    ) -> ScorePart:
        """Return the contribution of the node with the smallest margin."""
        taxonomy, code = self.taxonomy, int(self.nodes[category])
        above = taxonomy.ancestor_matrix()[[code]].indices
        children = children_of(taxonomy, code)
        limits = np.concatenate([margins[above], -margins[children]])
        at = int(np.argmin(np.where(np.isclose(limits, score), -np.inf, limits)))
        node = int(np.concatenate([above, children])[at])
        sign = 1.0 if at < len(above) else -1.0
        if not np.isnan(self.constants[node]):
            return ScorePart(node, factor * score)
        features, shares = self.shares(node, row)
        found, rest = strongest(factor * sign * shares, features, n)
        return ScorePart(node, factor * sign * float(shares.sum()), found, rest)


@dataclass(frozen=True, eq=False)
class TopDownDecision:
    """Predicts the nodes that are accepted by their classifier and whose parents are predicted.

    Attributes
    ----------
    targets
        The categories.
    min_labels
        The minimum number of labels. If there are fewer, the best categories are added.
    """

    targets: Targets
    min_labels: int | None

    def sets(self, scored: Scored) -> CSR:
        """Return the label set of each item as a boolean matrix of nodes; see ``Decision``."""
        scorer = cast("MarginScorer", scored.scorer)
        X, taxonomy = scored.X, scorer.taxonomy
        everyone = np.arange(X.shape[0])
        members: list[Codes] = []
        for code, constant in enumerate(scorer.constants.tolist()):
            reached = in_all(members, parents_of(taxonomy, code), everyone)
            if constant == -np.inf:
                reached = reached[:0]
            elif np.isnan(constant) and len(reached):
                whole = len(reached) == len(everyone)
                reached = reached[scorer.accepts(code, X if whole else X[reached])]
            members.append(reached)
        if taxonomy.has_artificial_root:
            members[0] = np.unique(np.concatenate(members[1:]))
        ends = np.cumsum([0, *map(len, members)])
        indices = np.concatenate(members)
        shape = (X.shape[0], taxonomy.n_nodes)
        closed = csr_array(csc_array((np.ones(len(indices), bool), indices, ends), shape=shape))
        return self._with_least_labels(scored, closed) if self.min_labels else closed

    def scores(self, scored: Scored) -> Floats:
        """Return the scores of categories."""
        return scored.categories

    def best(self, scored: Scored, k: int) -> tuple[Codes, Floats]:
        """Return the best categories; see ``Decision``."""
        return scored.best(k)

    def _with_least_labels(self, scored: Scored, closed: CSR) -> CSR:
        """Add the best categories to label sets with fewer than ``min_labels`` labels."""
        targets, least = self.targets, self.min_labels or 0
        taxonomy = targets.categories.taxonomy
        n_labels = labels.most_specific(taxonomy, closed)[:, targets.nodes].sum(axis=1)
        few = np.flatnonzero(n_labels < least)
        if not len(few):
            return closed
        columns, _ = scored.scorer.best(scored.X[few], least)
        where = np.repeat(few, least), columns.ravel()
        shape = (closed.shape[0], len(targets.categories))
        added = csr_array((np.ones(columns.size, bool), where), shape=shape)
        return closed + targets.close(added)


def category_scores(taxonomy: Taxonomy, margins: Floats, codes: Codes) -> Floats:
    """Return the margin by which each category is a most specific label.

    Parameters
    ----------
    taxonomy
        The taxonomy, a tree or a DAG.
    margins
        Margins of nodes, (n_nodes, n_items), positive if a classifier accepts the item. They may be
        infinite.
    codes
        The node of each category.

    Returns
    -------
    ndarray, shape (n_categories, n_items)
        Positive if and only if the category and all its ancestors are positive and none of its
        children is predicted.
    """
    low = limited_by_parents(taxonomy, margins)
    scores = low[codes]
    for score, code in zip(scores, codes.tolist(), strict=True):
        for child in children_of(taxonomy, code):
            others = [low[p] for p in parents_of(taxonomy, int(child)) if p != code]
            np.minimum(score, -reduce(np.minimum, others, margins[child]), out=score)
    return scores


def limited_by_parents(taxonomy: Taxonomy, margins: Floats) -> Floats:
    """Return the smallest margin of each node and its ancestors, (n_nodes, n_items)."""
    low = margins.copy()
    for code in range(taxonomy.n_nodes):
        for parent in parents_of(taxonomy, code):
            np.minimum(low[code], low[parent], out=low[code])
    return low


def parents_of(taxonomy: Taxonomy, code: int) -> tuple[int, ...]:
    """Return the codes of the parents of a node."""
    start, end = taxonomy.parent_indptr[code : code + 2]
    return tuple(taxonomy.parent_indices[start:end].tolist())


def children_of(taxonomy: Taxonomy, code: int) -> Codes:
    """Return the codes of the children of a node."""
    return taxonomy.child_indices[slice(*taxonomy.child_indptr[code : code + 2])]


def in_all(members: Sequence[Codes], nodes: tuple[int, ...], everyone: Codes) -> Codes:
    """Return the items that belong to all nodes, in ascending order."""
    if not nodes:
        return everyone
    return reduce(
        lambda a, b: np.intersect1d(a, b, assume_unique=True), [members[node] for node in nodes]
    )


def _finite(scores: Floats) -> Floats:
    """Replace infinite scores by values 1 beyond 0 and the finite scores of the item."""
    inside = np.where(np.isfinite(scores), scores, 0.0)
    above = inside.max(axis=1, keepdims=True) + 1
    below = inside.min(axis=1, keepdims=True) - 1
    bounded: Floats = np.where(
        np.isposinf(scores), above, np.where(np.isneginf(scores), below, scores)
    )
    return bounded

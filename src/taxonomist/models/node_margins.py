"""``MarginScorer``: margins of a classifier for each node, and decisions from the top down.

Decisions are made from the top down [RSSS06, Sec. 5]: a node is positive for an item if its
classifier says so and all its parents are positive. With several parents that is the only rule
under which label sets are closed under ancestors without a classifier being overruled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from taxonomist.inference.scorers import DenseScorer, ScorePart, strongest
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Bools, Codes, Floats
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy

MARGINS_AT_A_TIME = 2**24
"""Margins held at once, 128 MiB."""


@dataclass(frozen=True, eq=False)
class MarginScorer(DenseScorer):
    """The score of a category is the least margin that makes it a label.

    That is the least of the margins of a category and all nodes above it. Where items may stop at
    an inner node, its score is also at most how clearly they are in none of its children. A score
    is so positive exactly for the most specific labels of the set that is predicted. What no
    classifier limits is 1 beyond the item's other scores. Raw scores are the margins of nodes.

    Attributes
    ----------
    taxonomy
        The taxonomy.
    nodes
        The node of each category.
    constants
        The margin of nodes without a classifier, infinite, (n_nodes,); NaN for those with one.
    """

    taxonomy: Taxonomy
    nodes: Codes
    constants: Floats

    def margins(self, X: Any, codes: Codes, out: Floats) -> None:
        """Write the margins of nodes with a classifier into rows of (n_nodes, n_items)."""
        raise NotImplementedError

    def accepts(self, code: int, X: Any) -> Bools:
        """Return for which items the classifier of a node says yes."""
        raise NotImplementedError

    def shares(self, code: int, row: Any) -> tuple[Any, Floats]:
        """Return features, and what each adds to the margin of a node for one item."""
        raise NotImplementedError

    @property
    def n_categories(self) -> int:  # type: ignore[override]
        """The number of categories."""
        return len(self.nodes)

    @property
    def block_size(self) -> int:
        """How many items to score at a time when not all scores are kept."""
        return max(1, MARGINS_AT_A_TIME // self.taxonomy.n_nodes)

    def raw(self, X: Any, n_threads: int = 1) -> Floats:  # noqa: ARG002
        """Return the margins of all nodes, (n_items, n_nodes)."""
        margins = np.repeat(self.constants[:, None], X.shape[0], axis=1)
        self.margins(X, np.flatnonzero(np.isnan(self.constants)), margins)
        return margins.T

    def categories(self, raw: Any) -> Floats:
        """Return the scores of categories, finite."""
        return _finite(category_scores(self.taxonomy, raw.T, self.nodes).T)

    def best_of(self, raw: Any, k: int) -> tuple[Codes, Floats]:
        """Return the best categories; of equal scores, by the categories' own margins.

        Categories below a node with a low margin all have its score.
        """
        scores = category_scores(self.taxonomy, raw.T, self.nodes).T
        best = np.lexsort((-raw[:, self.nodes], -scores))[:, :k]
        return best, np.take_along_axis(_finite(scores), best, axis=1)

    def explain(self, row: Any, category: int, against: int | None, n: int) -> list[ScorePart]:
        """Return the margin that limits a score, feature by feature; see ``Explains``."""
        margins = self.raw(row)
        scores = self.categories(margins)[0]
        parts = [self._limit(row, margins[0], category, float(scores[category]), 1.0, n)]
        if against is not None:
            parts.append(self._limit(row, margins[0], against, float(scores[against]), -1.0, n))
        return parts

    def _limit(
        self, row: Any, margins: Floats, category: int, score: float, factor: float, n: int
    ) -> ScorePart:
        """Return what the node with the least margin adds to a score."""
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
    """Nodes that their classifiers accept, as long as all their parents are accepted.

    Attributes
    ----------
    targets
        The categories.
    min_labels
        The least number of labels; the best categories are added where there are fewer.
    """

    targets: Targets
    min_labels: int | None

    def sets(self, scored: Scored) -> CSR:
        """Return which nodes each item has; see ``Decision``."""
        scorer: Any = scored.scorer
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
        """Return label sets to which the best categories are added where there are too few."""
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
    """Return the least margin that makes each category a most specific label.

    Parameters
    ----------
    taxonomy
        The taxonomy, a tree or a DAG.
    margins
        (n_nodes, n_items), positive where a classifier says yes; may be infinite.
    codes
        Node of each category.

    Returns
    -------
    ndarray, shape (n_categories, n_items)
        Positive exactly where a category and all above it are positive and no child is that has no
        other parent which is not.
    """
    low = margins.copy()
    for code in range(taxonomy.n_nodes):
        for parent in parents_of(taxonomy, code):
            np.minimum(low[code], low[parent], out=low[code])
    scores = low[codes]
    for score, code in zip(scores, codes.tolist(), strict=True):
        for child in children_of(taxonomy, code):
            others = [low[p] for p in parents_of(taxonomy, int(child)) if p != code]
            np.minimum(score, -reduce(np.minimum, others, margins[child]), out=score)
    return scores


def parents_of(taxonomy: Taxonomy, code: int) -> tuple[int, ...]:
    """Return the codes of the parents of a node."""
    start, end = taxonomy.parent_indptr[code : code + 2]
    return tuple(taxonomy.parent_indices[start:end].tolist())


def children_of(taxonomy: Taxonomy, code: int) -> Codes:
    """Return the codes of the children of a node."""
    return taxonomy.child_indices[slice(*taxonomy.child_indptr[code : code + 2])]


def in_all(members: Sequence[Codes], nodes: tuple[int, ...], everyone: Codes) -> Codes:
    """Return the items that all nodes have, in order."""
    if not nodes:
        return everyone
    return reduce(
        lambda a, b: np.intersect1d(a, b, assume_unique=True), [members[node] for node in nodes]
    )


def _finite(scores: Floats) -> Floats:
    """Return scores whose infinite values are 1 beyond 0 and the finite ones of the item."""
    inside = np.where(np.isfinite(scores), scores, 0.0)
    above = inside.max(axis=1, keepdims=True) + 1
    below = inside.min(axis=1, keepdims=True) - 1
    bounded: Floats = np.where(
        np.isposinf(scores), above, np.where(np.isneginf(scores), below, scores)
    )
    return bounded

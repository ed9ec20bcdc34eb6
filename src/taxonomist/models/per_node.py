"""What models with a classifier for each node have in common: problems, decisions, scores.

Decisions are made from the top down [RSSS06, Sec. 5]: a node is positive for an item if its
classifier says so and all its parents are positive. With several parents that is the only rule
under which label sets are closed under ancestors without a classifier being overruled.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array
from sklearn.base import BaseEstimator
from sklearn.utils import gen_batches, get_tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from taxonomist.models.answers import SetAnswers
from taxonomist.models.set_targets import SetTargets
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taxonomist._typing import CSR, Bools, Codes, Floats
    from taxonomist.taxonomy import Taxonomy

BLOCK = 2**24
"""Margins that are held at once, 128 MiB."""


class NodeProblem(NamedTuple):
    """The items that a node's classifier learns from, and which of them the node has."""

    code: int
    parents: tuple[int, ...]
    items: Codes
    is_in: Bools


class PerNodeModel(SetAnswers, BaseEstimator):
    """A model with a classifier for each node, and decisions from the top down.

    A subclass has the parameters ``taxonomy`` and ``min_labels``. Nodes whose items are all in or
    all out have no classifier, only an answer; neither has a root that only joins the taxonomy.
    """

    taxonomy: Taxonomy | None
    min_labels: int | None
    taxonomy_: Taxonomy
    node_constants_: dict[Any, bool]
    _is_top_down = True
    """Whether a node learns only from items that all its parents have."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""

    @abstractmethod
    def _learn(self, X: Any, problems: Iterator[NodeProblem], weights: Floats | None) -> None:
        """Learn the classifiers of all nodes that need one."""

    @abstractmethod
    def _accepts(self, code: int, X: Any) -> Bools:
        """Return for which items the classifier of a node says yes."""

    @abstractmethod
    def _margins(self, X: Any, codes: Codes, out: Floats) -> None:
        """Write the margins of nodes with a classifier into rows of (n_nodes, n_items)."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PerNodeModel:
        """Learn a classifier for each node.

        Parameters
        ----------
        X
            Items, dense or sparse, (n_items, n_features).
        y
            Label sets: an iterable of node ids for each item, or an indicator matrix over all nodes
            or all leaves (a data frame names its columns). Ancestors of a label may be given or
            not; both mean the same. One id per item makes a model of single labels.
        sample_weight
            Weights of the items.

        Returns
        -------
        PerNodeModel
            The model itself.

        Raises
        ------
        LabelError
            If a label is not in the taxonomy.
        """
        self._check_parameters()
        X = self._validate(X, reset=True)
        targets = SetTargets.from_labels(self.taxonomy, y, X)
        _check_least(self.min_labels, len(targets.categories))
        self.classes_ = targets.classes
        self.taxonomy_ = targets.categories.taxonomy
        self._targets = targets.select(np.arange(0))
        self._constants = np.full(self.taxonomy_.n_nodes, np.nan)
        closed, weights = csc_array(targets.close(targets.labels)), None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        problems = node_problems(self.taxonomy_, closed, weights, self._is_top_down)
        self._learn(X, self._open(problems), weights)
        names, answers = self._node_names(), (self._constants > 0).tolist()
        without = np.flatnonzero(~np.isnan(self._constants))
        first = int(self.taxonomy_.has_artificial_root)
        self.node_constants_ = {names[z]: answers[z] for z in without.tolist() if z >= first}
        return self

    def _open(self, problems: Iterator[NodeProblem]) -> Iterator[NodeProblem]:
        """Yield the problems that need a classifier; remember the answers of the others."""
        for problem in problems:
            if problem.is_in.all() and len(problem.items):
                self._constants[problem.code] = np.inf
            elif not problem.is_in.any():
                self._constants[problem.code] = -np.inf
            else:
                yield problem

    def _node_names(self) -> list[Any]:
        """Return what users call the nodes: their ids, or, without a taxonomy, labels."""
        names: list[Any] = list(self.taxonomy_.nodes)
        if self._targets.is_flat:
            codes = self.taxonomy_.codes(self._targets.categories.ids).tolist()
            for code, label in zip(codes, self.classes_.tolist(), strict=True):
                names[code] = label
        return names

    def _validate(self, X: Any, reset: bool) -> Any:
        """Return checked items."""
        return narrow_indices(
            validate_data(
                self,
                X,
                accept_sparse="csr",
                dtype=(np.float64, np.float32),
                ensure_all_finite="allow-nan" if get_tags(self).input_tags.allow_nan else True,
                reset=reset,
            )
        )

    def _checked(self, X: Any) -> Any:
        """Return items ready to be classified."""
        check_is_fitted(self)
        return self._validate(X, reset=False)

    # Predicting ------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Return the score of every category: the least margin that makes it a label.

        That is the least of the margins of a category and all nodes above it. Where items may
        stop at an inner node, its score is also at most how clearly they are in none of its
        children. A score is so positive exactly for the most specific labels of the set that is
        predicted. What no classifier limits is 1 beyond the item's other scores.

        Parameters
        ----------
        X
            Items as in ``fit``.

        Returns
        -------
        ndarray, shape (n_items, n_classes)
            Scores in the order of ``classes_``. For a model of single labels with two classes
            (n_items,): how much more the second has.
        """
        X = self._checked(X)
        scores = np.vstack([_finite(scores) for _, scores, _ in self._scored(X)])
        if self._targets.is_single and len(self.classes_) == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def _scored(self, X: Any) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield blocks of items with the scores and the own margins of all categories."""
        taxonomy = self.taxonomy_
        codes = taxonomy.codes(self._targets.categories.ids)
        with_classifier = np.flatnonzero(np.isnan(self._constants))
        for block in gen_batches(X.shape[0], max(1, BLOCK // taxonomy.n_nodes)):
            items = X[block]
            margins = np.repeat(self._constants[:, None], items.shape[0], axis=1)
            self._margins(items, with_classifier, margins)
            yield block, category_scores(taxonomy, margins, codes).T, margins[codes].T

    def _best_columns(self, X: Any) -> Codes:
        """Return the column of the best category of each item."""
        return self._ranked(self._checked(X), 1)[:, 0]

    def _ranked(self, X: Any, k: int) -> Codes:
        """Return the best k columns of each item; of equal scores, by the categories' margins.

        Categories below a node with a low margin all have its score.
        """
        ranked = [np.lexsort((-own, -scores))[:, :k] for _, scores, own in self._scored(X)]
        return np.vstack(ranked)

    def _closed_sets(self, X: Any) -> CSR:
        """Return which nodes of the taxonomy each item has, (n_items, n_nodes) boolean."""
        X, taxonomy = self._checked(X), self.taxonomy_
        everyone = np.arange(X.shape[0])
        members: list[Codes] = []
        for code, constant in enumerate(self._constants.tolist()):
            reached = _shared(members, parents_of(taxonomy, code), everyone)
            if constant == -np.inf:
                reached = reached[:0]
            elif np.isnan(constant) and len(reached):
                whole = len(reached) == len(everyone)
                reached = reached[self._accepts(code, X if whole else X[reached])]
            members.append(reached)
        if taxonomy.has_artificial_root:
            members[0] = np.unique(np.concatenate(members[1:]))
        ends = np.cumsum([0, *map(len, members)])
        indices = np.concatenate(members)
        shape = (X.shape[0], taxonomy.n_nodes)
        closed = csr_array(csc_array((np.ones(len(indices), bool), indices, ends), shape=shape))
        return self._with_least_labels(X, closed) if self.min_labels else closed

    def _with_least_labels(self, X: Any, closed: CSR) -> CSR:
        """Return label sets to which the best categories are added where there are too few."""
        targets, least = self._targets, self.min_labels or 0
        codes = self.taxonomy_.codes(targets.categories.ids)
        n_labels = labels.most_specific(self.taxonomy_, closed)[:, codes].sum(axis=1)
        few = np.flatnonzero(n_labels < least)
        if not len(few):
            return closed
        columns = self._ranked(X[few], least)
        where = np.repeat(few, least), columns.ravel()
        shape = (X.shape[0], len(codes))
        added = csr_array((np.ones(columns.size, bool), where), shape=shape)
        return closed + targets.close(added)

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn is to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def node_problems(
    taxonomy: Taxonomy, closed: Any, weights: Floats | None, is_top_down: bool
) -> Iterator[NodeProblem]:
    """Yield what each node learns from; nodes with the same parents follow each other.

    ``closed`` holds label sets closed under ancestors, (n_items, n_nodes) CSC. Items without weight
    are left out. A root that only joins the taxonomy has all items, also those without labels.
    """
    everyone = np.arange(closed.shape[0]) if weights is None else np.flatnonzero(weights)
    if not len(everyone):
        raise ValueError("No item has a weight above 0, so there is nothing to learn.")
    ends = closed.indptr
    members = [
        np.intersect1d(everyone, closed.indices[ends[code] : ends[code + 1]], assume_unique=True)
        for code in range(taxonomy.n_nodes)
    ]
    if taxonomy.has_artificial_root:
        members[0] = everyone
    above = [parents_of(taxonomy, code) for code in range(taxonomy.n_nodes)]
    for code in sorted(range(taxonomy.n_nodes), key=above.__getitem__):
        seen = _shared(members, above[code], everyone) if is_top_down else everyone
        is_in = np.isin(seen, members[code], assume_unique=True)
        yield NodeProblem(code, above[code], seen, is_in)


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
        for child in taxonomy.child_indices[slice(*taxonomy.child_indptr[code : code + 2])]:
            others = [low[p] for p in parents_of(taxonomy, int(child)) if p != code]
            np.minimum(score, -reduce(np.minimum, others, margins[child]), out=score)
    return scores


def parents_of(taxonomy: Taxonomy, code: int) -> tuple[int, ...]:
    """Return the codes of the parents of a node."""
    start, end = taxonomy.parent_indptr[code : code + 2]
    return tuple(taxonomy.parent_indices[start:end].tolist())


def _shared(members: Sequence[Codes], nodes: tuple[int, ...], everyone: Codes) -> Codes:
    """Return the items that all nodes have, in order."""
    if not nodes:
        return everyone
    return reduce(
        lambda a, b: np.intersect1d(a, b, assume_unique=True), [members[node] for node in nodes]
    )


def narrow_indices(X: Any) -> Any:
    """Return items with 32-bit indices, if they are sparse and fit: liblinear takes no others."""
    if not hasattr(X, "indptr") or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    indices, indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return type(X)((X.data, indices, indptr), shape=X.shape)


def _finite(scores: Floats) -> Floats:
    """Return scores whose infinite values are 1 beyond 0 and the finite ones of the item."""
    inside = np.where(np.isfinite(scores), scores, 0.0)
    above = inside.max(axis=1, keepdims=True) + 1
    below = inside.min(axis=1, keepdims=True) - 1
    bounded: Floats = np.where(
        np.isposinf(scores), above, np.where(np.isneginf(scores), below, scores)
    )
    return bounded


def _check_least(min_labels: int | None, n_categories: int) -> None:
    """Refuse a least number of labels that cannot be met."""
    if min_labels is not None and not 0 <= min_labels <= n_categories:
        raise ValueError(
            f"min_labels must be None or from 0 to {n_categories}, the number of categories. "
            f"Got {min_labels!r}."
        )

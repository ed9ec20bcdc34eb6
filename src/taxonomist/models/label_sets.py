"""What models of label sets have in common: fitting, decision rules, sets and rankings."""

from __future__ import annotations

import logging
from abc import abstractmethod
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted

from taxonomist.errors import LabelError
from taxonomist.inference.label_sets import choose, decision_rule, label_limits
from taxonomist.models.scoring import AttributeModel
from taxonomist.models.set_targets import SetTargets
from taxonomist.models.targets import item_costs
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.taxonomy import Taxonomy

logger = logging.getLogger(__name__)


class LabelSetModel(ClassifierMixin, AttributeModel):
    """A model that gives items sets of categories, closed under ancestors.

    A subclass has the parameters ``taxonomy``, ``C``, ``decision``, ``cv``, ``min_labels``,
    ``max_labels`` and ``warm_start`` beside those of ``AttributeModel``, and learns its weights
    in ``_learn``.
    """

    taxonomy: Taxonomy | None
    C: float
    decision: Any
    cv: int
    min_labels: int | None
    max_labels: int | None
    warm_start: bool

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""

    @abstractmethod
    def _learn(self, X: Any, targets: SetTargets, costs: Floats, start: Any = None) -> None:
        """Learn the weights, from a start if there is one, and set what scoring needs."""

    @abstractmethod
    def _start_of(self, items: Codes) -> Any:
        """Return from where learning on some of the items of the last fit may start."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LabelSetModel:
        """Learn the weights of all nodes, and what makes scores into label sets.

        Parameters
        ----------
        X
            Items, dense or sparse, (n_items, n_features); their Gram matrix, (n_items,
            n_items), with ``kernel="precomputed"``.
        y
            Label sets: an iterable of node ids for each item, or an indicator matrix over all nodes
            or all leaves (a data frame names its columns). Ancestors of a label may be given or
            not; both mean the same. One id per item makes a model of single labels.
        sample_weight
            Weights of the items; each multiplies C.

        Returns
        -------
        LabelSetModel
            The model itself.

        Raises
        ------
        LabelError
            If a label is not in the taxonomy.
        """
        self._check_parameters()
        rule = decision_rule(self.decision)
        X = self._validate(X, reset=True)
        targets = SetTargets.from_labels(self.taxonomy, y, X)
        costs = item_costs(self.C, sample_weight, X)
        self.label_limits_ = label_limits(targets.labels, self.min_labels, self.max_labels)
        everything = np.arange(len(costs))
        is_next = self.warm_start and hasattr(self, "_targets")
        self._learn(X, targets, costs, self._start_of(everything) if is_next else None)
        self._targets = targets.select(everything[:0])
        if not targets.is_single:
            self.decision_ = rule.fit(self._held_out_scores(X, targets, costs), targets.labels)
        return self

    def _held_out_scores(
        self, X: Any, targets: SetTargets, costs: Floats
    ) -> Iterator[tuple[Codes, Floats]]:
        """Yield blocks of items and their scores by a model that has not seen them."""
        folds = KFold(min(self.cv, X.shape[0]), shuffle=True, random_state=0)
        for train, test in folds.split(np.arange(X.shape[0])):
            logger.info("Scoring %d held-out items for the decision rule.", len(test))
            part = copy(self)
            inside = self._rows_of(X, train, train)
            part._learn(inside, targets.select(train), costs[train], self._start_of(train))
            for block, scores in part._scores().blocks(self._rows_of(X, test, train)):
                yield test[block], scores

    def _rows_of(self, X: Any, items: Codes, train: Codes) -> Any:
        """Return some items, with a precomputed kernel their values with the training items."""
        return X[np.ix_(items, train)] if self.kernel == "precomputed" else X[items]

    # Predicting ------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Return the score of every category.

        Parameters
        ----------
        X
            Items as in ``fit``; with a precomputed kernel, their values with the training items.

        Returns
        -------
        ndarray, shape (n_items, n_classes)
            Scores in the order of ``classes_``. For a model of single labels with two classes
            (n_items,): how much more the second has.
        """
        check_is_fitted(self)
        if self._targets.is_single:
            return super().decision_function(X)
        return self._scores().all(self._checked(X))

    def predict(self, X: Any) -> Any:
        """Return the label sets of items as an indicator matrix.

        Parameters
        ----------
        X
            Items as in ``decision_function``.

        Returns
        -------
        array, shape (n_items, n_columns)
            Closed under ancestors. The columns are those of the matrix that the model was fitted
            to, dense or sparse as that was; if it was fitted to sets of ids, ``classes_``, sparse.
            A model of single labels returns those, (n_items,).
        """
        check_is_fitted(self)
        targets = self._targets
        if targets.is_single:
            return super().predict(X)
        closed = self._closed(self._sets(X))
        taxonomy = self._categories.taxonomy
        columns = (
            taxonomy.codes(self._categories.ids) if targets.columns is None else targets.columns
        )
        chosen = closed[:, columns].astype(np.int64)
        return chosen.toarray() if targets.is_dense else chosen

    def predict_labels(self, X: Any) -> list[list[Any]]:
        """Return the labels of each item, from the general to the specific.

        The sets are closed under ancestors; a root that only joins the taxonomy is left out.
        """
        check_is_fitted(self)
        if self._targets.is_single:
            return super().predict_labels(X)
        sets = self._sets(X)
        if self.taxonomy is None:
            return [self.classes_[sets[[i]].indices].tolist() for i in range(sets.shape[0])]
        taxonomy = self._categories.taxonomy
        found = labels.decode_sets(taxonomy, self._closed(sets))
        hidden = {taxonomy.nodes[0]} - set(taxonomy.roots)
        return [[node for node in nodes if node not in hidden] for nodes in found]

    def predict_ranking(self, X: Any, k: int | None = None) -> tuple[Any, Floats]:
        """Return the categories of each item from the best score down.

        Parameters
        ----------
        X
            Items as in ``decision_function``.
        k
            How many; None means all.

        Returns
        -------
        labels : ndarray, shape (n_items, k)
        scores : ndarray, shape (n_items, k)
        """
        check_is_fitted(self)
        return self.predict_topk(X, len(self.classes_) if k is None else k)

    def predict_paths(self, X: Any) -> Any:
        """Return the paths from the top to the most specific labels of each item, as a list.

        In a DAG a node may have several paths; this is the first, ``Taxonomy.paths`` gives all.
        """
        check_is_fitted(self)
        if self._targets.is_single:
            return super().predict_paths(X)
        taxonomy, ids = self._categories.taxonomy, self._categories.ids
        sets = self._sets(X)
        path = {c: taxonomy.paths(ids[c], limit=1)[0] for c in np.unique(sets.indices).tolist()}
        found = [sets[[i]].indices.tolist() for i in range(sets.shape[0])]
        return [[path[c] for c in columns] for columns in found]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of items whose label set is exactly right."""
        check_is_fitted(self)
        if self._targets.is_single or labels.is_indicator(y):
            return float(super().score(X, y, sample_weight))
        truth, found = self._closed(self._truth(y)), self._closed(self._sets(X))
        wrong = np.diff((truth != found).tocsr().indptr) > 0
        return float(np.average(~wrong, weights=sample_weight))

    def _truth(self, y: Any) -> CSR:
        """Return label sets of new items over the categories."""
        if self.taxonomy is not None:
            return self._categories.encode_sets(y)
        column = {label: c for c, label in enumerate(self.classes_.tolist())}
        try:
            sets = [[self._categories.ids[column[label]] for label in item] for item in y]
        except KeyError as error:
            raise LabelError(f"{error.args[0]!r} is not a category of the model.") from None
        return self._categories.encode_sets(sets)

    def _sets(self, X: Any) -> CSR:
        """Return the categories of items, (n_items, n_categories)."""
        from scipy.sparse import csr_array, vstack

        least, most = self.label_limits_
        chosen = [
            choose(self.decision_.excess(scores), least, most)
            for _, scores in self._scores().blocks(self._checked(X))
        ]
        return csr_array(vstack(chosen, format="csr"))

    def _closed(self, sets: CSR) -> CSR:
        """Return which nodes of the taxonomy sets of categories imply."""
        taxonomy = self._categories.taxonomy
        return sets @ taxonomy.ancestor_matrix()[taxonomy.codes(self._categories.ids)]

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn is to know."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

"""What models of label sets have in common: fitting, decision rules, sets and rankings."""

from __future__ import annotations

import logging
from abc import abstractmethod
from copy import copy
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted

from taxonomist.inference.label_sets import choose, decision_rule, label_limits
from taxonomist.models.answers import SetAnswers
from taxonomist.models.scoring import AttributeModel
from taxonomist.models.set_targets import SetTargets
from taxonomist.models.targets import item_costs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.taxonomy import Taxonomy

logger = logging.getLogger(__name__)


class LabelSetModel(SetAnswers, AttributeModel):
    """A model that gives items sets of categories, closed under ancestors.

    A subclass has the parameters ``taxonomy``, ``C``, ``decision``, ``cv``, ``min_labels``,
    ``max_labels`` and ``warm_start`` beside those of ``AttributeModel``, and learns its weights
    in ``_learn``.
    """

    taxonomy: Taxonomy | None
    C: float
    decision: Any
    cv: Any
    min_labels: int | None
    max_labels: int | None
    warm_start: bool
    _starts_held_out = True
    """Whether learning without some items may start from where it ended with them."""

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
        self._check_decision()
        X = self._validate(X, reset=True)
        targets = SetTargets.from_labels(self.taxonomy, y, X)
        costs = self._costs(sample_weight, X)
        if not targets.is_single:
            self.label_limits_ = label_limits(targets.labels, self.min_labels, self.max_labels)
        is_next = self.warm_start and hasattr(self, "_targets")
        start = self._start_of(np.arange(len(costs))) if is_next else None
        self._learn(X, targets, costs, start)
        self._targets = targets.select(np.arange(0))
        self._tune(X, targets, costs)
        return self

    def _check_decision(self) -> None:
        """Refuse a decision rule that there is not."""
        decision_rule(self.decision)

    def _tune(self, X: Any, targets: SetTargets, costs: Floats) -> None:
        """Fit the decision rule to the scores of held-out items."""
        if not targets.is_single:
            scores = self._held_out_scores(X, targets, costs)
            rule = decision_rule(self.decision)
            self.decision_ = rule.fit(scores, targets.labels, self.label_limits_)

    def _costs(self, sample_weight: Any, X: Any) -> Floats:
        """Return what a unit of an item's slack costs."""
        return item_costs(self.C, sample_weight, X)

    def _held_out_scores(
        self, X: Any, targets: SetTargets, costs: Floats
    ) -> Iterator[tuple[Codes, Floats]]:
        """Yield blocks of items and their scores by a model that has not seen them.

        An only item cannot be held out.
        """
        if X.shape[0] == 1:
            for _, scores in self._score_blocks(X):
                yield np.arange(1), scores
            return
        for train, test in self._folds(X.shape[0]):
            logger.info("Scoring %d held-out items for the decision rule.", len(test))
            part = copy(self)
            inside = self._rows_of(X, train, train)
            start = self._start_of(train) if self._starts_held_out else None
            part._learn(inside, targets.select(train), costs[train], start)
            for block, scores in part._score_blocks(self._rows_of(X, test, train)):
                yield test[block], scores

    def _folds(self, n_items: int) -> Any:
        """Return pairs of the items to learn from and those that are held out."""
        if not isinstance(self.cv, Integral):
            return self.cv.split(np.arange(n_items)) if hasattr(self.cv, "split") else self.cv
        folds = KFold(min(int(self.cv), n_items), shuffle=True, random_state=0)
        return folds.split(np.arange(n_items))

    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks of items and what the decision rule is fitted to: scores of categories."""
        return self._scores().blocks(X)

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

    def _best_columns(self, X: Any) -> Codes:
        """Return the column of the category with the best score of each item."""
        return self._scores().best(self._checked(X), 1)[0][:, 0]

    def _closed_sets(self, X: Any) -> CSR:
        """Return which nodes of the taxonomy each item has, (n_items, n_nodes) boolean."""
        from scipy.sparse import csr_array, vstack

        least, most = self.label_limits_
        chosen = [
            choose(self.decision_.excess(scores), least, most)
            for _, scores in self._scores().blocks(self._checked(X))
        ]
        return self._targets.close(csr_array(vstack(chosen, format="csr")))

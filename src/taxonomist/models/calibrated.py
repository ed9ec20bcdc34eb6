"""``CalibratedClassifier``: probabilities of categories and nodes, and the right to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted

from taxonomist.inference.held_out import HeldOut
from taxonomist.inference.label_sets import label_limits
from taxonomist.inference.node_probabilities import (
    any_of_categories,
    given_any,
    sum_of_categories,
)
from taxonomist.inference.probabilities import (
    SetProbabilities,
    SingleProbabilities,
    check_method,
)
from taxonomist.models.held_out_scores import category_scores, held_out_scores, make_folds
from taxonomist.models.node_decisions import NodeDecisions
from taxonomist.models.set_targets import SetTargets

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Codes, Floats

KEPT = 2**23
"""Scores of held-out items that are kept for one category per item, 64 MiB."""


def _model_has(name: str) -> Callable[[CalibratedClassifier], bool]:
    """Return a check whether the wrapped model has a method; it raises as the model does."""

    def check(wrapper: CalibratedClassifier) -> bool:
        getattr(getattr(wrapper, "model_", wrapper.model), name)
        return True

    return check


class CalibratedClassifier(NodeDecisions, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier with calibrated probabilities, which may stop at an inner node.

    The model is fitted to all items, and its scores become probabilities by what models that have
    not seen them say of the same items. With one category per item these probabilities add up
    to 1, and a node has the sum over the categories at or below it; with label sets a node has the
    probability of at least one of them, and where every training item has a label, given that
    there is one. So no node is more probable than its parents.

    Parameters
    ----------
    model
        The classifier: one of this library, a pipeline that ends in one, or any other of
        scikit-learn's, with ``decision_function`` or ``predict_proba``.
    method
        How scores become probabilities. ``"temperature"``: with one category per item, a softmax
        at each level of the taxonomy, with a temperature and a share of chance for each; with label
        sets, one sigmoid with a ceiling for all categories. ``"platt"``: a sigmoid for each
        category besides. ``"isotonic"``: after these sigmoids, a rising curve for all.
    cv
        Folds in which items are held out, an object with ``split``, or pairs of the items to learn
        from and those to hold out, where each item is held out at most once.

    Attributes
    ----------
    model_
        The model, fitted to all items.
    probabilities_
        What turns scores into probabilities.
    classes_
        Labels of the categories, in column order of ``predict_proba``.
    taxonomy_
        The taxonomy; its nodes are the columns of ``predict_node_proba``.

    Notes
    -----
    With one category per item ``predict_proba`` may put another category first than ``predict``,
    which answers as the model does. With label sets the column of an inner node in
    ``predict_proba`` is the probability that an item is filed right there; that of anything at or
    below it is in ``predict_node_proba``.

    Examples
    --------
    >>> from taxonomist import HierarchicalSVC, Taxonomy
    >>> from taxonomist.models.calibrated import CalibratedClassifier
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X = [[1, 0, 0], [1, 1, 0], [0, 0, 1]] * 20
    >>> y = ["cat", "dog", "oak"] * 20
    >>> model = CalibratedClassifier(HierarchicalSVC(taxonomy, random_state=0)).fit(X, y)
    >>> model.predict_node_proba([[1, 0.5, 0]]).round(1)[:, taxonomy.codes(["animal", "cat"])]
    array([[1. , 0.5]])
    >>> model.predict([[1, 0.5, 0], [0, 0, 1]], depth="confident", risk=0.1).tolist()
    ['animal', 'oak']
    """

    def __init__(self, model: Any, *, method: str = "temperature", cv: Any = 5) -> None:
        self.model = model
        self.method = method
        self.cv = cv

    # Learning --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to all items, and the probabilities to held-out ones.

        Parameters
        ----------
        X, y
            Items and labels as the model takes them.
        sample_weight
            Weights of the items, in the model and in the calibration.

        Returns
        -------
        CalibratedClassifier
            The classifier itself.

        Raises
        ------
        ValueError
            If the method or the folds make no sense, or the model has other classes than the
            labels.
        """
        check_method(self.method)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.model_ = clone(self.model).fit(X, y, **given)
        targets = SetTargets.from_labels(getattr(_innermost(self.model_), "taxonomy", None), y, X)
        if not np.array_equal(self.model_.classes_, targets.classes):
            raise ValueError(
                f"{type(self.model_).__name__} has other classes than the labels: for label sets "
                "take a model of this library."
            )
        weights = _check_sample_weight(sample_weight, np.empty(_num_samples(X)), dtype=np.float64)
        self.classes_ = targets.classes
        self.taxonomy_ = targets.categories.taxonomy
        self._targets = targets.select(np.arange(0))
        n_labels = np.diff(targets.labels.indptr)
        self._has_label = not targets.is_single and bool(n_labels.all())
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.model_, name):
                setattr(self, name, getattr(self.model_, name))
        folds = make_folds(self.cv, targets, weights)
        blocks: Any = [(np.arange(len(weights)), category_scores(self.model_, X, self._is_single))]
        if folds:
            used = None if sample_weight is None else weights
            blocks = held_out_scores(self.model_, X, y, targets, folds, used)
        held_out = np.sort(np.concatenate([test for _, test in folds] or [np.arange(len(weights))]))
        fit = self._fit_single if self._is_single else self._fit_sets
        self.probabilities_: SingleProbabilities | SetProbabilities = fit(
            blocks, targets, weights, held_out
        )
        return self

    def _fit_single(
        self, blocks: Any, targets: SetTargets, weights: Floats, held_out: Codes
    ) -> SingleProbabilities:
        """Return the probabilities of one category per item, fitted to some of the items."""
        n_kept = max(1, KEPT // len(targets.categories))
        is_kept = np.zeros(len(weights), dtype=bool)
        is_kept[np.random.default_rng(0).permutation(held_out)[:n_kept]] = True
        parts = [(items[is_kept[items]], scores[is_kept[items]]) for items, scores in blocks]
        items = np.concatenate([part for part, _ in parts])
        scores = np.concatenate([part for _, part in parts])
        if not len(items):
            raise ValueError(
                "No held-out item has a category that the model of its fold has seen: give more "
                "items of each category."
            )
        order = np.argsort(items)
        items, scores = items[order], scores[order]
        return SingleProbabilities.fit(
            self.method, targets.categories, scores, targets.labels[items], weights[items]
        )

    def _fit_sets(
        self, blocks: Any, targets: SetTargets, weights: Floats, held_out: Codes
    ) -> SetProbabilities:
        """Return the probabilities of the categories of label sets."""
        marked = targets.labels[held_out]
        numbered = ((np.searchsorted(held_out, items), scores) for items, scores in blocks)
        evidence = HeldOut(numbered, marked, label_limits(marked))
        return SetProbabilities.fit(self.method, evidence, weights[held_out])

    # Probabilities ---------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every category.

        Parameters
        ----------
        X
            Items as in ``fit``.

        Returns
        -------
        ndarray, shape (n_items, n_classes)
            In the order of ``classes_``. The row of an item does not depend on the other items;
            with one category per item it sums to 1.
        """
        return self._of_categories(self._calibrated(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.predict_proba(X))
        return logs

    def predict_node_proba(self, X: Any) -> Floats:
        """Return the probability that items belong at or below every node.

        Parameters
        ----------
        X
            Items as in ``fit``.

        Returns
        -------
        ndarray, shape (n_items, n_nodes)
            In the order of ``taxonomy_.nodes``. No node has more than a parent.
        """
        return self._of_nodes(self._calibrated(X))

    def _calibrated(self, X: Any) -> Floats:
        """Return the probabilities of categories, of label sets each by itself."""
        check_is_fitted(self)
        return self.probabilities_.of(category_scores(self.model_, X, self._is_single))

    def _of_categories(self, probabilities: Floats) -> Floats:
        """Return the probabilities of categories given what is known of all items."""
        return given_any(probabilities) if self._has_label else probabilities

    def _of_nodes(self, probabilities: Floats) -> Floats:
        """Return the probabilities of nodes from calibrated ones of categories."""
        taxonomy, codes = self.taxonomy_, self._codes
        if self._is_single:
            return sum_of_categories(taxonomy, codes, probabilities)
        return any_of_categories(taxonomy, codes, probabilities, has_label=self._has_label)

    def predict_topk(self, X: Any, k: int = 5) -> tuple[Any, Floats]:
        """Return the k most probable categories of each item.

        Parameters
        ----------
        X
            Items as in ``fit``.
        k
            How many; at most the number of categories.

        Returns
        -------
        labels : ndarray, shape (n_items, k)
            The most probable first.
        probabilities : ndarray, shape (n_items, k)
        """
        check_is_fitted(self)
        if not 1 <= k <= len(self.classes_):
            raise ValueError(f"k must be from 1 to {len(self.classes_)}. Got {k!r}.")
        probabilities = self.predict_proba(X)
        best = np.argsort(-probabilities, axis=1, kind="stable")[:, :k]
        return self.classes_[best], np.take_along_axis(probabilities, best, axis=1)

    # What the model does ---------------------------------------------------------------------

    @available_if(_model_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the model."""
        check_is_fitted(self)
        scores: Floats = self.model_.decision_function(X)
        return scores

    @available_if(_model_has("explain"))  # type: ignore[untyped-decorator]
    def explain(self, x: Any, n: int = 10, **options: Any) -> Any:
        """Return what makes up a score of the model; see there."""
        check_is_fitted(self)
        return self.model_.explain(x, n, **options)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of items that the model gets right."""
        check_is_fitted(self)
        return float(self.model_.score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn is to know: what the model can take."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.model)
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        tags.classifier_tags = inner.classifier_tags or tags.classifier_tags
        return tags


def _innermost(model: Any) -> Any:
    """Return the classifier inside of pipelines and searches."""
    if hasattr(model, "steps"):
        return _innermost(model.steps[-1][1])
    return _innermost(model.best_estimator_) if hasattr(model, "best_estimator_") else model

"""``NumberedClassifier``: a model for meta-estimators of scikit-learn that number the labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import assert_all_finite, column_or_1d, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from taxonomist.errors import LabelError, ParameterError, some
from taxonomist.models.calibrator import innermost, seeded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from sklearn.utils import Tags

    from taxonomist._typing import Codes, Floats, MatrixLike, Objects


def _model_has(name: str) -> Callable[[NumberedClassifier], bool]:
    """Return a check that the wrapped model has a method; it raises the error of the model."""

    def check(wrapper: NumberedClassifier) -> bool:
        getattr(innermost(getattr(wrapper, "model_", wrapper.model)), name)
        return True

    return check


class NumberedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A model with the classes that meta-estimators of scikit-learn expect.

    Several meta-estimators replace labels by the numbers 0, 1, ... before they fit a model, so that
    a model with a taxonomy does not recognize them. Given ``classes``, this classifier translates
    the numbers to labels and back. It also sorts the columns of scores and probabilities by label,
    and leaves out the categories of the taxonomy that have no training items, because
    meta-estimators have no place for them.

    Parameters
    ----------
    model
        A classifier for one label per item: a model of this library, or a pipeline that ends in
        one. A ``random_state`` of None in it counts as 0, so that two fits are equal.
    classes
        The labels that the numbers in ``y`` stand for: number i is the i-th of the sorted labels,
        as in scikit-learn's ``LabelEncoder``. Pass ``numpy.unique(y)``. None means that ``y`` holds
        labels, not numbers.

    Attributes
    ----------
    model_
        The fitted model, which predicts labels.
    classes_
        The numbers in ``y`` whose classes are known to ``model_``, or the labels in ``y``, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from taxonomist import HierarchicalSVC, NumberedClassifier, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X, y = [[1, 0, 0], [1, 1, 0], [0, 0, 1]] * 10, ["cat", "dog", "oak"] * 10
    >>> svm = HierarchicalSVC(taxonomy, random_state=0)
    >>> bag = BaggingClassifier(NumberedClassifier(svm, classes=np.unique(y)), random_state=0)
    >>> bag.fit(X, y).predict([[1, 1, 0], [0, 0, 1]]).tolist()
    ['dog', 'oak']
    """

    def __init__(self, model: Any, *, classes: ArrayLike | None = None) -> None:
        self.model = model
        self.classes = classes

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to the labels that the numbers stand for.

        Parameters
        ----------
        X
            Items as in ``fit`` of the model.
        y
            Numbers from 0 to the number of ``classes`` - 1. Labels, if ``classes`` is None or if
            they are not integers.
        sample_weight
            Weights of the items.

        Returns
        -------
        NumberedClassifier
            The classifier itself.

        Raises
        ------
        LabelError
            If ``y`` holds other numbers, or only 0 and 1 although there are more classes.
        """
        if y is None:
            raise ParameterError("fit requires y to be passed, but the target y is None.")
        labels: Objects = column_or_1d(y, warn=True)
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        are_labels = self.classes is None or labels.dtype.kind not in "iu"
        if are_labels:
            self.classes_ = known = np.unique(labels)
            self.model_ = seeded(clone(self.model)).fit(X, labels, **given)
        else:
            known = np.unique(np.asarray(self.classes))
            labels = known[_numbers(labels, len(known))]
            self.model_ = seeded(clone(self.model)).fit(X, labels, **given)
        column = {str(label): c for c, label in enumerate(self.model_.classes_.tolist())}
        found = [column.get(str(label), -1) for label in known.tolist()]
        if not are_labels:
            # An inner node is a category only where an item has it as its label.
            self.classes_ = np.flatnonzero(np.greater_equal(found, 0))
        elif min(found) < 0:
            others = known[np.less(found, 0)].tolist()
            raise LabelError(f"{some(others)} in y are not ids; pass the ids of nodes.")
        self.columns_: Codes = np.array([c for c in found if c >= 0], dtype=np.intp)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.model_, name):
                setattr(self, name, getattr(self.model_, name))
        return self

    def predict(self, X: MatrixLike) -> Any:
        """Return the number of each item's class, or its label if ``y`` of ``fit`` held labels.

        If the model predicts a category that has no training items, the best of the others is
        returned.
        """
        check_is_fitted(self)
        place = {str(label): c for c, label in enumerate(self.model_.classes_.tolist())}
        position = np.full(len(place), -1, dtype=np.intp)
        position[self.columns_] = np.arange(len(self.columns_))
        best = position[[place[str(label)] for label in self.model_.predict(X).tolist()]]
        if (best < 0).any():
            best = np.where(best < 0, np.argmax(self._scores(X), axis=1), best)
        return self.classes_[best]

    @available_if(_model_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: MatrixLike) -> Floats:
        """Return the score of every class, in the order of ``classes_``.

        With two classes, the score of the second minus that of the first, (n_items,).
        """
        check_is_fitted(self)
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @available_if(_model_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: MatrixLike) -> Floats:
        """Return the probability of every class, given that the class is one of ``classes_``."""
        check_is_fitted(self)
        found = self.model_.predict_proba(X)[:, self.columns_]
        totals = found.sum(axis=1, keepdims=True)
        uniform: Floats = np.full_like(found, 1 / found.shape[1])
        probabilities: Floats = np.divide(found, totals, out=uniform, where=totals > 0)
        return probabilities

    @available_if(_model_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: MatrixLike) -> Floats:
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.predict_proba(X))
        return logs

    def _scores(self, X: MatrixLike) -> Floats:
        """Return the scores or probabilities of ``classes_``, (n_items, n_classes)."""
        has_scores = hasattr(self.model_, "decision_function")
        method = self.model_.decision_function if has_scores else self.model_.predict_proba
        scores = np.asarray(method(X), dtype=np.float64)
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores]) / 2
        found: Floats = scores[:, self.columns_]
        return found

    def __sklearn_tags__(self) -> Tags:
        """Return the scikit-learn tags of the model, for one label per item."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.model)
        tags.input_tags = inner.input_tags
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = False
        return tags


def _numbers(y: Objects, n_classes: int) -> Codes:
    """Return labels as numbers of classes; raise if they are not."""
    found = set(np.unique(y).tolist())
    if n_classes > 2 and found <= {-1, 0, 1}:
        raise LabelError(
            f"y holds only {some(sorted(found))}, but there are {n_classes} classes. "
            "Meta-estimators that learn one class at a time, such as OneVsRestClassifier, cannot "
            "use a taxonomy; NodeSVC learns one classifier for each node."
        )
    if min(found) < 0 or max(found) >= n_classes:
        raise LabelError(
            f"With classes, integers in y must be numbers from 0 to {n_classes - 1}. "
            f"Got {some(sorted(found))}. Leave classes out if y holds labels."
        )
    numbers: Codes = y.astype(np.intp)
    return numbers

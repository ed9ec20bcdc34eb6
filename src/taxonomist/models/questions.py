"""``Questions``: the prediction methods that all classifiers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from taxonomist._threads import n_threads
from taxonomist.errors import ParameterError
from taxonomist.inference.scorers import Scored
from taxonomist.models.answers import Answers
from taxonomist.models.decisions import RuleDecision
from taxonomist.models.parameters import MAX_VALUE, check_size
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import CSR, Floats, LabelsLike, Matrix, MatrixLike, Objects
    from taxonomist.inference.label_sets import FittedRule, Limits
    from taxonomist.inference.scorers import Scorer
    from taxonomist.models.decisions import Decision
    from taxonomist.models.explanation import Explanation
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy


def _has_probabilities(model: Questions) -> bool:
    if type(model).probabilities is Questions.probabilities:
        name = type(model).__name__
        raise AttributeError(f"{name} has no probabilities: use CalibratedClassifier({name}(...)).")
    return True


def _can_explain(model: Questions) -> bool:
    if model.no_reasons:
        raise AttributeError(f"{type(model).__name__} cannot explain a score: {model.no_reasons}")
    return True


class Questions(ClassifierMixin):
    """The prediction methods of a model that has a fitted scorer and targets.

    A subclass validates rows in ``check_rows`` and names the parts of an explanation in
    ``source_title``. It may override ``probabilities`` and ``decider``.

    Attributes
    ----------
    no_reasons
        The reason why there is no ``explain``, as a sentence. Empty if there is one.
    """

    no_reasons: ClassVar[str] = ""

    classes_: Objects
    taxonomy_: Taxonomy
    targets_: Targets
    scorer_: Scorer
    label_limits_: Limits
    decision_: FittedRule
    n_features_in_: int

    def check_rows(self, X: MatrixLike, reset: bool) -> Matrix:
        """Return validated rows."""
        raise NotImplementedError

    @property
    def decider(self) -> Decision:
        """The decision that converts scored items to label sets."""
        return RuleDecision(self.decision_, self.label_limits_, self.targets_)

    def probabilities(self, scored: Scored) -> Floats:
        """Return the probabilities of categories, (n_items, n_categories)."""
        raise NotImplementedError

    def source_title(self, source: int) -> tuple[str, str]:
        """Return the id and display name of a part of an explanation."""
        raise NotImplementedError

    # Predicting -------------------------------------------------------------------------------

    def answer(self, X: MatrixLike) -> Answers:
        """Return all predictions for items, which are scored only once.

        Parameters
        ----------
        X
            Items as in ``fit``, at most a few thousand. With a precomputed kernel, the kernel
            values with the training items.

        Returns
        -------
        Answers
            An object with methods such as ``labels``, ``paths``, ``topk`` and ``explain``.
        """
        return Answers(self, self.scored(X))

    def decision_function(self, X: MatrixLike) -> Floats:
        """Return the score of every category.

        Parameters
        ----------
        X
            Items as in ``answer``.

        Returns
        -------
        ndarray, shape (n_items, n_classes)
            Scores in the order of ``classes_``. With one label per item and two classes, the score
            of the second class minus that of the first, with shape (n_items,).
        """
        return self.answer(X).scores()

    def predict(self, X: MatrixLike) -> Any:
        """Return the labels of items.

        Parameters
        ----------
        X
            Items as in ``answer``.

        Returns
        -------
        ndarray, shape (n_items,), or indicator matrix, shape (n_items, n_columns)
            One label per item, or label sets, depending on the ``y`` of ``fit``. Label sets are
            closed under ancestors. If ``y`` was an indicator matrix, the result has the same
            columns and is dense or sparse like ``y``; otherwise it is sparse, with the columns
            ``classes_``.
        """
        if self._is_single:
            return self.classes_[self.scored(X).best(1)[0][:, 0]]
        return self.answer(X).predict()

    def predict_labels(self, X: MatrixLike) -> list[list[Any]]:
        """Return the labels of each item as a list, from general to specific.

        Label sets are closed under ancestors, without a virtual root.
        """
        if self._is_single:
            return [[label] for label in self.predict(X).tolist()]
        return self.answer(X).labels()

    def predict_paths(self, X: MatrixLike) -> list[Any]:
        """Return the path from the top to the category of each item; for label sets, all paths.

        If a node of a DAG has several paths, the first is returned. See ``Taxonomy.paths`` for all.
        """
        return self.answer(X).paths()

    def predict_topk(self, X: MatrixLike, k: int = 5) -> tuple[Objects, Floats]:
        """Return the k categories with the best scores for each item.

        Parameters
        ----------
        X
            Items as in ``answer``.
        k
            The number of categories to return.

        Returns
        -------
        labels : ndarray, shape (n_items, k)
            The labels, best first.
        scores : ndarray, shape (n_items, k)
            The scores, as in ``decision_function``.
        """
        return self.answer(X).topk(k)

    def predict_ranking(self, X: MatrixLike, k: int | None = None) -> tuple[Objects, Floats]:
        """Return the ``predict_topk`` of k categories, or of all categories if k is None."""
        check_is_fitted(self)
        return self.predict_topk(X, len(self.classes_) if k is None else k)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: MatrixLike, *, top: int | None = None) -> Floats | CSR:
        """Return the uncalibrated probability of every category, (n_items, n_classes).

        With one label per item, every row sums to 1. Word models treat label sets in the same way:
        their rows are probabilities under the assumption of a single label. With ``top``, a sparse
        array holds only the ``top`` most probable categories of each item.
        """
        answers = self.answer(X)
        return answers.proba() if top is None else answers.top_proba(top)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: MatrixLike) -> Floats:
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.answer(X).proba())
        return logs

    @available_if(_can_explain)  # type: ignore[untyped-decorator]
    def explain(
        self,
        x: Any,
        n: int = 10,
        *,
        category: object = None,
        against: object = None,
        feature_names: Sequence[str] | None = None,
    ) -> Explanation:
        """Explain a score by the contributions of nodes and of their strongest features.

        Parameters
        ----------
        x
            One item, a row as in ``answer``.
        n
            The number of features to list for each node.
        category
            The category to explain. None explains the category with the best score.
        against
            Another category. If given, the difference of the two scores is explained.
        feature_names
            Names of the features. None uses the names seen in ``fit``, or column numbers.

        Returns
        -------
        Explanation
            Parts that sum to the score, or to the difference.
        """
        is_row = hasattr(x, "indptr") or np.ndim(x) == 2
        answers = self.answer(x if is_row else np.reshape(x, (1, -1)))
        if answers.n_items != 1:
            raise ParameterError(f"explain takes one item. Got {answers.n_items}.")
        return answers.explain(
            0, n, category=category, against=against, feature_names=feature_names
        )

    def score(self, X: MatrixLike, y: LabelsLike, sample_weight: Any = None) -> float:
        """Return the share of items whose label, or label set, is predicted exactly."""
        check_is_fitted(self)
        targets = self.targets_
        if labels.is_indicator(y) or (targets.is_single and targets.is_flat):
            return float(super().score(X, y, sample_weight))
        if targets.is_single:
            is_right = labels.encode(self.taxonomy_, y) == targets.nodes[self.answer(X).best]
            return float(np.average(is_right, weights=sample_weight))
        if targets.is_flat:
            truth = targets.close(targets.encode(y))
        else:
            truth = labels.close(self.taxonomy_, labels.encode_sets(self.taxonomy_, y))
        wrong = np.diff((truth != self.answer(X).sets).tocsr().indptr) > 0
        return float(np.average(~wrong, weights=sample_weight))

    @property
    def _is_single(self) -> bool:
        check_is_fitted(self)
        return self.targets_.is_single

    def scored(self, X: MatrixLike) -> Scored:
        """Return validated items, ready to be scored."""
        check_is_fitted(self)
        threads = n_threads(getattr(self, "n_jobs", 1))
        return Scored(self.scorer_, self.checked_rows(X, reset=False), threads)

    def checked_rows(self, X: Any, reset: bool) -> Any:
        """Return the result of ``check_rows``; raise if a value is too large to compute with."""
        rows = self.check_rows(X, reset)
        is_gram = getattr(self, "kernel", None) == "precomputed"
        check_size(rows, type(self).__name__, MAX_VALUE**2 if is_gram else MAX_VALUE)
        return rows

    def feature_titles(self, feature_names: Sequence[str] | None) -> Callable[[int], str]:
        """Return a function from feature numbers to names."""
        names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names

        def title(feature: int) -> str:
            if feature == self.n_features_in_:
                return "(constant)"
            return str(feature) if names is None else str(names[feature])

        return title

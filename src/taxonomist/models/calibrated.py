"""``CalibratedClassifier``: calibrated probabilities and predictions of inner nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted

from taxonomist.errors import ParameterError
from taxonomist.inference.probabilities import check_method
from taxonomist.models.calibrated_answers import CalibratedAnswers
from taxonomist.models.calibrator import Calibrator, innermost, opened, scores_by_clones, seeded
from taxonomist.models.learning import dealt_folds
from taxonomist.models.probable_questions import ProbableQuestions
from taxonomist.models.targets import Targets
from taxonomist.models.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from taxonomist._typing import Codes, Floats, FoldsLike, LabelsLike, MatrixLike
    from taxonomist.inference.probabilities import SetProbabilities, SingleProbabilities
    from taxonomist.models.learning import Training


def _model_has(name: str) -> Callable[[CalibratedClassifier], bool]:
    """Return a check that the wrapped model has a method; it raises the error of the model."""

    def check(wrapper: CalibratedClassifier) -> bool:
        getattr(innermost(getattr(wrapper, "model_", wrapper.model)), name)
        return True

    return check


class CalibratedClassifier(ProbableQuestions, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier with calibrated probabilities that can predict inner nodes.

    The model is fitted to all items, and the conversion of its scores to probabilities is fitted to
    cross-validated scores. With one category per item, probabilities sum to 1, and the probability
    of a node is the sum over the categories at or below it. With label sets, the probability of a
    node is that of at least one category at or below it, conditional on at least one label if every
    training item has one. No node is more probable than its parents.

    Parameters
    ----------
    model
        The classifier: a model of this library, a pipeline that ends in one, or another
        scikit-learn classifier with ``decision_function`` or ``predict_proba``. A ``random_state``
        of None in it counts as 0, so that two fits are equal.
    method
        Calibration method. ``"temperature"``: with one category per item, a softmax at each level
        of the taxonomy, with its own temperature and share of random decisions; with label sets,
        one sigmoid with a ceiling for all categories. ``"platt"``: in addition, one sigmoid per
        category. ``"isotonic"``: like ``"platt"``, followed by one isotonic curve for all
        categories.
    cv
        The number of cross-validation folds, a splitter with a ``split`` method, or pairs of
        training and test items. Every item may be held out at most once.

    Attributes
    ----------
    model_
        The model, fitted to all items.
    probabilities_
        The fitted conversion of scores to probabilities.
    classes_
        The categories, in the column order of ``predict_proba``.
    taxonomy_
        The taxonomy. Its nodes are the columns of ``predict_node_proba``.

    Notes
    -----
    With one category per item, the most probable category of ``predict_proba`` may differ from
    ``predict``, which returns the prediction of the model. With label sets, the column of an inner
    node in ``predict_proba`` is the probability that the node itself is a label. See
    ``predict_node_proba`` for the probability of labels at or below it.

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

    traits = Traits(fits_probabilities=True)
    file_version = 2

    def __init__(self, model: Any, *, method: str = "temperature", cv: FoldsLike = 5) -> None:
        self.model = model
        self.method = method
        self.cv = cv

    # Learning --------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to all items, and the probabilities to held-out scores.

        Parameters
        ----------
        X, y
            Items and labels, as in ``fit`` of the model.
        sample_weight
            Weights of the items, for the model and for the calibration.

        Returns
        -------
        CalibratedClassifier
            The classifier itself.

        Raises
        ------
        ValueError
            If the method or the folds are invalid, or the classes of the model are not those of the
            labels.
        """
        check_method(self.method)
        calibrator = self._fit_model(X, y, sample_weight)
        targets = calibrator.targets
        self.classes_ = targets.classes
        self.taxonomy_ = targets.categories.taxonomy
        self.targets_ = targets.without_items()
        self.has_label_ = not targets.is_single and bool(np.diff(targets.labels.indptr).all())
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.model_, name):
                setattr(self, name, getattr(self.model_, name))
        self.probabilities_: SingleProbabilities | SetProbabilities = calibrator.finish()
        return self

    def _fit_model(
        self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None
    ) -> Calibrator:
        """Fit the model and return a calibrator with the held-out scores."""
        model = seeded(clone(self.model))
        if not hasattr(model, "fit_held_out"):
            return self._fit_clones(model, X, y, sample_weight)
        made: list[Calibrator] = []

        def make_taker(training: Training, held_out: Codes) -> Calibrator:
            made.append(Calibrator(self.method, training.targets, training.weights, held_out))
            return made[0]

        self.model_ = model.fit_held_out(X, y, sample_weight, cv=self.cv, make_taker=make_taker)
        return made[0]

    def _fit_clones(
        self, model: Any, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None
    ) -> Calibrator:
        """Fit any scikit-learn model, and clones of it for held-out scores."""
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.model_ = model.fit(X, y, **given)
        targets = Targets.from_labels(getattr(innermost(self.model_), "taxonomy", None), y, X)
        if not np.array_equal(self.model_.classes_, targets.classes):
            raise ParameterError(
                f"{type(self.model_).__name__} has other classes than the labels: for label sets "
                "use a model of this library."
            )
        weights = _check_sample_weight(sample_weight, np.empty(_num_samples(X)), dtype=np.float64)
        folds = dealt_folds(self.cv, targets, weights)
        everyone = np.arange(len(weights))
        held_out = np.sort(np.concatenate([test for _, test in folds] or [everyone]))
        calibrator = Calibrator(self.method, targets, weights, held_out)
        if not folds:
            calibrator.add(everyone, opened(self.model_, X).categories)
        used = None if sample_weight is None else weights
        for items, scores in scores_by_clones(self.model_, X, y, targets, folds, used):
            calibrator.add(items, scores)
        return calibrator

    # Predicting ------------------------------------------------------------------------------

    def answer(self, X: MatrixLike) -> CalibratedAnswers:
        """Return all predictions for items, which are scored only once.

        Parameters
        ----------
        X
            Items as in ``fit``, at most a few thousand.

        Returns
        -------
        CalibratedAnswers
            An object with methods such as ``labels``, ``paths``, ``proba`` and ``explain``.
        """
        check_is_fitted(self)
        return CalibratedAnswers(self, opened(self.model_, X))

    def plain_predictions(self, X: MatrixLike) -> Any:
        """Return the predictions of the model."""
        return self.model_.predict(X)

    # Delegated to the model ------------------------------------------------------------------

    @available_if(_model_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: MatrixLike) -> Floats:
        """Return the scores of the model."""
        check_is_fitted(self)
        scores: Floats = self.model_.decision_function(X)
        return scores

    @available_if(_model_has("explain"))  # type: ignore[untyped-decorator]
    def explain(self, x: Any, n: int = 10, **options: Any) -> Any:
        """Explain a score of the model; see its ``explain``."""
        is_rows = hasattr(x, "indptr") or np.ndim(x) == 2 or not hasattr(self, "n_features_in_")
        answers = self.answer(x if is_rows else np.reshape(x, (1, -1)))
        return answers.explain(0, n, **options)

    def score(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the ``score`` of the model."""
        check_is_fitted(self)
        return float(self.model_.score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Tags:
        """Return the scikit-learn tags of the model."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.model)
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        tags.classifier_tags = inner.classifier_tags or tags.classifier_tags
        return tags

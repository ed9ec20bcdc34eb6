"""``CalibratedClassifier``: probabilities of categories and nodes, and the right to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, gen_batches, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted

from taxonomist.inference.probabilities import check_method
from taxonomist.models.calibrated_answers import CalibratedAnswers, is_own_rule
from taxonomist.models.calibrator import Calibrator, innermost, opened, scores_by_clones
from taxonomist.models.learning import dealt_folds
from taxonomist.models.targets import Targets
from taxonomist.models.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from taxonomist._typing import Codes, Floats
    from taxonomist.inference.probabilities import SetProbabilities, SingleProbabilities
    from taxonomist.models.learning import Training

NODES_AT_A_TIME = 2**22
"""Probabilities of nodes held at a time when they are not asked for, 32 MiB."""


def _model_has(name: str) -> Callable[[CalibratedClassifier], bool]:
    """Return a check whether the wrapped model has a method; it raises as the model does."""

    def check(wrapper: CalibratedClassifier) -> bool:
        getattr(innermost(getattr(wrapper, "model_", wrapper.model)), name)
        return True

    return check


class CalibratedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
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

    traits = Traits()
    file_version = 2

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

    def _fit_model(self, X: Any, y: Any, sample_weight: Any) -> Calibrator:
        """Fit the model, and return what has taken the scores of held-out items."""
        model = clone(self.model)
        if not hasattr(model, "fit_held_out"):
            return self._fit_clones(model, X, y, sample_weight)
        made: list[Calibrator] = []

        def make_taker(training: Training, held_out: Codes) -> Calibrator:
            made.append(Calibrator(self.method, training.targets, training.weights, held_out))
            return made[0]

        self.model_ = model.fit_held_out(X, y, sample_weight, cv=self.cv, make_taker=make_taker)
        return made[0]

    def _fit_clones(self, model: Any, X: Any, y: Any, sample_weight: Any) -> Calibrator:
        """Fit a model of any kind, and clones of it for the scores of held-out items."""
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.model_ = model.fit(X, y, **given)
        targets = Targets.from_labels(getattr(innermost(self.model_), "taxonomy", None), y, X)
        if not np.array_equal(self.model_.classes_, targets.classes):
            raise ValueError(
                f"{type(self.model_).__name__} has other classes than the labels: for label sets "
                "take a model of this library."
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

    # Questions -------------------------------------------------------------------------------

    def answer(self, X: Any) -> CalibratedAnswers:
        """Return the answers to all questions about items, which are scored once.

        Parameters
        ----------
        X
            Items as in ``fit``. A block of at most some thousands.

        Returns
        -------
        CalibratedAnswers
            With methods such as ``labels``, ``paths``, ``proba`` and ``explain``.
        """
        check_is_fitted(self)
        return CalibratedAnswers(self, opened(self.model_, X))

    def predict(
        self, X: Any, *, depth: str | None = None, risk: float = 0.1, cost: Any = None
    ) -> Any:
        """Return what the model predicts, or nodes that are sure enough or cost the least.

        Parameters
        ----------
        X
            Items as in ``fit``.
        depth
            ``"confident"`` returns the deepest node that is right with a probability of at least
            1 - ``risk``, the root if there is no other; of a label set the part that is.
        risk
            The probability of a mistake that is accepted.
        cost
            A loss between nodes: ``"tree"``, ``"zero_one"``, or whatever
            ``taxonomist.losses.category_loss`` takes. Returns the node of the least expected loss;
            for label sets, the set, and the loss must come from costs at nodes.

        Returns
        -------
        ndarray, shape (n_items,), or for label sets a matrix
            Labels. With ``depth`` or ``cost``, ids of nodes, and for label sets an indicator matrix
            over ``taxonomy_.nodes``, (n_items, n_nodes), closed under ancestors.

        Raises
        ------
        ValueError
            If ``depth`` or ``risk`` make no sense, or ``cost`` is given as well.
        LabelError
            If the loss does not fit the taxonomy.
        """
        check_is_fitted(self)
        if not is_own_rule(depth, risk, cost):
            return self.model_.predict(X)
        found = [block.predict(depth=depth, risk=risk, cost=cost) for block in self._blocks(X)]
        if self.targets_.is_single:
            return np.concatenate(found)
        from scipy.sparse import csr_array, vstack

        return csr_array(vstack(found, format="csr"))

    def predict_labels(
        self, X: Any, *, depth: str | None = None, risk: float = 0.1, cost: Any = None
    ) -> list[list[Any]]:
        """Return the labels of each item as a list, from the general to the specific.

        A virtual root is left out. The parameters are those of ``predict``.
        """
        blocks = self._blocks(X)
        rule = {"depth": depth, "risk": risk, "cost": cost}
        return [labels for block in blocks for labels in block.labels(**rule)]

    def predict_paths(
        self, X: Any, *, depth: str | None = None, risk: float = 0.1, cost: Any = None
    ) -> list[Any]:
        """Return the path from the top to each prediction; for label sets, a list of paths each.

        The path to a virtual root is empty. In a DAG a node may have several paths; this is the
        first. The parameters are those of ``predict``.
        """
        blocks = self._blocks(X)
        rule = {"depth": depth, "risk": risk, "cost": cost}
        return [paths for block in blocks for paths in block.paths(**rule)]

    def _blocks(self, X: Any) -> Iterator[CalibratedAnswers]:
        """Yield answers for blocks of items, small enough to hold probabilities of nodes."""
        check_is_fitted(self)
        n_items, size = _num_samples(X), max(1, NODES_AT_A_TIME // self.taxonomy_.n_nodes)
        rows = X.tocsr() if hasattr(X, "tocsr") else X
        for block in gen_batches(n_items, size) if n_items > size else [None]:
            yield self.answer(X if block is None else _safe_indexing(rows, block))

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
        return self.answer(X).proba()

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
        return self.answer(X).node_proba()

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
        return self.answer(X).topk(k)

    # What the model does ---------------------------------------------------------------------

    @available_if(_model_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the model."""
        check_is_fitted(self)
        scores: Floats = self.model_.decision_function(X)
        return scores

    @available_if(_model_has("explain"))  # type: ignore[untyped-decorator]
    def explain(self, x: Any, n: int = 10, **options: Any) -> Any:
        """Return what makes up a score of the model; see its ``explain``."""
        is_rows = hasattr(x, "indptr") or np.ndim(x) == 2 or not hasattr(self, "n_features_in_")
        answers = self.answer(x if is_rows else np.reshape(x, (1, -1)))
        return answers.explain(0, n, **options)

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

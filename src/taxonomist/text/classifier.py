"""``TextClassifier``: raw text in, paths out."""

from __future__ import annotations

import logging
from copy import copy
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from taxonomist import persistence
from taxonomist.errors import LabelError, ModelFileError
from taxonomist.evaluation.assessment import assess
from taxonomist.features import TextFeatures
from taxonomist.models.calibrated import CalibratedClassifier
from taxonomist.taxonomy import Taxonomy, labels
from taxonomist.text.explanation import TextExplanation
from taxonomist.text.models import choice_of, make_model
from taxonomist.text.search import Problem, Trial, search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from os import PathLike

    from taxonomist._typing import CSR, Floats
    from taxonomist.evaluation.assessment import Assessment

logger = logging.getLogger(__name__)


class TextClassifier(BaseEstimator):
    """Words of texts, a model over the taxonomy, probabilities, and decisions, in one object.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels. None means one of depth one over the labels that are seen.
    model
        A name out of ``taxonomist.text.MODELS``; ``"auto"``, which tries a few of them on held-out
        items; or an unfitted classifier of the library, which takes tf-idf vectors.
    C
        Cost of slack. None means 1, or with ``"auto"`` what does best.
    words, characters, min_df, max_features, weights
        What texts are made into, as in ``taxonomist.features.TextFeatures``.
    calibration
        How probabilities are fitted to held-out items: ``"temperature"``, ``"platt"``,
        ``"isotonic"``; ``"auto"`` takes the first for one category and the last for label sets.
        None for no probabilities, which is quicker.
    cv
        Folds in which items are held out, for the search and for probabilities.
    random_state
        Seed.
    n_jobs
        Threads; None means all cores.

    Attributes
    ----------
    classes_
        Ids of the categories.
    taxonomy_
        The taxonomy.
    is_multilabel_
        Whether items have label sets, which the training labels show.
    features_
        The fitted ``TextFeatures``.
    model_
        The fitted model.
    search_
        What ``"auto"`` tried, the best first: model, C, score, seconds.
    training_
        Facts of the training: items, features, seconds, model.
    seen_
        Numbers by which the command line knows texts again that it trained the model on; only
        models that it trained have them.

    Examples
    --------
    >>> from taxonomist import Taxonomy, TextClassifier
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> texts = ["purrs and sleeps", "barks and runs", "has leaves and acorns"] * 4
    >>> model = TextClassifier(taxonomy, model="svm").fit(texts, ["cat", "dog", "oak"] * 4)
    >>> model.predict_paths(["it barks and barks"])
    [('animal', 'dog')]
    """

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        model: Any = "auto",
        C: float | None = None,
        words: tuple[int, int] | None = (1, 1),
        characters: tuple[int, int] | None = None,
        min_df: int = 2,
        max_features: int | None = None,
        weights: Any = None,
        calibration: str | None = "auto",
        cv: int = 3,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.model = model
        self.C = C
        self.words = words
        self.characters = characters
        self.min_df = min_df
        self.max_features = max_features
        self.weights = weights
        self.calibration = calibration
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    # Learning --------------------------------------------------------------------------------

    def fit(
        self,
        texts: Iterable[Any],
        labels: Iterable[Any],
        sample_weight: Any = None,
        callback: Callable[[Trial], Any] | None = None,
    ) -> Self:
        """Learn words, model and probabilities.

        Parameters
        ----------
        texts
            A text for each item, or several: a sequence of strings, or a mapping from names of
            columns to strings. They are read once and not kept.
        labels
            A node id for each item, or an iterable of them.
        sample_weight
            Weights of the items.
        callback
            Called with each model that ``"auto"`` has tried.

        Returns
        -------
        TextClassifier
            The classifier itself.
        """
        start = perf_counter()
        if isinstance(self.model, str) and self.model != "auto":
            choice_of(self.model)
        y, self.is_multilabel_ = _as_targets(labels)
        names = ("words", "characters", "min_df", "max_features", "weights")
        self.features_ = TextFeatures(**{name: getattr(self, name) for name in names})
        counts = self.features_.fit_counts(texts)
        if counts.shape[0] != len(y):
            raise LabelError(
                f"There are {counts.shape[0]} texts and labels for {len(y)} items; every text "
                "needs labels."
            )
        X = self.features_.weigh(counts)
        self.search_: list[Trial] = []
        model, self._takes_counts = self._choose(X, counts, y, callback)
        if self.calibration is not None:
            method = self.calibration
            if method == "auto":
                method = "isotonic" if self.is_multilabel_ else "temperature"
            model = CalibratedClassifier(model, method=method, cv=self.cv)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.model_ = model.fit(counts if self._takes_counts else X, y, **given)
        self.classes_ = self.model_.classes_
        self.taxonomy_ = (
            Taxonomy.flat(self.classes_.tolist()) if self.taxonomy is None else self.taxonomy
        )
        self.training_ = {
            "items": len(y),
            "features": len(self.features_.idf_),
            "model": repr(getattr(self.model_, "model", self.model_)),
            "seconds": perf_counter() - start,
        }
        return self

    def _choose(
        self, X: CSR, counts: CSR, y: Sequence[Any], callback: Callable[[Trial], Any] | None
    ) -> tuple[Any, bool]:
        """Return the unfitted model, and whether it takes counts."""
        if not isinstance(self.model, str):
            return self.model, False
        name, C = self.model, 1.0 if self.C is None else self.C
        if name == "auto":
            taxonomy = self.taxonomy
            if taxonomy is None:
                used = y if not self.is_multilabel_ else [node for sets in y for node in sets]
                taxonomy = Taxonomy.flat(dict.fromkeys(used))
            problem = Problem({False: X, True: counts}, y, taxonomy, self.is_multilabel_)
            self.search_ = search(problem, self.cv, self.random_state, callback)
            name = self.search_[0].model
            C = self.search_[0].C if self.C is None else self.C
        options = {"random_state": self.random_state, "n_jobs": self.n_jobs, "cv": self.cv}
        is_multilabel = self.is_multilabel_
        model = make_model(name, self.taxonomy, is_multilabel=is_multilabel, C=C, **options)
        return model, choice_of(name).counts

    # Predicting ------------------------------------------------------------------------------

    def predict(
        self,
        texts: Iterable[Any],
        *,
        depth: str | None = None,
        risk: float = 0.1,
        cost: Any = None,
    ) -> Any:
        """Return the category of each text, or its label set.

        Parameters
        ----------
        texts
            As in ``fit``.
        depth
            ``"confident"`` returns the deepest node that is right with a probability of at least
            1 - ``risk``; interior nodes count.
        risk
            See ``depth``.
        cost
            A loss between categories, or its name, such as ``"tree"``: returns the node of the
            least expected loss.

        Returns
        -------
        ndarray, shape (n_items,), or list of lists
            Ids; label sets are closed under ancestors.
        """
        X = self._vectors(texts)
        if depth is None and cost is None:
            return self.model_.predict_labels(X) if self.is_multilabel_ else self.model_.predict(X)
        self._need_probabilities()
        ask = self.model_.predict_labels if self.is_multilabel_ else self.model_.predict
        return ask(X, depth=depth, risk=risk, cost=cost)

    def predict_labels(self, texts: Iterable[Any]) -> list[list[Any]]:
        """Return the labels of each text as a list."""
        return list(self.model_.predict_labels(self._vectors(texts)))

    def predict_paths(self, texts: Iterable[Any]) -> list[Any]:
        """Return the path to the category of each text, or a list of paths for a label set."""
        return list(self.model_.predict_paths(self._vectors(texts)))

    def predict_topk(self, texts: Iterable[Any], k: int = 5) -> tuple[Any, Floats]:
        """Return the k most probable categories of each text, and their probabilities.

        Without calibration, scores take the place of probabilities.
        """
        X = self._vectors(texts)
        k = min(k, len(self.classes_))
        if self.calibration is None:
            found: tuple[Any, Floats] = self.model_.predict_topk(X, k)
            return found
        chances = self.model_.predict_proba(X)
        best = np.argsort(-chances, axis=1, kind="stable")[:, :k]
        return self.classes_[best], np.take_along_axis(chances, best, axis=1)

    def predict_proba(self, texts: Iterable[Any]) -> Floats:
        """Return the probability of every category, (n_items, n_classes)."""
        X = self._vectors(texts)
        self._need_probabilities()
        return np.asarray(self.model_.predict_proba(X))

    def predict_node_proba(self, texts: Iterable[Any]) -> Floats:
        """Return the probability of every node of ``taxonomy_``, (n_items, n_nodes)."""
        X = self._vectors(texts)
        self._need_probabilities()
        return np.asarray(self.model_.predict_node_proba(X))

    def explain(self, text: Any, n: int = 10, category: Any = None) -> TextExplanation:
        """Return the words of a text that speak for and against a category.

        Parameters
        ----------
        text
            One text, as in ``fit``.
        n
            Words to show at each level.
        category
            The category to explain; by default the predicted one with the best score.

        Returns
        -------
        TextExplanation
            As data, text and HTML.
        """
        row = self._vectors([text])
        if not hasattr(self.model_, "explain"):
            raise AttributeError(
                f"{type(self.model_).__name__} cannot say why: take another model, such as 'svm'."
            )
        found = self.model_.explain(
            row, n=max(n, row.nnz), category=category, feature_names=self.features_.terms_
        )
        chance = None
        if self.calibration is not None:
            column = int(np.flatnonzero(self.classes_ == found.category)[0])
            chance = float(self.model_.predict_proba(row)[0, column])
        whole = "\n".join(part for _, part in self.features_.parts(text))
        path = self.taxonomy_.paths(str(found.category), limit=1)[0]
        return TextExplanation.of(whole, found, path, chance, self.features_.spans(whole), n)

    def evaluate(self, texts: Any, labels: Any = None) -> Assessment:
        """Return how good predictions are.

        Parameters
        ----------
        texts
            Texts as in ``fit``, or a corpus with its labels.
        labels
            The true labels; those of the corpus by default.

        Returns
        -------
        Assessment
            Measures with intervals, per level and per node, confusions and reliability.
        """
        if labels is None:
            if not hasattr(texts, "texts") or texts.texts is None:
                raise ValueError("Give the true labels, or a corpus that has texts and labels.")
            texts, labels = texts.texts, texts.labels
        texts = list(texts)
        y, _ = _as_targets(labels)
        if not self.is_multilabel_ and any(not isinstance(label, str) for label in y):
            raise LabelError(
                "The model has one category per item, but some items have none or more."
            )
        if self.is_multilabel_:
            y = [[label] if isinstance(label, str) else label for label in y]
        X = self._vectors(texts)
        predicted = self.model_.predict_labels(X)
        if not self.is_multilabel_:
            predicted = [one for (one,) in predicted]
        chances = None if self.calibration is None else self.model_.predict_proba(X)
        return assess(
            y,
            predicted,
            self.taxonomy_,
            probabilities=chances,
            classes=list(self.classes_),
            texts=[" · ".join(part for _, part in self.features_.parts(text)) for text in texts],
        )

    # Files -----------------------------------------------------------------------------------

    def save(
        self, path: str | PathLike[str], *, facts: Any = None, prune: float | None = None
    ) -> None:
        """Write the classifier to a folder, without pickle; see ``taxonomist.persistence.save``.

        Parameters
        ----------
        path
            The folder. A model that is there already is replaced in one step.
        facts
            What is worth knowing beside ``training_``, by name.
        prune
            Share of the weights to drop; ``pruning_cost`` says what that costs.
        """
        check_is_fitted(self, "model_")
        known = {**self.training_, **(facts or {})}
        persistence.save(self, path, facts=known, prune=prune, kinds=_kinds())

    @classmethod
    def load(cls, path: str | PathLike[str], *, mmap: bool = True) -> TextClassifier:
        """Return the classifier in a folder; see ``taxonomist.persistence.load``."""
        found = persistence.load(path, mmap=mmap, kinds=_kinds())
        if not isinstance(found, TextClassifier):
            raise ModelFileError(
                f"{path} holds a {type(found).__name__}, which takes vectors and not texts: load "
                "it with taxonomist.persistence.load."
            )
        return found

    def pruning_cost(self, share: float, texts: Any, labels: Any = None) -> dict[str, float]:
        """Return by how much measures change on held-out texts when weights are dropped.

        Parameters
        ----------
        share
            Share of the weights to drop, as in ``save``.
        texts, labels
            As in ``evaluate``; items that the model has not seen.

        Returns
        -------
        dict
            Measure after pruning less measure before, by name.
        """
        smaller = copy(self)
        smaller.model_ = persistence.pruned(self.model_, share)
        before, after = (model.evaluate(texts, labels) for model in (self, smaller))
        return {
            name: after.measures[name].estimate - before.measures[name].estimate
            for name in before.measures
        }

    def _vectors(self, texts: Iterable[Any]) -> CSR:
        """Return what the model takes."""
        check_is_fitted(self, "model_")
        counts = self.features_.counts(texts)
        return counts if self._takes_counts else self.features_.weigh(counts)

    def _need_probabilities(self) -> None:
        """Refuse what needs probabilities where there are none."""
        if self.calibration is None:
            raise ValueError("There are no probabilities: fit with calibration='auto'.")


def _kinds() -> dict[str, type]:
    """Return the classes of this room that files may hold."""
    return {"TextClassifier": TextClassifier, "Trial": Trial}


def _as_targets(given: Iterable[Any]) -> tuple[list[Any], bool]:
    """Return one id per item, or a list of them, and whether items have label sets.

    Sets of one label each, throughout, are single labels.
    """
    items = list(given)
    if not items:
        raise LabelError("There are no items, so there is nothing to learn.")
    if not any(labels.is_set(item) for item in items):
        return [str(item) if not isinstance(item, str) else item for item in items], False
    sets = [list(item) if labels.is_set(item) else [item] for item in items]
    if all(len(item) == 1 for item in sets):
        return [item[0] for item in sets], False
    return sets, True

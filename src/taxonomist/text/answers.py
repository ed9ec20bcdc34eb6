"""Predictions for a batch of texts, which are vectorised and scored only once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np
from sklearn.utils import gen_batches

from taxonomist.errors import LabelError, ParameterError
from taxonomist.models.answers import stacked
from taxonomist.models.probable_questions import NODES_AT_A_TIME
from taxonomist.taxonomy import labels as label_formats
from taxonomist.text.explanation import TextExplanation
from taxonomist.text.gram_explanation import spread_grams
from taxonomist.text.measure import MEASURE, tree_loss_for
from taxonomist.text.prior_answers import PriorAnswers
from taxonomist.text.vector_columns import whole_texts
from taxonomist.text.vector_explanation import column_names, share_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import ArrayLike

    from taxonomist._typing import CSR, Bools, Floats, Objects, TextLike
    from taxonomist.evaluation.assessment import Assessment
    from taxonomist.losses.categories import LossLike
    from taxonomist.models.probable_answers import ProbableAnswers
    from taxonomist.models.targets import Targets
    from taxonomist.text.classifier import TextClassifier

__all__ = ["TextAnswers"]


class TextAnswers:
    """Predictions for a batch of texts, as returned by ``TextClassifier.answer``.

    Parameters
    ----------
    classifier
        A fitted classifier.
    texts
        The texts.
    vectors
        Feature vectors of the texts, (n_items, n_features).
    """

    def __init__(self, classifier: TextClassifier, texts: Sequence[TextLike], vectors: CSR) -> None:
        self.texts = texts
        self.vectors = vectors
        self._classifier = classifier

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def _answers(self) -> Any:
        """The model's answers, which all share one set of scores."""
        return self._answers_to(self.vectors)

    def _answers_to(self, vectors: CSR) -> ProbableAnswers:
        """Return the model's answers to some of the texts."""
        classifier = self._classifier
        found: ProbableAnswers = classifier.model_.answer(vectors)
        # A text without features: nothing is known about it.
        is_unknown: Bools = np.diff(vectors.indptr) == 0
        # Classifiers of old files and of label sets have no prior.
        prior = getattr(classifier, "prior_", None)
        if prior is None or not is_unknown.any():
            return found
        return PriorAnswers(found, classifier.model_.targets_, is_unknown, prior)

    @cached_property
    def _proba(self) -> Floats:
        self._check_probabilities()
        return np.asarray(self._answers.proba())

    def decisions(
        self, *, depth: str | None = None, risk: float = 0.1, cost: LossLike | None = None
    ) -> Any:
        """Return the category of each text, or its label set; see ``TextClassifier.predict``."""
        rule = self._rule(depth, risk, cost)
        is_multilabel = self._classifier.is_multilabel_
        return self._answers.labels(**rule) if is_multilabel else self._answers.predict(**rule)

    def labels(
        self, *, depth: str | None = None, risk: float = 0.1, cost: LossLike | None = None
    ) -> list[list[Any]]:
        """Return the labels of each text as a list.

        ``depth``, ``risk`` and ``cost`` are as in ``TextClassifier.predict``. With ``depth`` or
        ``cost``, the labels do not include a virtual root.
        """
        return list(self._answers.labels(**self._rule(depth, risk, cost)))

    def paths(
        self, *, depth: str | None = None, risk: float = 0.1, cost: LossLike | None = None
    ) -> list[Any]:
        """Return the path to the category of each text, or a list of paths for a label set."""
        return list(self._answers.paths(**self._rule(depth, risk, cost)))

    def topk(self, k: int = 5) -> tuple[Objects, Floats]:
        """Return the k most probable categories of each text and their probabilities.

        Without calibration, returns the k best categories and their scores.
        """
        classes = self._classifier.classes_
        k = min(k, len(classes))
        if self._classifier.calibration is None:
            found: tuple[Objects, Floats] = self._answers.topk(k)
            return found
        best = np.argsort(-self._proba, axis=1, kind="stable")[:, :k]
        return classes[best], np.take_along_axis(self._proba, best, axis=1)

    def proba(self) -> Floats:
        """Return the probability of every category, (n_items, n_classes)."""
        return self._proba

    def node_proba(self) -> Floats:
        """Return the probability of every node of the taxonomy, (n_items, n_nodes)."""
        self._check_probabilities()
        return np.asarray(self._answers.node_proba())

    def top_proba(self, k: int) -> CSR:
        """Return the probabilities of the k most probable categories, (n_items, n_classes)."""
        return stacked([block.top_proba(k) for block in self._blocks()])

    def top_node_proba(self, k: int) -> CSR:
        """Return the probabilities of the k most probable categories and of all nodes above."""
        return stacked([block.top_node_proba(k) for block in self._blocks()])

    def _blocks(self) -> Iterator[ProbableAnswers]:
        """Yield the answers about texts whose node probabilities fit into memory."""
        self._check_probabilities()
        size = max(1, NODES_AT_A_TIME // self._classifier.taxonomy_.n_nodes)
        for block in gen_batches(len(self), size):
            yield self.some(block)

    def some(self, block: slice) -> ProbableAnswers:
        """Return the model's answers to the texts of a block."""
        if len(range(len(self))[block]) == len(self):
            return cast("ProbableAnswers", self._answers)
        return self._answers_to(self.vectors[block])

    def known_share(self) -> Floats:
        """Return the fraction of each text's terms that occur in the features, (n_items,).

        It is 0 for a text without terms. The labels of a text with few known terms mean little. A
        text with a sentence vector needs no known terms, and has 1.
        """
        features = self._classifier.features_
        shares = features.known_share(self.texts)
        n_entries = np.diff(self.vectors[:, len(features.idf_) :].indptr)
        return np.where(n_entries > 0, 1.0, shares)

    def explain(self, i: int, n: int = 10, category: object = None) -> TextExplanation:
        """Return the words in one of the texts for and against a category.

        Parameters
        ----------
        i
            The position of the text.
        n
            Number of words to show at each level.
        category
            The category to explain; by default, the predicted one with the best score.

        Raises
        ------
        AttributeError
            If the model cannot explain its scores.
        """
        classifier = self._classifier
        if not classifier.can_explain:
            raise AttributeError(
                f"{type(classifier.model_).__name__} cannot explain its predictions. Use another "
                "model, such as 'svm'."
            )
        row, text = self.vectors[[i]], self.texts[i]
        names, vectors, n_listed = classifier.features_.terms_, classifier.used_vectors, row.nnz
        if vectors is not None:
            # All columns are needed, and there may be a constant one.
            names, n_listed = column_names(names, len(vectors.centre_)), row.nnz + 1
        found = self._answers.explain(i, max(n, n_listed), category=category, feature_names=names)
        chance = None
        if classifier.calibration is not None:
            column = classifier.classes_.tolist().index(found.category)
            chance = float(self._proba[i, column])
        (whole,) = whole_texts(classifier.features_, [text])
        if classifier.features_.characters and classifier.features_.words:
            found = spread_grams(found, whole, classifier.features_.characters)
        meaning: tuple[Mapping[str, float], ...] = ()
        if vectors is not None:
            weight = classifier.vector_weight_
            found, meaning = share_out(found, row, vectors.parts(whole), weight, whole)
        path = self._path_to(found.category)
        return TextExplanation.of(whole, found, path, chance, n, meaning)

    def shown(self, i: int) -> str:
        """Return a text as one line of an example, without columns of weight 0."""
        parts = self._classifier.features_.parts(self.texts[i])
        return " · ".join(part for _, part in parts)

    def _path_to(self, category: Any) -> tuple[Any, ...]:
        """Return the path to a category, in the type of the labels."""
        targets: Targets = self._classifier.model_.targets_
        node = targets.nodes[targets.column(category)]
        ((path,),) = targets.paths_to([[int(node)]])
        return path

    def explanations(
        self, n: int = 10, categories: Sequence[object] | None = None
    ) -> list[TextExplanation]:
        """Return the explanation of every text.

        Parameters
        ----------
        n
            Number of words to show at each level.
        categories
            The category to explain for each text; None for the predicted one with the best score.
        """
        wanted = [None] * len(self) if categories is None else categories
        return [self.explain(i, n, category) for i, category in enumerate(wanted)]

    def score(self, labels: Iterable[object], sample_weight: ArrayLike | None = None) -> float:
        """Return the fraction of exact predictions; see ``TextClassifier.score``."""
        model, truth = self._classifier.model_, self._truth(labels)
        if not isinstance(self._answers, PriorAnswers) and not self._rule(None, 0.1, None):
            return float(model.score(self.vectors, truth, sample_weight))
        targets = model.targets_
        is_right = targets.classes[targets.encode(truth).indices] == self.decisions()
        weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
        return float(np.average(is_right, weights=weights))

    def evaluate(self, labels: Iterable[object]) -> Assessment:
        """Measure the predictions; see ``TextClassifier.evaluate``."""
        from taxonomist.evaluation.assessment import assess
        from taxonomist.evaluation.level_reliability import RowBlocks

        classifier = self._classifier
        truth = self._truth(labels)
        predicted: list[Any] = self.labels()
        if not classifier.is_multilabel_:
            predicted = [one for (one,) in predicted]
        shape = len(self), len(classifier.classes_)
        blocks = RowBlocks(shape, lambda block: np.asarray(self.some(block).proba()))
        return assess(
            truth,
            predicted,
            classifier.taxonomy_,
            probabilities=None if classifier.calibration is None else blocks,
            classes=list(classifier.classes_),
            texts=ShownTexts(self),
        )

    def _truth(self, given: Iterable[object]) -> list[Any]:
        """Return true labels in the form of predictions."""
        if self._classifier.is_multilabel_:
            return label_formats.as_sets(given)
        truth = label_formats.simplified(given)
        if label_formats.is_label_sets(truth):
            raise LabelError(
                "The model predicts one category per item, but some items have none or several "
                "labels."
            )
        return truth

    def _rule(self, depth: str | None, risk: float, cost: LossLike | None) -> dict[str, object]:
        """Return the options for a decision by probabilities; empty for the model's own."""
        if depth is None and cost is None:
            return {"cost": "tree"} if self._classifier.decides_by_loss else {}
        self._check_probabilities()
        rule: dict[str, object] = {"depth": depth, "risk": risk, "cost": cost}
        if depth is not None or not isinstance(cost, str) or cost != "tree":
            return rule
        measure, is_sets = (
            getattr(self._classifier, "measure", MEASURE),
            self._classifier.is_multilabel_,
        )
        kept = tree_loss_for(measure, is_sets=is_sets)
        return {} if kept is None else {**rule, "cost": kept}

    def _check_probabilities(self) -> None:
        if self._classifier.calibration is None:
            raise ParameterError(
                "The classifier has no probabilities. Fit it with calibration='auto'."
            )


class ShownTexts(Sequence[str]):
    """The texts as examples, each made when it is asked for.

    Parameters
    ----------
    answers
        The answers.
    """

    def __init__(self, answers: TextAnswers) -> None:
        self._answers = answers

    def __len__(self) -> int:
        return len(self._answers)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self._answers.shown(i) for i in range(len(self))[index]]
        return self._answers.shown(index)

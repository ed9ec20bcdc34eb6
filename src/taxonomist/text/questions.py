"""The prediction methods of text classifiers."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, overload

from taxonomist.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taxonomist._typing import CSR, Floats, Objects, TextLike
    from taxonomist.evaluation.assessment import Assessment
    from taxonomist.losses.categories import LossLike
    from taxonomist.text.answers import TextAnswers
    from taxonomist.text.explanation import TextExplanation

__all__ = ["TextQuestions"]


class TextQuestions:
    """Prediction methods for text classifiers.

    For several predictions about the same texts, such as labels and probabilities, ``answer`` is
    faster, because it vectorises and scores the texts only once.
    """

    model_: Any

    @property
    def can_explain(self) -> bool:
        """Whether the model can explain its predictions by words."""
        return hasattr(self.model_, "explain")

    @abstractmethod
    def answer(self, texts: Iterable[TextLike]) -> TextAnswers:
        """Vectorise texts once, for any number of predictions about them."""

    def predict(
        self,
        texts: Iterable[TextLike],
        *,
        depth: str | None = None,
        risk: float = 0.1,
        cost: LossLike | None = None,
    ) -> Any:
        """Return the category of each text, or its label set.

        Parameters
        ----------
        texts
            As in ``fit``.
        depth
            ``"confident"`` returns the deepest node, inner nodes included, that is correct with a
            probability of at least 1 - ``risk``.
        risk
            Accepted probability of an error; see ``depth``.
        cost
            A loss between categories, or its name. Returns the node with the smallest expected
            loss. ``"tree"`` does not lower ``measure``. With hierarchical F1, it returns only nodes
            whose expected F1 is at least that of the most probable category; with taxonomy loss or
            a scorer, any node. It changes nothing with the other measures, nor for label sets
            unless ``measure`` is the loss.

        Returns
        -------
        ndarray, shape (n_items,), or list of lists
            Ids; label sets are closed under ancestors.
        """
        return self.answer(texts).decisions(depth=depth, risk=risk, cost=cost)

    def predict_labels(self, texts: Iterable[TextLike]) -> list[list[Any]]:
        """Return the labels of each text as a list."""
        return self.answer(texts).labels()

    def predict_paths(self, texts: Iterable[TextLike]) -> list[Any]:
        """Return the path to the category of each text, or a list of paths for a label set."""
        return self.answer(texts).paths()

    def predict_topk(self, texts: Iterable[TextLike], k: int = 5) -> tuple[Objects, Floats]:
        """Return the k most probable categories of each text and their probabilities.

        Without calibration, returns the k best categories and their scores.
        """
        return self.answer(texts).topk(k)

    @overload
    def predict_proba(self, texts: Iterable[TextLike], *, top: None = None) -> Floats: ...

    @overload
    def predict_proba(self, texts: Iterable[TextLike], *, top: int) -> CSR: ...

    def predict_proba(self, texts: Iterable[TextLike], *, top: int | None = None) -> Floats | CSR:
        """Return the probability of every category, (n_items, n_classes).

        With ``top``, a sparse array holds only the ``top`` most probable categories of each text.
        """
        answers = self.answer(texts)
        return answers.proba() if top is None else answers.top_proba(top)

    @overload
    def predict_node_proba(self, texts: Iterable[TextLike], *, top: None = None) -> Floats: ...

    @overload
    def predict_node_proba(self, texts: Iterable[TextLike], *, top: int) -> CSR: ...

    def predict_node_proba(
        self, texts: Iterable[TextLike], *, top: int | None = None
    ) -> Floats | CSR:
        """Return the probability of every node of ``taxonomy_``, (n_items, n_nodes).

        With ``top``, a sparse array holds only the ``top`` most probable categories of each text,
        and the nodes above them.
        """
        answers = self.answer(texts)
        return answers.node_proba() if top is None else answers.top_node_proba(top)

    def explain(self, text: TextLike, n: int = 10, category: object = None) -> TextExplanation:
        """Return the words in a text for and against a category.

        Parameters
        ----------
        text
            One text, as in ``fit``.
        n
            Number of words to show at each level.
        category
            The category to explain; by default, the predicted one with the best score.

        Returns
        -------
        TextExplanation
            The explanation, which can be printed or converted to plain data and HTML.
        """
        return self.answer([text]).explain(0, n, category)

    def score(
        self, texts: Iterable[Any], labels: Iterable[Any], sample_weight: Any = None
    ) -> float:
        """Return the fraction of texts whose category, or label set, is predicted exactly.

        Parameters
        ----------
        texts, labels
            As in ``fit``.
        sample_weight
            Weights of the items.

        Returns
        -------
        float
            The accuracy. ``evaluate`` has more measures.
        """
        return self.answer(texts).score(labels, sample_weight)

    def evaluate(self, texts: Any, labels: Any = None) -> Assessment:
        """Measure the predictions for labelled texts.

        Parameters
        ----------
        texts
            Texts as in ``fit``, or a corpus with its labels.
        labels
            The true labels; by default, those of the corpus.

        Returns
        -------
        Assessment
            Measures with intervals, per level and per node, confusions and reliability.
        """
        if labels is None:
            if getattr(texts, "texts", None) is None or not hasattr(texts, "labels"):
                raise LabelError("Pass the true labels, or a corpus with texts and labels.")
            texts, labels = texts.texts, texts.labels
        return self.answer(texts).evaluate(labels)

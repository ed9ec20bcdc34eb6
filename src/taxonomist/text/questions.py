"""The questions that a classifier of texts answers, each about any number of texts."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from taxonomist.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taxonomist._typing import Floats
    from taxonomist.evaluation.assessment import Assessment
    from taxonomist.text.answers import TextAnswers
    from taxonomist.text.explanation import TextExplanation

__all__ = ["TextQuestions"]


class TextQuestions:
    """A classifier of texts that answers one question at a time.

    To ask several questions about the same texts, ``answer`` is quicker.
    """

    @abstractmethod
    def answer(self, texts: Iterable[Any]) -> TextAnswers:
        """Return what can be asked of texts."""

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
        return self.answer(texts).decisions(depth=depth, risk=risk, cost=cost)

    def predict_labels(self, texts: Iterable[Any]) -> list[list[Any]]:
        """Return the labels of each text as a list."""
        return self.answer(texts).labels()

    def predict_paths(self, texts: Iterable[Any]) -> list[Any]:
        """Return the path to the category of each text, or a list of paths for a label set."""
        return self.answer(texts).paths()

    def predict_topk(self, texts: Iterable[Any], k: int = 5) -> tuple[Any, Floats]:
        """Return the k most probable categories of each text, and their probabilities.

        Without calibration, scores take the place of probabilities.
        """
        return self.answer(texts).topk(k)

    def predict_proba(self, texts: Iterable[Any]) -> Floats:
        """Return the probability of every category, (n_items, n_classes)."""
        return self.answer(texts).proba()

    def predict_node_proba(self, texts: Iterable[Any]) -> Floats:
        """Return the probability of every node of ``taxonomy_``, (n_items, n_nodes)."""
        return self.answer(texts).node_proba()

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
        return self.answer([text]).explain(0, n, category)

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
            if getattr(texts, "texts", None) is None or not hasattr(texts, "labels"):
                raise LabelError("Give the true labels, or a corpus that has texts and labels.")
            texts, labels = texts.texts, texts.labels
        return self.answer(texts).evaluate(labels)

"""``PriorAnswers``: predictions for texts without known words."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.inference.node_probabilities import sum_of_categories
from taxonomist.models.probable_answers import ProbableAnswers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from taxonomist._typing import Bools, Floats, Objects
    from taxonomist.models.explanation import Explanation
    from taxonomist.models.targets import Targets

__all__ = ["PriorAnswers", "label_shares"]


def label_shares(targets: Targets, y: Sequence[object], sample_weight: ArrayLike | None) -> Floats:
    """Return the share of each category in the weight of items with one label, (n_classes,)."""
    columns = targets.encode(y).indices
    counts = np.bincount(columns, None if sample_weight is None else np.asarray(sample_weight))
    found: Floats = np.zeros(len(targets.classes))
    found[: len(counts)] = counts / counts.sum()
    return found


class PriorAnswers(ProbableAnswers):
    """Answers of a model of single labels, except for items without features.

    The scores of such an item say nothing about it, and the best of equal ones is the first. It
    gets the shares of categories among training items as probabilities, and the most frequent
    category as label.

    Parameters
    ----------
    answers
        The answers of the model.
    targets
        The categories of the model.
    is_unknown
        Which items have no features.
    prior
        The share of each category.
    """

    def __init__(
        self, answers: ProbableAnswers, targets: Targets, is_unknown: Bools, prior: Floats
    ) -> None:
        super().__init__(targets)
        self._answers = answers
        self._is_unknown = is_unknown
        self._prior = prior

    @property
    def _first(self) -> object:
        """The most frequent category."""
        return self._targets.classes[self._prior.argmax()]

    @cached_property
    def categories(self) -> Floats:
        """Category probabilities, (n_items, n_categories)."""
        return np.where(self._is_unknown[:, None], self._prior, self._answers.categories)

    @cached_property
    def of_nodes(self) -> Floats:
        """Probabilities that items belong at or below every node, (n_items, n_nodes)."""
        prior = sum_of_categories(self._taxonomy, self._targets.nodes, self._prior[None])
        return np.where(self._is_unknown[:, None], prior, self._answers.of_nodes)

    def plain(self) -> Objects:
        """Return the predictions without ``depth`` and ``cost``."""
        found: Objects = np.array(self._answers.predict())
        found[self._is_unknown] = self._first
        return found

    def topk(self, k: int = 5) -> tuple[Objects, Floats]:
        """Return the k best categories of each item, and their scores."""
        labels, scores = self._answers.topk(k)
        order = np.argsort(-self._prior, kind="stable")[:k]
        labels = np.where(self._is_unknown[:, None], self._targets.classes[order], labels)
        return labels, scores

    def explain(self, item: int = 0, n: int = 10, **options: Any) -> Explanation:
        """Explain a score of the model; see its ``explain``."""
        if self._is_unknown[item] and options.get("category") is None:
            options["category"] = self._first
        return self._answers.explain(item, n, **options)

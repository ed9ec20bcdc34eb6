"""What models have in common that score every category and choose sets by a decision rule."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from taxonomist.inference.label_sets import choose
from taxonomist.models.answers import SetAnswers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.inference.label_sets import Limits

BLOCK = 2**22
"""Scores that are held at a time where they are not asked for, 32 MiB."""


class ScoredSets(SetAnswers, BaseEstimator):
    """A model that scores every category of an item, and chooses by what scores exceed.

    Its ``fit`` sets ``label_limits_`` where it is fitted to label sets, beside what ``SetAnswers``
    needs.
    """

    label_limits_: Limits

    @abstractmethod
    def _validate(self, X: Any, reset: bool) -> Any:
        """Return checked items."""

    @abstractmethod
    def _scores(self, X: Any) -> Floats:
        """Return the scores of all categories for checked items, (n_items, n_categories)."""

    @abstractmethod
    def _excess(self, scores: Floats) -> Floats:
        """Return by how much scores exceed what a category needs to be chosen."""

    def decision_function(self, X: Any) -> Floats:
        """Return the score of every category.

        Parameters
        ----------
        X
            Items as in ``fit``.

        Returns
        -------
        ndarray, shape (n_items, n_classes)
            Scores in the order of ``classes_``. For a model of single labels with two classes
            (n_items,): how much more the second has.
        """
        scores = self._scores(self._checked(X))
        if self._targets.is_single and len(self.classes_) == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def _checked(self, X: Any) -> Any:
        """Return items ready to be scored."""
        check_is_fitted(self)
        return self._validate(X, reset=False)

    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        """Yield the scores of one block of checked items after another."""
        for block in gen_batches(X.shape[0], max(1, BLOCK // len(self.classes_))):
            yield block, self._scores(X[block])

    def _best_columns(self, X: Any) -> Codes:
        """Return the column of the category with the best score of each item."""
        blocks = self._score_blocks(self._checked(X))
        return np.concatenate([scores.argmax(axis=1) for _, scores in blocks])

    def _closed_sets(self, X: Any) -> CSR:
        """Return which nodes of the taxonomy each item has, (n_items, n_nodes) boolean."""
        from scipy.sparse import csr_array, vstack

        chosen = [
            choose(self._excess(scores), *self.label_limits_)
            for _, scores in self._score_blocks(self._checked(X))
        ]
        return self._targets.close(csr_array(vstack(chosen, format="csr")))

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn is to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

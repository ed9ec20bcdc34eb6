"""``AtLeastOne``: one binary classifier per label, and every item gets a label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Classifier, Matrix


class AtLeastOne:
    """One scikit-learn classifier per label; an item without a label gets the best one.

    Parameters
    ----------
    estimator
        The unfitted binary classifier, with ``decision_function``.
    """

    def __init__(self, estimator: Classifier) -> None:
        self.estimator = estimator

    def fit(self, X: Matrix, y: Sequence[Sequence[str]]) -> AtLeastOne:
        """Learn one classifier per label."""
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.preprocessing import MultiLabelBinarizer

        self.columns = MultiLabelBinarizer(sparse_output=True)
        self.model = OneVsRestClassifier(clone(self.estimator))
        self.model.fit(X, self.columns.fit_transform(y))
        return self

    def predict(self, X: Matrix) -> list[list[str]]:
        """Return the labels of each item: those with a positive score, or the best one."""
        scores = np.asarray(self.model.decision_function(X)).reshape(X.shape[0], -1)
        chosen = scores > 0
        chosen[np.arange(len(scores)), scores.argmax(axis=1)] = True
        classes = self.columns.classes_
        return [classes[row].tolist() for row in chosen]

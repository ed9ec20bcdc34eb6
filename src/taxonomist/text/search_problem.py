"""The items that a model search cross-validates models on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taxonomist.text.measure import MEASURE, MeasureLike
from taxonomist.text.measure_scores import score_of
from taxonomist.text.models import choice_of, make_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import Codes
    from taxonomist.taxonomy import Taxonomy

__all__ = ["SearchProblem"]

MOST_ITEMS = 5000
"""Maximum number of items for the search: enough to rank models, in bounded time."""


class SearchProblem(NamedTuple):
    """The data for the search, and what it is for.

    Attributes
    ----------
    features
        Features by whether they are word counts.
    labels
        The labels of the items.
    taxonomy
        The taxonomy of the labels.
    is_multilabel
        Whether items have label sets.
    measure
        What the models are compared by; they decide on label sets for the same measure.
    C
        The only value of C to try; None to try several.
    n_jobs
        Number of threads of the models.
    negatives
        The negative items of ``PathSVC``, with which it learns from all items after the search.
    """

    features: dict[bool, Any]
    labels: Sequence[Any]
    taxonomy: Taxonomy
    is_multilabel: bool
    measure: MeasureLike = MEASURE
    C: float | None = None
    n_jobs: int | None = None
    negatives: str = "auto"

    def fitted(self, name: str, C: float, train: Codes) -> Any:
        """Return a model that has learned from some items."""
        model = make_model(
            name,
            self.taxonomy,
            is_multilabel=self.is_multilabel,
            measure=self.measure,
            C=C,
            cv=2,
            random_state=0,
            n_jobs=self.n_jobs,
            negatives=self.negatives,
        )
        return model.fit(self.features[choice_of(name).counts][train], self.labels_of(train))

    def labels_of(self, items: Codes) -> list[object]:
        """Return the labels of some items."""
        return [self.labels[i] for i in items.tolist()]

    def predicted(self, name: str, C: float, train: Codes, test: Codes) -> Any:
        """Return what a model predicts for some items after learning from others.

        If the measure is a scorer, return the scorer's value instead.
        """
        model = self.fitted(name, C, train)
        X = self.features[choice_of(name).counts][test]
        if callable(self.measure):
            return float(self.measure(model, X, self.labels_of(test)))
        found = model.predict_labels(X)
        return list(found) if self.is_multilabel else [labels[0] for labels in found]

    def held_out_score(
        self,
        name: str,
        C: float,
        items: Codes,
        n_folds: int,
        on_fold: Callable[[int], object] = lambda _: None,
    ) -> float:
        """Return the cross-validated score of a model.

        Parameters
        ----------
        name, C
            The model.
        items
            Positions of the items to use, in random order. The folds are the same for all models.
        n_folds
            Number of folds.
        on_fold
            Called after each fold with the number of finished folds.

        Returns
        -------
        float
            The measure of the predictions for all items, with the sign with which higher is better;
            of a scorer, the mean over folds.
        """
        from sklearn.model_selection import KFold

        outcomes, tested = [], []
        for done, (train, test) in enumerate(KFold(n_folds).split(items), 1):
            outcomes.append(self.predicted(name, C, items[train], items[test]))
            tested.append(items[test])
            on_fold(done)
        if callable(self.measure):
            return float(np.average(outcomes, weights=list(map(len, tested))))
        found = [label for labels in outcomes for label in labels]
        truth = self.labels_of(np.concatenate(tested))
        return score_of(self.measure, truth, found, self.taxonomy, self.is_multilabel)

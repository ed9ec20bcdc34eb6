"""The items that a model search cross-validates models on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from taxonomist import metrics
from taxonomist.text.models import MODELS, make_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import Codes
    from taxonomist.taxonomy import Taxonomy

__all__ = ["SearchProblem"]


class SearchProblem(NamedTuple):
    """The data for the search: features by kind, labels, and the taxonomy."""

    features: dict[bool, Any]  # by whether they are counts
    labels: Sequence[Any]
    taxonomy: Taxonomy
    is_multilabel: bool

    def predicted(self, name: str, C: float, train: Codes, test: Codes) -> list[Any]:
        """Return what a model predicts for some items after learning from others."""
        X = self.features[MODELS[name].counts]
        model = make_model(
            name, self.taxonomy, is_multilabel=self.is_multilabel, C=C, cv=2, random_state=0
        )
        model.fit(X[train], [self.labels[i] for i in train])
        found = model.predict_labels(X[test])
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
            Positions of the items to use.
        n_folds
            Number of folds.
        on_fold
            Called after each fold with the number of finished folds.
        """
        from sklearn.model_selection import KFold

        found: list[Any] = [None] * len(items)
        for done, (train, test) in enumerate(KFold(n_folds).split(items), 1):
            predicted = self.predicted(name, C, items[train], items[test])
            for i, label in zip(test.tolist(), predicted, strict=True):
                found[i] = label
            on_fold(done)
        truth = [self.labels[i] for i in items]
        if self.is_multilabel:
            return float(metrics.hierarchical_f1(truth, found, self.taxonomy))
        # 0 - 0 is 0, but -0.0 would be printed with its sign.
        return 0.0 - float(metrics.taxonomy_loss(truth, found, self.taxonomy))

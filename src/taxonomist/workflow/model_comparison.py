"""Compare two models on the same labelled texts, which neither of them has seen."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.workflow.label_ancestors import LabelAncestors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taxonomist._typing import Floats, TextLike
    from taxonomist.text import TextClassifier

__all__ = ["ModelDifference", "compare_models"]

FEWEST = 20
"""Least number of texts for a comparison."""


class ModelDifference(NamedTuple):
    """How a new model compares with an old one.

    Attributes
    ----------
    n_texts
        Number of texts.
    old_loss, new_loss
        Mean taxonomy loss of each model.
    error
        Standard error of the difference, by text.
    old_accuracy, new_accuracy
        Share of texts with exactly the right labels.
    measures
        All measures of the new model, with intervals.
    """

    n_texts: int
    old_loss: float
    new_loss: float
    error: float
    old_accuracy: float
    new_accuracy: float
    measures: dict[str, object]

    @property
    def is_not_worse(self) -> bool:
        """Whether the loss grew by no more than its standard error, on enough texts."""
        return self.n_texts >= FEWEST and self.new_loss - self.old_loss <= self.error

    def summary(self) -> dict[str, object]:
        """Return the comparison as plain data."""
        known = self._asdict()
        del known["measures"]
        note = "" if self.n_texts >= FEWEST else f"Fewer than {FEWEST} documents to compare on."
        return {**known, "is_not_worse": self.is_not_worse, "note": note}


def compare_models(
    old: TextClassifier,
    new: TextClassifier,
    texts: Sequence[dict[str, str]],
    labels: Sequence[Sequence[str]],
) -> ModelDifference:
    """Compare two models on labelled texts."""
    if not texts:
        return ModelDifference(0, 0.0, 0.0, 0.0, 0.0, 0.0, {})
    given: Iterable[TextLike] = texts
    if new.features_ is old.features_:
        # Both count the same terms, so the texts are read once.
        given = new.features_.count(texts)
    answers = new.answer(given)
    losses = [
        _losses(model, found, labels)
        for model, found in ((old, old.answer(given).labels()), (new, answers.labels()))
    ]
    difference = losses[1] - losses[0]
    spread = float(difference.std(ddof=1)) if len(difference) > 1 else 0.0
    measured = answers.evaluate(labels).to_dict()["measures"]
    return ModelDifference(
        len(texts),
        float(losses[0].mean()),
        float(losses[1].mean()),
        spread / sqrt(len(texts)),
        float((losses[0] == 0).mean()),
        float((losses[1] == 0).mean()),
        measured,
    )


def _losses(
    model: TextClassifier, found: Sequence[Sequence[str]], truth: Sequence[Sequence[str]]
) -> Floats:
    """Return the taxonomy loss of each text."""
    distance, is_multilabel = LabelAncestors(model.taxonomy_).distance, model.is_multilabel_
    pairs = zip(found, truth, strict=True)
    return np.array([distance(*pair, is_multilabel=is_multilabel) for pair in pairs])

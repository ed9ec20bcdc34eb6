"""Training a classifier of texts: what ``taxonomist train`` does between reading and saving."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taxonomist.cli.labelled import digests, held_out
from taxonomist.cli.output import progress
from taxonomist.errors import LabelError
from taxonomist.text import TextClassifier

if TYPE_CHECKING:
    from taxonomist.cli.items import Columns
    from taxonomist.cli.labelled import Labelled
    from taxonomist.evaluation import Assessment
    from taxonomist.text.search import Trial

__all__ = ["Trained", "train_model"]


class Trained(NamedTuple):
    """A trained classifier, how it does on held-out items, and how many of these there are."""

    classifier: TextClassifier
    assessment: Assessment | None
    n_train: int
    n_test: int

    @property
    def measures(self) -> dict[str, Any]:
        """The measures of held-out items with their intervals, as plain data."""
        return {} if self.assessment is None else self.assessment.to_dict()["measures"]


def train_model(
    classifier: TextClassifier,
    labelled: Labelled,
    columns: Columns,
    *,
    test_size: float,
    final: bool = False,
) -> Trained:
    """Train a classifier on part of the items and measure it on the others.

    Parameters
    ----------
    classifier
        The classifier, not fitted.
    labelled
        The items.
    columns
        Where they come from; the model remembers that.
    test_size
        Share of the items that are held out.
    final
        Whether to train it once more, on all items, when it is measured.
    """
    if not 0 <= test_size < 1:
        raise LabelError(f"--test-size must be at least 0 and below 1. Got {test_size:g}.")
    is_test = held_out(labelled, test_size, classifier.random_state)
    numbers = digests(labelled.texts)
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    # A text that is also among those to learn from says nothing about new texts.
    test = test[~np.isin(numbers[test], numbers[train])]
    _fit(classifier, labelled.take(train))
    assessment = None
    if len(test):
        tested = labelled.take(test)
        assessment = classifier.evaluate(tested.texts, tested.labels)
    trained = Trained(classifier, assessment, len(train), len(test))
    if final and len(train) < len(labelled.texts):
        classifier = _again(classifier, labelled)
        train = np.arange(len(labelled.texts))
        trained = trained._replace(classifier=classifier, n_train=len(train))
    classifier.seen_ = np.unique(numbers[train])
    classifier.training_ |= {
        "columns": dict(columns._asdict()),
        "test_items": len(test),
        "measures": trained.measures,
        "search": [dict(trial._asdict()) for trial in classifier.search_],
        "final": final,
    }
    return trained


def _again(classifier: TextClassifier, labelled: Labelled) -> TextClassifier:
    """Return a classifier of the model and the cost that were found, trained on all items."""
    tried = classifier.search_
    again = TextClassifier(**classifier.get_params(deep=False))
    if tried:
        again.set_params(model=tried[0].model)
        again.set_params(C=tried[0].C if classifier.C is None else classifier.C)
    _fit(again, labelled)
    again.search_ = tried
    return again


def _fit(classifier: TextClassifier, labelled: Labelled) -> None:
    """Fit a classifier, with progress."""
    n_tried = 0

    def tried(_: Trial) -> None:
        nonlocal n_tried
        n_tried += 1
        report(step, n_tried, None)

    step = "Training, models tried" if classifier.model == "auto" else "Training"
    with progress("models") as report:
        report(step, n_tried, None)
        classifier.fit(labelled.texts, labelled.targets, callback=tried)

"""Training a classifier of texts on part of the items, and measuring it on the others."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taxonomist.errors import ParameterError
from taxonomist.text.digests import digests
from taxonomist.workflow.holding_out import held_out
from taxonomist.workflow.steps import silent

if TYPE_CHECKING:
    from taxonomist.datasets.columns import Columns
    from taxonomist.evaluation import Assessment
    from taxonomist.text import TextClassifier
    from taxonomist.text.search import Trial
    from taxonomist.workflow.labelled import Labelled
    from taxonomist.workflow.steps import OnStep

__all__ = ["TrainingResult", "train"]


class TrainingResult(NamedTuple):
    """A fitted classifier, how it does on held-out items, and how many of these there are."""

    classifier: TextClassifier
    assessment: Assessment | None
    n_train: int
    n_test: int

    @property
    def measures(self) -> dict[str, Any]:
        """The measures of held-out items with their intervals, as plain data."""
        return {} if self.assessment is None else self.assessment.to_dict()["measures"]


def train(
    classifier: TextClassifier,
    labelled: Labelled,
    columns: Columns,
    *,
    test_size: float = 0.2,
    final: bool = False,
    on_step: OnStep = silent,
) -> TrainingResult:
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
    on_step
        Called with the number of models that were tried.

    Raises
    ------
    ParameterError
        If ``test_size`` is no share.
    LabelError
        If there are too few items.
    """
    if not 0 <= test_size < 1:
        raise ParameterError(f"test_size must be at least 0 and below 1. Got {test_size:g}.")
    is_test = held_out(labelled, test_size, classifier.random_state)
    numbers = digests(labelled.texts)
    fitted, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    # A text that is also among those to learn from says nothing about new texts.
    test = test[~np.isin(numbers[test], numbers[fitted])]
    _fit(classifier, labelled.take(fitted), on_step)
    assessment = None
    if len(test):
        tested = labelled.take(test)
        assessment = classifier.evaluate(tested.texts, tested.labels)
    n_train = len(fitted)
    if final and n_train < len(labelled.texts):
        on_step("Training on all items", 0, None)
        classifier = classifier.refit(labelled.texts, labelled.targets)
        n_train = len(labelled.texts)
    result = TrainingResult(classifier, assessment, n_train, len(test))
    classifier.record(
        columns=asdict(columns), test_items=len(test), measures=result.measures, final=final
    )
    return result


def _fit(classifier: TextClassifier, labelled: Labelled, on_step: OnStep) -> None:
    """Fit a classifier and tell of the models that are tried."""
    n_tried = 0

    def tried(_: Trial) -> None:
        nonlocal n_tried
        n_tried += 1
        on_step(step, n_tried, None)

    step = "Training, models tried" if classifier.model == "auto" else "Training"
    on_step(step, n_tried, None)
    classifier.fit(labelled.texts, labelled.targets, callback=tried)

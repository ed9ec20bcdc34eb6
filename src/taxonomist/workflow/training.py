"""Train a text classifier on some of the items and measure it on the others."""

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
    """A fitted classifier and its assessment on held-out items.

    Attributes
    ----------
    classifier
        The classifier.
    assessment
        Its assessment; None if no items were held out.
    n_train
        Number of items that the classifier was trained on.
    n_test
        Number of items that were held out and measured. If the classifier was retrained on all
        items, it was trained on these too.
    n_dropped
        Number of held-out items that were dropped, because their texts are also training texts.
    """

    classifier: TextClassifier
    assessment: Assessment | None
    n_train: int
    n_test: int
    n_dropped: int = 0

    @property
    def measures(self) -> dict[str, Any]:
        """The measures on held-out items with their intervals, as plain data."""
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
    """Train a classifier on some of the items and measure it on the others.

    Parameters
    ----------
    classifier
        The unfitted classifier.
    labelled
        The items.
    columns
        The columns that the items were read from; stored with the model.
    test_size
        Fraction of the items to hold out.
    final
        Whether to retrain the classifier on all items after measuring it.
    on_step
        Called with the number of models tried so far.

    Raises
    ------
    ParameterError
        If ``test_size`` is not in [0, 1).
    LabelError
        If there are too few items.
    """
    if not 0 <= test_size < 1:
        raise ParameterError(f"test_size must be at least 0 and below 1. Got {test_size:g}.")
    is_test = held_out(labelled, test_size, classifier.random_state)
    numbers = digests(labelled.texts)
    fitted, chosen = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    # A test text that is also a training text cannot tell how the model does on new texts.
    test = chosen[~np.isin(numbers[chosen], numbers[fitted])]
    _fit(classifier, labelled.take(fitted), on_step)
    assessment = None
    if len(test):
        tested = labelled.take(test)
        assessment = classifier.evaluate(tested.texts, tested.labels)
    n_train, n_dropped = len(fitted), len(chosen) - len(test)
    if final and n_train < len(labelled.texts):
        on_step("Training on all items", 0, None)
        classifier = classifier.refit(labelled.texts, labelled.targets)
        n_train, n_dropped = len(labelled.texts), 0
    result = TrainingResult(classifier, assessment, n_train, len(test), n_dropped)
    classifier.record(
        columns=asdict(columns), test_items=len(test), measures=result.measures, final=final
    )
    return result


def _fit(classifier: TextClassifier, labelled: Labelled, on_step: OnStep) -> None:
    """Fit a classifier and report the number of models tried."""
    n_tried = 0

    def tried(_: Trial) -> None:
        nonlocal n_tried
        n_tried += 1
        on_step(step, n_tried, None)

    step = "Training, models tried" if classifier.model == "auto" else "Training"
    on_step(step, n_tried, None)
    classifier.fit(labelled.texts, labelled.targets, callback=tried)

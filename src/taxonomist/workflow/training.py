"""Train a text classifier on some of the items and measure it on the others."""

from __future__ import annotations

from dataclasses import asdict
from math import isinf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.errors import ParameterError
from taxonomist.text.digests import digests
from taxonomist.workflow.gains import taxonomy_gain
from taxonomist.workflow.holding_out import held_out
from taxonomist.workflow.steps import silent, span

if TYPE_CHECKING:
    from taxonomist.datasets.columns import Columns
    from taxonomist.evaluation import Assessment
    from taxonomist.text import TextClassifier
    from taxonomist.text.search import SearchStep
    from taxonomist.workflow.labelled import Labelled
    from taxonomist.workflow.steps import OnStep

__all__ = ["TrainingResult", "findings", "train"]

TRYING = "Trying models"
"""Name of the step of a model search."""


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
    def measures(self) -> dict[str, object]:
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
        Called with the number of models tried so far and with each step of the training.

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
    assessment, bought = None, {}
    if len(test):
        on_step("Measuring", 0, None)
        tested = labelled.take(test)
        answers = classifier.answer(classifier.features_.count(tested.texts))
        assessment = answers.evaluate(tested.labels)
        train = labelled.take(fitted)
        if gain := taxonomy_gain(classifier, train, answers, tested.labels, on_step):
            bought["taxonomy_gain"] = gain
    n_train, n_dropped = len(fitted), len(chosen) - len(test)
    if final and n_train < len(labelled.texts):
        on_step("Training on all items", 0, None)
        classifier = classifier.refit(labelled.texts, labelled.targets)
        n_train, n_dropped = len(labelled.texts), 0
    result = TrainingResult(classifier, assessment, n_train, len(test), n_dropped)
    classifier.record(
        columns=asdict(columns),
        test_items=len(test),
        measures=result.measures,
        final=final,
        **bought,
    )
    return result


def findings(classifier: TextClassifier) -> dict[str, dict[str, object]]:
    """Return the training facts that explain themselves, by name: ``said`` is a sentence."""
    facts = classifier.training_.items()
    return {name: fact for name, fact in facts if isinstance(fact, dict) and "said" in fact}


def _fit(classifier: TextClassifier, labelled: Labelled, on_step: OnStep) -> None:
    """Fit a classifier and report each step of its search."""

    def tell(step: SearchStep) -> None:
        note = "" if step.estimate is None else f"about {span(step.estimate)}"
        if step.done == step.total:
            on_step(step.what[:1].upper() + step.what[1:], 0, None, note)
            return
        left = "" if isinf(step.left) else f"at most {span(step.left)} left"
        on_step(TRYING, step.done, step.total, ", ".join(filter(None, (step.what, note, left))))

    if classifier.model != "auto":
        on_step("Training", 0, None)
    classifier.fit(labelled.texts, labelled.targets, callback=tell)

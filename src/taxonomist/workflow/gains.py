"""What a taxonomy adds to a classifier: the same model with and without it, on the same items."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from taxonomist.evaluation.headline import difference_of_each
from taxonomist.evaluation.outcomes import Outcomes
from taxonomist.workflow.comparison import FLAT
from taxonomist.workflow.labelled import targets_of
from taxonomist.workflow.steps import silent, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.evaluation.significance import Interval
    from taxonomist.text import TextClassifier
    from taxonomist.text.answers import TextAnswers
    from taxonomist.workflow.labelled import Labelled
    from taxonomist.workflow.steps import OnStep

__all__ = ["taxonomy_gain"]

MOST_SECONDS = 30.0
"""A classifier that took longer to train gets no flat twin unless a report asks for it."""
SHOWN = {False: ("hierarchical_f1", "accuracy"), True: ("hierarchical_f1", "category_micro_f1")}
"""Measures of the gain, by whether items have label sets."""


def taxonomy_gain(
    classifier: TextClassifier,
    train: Labelled,
    answers: TextAnswers,
    truth: Sequence[Sequence[str]],
    on_step: OnStep = silent,
) -> dict[str, Any]:
    """Train the flat twin of a classifier, and return by how much the taxonomy improves it.

    Parameters
    ----------
    classifier
        The fitted classifier.
    train
        The items that it was trained on.
    answers
        Its predictions for the items to measure both on, whose texts are counted.
    truth
        The labels of these items.
    on_step
        Called before the twin is trained.

    Returns
    -------
    dict
        ``said``, a sentence; and by measure, the ``estimate`` of the difference and the ends
        ``low`` and ``high`` of its 95 % interval, None if there are too few items for one. Empty if
        the taxonomy has a single level, or the model ignores it.
    """
    taxonomy, model = classifier.taxonomy_, classifier.chosen[0]
    if taxonomy.height < 2 or model == FLAT or not len(answers):
        return {}
    seconds = float(classifier.training_["seconds"])
    if seconds > MOST_SECONDS:
        return {
            "said": f"What the taxonomy adds was not measured, because training takes "
            f"{span(seconds)}; taxonomist report measures it."
        }
    on_step("Training without the taxonomy", 0, None)
    twin = classifier.flat_twin().set_params(calibration=None)
    twin.fit(train.texts, train.targets)
    both = answers.labels(), twin.predict_labels(answers.texts)
    ours, others = (_outcomes(classifier, labels, truth) for labels in both)
    found = difference_of_each(ours, others, classifier.random_state)
    chosen = {name: found[name] for name in SHOWN[classifier.is_multilabel_] if name in found}
    numbers = {
        name: {"estimate": value.estimate, "low": _end(value.low), "high": _end(value.high)}
        for name, value in chosen.items()
    }
    return {"said": _said(chosen), **numbers}


def _outcomes(
    classifier: TextClassifier, found: Sequence[Sequence[str]], labels: Sequence[Sequence[str]]
) -> Outcomes:
    """Return predictions of the classifier or its twin, beside the truth."""
    taxonomy, is_multilabel = classifier.taxonomy_, classifier.is_multilabel_
    truth, predicted = (targets_of(each, is_multilabel=is_multilabel) for each in (labels, found))
    return Outcomes.of(truth, predicted, taxonomy, None)


def _end(value: float) -> float | None:
    """Return the end of an interval; None, which JSON can hold, if it is unknown."""
    return None if math.isnan(value) else value


def _said(gains: dict[str, Interval]) -> str:
    """Return a sentence about the gains."""
    first = next(iter(gains.values()))
    has_ends = not math.isnan(first.low)
    told = [
        f"{name.replace('_', ' ').replace('f1', 'F1')} {gain.estimate:+z.3f}"
        + (f" [{gain.low:+z.3f}, {gain.high:+z.3f}]" if has_ends else "")
        for name, gain in gains.items()
    ]
    verdict = "" if first.low > 0 or first.high < 0 else " This is within the noise."
    if not has_ends:
        verdict = " Too few items are held out to tell whether this is noise."
    return f"The taxonomy, against the same model without it: {', '.join(told)}.{verdict}"

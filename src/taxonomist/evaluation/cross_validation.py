"""Cross-validation: fit on all folds but one, measure on that one, average over folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.evaluation.measures import Measure, as_measures
from taxonomist.evaluation.plan import Outcome, Plan, Task, run
from taxonomist.evaluation.splits import take

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taxonomist._typing import Classifier, Codes, Floats, ItemsLike, LabelsLike


@dataclass(frozen=True)
class CrossValidation:
    """The results of a cross-validation.

    Attributes
    ----------
    measures
        The measures.
    values
        The value of each measure on each fold.
    item_values
        The value of measures for each test item, fold by fold; empty unless the plan asks for it.
    predictions
        The predictions for each fold's test items; None unless the plan asks for them.
    test_items
        The indices of each fold's test items.
    fit_seconds, predict_seconds
        Time for each fold; parallel processes compete, so times grow with their number.
    """

    measures: tuple[Measure, ...]
    values: Mapping[str, Floats]
    item_values: Mapping[str, Floats]
    predictions: tuple[Any, ...] | None
    test_items: tuple[Codes, ...]
    fit_seconds: Floats
    predict_seconds: Floats

    @property
    def mean(self) -> dict[str, float]:
        """The macro-average of each measure: its mean over folds, regardless of their sizes."""
        return {name: float(values.mean()) for name, values in self.values.items()}

    @property
    def std(self) -> dict[str, float]:
        """The standard deviation of each measure over folds; NaN for a single fold."""
        return {name: float(deviation(values)) for name, values in self.values.items()}

    def __str__(self) -> str:
        """Return one line per measure: mean and standard deviation over folds."""
        width = max(map(len, self.values))
        mean, std = self.mean, self.std
        lines = [f"{name:<{width}}  {mean[name]:.3f} ± {std[name]:.3f}" for name in self.values]
        return "\n".join([*lines, f"Mean and deviation over {len(self.test_items)} folds."])


def cross_validate(model: Classifier, X: ItemsLike, y: LabelsLike, plan: Plan) -> CrossValidation:
    """Measure a model by cross-validation.

    Parameters
    ----------
    model
        A scikit-learn classifier; a clone of it is fitted for each fold.
    X
        The items: a list of texts, an array, a sparse matrix or a data frame.
    y
        Their labels: one per item, label sets, or an indicator matrix.
    plan
        Measures, folds, taxonomy and execution options.

    Returns
    -------
    CrossValidation
        Values per fold, their means, and whatever else the plan asks for.

    Raises
    ------
    LabelError
        If the labels do not match the items or the taxonomy, or cannot be split.

    Examples
    --------
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> X, y = [[2, 0], [1, 0], [0, 2], [0, 1]], ["a", "a", "b", "b"]
    >>> cross_validate(MultinomialNB(), X, y, Plan(measures="accuracy", cv=2)).mean
    {'accuracy': 1.0}
    """
    measures = as_measures(plan.measures)
    splits = plan.splits(X, y)
    outcomes = run(fold_tasks("", model, X, y, splits), len(splits), plan)
    return collect(outcomes, measures, splits)


def fold_tasks(
    name: str, model: Classifier, X: ItemsLike, y: LabelsLike, splits: list[tuple[Codes, Codes]]
) -> Iterator[Task]:
    """Yield one task per fold; items are copied only when the task is taken."""
    for number, (train, test) in enumerate(splits, start=1):
        description = f"{name}fold {number} of {len(splits)}"
        items = take(X, train), take(y, train), take(X, test), take(y, test)
        yield Task(description, model, *items)


def collect(
    outcomes: list[Outcome], measures: tuple[Measure, ...], splits: list[tuple[Codes, Codes]]
) -> CrossValidation:
    """Combine the outcomes of a model's folds."""
    predictions = tuple(outcome.predictions for outcome in outcomes)
    return CrossValidation(
        measures,
        values={m.name: np.array([o.values[m.name] for o in outcomes]) for m in measures},
        item_values={
            name: np.concatenate([outcome.item_values[name] for outcome in outcomes])
            for name in outcomes[0].item_values
        },
        predictions=None if predictions[0] is None else predictions,
        test_items=tuple(test for _, test in splits),
        fit_seconds=np.array([outcome.fit_seconds for outcome in outcomes]),
        predict_seconds=np.array([outcome.predict_seconds for outcome in outcomes]),
    )


def deviation(values: Floats) -> Floats:
    """Return the sample standard deviation over the last axis; NaN for a single value."""
    if values.shape[-1] < 2:
        return np.full(values.shape[:-1], np.nan)
    return np.asarray(values.std(axis=-1, ddof=1))

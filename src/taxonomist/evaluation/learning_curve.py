"""Learning curves over the number of training items per category.

Each repeat draws its own sample of each size. The draw depends on the seed, the size and the
repeat but not on the model, so curves of several models are paired.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from taxonomist.errors import ParameterError
from taxonomist.evaluation.cross_validation import deviation
from taxonomist.evaluation.measures import Measure, as_measures
from taxonomist.evaluation.plan import Plan, Task, run
from taxonomist.evaluation.splits import check_lengths, n_rows, sample_per_category, take

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taxonomist._typing import Classifier, Codes, Floats, ItemsLike, LabelsLike

    Pool: TypeAlias = tuple[Codes, Any, Any]


@dataclass(frozen=True)
class LearningCurve:
    """The results of a learning curve.

    Attributes
    ----------
    measures
        The measures.
    sizes
        Numbers of training items per category.
    values
        For each measure, an array of shape (n_sizes, n_repeats).
    n_train
        Numbers of training items, shape (n_sizes, n_repeats).
    fit_seconds
        Training time in seconds, shape (n_sizes, n_repeats).
    """

    measures: tuple[Measure, ...]
    sizes: tuple[int, ...]
    values: Mapping[str, Floats]
    n_train: Codes
    fit_seconds: Floats

    @property
    def mean(self) -> dict[str, Floats]:
        """The mean of each measure over repeats, for each size."""
        return {name: values.mean(axis=1) for name, values in self.values.items()}

    @property
    def std(self) -> dict[str, Floats]:
        """The standard deviation of each measure over repeats; NaN for a single repeat."""
        return {name: deviation(values) for name, values in self.values.items()}


def learning_curve(
    model: Classifier,
    X: ItemsLike,
    y: LabelsLike,
    plan: Plan,
    *,
    sizes: Sequence[int],
    n_repeats: int = 10,
    test: tuple[Any, Any] | None = None,
) -> LearningCurve:
    """Measure a model trained on few items per category, for several sizes.

    Parameters
    ----------
    model
        A scikit-learn classifier; a clone of it is fitted for each sample.
    X
        The items: a list of texts, an array, a sparse matrix or a data frame.
    y
        Their labels: one per item, label sets, or an indicator matrix.
    plan
        Measures, folds, taxonomy and execution options. Repeat r samples from the training items
        of fold r and is measured on its test items; folds are reused in turn.
    sizes
        Numbers of training items per category; smaller categories contribute all their items.
    n_repeats
        Number of samples of each size.
    test
        Items and labels of a fixed test set; samples are then drawn from all of ``X``.

    Returns
    -------
    LearningCurve
        Values per size and repeat, their means and standard deviations.

    Raises
    ------
    LabelError
        If the labels do not match the items or the taxonomy, or cannot be split.
    ValueError
        If sizes are missing, repeated or below 1, or if ``n_repeats`` is below 1.
    """
    measures = as_measures(plan.measures)
    sizes = tuple(map(operator.index, sizes))
    if not sizes or min(sizes) < 1 or len(set(sizes)) < len(sizes) or n_repeats < 1:
        message = f"sizes and n_repeats must be positive, sizes distinct. Got {sizes}, {n_repeats}."
        raise ParameterError(message)
    tasks = _tasks(model, (X, y), _pools(X, y, plan, test), sizes, n_repeats, plan.random_state)
    outcomes = run(tasks, len(sizes) * n_repeats, plan)
    shape = len(sizes), n_repeats
    return LearningCurve(
        measures,
        sizes,
        {m.name: np.reshape([o.values[m.name] for o in outcomes], shape) for m in measures},
        np.reshape([o.n_train for o in outcomes], shape),
        np.reshape([o.fit_seconds for o in outcomes], shape),
    )


def _pools(X: ItemsLike, y: LabelsLike, plan: Plan, test: tuple[Any, Any] | None) -> list[Pool]:
    """Return pairs of the items to sample from and the test set."""
    if test is None:
        return [(train, take(X, held), take(y, held)) for train, held in plan.splits(X, y)]
    check_lengths(X, y)
    check_lengths(*test)
    return [(np.arange(n_rows(X)), *test)]


def _tasks(
    model: Classifier,
    data: tuple[Any, Any],
    pools: list[Pool],
    sizes: tuple[int, ...],
    n_repeats: int,
    seed: int,
) -> Iterator[Task]:
    X, y = data
    for size in sizes:
        for repeat in range(n_repeats):
            train, X_test, y_test = pools[repeat % len(pools)]
            sample = train[sample_per_category(take(y, train), size, [seed, size, repeat])]
            description = f"{size} per category, repeat {repeat + 1} of {n_repeats}"
            yield Task(description, model, take(X, sample), take(y, sample), X_test, y_test)

"""Evaluation plans and their execution: fit a fresh model, predict, measure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.evaluation import outputs
from taxonomist.evaluation.measures import MeasuresLike, as_measures
from taxonomist.evaluation.splits import StratifiedFolds, check_lengths, n_rows

if TYPE_CHECKING:
    from taxonomist._typing import Classifier, Codes, Floats, ItemsLike, LabelsLike
    from taxonomist.taxonomy import Taxonomy

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with the number of finished fits, the number of all fits, and a description."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How to run an evaluation; compared models share one plan.

    Attributes
    ----------
    measures
        Names in ``MEASURES``, :class:`Measure` objects, or a mapping from names to functions of
        truth, prediction and taxonomy.
    taxonomy
        The taxonomy that the measures use; by default the ``taxonomy_`` of the fitted model.
    cv
        Number of stratified folds, a scikit-learn splitter, or pairs of training and test indices.
    per_item
        Whether to also keep the per-item values of measures that are means over items. They
        allow paired tests with more power than a few folds give.
    keep_predictions
        Whether to keep the predictions of the test items.
    random_state
        Seed for folds and samples.
    n_jobs
        Number of processes; the results do not depend on it.
    callback
        Called after each fit with the number of finished fits, of all fits, and a description.
    """

    measures: MeasuresLike
    taxonomy: Taxonomy | None = None
    cv: int | Any = 3
    per_item: bool = False
    keep_predictions: bool = False
    random_state: int = 0
    n_jobs: int = 1
    callback: Progress | None = None

    def splits(self, X: ItemsLike, y: LabelsLike) -> list[tuple[Codes, Codes]]:
        """Return the training and test indices of each fold.

        Parameters
        ----------
        X
            The items.
        y
            Their labels, in any form.

        Returns
        -------
        list of tuple of ndarray
            One pair per fold.

        Raises
        ------
        LabelError
            If ``X`` and ``y`` differ in length, there is nothing to split, or a fold is empty.
        """
        check_lengths(X, y)
        if isinstance(self.cv, int | np.integer):
            pairs = StratifiedFolds(int(self.cv), random_state=self.random_state).split(X, y)
        else:
            pairs = self.cv.split(X, y) if hasattr(self.cv, "split") else self.cv
        found = [(np.asarray(train), np.asarray(test)) for train, test in pairs]
        if not found or any(train.size == 0 or test.size == 0 for train, test in found):
            message = (
                f"cv={self.cv!r} gives {n_rows(X)} items a fold without training or test items."
            )
            raise LabelError(message)
        return found


@dataclass(frozen=True)
class Task:
    """A model to fit and the items to test it on."""

    description: str
    model: Classifier
    X_train: ItemsLike
    y_train: Any
    X_test: ItemsLike
    y_test: Any


@dataclass(frozen=True)
class Outcome:
    """The result of a task."""

    description: str
    values: dict[str, float]
    item_values: dict[str, Floats]
    predictions: Any
    n_train: int
    fit_seconds: float
    predict_seconds: float


def run(tasks: Iterable[Task], n_tasks: int, plan: Plan) -> list[Outcome]:
    """Run the tasks, in parallel if the plan says so, and return their outcomes in order."""
    from sklearn.utils.parallel import Parallel, delayed

    # Workers get neither the callback nor the splitter, which may not be picklable.
    inner = replace(plan, measures=as_measures(plan.measures), callback=None, cv=None)
    parallel = Parallel(n_jobs=plan.n_jobs, return_as="generator")
    outcomes: list[Outcome] = []
    for outcome in parallel(delayed(_carry_out)(task, inner) for task in tasks):
        outcomes.append(outcome)
        if plan.callback is not None:
            plan.callback(len(outcomes), n_tasks, outcome.description)
    return outcomes


def _carry_out(task: Task, plan: Plan) -> Outcome:
    """Fit a clone of the model and measure it on the test items."""
    from sklearn.base import clone

    started = time.perf_counter()
    model = clone(task.model).fit(task.X_train, task.y_train)
    fitted = time.perf_counter()
    taxonomy = outputs.taxonomy_of(model) if plan.taxonomy is None else plan.taxonomy
    measures = as_measures(plan.measures)
    needs = {measure.needs for measure in measures}
    answers: dict[str, tuple[Any, Any, Any]] = {}
    if "predictions" in needs or plan.keep_predictions:
        truth = outputs.truth_of(model, task.y_test, taxonomy)
        answers["predictions"] = truth, outputs.predictions(model, task.X_test, taxonomy), None
    if "scores" in needs:
        answers["scores"] = outputs.scored_truth(model, task.X_test, task.y_test, taxonomy)
    finished = time.perf_counter()
    return Outcome(
        description=task.description,
        values={m.name: m.value(*answers[m.needs], taxonomy) for m in measures},
        item_values={
            m.name: m.item_values(*answers[m.needs], taxonomy)
            for m in measures
            if plan.per_item and m.mean_over_items
        },
        predictions=answers["predictions"][1] if plan.keep_predictions else None,
        n_train=n_rows(task.X_train),
        fit_seconds=fitted - started,
        predict_seconds=finished - fitted,
    )

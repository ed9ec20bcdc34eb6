"""How long a candidate of the model search will take."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from taxonomist.errors import TaxonomistError

if TYPE_CHECKING:
    from taxonomist._typing import Codes
    from taxonomist.text.budget import Budget
    from taxonomist.text.search_problem import SearchProblem

__all__ = ["estimate", "training_seconds"]

PARTS = (40, 10)
"""A candidate is timed on a 40th and on a tenth of the items."""
FEWEST = 20
"""Minimum number of items to time a candidate on."""
LEAST_GROWTH = 0.25
"""Minimum growth of the time with the number of items, where 1 is proportional: two short times are
noisy, and their difference can even be negative."""


def estimate(
    name: str, problem: SearchProblem, items: Codes, n_folds: int, budget: Budget
) -> float:
    """Return the estimated seconds of a cross-validation.

    The model is fitted to a 40th and to a tenth of the items and applied to others. The time is
    assumed to grow linearly with the number of items, and not too slowly. If the first fit alone
    shows that the candidate takes longer than the time left, there is no second one.

    Parameters
    ----------
    name
        The model.
    problem, items
        The problem, and the items of the cross-validation.
    n_folds
        Number of folds.
    budget
        The time left, and the clock.
    """
    n_train = len(items) - len(items) // n_folds
    sizes, seconds = [0], [0.0]
    for part in PARTS:
        size = min(max(FEWEST, len(items) // part), n_train)
        if size == sizes[-1]:
            continue
        start = budget.clock()
        n_test = max(1, size // max(1, n_folds - 1))
        _run(name, problem, items[:size], items[-n_test:])
        sizes.append(size)
        seconds.append(budget.clock() - start)
        if n_folds * seconds[-1] > budget.left:
            return n_folds * seconds[-1]
    slope = (seconds[-1] - seconds[-2]) / (sizes[-1] - sizes[-2])
    slope = max(slope, LEAST_GROWTH * seconds[-1] / sizes[-1])
    return n_folds * (seconds[-1] + slope * (n_train - sizes[-1]))


def training_seconds(
    seconds: float, n_measured: int, n_items: int, n_folds: int, is_calibrated: bool
) -> float:
    """Return the estimated seconds of training the chosen model.

    Parameters
    ----------
    seconds
        Time of its cross-validation.
    n_measured, n_items
        Number of items in the cross-validation, and to train on.
    n_folds
        Number of folds, in the cross-validation and for probabilities.
    is_calibrated
        Whether the model gets probabilities, which need one more fit per fold.
    """
    per_item = seconds / (max(1, n_folds - 1) * n_measured)
    return per_item * n_items * (n_folds if is_calibrated else 1)


def _run(name: str, problem: SearchProblem, train: Codes, test: Codes) -> None:
    """Fit a model and apply it; what it says about so few items is of no interest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            problem.predicted(name, 1.0, train, test)
        except TaxonomistError:
            return

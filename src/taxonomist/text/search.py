"""The short model search of ``model="auto"``, by cross-validation of a few models."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taxonomist import metrics
from taxonomist.compiled.compiling import working_clock
from taxonomist.text.models import MODELS, make_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import Codes
    from taxonomist.taxonomy import Taxonomy

logger = logging.getLogger(__name__)

MOST_ITEMS = 5000
"""Maximum number of items for the search: enough to rank models, in bounded time."""
FEW_ITEMS = 30
"""The mixture is tried if the median number of items per category is below this."""
COSTS = (0.3, 3.0)
"""Values of C to try with the best model, besides 1."""


class Trial(NamedTuple):
    """A model that the search tried.

    ``score`` is hierarchical F1 for label sets, and minus the taxonomy loss for one category per
    item; higher is better.
    """

    model: str
    C: float
    score: float
    seconds: float


class SearchProblem(NamedTuple):
    """The data for the search: features by kind, labels, and the taxonomy."""

    features: dict[bool, Any]  # by whether they are counts
    labels: Sequence[object]
    taxonomy: Taxonomy
    is_multilabel: bool


def search(
    problem: SearchProblem,
    n_folds: int,
    seed: int,
    callback: Callable[[Trial], object] | None = None,
) -> list[Trial]:
    """Cross-validate a few models and return the trials, best first.

    Parameters
    ----------
    problem
        Training items.
    n_folds
        Number of folds.
    seed
        Random seed for shuffling and subsampling the items.
    callback
        Called with each trial.
    """
    rng = np.random.default_rng(seed)
    items = rng.permutation(len(problem.labels))[:MOST_ITEMS]
    trials: list[Trial] = []

    def attempt(name: str, C: float) -> None:
        start = working_clock()
        score = held_out_score(problem, items, name, C, n_folds)
        trial = Trial(name, C, score, working_clock() - start)
        logger.info("Tried %s with C=%g: %.4f in %.1f s.", *trial)
        trials.append(trial)
        if callback is not None:
            callback(trial)

    for name in candidates(problem):
        attempt(name, 1.0)
    best = max(trials, key=lambda trial: trial.score)
    for C in COSTS if MODELS[best.model].has_cost else ():
        attempt(best.model, C)
    return sorted(trials, key=lambda trial: -trial.score)


def candidates(problem: SearchProblem) -> list[str]:
    """Return the names of the models to try."""
    if problem.is_multilabel:
        names = ["flat", "svm", "ranking", "markov"]
        is_tree = problem.taxonomy.is_tree
        return [name for name in names if is_tree or not MODELS[name].needs_tree]
    counts = np.unique(np.asarray(problem.labels, dtype=object), return_counts=True)[1]
    return ["flat", "svm", "mixture"] if np.median(counts) < FEW_ITEMS else ["flat", "svm"]


def held_out_score(
    problem: SearchProblem, items: Codes, name: str, C: float, n_folds: int
) -> float:
    """Return the cross-validated score of a model."""
    X = problem.features[MODELS[name].counts]
    found: list[Any] = [None] * len(items)
    from sklearn.model_selection import KFold

    folds = KFold(min(n_folds, len(items)))
    for train, test in folds.split(items):
        model = make_model(
            name,
            problem.taxonomy,
            is_multilabel=problem.is_multilabel,
            C=C,
            cv=2,
            random_state=0,
        )
        model.fit(X[items[train]], [problem.labels[i] for i in items[train]])
        predicted = model.predict_labels(X[items[test]])
        for i, labels in zip(test.tolist(), predicted, strict=True):
            found[i] = labels if problem.is_multilabel else labels[0]
    truth = [problem.labels[i] for i in items]
    if problem.is_multilabel:
        return float(metrics.hierarchical_f1(truth, found, problem.taxonomy))
    return -float(metrics.taxonomy_loss(truth, found, problem.taxonomy))

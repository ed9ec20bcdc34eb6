"""Fitting probabilities to the scores of held-out items, for any classifier.

Models of this library pass on held-out scores while they are fitted. Other models are cloned and
fitted once per fold. Categories that are missing in a fold get the lowest score of the item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.metaestimators import _safe_split

from taxonomist.errors import ParameterError
from taxonomist.inference.held_out import EvidenceReader
from taxonomist.inference.label_sets import label_limits
from taxonomist.inference.probabilities import SetProbabilities, SingleProbabilities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import Codes, Floats, LabelsLike, MatrixLike
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.learning import Folds
    from taxonomist.models.targets import Targets

MAX_HELD_OUT_SCORES = 2**23
"""Maximum number of held-out scores that are kept with one category per item, 64 MiB."""


class Calibrator:
    """Receives the scores of held-out items and fits probabilities to them.

    Parameters
    ----------
    method
        Calibration method, one of ``inference.probabilities.METHODS``.
    targets, weights
        Labels and weights of all items.
    held_out
        The items that will be held out, in ascending order.
    """

    def __init__(self, method: str, targets: Targets, weights: Floats, held_out: Codes) -> None:
        self._method = method
        self.targets = targets
        self._weights = weights
        self._held_out = held_out
        if targets.is_single:
            n_kept = max(1, MAX_HELD_OUT_SCORES // len(targets.categories))
            self._is_kept = np.zeros(len(weights), dtype=bool)
            self._is_kept[np.random.default_rng(0).permutation(held_out)[:n_kept]] = True
            self._parts: list[tuple[Codes, Floats]] = []
        else:
            marked = targets.labels[held_out]
            self._reader = EvidenceReader(marked, label_limits(marked))

    def take(self, items: Codes, scored: Scored) -> None:
        """Take scored items; see ``HeldOutTaker``."""
        self.add(items, tidy(scored.categories, self.targets.is_single))

    def add(self, items: Codes, scores: Floats) -> None:
        """Take finite scores of items; see ``tidy``."""
        if self.targets.is_single:
            inside = self._is_kept[items]
            self._parts.append((items[inside], scores[inside]))
        else:
            self._reader.add(np.searchsorted(self._held_out, items), scores)

    def finish(self) -> SingleProbabilities | SetProbabilities:
        """Return the fitted probabilities."""
        if not self.targets.is_single:
            weights = self._weights[self._held_out]
            return SetProbabilities.fit(self._method, self._reader, weights)
        items = np.concatenate([part for part, _ in self._parts])
        scores = np.concatenate([part for _, part in self._parts])
        if not len(items):
            raise ParameterError(
                "No held-out item has a category that occurs in the training items of its fold: "
                "give more items of each category."
            )
        order = np.argsort(items)
        items, scores = items[order], scores[order]
        targets, weights = self.targets, self._weights[items]
        seen = np.bincount(targets.labels[self._weights > 0].indices, minlength=scores.shape[1]) > 0
        return SingleProbabilities.fit(
            self._method, targets.categories, scores, targets.labels[items], weights, seen
        )


def scores_by_clones(
    model: Any,
    X: MatrixLike,
    y: LabelsLike,
    targets: Targets,
    folds: Folds,
    sample_weight: Floats | None,
) -> Iterator[tuple[Codes, Floats]]:
    """Yield the finite scores of held-out items, computed by clones of any classifier.

    Parameters
    ----------
    model
        A fitted classifier.
    X, y, sample_weight
        The training data of the classifier.
    targets
        The encoded ``y``.
    folds
        Pairs of training and test items.

    Yields
    ------
    pair of arrays
        Items and their scores, (n_block, n_classes). An item is left out if its only category does
        not occur in the training items of the fold.
    """
    column = {label: c for c, label in enumerate(targets.classes.tolist())}
    X, y = indexable(X, y)
    for train, test in folds:
        weights = {} if sample_weight is None else {"sample_weight": sample_weight[train]}
        part = clone(model).fit(*_safe_split(model, X, y, train), **weights)
        rows = _safe_split(model, X, None, test, train)[0]
        scores = opened(part, rows).categories
        known = [column[label] for label in part.classes_.tolist()]
        whole = np.repeat(scores.min(axis=1, keepdims=True), len(column), axis=1)
        whole[:, known] = scores
        used = np.ones(len(test), dtype=bool)
        if targets.is_single:
            used = np.isin(targets.labels[test].indices, known)
        yield test[used], whole[used]


class Opened:
    """The classifier inside pipelines and searches, with transformed items.

    Parameters
    ----------
    model
        A fitted classifier that is not a pipeline.
    X
        The transformed items.
    """

    def __init__(self, model: Any, X: MatrixLike) -> None:
        self.model = model
        self.X = X
        self.answers = model.answer(X) if hasattr(model, "answer") else None

    @property
    def categories(self) -> Floats:
        """Finite category scores, (n_items, n_classes)."""
        model = self.model
        if self.answers is not None:
            return tidy(self.answers.category_scores(), model.targets_.is_single)
        if hasattr(model, "decision_function"):
            return tidy(np.asarray(model.decision_function(self.X), dtype=np.float64), True)
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(model.predict_proba(self.X), dtype=np.float64))
        return tidy(logs, True)


def opened(model: Any, X: MatrixLike) -> Opened:
    """Return the classifier inside pipelines and searches, with transformed items."""
    if hasattr(model, "steps"):
        rows = model[:-1].transform(X) if len(model.steps) > 1 else X
        return opened(model.steps[-1][1], rows)
    if hasattr(model, "best_estimator_"):
        return opened(model.best_estimator_, X)
    return Opened(model, X)


def innermost(model: Any) -> Any:
    """Return the classifier inside pipelines and searches."""
    if hasattr(model, "steps"):
        return innermost(model.steps[-1][1])
    return innermost(model.best_estimator_) if hasattr(model, "best_estimator_") else model


def seeded(model: Any) -> Any:
    """Set every ``random_state`` of None in a model to 0, and return the model."""
    found = model.get_params().items()
    names = [name for name, value in found if value is None and name.endswith("random_state")]
    return model.set_params(**dict.fromkeys(names, 0)) if names else model


def tidy(scores: Floats, is_single: bool) -> Floats:
    """Return finite scores with one column per category.

    Infinite scores are replaced by the nearest finite score of the item. With two categories, the
    scores are half the difference, with opposite signs.
    """
    if is_single and scores.ndim == 2 and scores.shape[1] == 2:
        scores = scores[:, 1] - scores[:, 0]
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores]) / 2
    if np.isfinite(scores).all():
        return scores
    inside = np.isfinite(scores)
    low = scores.min(axis=1, where=inside, initial=np.inf, keepdims=True)
    high = scores.max(axis=1, where=inside, initial=-np.inf, keepdims=True)
    has_any = inside.any(axis=1, keepdims=True)
    bounded: Floats = np.clip(scores, np.where(has_any, low, 0.0), np.where(has_any, high, 0.0))
    return bounded

"""Fitting probabilities to the scores of held-out items, for any classifier.

Models of this library hand over such scores while they are fitted. Others are cloned and fitted
once for each fold; a fold may then lack categories, which score as low as the worst of an item's
others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.metaestimators import _safe_split

from taxonomist.inference.held_out import EvidenceReader
from taxonomist.inference.label_sets import label_limits
from taxonomist.inference.probabilities import SetProbabilities, SingleProbabilities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import Codes, Floats
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.learning import Folds
    from taxonomist.models.targets import Targets

KEPT = 2**23
"""Scores of held-out items that are kept for one category per item, 64 MiB."""


class Calibrator:
    """Takes the scores of held-out items, and fits probabilities to them.

    Parameters
    ----------
    method
        How scores become probabilities, one of ``inference.probabilities.METHODS``.
    targets, weights
        Labels and weights of all items.
    held_out
        The items that will be held out, ascending.
    """

    def __init__(self, method: str, targets: Targets, weights: Floats, held_out: Codes) -> None:
        self._method = method
        self.targets = targets
        self._weights = weights
        self._held_out = held_out
        if targets.is_single:
            n_kept = max(1, KEPT // len(targets.categories))
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
        """Take tidy scores of items."""
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
            raise ValueError(
                "No held-out item has a category that the model of its fold has seen: give more "
                "items of each category."
            )
        order = np.argsort(items)
        items, scores = items[order], scores[order]
        targets, weights = self.targets, self._weights[items]
        return SingleProbabilities.fit(
            self._method, targets.categories, scores, targets.labels[items], weights
        )


def scores_by_clones(
    model: Any, X: Any, y: Any, targets: Targets, folds: Folds, sample_weight: Any
) -> Iterator[tuple[Codes, Floats]]:
    """Yield the tidy scores of held-out items by clones of a model of any kind.

    Parameters
    ----------
    model
        A fitted classifier.
    X, y, sample_weight
        What it was fitted to.
    targets
        What ``y`` says.
    folds
        Pairs of the items to learn from and those to score.

    Yields
    ------
    pair of arrays
        Items, and their scores, (n_block, n_classes). An item whose one category the clone of a
        fold does not know is left out.
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
    """The classifier inside of pipelines and searches, and what it says of items.

    Parameters
    ----------
    model
        A fitted classifier that is no pipeline.
    X
        Items as it takes them.
    """

    def __init__(self, model: Any, X: Any) -> None:
        self.model = model
        self.X = X
        self.answers = model.answer(X) if hasattr(model, "answer") else None

    @property
    def categories(self) -> Floats:
        """Scores of categories, tidy, (n_items, n_classes)."""
        model = self.model
        if self.answers is not None:
            return tidy(self.answers.category_scores(), model.targets_.is_single)
        if hasattr(model, "decision_function"):
            return tidy(np.asarray(model.decision_function(self.X), dtype=np.float64), True)
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(model.predict_proba(self.X), dtype=np.float64))
        return tidy(logs, True)


def opened(model: Any, X: Any) -> Opened:
    """Return the classifier inside of pipelines and searches, with the items that it is given."""
    if hasattr(model, "steps"):
        rows = model[:-1].transform(X) if len(model.steps) > 1 else X
        return opened(model.steps[-1][1], rows)
    if hasattr(model, "best_estimator_"):
        return opened(model.best_estimator_, X)
    return Opened(model, X)


def innermost(model: Any) -> Any:
    """Return the classifier inside of pipelines and searches."""
    if hasattr(model, "steps"):
        return innermost(model.steps[-1][1])
    return innermost(model.best_estimator_) if hasattr(model, "best_estimator_") else model


def tidy(scores: Floats, is_single: bool) -> Floats:
    """Return finite scores with a column for each category.

    What is infinite takes the place of the nearest finite score of the item. A decision between two
    categories, however it comes, is by how much one has more than the other.
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

"""Scores of items by models that have not seen them, for any classifier.

Models of this library learn anew without the held-out items, from where they ended with them, and
keep all their categories. Others are cloned; of these a fold may lack categories, which then score
as low as the worst of an item's others.
"""

from __future__ import annotations

from copy import copy
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_sample_weight

from taxonomist.models.count_model import CountModel
from taxonomist.models.hierarchical_svc import HierarchicalSVC
from taxonomist.models.label_sets import LabelSetModel
from taxonomist.models.max_margin_markov_classifier import MaxMarginMarkovClassifier
from taxonomist.models.targets import item_costs
from taxonomist.solvers.duals import of_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import Codes, Floats
    from taxonomist.models.set_targets import SetTargets

    Folds = list[tuple[Codes, Codes]]
    Blocks = Iterator[tuple[Codes, Floats]]


def make_folds(cv: Any, targets: SetTargets, weights: Floats) -> Folds:
    """Return pairs of the items to learn from and those to hold out, each with a weight.

    Parameters
    ----------
    cv
        A number of folds, of which each gets its share of every category; an object with
        ``split``; or pairs of arrays.
    targets
        What the items are labelled with.
    weights
        Those of the items; items without weight are left out of all folds.

    Returns
    -------
    list of pairs of arrays
        Empty if there is only one item, which cannot be held out.

    Raises
    ------
    ValueError
        If there are fewer than two folds, or an item would be held out twice.
    """
    if isinstance(cv, Integral):
        return _dealt(int(cv), targets, np.flatnonzero(weights))
    n_items = len(weights)
    splits = cv.split(np.zeros((n_items, 1)), _strata(targets)) if hasattr(cv, "split") else cv
    folds = [tuple(np.arange(n_items)[np.asarray(part)] for part in pair) for pair in splits]
    folds = [(train[weights[train] > 0], test[weights[test] > 0]) for train, test in folds]
    held_out = np.concatenate([test for _, test in folds]) if folds else np.arange(0)
    if len(np.unique(held_out)) < len(held_out):
        raise ValueError("cv holds an item out twice; give splits whose test items are disjoint.")
    if not len(held_out):
        raise ValueError("cv holds no item out, so there is nothing to calibrate by.")
    return folds


def _dealt(n_folds: int, targets: SetTargets, items: Codes) -> Folds:
    """Return folds to which the items are dealt out, category by category."""
    if n_folds < 2:
        raise ValueError(f"cv must be at least 2, or splits. Got {n_folds}.")
    if len(items) < 2:
        return []
    mixed = np.random.default_rng(0).permutation(items)
    order = mixed[np.argsort(_strata(targets)[mixed], kind="stable")]
    n_folds = min(n_folds, len(items))
    return [
        (np.sort(np.delete(order, np.s_[k::n_folds])), np.sort(order[k::n_folds]))
        for k in range(n_folds)
    ]


def _strata(targets: SetTargets) -> Codes:
    """Return the first category of each item, -1 if it has none."""
    labels = targets.labels
    first = np.full(labels.shape[0], -1, dtype=np.intp)
    has_any = np.diff(labels.indptr) > 0
    first[has_any] = labels.indices[labels.indptr[:-1][has_any]]
    return first


def category_scores(model: Any, X: Any, is_single: bool) -> Floats:
    """Return the scores of all categories by a fitted model.

    Parameters
    ----------
    model
        The model.
    X
        Items as the model takes them.
    is_single
        Whether items have one category each.

    Returns
    -------
    ndarray, shape (n_items, n_classes)
        In the order of ``classes_``, finite.
    """
    if isinstance(model, MaxMarginMarkovClassifier) and not is_single:
        scores = model._of_categories(X, model._labellings().max_marginals)
    elif hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
    else:
        with np.errstate(divide="ignore"):
            scores = np.log(np.asarray(model.predict_proba(X), dtype=np.float64))
    return _tidy(scores, is_single)


def held_out_scores(
    model: Any, X: Any, y: Any, targets: SetTargets, folds: Folds, sample_weight: Any = None
) -> Blocks:
    """Yield blocks of items and the scores of all categories by a model that has not seen them.

    Parameters
    ----------
    model
        Fitted to all items.
    X, y, sample_weight
        What it was fitted to.
    targets
        What ``y`` says.
    folds
        From ``make_folds``.

    Yields
    ------
    pair of arrays
        Items, and their scores, (n_block, n_classes), as ``category_scores`` gives them. An item
        whose one category the model of a fold does not know is left out.
    """
    if not isinstance(model, (LabelSetModel, CountModel, HierarchicalSVC)):
        yield from _by_clones(model, X, y, targets, folds, sample_weight)
        return
    X = model._validate(X, reset=False)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    for train, test in folds:
        part = _without_others(model, X, targets, train, weights)
        for block, found in _score_blocks(part, _rows(model, X, test, train)):
            scores = _of_categories(part, found, targets.is_single)
            yield test[block], _tidy(scores, targets.is_single)


def _without_others(model: Any, X: Any, targets: SetTargets, train: Codes, weights: Floats) -> Any:
    """Return a model of this library that has learned from some of its items only."""
    part, rows, inside = copy(model), _rows(model, X, train, train), targets.select(train)
    if isinstance(model, CountModel):
        part._learn(rows, inside, weights[train])
        return part
    if isinstance(model, LabelSetModel):
        start = model._start_of(train) if model._starts_held_out else None
        part._learn(rows, inside, model._costs(weights, X)[train], start)
        return part
    costs = item_costs(model.C, weights, X)[train]
    start = of_items(model._duals, train)
    part._solve(rows, inside.labels, inside.categories, inside.classes, costs, start=start)
    return part


def _rows(model: Any, X: Any, items: Codes, train: Codes) -> Any:
    """Return some items, with a precomputed kernel their values with the training items."""
    is_gram = getattr(model, "kernel", None) == "precomputed"
    return X[np.ix_(items, train)] if is_gram else X[items]


def _score_blocks(model: Any, X: Any) -> Iterator[tuple[slice, Floats]]:
    """Yield blocks of checked items and what the model makes scores of categories of."""
    if isinstance(model, HierarchicalSVC):
        return model._scores().blocks(X)
    blocks: Iterator[tuple[slice, Floats]] = model._score_blocks(X)
    return blocks


def _of_categories(model: Any, found: Floats, is_single: bool) -> Floats:
    """Return the scores of categories; a Markov tree finds gains of nodes."""
    if not isinstance(model, MaxMarginMarkovClassifier):
        return found
    scores: Floats = (
        found @ model._attributes.T
        if is_single
        else model._labellings().max_marginals(found)[:, model._codes]
    )
    return scores


def _by_clones(
    model: Any, X: Any, y: Any, targets: SetTargets, folds: Folds, sample_weight: Any
) -> Blocks:
    """Yield held-out scores by clones of a model of any kind."""
    column = {label: c for c, label in enumerate(targets.classes.tolist())}
    X, y = indexable(X, y)
    for train, test in folds:
        weights = {} if sample_weight is None else {"sample_weight": sample_weight[train]}
        part = clone(model).fit(*_safe_split(model, X, y, train), **weights)
        scores = category_scores(
            part, _safe_split(model, X, None, test, train)[0], targets.is_single
        )
        known = [column[label] for label in part.classes_.tolist()]
        whole = np.repeat(scores.min(axis=1, keepdims=True), len(column), axis=1)
        whole[:, known] = scores
        used = np.ones(len(test), dtype=bool)
        if targets.is_single:
            used = np.isin(targets.labels[test].indices, known)
        yield test[used], whole[used]


def _tidy(scores: Floats, is_single: bool) -> Floats:
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

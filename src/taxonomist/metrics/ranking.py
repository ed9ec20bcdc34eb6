"""Measures of the ranking of categories for items with label sets: CH07.

The truth is a sequence of label sets or an indicator matrix with the shape of the scores. Scores
are dense or sparse, items x classes, with absent entries 0.

Ties count against the prediction: a relevant category ranks behind every irrelevant one with the
same score, as in [CH04, Eq. 38] and in CH07, where f(y) <= f(ȳ) is a mistake. Every measure
therefore describes the worst order that the scores allow.

Items without a relevant category are left out of the mean. If no item remains, the value is NaN and
scikit-learn's ``UndefinedMetricWarning`` is issued.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.metrics._categories import NodeCosts, PairLoss, category_parents, pair_losses
from taxonomist.metrics._inputs import defined_mean
from taxonomist.metrics._rankings import blocks, dense, rank, read
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from taxonomist._typing import CSR, Bools, Codes, Floats, LabelsLike, Matrix, MatrixLike
    from taxonomist.taxonomy import Taxonomy


def one_accuracy(
    y_true: LabelsLike,
    scores: MatrixLike,
    *,
    classes: Sequence[object] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of items whose first category is relevant.

    Parameters
    ----------
    y_true
        Label sets, or an indicator matrix with the shape of ``scores``.
    scores
        Dense or sparse, items x classes.
    classes
        The label of each column; not needed if ``y_true`` is an indicator matrix.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Between 0 and 1; higher is better.

    Raises
    ------
    LabelError
        If a score is NaN, a label has no column, or shapes differ.
    """
    ranking = rank(y_true, scores, classes)
    return defined_mean(
        ranking.per_item(ranking.position == 1), ranking.n_relevant > 0, sample_weight
    )


def average_precision(
    y_true: LabelsLike,
    scores: MatrixLike,
    *,
    classes: Sequence[object] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean precision at the positions of the relevant categories, averaged over items.

    Parameters
    ----------
    y_true
        Label sets, or an indicator matrix with the shape of ``scores``.
    scores
        Dense or sparse, items x classes.
    classes
        The label of each column; not needed if ``y_true`` is an indicator matrix.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Above 0 and at most 1; higher is better.

    Raises
    ------
    LabelError
        If a score is NaN, a label has no column, or shapes differ.
    """
    ranking = rank(y_true, scores, classes)
    total = ranking.per_item(ranking.nth / ranking.position)
    return defined_mean(
        total / np.maximum(ranking.n_relevant, 1), ranking.n_relevant > 0, sample_weight
    )


def ranking_loss(
    y_true: LabelsLike,
    scores: MatrixLike,
    *,
    classes: Sequence[object] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of (relevant, irrelevant) pairs of categories in the wrong order.

    An item for which every category is relevant has no such pair; its loss is 0.

    Parameters
    ----------
    y_true
        Label sets, or an indicator matrix with the shape of ``scores``.
    scores
        Dense or sparse, items x classes.
    classes
        The label of each column; not needed if ``y_true`` is an indicator matrix.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Between 0 and 1; lower is better.

    Raises
    ------
    LabelError
        If a score is NaN, a label has no column, or shapes differ.
    """
    ranking = rank(y_true, scores, classes)
    n_pairs = ranking.n_relevant * (ranking.n_classes - ranking.n_relevant)
    misordered = ranking.per_item(ranking.position - ranking.nth)
    return defined_mean(misordered / np.maximum(n_pairs, 1), ranking.n_relevant > 0, sample_weight)


def precision_at_k(
    y_true: LabelsLike,
    scores: MatrixLike,
    *,
    k: int = 5,
    classes: Sequence[object] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of the first ``k`` categories that are relevant.

    Parameters
    ----------
    y_true
        Label sets, or an indicator matrix with the shape of ``scores``.
    scores
        Dense or sparse, items x classes.
    k
        Number of positions, and the divisor even if there are fewer categories.
    classes
        The label of each column; not needed if ``y_true`` is an indicator matrix.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Between 0 and 1; higher is better.

    Raises
    ------
    LabelError
        If a score is NaN, a label has no column, shapes differ, or ``k`` is not 1, 2, ...
    """
    _check_k(k)
    ranking = rank(y_true, scores, classes)
    return defined_mean(
        ranking.per_item(ranking.position <= k) / k, ranking.n_relevant > 0, sample_weight
    )


def f1_at_k(
    y_true: LabelsLike,
    scores: MatrixLike,
    *,
    k: int = 5,
    classes: Sequence[object] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """F1 of the first ``k`` categories as a prediction, averaged over items.

    The harmonic mean of the precision and the recall of the first ``k``: twice the number of
    relevant ones among them, divided by ``k`` plus the number of all relevant ones.

    Parameters
    ----------
    y_true
        Label sets, or an indicator matrix with the shape of ``scores``.
    scores
        Dense or sparse, items x classes.
    k
        Number of positions, which counts in full even if there are fewer categories.
    classes
        The label of each column; not needed if ``y_true`` is an indicator matrix.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Between 0 and 1; higher is better.

    Raises
    ------
    LabelError
        If a score is NaN, a label has no column, shapes differ, or ``k`` is not 1, 2, ...
    """
    _check_k(k)
    ranking = rank(y_true, scores, classes)
    hits = ranking.per_item(ranking.position <= k)
    return defined_mean(2 * hits / (k + ranking.n_relevant), ranking.n_relevant > 0, sample_weight)


def ndcg_at_k(
    y_true: LabelsLike,
    scores: MatrixLike,
    *,
    k: int = 5,
    classes: Sequence[object] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Discounted gain of the first ``k`` categories, divided by the best possible gain.

    A relevant category at position p gains 1 / log2(p + 1).

    Parameters
    ----------
    y_true
        Label sets, or an indicator matrix with the shape of ``scores``.
    scores
        Dense or sparse, items x classes.
    k
        Number of positions that count.
    classes
        The label of each column; not needed if ``y_true`` is an indicator matrix.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Between 0 and 1; higher is better.

    Raises
    ------
    LabelError
        If a score is NaN, a label has no column, shapes differ, or ``k`` is not 1, 2, ...
    """
    _check_k(k)
    ranking = rank(y_true, scores, classes)
    gain = (ranking.position <= k) / np.log2(ranking.position + 1)
    best = np.cumsum(1 / np.log2(np.arange(2, ranking.n_classes + 2)))
    reachable = best[np.clip(ranking.n_relevant, 1, k) - 1]
    return defined_mean(ranking.per_item(gain) / reachable, ranking.n_relevant > 0, sample_weight)


def maximal_loss(
    y_true: LabelsLike,
    scores: MatrixLike,
    taxonomy: Taxonomy,
    *,
    classes: Sequence[str],
    loss: NodeCosts | PairLoss | Callable[[str, str], float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Largest loss Δ(y, ȳ) of a misordered pair, or 0 if there is none, averaged over items.

    Parameters
    ----------
    y_true
        Label sets, or an indicator matrix with the shape of ``scores``.
    scores
        Dense or sparse, items x classes.
    taxonomy
        The taxonomy of the classes.
    classes
        The node of each column.
    loss
        Δ: None for half the symmetric difference of the ancestor sets; otherwise a loss made by
        ``taxonomist.losses.weighted_tree`` or ``category_loss``, or a function of the relevant and
        the irrelevant id.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Zero or more; lower is better.

    Raises
    ------
    LabelError
        If a score is NaN, a label has no column, a class is not in the taxonomy, or shapes differ.
    """
    relevant, scores = read(y_true, scores, classes)
    worst = np.zeros(relevant.shape[0])
    for items, misordered, delta in _misordered(relevant, scores, taxonomy, classes, loss):
        worst[items] = np.maximum(worst[items], (misordered * delta).max(axis=1))
    return defined_mean(worst, np.diff(relevant.indptr) > 0, sample_weight)


def misordering_loss(
    y_true: LabelsLike,
    scores: MatrixLike,
    taxonomy: Taxonomy,
    *,
    classes: Sequence[str],
    loss: NodeCosts | PairLoss | Callable[[str, str], float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Sum of the losses Δ(y, ȳ) of all misordered pairs, Δ(Y, g), averaged over items [CH07].

    Parameters
    ----------
    y_true
        Label sets, or an indicator matrix with the shape of ``scores``.
    scores
        Dense or sparse, items x classes.
    taxonomy
        The taxonomy of the classes.
    classes
        The node of each column.
    loss
        Δ, as for ``maximal_loss``.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Zero or more; lower is better.

    Raises
    ------
    LabelError
        If a score is NaN, a label has no column, a class is not in the taxonomy, or shapes differ.
    """
    relevant, scores = read(y_true, scores, classes)
    total = np.zeros(relevant.shape[0])
    for items, misordered, delta in _misordered(relevant, scores, taxonomy, classes, loss):
        total[items] += misordered @ delta
    return defined_mean(total, np.diff(relevant.indptr) > 0, sample_weight)


def _misordered(
    relevant: CSR, scores: Matrix, taxonomy: Taxonomy, classes: Sequence[str], loss: object
) -> Iterator[tuple[Codes, Bools, Floats]]:
    """Yield some items of a relevant category, their misordered classes, and Δ of each class."""
    codes = labels.encode(taxonomy, classes, name="classes")
    by_class = relevant.tocsc()
    for column in np.flatnonzero(np.diff(by_class.indptr)):
        delta = pair_losses(taxonomy, np.full(len(codes), codes[column]), codes, loss)
        items = by_class.indices[by_class.indptr[column] : by_class.indptr[column + 1]]
        for rows in blocks(len(items), len(codes)):
            part = items[rows]
            block = dense(scores, part)
            misordered = block >= block[:, [column]]
            misordered[relevant[part].nonzero()] = False
            yield part, misordered, delta


def parent_one_accuracy(
    y_true: LabelsLike,
    scores: MatrixLike,
    taxonomy: Taxonomy,
    *,
    classes: Sequence[str],
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of items whose first category shares a parent with a relevant category.

    Parameters
    ----------
    y_true
        Label sets, or an indicator matrix with the shape of ``scores``.
    scores
        Dense or sparse, items x classes.
    taxonomy
        The taxonomy of the classes; an interior node among them counts as its own parent.
    classes
        The node of each column.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Between 0 and 1; higher is better.

    Raises
    ------
    LabelError
        If a score is NaN, a label has no column, a class is not in the taxonomy, or shapes differ.
    """
    relevant, scores = read(y_true, scores, classes)
    parents = category_parents(taxonomy, labels.encode(taxonomy, classes, name="classes"))
    right = np.zeros(relevant.shape[0])
    for rows in blocks(*scores.shape):
        block = dense(scores, rows)
        related = (relevant[rows] @ parents @ parents.T).toarray()
        first = block == block.max(axis=1, keepdims=True)
        right[rows] = (related | ~first).all(axis=1)
    return defined_mean(right, np.diff(relevant.indptr) > 0, sample_weight)


def _check_k(k: int) -> None:
    if not isinstance(k, (int, np.integer)) or k < 1:
        raise LabelError(f"k is {k!r}; it must be a whole number, at least 1.")

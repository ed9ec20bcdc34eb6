"""Measures for items with exactly one category: CH04, section 6.2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.metrics._categories import NodeCosts, PairLoss, category_parents, pair_losses
from taxonomist.metrics._inputs import as_id, count_items, encode_pair, mean
from taxonomist.metrics._rankings import rank
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from taxonomist._typing import LabelsLike, MatrixLike
    from taxonomist.taxonomy import Taxonomy


def accuracy(
    y_true: LabelsLike, y_pred: LabelsLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Fraction of items whose predicted category is the true one [CH04, Eq. 37].

    Parameters
    ----------
    y_true, y_pred
        The true and predicted label of each item.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Between 0 and 1; higher is better.

    Raises
    ------
    LabelError
        If there are no items, labels are missing or lengths differ.
    """
    count_items(y_true, y_pred)
    true, predicted = _one_each(y_true, "y_true"), _one_each(y_pred, "y_pred")
    return mean(np.asarray(true == predicted, dtype=bool), sample_weight)


def _one_each(y: LabelsLike, name: str) -> NDArray[np.object_]:
    """Return one label per item; raise for label sets and missing labels."""
    if labels.is_label_sets(y):
        message = f"{name} holds label sets, but accuracy compares one label per item."
        raise LabelError(f"{message} For label sets use zero_one_loss.")
    return np.fromiter((as_id(label) for (label,) in labels.as_sets(y, name)), dtype=object)


def mean_reciprocal_rank(
    y_true: LabelsLike,
    scores: MatrixLike,
    *,
    classes: Sequence[object],
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean reciprocal position of the true category, "precision" in [CH04, Eq. 38].

    The position is the number of categories that score at least as high as the true one, so ties
    count against the prediction.

    Parameters
    ----------
    y_true
        The true label of each item.
    scores
        Dense or sparse, items x classes; absent entries are 0.
    classes
        The label of each column of ``scores``.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Above 0 and at most 1; higher is better.

    Raises
    ------
    LabelError
        If a score is NaN, a label has no column, or lengths differ.
    """
    ranking = rank(y_true, scores, classes)
    if not (ranking.n_relevant == 1).all():
        message = "mean_reciprocal_rank needs exactly one label per item."
        raise LabelError(f"{message} For label sets use average_precision.")
    return mean(1 / ranking.position, sample_weight)


def taxonomy_loss(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    loss: NodeCosts | PairLoss | Callable[[str, str], float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean loss Δ between true and predicted category [CH04, Eq. 39].

    Parameters
    ----------
    y_true, y_pred
        The true and predicted node of each item.
    taxonomy
        The taxonomy of the labels.
    loss
        Δ: None for half the symmetric difference of the ancestor sets [CH04, Eq. 34], which in a
        tree is half the path length; otherwise a loss made by
        ``taxonomist.losses.weighted_tree`` or ``category_loss``, or a function of the true and the
        predicted id.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Zero or more; lower is better.

    Raises
    ------
    LabelError
        If labels are unknown, lengths differ or the loss does not cover the labels. For label sets
        use ``set_loss``.
    """
    true, predicted = encode_pair(y_true, y_pred, taxonomy)
    return mean(pair_losses(taxonomy, true, predicted, loss), sample_weight)


def parent_accuracy(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of items whose predicted category shares a parent with the true one [CH04, Eq. 40].

    An interior node that is used as a category counts as its own parent, because it represents its
    terminal child [CH04, section 2.4].

    Parameters
    ----------
    y_true, y_pred
        The true and predicted node of each item.
    taxonomy
        The taxonomy of the labels; nodes may have several parents.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Between 0 and 1; higher is better.

    Raises
    ------
    LabelError
        If labels are unknown or lengths differ.
    """
    true, predicted = encode_pair(y_true, y_pred, taxonomy)
    shared = category_parents(taxonomy, true) * category_parents(taxonomy, predicted)
    return mean(np.asarray(shared.sum(axis=1)) > 0, sample_weight)

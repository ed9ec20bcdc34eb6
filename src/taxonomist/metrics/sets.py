"""Precision, recall and F1 of label sets: per node, per level and over ancestor-closed sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.metrics._counts import (
    PRF,
    Counts,
    check_options,
    closed_nodes,
    compared,
    count_per_item,
    count_per_node,
    mean_of_defined,
)
from taxonomist.metrics._inputs import closed_sets, encode_sets, item_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from taxonomist._typing import Floats, LabelsLike
    from taxonomist.metrics._counts import ZeroDivision
    from taxonomist.taxonomy import Taxonomy

__all__ = [
    "PRF",
    "hierarchical_f1",
    "hierarchical_precision",
    "hierarchical_prf",
    "hierarchical_recall",
    "precision_recall_f1",
    "precision_recall_f1_per_level",
]


def precision_recall_f1(  # noqa: PLR0913 (options have defaults)
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    average: Literal["micro", "macro", "samples"] | None = "micro",
    nodes: str | Sequence[str] = "leaves",
    beta: float = 1.0,
    zero_division: ZeroDivision = 0.0,
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> PRF:
    """Precision, recall and F1 over nodes.

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item. They are closed under ancestors
        first, except for ``nodes="categories"`` and ``nodes="labels"``.
    taxonomy
        The taxonomy of the labels.
    average
        ``"micro"`` pools all pairs of item and node; ``"macro"`` averages the values of the
        nodes; ``"samples"`` averages the values of the items; None returns the values of the
        nodes in order.
    nodes
        ``"leaves"``; ``"all"`` for every node except the root, which is in every closed set and
        would inflate the result; ``"below_roots"`` to leave out ``taxonomy.roots`` too;
        ``"categories"`` for the leaves and the interior nodes that are some item's most specific
        label, comparing only most specific labels; ``"labels"`` to compare the sets as given,
        without ancestors; or ids. A macro average is over all given ids, but for a word only over
        nodes that are true or predicted for some item.
    beta
        Weight of recall against precision in F-beta, which takes the place of F1.
    zero_division
        The value if nothing is predicted (precision), nothing is true (recall), or neither
        (F1). NaN leaves the node or item out of an average. ``"warn"`` is 0 with scikit-learn's
        ``UndefinedMetricWarning``.
    classes
        Ids of the columns of an indicator matrix; by default one column per node.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    PRF
        ``precision``, ``recall``, ``f1`` and ``support``.

    Raises
    ------
    LabelError
        If labels or options are unknown, or lengths differ.
    """
    if average not in ("micro", "macro", "samples", None):
        message = f"average is {average!r}; it must be 'micro', 'macro', 'samples' or None."
        raise LabelError(message)
    check_options(beta, zero_division)
    Y, U = encode_sets(y_true, y_pred, taxonomy, classes)
    chosen, Y, U = compared(taxonomy, nodes, Y, U)
    weights = item_weights(sample_weight, Y.shape[0])
    if average == "samples":
        return _over_items(count_per_item(Y[:, chosen], U[:, chosen]), weights, zero_division, beta)
    counts = count_per_node(Y, U, weights)
    if average == "micro":
        return _single(counts.total(chosen).prf(zero_division, beta))
    if average == "macro" and isinstance(nodes, str):
        chosen = chosen[(counts.predicted + counts.true)[chosen] > 0]
    each = Counts(*(part[chosen] for part in counts)).prf(zero_division, beta)
    if average is None:
        return each
    means = [mean_of_defined(values, None, zero_division) for values in each[:3]]
    return PRF._make([*means, float(each.support.sum())])


def precision_recall_f1_per_level(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    beta: float = 1.0,
    zero_division: ZeroDivision = 0.0,
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> dict[int, PRF]:
    """Precision, recall and F1 pooled over the nodes of each level [RSSS06, Table 3].

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item; closed under ancestors first.
    taxonomy
        The taxonomy of the labels. A node's level is the length of the longest path from the
        root.
    beta, zero_division
        As for ``precision_recall_f1``.
    classes
        Ids of the columns of an indicator matrix; by default one column per node.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    dict
        By level. Level 0, the root, is included unless it is a virtual root.

    Raises
    ------
    LabelError
        If labels are unknown or lengths differ.
    """
    check_options(beta, zero_division)
    Y, U = closed_sets(y_true, y_pred, taxonomy, classes)
    counts = count_per_node(Y, U, item_weights(sample_weight, Y.shape[0]))
    first = 1 if taxonomy.has_artificial_root else 0
    return {
        level: _single(counts.total(taxonomy.depths == level).prf(zero_division, beta))
        for level in range(first, taxonomy.height + 1)
    }


def hierarchical_precision(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    average: Literal["micro", "samples"] = "micro",
    nodes: str | Sequence[str] = "all",
    zero_division: ZeroDivision | None = None,
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of the predicted nodes, including ancestors, that are true.

    The root is left out because it is in every set.

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item.
    taxonomy
        The taxonomy of the labels.
    average
        ``"micro"`` pools all items, ``"samples"`` averages the values of the items.
    nodes
        The nodes that count: ``"all"`` except the root, ``"below_roots"`` to leave out
        ``taxonomy.roots`` too, ``"leaves"``, or ids.
    zero_division
        The value if the denominator is zero. By default 0, or 1 if nothing is true and nothing is
        predicted. NaN leaves an item out of the average over items; ``"warn"`` is 0 with a warning.
    classes
        Ids of the columns of an indicator matrix; by default one column per node.
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
    prf = hierarchical_prf(
        y_true, y_pred, taxonomy, average, classes, sample_weight, nodes, zero_division
    )
    return float(prf.precision)


def hierarchical_recall(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    average: Literal["micro", "samples"] = "micro",
    nodes: str | Sequence[str] = "all",
    zero_division: ZeroDivision | None = None,
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of the true nodes, including ancestors, that are predicted.

    The root is left out because it is in every set.

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item.
    taxonomy
        The taxonomy of the labels.
    average
        ``"micro"`` pools all items, ``"samples"`` averages the values of the items.
    nodes
        The nodes that count: ``"all"`` except the root, ``"below_roots"`` to leave out
        ``taxonomy.roots`` too, ``"leaves"``, or ids.
    zero_division
        The value if the denominator is zero. By default 0, or 1 if nothing is true and nothing is
        predicted. NaN leaves an item out of the average over items; ``"warn"`` is 0 with a warning.
    classes
        Ids of the columns of an indicator matrix; by default one column per node.
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
    prf = hierarchical_prf(
        y_true, y_pred, taxonomy, average, classes, sample_weight, nodes, zero_division
    )
    return float(prf.recall)


def hierarchical_f1(  # noqa: PLR0913 (options have defaults)
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    average: Literal["micro", "samples"] = "micro",
    nodes: str | Sequence[str] = "all",
    beta: float = 1.0,
    zero_division: ZeroDivision | None = None,
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Harmonic mean of hierarchical precision and recall, or their F-beta.

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item.
    taxonomy
        The taxonomy of the labels.
    average
        ``"micro"`` pools all items, ``"samples"`` averages the F1 of the items.
    nodes
        The nodes that count: ``"all"`` except the root, ``"below_roots"`` to leave out
        ``taxonomy.roots`` too, ``"leaves"``, or ids.
    beta
        Weight of recall against precision; 1 gives F1.
    zero_division
        The value if nothing is true and nothing is predicted, 1 by default. NaN leaves an item out
        of the average over items; ``"warn"`` is 0 with a warning.
    classes
        Ids of the columns of an indicator matrix; by default one column per node.
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
    prf = hierarchical_prf(
        y_true, y_pred, taxonomy, average, classes, sample_weight, nodes, zero_division, beta
    )
    return float(prf.f1)


def hierarchical_prf(  # noqa: PLR0913 (the options of the three measures)
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    average: str = "micro",
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    nodes: str | Sequence[str] = "all",
    zero_division: ZeroDivision | None = None,
    beta: float = 1.0,
) -> PRF:
    """Return the three hierarchical measures at once; ``support`` counts true nodes."""
    if average not in ("micro", "samples"):
        raise LabelError(f"average is {average!r}; it must be 'micro' or 'samples'.")
    check_options(beta, 0.0 if zero_division is None else zero_division)
    chosen = closed_nodes(taxonomy, nodes)
    Y, U = (part[:, chosen] for part in closed_sets(y_true, y_pred, taxonomy, classes))
    sizes, weights = count_per_item(Y, U), item_weights(sample_weight, Y.shape[0])
    support = float(weights @ sizes.true)
    if average == "micro":
        sizes, weights = Counts(*(np.array([weights @ part]) for part in sizes)), np.ones(1)
    return _over_items(sizes, weights, zero_division, beta)._replace(support=support)


def _over_items(
    sizes: Counts, weights: Floats, zero_division: ZeroDivision | None, beta: float
) -> PRF:
    """Return the means over items of their precision, recall and F-beta."""
    otherwise = 0.0 if zero_division is None else zero_division
    nothing_at_all = (sizes.predicted + sizes.true == 0).astype(np.float64)
    each = sizes.prf(nothing_at_all if zero_division is None else zero_division, beta)
    means = [mean_of_defined(part, weights, otherwise) for part in each[:3]]
    return PRF._make([*means, float(weights @ sizes.true)])


def _single(prf: PRF) -> PRF:
    """Convert arrays of length one to numbers."""
    return PRF(*(float(values[0]) for values in prf))

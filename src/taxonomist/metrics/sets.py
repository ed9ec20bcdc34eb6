"""Precision, recall and F1 of label sets: per node, per level and over ancestor-closed sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.metrics._inputs import closed_sets, encode_sets, item_weights, mean
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from taxonomist._typing import CSR, Bools, Codes, Floats, LabelsLike
    from taxonomist.taxonomy import Taxonomy


class PRF(NamedTuple):
    """Precision, recall, F1 and support, the (weighted) number of true labels.

    The fields are numbers for an average, otherwise arrays aligned with the nodes.
    """

    precision: Any
    recall: Any
    f1: Any
    support: Any


class Counts(NamedTuple):
    """Numbers of labels that are both true and predicted, predicted, and true."""

    both: Floats
    predicted: Floats
    true: Floats

    def prf(self, zero_division: float | Floats) -> PRF:
        """Return the three ratios; F1 is computed from counts, not from P and R."""
        return PRF(
            _ratio(self.both, self.predicted, zero_division),
            _ratio(self.both, self.true, zero_division),
            _ratio(2 * self.both, self.predicted + self.true, zero_division),
            self.true,
        )

    def total(self, chosen: Codes | Bools) -> Counts:
        """Return the sums over the chosen nodes as arrays of length one."""
        return Counts(*(np.array([part[chosen].sum()]) for part in self))


def precision_recall_f1(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    average: Literal["micro", "macro"] | None = "micro",
    nodes: str | Sequence[str] = "leaves",
    zero_division: float = 0.0,
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> PRF:
    """Precision, recall and F1 over nodes.

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item. They are closed under ancestors
        first, except for ``nodes="categories"``.
    taxonomy
        The taxonomy of the labels.
    average
        ``"micro"`` pools all pairs of item and node; ``"macro"`` averages the values of the
        nodes; None returns the values of the nodes in order.
    nodes
        ``"leaves"``; ``"all"`` for every node except the root, which is in every closed set and
        would inflate the result; ``"categories"`` for the leaves and the interior nodes that are
        some item's most specific label, comparing only most specific labels; or ids. A macro
        average is over all given ids, but for a word only over nodes that are true or predicted
        for some item.
    zero_division
        The value if nothing is predicted (precision), nothing is true (recall), or neither
        (F1). NaN leaves the node out of a macro average.
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
    if average not in ("micro", "macro", None):
        raise LabelError(f"average is {average!r}; it must be 'micro', 'macro' or None.")
    Y, U = encode_sets(y_true, y_pred, taxonomy, classes)
    chosen = _choose(taxonomy, nodes, Y, U)
    narrow = labels.most_specific if nodes == "categories" else labels.close
    counts = _count_nodes(narrow(taxonomy, Y), narrow(taxonomy, U), sample_weight)
    if average == "micro":
        return _single(counts.total(chosen).prf(zero_division))
    if average == "macro" and isinstance(nodes, str):
        chosen = chosen[(counts.predicted + counts.true)[chosen] > 0]
    each = Counts(*(part[chosen] for part in counts)).prf(zero_division)
    if average is None:
        return each
    means = [_mean_of_defined(values, zero_division) for values in each[:3]]
    return PRF._make([*means, float(each.support.sum())])


def precision_recall_f1_per_level(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    zero_division: float = 0.0,
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
    zero_division
        The value if nothing is predicted, or nothing is true.
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
    Y, U = closed_sets(y_true, y_pred, taxonomy, classes)
    counts = _count_nodes(Y, U, sample_weight)
    first = 1 if taxonomy.has_artificial_root else 0
    return {
        level: _single(counts.total(taxonomy.depths == level).prf(zero_division))
        for level in range(first, taxonomy.height + 1)
    }


def hierarchical_precision(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    average: Literal["micro", "samples"] = "micro",
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of the predicted nodes, including ancestors, that are true.

    The root is left out because it is in every set. If nothing is predicted, the value is 0, or 1
    if nothing is true either.

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item.
    taxonomy
        The taxonomy of the labels.
    average
        ``"micro"`` pools all items, ``"samples"`` averages the values of the items.
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
    prf = hierarchical_prf(y_true, y_pred, taxonomy, average, classes, sample_weight)
    return float(prf.precision)


def hierarchical_recall(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    average: Literal["micro", "samples"] = "micro",
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of the true nodes, including ancestors, that are predicted.

    The root is left out because it is in every set. If nothing is true, the value is 0, or 1 if
    nothing is predicted either.

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item.
    taxonomy
        The taxonomy of the labels.
    average
        ``"micro"`` pools all items, ``"samples"`` averages the values of the items.
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
    prf = hierarchical_prf(y_true, y_pred, taxonomy, average, classes, sample_weight)
    return float(prf.recall)


def hierarchical_f1(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    average: Literal["micro", "samples"] = "micro",
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Harmonic mean of hierarchical precision and recall.

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item.
    taxonomy
        The taxonomy of the labels.
    average
        ``"micro"`` pools all items, ``"samples"`` averages the F1 of the items.
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
    prf = hierarchical_prf(y_true, y_pred, taxonomy, average, classes, sample_weight)
    return float(prf.f1)


def hierarchical_prf(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    average: str = "micro",
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> PRF:
    """Return the three hierarchical measures at once; ``support`` counts true nodes."""
    if average not in ("micro", "samples"):
        raise LabelError(f"average is {average!r}; it must be 'micro' or 'samples'.")
    Y, U = (part[:, 1:] for part in closed_sets(y_true, y_pred, taxonomy, classes))
    sizes = Counts(*(np.diff(part.indptr).astype(np.float64) for part in (Y * U, U, Y)))
    weights = item_weights(sample_weight, Y.shape[0])
    support = float(weights @ sizes.true)
    if average == "micro":
        sizes, weights = Counts(*(np.array([weights @ part]) for part in sizes)), np.ones(1)
    nothing_at_all = (sizes.predicted + sizes.true == 0).astype(np.float64)
    means = [mean(part, weights) for part in sizes.prf(nothing_at_all)[:3]]
    return PRF._make([*means, support])


def _choose(taxonomy: Taxonomy, nodes: str | Sequence[str], Y: CSR, U: CSR) -> Codes:
    if not isinstance(nodes, str):
        return taxonomy.codes(nodes)
    if nodes == "leaves":
        return np.flatnonzero(taxonomy.is_leaf)
    if nodes == "all":
        return np.arange(1, taxonomy.n_nodes)
    if nodes == "categories":
        return np.union1d(labels.categories(taxonomy, Y), labels.categories(taxonomy, U))
    message = f"nodes is {nodes!r}; pass 'leaves', 'all', 'categories' or a sequence of ids."
    raise LabelError(message)


def _count_nodes(Y: CSR, U: CSR, sample_weight: ArrayLike | None) -> Counts:
    """Count labels per node over all items."""
    weights = item_weights(sample_weight, Y.shape[0])
    return Counts(*(weights @ part for part in (Y * U, U, Y)))


def _ratio(part: Floats, whole: Floats, zero_division: float | Floats) -> Floats:
    """Return part / whole, and ``zero_division`` where the whole is zero."""
    result = np.array(np.broadcast_to(zero_division, whole.shape), dtype=np.float64)
    return np.divide(part, whole, out=result, where=whole > 0)


def _mean_of_defined(values: Floats, zero_division: float) -> float:
    """Return the mean of the values that are not NaN."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else zero_division


def _single(prf: PRF) -> PRF:
    """Convert arrays of length one to numbers."""
    return PRF(*(float(values[0]) for values in prf))

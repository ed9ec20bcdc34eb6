"""Losses between whole labellings, averaged over items: RSSS06, section 2.1, and CH07.

Label sets are closed under ancestors before they are compared, because an item of a node is also an
item of all nodes above it. A virtual root is not a label and is never charged. A real root is
charged if exactly one of the two sets is empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

from taxonomist.errors import LabelError
from taxonomist.metrics._categories import NodeCosts, PairLoss, node_costs
from taxonomist.metrics._inputs import closed_sets, mean
from taxonomist.taxonomy import differences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from taxonomist._typing import CSR, Floats, LabelsLike
    from taxonomist.taxonomy import Taxonomy


def zero_one_loss(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of items whose label set is not exactly right, l_0/1.

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item.
    taxonomy
        The taxonomy of the labels.
    classes
        Ids of the columns of an indicator matrix; by default one column per node.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Between 0 and 1; lower is better.

    Raises
    ------
    LabelError
        If labels are unknown or lengths differ.
    """
    wrong = _charged(y_true, y_pred, taxonomy, classes, "node")
    return mean(np.diff(wrong.indptr) > 0, sample_weight)


def symmetric_difference_loss(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean number of nodes in exactly one of the two label sets, l_Δ.

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item.
    taxonomy
        The taxonomy of the labels.
    classes
        Ids of the columns of an indicator matrix; by default one column per node.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Zero or more; lower is better.

    Raises
    ------
    LabelError
        If labels are unknown or lengths differ.
    """
    wrong = _charged(y_true, y_pred, taxonomy, classes, "node")
    return mean(np.diff(wrong.indptr), sample_weight)


def hierarchical_loss(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    scaling: str | Floats | Mapping[str, float] = "uniform",
    charge: Literal["path", "parent"] = "path",
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean scaled number of mistakes below correct ancestors or parents, l_H and l_H~.

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item.
    taxonomy
        The taxonomy of the labels.
    scaling
        The coefficients c_j: ``"uniform"`` for 1, ``"sibling"`` to divide a parent's coefficient
        among its children, ``"subtree"`` for the fraction of nodes at or below j; or one number
        per node, as an array or by id.
    charge
        ``"path"`` charges a node if all its ancestors are right (l_H), ``"parent"`` if all its
        parents are right (l_H~).
    classes
        Ids of the columns of an indicator matrix; by default one column per node.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Zero or more; lower is better.

    Raises
    ------
    LabelError
        If labels are unknown, lengths differ, or ``scaling`` or ``charge`` is invalid.
    """
    wrong = _charged(y_true, y_pred, taxonomy, classes, charge)
    return mean(wrong @ differences.node_scaling(taxonomy, scaling), sample_weight)


def set_loss(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    loss: NodeCosts | PairLoss | None = None,
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean cost Δ(Y, Ŷ) of the nodes above only one of two label sets [CH07].

    A node v above Y only costs c⁻ s_v, a node above Ŷ only costs c⁺ s_v. For sets of one label this
    is ``taxonomy_loss``.

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item.
    taxonomy
        The taxonomy of the labels.
    loss
        ``taxonomist.losses.weighted_tree(s, c⁻, c⁺)``, which also trains models, or None for costs
        of ½ at every node.
    classes
        Ids of the columns of an indicator matrix; by default one column per node.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Zero or more; lower is better.

    Raises
    ------
    LabelError
        If labels are unknown, lengths differ, or the loss is not a sum over nodes.
    """
    costs = node_costs(taxonomy, loss)
    if costs is None:
        raise LabelError(
            f"loss is {loss!r}, which compares two categories, but set_loss compares label sets; "
            "pass None or taxonomist.losses.weighted_tree(...)."
        )
    Y, U = _rooted_sets(y_true, y_pred, taxonomy, classes)
    miss, false_alarm = costs
    return mean((Y > U) @ miss + (U > Y) @ false_alarm, sample_weight)


def _charged(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    classes: Sequence[str] | None,
    charge: str,
) -> CSR:
    """Return the mistakes that are charged, items x nodes."""
    Y, U = _rooted_sets(y_true, y_pred, taxonomy, classes)
    return differences.charged(taxonomy, Y, U, charge)


def _rooted_sets(
    y_true: LabelsLike, y_pred: LabelsLike, taxonomy: Taxonomy, classes: Sequence[str] | None
) -> tuple[CSR, CSR]:
    """Return the closed label sets, items x nodes, with a virtual root in all of them."""
    Y, U = closed_sets(y_true, y_pred, taxonomy, classes)
    if taxonomy.has_artificial_root:
        n = Y.shape[0]
        root = (np.ones(n, dtype=bool), np.zeros(n, dtype=np.intp), np.arange(n + 1))
        everywhere = sparse.csr_array(root, shape=Y.shape)
        Y, U = Y + everywhere, U + everywhere
    return Y, U

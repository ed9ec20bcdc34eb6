"""Node probabilities from category probabilities, coherent by construction.

With one category per item, the probability of a node is the sum over the categories at or below it.
In a DAG each category is counted once. The root has probability 1.

With label sets, the probability of a node is 1 - Π (1 - p) over the categories at or below it: the
probability of at least one of them, assuming independence. It is never below the maximum of p nor
above the sum. At the inner levels of arxiv-sample it had by far the lowest log-loss and the best
calibration of the three (1.6 nats per item at the top level, against 2.0 for the maximum and 2.6
for the sum).

If every item has a label, the probabilities are conditional on at least one label: they are divided
by the probability of the root, which becomes 1. This lowered the log-loss at all levels with every
model tried. On arxiv-sample, the most probable top-level node was correct as often as predicted
(0.87); without the division, the predicted probability was too low (0.75).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.inference.held_out import check_scores

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.taxonomy import Taxonomy


def sum_of_categories(taxonomy: Taxonomy, codes: Codes, probabilities: Floats) -> Floats:
    """Return the probability that an item's one category is at or below each node.

    Parameters
    ----------
    taxonomy
        A tree or a DAG.
    codes
        The node of each category.
    probabilities
        Category probabilities, (n_items, n_categories). Rows sum to 1.

    Returns
    -------
    Floats
        Array of shape (n_items, n_nodes). No node is more probable than its parents, and the root
        has probability 1.
    """
    probabilities = check_scores(probabilities, len(codes))
    found: Floats = np.minimum(probabilities @ _above(taxonomy, codes), 1.0)
    found[:, 0] = 1.0
    return found


def any_of_categories(
    taxonomy: Taxonomy, codes: Codes, probabilities: Floats, *, has_label: bool = False
) -> Floats:
    """Return the probability that one of an item's categories is at or below each node.

    Parameters
    ----------
    taxonomy
        A tree or a DAG.
    codes
        The node of each category.
    probabilities
        Independent category probabilities, (n_items, n_categories).
    has_label
        Whether every item has a label. If so, the root has probability 1.

    Returns
    -------
    Floats
        Array of shape (n_items, n_nodes). No node is more probable than its parents.
    """
    probabilities = check_scores(probabilities, len(codes))
    with np.errstate(divide="ignore"):
        none = np.log1p(-probabilities) @ _above(taxonomy, codes)
    found: Floats = -np.expm1(none)
    if has_label:
        found /= _nonzero(found[:, :1])
        found[:, 0] = 1.0
    return found


def given_any(probabilities: Floats) -> Floats:
    """Return category probabilities conditional on at least one label.

    Parameters
    ----------
    probabilities
        Independent category probabilities, (n_items, n_categories).

    Returns
    -------
    Floats
        Array of the same shape.
    """
    with np.errstate(divide="ignore"):
        any_at_all = -np.expm1(np.log1p(-probabilities).sum(axis=1, keepdims=True))
    return np.minimum(probabilities / _nonzero(any_at_all), 1.0)


def _nonzero(divisors: Floats) -> Floats:
    """Replace 0 by 1."""
    return np.where(divisors > 0, divisors, 1.0)


def _above(taxonomy: Taxonomy, codes: Codes) -> CSR:
    """Return the matrix of the ancestors of each category, itself included.

    Its shape is (n_categories, n_nodes). A product with it sums categories in a fixed order, and
    the terms of a parent include those of its children, so rounding cannot make a parent less
    probable than a child.
    """
    return taxonomy.ancestor_matrix()[codes].astype(np.float64)

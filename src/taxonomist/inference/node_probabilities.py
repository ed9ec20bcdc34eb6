"""Probabilities of nodes from those of categories, coherent by construction.

One category per item: a node has the sum over the categories at or below it, each counted once also
in a DAG; the root has 1. Label sets: a node has 1 - Π (1 - p) over the same categories, the
probability of at least one of them if they come independently. That is never below the largest of
them nor above their sum; of the three it had by far the least log-loss, and the best calibration,
at the inner levels of arxiv-sample (1.6 nats per item at the top level, 2.0 for the largest, 2.6
for the sum).

Where every item has a label, probabilities are those given that there is one: they are divided by
the root's, which so gets 1. That lowered the log-loss of all levels with every model tried; the
most probable node of the top level was right as often as it said (0.87), and not more often (0.75).
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
        (n_items, n_categories); rows sum to 1.

    Returns
    -------
    Floats
        (n_items, n_nodes): no node has more than a parent, and the root has 1.
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
        (n_items, n_categories), each of its own.
    has_label
        Whether every item has a label, so that the root has 1.

    Returns
    -------
    Floats
        (n_items, n_nodes): no node has more than a parent.
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
    """Return the probabilities of categories given that an item has one.

    Parameters
    ----------
    probabilities
        (n_items, n_categories), each of its own.

    Returns
    -------
    Floats
        Array of the same shape.
    """
    with np.errstate(divide="ignore"):
        any_at_all = -np.expm1(np.log1p(-probabilities).sum(axis=1, keepdims=True))
    return np.minimum(probabilities / _nonzero(any_at_all), 1.0)


def _nonzero(divisors: Floats) -> Floats:
    """Return divisors, with 1 in place of 0."""
    return np.where(divisors > 0, divisors, 1.0)


def _above(taxonomy: Taxonomy, codes: Codes) -> CSR:
    """Return which nodes are above or equal to each category, (n_categories, n_nodes).

    A product with it adds up categories in their order. A parent so has the terms of its child and
    more, each in its place, and no rounding puts it below.
    """
    return taxonomy.ancestor_matrix()[codes].astype(np.float64)

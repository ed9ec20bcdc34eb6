"""The expected hierarchical F1 of predictions, and the tree loss within its bounds.

Notation   A(v)   the nodes from the top to v, without the root
           p_c    probability of category c

If v is predicted and c is true, the F1 of the item is 2 |A(v) ∩ A(c)| / (|A(v)| + |A(c)|). Its
expectation needs a sum over categories only for each value of |A(c)|:

    Σ_c p_c F1(c, v) = Σ_s 2 / (|A(v)| + s) Σ_{z ∈ A(v)} Σ_{c: |A(c)| = s, z ∈ A(c)} p_c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from taxonomist.losses import WeightedTree
from taxonomist.losses.ancestors import DEFAULT_COST, DEFAULT_LOAD

if TYPE_CHECKING:
    from taxonomist._typing import Bools, Codes, Floats
    from taxonomist.taxonomy import Taxonomy

__all__ = ["TreeWithinF1", "expected_f1", "keeps_f1"]

ROUNDING = 1e-9
"""Tolerance for equal expectations."""


@dataclass(frozen=True)
class TreeWithinF1(WeightedTree):
    """The ``"tree"`` loss for decisions that must not lower hierarchical F1.

    A node can be predicted if its expected F1 is at least that of the most probable category.
    """

    load: float = DEFAULT_LOAD
    miss: float = DEFAULT_COST
    false_alarm: float = DEFAULT_COST


def expected_f1(taxonomy: Taxonomy, categories: Codes, probabilities: Floats) -> Floats:
    """Return the expected F1 of predicting each node, (n_items, n_nodes).

    Parameters
    ----------
    taxonomy
        A tree or a DAG.
    categories
        The node of each category.
    probabilities
        Category probabilities, (n_items, n_categories).
    """
    paths = csr_array(taxonomy.ancestor_matrix()[:, 1:], dtype=np.float64)
    sizes = np.diff(paths.indptr)
    true, true_sizes = paths[categories], sizes[categories]
    found: Floats = np.zeros((len(probabilities), taxonomy.n_nodes))
    for size in np.unique(true_sizes).tolist():
        has_size = true_sizes == size
        common = (probabilities[:, has_size] @ true[has_size]) @ paths.T
        found += 2 * common / np.maximum(sizes + size, 1)
    # With neither a true nor a predicted node, F1 is 1.
    found[:, sizes == 0] += probabilities[:, true_sizes == 0].sum(axis=1, keepdims=True)
    return found


def keeps_f1(taxonomy: Taxonomy, categories: Codes, probabilities: Floats) -> Bools:
    """Return whether each node's expected F1 is no lower than the most probable category's."""
    values = expected_f1(taxonomy, categories, probabilities)
    best = categories[probabilities.argmax(axis=1)]
    least = values[np.arange(len(best)), best]
    found: Bools = values >= least[:, None] - ROUNDING
    return found

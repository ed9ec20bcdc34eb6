"""Words and sentence vectors side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, hstack

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Reals

__all__ = ["join"]


def join(words: CSR, rows: Reals, weight: float) -> CSR:
    """Return the features of words, and behind them those of sentence vectors times a weight.

    Parameters
    ----------
    words
        tf-idf of the items, rows of length 1, (n_items, n_terms).
    rows
        Their sentence vectors, of length 1, (n_items, n_features).
    weight
        The weight of the vectors. With 0, the words are returned as they are.
    """
    if not weight:
        return words
    dense = csr_array(weight * rows.astype(np.float64))
    return csr_array(hstack([words, dense], format="csr"))

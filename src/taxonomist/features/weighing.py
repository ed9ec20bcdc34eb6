"""Counts of terms as weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l2

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Floats

__all__ = ["weighed"]


def weighed(counts: CSR, idf: Floats, n_grams: int = 0, gram_weight: float | None = None) -> CSR:
    """Weight counts by tf-idf and scale the rows to length 1.

    Parameters
    ----------
    counts
        Counts of terms.
    idf
        The inverse document frequency of each term.
    n_grams
        How many of the first terms are character n-grams.
    gram_weight
        The words of a row are scaled to length 1 first, and its n-grams to this length. None scales
        them together.
    """
    values = np.log1p(counts.data) * idf[counts.indices]
    if gram_weight is not None:
        is_gram = counts.indices < n_grams
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        kinds = 2 * rows + is_gram
        squares = np.bincount(kinds, values**2, minlength=2 * counts.shape[0])
        lengths = np.sqrt(np.maximum(squares, np.finfo(float).tiny))
        values *= np.where(is_gram, gram_weight, 1.0) / lengths[kinds]
    found = csr_array((values, counts.indices, counts.indptr), shape=counts.shape)
    inplace_csr_row_normalize_l2(found)
    return found

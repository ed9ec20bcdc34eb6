"""Preparation of word counts: validation, damping, and shares of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from taxonomist.compiled.mixture import damp_counts
from taxonomist.errors import ParameterError

if TYPE_CHECKING:
    from taxonomist._typing import CSR, MatrixLike

SMALL_COUNT_LOGS = np.log1p(np.arange(256.0))
"""Lookup table of log(1 + n) for small counts n."""


def as_counts(X: MatrixLike, model: str) -> CSR:
    """Return counts as a CSR array without stored zeros; raise if one is negative."""
    counts = csr_array(X)
    least = counts.data.min(initial=0.0)
    if least < 0:
        raise ParameterError(
            f"Negative values in data passed to {model}: X must contain word counts, such as those "
            f"of CountVectorizer. The smallest value is {least:g}."
        )
    if not counts.has_canonical_format or not counts.data.all():
        counts = counts.copy()
        counts.sum_duplicates()
        counts.eliminate_zeros()
    return counts


def damped(counts: CSR, damping: str | None, length: float, reference: float) -> CSR:
    """Return counts with less weight on repeated words or on the words of long items.

    Parameters
    ----------
    counts
        (n_items, n_words) CSR.
    damping
        ``"log"`` replaces a count n by log(1 + n). None leaves counts unchanged.
    length
        Exponent of the length normalization: counts are multiplied by
        (reference / length of the item) to this power.
    reference
        The length at which the length normalization has no effect.
    """
    if damping is None and not length:
        return counts
    data = np.empty(counts.nnz)
    logs = SMALL_COUNT_LOGS if damping == "log" else SMALL_COUNT_LOGS[:0]
    damp_counts(counts.indptr, counts.data, logs, float(length), float(reference), data)
    return csr_array((data, counts.indices, counts.indptr), shape=counts.shape)


def equal_shares(labels: CSR) -> CSR:
    """Return the share of each item in its categories, 1 / n_labels [TCPH01, Sec. 3.2.1]."""
    n_labels = np.diff(labels.indptr)
    parts = np.repeat(1 / np.maximum(n_labels, 1), n_labels)
    return csr_array((parts, labels.indices, labels.indptr), shape=labels.shape)

"""Counts of words as models take them: checked, damped, split over labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from taxonomist.compiled.mixture import damp_counts

if TYPE_CHECKING:
    from taxonomist._typing import CSR

LOGS = np.log1p(np.arange(256.0))
"""What most counts become."""


def as_counts(X: Any, model: str) -> CSR:
    """Return counts as a CSR array without stored zeros; raise if one is negative."""
    counts = csr_array(X)
    least = counts.data.min(initial=0.0)
    if least < 0:
        raise ValueError(
            f"Negative values in data passed to {model}: X must hold counts of words, 0 or more, "
            f"as CountVectorizer makes them. The least is {least:g}."
        )
    if not counts.has_canonical_format or not counts.data.all():
        counts = counts.copy()
        counts.sum_duplicates()
        counts.eliminate_zeros()
    return counts


def damped(counts: CSR, damping: str | None, length: float, reference: float) -> CSR:
    """Return counts of which repetitions, or the words of long items, count less.

    Parameters
    ----------
    counts
        (n_items, n_words) CSR.
    damping
        ``"log"`` makes log(1 + n) of a count n; None leaves it as it is.
    length
        The words of an item are multiplied by (reference / its length) to this power.
    reference
        The length of items that stay as they are.
    """
    if damping is None and not length:
        return counts
    data = np.empty(counts.nnz)
    logs = LOGS if damping == "log" else LOGS[:0]
    damp_counts(counts.indptr, counts.data, logs, float(length), float(reference), data)
    return csr_array((data, counts.indices, counts.indptr), shape=counts.shape)


def equal_shares(labels: CSR) -> CSR:
    """Return the parts of items in their categories, equal for each label [TCPH01, Sec. 3.2.1]."""
    n_labels = np.diff(labels.indptr)
    parts = np.repeat(1 / np.maximum(n_labels, 1), n_labels)
    return csr_array((parts, labels.indices, labels.indptr), shape=labels.shape)

"""Counts of words, recovered from the published vectors of RCV1.

The vectors of Lewis et al. (2004) have the weights a_d (1 + ln tf) idf_u, scaled to length 1, and
neither the texts nor the counts tf are distributed with them. Most words of a story occur once, so
a lower quantile of the weights of a story, each divided by idf_u, is a_d; a lower quantile of the
weights of a word, each divided by a_d, is idf_u. Alternating both gives the counts: 99 % of the
results for words in at least 20 stories are within 0.05 of an integer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats

N_ROUNDS = 6
LEAST_STORIES = 3
"""Words in fewer stories keep the idf that follows from their number of stories."""


def recovered_counts(vectors: CSR) -> CSR:
    """Return counts of words, CSR, from vectors of weights a_d (1 + ln tf) idf_u.

    Parameters
    ----------
    vectors
        Items x words, CSR, without explicit zeros.

    Returns
    -------
    csr_array
        Whole numbers from 1, where the vectors have weights.
    """
    counts = vectors.astype(np.float64)
    item = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    n_stories = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log(counts.shape[0] / np.maximum(n_stories, 1)) + 1e-9
    is_frequent = n_stories >= LEAST_STORIES
    for _ in range(N_ROUNDS):
        scale = _low(counts.data / idf[counts.indices], item, counts.shape[0])
        found = _low(counts.data / scale[item], counts.indices, counts.shape[1])
        idf[is_frequent] = found[is_frequent]
    dampened = counts.data / (scale[item] * idf[counts.indices])
    counts.data = np.maximum(np.round(np.exp(dampened - 1.0)), 1.0)
    return counts


def _low(values: Floats, group: Codes, n_groups: int) -> Floats:
    """Return the value a third of the way up in each group; 1 for groups without values."""
    order = np.lexsort((values, group))
    sizes = np.bincount(group, minlength=n_groups)
    place = np.cumsum(sizes) - sizes + sizes // 3
    found = np.ones(n_groups)
    found[sizes > 0] = values[order[place[sizes > 0]]]
    return found

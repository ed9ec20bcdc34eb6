"""The Lidstone parameter of naive Bayes, chosen by the likelihood of left-out items.

Problem       max over α of  Σ_i Σ_c u_i a_ic Σ_w n_iw log P'(w|c),
              P'(w|c) = (n_cw - own part + α) / (n_c - own part + α n_words)
Notation      as in ``taxonomist.solvers.word_counts``
Step          all α of ``ALPHAS`` are tried, and the largest of equally good ones is taken
Cost          the non-zeros of the items times the number of α, but of ``MOST_WORDS`` non-zeros at
              most
Differences   items are left out one at a time, where the paper has held-out ones
References    [TCPH01, Sec. 3.2.1]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled import mixture
from taxonomist.solvers.left_out import sampled
from taxonomist.solvers.path_weights import PathWeights
from taxonomist.solvers.word_counts import count_rows, item_parts

if TYPE_CHECKING:
    from taxonomist._typing import CSR
    from taxonomist.solvers.word_counts import CountedItems, Sources

ALPHAS = 10.0 ** (np.arange(-16, 5) / 4)
"""Parameters that are tried, 0.0001 to 10."""


def choose_alpha(items: CountedItems, counts: CSR) -> float:
    """Return the Lidstone parameter under which left-out items are most likely.

    Parameters
    ----------
    items
        Counts of items, which are part of ``counts``.
    counts
        n_cw, (n_categories, n_words) CSR.
    """
    items = sampled(items)
    n_categories, n_words = counts.shape
    entries = item_parts(items, np.zeros(n_categories, dtype=np.intp))
    own = entries.shares * np.minimum(1.0, 1.0 / items.weights[entries.items])
    likelihoods = np.zeros(len(ALPHAS))
    room = np.zeros(n_words)
    table = count_rows(counts)
    mixture.left_out_likelihoods(
        count_rows(items.X), entries, own, table, ALPHAS, room, likelihoods
    )
    return float(ALPHAS[::-1][np.argmax(likelihoods[::-1])])


def smoothed_weights(counts: CSR, sources: Sources, alpha: float) -> PathWeights:
    """Return the path weights that amount to adding α to every count.

    Only the category itself and the uniform node have weight.

    The source of a category itself is the deepest one on its path, the last of a row.
    """
    totals = np.asarray(counts.sum(axis=1)).ravel()
    added = alpha * counts.shape[1]
    whole = np.where(totals + added > 0, totals + added, 1.0)
    slots = np.zeros(sources.paths.nnz)
    slots[sources.paths.indptr[1:] - 1] = totals / whole
    return PathWeights(slots, added / whole)

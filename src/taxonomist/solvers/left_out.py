"""Left-out items: the words of each item under the other items of every source on its path.

Path weights, Lidstone parameters and temperatures are chosen by how likely items are that the words
of sources do not come from: each item is left out in turn, or some are held out for good.

Notation
    n'_cw    counts of left-out or held-out items                                ``LeftOut.items``
    m_vw     counts of a source: pooled ones, or those that EM expects
    P'(w|v)  (m_vw - own part) / (m_v - own part), of the other items            ``components``
    a_ic     part of item i in category c, without its weight                    ``own``
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.compiled import mixture
from taxonomist.solvers.word_counts import count_rows, item_parts

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.compiled.arrays import Rows
    from taxonomist.compiled.mixture import ItemParts
    from taxonomist.solvers.word_counts import CountedItems, Sources

MOST_WORDS = 2**18
"""Non-zeros of items from which shared weights are estimated; a quarter million fix them to less
than a hundredth."""


class LeftOut(NamedTuple):
    """The left-out items, and P'(w|v) of their words."""

    items: Rows
    entries: ItemParts
    own: Floats  # (n_entries,)  what an entry adds to counts; 0 for held-out items
    components: Floats  # (entries.start[-1],)
    first: Codes  # (n_categories + 1,)  first slot of each path
    n_words: int
    has_uniform: bool

    def expect(self, slots: Floats, uniform: Floats) -> tuple[float, Floats]:
        """Return Σ n' log P(w|c) and its derivatives by all weights, those of uniform nodes last.

        Parameters
        ----------
        slots, uniform
            P(v|c), as in ``PathWeights``.
        """
        pull, uniform_pull = np.zeros(len(slots)), np.zeros(len(uniform))
        likelihood = mixture.expect_weights(
            self.items,
            self.entries,
            self.components,
            self.first,
            slots,
            uniform / self.n_words,
            pull,
            uniform_pull,
        )
        return float(likelihood), np.concatenate([pull, uniform_pull / self.n_words])


def gather(
    items: CountedItems, counts: CSR, sources: Sources, has_uniform: bool, is_inside: bool
) -> LeftOut:
    """Return P'(w|v) for all words of the items and all nodes on their paths.

    Parameters
    ----------
    items
        The items to be left out, or held-out ones.
    counts
        m_vw, (n_sources, n_words) CSR.
    sources
        The sources on the path of each category.
    has_uniform
        Whether there is a node above the root with the same probability for all words.
    is_inside
        Whether the items are in the counts, so that they must be left out.
    """
    first = sources.paths.indptr.astype(np.intp)
    entries = item_parts(items, np.diff(first))
    n_items, n_words = items.X.shape
    taken = np.minimum(items.weights, 1.0) if is_inside else np.zeros(n_items)
    own = items.parts(taken) @ sources.pools.T.astype(np.float64)
    own_parts = entries.shares * (taken / items.weights)[entries.items]
    entries = entries._replace(shares=entries.shares * _can_tell(items, counts, sources, own))
    components = np.zeros(entries.start[-1])
    mixture.leave_out(
        count_rows(items.X),
        entries,
        count_rows(own.tocsc()),
        count_rows(counts),
        sources.readers(),
        first,
        np.zeros(n_words),
        np.zeros(n_items),
        components,
    )
    X = count_rows(items.X)
    return LeftOut(X, entries, own_parts, components, first, n_words, has_uniform)


def sampled(items: CountedItems) -> CountedItems:
    """Return items with about ``MOST_WORDS`` non-zeros, drawn at random where there are more."""
    order = np.random.default_rng(0).permutation(items.X.shape[0])
    n_words = np.cumsum(np.diff(items.X.indptr)[order])
    if not len(n_words) or n_words[-1] <= MOST_WORDS:
        return items
    return items.select(np.sort(order[: 1 + int(np.searchsorted(n_words, MOST_WORDS))]))


def _can_tell(items: CountedItems, counts: CSR, sources: Sources, own: CSR) -> Floats:
    """Return 0 for entries that leave a source on their path without words, else 1.

    Without its only item, a category's own words have no probabilities, and so no weight.
    """
    from scipy.sparse import csr_array

    totals = np.asarray(counts.sum(axis=1)).ravel()
    lengths = np.repeat(np.asarray(items.X.sum(axis=1)).ravel(), np.diff(own.indptr))
    left = totals[own.indices] - own.data * lengths
    is_last = (left <= mixture.ROUNDING * totals[own.indices]) & (lengths > 0)
    rows = np.repeat(np.arange(own.shape[0]), np.diff(own.indptr))
    places = rows[is_last], own.indices[is_last]
    empty = csr_array((np.ones(len(places[0])), places), shape=own.shape)
    on_path = csr_array(empty @ sources.paths.T.astype(np.float64))
    mute = items.shares.multiply(on_path > 0).tocoo()
    columns = items.shares.tocsc()
    columns.sort_indices()
    category = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
    n_items = columns.shape[0]
    is_mute = np.isin(category * n_items + columns.indices, mute.col * n_items + mute.row)
    return np.where(is_mute, 0.0, 1.0)

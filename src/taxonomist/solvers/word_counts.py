"""Counts of words in categories, and sums of them over groups of categories.

Notation
    n_iw   count of word w in item i, (n_items, n_words)                    ``CountedItems.X``
    a_ic   part of item i in category c; an item's parts are equal          ``shares``
    u_i    weight of item i                                                 ``weights``
    v      a source of words: a node, or part of a node's items             ``Sources``
    n_cw   Σ_i u_i a_ic n_iw, counts of a category [TCPH01, Eq. 6]          ``Pooled.categories``
    n_vw   the same of all categories that source v pools                   ``Pooled.sources``
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled import mixture
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.mixture import ItemParts, Readers

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from taxonomist._typing import CSR, Bools, Codes, Floats, Integers


@dataclass(frozen=True)
class Sources:
    """The sources of the words of categories.

    Attributes
    ----------
    paths
        Which sources are on the path of each category, (n_categories, n_sources) CSR.
    pools
        The items of which categories each source is estimated from, (n_sources, n_categories) CSR.
    levels
        Depth of each source, the root's is 0, (n_sources,).
    """

    paths: CSR
    pools: CSR
    levels: Codes

    @property
    def is_general(self) -> Bools:
        """Which sources pool all categories, as the root does, (n_sources,)."""
        is_general: Bools = np.diff(self.pools.indptr) == self.pools.shape[1]
        return is_general

    def readers(self) -> Readers:
        """Return the categories that have each source on their paths."""
        turned = self.paths.tocsc()
        turned.sort_indices()
        # Rows of a CSC array are in order, so the stable order of columns is that of slots.
        slots = np.argsort(self.paths.indices, kind="stable")
        return Readers(_codes(turned.indptr), _codes(turned.indices), slots.astype(np.intp))


@dataclass(frozen=True)
class CountedItems:
    """Counts of items, and the categories that they belong to.

    Attributes
    ----------
    X
        (n_items, n_words) CSR, not negative, without stored zeros.
    shares
        Parts of items in categories, (n_items, n_categories) CSR; rows sum to 1, or are empty.
    weights
        (n_items,), above 0. An item of weight 2 is two items, of which one is left out.
    """

    X: CSR
    shares: CSR
    weights: Floats

    def select(self, items: Codes) -> CountedItems:
        """Return some of the items."""
        return CountedItems(self.X[items], self.shares[items], self.weights[items])

    def occurrences(self) -> CountedItems:
        """Return an item for each word of each item: the word once, with its count as weight.

        A count below 1 is less than an occurrence, and stays whole.
        """
        from scipy.sparse import csr_array

        n_words = self.X.nnz
        rows = np.repeat(np.arange(self.X.shape[0]), np.diff(self.X.indptr))
        once = np.minimum(self.X.data, 1.0)
        parts = once, self.X.indices, np.arange(n_words + 1)
        X = csr_array(parts, shape=(n_words, self.X.shape[1]))
        return CountedItems(X, self.shares[rows], self.weights[rows] * (self.X.data / once))

    def parts(self, weights: Floats) -> CSR:
        """Return the parts of items, each item times a weight."""
        return self.shares.multiply(weights[:, None]).tocsr()


@dataclass(frozen=True)
class Pooled:
    """Counts of categories and of sources, and how many items have a word: all CSR.

    ``having`` has the words of ``sources``.
    """

    categories: CSR
    sources: CSR
    having: CSR

    def plus(self, other: Pooled) -> Pooled:
        """Return the sums of these counts and others."""
        return Pooled(
            self.categories + other.categories,
            self.sources + other.sources,
            self.having + other.having,
        )


def pool(items: CountedItems, sources: Sources) -> Pooled:
    """Return the counts of categories and of sources.

    Parameters
    ----------
    items
        Counts, parts and weights.
    sources
        Which categories each source pools.
    """
    parts = items.parts(items.weights)
    categories, _ = _pool(items, parts)
    of_sources, having = _pool(items, parts @ sources.pools.T.astype(np.float64))
    return Pooled(categories, of_sources, having)


def _pool(items: CountedItems, parts: CSR) -> tuple[CSR, CSR]:
    """Return the counts of groups, and the weight of the items in each that have a word."""
    from scipy.sparse import csr_array

    X, columns = count_rows(items.X), count_rows(parts.tocsc())
    n_words, n_groups = items.X.shape[1], parts.shape[1]
    n_different = np.zeros(n_groups, dtype=np.intp)
    mixture.count_words(X, columns, np.full(n_words, -1, dtype=np.intp), n_different)
    ends = np.append(0, np.cumsum(n_different)).astype(np.intp)
    pooled = Rows(ends, np.zeros(ends[-1], dtype=np.intp), np.zeros(ends[-1]))
    having = np.zeros(ends[-1])
    place = np.full(n_words, -1, dtype=np.intp)
    mixture.pool_words(X, columns, items.weights, place, pooled, having)
    shape = (n_groups, n_words)
    order = csr_array((np.arange(ends[-1]), pooled.indices, ends), shape=shape)
    order.sort_indices()
    indices = order.indices
    return (
        csr_array((pooled.data[order.data], indices, ends), shape=shape),
        csr_array((having[order.data], indices, ends), shape=shape),
    )


def count_rows(matrix: CSR | csc_array) -> Rows:
    """Return a CSR or CSC matrix of counts as the arrays for the compiled loops."""
    data = matrix.data.astype(np.float64, copy=False)
    return Rows(_codes(matrix.indptr), _codes(matrix.indices), data)


def item_parts(items: CountedItems, path_lengths: Codes) -> ItemParts:
    """Return the parts of items in the order of categories, with room for their components."""
    columns = items.parts(items.weights).tocsc()
    columns.sort_indices()
    n_words = np.diff(items.X.indptr)[columns.indices]
    n_nodes = np.repeat(path_lengths, np.diff(columns.indptr))
    start = np.append(0, np.cumsum(n_words * n_nodes)).astype(np.intp)
    return ItemParts(_codes(columns.indptr), _codes(columns.indices), columns.data, start)


def _codes(numbers: Integers) -> Codes:
    """Return integers of the size that compiled loops use."""
    codes: Codes = numbers.astype(np.intp, copy=False)
    return codes

"""Texts with their term counts, so that subsets need not be tokenised again.

This speeds up fitting models to many subsets of the same texts, as in cross-validation and learning
curves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, get_index_dtype

from taxonomist._typing import TextLike

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats

__all__ = ["CountedTexts", "Tokenisation", "csr_of"]


class Tokenisation(NamedTuple):
    """The parameters that determine the terms of a text and their counts.

    Attributes
    ----------
    words, characters
        As in ``TextFeatures``.
    columns
        Names of the columns if items are mappings, otherwise None.
    weights
        Weight of each column.
    """

    words: tuple[int, ...] | None
    characters: tuple[int, ...] | None
    columns: tuple[str, ...] | None
    weights: tuple[float, ...]


class CountedTexts(Sequence[TextLike]):
    """Texts with their term counts, as returned by ``TextFeatures.count``.

    ``TextFeatures`` and ``TextClassifier`` accept them instead of texts, with exactly the same
    results. Indexing with a slice or with an array of integers or Booleans selects items without
    tokenising them again; indexing with an integer returns a text.

    Parameters
    ----------
    texts
        The texts as given.
    counts
        Term counts of the texts, (n_items, n_terms), with the terms of an item in order of first
        appearance.
    terms
        The terms in column order.
    tokenisation
        The parameters of the tokenisation.
    """

    def __init__(
        self, texts: list[TextLike], counts: CSR, terms: Any, tokenisation: Tokenisation
    ) -> None:
        self.texts = texts
        self.tokenisation = tokenisation
        self._counts = counts
        self._terms = terms

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def shape(self) -> tuple[int]:
        """The number of items as a tuple, like the shape of an array."""
        return (len(self.texts),)

    @property
    def totals(self) -> Floats:
        """The sum of each item's counts, (n_items,)."""
        return np.asarray(self._counts.sum(axis=1)).ravel()

    @property
    def blank(self) -> TextLike:
        """An item without words, with the same columns as all items."""
        columns, n_texts = self.tokenisation.columns, len(self.tokenisation.weights)
        return [""] * n_texts if columns is None else dict.fromkeys(columns, "")

    def __iter__(self) -> Iterator[TextLike]:
        return iter(self.texts)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            # scikit-learn adds an ellipsis for further axes, which do not exist here.
            index = index[0]
        if isinstance(index, Integral):
            return self.texts[int(index)]
        items = np.arange(len(self))[index]
        texts = [self.texts[i] for i in items.tolist()]
        return CountedTexts(texts, self._counts[items], self._terms, self.tokenisation)

    def growing(self) -> tuple[CSR, Any]:
        """Return the counts of the terms that occur, and these terms in order of first appearance.

        The result is the same as tokenising the texts with an empty vocabulary.
        """
        columns, first = np.unique(self._counts.indices, return_index=True)
        order = np.argsort(first)
        place = np.empty(self._counts.shape[1], dtype=np.intp)
        place[columns[order]] = np.arange(len(columns))
        indices = place[self._counts.indices]
        counts = csr_of(indices, self._counts.data, self._counts.indptr, len(columns))
        return counts, self._terms[columns[order]]

    def known(self, vocabulary: Mapping[str, int]) -> CSR:
        """Return the counts of the terms of a vocabulary, in its column order.

        The result is the same as tokenising the texts with this vocabulary.
        """
        place: Codes = np.fromiter(
            (vocabulary.get(term, -1) for term in self._terms), np.intp, len(self._terms)
        )
        indices = place[self._counts.indices]
        is_known = indices >= 0
        ends = np.append(0, np.cumsum(is_known))[self._counts.indptr]
        return csr_of(indices[is_known], self._counts.data[is_known], ends, len(vocabulary))


def csr_of(indices: Any, values: Any, ends: Any, n_columns: int) -> CSR:
    """Return a count matrix with the smallest possible index type and entries in given order."""
    shape = (len(ends) - 1, n_columns)
    if not len(indices):
        return csr_array(shape)
    # liblinear accepts only 32-bit indices, and they use half the memory.
    width = get_index_dtype(maxval=max(len(indices), *shape))
    return csr_array((values, indices.astype(width), ends.astype(width)), shape=shape)

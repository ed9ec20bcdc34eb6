"""Texts that are tokenised once: how often each has every term, ready for any subset of them.

Models that are fitted to many subsets of the same texts, as in cross-validation and learning
curves, need not tokenise them again for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, get_index_dtype

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes

__all__ = ["CountedTexts", "Tokenisation", "csr_of"]


class Tokenisation(NamedTuple):
    """What decides which terms a text has, and how often each counts.

    Attributes
    ----------
    words, characters
        As in ``TextFeatures``.
    columns
        Names of the columns, where items are mappings; else None.
    weights
        How often each column counts.
    """

    words: tuple[int, ...] | None
    characters: tuple[int, ...] | None
    columns: tuple[str, ...] | None
    weights: tuple[float, ...]


class CountedTexts(Sequence[Any]):
    """Texts with the number of times that each has every term.

    ``TextFeatures.count`` makes them. An index out of integers or Booleans, or a slice, selects
    items without tokenising them again; ``TextFeatures`` and ``TextClassifier`` take them in place
    of texts, and learn exactly what they would learn from the texts. One position gives the text.

    Parameters
    ----------
    texts
        The texts, as they were given.
    counts
        How often each text has each term, (n_items, n_terms); the terms of an item in the order in
        which it first has them.
    terms
        The terms in column order.
    tokenisation
        How the texts were made into terms.
    """

    def __init__(
        self, texts: list[Any], counts: CSR, terms: Any, tokenisation: Tokenisation
    ) -> None:
        self.texts = texts
        self.tokenisation = tokenisation
        self._counts = counts
        self._terms = terms

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def shape(self) -> tuple[int]:
        """The number of items, as arrays give it."""
        return (len(self.texts),)

    @property
    def blank(self) -> Any:
        """An item without words, with as many texts as all items have."""
        columns, n_texts = self.tokenisation.columns, len(self.tokenisation.weights)
        return [""] * n_texts if columns is None else dict.fromkeys(columns, "")

    def __iter__(self) -> Iterator[Any]:
        return iter(self.texts)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            # scikit-learn adds an ellipsis for the other axes, of which there are none.
            index = index[0]
        if isinstance(index, Integral):
            return self.texts[int(index)]
        items = np.arange(len(self))[index]
        texts = [self.texts[i] for i in items.tolist()]
        return CountedTexts(texts, self._counts[items], self._terms, self.tokenisation)

    def growing(self) -> tuple[CSR, Any]:
        """Return the counts of terms that some item has, in order of first appearance, and these.

        This is what tokenising the texts with an empty vocabulary would give.
        """
        columns, first = np.unique(self._counts.indices, return_index=True)
        order = np.argsort(first)
        place = np.empty(self._counts.shape[1], dtype=np.intp)
        place[columns[order]] = np.arange(len(columns))
        indices = place[self._counts.indices]
        counts = csr_of(indices, self._counts.data, self._counts.indptr, len(columns))
        return counts, self._terms[columns[order]]

    def known(self, vocabulary: Mapping[str, int]) -> CSR:
        """Return the counts of the terms of a vocabulary, in its columns.

        This is what tokenising the texts with this vocabulary would give.
        """
        place: Codes = np.fromiter(
            (vocabulary.get(term, -1) for term in self._terms), np.intp, len(self._terms)
        )
        indices = place[self._counts.indices]
        is_known = indices >= 0
        ends = np.append(0, np.cumsum(is_known))[self._counts.indptr]
        return csr_of(indices[is_known], self._counts.data[is_known], ends, len(vocabulary))


def csr_of(indices: Any, values: Any, ends: Any, n_columns: int) -> CSR:
    """Return a matrix of counts with the narrowest indices, entries in the given order."""
    shape = (len(ends) - 1, n_columns)
    if not len(indices):
        return csr_array(shape)
    # liblinear takes 32-bit indices only, and they take half the room.
    width = get_index_dtype(maxval=max(len(indices), *shape))
    return csr_array((values, indices.astype(width), ends.astype(width)), shape=shape)

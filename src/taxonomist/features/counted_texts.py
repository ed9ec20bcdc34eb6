"""Texts that are split into words, so that subsets need not be split again.

This speeds up fitting models to many subsets of the same texts, as in cross-validation and learning
curves, and comparing sets of terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist._typing import TextLike
from taxonomist.features.stored_texts import taken_texts

if TYPE_CHECKING:
    from taxonomist._typing import CSR
    from taxonomist.features.token_table import TokenTable
    from taxonomist.features.word_terms import WordTerms

__all__ = ["CountedTexts"]


class CountedTexts(Sequence[TextLike]):
    """Texts that are split into words, as returned by ``TextFeatures.count``.

    ``TextFeatures`` and ``TextClassifier`` accept them instead of texts, with exactly the same
    results. Indexing with a slice or with an array of integers or Booleans selects items without
    splitting them again; indexing with an integer returns a text.

    Parameters
    ----------
    texts
        The texts as given.
    table
        Their words.
    columns
        Names of the columns if items are mappings, otherwise None.
    """

    def __init__(
        self, texts: Sequence[TextLike], table: TokenTable, columns: list[str] | None
    ) -> None:
        self.texts = texts
        self.table = table
        self.columns = columns
        self._last: tuple[object, object, CSR] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def shape(self) -> tuple[int]:
        """The number of items as a tuple, like the shape of an array."""
        return (len(self.texts),)

    def known(
        self,
        words: Sequence[int] | None,
        characters: Sequence[int] | None,
        weights: Sequence[float],
        terms: WordTerms,
    ) -> CSR:
        """Return the counts of known terms, as ``TokenTable.known``; the last answer is kept."""
        asked = words, characters, tuple(weights)
        if self._last is None or self._last[0] is not terms or self._last[1] != asked:
            found = self.table.known(words, characters, weights, terms)
            self._last = terms, asked, found
        return self._last[2].copy()

    @property
    def blank(self) -> TextLike:
        """An item without words, with the same columns as all items."""
        if self.columns is not None:
            return dict.fromkeys(self.columns, "")
        return "" if self.table.n_columns == 1 else [""] * self.table.n_columns

    def __iter__(self) -> Iterator[TextLike]:
        return iter(self.texts)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            # scikit-learn adds an ellipsis for further axes, which do not exist here.
            index = index[0]
        if isinstance(index, Integral):
            return self.texts[int(index)]
        items = np.arange(len(self))[index]
        texts = taken_texts(self.texts, items)
        return CountedTexts(texts, self.table.select(items), self.columns)

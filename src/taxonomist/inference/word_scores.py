"""Scores of items: log-likelihood ratios of their words under a category and overall."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csc_array

    from taxonomist._typing import CSR, Floats

WORD_PROBABILITIES_AT_A_TIME = 2**22
"""Word probabilities held in memory at a time, 32 MiB. Smaller tables are computed once."""


@dataclass(frozen=True)
class WordScores:
    """log P(d|c) - log P(d), with P(w|c) = Σ_v P(v|c) P(w|v).

    P(d) = Π_w P(w)^n, where P(w) is given, or Σ_c P(c) P(w|c).

    Attributes
    ----------
    weights
        P(v|c), (n_categories, n_sources) CSR.
    uniform
        The weight of the uniform distribution over words, (n_categories,).
    words
        P(w|v), (n_sources, n_words) CSR.
    priors
        P(c), all positive.
    general
        P(w), (n_words,). None mixes the categories.
    """

    weights: CSR
    uniform: Floats
    words: CSR
    priors: Floats
    general: Floats | None = None

    def of(self, X: CSR) -> Floats:
        """Return the scores of items, (n_items, n_categories).

        A word with P(w) = 0 is ignored. If a word is possible under some
        categories only, the others get a score of minus infinity. The scores of an item do not
        depend on the other items.

        Parameters
        ----------
        X
            Counts, (n_items, n_words) CSR without stored zeros.
        """
        if self._whole is not None:
            scores: Floats = X @ self._whole
            return scores
        scores = np.zeros((X.shape[0], len(self.priors)))
        columns = X.tocsc()
        for block in self._blocks():
            scores += columns[:, block].tocsr() @ self._ratios(block)
        return scores

    def prepare(self) -> None:
        """Compute the table of log ratios now, if it is small enough to be kept."""
        _ = self._whole

    def word_probabilities(self, block: slice) -> Floats:
        """Return P(w|c) for a block of words, (n_categories, n_block)."""
        sources = self._columns[:, block].toarray()
        mixed: Floats = self.weights @ sources
        mixed += (self.uniform / self.words.shape[1])[:, None]
        return mixed

    @cached_property
    def _whole(self) -> Floats | None:
        """The log ratios of all words, or None if the table is too large."""
        whole = slice(0, self.words.shape[1])
        return self._ratios(whole) if self._size() >= whole.stop else None

    @cached_property
    def _columns(self) -> csc_array:
        return self.words.tocsc()

    def _size(self) -> int:
        return max(1, WORD_PROBABILITIES_AT_A_TIME // int(sum(self.weights.shape)))

    def _blocks(self) -> Iterator[slice]:
        n_words, size = self.words.shape[1], self._size()
        return (slice(start, min(start + size, n_words)) for start in range(0, n_words, size))

    def _ratios(self, block: slice) -> Floats:
        """Return log P(w|c) - log P(w) for a block of words, (n_block, n_categories)."""
        mixed = self.word_probabilities(block)
        general = self.priors @ mixed if self.general is None else self.general[block]
        mixed[:, general == 0] = 1.0
        with np.errstate(divide="ignore"):
            ratios = np.log(mixed, out=mixed) - np.log(np.where(general > 0, general, 1.0))
        return np.ascontiguousarray(ratios.T)

    def __getstate__(self) -> dict[str, object]:
        """Return the state to pickle, without tables that can be recomputed."""
        return {name: value for name, value in self.__dict__.items() if name[0] != "_"}

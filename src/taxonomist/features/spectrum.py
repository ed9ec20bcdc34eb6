"""``SpectrumFeatures``: the substrings of an item, with or without gaps [RSSS06, Sec. 2.2]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from taxonomist.features.letters import (
    Letters,
    check_alphabet,
    check_inside,
    code_letters,
    distinct_letters,
    split_items,
)
from taxonomist.features.parameters import check_dtype, check_lengths, check_whole
from taxonomist.features.substrings import Substrings, learn_substrings

if TYPE_CHECKING:
    from taxonomist._typing import CSR


class SubstringFeatures(TransformerMixin, BaseEstimator):
    """What transformers from items to weighted counts of substrings have in common.

    A subclass has the parameters ``lengths``, ``unit``, ``alphabet``, ``outside``, ``normalize``
    and ``dtype``.
    """

    lengths: Any
    unit: Any
    alphabet: Any
    outside: str
    normalize: bool
    dtype: Any
    letters_: Any
    _substrings: Substrings

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn which substrings there are.

        Parameters
        ----------
        X
            Items: strings, or lists of letters.
        y
            Ignored; there for pipelines.

        Returns
        -------
        The transformer itself.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> CSR:  # noqa: ARG002
        """Learn which substrings there are, and return the features of the items.

        Parameters
        ----------
        X
            Items: strings, or lists of letters.
        y
            Ignored; there for pipelines.

        Returns
        -------
        csr_array, shape (n_items, n_features)
        """
        given = check_alphabet(self.alphabet, self.outside)
        lengths = check_lengths(self.lengths)
        max_gaps, decay = self._gaps()
        dtype = check_dtype(self.dtype)
        sequences = split_items(X, self.unit)
        alphabet = distinct_letters(sequences) if given is None else given
        letters = self._coded(sequences, alphabet)
        substrings, counts = learn_substrings(
            letters, len(alphabet), lengths, max_gaps, decay, dtype
        )
        if not substrings.n_columns:
            raise ValueError(
                f"None of the {len(sequences)} items has a substring of {lengths[0]} letters. "
                "Give longer items, or smaller lengths."
            )
        self.letters_ = np.array(alphabet, dtype=object)
        self._substrings = substrings
        self._learn_weights(counts)
        return self._finished(counts)

    def transform(self, X: Any) -> CSR:
        """Return the features of items; substrings that ``fit`` did not see do not count.

        Parameters
        ----------
        X
            Items: strings, or lists of letters.

        Returns
        -------
        csr_array, shape (n_items, n_features)
        """
        check_is_fitted(self)
        letters = self._coded(split_items(X, self.unit), self.letters_.tolist())
        return self._finished(self._substrings.count(letters, check_dtype(self.dtype)))

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Return the substrings in column order: by length, then by alphabet.

        Parameters
        ----------
        input_features
            Ignored; there for pipelines.

        Returns
        -------
        ndarray of str, shape (n_features,)
        """
        check_is_fitted(self)
        letters = self.letters_.tolist()
        are_characters = self.unit == "char" and all(len(letter) == 1 for letter in letters)
        names = self._substrings.names(letters, "" if are_characters else " ")
        return np.array(names, dtype=object)

    def _gaps(self) -> tuple[int, float]:
        """Return the largest number of gaps, and what each weighs."""
        return 0, 1.0

    def _coded(self, sequences: Any, alphabet: list[str]) -> Letters:
        """Return items as codes of letters."""
        letters = code_letters(sequences, {letter: code for code, letter in enumerate(alphabet)})
        if self.alphabet is not None:
            check_inside(letters, sequences, alphabet, self.outside)
        return letters

    def _learn_weights(self, counts: CSR) -> None:
        """Learn from the counts of the training items what their columns weigh."""

    def _finished(self, counts: CSR) -> CSR:
        """Return counts as features, in place."""
        return unit_rows(counts) if self.normalize else counts

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn is to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class SpectrumFeatures(SubstringFeatures):
    """Counts of the substrings of an item: the feature map of the spectrum kernels.

    The feature of a substring u is the number of times that it occurs in the item
    [RSSS06, Sec. 2.2]. With ``max_gaps`` its letters need not be next to each other: an occurrence
    that leaves out g letters between its first and its last counts ``decay**g``. The product of two
    items' features is the (gapped) substring kernel. Where gaps may be of any size,
    ``taxonomist.kernels.GappedKernel`` computes the kernel itself.

    Parameters
    ----------
    lengths
        The shortest and the longest length of substrings, or one length.
    unit
        What strings are split into: ``"char"``; ``"word"``, runs of letters, digits and underscores
        in lower case; or a function from a string to a list of letters. Items that are
        lists already stay as they are.
    alphabet
        The letters that count, such as ``AMINO_ACIDS``; None for all that the training items have.
    outside
        What letters outside a given alphabet do: ``"error"``, or ``"skip"``: substrings with such
        a letter do not count. Without a given alphabet, new letters are skipped.
    max_gaps
        Most letters that an occurrence may leave out, over all its gaps.
    decay
        Weight of each letter left out, from 0 to 1.
    normalize
        Whether items have length 1, unless they have no known substring.
    dtype
        Type of the values, ``"float32"`` or ``"float64"``.

    Attributes
    ----------
    letters_
        The alphabet, in order.

    Notes
    -----
    The columns are the substrings that occur in the training items, by length and then in the order
    of the alphabet. Time and memory grow with the number of letters in all items, times
    ``(length - 1 + max_gaps)`` over ``max_gaps`` for each length.

    Examples
    --------
    >>> from taxonomist.features import SpectrumFeatures
    >>> spectrum = SpectrumFeatures(2, normalize=False)
    >>> spectrum.fit_transform(["abab", "ba"]).toarray()
    array([[2., 1.],
           [0., 1.]])
    >>> spectrum.get_feature_names_out().tolist()
    ['ab', 'ba']
    >>> gapped = SpectrumFeatures(2, max_gaps=1, decay=0.5, normalize=False)
    >>> gapped.fit_transform(["abc"]).toarray()  # ab, ac, bc
    array([[1. , 0.5, 1. ]])
    """

    def __init__(
        self,
        lengths: int | tuple[int, int] = (4, 4),
        *,
        unit: Any = "char",
        alphabet: Any = None,
        outside: str = "error",
        max_gaps: int = 0,
        decay: float = 0.5,
        normalize: bool = True,
        dtype: Any = "float64",
    ) -> None:
        self.lengths = lengths
        self.unit = unit
        self.alphabet = alphabet
        self.outside = outside
        self.max_gaps = max_gaps
        self.decay = decay
        self.normalize = normalize
        self.dtype = dtype

    def _gaps(self) -> tuple[int, float]:
        """Return the largest number of gaps, and what each weighs."""
        if not 0 <= self.decay <= 1:
            raise ValueError(f"decay must be from 0 to 1. Got {self.decay!r}.")
        return check_whole("max_gaps", self.max_gaps, 0), float(self.decay)


def unit_rows(rows: CSR) -> CSR:
    """Return rows divided by their lengths, in place; empty ones stay as they are."""
    return normalize(rows, copy=False) if rows.shape[0] else rows

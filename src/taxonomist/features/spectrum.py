"""``SpectrumFeatures``: the substrings of an item, with or without gaps [RSSS06, Sec. 2.2]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l2
from sklearn.utils.validation import check_array, check_is_fitted

from taxonomist.errors import ParameterError
from taxonomist.features.letters import (
    Alphabet,
    Letters,
    Unit,
    check_alphabet,
    check_inside,
    code_letters,
    distinct_letters,
    split_items,
)
from taxonomist.features.parameters import check_dtype, check_lengths, check_whole
from taxonomist.features.substrings import Substrings, learn_substrings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import DTypeLike
    from sklearn.utils import Tags

    from taxonomist._typing import CSR, LabelsLike, Objects


class SubstringFeatures(TransformerMixin, BaseEstimator):
    """Base of transformers from items to weighted counts of substrings.

    A subclass has the parameters ``lengths``, ``unit``, ``alphabet``, ``outside``, ``normalize``
    and ``dtype``.
    """

    lengths: Any
    unit: Unit
    alphabet: Alphabet | None
    outside: str
    normalize: bool
    dtype: DTypeLike
    letters_: Any
    _substrings: Substrings

    def fit(self, X: Iterable[object], y: LabelsLike | None = None) -> Any:
        """Learn the substrings.

        Parameters
        ----------
        X
            Items: strings, or lists of letters.
        y
            Ignored; present for API consistency.

        Returns
        -------
        The transformer itself.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Iterable[object], y: object = None) -> CSR:  # noqa: ARG002
        """Learn the substrings and return the features of the items.

        Parameters
        ----------
        X
            Items: strings, or lists of letters.
        y
            Ignored; present for API consistency.

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
            raise ParameterError(
                f"None of the {len(sequences)} items has a substring of {lengths[0]} letters. "
                "Pass longer items, or smaller lengths."
            )
        self.letters_ = np.array(alphabet, dtype=object)
        self._substrings = substrings
        self._learn_weights(counts)
        return self._finished(counts)

    def transform(self, X: Iterable[object]) -> CSR:
        """Return the features of items, ignoring substrings that ``fit`` did not see.

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

    def get_feature_names_out(self, input_features: object = None) -> Objects:  # noqa: ARG002
        """Return the substrings in column order: by length, then alphabetically.

        Parameters
        ----------
        input_features
            Ignored; present for API consistency.

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
        """Return the maximum number of gaps and the weight of each."""
        return 0, 1.0

    def _coded(self, sequences: Any, alphabet: list[str]) -> Letters:
        letters = code_letters(sequences, {letter: code for code, letter in enumerate(alphabet)})
        if self.alphabet is not None:
            check_inside(letters, sequences, alphabet, self.outside)
        return letters

    def _learn_weights(self, counts: CSR) -> None:
        """Learn column weights from the counts of the training items."""

    def _finished(self, counts: CSR) -> CSR:
        """Turn counts into features, in place."""
        return unit_rows(counts) if self.normalize else counts

    def __sklearn_tags__(self) -> Tags:
        """Declare that items are strings."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class SpectrumFeatures(SubstringFeatures):
    """Counts of the substrings of an item: the feature map of the spectrum kernels.

    The feature of a substring u is its number of occurrences in the item [RSSS06, Sec. 2.2]. With
    ``max_gaps``, its letters need not be adjacent: an occurrence that skips g letters between its
    first and last letter counts ``decay**g``. The inner product of two items' features is the
    (gapped) substring kernel. For unbounded gaps, ``taxonomist.kernels.GappedKernel`` computes the
    kernel directly.

    Parameters
    ----------
    lengths
        The smallest and largest length of substrings, or one length.
    unit
        How to split strings: ``"char"``; ``"word"``, runs of letters, digits and underscores in
        lower case; ``"syllable"``, the syllables of these words by their spelling
        [RSSS06, Sec. 2.2]; or a function from a string to a list of letters. Items that are lists
        are not split.
    alphabet
        The letters that count, such as ``AMINO_ACIDS``; None for all letters of the training items.
    outside
        How to treat letters outside a given alphabet: ``"error"``, or ``"skip"`` to ignore
        substrings that contain them. Without a given alphabet, new letters are skipped.
    max_gaps
        Maximum number of letters that an occurrence may skip, over all its gaps.
    decay
        Weight of each skipped letter, from 0 to 1.
    normalize
        Whether to scale items to length 1; items without a known substring stay 0.
    dtype
        Dtype of the values, ``"float32"`` or ``"float64"``.

    Attributes
    ----------
    letters_
        The alphabet, sorted.

    Notes
    -----
    The columns are the substrings that occur in the training items, by length and then
    alphabetically. Time and memory grow with the total number of letters times the binomial
    coefficient ``(length - 1 + max_gaps)`` over ``max_gaps`` for each length.

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
        unit: Unit = "char",
        alphabet: Alphabet | None = None,
        outside: str = "error",
        max_gaps: int = 0,
        decay: float = 0.5,
        normalize: bool = True,
        dtype: DTypeLike = "float64",
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
        if not 0 <= self.decay <= 1:
            raise ParameterError(f"decay must be from 0 to 1. Got {self.decay!r}.")
        return check_whole("max_gaps", self.max_gaps, 0), float(self.decay)


def unit_rows(rows: CSR) -> CSR:
    """Scale rows to length 1, in place; empty rows stay 0."""
    floats = (np.float64, np.float32)
    rows = check_array(rows, accept_sparse="csr", dtype=floats, ensure_min_samples=0)
    inplace_csr_row_normalize_l2(rows)
    return rows

"""``SequenceCodes``: items as rows of codes, for sequence kernels."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from taxonomist.errors import ParameterError
from taxonomist.features.letters import (
    Alphabet,
    Unit,
    check_alphabet,
    check_inside,
    code_letters,
    distinct_letters,
    split_items,
)
from taxonomist.features.parameters import check_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sklearn.utils import Tags

    from taxonomist._typing import CSR

FIRST_HASH = 2**52
"""Hashes range from here up to 2**53, which float64 represents exactly."""


class SequenceCodes(TransformerMixin, BaseEstimator):
    """Encode items as rows of a matrix with the code of letter j in column j.

    ``taxonomist.kernels.GappedKernel`` takes sequences in this form, so it can be the ``kernel``
    of a model behind this transformer. The code of a letter is fixed and nothing is learned:
    ``fit`` only checks the parameters.

    Parameters
    ----------
    unit
        How to split strings: ``"char"``; ``"word"``, runs of letters, digits and underscores in
        lower case; ``"syllable"``, the syllables of these words by their spelling
        [RSSS06, Sec. 2.2]; or a function from a string to a list of letters. Items that are lists
        are not split.
    alphabet
        The letters that count; None for all.
    outside
        How to treat letters outside a given alphabet: ``"error"``, or ``"skip"`` to leave gaps.
    max_length
        Maximum number of letters per item, which is the number of columns. Empty columns take no
        memory.

    Notes
    -----
    The code of a single character is its Unicode code point plus 1. The code of a longer letter is
    a 52-bit hash, the same on all machines; among a million different words, two share a code with
    a probability of about 0.0001.

    Examples
    --------
    >>> from taxonomist.features import SequenceCodes
    >>> SequenceCodes(max_length=5).fit_transform(["abba", "c"]).toarray()
    array([[ 98,  99,  99,  98,   0],
           [100,   0,   0,   0,   0]])
    """

    def __init__(
        self,
        *,
        unit: Unit = "char",
        alphabet: Alphabet | None = None,
        outside: str = "error",
        max_length: int = 1_000_000,
    ) -> None:
        self.unit = unit
        self.alphabet = alphabet
        self.outside = outside
        self.max_length = max_length

    def fit(self, X: Iterable[object], y: object = None) -> SequenceCodes:  # noqa: ARG002
        """Check the parameters and the items.

        Parameters
        ----------
        X
            Items: strings, or lists of letters.
        y
            Ignored; present for API consistency.

        Returns
        -------
        SequenceCodes
            The transformer itself.
        """
        self.transform(X)
        return self

    def transform(self, X: Iterable[object]) -> CSR:
        """Return the codes of items.

        Parameters
        ----------
        X
            Items: strings, or lists of letters.

        Returns
        -------
        csr_array, shape (n_items, max_length)
            Whole numbers from 1; skipped letters leave a 0.
        """
        from scipy.sparse import csr_array, get_index_dtype

        given = check_alphabet(self.alphabet, self.outside)
        max_length = check_whole("max_length", self.max_length, 1)
        sequences = split_items(X, self.unit)
        alphabet = distinct_letters(sequences) if given is None else given
        letters = code_letters(sequences, {letter: _code(letter) for letter in alphabet})
        if given is not None:
            check_inside(letters, sequences, given, self.outside)
        codes, ends = letters
        lengths = np.diff(ends)
        if lengths.max(initial=0) > max_length:
            i = int(np.argmax(lengths))
            raise ParameterError(
                f"Item {i} has {lengths[i]} letters, but max_length is {max_length}; "
                "increase it, for training items too."
            )
        places = np.arange(len(codes)) - np.repeat(ends[:-1], lengths)
        index = get_index_dtype(maxval=max(max_length, len(codes)))
        parts = codes, places.astype(index), ends.astype(index)
        rows = csr_array(parts, shape=(len(sequences), max_length))
        rows.data[rows.data < 0] = 0
        rows.eliminate_zeros()
        return rows

    def __sklearn_tags__(self) -> Tags:
        """Declare that items are strings and that fitting is optional."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags


def _code(letter: str) -> int:
    """Return the code of a letter: code point + 1, or a hash above all code points."""
    if len(letter) == 1:
        return ord(letter) + 1
    text = letter.encode("utf-8", "surrogatepass")
    digest = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
    return FIRST_HASH + digest % FIRST_HASH

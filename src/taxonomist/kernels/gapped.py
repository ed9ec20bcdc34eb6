"""``GappedKernel``: common subsequences of two items, weighted by their gaps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist._threads import n_threads
from taxonomist.compiled.strings import CHUNK, Strings, string_scratch, write_gapped, write_own
from taxonomist.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import CSR, Codes, Floats, MatrixLike

ROWS_AT_A_TIME = 4
"""Rows of the Gram matrix that a thread computes at a time."""


@dataclass(frozen=True)
class GappedKernel:
    """The substring kernel with gaps of any size, in which every skipped letter has a cost.

    φ_u(s) is the sum of ``decay**g`` over all occurrences of a string u in s as a subsequence,
    where g is the number of letters skipped between the first and last letter of the occurrence;
    k(s, t) = Σ_u φ_u(s) φ_u(t) over all u of the given lengths [RSSS06, Sec. 2.2]. A decay of 0
    gives the kernel of contiguous substrings; 1 counts all subsequences equally. If gaps are
    bounded, ``taxonomist.features.SpectrumFeatures`` computes the features explicitly and is
    faster.

    Items are rows of codes made by ``taxonomist.features.SequenceCodes``. Use the kernel as the
    ``kernel`` of a model behind that transformer, or call it to compute a Gram matrix.

    Parameters
    ----------
    lengths
        The smallest and largest length of subsequences, or one length.
    decay
        Weight of each skipped letter, from 0 to 1.
    normalize
        Whether to divide k(s, t) by the root of k(s, s) k(t, t), so that k(s, s) = 1. All values
        of an item that is too short for any subsequence are 0.
    n_jobs
        Number of threads; None means all cores. The values do not depend on it.

    Notes
    -----
    A pair takes time ``O(p (|s| |t| / 8 + 8 m))`` and memory ``O(p |t|)`` for subsequences of up to
    p letters, where m is the number of pairs of positions with the same letter: about a 20th of
    all pairs for proteins, fewer for words.

    Lodhi et al. also let the letters of u itself decay, which multiplies k by ``decay**(2 * p)``.
    For a single length and normalised values, both definitions agree.

    Examples
    --------
    >>> from taxonomist.features import SequenceCodes
    >>> from taxonomist.kernels import GappedKernel
    >>> codes = SequenceCodes().fit_transform(["cat", "cart", "dog"])
    >>> GappedKernel(2, decay=0.5, normalize=False)(codes)  # ca, ct, at in "cat"
    array([[2.25  , 1.625 , 0.    ],
           [1.625 , 3.5625, 0.    ],
           [0.    , 0.    , 2.25  ]])
    """

    lengths: int | tuple[int, int] = (4, 4)
    decay: float = 0.5
    normalize: bool = True
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        pair = self._pair()
        is_whole = all(isinstance(length, int | np.integer) for length in pair)
        if len(pair) != 2 or not is_whole or not 1 <= pair[0] <= pair[1]:
            raise ParameterError(
                "lengths must be a whole number, at least 1, or a pair of them in ascending order. "
                f"Got {self.lengths!r}."
            )
        if not 0 <= self.decay <= 1:
            raise ParameterError(f"decay must be from 0 to 1. Got {self.decay!r}.")

    def __call__(self, A: MatrixLike, B: MatrixLike | None = None) -> Floats:
        """Return the kernel values between the items of two matrices.

        Parameters
        ----------
        A, B
            Rows of codes, dense or sparse; 0 means no letter. Without B, the values are between
            the items of A, and each pair is computed only once.

        Returns
        -------
        ndarray, shape (rows of A, rows of B)

        Raises
        ------
        ValueError
            If a row has values that are not codes, or the result is too large for float64.
        """
        left = to_strings(A)
        right = left if B is None or B is A else to_strings(B)
        values = self._values(left, right)
        own_left = values.diagonal().copy() if left is right else self._own(left)
        own_right = own_left if left is right else self._own(right)
        if not all(np.isfinite(part).all() for part in (values, own_left, own_right)):
            raise ParameterError(
                f"Kernel values with lengths {self.lengths} and decay {self.decay} are too large "
                "for float64. Use smaller ones."
            )
        if self.normalize:
            values /= np.sqrt(np.where(own_left > 0, own_left, 1.0))[:, np.newaxis]
            values /= np.sqrt(np.where(own_right > 0, own_right, 1.0))
        return values

    def _values(self, left: Strings, right: Strings) -> Floats:
        """Return the value of every pair, not normalised."""
        values = np.zeros((len(left.ends) - 1, len(right.ends) - 1))
        powers, lengths, is_symmetric = self._powers(), self._lengths(), left is right

        def fill(rows: tuple[int, int]) -> None:
            scratch = string_scratch(left, right, lengths[1])
            write_gapped(left, right, powers, lengths, rows, is_symmetric, scratch, values)

        self._run(fill, len(values))
        if is_symmetric:
            values += np.triu(values, 1).T
        return values

    def _own(self, strings: Strings) -> Floats:
        """Return the value of every string with itself, not normalised."""
        values = np.zeros(len(strings.ends) - 1)
        powers, lengths = self._powers(), self._lengths()

        def fill(rows: tuple[int, int]) -> None:
            scratch = string_scratch(strings, strings, lengths[1])
            write_own(strings, powers, lengths, rows, scratch, values)

        self._run(fill, len(values))
        return values

    def _powers(self) -> Floats:
        """Return the weights of 0, 1, ... skipped letters."""
        return np.power(float(self.decay), np.arange(CHUNK + 1), dtype=np.float64)

    def _pair(self) -> tuple[int, ...]:
        """Return the lengths as a tuple, even if only one is given."""
        lengths: Any = self.lengths
        return tuple(lengths) if np.ndim(lengths) else (lengths, lengths)

    def _lengths(self) -> tuple[int, int]:
        shortest, longest = self._pair()
        return int(shortest), int(longest)

    def _run(self, work: Callable[[tuple[int, int]], None], n_rows: int) -> None:
        """Process all rows in threads, a few rows at a time."""
        starts = range(0, n_rows, ROWS_AT_A_TIME)
        parts = [(start, min(start + ROWS_AT_A_TIME, n_rows)) for start in starts]
        with ThreadPoolExecutor(n_threads(self.n_jobs)) as pool:
            list(pool.map(work, parts))


def to_strings(rows: MatrixLike) -> Strings:
    """Convert rows of codes to the form that the compiled loops read.

    Parameters
    ----------
    rows
        (n_items, n_places), dense or sparse: the code of the letter at each place, 0 for none.

    Returns
    -------
    Strings
        The items, each from its first to its last letter.

    Raises
    ------
    ValueError
        If a value is not a whole number of at least 0.
    """
    from scipy.sparse import csr_array

    rows = csr_array(rows, copy=True)
    rows.eliminate_zeros()
    rows.sort_indices()
    _check_codes(rows)
    n_items, counts = rows.shape[0], np.diff(rows.indptr)
    item = np.repeat(np.arange(n_items), counts)
    is_full = counts > 0
    lengths = np.zeros(n_items, dtype=np.intp)
    starts = np.zeros(n_items, dtype=np.intp)
    starts[is_full] = rows.indices[rows.indptr[:-1][is_full]]
    lengths[is_full] = rows.indices[rows.indptr[1:][is_full] - 1] + 1 - starts[is_full]
    codes, places = rows.data.astype(np.intp), rows.indices - starts[item]
    order = np.lexsort((places, codes, item))
    codes, places, item = codes[order], places[order].astype(np.intp), item[order]
    is_new = np.ones(len(codes), dtype=bool)
    is_new[1:] = (codes[1:] != codes[:-1]) | (item[1:] != item[:-1])
    ends, kind_ends = _ends(lengths), _ends(np.bincount(item[is_new], minlength=n_items))
    letters = np.full(ends[-1], -1, dtype=np.intp)
    letters[ends[item] + places] = np.cumsum(is_new) - 1 - kind_ends[item]
    place_ends = np.append(np.flatnonzero(is_new), len(codes))
    return Strings(ends, letters, kind_ends, codes[is_new], place_ends, places)


def _check_codes(rows: CSR) -> None:
    """Raise for values that are not codes."""
    is_short = rows.data.dtype in (np.float16, np.float32)
    if is_short and rows.data.max(initial=0) >= 2**24:
        raise ParameterError(
            f"Codes as large as {rows.data.max():.0f} are not exact as {rows.data.dtype}: "
            "keep them as features.SequenceCodes makes them, or use float64."
        )
    is_code = np.isfinite(rows.data) & (rows.data >= 0) & (np.floor(rows.data) == rows.data)
    if is_code.all():
        return
    wrong = int(np.argmin(is_code))
    row = int(np.searchsorted(rows.indptr, wrong, side="right")) - 1
    raise ParameterError(
        f"Row {row} has the value {rows.data[wrong]!r}, but a GappedKernel compares codes of "
        "letters, which are whole numbers from 0; make rows with features.SequenceCodes."
    )


def _ends(lengths: Codes) -> Codes:
    """Return the ends of consecutive ranges of the given lengths, preceded by 0."""
    ends = np.zeros(len(lengths) + 1, dtype=np.intp)
    np.cumsum(lengths, out=ends[1:])
    return ends

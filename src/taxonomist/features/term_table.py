"""Terms as one text: files of models are opened without reading the terms.

A few terms are found by bisection. Where many are looked up, a dictionary of all is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from taxonomist._typing import Codes, Integers, Objects

__all__ = ["TermTable"]

FEW = 8
"""Terms are found by bisection as long as at most 1 in so many of all were asked for."""


@dataclass(eq=False)
class TermTable:
    """Sorted terms, and their columns.

    Attributes
    ----------
    text
        The terms in UTF-8, one after another.
    ends
        Where each term ends, after a 0, (n_terms + 1,).
    """

    text: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, terms: Sequence[str]) -> TermTable:
        """Return the table of sorted terms."""
        found = [term.encode("utf-8", "surrogatepass") for term in terms]
        ends = np.zeros(len(found) + 1, dtype=np.int64)
        np.cumsum([*map(len, found)], out=ends[1:])
        return cls(np.frombuffer(b"".join(found), np.uint8).copy(), ends)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def first(self, n: int) -> list[str]:
        """Return the first n terms."""
        return self._parts(self.ends[: n + 1])

    def terms(self) -> Objects:
        """Return all terms."""
        found = np.empty(len(self), dtype=object)
        found[:] = self._parts(self.ends)
        return found

    def points(self) -> tuple[Integers, Codes]:
        """Return the code points of all terms, and where each term ends, after a 0."""
        is_first = (self.text & 0xC0) != 0x80
        ends = np.append(0, np.cumsum(is_first, dtype=np.intp))[self.ends]
        whole = self._decoded(self.text.tobytes())
        return np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), np.uint32), ends

    def finder(self, n: int) -> Callable[[str, int], int]:
        """Return a function that finds the columns of n terms, given the default for others."""
        if "_columns" not in vars(self) and FEW * (self._n_asked + n) < len(self):
            self._n_asked += n
            return self._found
        return self._columns.get

    _n_asked = 0

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self._parts(self.ends))}

    def _found(self, term: str, default: int) -> int:
        """Return the column of a term by bisection: UTF-8 has the order of code points."""
        wanted = term.encode("utf-8", "surrogatepass")
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self._bytes(low) == wanted else default

    def _bytes(self, column: int) -> bytes:
        """Return a term in UTF-8."""
        return self.text[self.ends[column] : self.ends[column + 1]].tobytes()

    def _parts(self, ends: NDArray[np.int64]) -> list[str]:
        """Return the terms between some ends."""
        places = ends.tolist()
        start = places[0]
        whole = self.text[start : places[-1]].tobytes()
        pairs = pairwise(places)
        if whole.isascii():
            text = whole.decode("ascii")
            return [text[a - start : b - start] for a, b in pairs]
        return [self._decoded(whole[a - start : b - start]) for a, b in pairs]

    @staticmethod
    def _decoded(text: bytes) -> str:
        """Return a text in UTF-8 as a string."""
        try:
            return text.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise ModelFileError(
                f"The model is damaged: its terms are no text ({error})."
            ) from error

"""Texts of many items: in memory while they are few, then in a temporary file."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar, cast, overload

import numpy as np

from taxonomist._spill import TemporaryBytes, array_limit
from taxonomist.features.text_items import peek

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taxonomist._typing import Codes, TextLike

T = TypeVar("T")

__all__ = ["GatheredTexts", "StoredTexts", "kept_texts", "taken_texts"]

TEXT_BYTES = 400
"""Memory that an item takes beside its characters."""
BLOCK_BYTES = 2**20
"""Bytes that are written or read at once, about."""
ENCODING = "utf-8", "surrogatepass"


class StoredTexts(Sequence[dict[str, str]]):
    """Texts of items in a temporary file.

    They are read in blocks, so few of them are in memory at a time.

    Parameters
    ----------
    file
        The texts, one after another.
    ends
        Where each text ends, after a 0.
    columns
        The names of the texts of an item.
    items
        The items in the order of this sequence; None for all.
    """

    def __init__(
        self,
        file: TemporaryBytes,
        ends: Codes,
        columns: tuple[str, ...],
        items: Codes | None = None,
    ) -> None:
        self._file = file
        self._ends = ends
        self._columns = columns
        self._items = items

    def __len__(self) -> int:
        return self._n_stored if self._items is None else len(self._items)

    @property
    def _n_stored(self) -> int:
        return (len(self._ends) - 1) // len(self._columns)

    @overload
    def __getitem__(self, index: int) -> dict[str, str]: ...

    @overload
    def __getitem__(self, index: slice) -> StoredTexts: ...

    def __getitem__(self, index: int | slice) -> dict[str, str] | StoredTexts:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        place = range(len(self))[index]
        item = place if self._items is None else int(self._items[place])
        return next(self._read(item, item + 1))

    def take(self, items: Codes) -> StoredTexts:
        """Return some of the items, which share the file."""
        chosen = items if self._items is None else self._items[items]
        return StoredTexts(self._file, self._ends, self._columns, np.asarray(chosen, np.intp))

    def __iter__(self) -> Iterator[dict[str, str]]:
        for begin, end in self._runs():
            yield from self._read(begin, end)

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Yield runs of neighbouring items that are short enough to be read at once."""
        items = np.arange(self._n_stored) if self._items is None else self._items
        breaks = np.flatnonzero(np.diff(items) != 1) + 1
        firsts = self._ends[:: len(self._columns)]
        for begin, end in pairwise([0, *breaks.tolist(), len(items)] if len(items) else []):
            first, last = int(items[begin]), int(items[end - 1]) + 1
            while first < last:
                most = int(np.searchsorted(firsts, firsts[first] + BLOCK_BYTES, "right")) - 1
                upto = min(last, max(most, first + 1))
                yield first, upto
                first = upto

    def _read(self, begin: int, end: int) -> Iterator[dict[str, str]]:
        """Yield neighbouring items."""
        n = len(self._columns)
        ends = self._ends[begin * n : end * n + 1]
        data = self._file.read(int(ends[0]), int(ends[-1] - ends[0]))
        places = pairwise((ends - ends[0]).tolist())
        parts = (data[start:stop].decode(*ENCODING) for start, stop in places)
        for values in zip(*[parts] * n, strict=True):
            yield dict(zip(self._columns, values, strict=True))


class GatheredTexts:
    """The texts of items, item by item.

    They go to a temporary file when they take more memory than an array of items may.
    """

    def __init__(self) -> None:
        self._kept: list[dict[str, str]] = []
        self._left = array_limit()
        self._file: TemporaryBytes | None = None
        self._ends = array("q", [0])
        self._waiting: list[bytes] = []
        self._size = 0
        self._columns: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self._kept) or (len(self._ends) - 1) // max(1, len(self._columns))

    def add(self, texts: dict[str, str]) -> None:
        """Add the texts of an item, which has the same columns as the first."""
        if self._file is not None:
            self._store(texts)
            return
        self._kept.append(texts)
        self._left -= TEXT_BYTES + sum(map(len, texts.values()))
        if self._left < 0:
            self._file, self._columns = TemporaryBytes(), tuple(self._kept[0])
            for each in self._kept:
                self._store(each)
            self._kept = []

    def _store(self, texts: dict[str, str]) -> None:
        """Add the texts of an item to the file."""
        for column in self._columns:
            data = texts[column].encode(*ENCODING)
            self._waiting.append(data)
            self._size += len(data)
            self._ends.append(self._ends[-1] + len(data))
        if self._size >= BLOCK_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._file is not None:
            self._file.write(b"".join(self._waiting))
        self._waiting, self._size = [], 0

    def finish(self) -> Sequence[dict[str, str]]:
        """Return the texts of all items."""
        if self._file is None:
            return self._kept
        self._flush()
        return StoredTexts(self._file, np.frombuffer(self._ends, np.int64), self._columns)


def kept_texts(texts: Iterable[TextLike]) -> Sequence[TextLike]:
    """Return texts that can be read again: a list, unless they are stored."""
    return texts if isinstance(texts, StoredTexts) else list(peek(texts)[1])


def taken_texts(texts: Sequence[T], items: Codes) -> Sequence[T]:
    """Return the texts of some items."""
    if isinstance(texts, StoredTexts):
        return cast("Sequence[T]", texts.take(items))
    return [texts[i] for i in items.tolist()]

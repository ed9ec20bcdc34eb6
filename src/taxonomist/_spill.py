"""Arrays and sparse rows of many items: in memory while they are small, then in temporary files.

A file is memory-mapped, so its pages can leave memory again. It has no name or is removed when the
array is no longer used.
"""

from __future__ import annotations

import os
import tempfile
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np
from scipy.sparse import csr_array, get_index_dtype

from taxonomist.errors import DiskFullError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import DTypeLike, NDArray

    from taxonomist._typing import CSR, Codes, Integers

__all__ = [
    "RowSpool",
    "Spool",
    "TemporaryBytes",
    "array_limit",
    "first_rows",
    "is_large",
    "joined",
    "mapped",
    "row_cuts",
    "single_precision",
    "stacked",
    "taken",
]

VARIABLE = "TAXONOMIST_MEMORY_GIB"
"""Environment variable with the memory for texts and features of items, in GiB."""
MEMORY_GIB = 4.0
"""Its default."""
N_ARRAYS = 8
"""Arrays of items that a training holds at once, about: texts, words, and the indices and values of
counts, of features and of those of a fold. Each may take this part of the memory."""
BLOCK_BYTES = 2**26
"""Size of the blocks in which large rows are copied."""


def array_limit() -> int:
    """Return the bytes above which an array of items is kept in a temporary file.

    Raises
    ------
    ParameterError
        If the environment variable is not a number above 0.
    """
    given = os.environ.get(VARIABLE, "")
    try:
        gib = float(given) if given else MEMORY_GIB
    except ValueError:
        gib = 0.0
    if not 0 < gib < float("inf"):
        raise ParameterError(
            f"The environment variable {VARIABLE} must be a number of GiB above 0. Got {given!r}."
        )
    return int(gib * 2**30 / N_ARRAYS)


def is_large(rows: CSR) -> bool:
    """Return whether the values of sparse rows belong into a temporary file."""
    return bool(rows.data.nbytes > array_limit())


class TemporaryBytes:
    """A temporary file that several threads may read; it is removed when it is no longer used."""

    def __init__(self) -> None:
        self.stream = cast("BinaryIO", tempfile.TemporaryFile(buffering=0))  # noqa: SIM115
        self._lock = Lock()

    def __del__(self) -> None:
        self.stream.close()

    def write(self, data: bytes | memoryview) -> None:
        """Write bytes at the end.

        Raises
        ------
        DiskFullError
            If they cannot be written.
        """
        left = memoryview(data)
        try:
            while len(left):
                left = left[self.stream.write(left) :]
        except OSError as error:
            raise DiskFullError(
                f"Temporary files in {tempfile.gettempdir()} cannot hold the texts and features: "
                f"{error.strerror}. Free some space, name another folder in the environment "
                f"variable TMPDIR, or keep more in memory with {VARIABLE}."
            ) from error

    def read(self, begin: int, size: int) -> bytes:
        """Return some bytes."""
        with self._lock:
            self.stream.seek(begin)
            return self.stream.read(size)


class Spool:
    """An array that grows at its end, and goes to a temporary file when it becomes large.

    Parameters
    ----------
    dtype
        The type of its values.
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype: np.dtype[np.generic] = np.dtype(dtype)
        self._parts: list[NDArray[np.generic]] = []
        self._size = 0
        self._most = array_limit()
        self._file: TemporaryBytes | None = None

    def __len__(self) -> int:
        return self._size

    def add(self, part: NDArray[np.generic]) -> None:
        """Add values at the end."""
        part = np.ascontiguousarray(part, dtype=self.dtype)
        self._size += len(part)
        self._parts.append(part)
        if self._file is None and self._size * self.dtype.itemsize > self._most:
            self._file = TemporaryBytes()
        if self._file is not None:
            for each in self._parts:
                self._file.write(each.view(np.uint8).data)
            self._parts.clear()

    def finish(self) -> NDArray[np.generic]:
        """Return the whole array."""
        if self._file is None:
            return np.concatenate(self._parts) if self._parts else np.empty(0, self.dtype)
        found = np.memmap(self._file.stream, self.dtype, mode="r+", shape=(self._size,))
        # Compiled loops and scipy take plain arrays; the map stays open as their base.
        return np.asarray(found)


class RowSpool:
    """A sparse matrix that grows by rows, and goes to temporary files when it becomes large.

    Parameters
    ----------
    n_columns
        The number of columns.
    most_values
        A number of stored values that it will not exceed.
    dtype
        The type of values.
    """

    def __init__(self, n_columns: int, most_values: int, dtype: DTypeLike = np.float64) -> None:
        self._n_columns = n_columns
        width = get_index_dtype(maxval=max(most_values, n_columns))
        self._indices, self._values = Spool(width), Spool(dtype)
        self._sizes: list[Codes] = [np.empty(0, np.intp)]

    def add(self, rows: CSR) -> None:
        """Add rows at the end."""
        self._sizes.append(np.diff(rows.indptr).astype(np.intp))
        self._indices.add(rows.indices)
        self._values.add(rows.data)

    def finish(self) -> CSR:
        """Return the whole matrix."""
        sizes = np.concatenate(self._sizes)
        ends = np.append(0, np.cumsum(sizes)).astype(self._indices.dtype)
        shape = (len(sizes), self._n_columns)
        return csr_array((self._values.finish(), self._indices.finish(), ends), shape=shape)


def joined(parts: Iterable[CSR], n_columns: int, most_values: int, dtype: DTypeLike) -> CSR:
    """Return the rows of all parts, which are made one after another."""
    spool = RowSpool(n_columns, most_values, dtype)
    for part in parts:
        spool.add(part)
    return spool.finish()


def first_rows(rows: CSR, n: int) -> CSR:
    """Return the first n rows, which share the memory of all."""
    end = int(rows.indptr[n])
    parts = rows.data[:end], rows.indices[:end], rows.indptr[: n + 1]
    return csr_array(parts, shape=(n, rows.shape[1]))


def mapped(rows: CSR, function: Callable[[CSR], CSR]) -> CSR:
    """Return rows after a function that changes each row by itself, and keeps its places."""
    if not is_large(rows):
        return function(rows)
    cuts = row_cuts(rows.indptr, rows.data.itemsize)
    parts = (function(csr_array(rows[begin:end])) for begin, end in cuts)
    return joined(parts, rows.shape[1], rows.nnz, rows.dtype)


def taken(rows: CSR, items: Codes) -> CSR:
    """Return some of the rows."""
    if not is_large(rows):
        found: CSR = rows[items]
        return found
    ends = np.append(0, np.cumsum(np.diff(rows.indptr)[items]))
    cuts = row_cuts(ends, rows.data.itemsize)
    parts = (csr_array(rows[items[a:b]]) for a, b in cuts)
    return joined(parts, rows.shape[1], int(ends[-1]), rows.dtype)


def stacked(parts: list[CSR]) -> CSR:
    """Return the rows of several matrices, one after another."""
    from scipy.sparse import vstack

    if not any(map(is_large, parts)):
        return csr_array(vstack(parts, format="csr"))
    n_values = sum(part.nnz for part in parts)
    return joined(parts, parts[0].shape[1], n_values, parts[0].dtype)


def single_precision(rows: CSR) -> CSR:
    """Return rows with values in single precision."""
    if rows.dtype == np.float32 or not is_large(rows):
        return csr_array(rows, dtype=np.float32)
    values = Spool(np.float32)
    step = BLOCK_BYTES // rows.data.itemsize
    for begin in range(0, rows.nnz, step):
        values.add(rows.data[begin : begin + step])
    return csr_array((values.finish(), rows.indices, rows.indptr), shape=rows.shape)


def row_cuts(ends: Integers, itemsize: int) -> list[tuple[int, int]]:
    """Return the first row, and the one behind the last, of blocks of rows with few values.

    Parameters
    ----------
    ends
        Where each row ends, after a 0.
    itemsize
        Bytes of a value.
    """
    n_blocks = 1 + int(ends[-1]) * itemsize // BLOCK_BYTES
    if n_blocks == 1:
        return [(0, len(ends) - 1)] if len(ends) > 1 else []
    inside = np.searchsorted(ends, np.linspace(0, ends[-1], n_blocks + 1)[1:-1])
    edges = np.unique([0, *inside.tolist(), len(ends) - 1]).tolist()
    return list(pairwise(edges))

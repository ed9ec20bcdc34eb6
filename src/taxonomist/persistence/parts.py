"""Parts of a model: files of arrays or strings, with checksums that are verified on reading."""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from taxonomist.errors import ModelFileError
from taxonomist.persistence.later_check import LaterCheck
from taxonomist.persistence.regular import open_regular, read_regular
from taxonomist.persistence.verified import Verified

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedReader
    from pathlib import Path

    from taxonomist._typing import Objects


PART_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
"""Valid names of parts: plain file names that cannot point outside their folder."""

NOTED_BYTES = 2**24
"""Size of a model from which on it is noted that its checksums were compared."""

LATER_BYTES = 2**24
"""Size of an array from which on it may be compared after the model was opened."""

MAX_JSON_BYTES = 2**30
"""Maximum size of a JSON part that is read."""


class Part(Protocol):
    """Content to be written to a file of its own."""

    @property
    def name(self) -> str:
        """Name of the file."""

    def write(self, file: _Hashed) -> dict[str, object]:
        """Write the content and return its entries for the manifest."""


@dataclass(frozen=True, eq=False)
class ArrayPart:
    """An array in an ``.npy`` file."""

    name: str
    array: Objects

    def write(self, file: _Hashed) -> dict[str, object]:
        """Write the ``.npy`` file; see ``Part``."""
        np.lib.format.write_array(file, self.array, allow_pickle=False)
        return {"dtype": self.array.dtype.str, "shape": list(self.array.shape)}


class PoolPart:
    """Small arrays of one dtype, concatenated in an ``.npy`` file.

    Parameters
    ----------
    name
        Name of the file.
    dtype
        The dtype of the arrays.
    """

    def __init__(self, name: str, dtype: np.dtype[Any]) -> None:
        self.name = name
        self._dtype = dtype
        self._size = 0
        self._arrays: list[Objects] = []

    def add(self, array: Objects) -> int:
        """Add an array in C or Fortran order, and return its start position."""
        start = self._size
        self._arrays.append(array)
        self._size += array.size
        return start

    def write(self, file: _Hashed) -> dict[str, object]:
        """Write the ``.npy`` file; see ``Part``."""
        descr = np.lib.format.dtype_to_descr(self._dtype)
        header = {"descr": descr, "fortran_order": False, "shape": (self._size,)}
        np.lib.format.write_array_header_1_0(file, header)
        for array in self._arrays:
            file.write(array.tobytes(order="A"))
        return {"dtype": self._dtype.str, "shape": [self._size]}


@dataclass(frozen=True, eq=False)
class TextPart:
    """A JSON value in a ``.json`` file."""

    name: str
    value: object

    def write(self, file: _Hashed) -> dict[str, object]:
        """Write the ``.json`` file; see ``Part``."""
        file.write(as_json(self.value))
        return {}


class _Hashed:
    """A file whose checksum is computed while it is written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Write bytes."""
        self._hash.update(data)
        return self._file.write(data)

    def sha256(self) -> str:
        """Return the checksum of the bytes written so far."""
        return self._hash.hexdigest()


def as_json(value: object, indent: int | None = None) -> bytes:
    """Return a value as JSON; strings may contain lone surrogates."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators
    )
    return text.encode("utf-8", "surrogatepass")


def from_json(data: bytes) -> Any:
    """Parse JSON; strings may contain lone surrogates."""
    return json.loads(data.decode("utf-8", "surrogatepass"))


class WrittenPart(NamedTuple):
    """A part on disk: its entry in the manifest, and the status of its file."""

    entry: dict[str, Any]
    status: os.stat_result


def write_parts(folder: Path, parts: Sequence[Part]) -> list[WrittenPart]:
    """Write parts to disk (with fsync)."""
    written = []
    for part in parts:
        with (folder / part.name).open("wb") as file:
            hashed = _Hashed(file)
            facts = part.write(hashed)
            n_bytes = file.tell()
            flush(file)
            status = os.fstat(file.fileno())
        entry = {"name": part.name, "bytes": n_bytes, **facts, "sha256": hashed.sha256()}
        written.append(WrittenPart(entry, status))
    return written


def note_written(folder: Path, written: Sequence[WrittenPart]) -> None:
    """Note the checksums of a large model that was just written, so that it opens at once."""
    if sum(each.entry["bytes"] for each in written) >= NOTED_BYTES:
        notes = Verified(folder)
        for entry, status in written:
            notes.add_written(entry["name"], status, entry["sha256"])
        notes.save()


def flush(file: IO[bytes]) -> None:
    """Force a file to disk."""
    file.flush()
    os.fsync(file.fileno())


class PartReader:
    """Reads the parts of a model.

    Parameters
    ----------
    model
        The folder of the model.
    folder
        The name of the folder of its parts.
    entries
        The manifest entries of the parts.
    mmap
        Whether to memory-map arrays instead of reading them.

    Attributes
    ----------
    n_bytes
        Total size of the parts.
    """

    def __init__(self, model: Path, folder: str, entries: Any, mmap: bool) -> None:
        self.n_bytes = 0
        self._model = model
        self._folder = folder
        self._entries = {_checked_name(entry["name"]): entry for entry in entries}
        self._mmap = mmap
        self._read: dict[str, Any] = {}
        self._notes: Verified | None = None
        self._unverified: dict[str, BufferedReader] = {}
        self._defers = False

    def check(self, verify: bool | str) -> None:
        """Raise if a part is missing or was changed.

        Parameters
        ----------
        verify
            Whether to compare checksums: those of large models only if a part may have changed
            since the last time, unless it is ``"always"``. If False, only file sizes are compared.
        """
        self.n_bytes = sum(entry["bytes"] for entry in self._entries.values())
        if verify is True and self.n_bytes >= NOTED_BYTES:
            self._notes = Verified(self._model / self._folder)
        for name, entry in self._entries.items():
            with self._opened(name) as file:
                status = os.fstat(file.fileno())
                if status.st_size != entry["bytes"]:
                    raise ModelFileError(
                        f"{self._model / self._folder / name} has {status.st_size} bytes, but "
                        f"should have {entry['bytes']}: it is truncated or was changed. {RESTORE}"
                    )
                if not verify or (self._notes and self._notes.has(name, status, entry["sha256"])):
                    continue
                if self._notes and self._mmap and _can_wait(entry):
                    # The file may be removed, and the model still be used.
                    self._unverified[name] = os.fdopen(os.dup(file.fileno()), "rb")
                else:
                    self._compare(name, file)
        if self._notes:
            self._notes.save()

    @contextmanager
    def deferring(self, defers: bool) -> Iterator[None]:
        """Let large arrays that are read be compared by ``compare_later``, if ``defers``."""
        before, self._defers = self._defers, self._defers or defers
        try:
            yield
        finally:
            self._defers = before

    def compare_later(self) -> LaterCheck | None:
        """Start to compare the arrays that were not compared yet; return None if all were."""
        return LaterCheck(self._compare_rest) if self._unverified else None

    def _compare_rest(self) -> None:
        for name in list(self._unverified):
            self._compare_now(name)
        if self._notes:
            self._notes.save()

    def _compare_now(self, name: str) -> None:
        """Raise if an array that was not compared yet is damaged."""
        with self._unverified[name] as file:
            self._compare(name, file)
        del self._unverified[name]

    def _compare(self, name: str, file: BufferedReader) -> None:
        """Raise if the checksum of a part is not the expected one; else note it."""
        status, expected = os.fstat(file.fileno()), self._entries[name]["sha256"]
        found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise ModelFileError(
                f"{self._model / self._folder / name} is damaged: its SHA-256 is {found[:12]}..., "
                f"but should be {str(expected)[:12]}.... {RESTORE}"
            )
        if self._notes:
            self._notes.add(name, status, expected)

    def array(self, name: str) -> Any:
        """Return the array of a part; changes to it do not change the file."""
        if name in self._unverified and not self._defers:
            self._compare_now(name)
        return self._once(name, self._load_array)

    def value(self, name: str) -> Any:
        """Return the value of a part."""
        return self._once(name, self._load_value)

    def _opened(self, name: str) -> BufferedReader:
        try:
            return open_regular(self._model, self._folder, name)
        except ModelFileError:
            raise
        except OSError as error:
            raise ModelFileError(
                f"{self._model / self._folder / name}, a part of the model, cannot be read "
                f"({error.strerror}). {RESTORE}"
            ) from error

    def _once(self, name: str, read: Any) -> Any:
        """Return the content of a part, read on first use."""
        if name not in self._entries:
            raise ModelFileError(
                f"{self._model / self._folder} lacks the part {name!r}, which the model refers to."
            )
        if name not in self._read:
            self._read[name] = read(name, self._entries[name])
        return self._read[name]

    def _load_value(self, name: str, _: Any) -> Any:
        return from_json(read_regular(self._model, self._folder, name, most=MAX_JSON_BYTES))

    def _load_array(self, name: str, entry: Any) -> Any:
        with self._opened(name) as file:
            array = read_array(file, self._mmap)
        if array.dtype.str != entry["dtype"] or list(array.shape) != entry["shape"]:
            raise ModelFileError(
                f"{self._model / self._folder / name} has shape {array.shape} and type "
                f"{array.dtype}, not what the manifest says: {entry['shape']} and "
                f"{entry['dtype']}. {RESTORE}"
            )
        return array


def read_array(file: IO[bytes], mmap: bool) -> Any:
    """Return the array of an ``.npy`` file, whose size must be what its header says.

    Parameters
    ----------
    file
        The open file.
    mmap
        Whether to memory-map the array. It is mapped copy-on-write, because numba recompiles loops
        for read-only arrays.
    """
    version = np.lib.format.read_magic(file)
    read_header = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, is_fortran, dtype = read_header(file)
    start, n_bytes = file.tell(), os.fstat(file.fileno()).st_size
    if dtype.hasobject or min(shape, default=0) < 0:
        raise ModelFileError(
            f"An array of type {dtype} and shape {shape} cannot be read as a model's part."
        )
    if prod(shape) * dtype.itemsize != n_bytes - start:
        raise ModelFileError(
            f"An array has {n_bytes - start:,} bytes, which is not its shape {shape}. {RESTORE}"
        )
    order: Any = "F" if is_fortran else "C"
    if mmap and n_bytes > start:
        found = np.memmap(file, dtype, mode="c", offset=start, shape=shape, order=order)
        return np.asarray(found)
    return np.fromfile(file, dtype, count=prod(shape)).reshape(shape, order=order)


RESTORE = "Restore the folder from a copy, or save the model again."


def _can_wait(entry: Any) -> bool:
    """Return whether a part is an array that takes a while to compare."""
    return "shape" in entry and bool(entry["bytes"] >= LATER_BYTES)


def _checked_name(name: Any) -> str:
    """Return the name of a part; raise if it is not a plain file name."""
    if not isinstance(name, str) or not PART_NAME.fullmatch(name):
        raise ModelFileError(
            f"The manifest names a part {name!r}, which is not a plain file name. Taxonomist does "
            "not write such names: do not trust this model."
        )
    return name

"""Finished portions of a solve, kept in a folder, so that an interrupted solve can continue.

A portion's file is named by a digest of everything that its solution depends on. So a file is used
only for the same items, labels and options, and the result is the same as without an interruption.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from taxonomist._files import move_into_place, naming
from taxonomist.compiled.node_jobs import Variables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    from numpy.typing import NDArray

    from taxonomist._typing import Codes
    from taxonomist.compiled.node_jobs import JobArrays, JobResults

LEAST_WORK = 10**8
"""Stored values times columns from which on portions are kept: some seconds of one core."""
_FOLDER: ContextVar[Path | None] = ContextVar("folder of finished portions", default=None)


@contextmanager
def keep_branches(folder: str | PathLike[str]) -> Iterator[None]:
    """Keep finished branches of ``PathSVC`` in a folder, and continue from those in it.

    Fits inside ``with`` write a file for each portion of their branches, unless they are small.
    If the same fit is repeated after an interruption, these are read instead of trained.

    Parameters
    ----------
    folder
        The folder, made when it is needed. Remove it when the fit is over.
    """
    token = _FOLDER.set(Path(folder))
    try:
        yield
    finally:
        _FOLDER.reset(token)


class KeptPortions:
    """The files of one solve.

    Parameters
    ----------
    folder
        The folder.
    digest
        A digest of the problem.
    """

    def __init__(self, folder: Path, digest: str) -> None:
        self._folder = folder
        self._digest = digest

    @classmethod
    def of(
        cls, arrays: JobArrays, others: Iterable[NDArray[np.generic]], work: int
    ) -> KeptPortions | None:
        """Return the files of a solve; None if nothing is to be kept.

        Parameters
        ----------
        arrays
            The problem.
        others
            Everything else that solutions depend on.
        work
            The amount of work.
        """
        folder = _FOLDER.get()
        if folder is None or work < LEAST_WORK:
            return None
        digest = blake2b(digest_size=16)
        for field in (*arrays, *others):
            for array in field if isinstance(field, tuple) else (field,):
                whole = np.ascontiguousarray(array)
                digest.update(f"{whole.dtype} {whole.shape};".encode())
                digest.update(whole.data)
        return cls(folder, digest.hexdigest())

    def load(
        self, number: int, jobs: Codes, arrays: JobArrays, results: JobResults
    ) -> Variables | None:
        """Return the variables of a portion and fill in its results; None if it is not finished."""
        try:
            with self._path(number).open("rb") as stream, np.load(stream) as file:
                found = [file[name] for name in (*Variables._fields, *results._fields)]
        except (OSError, ValueError, KeyError, BadZipFile):
            return None
        n_fields = len(Variables._fields)
        for array, places, part in zip(
            results, _places(jobs, arrays), found[n_fields:], strict=True
        ):
            array[places] = part
        return Variables._make(found[:n_fields])

    def save(
        self, number: int, jobs: Codes, arrays: JobArrays, results: JobResults, found: Variables
    ) -> None:
        """Write a portion; the file appears when it is complete."""
        parts = (
            array[places] for array, places in zip(results, _places(jobs, arrays), strict=True)
        )
        content = {
            **found._asdict(),
            **dict(zip(results._fields, parts, strict=True)),
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._path(number)
        unfinished = path.with_suffix(".part")
        try:
            with naming(self._folder), unfinished.open("wb") as stream:
                np.savez(stream, allow_pickle=False, **content)
            move_into_place(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._folder / f"{self._digest}-{number}.npz"


def _places(jobs: Codes, arrays: JobArrays) -> list[Codes]:
    """Return where the results of some jobs are: by column three times, then by job."""
    ranges = zip(arrays.begin[jobs].tolist(), arrays.end[jobs].tolist(), strict=True)
    columns = np.concatenate([np.arange(begin, end) for begin, end in ranges])
    return [columns] * 3 + [jobs] * 3

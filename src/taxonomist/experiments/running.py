"""Run cells in parallel and store their results in files, so that no cell runs twice.

A cell's file is named by its key and written atomically, so a killed run loses only the cells in
progress.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from taxonomist._files import move_into_place
from taxonomist.experiments.declarations import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from taxonomist.experiments.declarations import Cell

    Progress: TypeAlias = Callable[[str, int, int], None]


class Store:
    """Results of finished cells in a folder.

    Parameters
    ----------
    folder
        The folder, created when the first result is saved.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, cell: Cell) -> Result | None:
        """Return the result of a cell, or None if it has not been run."""
        try:
            with gzip.open(self._path(cell), "rt", encoding="utf-8") as stream:
                return Result(**json.load(stream)["result"])
        except FileNotFoundError:
            return None

    def save(self, cell: Cell, result: Result) -> None:
        """Store the result of a cell."""
        self.folder.mkdir(parents=True, exist_ok=True)
        document = {"cell": cell.name, "result": vars(result)}
        packed = gzip.compress(json.dumps(document).encode(), mtime=0)
        handle, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
        with os.fdopen(handle, "wb") as stream:
            stream.write(packed)
        move_into_place(name, self._path(cell))

    def _path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}.json.gz"


def run(cells: Sequence[Cell], store: Store, n_jobs: int, progress: Progress) -> None:
    """Run the cells without stored results: timed ones one by one, the others in parallel.

    Parameters
    ----------
    cells
        The cells to run.
    store
        Where results are stored.
    n_jobs
        Number of processes.
    progress
        Called with the name of the finished cell, and the numbers of finished and of all cells.
    """
    from joblib import Parallel, delayed

    missing = [cell for cell in cells if store.load(cell) is None]
    n_done = len(cells) - len(missing)
    progress("", n_done, len(cells))
    for is_timed in (False, True):
        part = [cell for cell in missing if cell.is_timed == is_timed]
        parallel = Parallel(n_jobs=1 if is_timed else n_jobs, return_as="generator_unordered")
        for name in parallel(delayed(_run_one)(cell, store) for cell in part):
            n_done += 1
            progress(name, n_done, len(cells))


def _run_one(cell: Cell, store: Store) -> str:
    """Run a cell, store its result, and return its name."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        # Tables describe their data; a fold that lacks a category needs no warning.
        warnings.simplefilter("ignore")
        result = cell.work()
    store.save(cell, replace(result, seconds=time.perf_counter() - started))
    return cell.name

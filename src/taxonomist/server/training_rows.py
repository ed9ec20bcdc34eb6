"""A folder with what the last training has learned from, so that the next one takes seconds.

It only saves time: if it is absent or damaged, a training reads all texts.
"""

from __future__ import annotations

import warnings
from shutil import rmtree
from typing import TYPE_CHECKING

from taxonomist.errors import ModelFileError
from taxonomist.persistence import load, save
from taxonomist.text.updating import LearnedTexts

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_rows", "write_rows"]

STORED = {"LearnedTexts": LearnedTexts}


def write_rows(folder: Path, learned: LearnedTexts) -> None:
    """Write what was learned from; a reader sees the old state or the new one."""
    try:
        save(learned, folder, kinds=STORED)
    except ModelFileError:
        # What is there is too damaged to be replaced.
        rmtree(folder, ignore_errors=True)
        save(learned, folder, kinds=STORED)


def read_rows(folder: Path) -> LearnedTexts | None:
    """Return what was learned from; None if it is absent, damaged or from another version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = load(folder, mmap=False, kinds=STORED)
        except (ModelFileError, OSError):
            return None
    return found if isinstance(found, LearnedTexts) else None

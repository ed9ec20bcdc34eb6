"""Write files: errors with their names, and finished ones into place while others are open.

On POSIX, a file can be replaced while another program reads it. Windows refuses that, and also to
rename a folder with an open file in it. Virus scanners and indexers open new files for a moment, so
it is worth trying again.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

PAUSES_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Pauses between attempts on Windows."""


def move_into_place(source: str | PathLike[str], target: str | PathLike[str]) -> None:
    """Rename a file or a folder; a file replaces an existing one.

    Parameters
    ----------
    source
        The finished file or folder.
    target
        Its new path, in the same file system. If the source is a folder, it must not exist.

    Raises
    ------
    PermissionError
        If the system still refuses after several attempts; the error names the target.
    OSError
        If there is another reason.
    """
    for pause_s in PAUSES_S if sys.platform == "win32" else ():
        try:
            os.replace(source, target)
        except PermissionError:
            time.sleep(pause_s)
        else:
            return
    try:
        os.replace(source, target)
    except PermissionError as error:
        reason = error.strerror
        if sys.platform == "win32":
            reason = f"{reason}; close the programs in which it is open"
        raise PermissionError(error.errno, reason, os.fspath(target)) from error


@contextmanager
def naming(path: str | PathLike[str]) -> Iterator[None]:
    """Name a file in errors of the body that name none, such as that of a full disk.

    Parameters
    ----------
    path
        What is written.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.strerror:
            error.filename = os.fspath(path)
        raise

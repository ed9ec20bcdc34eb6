"""Opening the files of a model: only regular files inside its folder.

A folder from someone else may contain pipes, on which a reader would wait forever, devices, and
links to other files of this machine.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from taxonomist.errors import ModelFileError

if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path

__all__ = ["open_regular", "read_regular"]

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(folder: Path, *names: str) -> BufferedReader:
    """Open a file of a model for reading.

    Parameters
    ----------
    folder
        The folder of the model, which may be a link.
    *names
        The path of the file inside the folder.

    Raises
    ------
    ModelFileError
        If the file is not a regular file, or is a link that leads out of the folder.
    OSError
        If there is no such file, or it may not be read.
    """
    path = folder.joinpath(*names)
    root, real = os.path.realpath(folder), os.path.realpath(path)
    if os.path.commonpath([root, real]) != root:
        raise ModelFileError(f"{path} is a link that leads out of the model: do not trust it.")
    # Checked before opening too: opening some devices has effects.
    if not stat.S_ISREG(os.stat(real).st_mode):
        raise _not_regular(path)
    file = os.fdopen(os.open(real, _FLAGS), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise _not_regular(path)
    return file


def read_regular(folder: Path, *names: str, most: int) -> bytes:
    """Return the content of a file of a model, which has at most ``most`` bytes."""
    with open_regular(folder, *names) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise ModelFileError(
                f"{folder.joinpath(*names)} is larger than {most:,} bytes, which Taxonomist does "
                "not write: do not trust this model."
            )
        return file.read(most)


def _not_regular(path: Path) -> ModelFileError:
    return ModelFileError(f"{path} is not a regular file, so it is not opened: do not trust it.")

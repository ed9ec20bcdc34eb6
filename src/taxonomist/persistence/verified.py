"""Notes of which files were compared with their checksums, so that large ones are read only once.

A note in the user's cache folder holds the checksum of a file with its size, its times and its
number on the disk. As long as these are the same, nobody has written to the file since, and it is
not read again for its checksum. A copy is another file. A file that changed less than two seconds
before it was read gets no note: another change in the same moment might leave its times alone. The
process that writes a file notes its checksum at once, unless times of files are coarse.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import time
from hashlib import blake2b
from typing import TYPE_CHECKING

from taxonomist._files import move_into_place
from taxonomist.features.vector_cache import default_folder

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Verified"]

logger = logging.getLogger(__name__)

MOST_NOTES = 200
"""Models of which there are notes at most; the oldest are dropped first."""
SETTLED_NS = 2_000_000_000
"""How long ago a file must have been changed."""


COARSE_NS = 10_000_000
"""Times that are multiples of this have no finer digits."""


class Verified:
    """The files of a model that were compared with their checksums.

    Parameters
    ----------
    parts
        The folder of the files.
    """

    def __init__(self, parts: Path) -> None:
        self._path = _place_of(parts)
        self._known = _read(self._path)
        self._is_changed = False

    def has(self, name: str, status: os.stat_result, sha256: str) -> bool:
        """Return whether a file had this checksum, and was not changed since."""
        return self._known.get(name) == [*_facts(status), sha256]

    def add(self, name: str, status: os.stat_result, sha256: str) -> None:
        """Note the checksum of a file that was read after its status."""
        if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > SETTLED_NS:
            self._known[name] = [*_facts(status), sha256]
            self._is_changed = True

    def add_written(self, name: str, status: os.stat_result, sha256: str) -> None:
        """Note the checksum of a file that this process wrote, with its status after that.

        Where times are coarse, a change right after that might leave them alone: there is no note.
        """
        if (status.st_mtime_ns % COARSE_NS) and (status.st_ctime_ns % COARSE_NS):
            self._known[name] = [*_facts(status), sha256]
            self._is_changed = True

    def save(self) -> None:
        """Write the notes, if there are new ones."""
        if self._path is None or not self._is_changed:
            return
        folder = self._path.parent
        temporary = folder / f".{self._path.name}.{secrets.token_hex(4)}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            try:
                temporary.write_text(json.dumps(self._known), encoding="utf-8")
                move_into_place(temporary, self._path)
            finally:
                temporary.unlink(missing_ok=True)
            notes = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
            for path in notes[:-MOST_NOTES]:
                path.unlink(missing_ok=True)
        except OSError as error:
            logger.info("Checksums cannot be noted in %s: %s", folder, error)


def _facts(status: os.stat_result) -> list[int]:
    """Return what is the same as long as nobody writes to a file."""
    times = status.st_mtime_ns, status.st_ctime_ns
    return [status.st_dev, status.st_ino, status.st_size, *times]


def _place_of(parts: Path) -> Path | None:
    """Return the file of the notes of a folder; None if there is no cache folder."""
    try:
        name = blake2b(os.fsencode(os.path.realpath(parts)), digest_size=16).hexdigest()
        return default_folder() / "verified" / f"{name}.json"
    except RuntimeError:  # there is no home
        return None


def _read(path: Path | None) -> dict[str, list[int | str]]:
    """Return the notes of a file; none if they cannot be read."""
    try:
        found = None if path is None else json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}

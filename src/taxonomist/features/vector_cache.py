"""A cache on disk of sentence vectors, by the content of the texts.

The cache is a file of SQLite, which several processes may use at the same time. It holds hashes and
vectors, no texts. A folder that cannot be written to, or is full, makes encoding slower and nothing
else: this is logged once.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["VectorCache", "default_folder"]

logger = logging.getLogger(__name__)

FILE = "vectors.sqlite"
TIMEOUT_S = 10.0
"""How long to wait for another process that is writing."""
KEYS_AT_A_TIME = 500
"""Keys of a query; SQLite allows 999 at least."""
OVERHEAD_BYTES = 64
"""Bytes of an entry beside its vector: the key twice, and what SQLite adds."""

_COMPLAINTS: set[str] = set()
"""The files that were complained about."""


def default_folder() -> Path:
    """Return the folder of the cache: ``taxonomist`` in the user's cache folder."""
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "taxonomist"


class VectorCache:
    """Vectors of texts, kept in a folder.

    Parameters
    ----------
    folder
        The folder; it is made if it does not exist.
    fingerprint
        What identifies the encoder and its options.
    most_mib
        Mebibytes of vectors that are kept at most. The oldest are dropped first.
    """

    def __init__(self, folder: Path, fingerprint: str, most_mib: float) -> None:
        self._path = folder / FILE
        self._salt = blake2b(fingerprint.encode(), digest_size=16).digest()
        self._most_bytes = most_mib * 2**20

    def get(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of the texts that are in the cache."""
        keys = {self._key(text): text for text in texts}
        try:
            if not self._path.is_file():
                return {}
            with closing(self._connect()) as connection:
                pairs = self._select(connection, keys)
        except (OSError, sqlite3.Error) as error:
            self._complain("read", error)
            return {}
        return {keys[key]: np.frombuffer(value, dtype="<f4") for key, value in pairs}

    def put(self, vectors: Iterable[tuple[str, NDArray[np.float32]]]) -> None:
        """Add the vectors of texts, and drop the oldest if there are too many."""
        rows = [(self._key(text), vector.astype("<f4").tobytes()) for text, vector in vectors]
        if not rows:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._connect()) as connection, connection:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS vectors "
                    "(number INTEGER PRIMARY KEY, key BLOB UNIQUE, value BLOB)"
                )
                connection.executemany(
                    "INSERT OR IGNORE INTO vectors (key, value) VALUES (?, ?)", rows
                )
                self._shrink(connection, len(rows[0][1]) + OVERHEAD_BYTES)
        except (OSError, sqlite3.Error) as error:
            self._complain("write", error)

    def _key(self, text: str) -> bytes:
        return blake2b(text.encode("utf-8", "replace"), digest_size=16, key=self._salt).digest()

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=TIMEOUT_S)

    def _select(
        self, connection: sqlite3.Connection, keys: Iterable[bytes]
    ) -> list[tuple[bytes, bytes]]:
        found: list[tuple[bytes, bytes]] = []
        wanted = list(keys)
        for first in range(0, len(wanted), KEYS_AT_A_TIME):
            some = wanted[first : first + KEYS_AT_A_TIME]
            marks = ",".join("?" * len(some))
            query = f"SELECT key, value FROM vectors WHERE key IN ({marks})"
            found += connection.execute(query, some).fetchall()
        return found

    def _shrink(self, connection: sqlite3.Connection, entry_bytes: int) -> None:
        """Drop the oldest entries beyond the bound, and some more, so that it is rarely needed."""
        ((n_entries,),) = connection.execute("SELECT count(*) FROM vectors").fetchall()
        most = int(self._most_bytes // entry_bytes)
        if n_entries > most:
            connection.execute(
                "DELETE FROM vectors WHERE number IN (SELECT number FROM vectors ORDER BY number "
                "LIMIT ?)",
                (n_entries - most + most // 10,),
            )

    def _complain(self, what: str, error: Exception) -> None:
        """Log that the cache cannot be used, once for each file."""
        if str(self._path) not in _COMPLAINTS:
            _COMPLAINTS.add(str(self._path))
            logger.warning(
                "Cannot %s the cache of sentence vectors in %s (%s), so texts are encoded again "
                "each time. Pass another folder as cache, or cache=None.",
                what,
                self._path.parent,
                error,
            )

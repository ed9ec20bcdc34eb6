"""The cache on disk of compiled loops.

numba caches a function for as long as the function's own file is unchanged. Our loops call loops of
other files, so a change of any file must count. The names of our cache files therefore contain a
digest of all sources of this package. Sources that change lead to new files, and old ones, which
may hold classes that are gone, are never opened.

This file and ``dispatchers`` have all of numba's internals that we use: ``FunctionCache``,
``CompileResultCacheImpl`` and what it writes, the methods of locators, and
``get_call_template`` and ``get_overload`` of dispatchers. They have been the same since numba 0.61
at least.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import stat
import sys
import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba.core.caching
import numba.misc.appdirs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

logger = logging.getLogger(__name__)

PACKAGE = Path(__file__).parent

_numba: Any = numba
"""numba without types: it has them for some of its parts only."""


@cache
def digest_of_sources() -> str:
    """Return a digest of all source files of this package."""
    sources = [path for path in files(__package__).iterdir() if path.name.endswith((".py", ".pyc"))]
    digest = hashlib.sha256()
    for path in sorted(sources, key=lambda path: path.name):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


@cache
def cache_folder() -> Path | None:
    """Return the first folder that compiled loops can be written to, None if there is none.

    These are tried: ``NUMBA_CACHE_DIR``, the package's own ``__pycache__``, the user's cache folder
    of numba, and a private folder among the temporary files. A folder that cannot be written to is
    used if it holds loops of this version, such as one that is part of an image.
    """
    for folder in _usual_folders():
        if _is_writable(folder) or _is_filled(folder):
            return folder
    private = _private_folder()
    place = "not cached" if private is None else f"cached in {private}"
    logger.warning(
        "Compiled loops are %s, because neither %s nor the user's cache folder can be written to. "
        "Set NUMBA_CACHE_DIR to a folder that can, so that later runs start faster.",
        place,
        PACKAGE,
    )
    return private


def _usual_folders() -> Iterator[Path]:
    # As numba does, tell several installations of this package apart.
    name = f"{PACKAGE.name}_{hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:40]}"
    if _numba.config.CACHE_DIR:
        yield Path(_numba.config.CACHE_DIR, name)
    yield PACKAGE / "__pycache__"
    yield Path(_numba.misc.appdirs.AppDirs(appname="numba", appauthor=False).user_cache_dir, name)


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Not tempfile: on Windows it tries billions of names in a folder that it cannot write to.
        probe = folder / f".{secrets.token_hex(8)}"
        probe.open("xb").close()
        probe.unlink()
    except OSError:
        return False
    return True


def _is_filled(folder: Path) -> bool:
    """Return whether a folder holds loops of this version of the package."""
    return any(folder.glob(f"*-{digest_of_sources()}.*.nbi"))


def _private_folder() -> Path | None:
    """Return a temporary folder that nobody else can write to: loading a loop runs its code."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    try:
        folder = Path(tempfile.gettempdir(), f"taxonomist-{user}")
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    is_ours = stat.S_ISDIR(found.st_mode)
    if hasattr(os, "getuid"):
        is_ours &= found.st_uid == os.getuid() and not found.st_mode & 0o077
    return folder if is_ours and _is_writable(folder) else None


class _Locator:
    """Where numba finds the files of one loop."""

    def __init__(self, source: str) -> None:
        self._py_file = source

    def ensure_cache_path(self) -> None:
        Path(self.get_cache_path()).mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return digest_of_sources()


class _LoopFiles(_numba.core.caching.CompileResultCacheImpl):
    """How numba names the files of one loop, and what it writes into them."""

    form = ""

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        python = f"py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
        module = function.__module__.rpartition(".")[2]
        self._lineno = code.co_firstlineno
        self._locator = _Locator(code.co_filename)
        name = f"{module}.{function.__name__}{self.form}"
        self._filename_base = f"{name}-{digest_of_sources()}.{python}"

    def reduce(self, cres: object) -> tuple[bool, object]:
        """Return whether a compiled loop calls numba's runtime, and what to write of it.

        The runtime counts references to new arrays. The names of the functions that machine code
        calls are a part of it.
        """
        written = super().reduce(cres)
        _, _, (code, _) = written[0]
        return b"NRT_" in code, written

    def rebuild(self, target_context: Any, payload: tuple[bool, object]) -> object:
        """Return a compiled loop; most need only themselves."""
        needs_runtime, rest = payload
        if needs_runtime:
            target_context.refresh()
        return super().rebuild(target_context, rest)


def is_cached(function: Callable[..., Any]) -> bool:
    """Return whether a loop, as Python calls it, is in the cache."""
    folder = cache_folder()
    name = f"{_LoopFiles(function).filename_base}.nbi"
    return folder is not None and (folder / name).exists()


class _InlineFiles(_LoopFiles):
    """The files of a loop without an entry from Python."""

    form = ".inline"


class LoopCache(_numba.core.caching.FunctionCache):
    """The cache of one loop.

    Parameters
    ----------
    function
        The loop, uncompiled; there must be a ``cache_folder``.
    """

    _impl_class = _LoopFiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled loop, None if it is not cached or cannot be read.

        numba would first prepare to compile, which takes 36 MiB and a quarter of a second. If there
        is something to compile, it does so then.
        """
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except OSError:
            _warn_of_errors()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled loop, unless the folder is full or gone."""
        try:
            super().save_overload(sig, data)
        except OSError:
            _warn_of_errors()


class InlineCache(LoopCache):
    """The cache of a loop in the form that other loops include."""

    _impl_class = _InlineFiles


@cache
def _warn_of_errors() -> None:
    logger.warning("Compiled loops cannot be cached in %s.", cache_folder(), exc_info=True)

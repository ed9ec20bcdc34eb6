"""The exceptions that Taxonomist raises deliberately.

    TaxonomistError
    ├── TaxonomyError        (ValueError)         nodes and edges that do not form a taxonomy
    │   └── CycleError                            edges that form a cycle
    ├── UnknownNodeError     (KeyError)           an id that is not in the taxonomy
    ├── ParameterError       (ValueError)         a parameter that makes no sense
    ├── LabelError           (ValueError)         labels or scores that do not match the taxonomy
    ├── DataSizeError        (MemoryError)        data too large for the memory of a model
    ├── FormatError          (ValueError)         a file that cannot be read or written
    ├── ModelFileError       (OSError, ValueError)  a model that cannot be saved or loaded
    ├── NotSeparableError    (ValueError)         a hard margin for items that are not separable
    ├── CorpusNotFoundError  (FileNotFoundError)  a named corpus that is not on this machine
    ├── DiskFullError        (OSError)            a disk that cannot hold temporary files
    ├── DownloadError        (OSError)            a file that could not be downloaded completely
    ├── ClusterError         (RuntimeError)       a cluster that is lost or has too little memory
    └── MissingExtraError    (ImportError)        an optional package that is not installed

Each also derives from the built-in exception that a caller would expect, so ``except ValueError``
works as usual. ``TaxonomyWarning`` says that a taxonomy file was not read as it is.
"""

from __future__ import annotations

import difflib
import importlib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "ClusterError",
    "CorpusNotFoundError",
    "CycleError",
    "DataSizeError",
    "DiskFullError",
    "DownloadError",
    "FormatError",
    "LabelError",
    "MissingExtraError",
    "ModelFileError",
    "NotSeparableError",
    "ParameterError",
    "TaxonomistError",
    "TaxonomyError",
    "TaxonomyWarning",
    "UnknownNodeError",
    "closest",
    "import_extra",
    "refuse_address",
    "some",
]


class TaxonomistError(Exception):
    """The base class of all errors that Taxonomist raises deliberately."""


class TaxonomyError(TaxonomistError, ValueError):
    """The given nodes and edges do not form a taxonomy."""


class CycleError(TaxonomyError):
    """Edges form a cycle; ``cycles="break"`` leaves out the edges that close one."""


class TaxonomyWarning(UserWarning):
    """A taxonomy file was not read as it is: edges were left out, or it is not UTF-8.

    Parameters
    ----------
    message
        A sentence that says what was done, with the number of edges and the first of them.
    edges
        All edges (parent, child) that were left out, in alphabetical order.
    """

    def __init__(self, message: str, edges: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.edges = sorted(edges)


class UnknownNodeError(TaxonomistError, KeyError):
    """An id is not in the taxonomy."""

    def __str__(self) -> str:
        """Return the message itself; ``KeyError`` would show it in quotes."""
        return str(self.args[0])


class ParameterError(TaxonomistError, ValueError):
    """A parameter is not what it must be."""


class LabelError(TaxonomistError, ValueError):
    """Labels or scores do not match the taxonomy or each other."""


class DataSizeError(TaxonomistError, MemoryError):
    """A model would need more memory for the data than it may take."""


class FormatError(TaxonomistError, ValueError):
    """A file does not match its format."""


class ModelFileError(TaxonomistError, OSError, ValueError):
    """A model cannot be saved or loaded."""


class NotSeparableError(TaxonomistError, ValueError):
    """A hard margin was requested, but the items are not separable."""


class CorpusNotFoundError(TaxonomistError, FileNotFoundError):
    """A named corpus is not on this machine."""


class DiskFullError(TaxonomistError, OSError):
    """A disk has no room for the temporary files of large data."""


class DownloadError(TaxonomistError, OSError):
    """A file could not be downloaded, or is not the expected one."""


class ClusterError(TaxonomistError, RuntimeError):
    """A cluster cannot do what it was asked: it was lost, or its memory does not suffice."""


class MissingExtraError(TaxonomistError, ImportError):
    """An optional package is needed but not installed."""


def import_extra(module: str, extra: str) -> Any:
    """Import an optional module; if it is missing, raise an error that names the extra."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        message = (
            f"This needs {package}, which is not installed: pip install 'taxonomist[{extra}]'."
        )
        raise MissingExtraError(message) from error


def closest(word: str, known: Iterable[str], n: int = 3) -> str:
    """Return a sentence that names the known words closest to ``word``, or an empty string."""
    candidates = list(known)
    found = difflib.get_close_matches(word, candidates, n=n, cutoff=0.6)
    if not found:
        lowered = {other.casefold(): other for other in candidates}
        found = [
            lowered[match]
            for match in difflib.get_close_matches(word.casefold(), list(lowered), n=n, cutoff=0.6)
        ]
    return f" Did you mean {' or '.join(repr(match) for match in found)}?" if found else ""


def refuse_address(path: object) -> None:
    """Raise a ``FormatError`` if a path is an address on the web, such as ``https://...``."""
    # A ``Path`` has only one of the two slashes.
    if found := re.match(r"((?:https?|ftp|s3|gs):)/+(.*)", str(path), re.IGNORECASE | re.DOTALL):
        address = "//".join(found.groups())
        raise FormatError(
            f"{address} is an address, but only files are read. Download it, and pass the file."
        )


def some(items: Sequence[object], n: int = 5) -> str:
    """Return the first items in quotes, followed by the number of the others."""
    shown = ", ".join(repr(str(item)) for item in items[:n])
    return shown if len(items) <= n else f"{shown} and {len(items) - n} more"

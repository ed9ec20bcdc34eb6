"""Every exception that Taxonomist raises on purpose.

    TaxonomistError
    ├── TaxonomyError        (ValueError)         nodes and edges that form no taxonomy
    ├── UnknownNodeError     (KeyError)           an id that is not in the taxonomy
    ├── LabelError           (ValueError)         labels or scores that do not fit the taxonomy
    ├── ParameterError       (ValueError)         a parameter outside the values it can have
    ├── FormatError          (ValueError)         a file that cannot be read or written
    ├── ModelFileError       (OSError, ValueError)  a model that cannot be saved or loaded
    ├── NotSeparableError    (ValueError)         a hard margin where no margin exists
    ├── CorpusNotFoundError  (FileNotFoundError)  a named corpus that is not on this machine
    ├── DownloadError        (OSError)            a file that could not be downloaded whole
    └── MissingExtraError    (ImportError)        an optional package that is not installed

Each also derives from the built-in that a caller would expect, so ``except ValueError``
works as it does elsewhere in the field.
"""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "CorpusNotFoundError",
    "DownloadError",
    "FormatError",
    "LabelError",
    "MissingExtraError",
    "ModelFileError",
    "NotSeparableError",
    "ParameterError",
    "TaxonomistError",
    "TaxonomyError",
    "UnknownNodeError",
    "closest",
    "import_extra",
    "some",
]


class TaxonomistError(Exception):
    """The base of all errors that Taxonomist raises on purpose."""


class TaxonomyError(TaxonomistError, ValueError):
    """The given nodes and edges do not form a taxonomy."""


class UnknownNodeError(TaxonomistError, KeyError):
    """An id is not in the taxonomy."""

    def __str__(self) -> str:
        """Return the sentence itself; ``KeyError`` would show it quoted."""
        return str(self.args[0])


class LabelError(TaxonomistError, ValueError):
    """Labels or scores do not fit the taxonomy or each other."""


class ParameterError(TaxonomistError, ValueError):
    """A parameter has a value that it cannot have."""


class FormatError(TaxonomistError, ValueError):
    """A file does not hold what its format promises."""


class ModelFileError(TaxonomistError, OSError, ValueError):
    """A model cannot be saved, or what should be one cannot be loaded."""


class NotSeparableError(TaxonomistError, ValueError):
    """A hard margin is asked for, and the items cannot be separated."""


class CorpusNotFoundError(TaxonomistError, FileNotFoundError):
    """A named corpus is not on this machine."""


class DownloadError(TaxonomistError, OSError):
    """A file could not be downloaded, or is not the one that was expected."""


class MissingExtraError(TaxonomistError, ImportError):
    """An optional package is needed and not installed."""


def import_extra(module: str, extra: str) -> Any:
    """Return the optional module, or say which extra installs it."""
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


def some(items: Sequence[object], n: int = 5) -> str:
    """Return the first items in quotes, and how many more there are."""
    shown = ", ".join(repr(str(item)) for item in items[:n])
    return shown if len(items) <= n else f"{shown} and {len(items) - n} more"

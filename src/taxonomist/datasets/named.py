"""Find and load corpora by name."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from taxonomist.datasets.catalogue import ENTRIES, CatalogueEntry
from taxonomist.errors import CorpusNotFoundError, ParameterError, closest

if TYPE_CHECKING:
    from taxonomist.datasets.corpus import Corpus

__all__ = ["data_home", "find", "info", "load", "names"]

HOME_VARIABLE = "TAXONOMIST_DATA"
BUNDLED = Path(__file__).parent / "bundled"

_ENTRY = {entry.name: entry for entry in ENTRIES}


def names() -> tuple[str, ...]:
    """Return the names that ``load`` accepts, sorted.

    Returns
    -------
    tuple of str
        The names, whether or not the corpora are on this machine.
    """
    return tuple(sorted(_ENTRY))


def info(name: str) -> CatalogueEntry:
    """Describe a corpus without loading it.

    Parameters
    ----------
    name
        One of ``names()``.

    Returns
    -------
    CatalogueEntry
        Description, source, licence, files and options.

    Raises
    ------
    CorpusNotFoundError
        If the name is unknown.
    """
    if name not in _ENTRY:
        raise CorpusNotFoundError(
            f"Unknown corpus {name!r}.{closest(name, _ENTRY)} datasets.names() lists them all."
        )
    return _ENTRY[name]


def data_home() -> Path:
    """Return the folder that contains the folders of the corpora.

    Returns
    -------
    Path
        The value of the environment variable ``TAXONOMIST_DATA``, by default ``taxonomist`` in the
        user's data folder (``LOCALAPPDATA`` on Windows, ``XDG_DATA_HOME`` elsewhere).
    """
    return _homes()[0]


def find(name: str) -> Path:
    """Return the folder of a corpus.

    Parameters
    ----------
    name
        One of ``names()``.

    Returns
    -------
    Path
        A folder with all files of the corpus.

    Raises
    ------
    CorpusNotFoundError
        If the name is unknown, or the corpus is not on this machine; the message then says what
        to download and where to put it.
    """
    entry = info(name)
    places = [home / name for home in (BUNDLED, *_homes())]
    for place in places:
        if all(any(place.glob(pattern)) for pattern in entry.files):
            return place
    looked = " nor in ".join(str(place) for place in places[1:])
    files = "\n".join(f"  {file} ({content})" for file, content in entry.files.items())
    raise CorpusNotFoundError(
        f"The corpus {name!r} ({entry.description}) is not complete in {looked}.\n"
        f"{_command(name)}Download it from {entry.source} (terms: {entry.licence})\n"
        f"and put these files into {places[1]}:\n{files}\n"
        f"To use another folder than {places[1].parent}, set the environment variable "
        f"{HOME_VARIABLE}."
    )


def load(name: str, **options: str) -> Corpus:
    """Load a named corpus.

    Parameters
    ----------
    name
        One of ``names()``. ``"arxiv-sample"`` comes with the package.
    **options
        Options of the corpus; ``info(name).options`` lists the allowed values, the default first.
        ``set`` chooses one of several corpora.

    Returns
    -------
    Corpus
        The corpus. If there are several sets, its name contains the set, as in
        ``"hmc-funcat-go/cellcycle_GO"``.

    Raises
    ------
    CorpusNotFoundError
        If the name is unknown, or the corpus is not on this machine.
    ValueError
        If an option or its value is unknown.

    Examples
    --------
    >>> from taxonomist import datasets
    >>> datasets.load("arxiv-sample", labels="primary")
    <Corpus arxiv-sample: 6,795 items (5,439 train, 1,356 test), 169 nodes>
    """
    entry = info(name)
    chosen = {option: values[0] for option, values in entry.options.items()}
    for option, value in options.items():
        if option not in chosen:
            known = ", ".join(chosen) or "none"
            raise ParameterError(f"{name} has no option {option!r}; its options: {known}.")
        if str(value) not in entry.options[option]:
            allowed = ", ".join(entry.options[option])
            raise ParameterError(
                f"{option} of {name} must be one of {allowed}. Got {value!r} instead."
            )
        chosen[option] = str(value)
    corpus = entry.load(find(name), **chosen)
    return replace(
        corpus,
        name=f"{name}/{chosen['set']}" if "set" in chosen else name,
        licence=entry.licence,
        source=entry.source,
        description=entry.description,
    )


def _command(name: str) -> str:
    """Return the command that fetches a corpus, or an empty string."""
    from taxonomist.datasets.fetching import RECIPES

    return f"Run 'taxonomist data fetch {name}' to get it. Or:\n" if name in RECIPES else ""


def _homes() -> list[Path]:
    """Return the folders to search, the preferred one first."""
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_DATA_HOME"
    user = Path(os.environ.get(variable) or Path.home() / ".local" / "share") / "taxonomist"
    given = os.environ.get(HOME_VARIABLE)
    return [Path(given).expanduser(), user] if given else [user]

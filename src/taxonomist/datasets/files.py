"""What the readers of files share: opening, lines with their places, names, taxonomies."""

from __future__ import annotations

import gzip
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from taxonomist.errors import FormatError
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterator

FilePath: TypeAlias = str | PathLike[str]
TaxonomySource: TypeAlias = Taxonomy | str | PathLike[str] | None


@contextmanager
def open_text(path: FilePath) -> Iterator[IO[str]]:
    """Open a text file, gzip'd or not; what cannot be decoded is a ``FormatError``."""
    opener: Any = gzip.open if Path(path).suffix.lower() == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as stream:
            yield stream
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8: {error}. Convert it first.") from error
    except (gzip.BadGzipFile, EOFError) as error:
        raise FormatError(f"{path} is not a complete gzip file: {error}.") from error


def lines(path: FilePath) -> Iterator[tuple[str, str]]:
    """Yield the place and the content of every line that is not blank."""
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.isspace():
                yield f"{path}, line {number}", line


def as_taxonomy(
    path: FilePath, taxonomy: TaxonomySource, labels: list[tuple[str, ...]]
) -> Taxonomy:
    """Return the given taxonomy, the one in the given file, or the flat one of the labels."""
    if isinstance(taxonomy, Taxonomy):
        return taxonomy
    if taxonomy is not None:
        return Taxonomy.read(taxonomy)
    used = dict.fromkeys(label for row in labels for label in row)
    if not used:
        raise FormatError(f"{path} holds no labels; give the taxonomy.")
    return Taxonomy.flat(used)


def stem(path: FilePath) -> str:
    """Return the file's name without its suffixes."""
    return Path(path).name.partition(".")[0]

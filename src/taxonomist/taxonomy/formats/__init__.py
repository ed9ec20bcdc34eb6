"""Read and write taxonomies; behind ``Taxonomy.read`` and ``Taxonomy.write``.

=============  =============================  ====================================================
format         suffixes                       options (``read`` / ``write``)
=============  =============================  ====================================================
``csv``        ``.csv``, ``.tsv``, ``.txt``   parent, child, name, texts, delimiter, cycles /
                                              delimiter, raw_cells
``levels``                                    columns, sep, ids, delimiter / delimiter, raw_cells
``json``       ``.json``                      cycles / nested
``turtle``     ``.ttl``                       id, language, scheme, base, outside, cycles / base,
                                              language
``xml``        ``.rdf``, ``.owl``, ``.xml``   as ``turtle``
``json-ld``    ``.jsonld``                    as ``turtle``
``nt``         ``.nt``                        as ``turtle``
``n3``         ``.n3``                        as ``turtle``
``obo``        ``.obo``                       relations, cycles /
=============  =============================  ====================================================

The modules ``delimited``, ``json_format``, ``skos`` (Turtle, RDF/XML, JSON-LD, N-Triples, N3) and
``obo`` document the options. Text is UTF-8; for ``csv`` and ``levels``, UTF-16, Windows-1252 and
Latin-1 are found too, with a ``TaxonomyWarning``. Ids and names are read in composed form (NFC).
Files may be compressed with gzip; a file is written compressed if its name ends in ``.gz``. Writing
raises ``FormatError`` if the format could not be read back exactly.
"""

from __future__ import annotations

import gzip
import inspect
import secrets
import warnings
import zlib
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taxonomist._encodings import decoded
from taxonomist._files import move_into_place
from taxonomist._unicode import is_composed, nfc
from taxonomist.errors import (
    FormatError,
    TaxonomyError,
    TaxonomyWarning,
    closest,
    refuse_address,
)
from taxonomist.taxonomy.formats import delimited, json_format, obo, skos
from taxonomist.taxonomy.formats.networkx_format import from_networkx, to_networkx
from taxonomist.taxonomy.formats.triples import NotStreamedError, can_stream, opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from taxonomist.taxonomy.core import Taxonomy

__all__ = ["from_networkx", "read", "read_as_spelled", "to_networkx", "write"]

MOST_RETRIED = 5_000_000
"""Bytes up to which rdflib tries a file that cannot be streamed; that takes about two seconds."""

_READERS: dict[str, Callable[..., Taxonomy]] = {
    "csv": delimited.read_edges,
    "levels": delimited.read_levels,
    "json": json_format.read,
    "turtle": partial(skos.read, syntax="turtle"),
    "xml": partial(skos.read, syntax="xml"),
    "json-ld": partial(skos.read, syntax="json-ld"),
    "nt": partial(skos.read, syntax="nt"),
    "n3": partial(skos.read, syntax="n3"),
    "obo": obo.read,
}
_WRITERS: dict[str, Callable[..., str]] = {
    "csv": delimited.write_edges,
    "levels": delimited.write_levels,
    "json": json_format.write,
    "turtle": partial(skos.write, syntax="turtle"),
    "xml": partial(skos.write, syntax="xml"),
    "json-ld": partial(skos.write, syntax="json-ld"),
    "nt": partial(skos.write, syntax="nt"),
    "n3": partial(skos.write, syntax="n3"),
    "obo": obo.write,
}
_TABLES = ("csv", "levels")
"""Formats of spreadsheets, which write many encodings; the others are UTF-8 by definition."""
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".json": "json",
    ".ttl": "turtle",
    ".rdf": "xml",
    ".owl": "xml",
    ".xml": "xml",
    ".jsonld": "json-ld",
    ".nt": "nt",
    ".n3": "n3",
    ".obo": "obo",
}


def read(path: str | PathLike[str], format: str | None = None, **options: Any) -> Taxonomy:
    """Read a taxonomy from a file, with ids and names in composed form (Unicode NFC).

    The parameters are as in ``read_as_spelled``. Ids that differ only in their form are one node.
    """
    return _composed(read_as_spelled(path, format, **options))


def read_as_spelled(
    path: str | PathLike[str], format: str | None = None, **options: Any
) -> Taxonomy:
    """Read a taxonomy from a file, with ids and names spelled as in the file.

    Parameters
    ----------
    path
        The file, which may be compressed with gzip.
    format
        One of the formats above; by default chosen by the suffix.
    **options
        Options of the format.

    Raises
    ------
    FormatError
        If the file does not match the format; the message gives the line where possible. Also if
        the format has no such option.
    TaxonomyError
        If the content is not a taxonomy, e.g. has a cycle.
    """
    refuse_address(path)
    path = Path(path)
    if path.is_dir():
        raise FormatError(f"{path} is a folder. Pass a file.")
    format = _format(path, format)
    reader = _READERS[format]
    if unknown := options.keys() - inspect.signature(reader).parameters.keys():
        raise FormatError(f"{path}: the format {format!r} has no option {min(unknown)!r}.")
    try:
        if can_stream(format):
            try:
                with opened(path) as stream:
                    return reader(stream, **options)
            except NotStreamedError as error:
                if path.stat().st_size > MOST_RETRIED:
                    raise FormatError(str(error)) from error
        text = _decode(_unpacked(path.read_bytes()), path, format)
        if not text.strip():
            raise FormatError("the file is empty.")
        return reader(text, **options)
    except (FormatError, TaxonomyError) as error:
        raise type(error)(f"{path}: {error}") from error


def _composed(taxonomy: Taxonomy) -> Taxonomy:
    """Return a taxonomy whose ids and names are in composed form."""
    told = (text for texts in taxonomy.texts.values() for text in texts.all)
    texts = "\n".join((*taxonomy.nodes, *taxonomy.raw_names.values(), *told))
    # Nothing composes across a line break, so all texts are in composed form if this one is.
    if is_composed(texts):
        return taxonomy
    ids = [nfc(node) for node in taxonomy.nodes]
    names = {nfc(node): nfc(name) for node, name in taxonomy.raw_names.items()}
    pairs = dict.fromkeys((ids[parent], ids[child]) for parent, child in taxonomy.edges)
    edges = [(parent, child) for parent, child in pairs if parent != child]
    if taxonomy.has_artificial_root:
        # A node was joined to the root if only its twin had a parent; now it has that parent.
        root = ids[0]
        below = {child for parent, child in edges if parent != root}
        edges = [edge for edge in edges if edge[0] != root or edge[1] not in below]
        if sum(parent == root for parent, _ in edges) == 1 < len(taxonomy.roots):
            edges, ids = [edge for edge in edges if edge[0] != root], ids[1:]
    texts_by_id = {nfc(node): texts.changed(nfc) for node, texts in taxonomy.texts.items()}
    return type(taxonomy)(edges, names=names, nodes=ids, texts=texts_by_id)


def write(
    taxonomy: Taxonomy, path: str | PathLike[str], format: str | None = None, **options: Any
) -> None:
    """Write a taxonomy to a file, replacing an existing one only after a complete write.

    Parameters
    ----------
    taxonomy
        The taxonomy to write.
    path
        The file; it is compressed if its name ends in ``.gz``.
    format
        One of the formats above; by default chosen by the suffix.
    **options
        Options of the format.

    Raises
    ------
    FormatError
        If the format cannot represent the taxonomy.
    """
    path = Path(path)
    format = _format(path, format)
    if format in ("csv", "levels") and _suffix(path) in (".tsv", ".txt"):
        options.setdefault("delimiter", "\t")
    try:
        data = _WRITERS[format](taxonomy, **options).encode()
    except (FormatError, UnicodeEncodeError) as error:
        raise FormatError(f"{path}: {error}") from error
    # Without a fixed time stamp, the bytes would differ between runs.
    _replace(path.resolve(), gzip.compress(data, mtime=0) if _is_gzip(path) else data)


def _is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _suffix(path: Path) -> str:
    """Return the suffix that determines the format, without ``.gz``."""
    return (path.with_suffix("") if _is_gzip(path) else path).suffix.lower()


def _format(path: Path, format: str | None) -> str:
    """Return the given format, or the one of the suffix."""
    known = ", ".join(_READERS)
    if format is None:
        suffix = _suffix(path)
        if suffix not in _SUFFIXES:
            raise FormatError(
                f"{path}: no format has the suffix {suffix!r}; pass format=: {known}."
            )
        return _SUFFIXES[suffix]
    if format not in _READERS:
        hint = closest(format, _READERS)
        raise FormatError(f"Unknown format {format!r}; the formats are {known}.{hint}")
    return format


def _unpacked(data: bytes) -> bytes:
    try:
        return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"the compressed file is damaged ({error}).") from error


def _decode(data: bytes, path: Path, format: str) -> str:
    """Return the text of a file; warn if it is not UTF-8."""

    def warn(encoding: str) -> None:
        message = f"{path} is not UTF-8; it is read as {encoding}."
        warnings.warn(TaxonomyWarning(message), stacklevel=5)

    if format in _TABLES:
        # What no encoding fits is reported below, with its line.
        with suppress(UnicodeDecodeError):
            return decoded(data, warn)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"line {line}: the text is not UTF-8; convert the file.") from error


def _replace(path: Path, data: bytes) -> None:
    """Write a file atomically."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(data)
        move_into_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)

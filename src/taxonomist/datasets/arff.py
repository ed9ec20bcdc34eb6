"""ARFF files with a hierarchical class attribute, the format of hierarchical multi-label sets.

The last attribute is ``class hierarchical`` with a comma-separated list, either of tree paths
(``01/01/03``; the path is the node's id) or of DAG edges (``GO0003674/GO0003774``; top edges start
at ``root``). A row joins its labels with ``@``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from taxonomist.datasets.corpus import Corpus
from taxonomist.datasets.files import as_taxonomy, lines, stem
from taxonomist.errors import FormatError
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import Floats
    from taxonomist.datasets.files import FilePath, TaxonomySource

__all__ = ["read_arff"]

_ATTRIBUTE = re.compile(r"""@attribute\s+(?:'[^']*'|"[^"]*"|\S+)\s+(.+)""", re.IGNORECASE)

_OMITTED = "{}"
"""A cell left out of a sparse row: zero, or the first value of a nominal attribute."""

Decoder: TypeAlias = Callable[[str], list[float]]
"""Turns a cell into numbers: one for a numeric attribute, one per value for a nominal one."""


def read_arff(path: FilePath, taxonomy: TaxonomySource = None) -> Corpus:
    """Read an ARFF file whose last attribute is hierarchical.

    Parameters
    ----------
    path
        The file, optionally compressed with gzip.
    taxonomy
        Taxonomy of the labels, or a file to read it from; by default that of the class attribute.

    Returns
    -------
    Corpus
        Items with a dense feature matrix: a nominal attribute has one 0/1 column per value, and
        a missing value (``?``) is NaN in all columns of its attribute.

    Raises
    ------
    FormatError
        If there is no hierarchical class, or a row does not match the attributes.
    """
    content = _content(path)
    *domains, (_, classes) = _domains(path, content)
    decoders = [_decoder(domain, place) for place, domain in domains]
    rows: list[list[float]] = []
    labels: list[tuple[str, ...]] = []
    for place, line in content:
        *cells, label = _cells(line, len(decoders) + 1, place)
        rows.append(_decode(cells, decoders, place))
        labels.append(tuple(label.split("@")))
    if not rows:
        raise FormatError(f"{path} has no rows.")
    own = _taxonomy(classes) if taxonomy is None else taxonomy
    X: Floats = np.array(rows, dtype=np.float64)
    return Corpus(stem(path), as_taxonomy(path, own, labels), labels=labels, X=X)


def _content(path: FilePath) -> Iterator[tuple[str, str]]:
    """Yield the place and the content of every line that is neither blank nor a comment."""
    for place, line in lines(path):
        if not line.lstrip().startswith("%"):
            yield place, line.strip()


def _domains(path: FilePath, content: Iterator[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the place and the domain of each attribute, the hierarchical one last."""
    domains = []
    for place, line in content:
        keyword = line.split()[0].lower()
        if keyword == "@data":
            break
        if keyword == "@attribute":
            declared = _ATTRIBUTE.match(line)
            if declared is None:
                raise FormatError(f"{place}: an attribute needs a name and a domain; got {line!r}.")
            domains.append((place, declared[1].strip()))
    if not domains or not domains[-1][1].lower().startswith("hierarchical"):
        raise FormatError(f"{path}: the last attribute must be 'class hierarchical ...'.")
    return domains


def _decoder(domain: str, place: str) -> Decoder:
    """Return the function that turns the cells of an attribute into numbers."""
    if domain.lower() in ("numeric", "real", "integer"):
        special = {"?": [float("nan")], _OMITTED: [0.0]}
        return lambda cell: special.get(cell) or [float(cell)]
    if not domain.startswith("{"):
        raise FormatError(
            f"{place}: an attribute must be numeric, nominal or hierarchical; got {domain!r}."
        )
    values = [value.strip().strip("'\"") for value in domain.strip("{}").split(",")]
    codes: dict[str, list[float]] = {
        value: [float(value == other) for other in values] for value in values
    }
    codes |= {"?": [float("nan")] * len(values), _OMITTED: codes[values[0]]}
    return lambda cell: codes[cell.strip("'\"")]


def _cells(line: str, n_cells: int, place: str) -> list[str]:
    """Return the cells of a dense row, or of a sparse one: ``{index value, index value}``."""
    if not line.startswith("{"):
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != n_cells:
            raise FormatError(f"{place}: got {len(cells)} cells for {n_cells} attributes.")
        return cells
    cells = [_OMITTED] * n_cells
    try:
        for entry in line.strip("{} ").split(","):
            index, value = entry.split(None, 1)
            cells[int(index)] = value.strip()
    except (ValueError, IndexError):
        raise FormatError(f"{place}: a sparse cell must be 'index value'; got {entry!r}.") from None
    return cells


def _decode(cells: list[str], decoders: list[Decoder], place: str) -> list[float]:
    try:
        return [
            number for decode, cell in zip(decoders, cells, strict=True) for number in decode(cell)
        ]
    except (KeyError, ValueError) as error:
        raise FormatError(f"{place}: a value is not in its attribute's domain ({error}).") from None


def _taxonomy(domain: str) -> Taxonomy:
    """Return the taxonomy given by a list of tree paths or of DAG edges."""
    classes = [item.strip() for item in domain[len("hierarchical") :].split(",")]
    if any(item.startswith("root/") for item in classes):
        edges = (item.partition("/") for item in classes)
        return Taxonomy.from_edges(dict.fromkeys((parent, child) for parent, _, child in edges))
    paths = [list(accumulate(item.split("/"), "{}/{}".format)) for item in classes]
    return Taxonomy.from_paths(paths, ids="name")

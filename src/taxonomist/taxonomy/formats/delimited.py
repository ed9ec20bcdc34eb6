"""Delimited text (CSV, TSV): a list of edges, or one column per level.

An edge list has the columns ``parent``, ``child`` and, if there are names, ``name``. A row whose
parent is empty gives a node without a parent; so the name of the root is written. In a table
of levels each row is a path from the top; cells at its end may be empty.

The first line names the columns, in any case; further columns are ignored. White space around
ids is dropped, names are kept as they are.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from taxonomist.errors import FormatError, closest, some
from taxonomist.taxonomy.core import Taxonomy
from taxonomist.taxonomy.formats.edges import EdgeLines, edge_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def read_edges(
    text: str,
    *,
    parent: str = "parent",
    child: str = "child",
    name: str | None = None,
    delimiter: str | None = None,
) -> Taxonomy:
    """Return the taxonomy of an edge list.

    Parameters
    ----------
    text
        The content of the file.
    parent, child
        Columns with the ids of each edge.
    name
        Column with the child's display name; by default ``name``, if there is such a column.
    delimiter
        What parts the cells; by default the commonest of tab ``,`` ``;`` ``|`` in the first line.
    """
    rows = _rows(text, delimiter)
    top, header = next(rows)
    hint = ' Choose columns with parent= and child=; one column per level needs format="levels".'
    parent_at = _column(top, header, parent, hint)
    child_at = _column(top, header, child, hint)
    name_at = None
    if name is not None or "name" in _folded(header):
        name_at = _column(top, header, name or "name", " Choose the column of names with name=.")
    edges, names = EdgeLines(), dict[str, str]()
    for line, row in rows:
        if len(row) != len(header):
            raise _wrong_length(line, row, header)
        node = row[child_at].strip()
        edges.add(row[parent_at].strip(), node, line)
        if name_at is not None and row[name_at]:
            known = names.setdefault(node, row[name_at])
            if known != row[name_at]:
                raise FormatError(
                    f"line {line}: {node!r} is named {row[name_at]!r}, and {known!r} on an earlier "
                    "line; give it one name."
                )
    if not edges:
        raise FormatError("there is a header line, but no row below it.")
    tops = [node for above, node in edges if not above]
    return Taxonomy.from_edges((edge for edge in edges if edge[0]), names, nodes=tops)


def write_edges(taxonomy: Taxonomy, *, delimiter: str = ",") -> str:
    """Return the edge list of a taxonomy, with a column of names if a node has one."""
    names, root = taxonomy.raw_names, taxonomy.root
    rows = edge_ids(taxonomy)
    if root in names or not rows:
        rows.insert(0, ("", root))
    if not names:
        return _join([("parent", "child"), *rows], delimiter)
    named = ((parent, child, names.get(child, "")) for parent, child in rows)
    return _join([("parent", "child", "name"), *named], delimiter)


def read_levels(
    text: str,
    *,
    columns: Sequence[str] | None = None,
    sep: str = " > ",
    ids: str = "auto",
    delimiter: str | None = None,
) -> Taxonomy:
    """Return the taxonomy of a table with one column per level.

    Parameters
    ----------
    text
        The content of the file.
    columns
        The columns of the levels, the topmost first; all columns by default.
    sep, ids
        How ids are made of the cells; see ``Taxonomy.from_paths``.
    delimiter
        What parts the cells; by default the commonest of tab ``,`` ``;`` ``|`` in the first line.
    """
    rows = _rows(text, delimiter)
    top, header = next(rows)
    places: Sequence[int] = range(len(header))
    if columns is not None:
        places = [_column(top, header, column) for column in columns]
    paths = [_path(line, row, header, places) for line, row in rows]
    if not paths:
        raise FormatError("there is a header line, but no row below it.")
    return Taxonomy.from_paths(paths, sep=sep, ids=ids)


def write_levels(taxonomy: Taxonomy, *, delimiter: str = ",") -> str:
    """Return a table with one row per leaf and one column per level.

    Raises
    ------
    FormatError
        If reading the table could not give the taxonomy back: if it is not a tree, if nodes have
        names of their own, or if ``ROOT`` has a single child.
    """
    header = [f"level {depth + 1}" for depth in range(taxonomy.height + 1)]
    if taxonomy.has_artificial_root:
        header.pop()
    if taxonomy.is_tree:
        leaves = (taxonomy.paths(leaf)[0] for leaf in taxonomy.leaves)
        cells = ([taxonomy.name(node) for node in path] for path in leaves)
        rows = [path + [""] * (len(header) - len(path)) for path in cells]
        table = _join([header, *rows], delimiter)
        if read_levels(table, delimiter=delimiter) == taxonomy:
            return table
    raise FormatError(
        "a table of levels holds only trees whose nodes have no names beside their ids, and no "
        "'ROOT' above a single node; this taxonomy is not one. "
        'Write it with format="csv" or format="json".'
    )


def _rows(text: str, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the number of its first line."""
    header = text.lstrip("\r\n").partition("\n")[0]
    delimiter = delimiter or max("\t,;|", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise FormatError(f"line {line}: the quotes do not fit ({error}).") from error


def _folded(header: Iterable[str]) -> list[str]:
    """Return column names as they are compared."""
    return [column.strip().casefold() for column in header]


def _column(line: int, header: list[str], column: str, hint: str = "") -> int:
    """Return the position of a column, or say that it is missing."""
    folded = _folded(header)
    wanted = column.strip().casefold()
    if wanted in folded:
        return folded.index(wanted)
    raise FormatError(
        f"line {line}: there is no column {column!r}; the columns are {some(header, 10)}."
        f"{closest(wanted, folded)}{hint}"
    )


def _wrong_length(line: int, row: list[str], header: list[str]) -> FormatError:
    """Return the error of a row that does not fit the header."""
    return FormatError(
        f"line {line}: the row has {len(row)} cells and the header {len(header)}; cells that hold "
        "the delimiter need quotes."
    )


def _path(line: int, row: list[str], header: list[str], places: Sequence[int]) -> list[str]:
    """Return the cells of the levels down to the last one that is not empty."""
    if len(row) > len(header):
        raise _wrong_length(line, row, header)
    path = [row[place].strip() if place < len(row) else "" for place in places]
    while path and not path[-1]:
        path.pop()
    if not path:
        raise FormatError(f"line {line}: all levels are empty; remove the row.")
    if "" in path:
        level = header[places[path.index("")]]
        raise FormatError(
            f"line {line}: the level {level!r} is empty, but a level below it is not."
        )
    return path


def _join(rows: Iterable[Sequence[str]], delimiter: str) -> str:
    """Return rows as text, with the line ends of RFC 4180."""
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter).writerows(rows)
    return stream.getvalue()

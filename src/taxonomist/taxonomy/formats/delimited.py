"""Delimited text (CSV, TSV): a list of edges, or one column per level.

An edge list has the columns ``parent``, ``child`` and, if there are names, ``name``. A row with an
empty parent declares a node without a parent, which is also how the root gets a name. Columns with
names such as ``synonyms``, ``definition``, ``description`` or ``note`` hold further texts of the
child; there may be several columns of the same name. In a table
of levels, each row is a path from the top; trailing cells may be empty.

The first line names the columns, ignoring case; other columns are ignored. Ids are stripped of
white space; names are kept as they are.

Cells that a spreadsheet would run as formulas, such as ``=1+1`` or ``@x``, are written with an
apostrophe in front unless ``raw_cells`` is given; on reading, an apostrophe before such a cell is
removed.
"""

from __future__ import annotations

import csv
import io
from itertools import compress, islice
from operator import eq, ne
from typing import TYPE_CHECKING, Any

from taxonomist._spreadsheets import guarded, unguarded
from taxonomist.errors import FormatError, TaxonomyError, closest, some
from taxonomist.taxonomy.core import Taxonomy
from taxonomist.taxonomy.formats.edges import EdgeLines, edge_ids
from taxonomist.taxonomy.node_texts import KINDS, NodeTexts, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROWS_AT_ONCE = 300
"""Number of rows that are taken apart at once; of 100 to 10,000 the fastest for 500,000 rows."""


def read_edges(
    text: str,
    *,
    parent: str = "parent",
    child: str | None = None,
    name: str | None = None,
    texts: str | Sequence[str] = (),
    delimiter: str | None = None,
    cycles: str = "error",
) -> Taxonomy:
    """Read a taxonomy from an edge list.

    Parameters
    ----------
    text
        The content of the file.
    parent, child
        Columns with the ids of each edge; by default ``parent`` and ``child``, or ``id`` if there
        is no ``child``.
    name
        Column with the child's display name; by default ``name`` if that column exists.
    texts
        Further columns with texts of the child, beside those that are known by their names.
    delimiter
        Cell separator; by default the most frequent of tab ``,`` ``;`` ``|`` in the first line.
    cycles
        ``"error"``, or ``"break"`` to leave out edges; see ``Taxonomy.from_edges``.
    """
    rows = _rows(text, delimiter)
    top, header = next(rows)
    hint = ' Choose columns with parent= and child=; one column per level needs format="levels".'
    parent_at = _column(top, header, parent, hint)
    child_at = _column(top, header, child or _child(header), hint)
    name_at = None
    if name is not None or "name" in _folded(header):
        name_at = _column(top, header, name or "name", " Choose the column of names with name=.")
    at = parent_at, child_at, name_at
    found = _plain_edges(_reader(text, delimiter), len(header), at)
    edges, names = found or _checked_edges(_rows(text, delimiter), at, cycles)
    if not edges:
        raise FormatError("the file has a header line but no rows.")
    tops = [node for above, node in edges if not above]
    pairs = [edge for edge in edges if edge[0]] if tops else edges
    told = {}
    if kinds := _text_columns(top, header, texts, at):
        told = _texts(_rows(text, delimiter), kinds, child_at)
    try:
        return Taxonomy.from_edges(pairs, names, nodes=tops, cycles=cycles, texts=told)
    except TaxonomyError:
        # An edge that is given twice is reported with its line.
        _checked_edges(_rows(text, delimiter), at, cycles)
        raise


def _plain_edges(
    rows: Iterable[list[str]], n_cells: int, at: tuple[int, int, int | None]
) -> tuple[list[tuple[str, str]], dict[str, str]] | None:
    """Return edges and names; None if a row is not plainly right.

    ``_checked_edges`` looks at one row after the other, and says which of them is wrong.
    """
    parent_at, child_at, name_at = at
    above: list[str] = []
    below: list[str] = []
    called: list[str] = []
    filled = filter(None, rows)
    try:
        next(filled)
        while block := list(islice(filled, ROWS_AT_ONCE)):
            if {*map(len, block)} != {n_cells}:
                return None
            columns = list(zip(*block, strict=True))
            above += map(str.strip, columns[parent_at])
            below += map(str.strip, columns[child_at])
            called += () if name_at is None else columns[name_at]
    except csv.Error:
        return None
    tops = [] if all(above) else [b for a, b in zip(above, below, strict=True) if not a]
    if not all(below) or any(map(eq, above, below)) or len({*tops}) < len(tops):
        return None
    named = list(compress(below, called)) if called else []
    texts = list(filter(None, called))
    names = dict(zip(named, texts, strict=True))
    # A node with several parents has several rows, which must give it the same name.
    if len(names) < len(named) and any(map(ne, map(names.__getitem__, named), texts)):
        return None
    return list(zip(above, below, strict=True)), names


def _checked_edges(
    rows: Iterator[tuple[int, list[str]]], at: tuple[int, int, int | None], cycles: str
) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return edges and names; raise for the first row that is wrong."""
    parent_at, child_at, name_at = at
    _, header = next(rows)
    edges, names = EdgeLines(cycles), dict[str, str]()
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
    return list(edges), names


def _text_columns(
    line: int, header: list[str], texts: str | Sequence[str], used: Iterable[int | None]
) -> dict[int, str]:
    """Return the kinds of texts by the places of their columns."""
    found = {place: kind for place, name in enumerate(header) if (kind := kind_of(name))}
    for name in [texts] if isinstance(texts, str) else texts:
        found.setdefault(_column(line, header, name), "notes")
    return {place: kind for place, kind in found.items() if place not in {*used}}


def _texts(
    rows: Iterator[tuple[int, list[str]]], kinds: dict[int, str], child_at: int
) -> dict[str, dict[str, list[str]]]:
    """Return the texts of nodes by kind."""
    next(rows)
    found: dict[str, dict[str, list[str]]] = {}
    for _, row in rows:
        for place, kind in kinds.items():
            if row[place].strip():
                of_node = found.setdefault(row[child_at].strip(), {})
                of_node.setdefault(kind, []).append(row[place])
    return found


def write_edges(taxonomy: Taxonomy, *, delimiter: str = ",", raw_cells: bool = False) -> str:
    """Write a taxonomy as an edge list, with columns of names and texts if any node has them."""
    names, root = taxonomy.raw_names, taxonomy.root
    rows = edge_ids(taxonomy)
    if root in names or root in taxonomy.texts or not rows:
        rows.insert(0, ("", root))
    header = ["parent", "child", *(["name"] if names else [])]
    cells = ((*row, *([names.get(row[1], "")] if names else [])) for row in rows)
    if taxonomy.texts:
        most = [max(map(len, kind)) for kind in zip(*taxonomy.texts.values(), strict=True)]
        header += [kind for kind, n in zip(KINDS, most, strict=True) for _ in range(n)]
        cells = ((*row, *_text_cells(taxonomy.texts.get(row[1]), most)) for row in cells)
    return _join([header, *cells], delimiter, raw_cells)


def _text_cells(texts: NodeTexts | None, most: list[int]) -> list[str]:
    """Return the texts of a node, and empty cells for kinds that have fewer than others."""
    found: list[str] = []
    for of_kind, n in zip(texts or NodeTexts(), most, strict=True):
        found += [*of_kind, *[""] * (n - len(of_kind))]
    return found


def read_levels(
    text: str,
    *,
    columns: Sequence[str] | None = None,
    sep: str = " > ",
    ids: str = "auto",
    delimiter: str | None = None,
) -> Taxonomy:
    """Read a taxonomy from a table with one column per level.

    Parameters
    ----------
    text
        The content of the file.
    columns
        The columns of the levels, topmost first; all columns by default.
    sep, ids
        How ids are formed from the cells; see ``Taxonomy.from_paths``.
    delimiter
        Cell separator; by default the most frequent of tab ``,`` ``;`` ``|`` in the first line.
    """
    rows = _rows(text, delimiter)
    top, header = next(rows)
    places: Sequence[int] = range(len(header))
    if columns is not None:
        places = [_column(top, header, column) for column in columns]
    paths = [_path(line, row, header, places) for line, row in rows]
    if not paths:
        raise FormatError("the file has a header line but no rows.")
    return Taxonomy.from_paths(paths, sep=sep, ids=ids)


def write_levels(taxonomy: Taxonomy, *, delimiter: str = ",", raw_cells: bool = False) -> str:
    """Write a taxonomy as a table with one row per leaf and one column per level.

    Raises
    ------
    FormatError
        If reading the table back would not give the same taxonomy: if it is not a tree, if nodes
        have display names or texts, or if ``ROOT`` has a single child.
    """
    header = [f"level {depth + 1}" for depth in range(taxonomy.height + 1)]
    if taxonomy.has_artificial_root:
        header.pop()
    if taxonomy.is_tree:
        leaves = (taxonomy.paths(leaf)[0] for leaf in taxonomy.leaves)
        cells = ([taxonomy.name(node) for node in path] for path in leaves)
        rows = [path + [""] * (len(header) - len(path)) for path in cells]
        table = _join([header, *rows], delimiter, raw_cells)
        if read_levels(table, delimiter=delimiter) == taxonomy:
            return table
    raise FormatError(
        "a table of levels holds only trees without display names, texts, and a 'ROOT' above a "
        'single node. Write this taxonomy with format="csv" or format="json".'
    )


def _rows(text: str, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with its first line number."""
    reader = _csv_reader(text, delimiter)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, [unguarded(cell) for cell in row]
            line = reader.line_num + 1
    except csv.Error as error:
        raise FormatError(f"line {line}: the quotes are malformed ({error}).") from error


def _reader(text: str, delimiter: str | None) -> Iterable[list[str]]:
    """Return the rows without their lines, which is faster."""
    reader = _csv_reader(text, delimiter)
    return ([*map(unguarded, row)] for row in reader) if "'" in text else reader


def _csv_reader(text: str, delimiter: str | None) -> Any:
    header = text.lstrip("\r\n").partition("\n")[0]
    delimiter = delimiter or max("\t,;|", key=header.count)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


def _folded(header: Iterable[str]) -> list[str]:
    """Normalise column names for comparison."""
    return [column.strip().casefold() for column in header]


def _column(line: int, header: list[str], column: str, hint: str = "") -> int:
    folded = _folded(header)
    wanted = column.strip().casefold()
    if wanted in folded:
        return folded.index(wanted)
    raise FormatError(
        f"line {line}: no column {column!r}; the columns are {some(header, 10)}."
        f"{closest(wanted, folded)}{hint}"
    )


def _child(header: list[str]) -> str:
    """Return the name of the column with the ids of children."""
    folded = _folded(header)
    return "id" if "child" not in folded and "id" in folded else "child"


def _wrong_length(line: int, row: list[str], header: list[str]) -> FormatError:
    return FormatError(
        f"line {line}: the row has {len(row)} cells but the header has {len(header)}; quote cells "
        "that contain the delimiter."
    )


def _path(line: int, row: list[str], header: list[str], places: Sequence[int]) -> list[str]:
    """Return the cells of the levels without trailing empty ones."""
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


def _join(rows: Iterable[Sequence[str]], delimiter: str, raw_cells: bool) -> str:
    """Return rows as text with RFC 4180 line ends."""
    stream = io.StringIO(newline="")
    written = map(_raw if raw_cells else _guarded, rows)
    csv.writer(stream, delimiter=delimiter).writerows(written)
    return stream.getvalue()


def _guarded(row: Sequence[str]) -> Sequence[str]:
    return [guarded(cell) for cell in row]


def _raw(row: Sequence[str]) -> Sequence[str]:
    """Return the row; raise if it could not be read back exactly."""
    for cell in row:
        if unguarded(cell) != cell:
            raise FormatError(f"{cell!r} cannot be written with raw_cells: write it without.")
    return row

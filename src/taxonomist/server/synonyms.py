"""More names of nodes and notes about them, from a table."""

from __future__ import annotations

from typing import NamedTuple

from taxonomist.datasets.rows import open_table
from taxonomist.datasets.table_file import TableSource

__all__ = ["NodeNames", "read_synonyms"]

NODE, SYNONYM, NOTE = "id", "synonym", "note"
"""The columns of the table; the last one may be absent."""


class NodeNames(NamedTuple):
    """More names of a node, and a note about what belongs there."""

    synonyms: list[str]
    note: str = ""


def read_synonyms(path: str) -> dict[str, NodeNames]:
    """Read names and notes by node, from a table with ``id``, ``synonym`` and optionally ``note``.

    Raises
    ------
    FormatError
        If the file cannot be read, or lacks a column.
    """
    found: dict[str, NodeNames] = {}
    with open_table(TableSource(path)) as table:
        node, synonym = table.column(NODE), table.column(SYNONYM)
        note = table.column(NOTE) if NOTE in table.columns else None
        for row in table.rows:
            key = _text(row.values.get(node))
            if not key:
                continue
            known = found.get(key, NodeNames([]))
            name = _text(row.values.get(synonym))
            notes = [known.note, _text(row.values.get(note)) if note is not None else ""]
            found[key] = NodeNames(
                [*known.synonyms, *([name] if name else [])], "\n".join(filter(None, notes))
            )
    return found


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()

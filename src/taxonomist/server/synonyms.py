"""More names of nodes, from a table."""

from __future__ import annotations

from taxonomist.datasets.rows import open_table
from taxonomist.datasets.table_file import TableSource

__all__ = ["read_synonyms"]

NODE, SYNONYM = "id", "synonym"
"""The columns of the table."""


def read_synonyms(path: str) -> dict[str, list[str]]:
    """Read names by node, from a table with the columns ``id`` and ``synonym``.

    Raises
    ------
    FormatError
        If the file cannot be read, or lacks a column.
    """
    found: dict[str, list[str]] = {}
    with open_table(TableSource(path)) as table:
        node, synonym = table.column(NODE), table.column(SYNONYM)
        for row in table.rows:
            key, name = row.values.get(node), row.values.get(synonym)
            if key is not None and name is not None and str(name).strip():
                found.setdefault(str(key).strip(), []).append(str(name).strip())
    return found

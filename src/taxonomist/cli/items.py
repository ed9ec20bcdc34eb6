"""From rows to items: their ids, texts and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taxonomist.cli.bad_rows import RowError
from taxonomist.cli.cells import labels_of, text_of, word_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist.cli.bad_rows import BadRows
    from taxonomist.cli.cells import Label, LabelReader
    from taxonomist.cli.rows import Row, Table

__all__ = ["Columns", "Item", "column_names", "read_items"]

ID = "id"
"""The column of ids, if there is one and no other is named."""


class Columns(NamedTuple):
    """Which columns hold what.

    Attributes
    ----------
    text
        Columns of the text, parted by commas.
    label
        Column of the labels; None if they are not wanted.
    id
        Column of the ids; None for ``id``, if there is one.
    separator
        What parts the labels in a string; None if a string is one label.
    path_separator
        What parts the steps of a path in a label; None for ``>`` with blanks around it.
    """

    text: str
    label: str | None = None
    id: str | None = None
    separator: str | None = None
    path_separator: str | None = None


class Item(NamedTuple):
    """An item: the line where it stands, its id (None if it has none), texts, and labels."""

    line: int
    id: str | None
    text: dict[str, str]
    labels: tuple[Label, ...] = ()


def column_names(given: str, table: Table) -> tuple[str, ...]:
    """Return the columns that names with commas between them mean; all must be there."""
    if given in table.columns:
        return (table.column(given),)
    names = dict.fromkeys(name.strip() for name in given.split(","))
    return tuple(table.column(name) for name in names)


def read_items(
    table: Table, columns: Columns, bad: BadRows, labels: LabelReader | None = None
) -> Iterator[Item]:
    """Yield the items of a table; rows without a text or a known label are counted as bad.

    Parameters
    ----------
    table
        The table.
    columns
        Which of its columns hold what.
    bad
        Counts rows and bad rows.
    labels
        Finds the nodes that labels mean; None keeps the labels as they are.

    Raises
    ------
    FormatError
        If a column is missing.
    """
    columns = _present(columns, table)
    texts = column_names(columns.text, table)
    for row in table.rows:
        bad.n_rows += 1
        try:
            if row.fault:
                raise RowError(row.fault)
            item = Item(
                line=row.line,
                id=None if columns.id is None else word_of(row.values.get(columns.id)),
                text=_texts(row, texts),
                labels=_labels(row, columns, labels, hint=not bad.is_full),
            )
        except RowError as fault:
            bad.add(row.line, str(fault))
        else:
            yield item


def _present(columns: Columns, table: Table) -> Columns:
    """Return columns that are all there."""
    for column in (columns.label, columns.id):
        if column is not None:
            table.column(column)
    has_ids = columns.id is None and ID in table.columns
    return columns._replace(id=ID) if has_ids else columns


def _texts(row: Row, columns: tuple[str, ...]) -> dict[str, str]:
    """Return the texts of a row by column."""
    found = {column: text_of(row.values.get(column), column) for column in columns}
    if not any(map(str.strip, found.values())):
        raise RowError(f"no text in {' or '.join(map(repr, columns))}")
    return found


def _labels(
    row: Row, columns: Columns, labels: LabelReader | None, hint: bool
) -> tuple[Label, ...]:
    """Return the labels of a row, or the nodes that they mean."""
    if columns.label is None:
        return ()
    cell = row.values.get(columns.label)
    found = labels_of(cell, columns.label, columns.separator, columns.path_separator)
    return found if labels is None else labels.nodes(found, hint)

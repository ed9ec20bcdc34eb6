"""Read items (ids, texts and labels) from the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taxonomist.datasets.bad_rows import NoLabelError, RowError
from taxonomist.datasets.cells import fold_of, labels_of, levels_of, text_of, word_of
from taxonomist.errors import closest, some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist.datasets.bad_rows import BadRows
    from taxonomist.datasets.cells import Label
    from taxonomist.datasets.columns import Columns
    from taxonomist.datasets.label_reader import LabelReader
    from taxonomist.datasets.table import OpenTable, Row

__all__ = ["Item", "read_items"]


class Item(NamedTuple):
    """An item of a table.

    Attributes
    ----------
    line
        Number of its first line.
    id
        Its id; None if the table has no ids.
    text
        Its texts by column.
    labels
        Its labels as given, or their nodes.
    split, fold
        Its split and fold; None if missing or not read.
    """

    line: int
    id: str | None
    text: dict[str, str]
    labels: tuple[Label, ...] = ()
    split: str | None = None
    fold: int | None = None


def read_items(
    table: OpenTable,
    columns: Columns,
    bad: BadRows,
    labels: LabelReader | None = None,
    *,
    allow_empty: bool = False,
    strict: bool = False,
) -> Iterator[Item]:
    """Yield the items of a table, and count the rows that cannot be used.

    Rows without a text or with an unknown label are bad; those without a label are skipped.

    Parameters
    ----------
    table
        The table.
    columns
        Roles of its columns.
    bad
        Counts rows and bad rows.
    labels
        Finds the nodes of labels. None keeps the labels as given.
    allow_empty
        Whether to allow empty texts and empty lists of labels.
    strict
        Whether rows without a label are bad, too.

    Raises
    ------
    FormatError
        If a column is missing.
    """
    columns = columns.found_in(table, "id")
    texts = columns.texts(table)
    needed = {*texts, *columns.needed()}
    for row in table.rows:
        bad.n_rows += 1
        try:
            if row.fault and not needed <= row.values.keys():
                raise RowError(row.fault)
            item = _item(row, columns, texts, allow_empty)
            if labels is not None:
                item = item._replace(labels=labels.nodes(item.labels, hint=not bad.is_full))
        except RowError as fault:
            if isinstance(fault, NoLabelError) and not strict:
                bad.add_unlabelled(row.line)
            else:
                bad.add(row.line, str(fault))
        else:
            yield item


def _item(row: Row, columns: Columns, texts: tuple[str, ...], allow_empty: bool) -> Item:
    """Return the item of a row, with its labels as given."""
    values = row.values
    # Labels come first: in a row without a label, a missing text does not matter.
    labels = _labels(row, columns, allow_empty)
    return Item(
        line=row.line,
        id=None if columns.id is None else word_of(values.get(columns.id)),
        text=_texts(row, texts, allow_empty),
        labels=labels,
        split=None if columns.split is None else word_of(values.get(columns.split)),
        fold=None if columns.fold is None else fold_of(values.get(columns.fold)),
    )


def _texts(row: Row, columns: tuple[str, ...], allow_empty: bool) -> dict[str, str]:
    found = {column: text_of(row.values.get(column), column) for column in columns}
    if any(map(str.strip, found.values())):
        return found
    if allow_empty and any(isinstance(row.values.get(column), str) for column in columns):
        return found
    _check_present(row, columns)
    raise RowError(f"no text in {' or '.join(map(repr, columns))}")


def _labels(row: Row, columns: Columns, allow_empty: bool) -> tuple[Label, ...]:
    if columns.labels is None:
        return ()
    try:
        _check_present(
            row, (columns.labels,) if isinstance(columns.labels, str) else tuple(columns.labels)
        )
    except RowError as fault:
        if columns.empty_is_none:
            return ()
        raise NoLabelError(str(fault)) from None
    if not isinstance(columns.labels, str):
        cells = {column: row.values.get(column) for column in columns.labels}
        return levels_of(cells, empty_is_none=columns.empty_is_none)
    return labels_of(row.values[columns.labels], columns, allow_none=allow_empty)


def _check_present(row: Row, columns: tuple[str, ...]) -> None:
    """Raise if a row has none of the columns, which can happen in JSON lines."""
    if not any(column in row.values for column in columns):
        hint = closest(columns[0], row.values)
        raise RowError(f"no column {columns[0]!r}, only {some(list(row.values))}.{hint}")

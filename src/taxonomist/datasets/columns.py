"""Which columns of a table hold what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.datasets.table import OpenTable

__all__ = ["Columns"]


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold what.

    Parameters
    ----------
    text
        Column of the text, or several: a sequence, or names with commas between them.
    labels
        Column of the labels: a list, a string that holds a JSON list, or a string. A label is the
        id of a node, or the path to it. ``None`` reads items without labels.
    label_sep
        What separates the labels in a string; by default a string is one label.
    path_sep
        What separates the steps of a path in a label; by default ``>`` with blanks around it.
    id
        Column of the item's id. By default ``"id"``, if there is such a column.
    split
        Column of the part (``"train"``, ``"test"``, ...); empty means ``"unused"``. By default
        ``"split"``, if there is such a column.
    fold
        Column of the number of the fold. By default ``"fold"``, if there is such a column.
    """

    text: str | Sequence[str] = "text"
    labels: str | None = "labels"
    label_sep: str | None = None
    path_sep: str | None = None
    id: str | None = None
    split: str | None = None
    fold: str | None = None

    def texts(self, table: OpenTable) -> tuple[str, ...]:
        """Return the columns of the text.

        Raises
        ------
        FormatError
            If the table does not have one of them.
        """
        names: Sequence[str]
        if not isinstance(self.text, str):
            names = self.text
        elif self.text in table.columns:
            names = (self.text,)
        else:
            names = [name.strip() for name in self.text.split(",")]
        return tuple(table.column(name) for name in dict.fromkeys(names))

    def found_in(self, table: OpenTable, *optional: str) -> Columns:
        """Return the columns with defaults for those that are optional.

        Parameters
        ----------
        table
            The table.
        *optional
            Fields, out of ``id``, ``split`` and ``fold``, that are looked for under their own name
            if they are None.

        Raises
        ------
        FormatError
            If the table does not have a column that is named.
        """
        for column in (self.labels, self.id, self.split, self.fold):
            if column is not None:
                table.column(column)
        found = {
            field: field
            for field in optional
            if getattr(self, field) is None and field in table.columns
        }
        return replace(self, **found)

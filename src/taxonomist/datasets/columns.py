"""The roles of the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.datasets.table import OpenTable

__all__ = ["Columns"]


@dataclass(frozen=True)
class Columns:
    """The roles of the columns of a table.

    Parameters
    ----------
    text
        Column with the text, or several: a sequence of names, or names separated by commas.
    labels
        Column with the labels: a list, a string with a JSON list, or another string. A label is a
        node id or a path. None reads items without labels.
    label_sep
        Separator between the labels in a string. By default, a string is one label.
    path_sep
        Separator between the levels of a path in a label. By default, ``>`` surrounded by spaces.
    id
        Column with ids. By default, ``"id"`` if it exists.
    split
        Column with the split (``"train"``, ``"test"``, ...); empty means ``"unused"``. By default,
        ``"split"`` if it exists.
    fold
        Column with fold numbers. By default, ``"fold"`` if it exists.
    """

    text: str | Sequence[str] = "text"
    labels: str | None = "labels"
    label_sep: str | None = None
    path_sep: str | None = None
    id: str | None = None
    split: str | None = None
    fold: str | None = None

    def texts(self, table: OpenTable) -> tuple[str, ...]:
        """Return the text columns.

        Raises
        ------
        FormatError
            If the table lacks one of them.
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
        """Check the columns against a table, and fill in defaults for optional ones.

        Parameters
        ----------
        table
            The table.
        *optional
            Fields among ``id``, ``split`` and ``fold``. If such a field is None and the table has a
            column of the same name, the field is set to it.

        Raises
        ------
        FormatError
            If the table lacks one of the columns.
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

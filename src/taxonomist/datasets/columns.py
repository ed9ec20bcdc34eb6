"""The roles of the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from taxonomist._unicode import nfc
from taxonomist.errors import FormatError

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
        Column with the labels: a list, a string with a JSON or Python list, or another string. A
        label is a node id or a path. Several columns, given like those of the text, are the levels
        of one path, from the top. None reads items without labels.
    label_sep
        Separator between the labels in a string. By default, a string is one label.
    path_sep
        Separator between the levels of a path in a label. By default, ``>`` surrounded by spaces.
    code_prefixes
        Lengths of the prefixes that are the ancestors of a code if the taxonomy is built from the
        labels: with 2, 3, the code 1119 is below 111, which is below 11. Lengths count the
        characters of the code, spaces inside it included; spaces at the end of a prefix are cut
        off. A code that is not longer than a prefix is below the shorter prefixes only.
    empty_is_none
        Whether an empty cell means an item without labels. By default, the label is missing.
    id
        Column with ids. By default, ``"id"`` if it exists.
    split
        Column with the split (``"train"``, ``"test"``, ...); empty means ``"unused"``. By default,
        ``"split"`` if it exists.
    fold
        Column with fold numbers. By default, ``"fold"`` if it exists.
    """

    text: str | Sequence[str] = "text"
    labels: str | Sequence[str] | None = "labels"
    label_sep: str | None = None
    path_sep: str | None = None
    code_prefixes: Sequence[int] | None = None
    empty_is_none: bool = False
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
        return _named(self.text, table)

    def needed(self) -> tuple[str, ...]:
        """Return the columns that a row must have beside its texts: of levels, the first one."""
        labels = (self.labels,) if isinstance(self.labels, str) else tuple(self.labels or ())[:1]
        return (*labels, *filter(None, (self.id, self.split, self.fold)))

    def found_in(self, table: OpenTable, *optional: str) -> Columns:
        """Check the columns against a table, and fill in defaults for optional ones.

        Several label columns become a tuple.

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
            If the table lacks one of the columns, or the columns contradict each other.
        """
        found: dict[str, Any] = {}
        if self.labels is not None:
            levels = _named(self.labels, table)
            if len(levels) > 1 and (self.label_sep or self.code_prefixes):
                raise FormatError(
                    f"{table.name}: the columns {', '.join(levels)} are the levels of one label, "
                    "so there can be no separator of labels and no prefixes of codes. Name one "
                    "column, or leave these out."
                )
            found["labels"] = levels[0] if len(levels) == 1 else levels
        for field in ("id", "split", "fold"):
            column = getattr(self, field)
            if column is not None:
                found[field] = table.column(column)
            elif field in optional and field in table.columns:
                found[field] = field
        return replace(self, **found)


def _named(given: str | Sequence[str], table: OpenTable) -> tuple[str, ...]:
    """Return the columns given by a sequence of names, or by names separated by commas."""
    if not isinstance(given, str):
        names: Sequence[str] = given
    elif nfc(given.strip()) in table.columns:
        names = (given,)
    else:
        names = given.split(",")
    return tuple(table.column(name) for name in dict.fromkeys(names))

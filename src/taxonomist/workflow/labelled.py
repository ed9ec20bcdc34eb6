"""Labelled items, and reading them from a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

from taxonomist.datasets.bad_rows import BadRows
from taxonomist.datasets.items import read_items
from taxonomist.datasets.label_reader import LabelReader, has_paths, taxonomy_of
from taxonomist.datasets.rows import open_table
from taxonomist.workflow.steps import silent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taxonomist.datasets.cells import Label
    from taxonomist.datasets.columns import Columns
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.taxonomy import Taxonomy
    from taxonomist.workflow.steps import OnStep

__all__ = ["Labelled", "read_labelled"]

TELL_EVERY = 1000
"""Number of rows between two calls of the callback."""


class Labelled(NamedTuple):
    """Items with labels.

    Attributes
    ----------
    texts
        Texts of each item, by column.
    labels
        Node ids of each item.
    taxonomy
        The taxonomy of the labels.
    origin
        Source of the taxonomy: ``"given"``, ``"paths"`` or ``"labels"``.
    bad
        Numbers of rows read and of bad ones.
    note
        Message about skipped rows; empty if there are none.
    """

    texts: list[dict[str, str]]
    labels: list[list[str]]
    taxonomy: Taxonomy
    origin: str
    bad: BadRows
    note: str = ""

    @property
    def is_multilabel(self) -> bool:
        """Whether any item has several labels."""
        return any(len(labels) > 1 for labels in self.labels)

    @property
    def targets(self) -> list[Any]:
        """The label of each item, or its label set if any item has several labels."""
        return self.labels if self.is_multilabel else [label for (label,) in self.labels]

    def take(self, items: Iterable[int]) -> Self:
        """Return some of the items."""
        chosen = [int(i) for i in items]
        return self._replace(
            texts=[self.texts[i] for i in chosen], labels=[self.labels[i] for i in chosen]
        )


def read_labelled(
    source: TableSource,
    columns: Columns,
    taxonomy: Taxonomy | None = None,
    *,
    skip_bad: bool = False,
    single: bool = False,
    on_step: OnStep = silent,
) -> Labelled:
    """Read items with their labels.

    Parameters
    ----------
    source
        The file.
    columns
        Roles of the columns.
    taxonomy
        The taxonomy of the labels. If None, it is built from the labels: from their paths, or with
        a single level if they are not paths.
    skip_bad
        Whether to skip bad rows.
    single
        Whether a row with several labels is bad.
    on_step
        Called with the number of rows read so far.

    Raises
    ------
    FormatError
        If the file cannot be read.
    BadRowsError
        If there are bad rows and ``skip_bad`` is False.
    """
    bad = BadRows()
    reader = None if taxonomy is None else LabelReader(taxonomy, single=single)
    texts: list[dict[str, str]] = []
    given: list[tuple[Label, ...]] = []
    with open_table(source) as table:
        for item in read_items(table, columns, bad, reader):
            texts.append(item.text)
            given.append(item.labels)
            if len(texts) % TELL_EVERY == 0:
                on_step("Reading", bad.n_rows, None)
        note = bad.settle(table.name, skip_bad)
    origin = "given"
    if taxonomy is None:
        used = dict.fromkeys(label for labels in given for label in labels)
        origin = "paths" if has_paths(used) else "labels"
        taxonomy = taxonomy_of(used)
        reader = LabelReader(taxonomy)
        given = [reader.nodes(labels) for labels in given]
    ids = [[label for label in labels if isinstance(label, str)] for labels in given]
    return Labelled(texts, ids, taxonomy, origin, bad, note)

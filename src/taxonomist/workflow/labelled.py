"""Labelled items in memory, and reading them from a table."""

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
"""Rows between two calls of the callback."""


class Labelled(NamedTuple):
    """Items with labels.

    Attributes
    ----------
    texts
        Texts by column of each item.
    labels
        Node ids of each item.
    taxonomy
        The taxonomy of the labels.
    origin
        Where the taxonomy comes from: ``"given"``, ``"paths"`` or ``"labels"``.
    bad
        Counts of the rows, and of those that were left out.
    note
        What is to be said about the rows that were left out; empty if there are none.
    """

    texts: list[dict[str, str]]
    labels: list[list[str]]
    taxonomy: Taxonomy
    origin: str
    bad: BadRows
    note: str = ""

    @property
    def is_multilabel(self) -> bool:
        """Whether some item has several labels."""
        return any(len(labels) > 1 for labels in self.labels)

    @property
    def targets(self) -> list[Any]:
        """A label for each item, or label sets."""
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
        Which columns hold what.
    taxonomy
        The taxonomy of the labels. None builds it: from paths if labels are paths, else with one
        level.
    skip_bad
        Whether bad rows are left out.
    single
        Whether several labels make a row bad.
    on_step
        Called with the number of rows that were read.

    Raises
    ------
    FormatError
        If the file cannot be read.
    BadRowsError
        If there are bad rows, and they are not to be skipped.
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

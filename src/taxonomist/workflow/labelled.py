"""Labelled items, and reading them from a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from taxonomist.datasets.bad_rows import BadRows
from taxonomist.datasets.items import read_items
from taxonomist.datasets.label_reader import LabelReader
from taxonomist.datasets.label_taxonomy import label_taxonomy
from taxonomist.datasets.repeated_ids import RepeatedIds
from taxonomist.datasets.rows import open_table
from taxonomist.features.stored_texts import GatheredTexts, taken_texts
from taxonomist.taxonomy.labels import have_sets
from taxonomist.workflow.steps import silent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taxonomist._typing import LabelList
    from taxonomist.datasets.cells import Label
    from taxonomist.datasets.columns import Columns
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.taxonomy import Taxonomy
    from taxonomist.workflow.steps import OnStep

__all__ = ["Labelled", "read_labelled", "targets_of"]

TELL_EVERY = 1000
"""Number of rows between two calls of the callback."""


class Labelled(NamedTuple):
    """Items with labels.

    Attributes
    ----------
    texts
        Texts of each item, by column. Many are in a temporary file.
    labels
        Node ids of each item.
    taxonomy
        The taxonomy of the labels.
    origin
        Source of the taxonomy: ``"given"``, ``"levels"``, ``"paths"``, ``"codes"`` or
        ``"labels"``.
    bad
        Numbers of rows read, of bad ones and of those without a label.
    note
        Message about skipped rows, repeated ids and names, and the encoding; empty without
        any.
    """

    texts: Sequence[dict[str, str]]
    labels: list[list[str]]
    taxonomy: Taxonomy
    origin: str
    bad: BadRows
    note: str = ""

    @property
    def is_multilabel(self) -> bool:
        """Whether any item has several labels, or none."""
        return have_sets(self.labels)

    @property
    def targets(self) -> LabelList:
        """The label of each item, or its label set if any item has several labels, or none."""
        return targets_of(self.labels, is_multilabel=self.is_multilabel)

    def take(self, items: Iterable[int]) -> Self:
        """Return some of the items."""
        chosen = np.fromiter(items, np.intp)
        return self._replace(
            texts=taken_texts(self.texts, chosen),
            labels=[self.labels[i] for i in chosen.tolist()],
        )


def targets_of(labels: Sequence[Sequence[str]], *, is_multilabel: bool) -> LabelList:
    """Return label sets as ``TextClassifier.fit`` takes them: as sets, or as single labels."""
    return [list(each) for each in labels] if is_multilabel else [label for (label,) in labels]


def read_labelled(
    source: TableSource,
    columns: Columns,
    taxonomy: Taxonomy | None = None,
    *,
    skip_bad: bool = False,
    strict: bool = False,
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
        The taxonomy of the labels. If None, it is built from the labels: from their paths, levels
        or prefixes, or with a single level if they have none of these.
    skip_bad
        Whether to skip bad rows.
    strict
        Whether rows without a label are bad. By default, they are skipped and counted.
    single
        Whether a row must have exactly one label.
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
    texts = GatheredTexts()
    given: list[tuple[Label, ...]] = []
    known: dict[tuple[Label, ...], tuple[Label, ...]] = {}
    first_lines: dict[Label, int] = {}
    repeated = RepeatedIds()
    with open_table(source) as table:
        columns = columns.found_in(table, "id")
        for item in read_items(table, columns, bad, reader, strict=strict):
            texts.add(item.text)
            # Items with the same labels share one tuple.
            if item.labels not in known:
                known[item.labels] = item.labels
                for label in item.labels:
                    first_lines.setdefault(label, item.line)
            given.append(known[item.labels])
            repeated.add(item.id, item.line)
            if len(texts) % TELL_EVERY == 0:
                on_step("Reading", bad.n_rows, None)
        notes = [*table.notes, bad.settle(table.name, skip_bad), repeated.note(table.name)]
    origin = "given"
    if taxonomy is None:
        taxonomy, origin, note = label_taxonomy(source.name, first_lines, columns)
        notes.append(note)
        reader = LabelReader(taxonomy)
        known = {labels: reader.nodes(labels) for labels in known}
    nodes = {key: [node for node in found if isinstance(node, str)] for key, found in known.items()}
    ids = [nodes[labels] for labels in given]
    if origin != "given" and len(ids) > 1 and all(labels == ids[0] for labels in ids):
        notes.append("All rows have the same label, so there is nothing to tell apart.")
    return Labelled(texts.finish(), ids, taxonomy, origin, bad, "\n".join(filter(None, notes)))

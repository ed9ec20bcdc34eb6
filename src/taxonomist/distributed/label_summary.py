"""``LabelSummary``: which labels occur in parts of the data, so that no part needs the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.models.targets import Targets
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.distributed.blocks import Block
    from taxonomist.taxonomy import Taxonomy

SINGLE, SETS, TABLE = "one label per item", "label sets", "an indicator matrix"


class LabelSummary(NamedTuple):
    """The labels of some items, without the items.

    Attributes
    ----------
    kinds
        Which of ``SINGLE``, ``SETS`` and ``TABLE`` occur; none if there are no items.
    arrays
        Arrays of the labels that occur, one or more. With a taxonomy, the most specific labels of
        items; for an indicator matrix, the columns of these.
    has_integers, has_others
        Whether some labels are integers, and whether some are not.
    empty
        For an indicator matrix, one of its format without rows; else None.
    """

    kinds: frozenset[str]
    arrays: list[Block]
    has_integers: bool
    has_others: bool
    empty: Block | None

    @classmethod
    def of(cls, taxonomy: Taxonomy | None, y: Block) -> LabelSummary:
        """Return the summary of the labels of some items."""
        if not len(y) if not hasattr(y, "shape") else not y.shape[0]:
            return cls(frozenset(), [], False, False, None)
        if labels.is_indicator(y) and y.shape[1] > 1:
            return cls._of_table(taxonomy, y)
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
            y = np.ravel(np.asarray(y))
        is_sets = labels.is_label_sets(y)
        are_integers = labels.are_integers(y)
        kind = frozenset([SETS if is_sets else SINGLE])
        if taxonomy is None:
            # It checks that every item has a label.
            sets = labels.as_sets(y)
            flat = [label for item in sets for label in item] if is_sets else y
            found = np.unique(np.asarray(flat))
        else:
            marked = labels.encode_sets(taxonomy, y)
            codes = np.unique(labels.most_specific(taxonomy, marked).indices)
            found = np.array([taxonomy.nodes[code] for code in codes.tolist()], dtype=object)
        has_any = len(found) > 0
        return cls(kind, [found], are_integers, has_any and not are_integers, None)

    @classmethod
    def _of_table(cls, taxonomy: Taxonomy | None, y: Block) -> LabelSummary:
        """Return the summary of an indicator matrix."""
        empty = y.iloc[:0] if hasattr(y, "iloc") else y[:0]
        if taxonomy is None:
            return cls(frozenset([TABLE]), [], False, True, empty)
        targets = Targets.from_labels(taxonomy, y, y)
        nodes = targets.nodes[np.unique(targets.labels.indices)]
        assert targets.columns is not None
        columns = np.flatnonzero(np.isin(targets.columns, nodes))
        return cls(frozenset([TABLE]), [columns], False, True, empty)

    @classmethod
    def joined(cls, parts: Sequence[LabelSummary]) -> LabelSummary:
        """Return the summary of the items of all parts."""
        arrays = [array for part in parts for array in part.arrays]
        tables = [part.empty for part in parts if part.empty is not None]
        widths = sorted({table.shape[1] for table in tables})
        kinds: frozenset[str] = frozenset().union(*(part.kinds for part in parts))
        if len(widths) > 1 or (TABLE in kinds and len(kinds) > 1):
            raise LabelError(
                f"Some partitions of y have {' and some '.join(sorted(kinds))}"
                + (f", of {widths[0]} and of {widths[-1]} columns." if len(widths) > 1 else ".")
                + " Give all partitions the same format."
            )
        return cls(
            kinds,
            [np.unique(np.concatenate(arrays))] if arrays else [],
            any(part.has_integers for part in parts),
            any(part.has_others for part in parts),
            tables[0] if tables else None,
        )

    def targets(self, taxonomy: Taxonomy | None) -> Targets:
        """Return the targets of all items, without the items."""
        if not self.kinds:
            raise LabelError("There are no items to learn from.")
        y = self._example(taxonomy)
        return Targets.from_labels(taxonomy, y, y).without_items()

    def _example(self, taxonomy: Taxonomy | None) -> Block:
        """Return labels of a few items, from which the same categories follow as from all."""
        if self.empty is not None:
            return self._table(self.empty)
        found = self.arrays[0]
        if taxonomy is not None and self.has_integers and not self.has_others:
            found = np.array([labels.as_integer(node) for node in found.tolist()], dtype=object)
        if SETS in self.kinds:
            return [[label] for label in found.tolist()] or [[]]
        return found

    def _table(self, empty: Block) -> Block:
        """Return an indicator matrix with one item for each column that has items."""
        columns = self.arrays[0] if self.arrays else np.arange(empty.shape[1])
        rows = np.zeros((max(1, len(columns)), empty.shape[1]), dtype=np.int8)
        rows[np.arange(len(columns)), columns] = 1
        if hasattr(empty, "iloc"):
            return type(empty)(rows, columns=empty.columns)
        if hasattr(empty, "tocsr"):
            return type(empty)(rows)
        return rows

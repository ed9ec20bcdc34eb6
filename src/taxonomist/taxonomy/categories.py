"""The categories of a model: its columns and the nodes that represent them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import LabelError, some
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from taxonomist._typing import CSR, Codes, LabelsLike
    from taxonomist.taxonomy.core import Taxonomy


@dataclass(frozen=True)
class Categories:
    """The nodes that are categories, in column order, and the taxonomy that models work on.

    Every leaf is a category, with or without items. An interior node is a category only if some
    item carries it without any of its descendants. In ``expanded``, a terminal child represents
    such a node [CH04, Sec. 2.4]; users never see it.

    Attributes
    ----------
    taxonomy
        The taxonomy as the user gave it.
    expanded
        The taxonomy with terminal children; equal to ``taxonomy`` if all categories are leaves.
    ids
        Ids of the categories in column order, which is taxonomy order.
    codes
        Code in ``expanded`` of the leaf that represents each category.
    """

    taxonomy: Taxonomy
    expanded: Taxonomy
    ids: tuple[str, ...]
    codes: Codes = field(compare=False)

    @classmethod
    def from_labels(
        cls, taxonomy: Taxonomy, y: LabelsLike, classes: Sequence[str] | None = None
    ) -> Categories:
        """Return the categories implied by the items' labels, which may have any accepted form."""
        Y = labels.encode_sets(taxonomy, y, classes)
        ids = tuple(taxonomy.nodes[code] for code in labels.categories(taxonomy, Y).tolist())
        expanded = taxonomy.with_terminals(ids)
        stand_in = {node: terminal for terminal, node in expanded.terminals.items()}
        codes = expanded.codes(stand_in.get(node, node) for node in ids)
        return cls(taxonomy, expanded, ids, codes)

    @classmethod
    def of_items(cls, taxonomy: Taxonomy, y: LabelsLike) -> tuple[Categories, Codes]:
        """Return the categories implied by one label per item, and the column of each item."""
        from scipy.sparse import csr_array

        codes = labels.encode(taxonomy, y)
        ones, ends = np.ones(len(codes), dtype=bool), np.arange(len(codes) + 1)
        marked = csr_array((ones, codes, ends), shape=(len(codes), taxonomy.n_nodes))
        categories = cls.from_labels(taxonomy, marked)
        return categories, categories._column_of[codes]

    def __len__(self) -> int:
        """Return the number of categories."""
        return len(self.ids)

    def encode(self, y: LabelsLike, name: str = "y") -> Codes:
        """Return the column of each item's single label."""
        nodes = labels.encode(self.taxonomy, y, name)
        columns = self._column_of[nodes]
        if (columns < 0).any():
            raise LabelError(self._not_a_category(nodes[columns < 0], name))
        return columns

    def encode_sets(
        self, y: LabelsLike, classes: Sequence[str] | None = None, name: str = "y"
    ) -> CSR:
        """Return which categories each item has: (n_items, n_categories), boolean.

        Labels that are ancestors of another label of the same item are ignored.
        """
        from scipy.sparse import csr_array

        Y = labels.most_specific(self.taxonomy, labels.encode_sets(self.taxonomy, y, classes, name))
        columns = self._column_of[Y.indices]
        if (columns < 0).any():
            raise LabelError(self._not_a_category(Y.indices[columns < 0], name))
        found = csr_array((Y.data, columns, Y.indptr), shape=(Y.shape[0], len(self)))
        found.sort_indices()
        return found

    def decode(self, columns: Codes) -> NDArray[np.object_]:
        """Return the ids of the given columns as an array of strings."""
        return np.array(self.ids, dtype=object)[columns]

    @cached_property
    def _column_of(self) -> Codes:
        """Column of each node of ``taxonomy``; -1 if the node is not a category."""
        columns = np.full(self.taxonomy.n_nodes, -1, dtype=np.intp)
        columns[self.taxonomy.codes(self.ids)] = np.arange(len(self))
        return columns

    def _not_a_category(self, codes: Codes, name: str) -> str:
        nodes = [self.taxonomy.nodes[code] for code in np.unique(codes).tolist()]
        return (
            f"{some(nodes)} in {name} are interior nodes that no training item was labelled with "
            "directly, so they are not categories of the model. Use one of its categories, or add "
            "such items and fit again."
        )

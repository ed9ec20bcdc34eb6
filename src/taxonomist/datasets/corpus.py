"""A corpus: items with labels, the taxonomy of the labels, and a split of the items."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.errors import LabelError, closest, some
from taxonomist.taxonomy.labels import as_sets, have_sets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from taxonomist._typing import CSR, Bools, Codes, Floats
    from taxonomist.taxonomy import Taxonomy

__all__ = ["Corpus"]


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Labelled items and their taxonomy.

    Parameters
    ----------
    name
        Name of the corpus.
    taxonomy
        Taxonomy that contains all labels.
    labels
        Ids of the labels of each item, possibly none; repeats are dropped. A string or an integer
        is a single label.
    texts
        Text of each item.
    X
        Feature matrix, one row per item, dense or sparse.
    ids
        Unique id of each item.
    split
        Name of the part that each item belongs to, such as ``"train"`` or ``"test"``.
    folds
        Number of the cross-validation fold of each item.
    licence
        Terms of use.
    source
        Where the corpus comes from.
    description
        One-sentence description.

    Raises
    ------
    LabelError
        If a label is missing or not in the taxonomy, lengths differ, or an item id occurs twice.
    """

    name: str
    taxonomy: Taxonomy
    labels: Sequence[tuple[str, ...]]
    texts: Sequence[str] | None = None
    X: CSR | Floats | None = None
    ids: Sequence[str] | None = None
    split: NDArray[np.object_] | None = None
    folds: Codes | None = None
    licence: str = ""
    source: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", [*map(_distinct, as_sets(self.labels, "labels"))])
        # Lists and arrays are indexed from 0, whatever index a data frame's column has.
        for field in ("texts", "ids"):
            if getattr(self, field) is not None:
                object.__setattr__(self, field, list(getattr(self, field)))
        if self.X is not None:
            matrix = _narrow(self.X.tocsr()) if hasattr(self.X, "tocsr") else np.asarray(self.X)
            object.__setattr__(self, "X", matrix)
        if self.split is not None:
            object.__setattr__(self, "split", np.asarray(self.split, dtype=object))
        if self.folds is not None:
            object.__setattr__(self, "folds", np.asarray(self.folds, dtype=np.intp))
        self._check_lengths()
        self._check_labels()
        if self.ids is not None and len(set(self.ids)) < len(self.ids):
            repeated = [item for item, count in Counter(self.ids).items() if count > 1]
            raise LabelError(
                f"Item ids must be distinct; repeated in {self.name}: {some(repeated)}."
            )

    def _check_lengths(self) -> None:
        """Raise unless every given column has one entry per item."""
        for field in ("texts", "X", "ids", "split", "folds"):
            column = getattr(self, field)
            if column is None:
                continue
            n_entries = column.shape[0] if field == "X" else len(column)
            if n_entries != len(self.labels):
                raise LabelError(
                    f"Every item needs labels and {field}; {self.name} has labels for "
                    f"{len(self.labels)} items and {field} for {n_entries}."
                )

    def _check_labels(self) -> None:
        """Raise if a label is not a node of the taxonomy."""
        used = dict.fromkeys(label for row in self.labels for label in row)
        unknown = [label for label in used if label not in self.taxonomy]
        if unknown:
            hint = closest(str(unknown[0]), self.taxonomy.nodes)
            raise LabelError(
                f"{len(unknown)} of {len(used)} labels of {self.name} are not in its taxonomy: "
                f"{some(unknown)}.{hint}"
            )

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        parts = ", ".join(f"{count:,} {part}" for part, count in self._part_sizes().items())
        shown = f" ({parts})" if parts else ""
        return f"<Corpus {self.name}: {len(self):,} items{shown}, {self.taxonomy.n_nodes:,} nodes>"

    @property
    def is_multilabel(self) -> bool:
        """Whether some item has no label or several."""
        return have_sets(self.labels)

    @property
    def y(self) -> NDArray[np.object_]:
        """The single label of each item, shape (n_items,).

        Raises
        ------
        LabelError
            If an item has no label or several.
        """
        wrong = [position for position, row in enumerate(self.labels) if len(row) != 1]
        if wrong:
            item = wrong[0] if self.ids is None else self.ids[wrong[0]]
            raise LabelError(
                f"{len(wrong)} of {len(self)} items of {self.name} do not have exactly one label, "
                f"first {item!r} with {len(self.labels[wrong[0]])}; use labels instead of y."
            )
        y = np.empty(len(self), dtype=object)
        y[:] = [row[0] for row in self.labels]
        return y

    def part(self, name: str) -> Corpus:
        """Return the items of one part of the split.

        Parameters
        ----------
        name
            Name of the part, such as ``"train"``.

        Returns
        -------
        Corpus
            The items of that part, in order.

        Raises
        ------
        LabelError
            If there is no split or no such part.
        """
        if self.split is None:
            raise LabelError(f"{self.name} has no split; choose items with select().")
        mask = self.split == name
        if not mask.any():
            raise LabelError(
                f"{self.name} has no part {name!r}; it has {some([*self._part_sizes()])}."
            )
        return self.select(mask)

    def train(self) -> Corpus:
        """Return the part named ``"train"``.

        Returns
        -------
        Corpus
            The training items.
        """
        return self.part("train")

    def test(self) -> Corpus:
        """Return the part named ``"test"``.

        Returns
        -------
        Corpus
            The test items.
        """
        return self.part("test")

    def select(self, items: Bools | Codes | Sequence[int] | slice) -> Corpus:
        """Return some of the items.

        Parameters
        ----------
        items
            Boolean mask, positions, or slice.

        Returns
        -------
        Corpus
            Those items, with the same taxonomy.
        """
        rows = np.arange(len(self))[items]

        def chosen(column: Sequence[object] | None) -> list[Any] | None:
            return None if column is None else [column[row] for row in rows]

        return replace(
            self,
            labels=[self.labels[row] for row in rows],
            texts=chosen(self.texts),
            X=None if self.X is None else self.X[rows],
            ids=chosen(self.ids),
            split=None if self.split is None else self.split[rows],
            folds=None if self.folds is None else self.folds[rows],
        )

    def relabel(self, taxonomy: Taxonomy, labels: Iterable[Iterable[str]] | None = None) -> Corpus:
        """Return the same items with labels of another taxonomy.

        Parameters
        ----------
        taxonomy
            The other taxonomy.
        labels
            Labels of each item; by default those of the present labels that the other taxonomy
            contains.

        Returns
        -------
        Corpus
            The items with these labels.
        """
        if labels is None:
            labels = [[label for label in row if label in taxonomy] for row in self.labels]
        return replace(self, taxonomy=taxonomy, labels=[tuple(row) for row in labels])

    def describe(self) -> dict[str, object]:
        """Return the key figures of the corpus.

        Returns
        -------
        dict
            Name, items, parts, features, labels in use, labels per item, and the taxonomy's
            nodes, leaves, height and whether it is a tree.
        """
        used = {label for row in self.labels for label in row}
        n_labels = sum(map(len, self.labels))
        return {
            "name": self.name,
            "items": len(self),
            "parts": self._part_sizes(),
            "features": None if self.X is None else int(self.X.shape[1]),
            "labels in use": len(used),
            "labels per item": n_labels / len(self) if len(self) else 0.0,
            "nodes": self.taxonomy.n_nodes,
            "leaves": len(self.taxonomy.leaves),
            "height": self.taxonomy.height,
            "is_tree": self.taxonomy.is_tree,
        }

    def _part_sizes(self) -> dict[str, int]:
        """Return the number of items of each part, largest first."""
        return {} if self.split is None else dict(Counter(self.split.tolist()).most_common())


def _narrow(X: CSR) -> CSR:
    """Use 32-bit indices if they suffice, because liblinear accepts no others."""
    from scipy.sparse import get_index_dtype

    width = get_index_dtype(maxval=max(X.nnz, *X.shape))
    indices, indptr = X.indices.astype(width, copy=False), X.indptr.astype(width, copy=False)
    return type(X)((X.data, indices, indptr), shape=X.shape)


def _distinct(row: Iterable[Any]) -> tuple[str, ...]:
    """Return the distinct labels of an item; integers become strings."""
    known = (str, int, np.integer)
    return tuple(dict.fromkeys(str(label) if isinstance(label, known) else label for label in row))

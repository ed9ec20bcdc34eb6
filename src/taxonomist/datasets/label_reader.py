"""Find the nodes of labels in a taxonomy, or build a taxonomy from labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist._spreadsheets import unguarded
from taxonomist.datasets.bad_rows import RowError
from taxonomist.datasets.cells import STEP
from taxonomist.errors import UnknownNodeError
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taxonomist.datasets.cells import Label

__all__ = ["LabelReader", "has_paths", "shown", "taxonomy_of"]


def has_paths(labels: Iterable[Label]) -> bool:
    """Return whether any label is a path."""
    return any(isinstance(label, tuple) for label in labels)


def taxonomy_of(labels: Iterable[Label]) -> Taxonomy:
    """Build a taxonomy from the paths of labels, or with one level if there are no paths."""
    given = list(dict.fromkeys(labels))
    if has_paths(given):
        return Taxonomy.from_paths([(x,) if isinstance(x, str) else x for x in given])
    return Taxonomy.flat(given)


def shown(label: Label) -> str:
    """Format a label for people."""
    return label if isinstance(label, str) else STEP.join(label)


class LabelReader:
    """Find the nodes of labels in a taxonomy.

    Parameters
    ----------
    taxonomy
        The taxonomy.
    single
        Whether items may have only one label.
    """

    def __init__(self, taxonomy: Taxonomy, *, single: bool = False) -> None:
        self._taxonomy = taxonomy
        self._single = single
        self._known: dict[Label, str | None] = {}

    def nodes(self, labels: tuple[Label, ...], hint: bool = True) -> tuple[str, ...]:
        """Return the nodes of an item's labels, without duplicates.

        Parameters
        ----------
        labels
            Codes or paths.
        hint
            Whether to suggest similar ids for an unknown label, which takes time.

        Raises
        ------
        RowError
            If a label is unknown, or there are several labels although only one is allowed.
        """
        found = tuple(dict.fromkeys(self._node(label, hint) for label in labels))
        if self._single and len(found) > 1:
            raise RowError(f"{len(found)} labels, but the model predicts one per item")
        return found

    def find(self, label: Label) -> str | None:
        """Return the node of a label; None if it is unknown."""
        if label not in self._known:
            self._known[label] = self._found(label)
        return self._known[label]

    def _node(self, label: Label, hint: bool) -> str:
        """Return the node of a label; raise if it is unknown."""
        found = self.find(label)
        if found is None and hint:
            try:
                self._taxonomy.resolve(label)
            except UnknownNodeError as error:
                raise RowError(str(error).replace(repr(label), repr(shown(label)))) from error
        if found is None:
            raise RowError(f"{shown(label)!r} is not a node of the taxonomy")
        return found

    def _found(self, label: Label) -> str | None:
        """Look a label up as it is, and without the apostrophe of a cell like a formula."""
        found = self._looked_up(label)
        return self._looked_up(_unguarded(label)) if found is None else found

    def _looked_up(self, label: Label) -> str | None:
        """Look a label up, first as an id and then as a path."""
        if shown(label) in self._taxonomy:
            return shown(label)
        if isinstance(label, str) and ">" not in label:
            return None
        try:
            return self._taxonomy.resolve(label)
        except UnknownNodeError:
            return None


def _unguarded(label: Label) -> Label:
    if isinstance(label, str):
        return unguarded(label)
    return (unguarded(label[0]), *label[1:])

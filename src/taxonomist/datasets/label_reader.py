"""Labels and the nodes that they mean: a taxonomy for labels, and labels found in a taxonomy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.datasets.bad_rows import RowError
from taxonomist.datasets.cells import STEP
from taxonomist.errors import UnknownNodeError
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taxonomist.datasets.cells import Label

__all__ = ["LabelReader", "has_paths", "shown", "taxonomy_of"]


def has_paths(labels: Iterable[Label]) -> bool:
    """Return whether some of the labels are paths."""
    return any(isinstance(label, tuple) for label in labels)


def taxonomy_of(labels: Iterable[Label]) -> Taxonomy:
    """Return the taxonomy that labels make: from their paths, or with one level."""
    given = list(dict.fromkeys(labels))
    if has_paths(given):
        return Taxonomy.from_paths([(x,) if isinstance(x, str) else x for x in given])
    return Taxonomy.flat(given)


def shown(label: Label) -> str:
    """Return a label as people read it."""
    return label if isinstance(label, str) else STEP.join(label)


class LabelReader:
    """Finds the nodes that labels mean.

    Parameters
    ----------
    taxonomy
        The taxonomy.
    single
        Whether an item has one label.
    """

    def __init__(self, taxonomy: Taxonomy, *, single: bool = False) -> None:
        self._taxonomy = taxonomy
        self._single = single
        self._known: dict[Label, str | None] = {}

    def nodes(self, labels: tuple[Label, ...], hint: bool = True) -> tuple[str, ...]:
        """Return the nodes that the labels of an item mean, each once.

        Parameters
        ----------
        labels
            Codes, or paths.
        hint
            Whether to name ids that are similar to an unknown one, which takes time.

        Raises
        ------
        RowError
            If a label is unknown, or there are several where one is wanted.
        """
        found = tuple(dict.fromkeys(self._node(label, hint) for label in labels))
        if self._single and len(found) > 1:
            raise RowError(f"{len(found)} labels, but the model knows one per item")
        return found

    def find(self, label: Label) -> str | None:
        """Return the node that a label means, None if there is none."""
        if label not in self._known:
            self._known[label] = self._found(label)
        return self._known[label]

    def _node(self, label: Label, hint: bool) -> str:
        """Return the node that a label means."""
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
        """Look a label up: by its id, then by its path."""
        if shown(label) in self._taxonomy:
            return shown(label)
        if isinstance(label, str) and ">" not in label:
            return None
        try:
            return self._taxonomy.resolve(label)
        except UnknownNodeError:
            return None

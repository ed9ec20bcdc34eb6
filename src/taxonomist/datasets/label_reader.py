"""Find the nodes of labels in a taxonomy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist._spreadsheets import unguarded
from taxonomist._unicode import nfc
from taxonomist.datasets.bad_rows import RowError
from taxonomist.datasets.cells import STEP, likely_separator
from taxonomist.datasets.label_taxonomy import shown
from taxonomist.errors import UnknownNodeError

if TYPE_CHECKING:
    from taxonomist.datasets.cells import Label
    from taxonomist.taxonomy import Taxonomy

__all__ = ["LabelReader"]


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
        # Labels are in composed form; a taxonomy that was not read from a file need not be.
        self._spelled = {nfc(node): node for node in taxonomy.nodes if nfc(node) != node}

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
            If a label is unknown, or an item has not one label although it must.
        """
        found = tuple(dict.fromkeys(self._node(label, hint) for label in labels))
        if self._single and len(found) != 1:
            raise RowError(f"{len(found) or 'no'} labels, but the model predicts one per item")
        return found

    def find(self, label: Label) -> str | None:
        """Return the node of a label; None if it is unknown."""
        if label not in self._known:
            self._known[label] = self._found(label)
        return self._known[label]

    def _node(self, label: Label, hint: bool) -> str:
        """Return the node of a label; raise if it is unknown."""
        found = self.find(label)
        if found is None and (separator := likely_separator(label, self._taxonomy.__contains__)):
            raise RowError(
                f"{label!r} is not a node of the taxonomy, but its parts are: pass "
                f"label_sep={separator!r}"
            )
        if found is None and hint:
            try:
                self._taxonomy.resolve(label)
            except UnknownNodeError as error:
                fault = str(error).replace(repr(label), repr(shown(label)))
                raise RowError(self._contradiction(label) or fault) from error
        if found is None:
            raise RowError(f"{shown(label)!r} is not a node of the taxonomy")
        return found

    def _contradiction(self, label: Label) -> str:
        """Say where the last level of a path is in the taxonomy, if it is elsewhere."""
        if isinstance(label, str):
            return ""
        taxonomy, last = self._taxonomy, label[-1]
        named = zip(taxonomy.nodes, taxonomy.names, strict=True)
        found = next((node for node, name in named if last in (node, name)), None)
        if found is None:
            return ""
        path = STEP.join(map(taxonomy.name, taxonomy.paths(found, limit=1)[0]))
        return f"{shown(label)!r} contradicts the taxonomy, in which {last!r} is {path!r}"

    def _found(self, label: Label) -> str | None:
        """Look a label up as it is, and without the apostrophe of a cell like a formula."""
        found = self._looked_up(label)
        return self._looked_up(_unguarded(label)) if found is None else found

    def _looked_up(self, label: Label) -> str | None:
        """Look a label up: a path by its levels, or else an id."""
        taxonomy, whole = self._taxonomy, shown(label)
        if isinstance(label, str) and label in taxonomy:
            return label
        if not isinstance(label, str) or ">" in label:
            try:
                return taxonomy.resolve(label)
            except UnknownNodeError:
                pass
        return whole if whole in taxonomy else self._spelled.get(whole)


def _unguarded(label: Label) -> Label:
    if isinstance(label, str):
        return unguarded(label)
    return (unguarded(label[0]), *label[1:])

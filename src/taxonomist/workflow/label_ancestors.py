"""The nodes above labels: closed label sets, most specific labels, and distances of label sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taxonomist.taxonomy import Taxonomy

__all__ = ["LabelAncestors"]


class LabelAncestors:
    """The ancestors of labels, looked up once for each label.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy
        self._known: dict[str, frozenset[str]] = {}

    def of(self, label: str) -> frozenset[str]:
        """Return the ancestors of a label."""
        if label not in self._known:
            self._known[label] = frozenset(self._taxonomy.ancestors(label))
        return self._known[label]

    def closed(self, labels: Iterable[str]) -> set[str]:
        """Return labels and their ancestors, without labels that the taxonomy does not have."""
        known = [label for label in labels if label in self._taxonomy]
        return set(known).union(*map(self.of, known))

    def most_specific(self, labels: Iterable[str]) -> list[str]:
        """Return the labels that are not ancestors of others, without a virtual root."""
        virtual = self._taxonomy.root if self._taxonomy.has_artificial_root else None
        found = [str(label) for label in labels if label != virtual]
        if len(found) < 2:
            return found
        above = frozenset().union(*map(self.of, found))
        return [label for label in found if label not in above]

    def distance(self, one: Iterable[str], other: Iterable[str], *, is_multilabel: bool) -> float:
        """Return the taxonomy loss of two label sets.

        It is the number of nodes in exactly one of the closed sets; half of it for single
        categories, which is the tree loss.
        """
        n_different = len(self.closed(one) ^ self.closed(other))
        return n_different * (1.0 if is_multilabel else 0.5)

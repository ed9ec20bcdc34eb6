"""Confusions: pairs of nodes, one predicted instead of the other, with counts and examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import CSR, Bools, Codes, Floats
    from taxonomist.evaluation.outcomes import Outcomes

N_PAIRS = 30
"""Number of pairs in an assessment."""

N_EXAMPLES = 3
"""Number of examples for each pair."""

N_RIVALS = 3
"""Number of most frequent wrong predictions kept for each node."""

EXAMPLE_LENGTH = 400
"""Maximum number of characters in an example's text."""


@dataclass(frozen=True)
class Confusion:
    """Two nodes, one of which was predicted instead of the other.

    Attributes
    ----------
    true, predicted
        Ids of the node that was missed and of the one that was wrongly predicted.
    count
        Number of items with this confusion.
    share
        This number as a fraction of the items of the true node.
    items
        Positions of some of these items.
    texts
        Their texts, shortened if long; empty if no texts were given.
    true_name, predicted_name
        Display names of the nodes; empty for a node without one.
    """

    true: str
    predicted: str
    count: int
    share: float
    items: tuple[int, ...]
    texts: tuple[str, ...]
    true_name: str = ""
    predicted_name: str = ""

    def __str__(self) -> str:
        """Return the count and both nodes, with their names."""
        pairs = ((self.true, self.true_name), (self.predicted, self.predicted_name))
        true, predicted = (f"{node} ({name})" if name else node for node, name in pairs)
        return f"{self.count:7,}  {true} → {predicted}"

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return {
            "true": self.true,
            "true_name": self.true_name,
            "predicted": self.predicted,
            "predicted_name": self.predicted_name,
            "count": self.count,
            "share": self.share,
            "items": list(self.items),
            "texts": list(self.texts),
        }


def same_level_counts(outcomes: Outcomes) -> CSR:
    """Count the items on which one node was missed and another of its level wrongly predicted.

    Parameters
    ----------
    outcomes
        True and predicted labels.

    Returns
    -------
    csr_array of shape (n_nodes, n_nodes)
        Rows are missed nodes, columns wrongly predicted ones. A node's level is the length of the
        longest path from the root.
    """
    from scipy.sparse import csr_array

    n, depths = outcomes.taxonomy.n_nodes, outcomes.taxonomy.depths
    counts = csr_array((n, n), dtype=np.int64)
    for level in range(1, outcomes.taxonomy.height + 1):
        missed, added = (
            _only(part, depths == level).astype(np.int64)
            for part in (outcomes.missed, outcomes.added)
        )
        counts = counts + missed.T.tocsr() @ added
    return counts


def worst_confusions(
    outcomes: Outcomes, same_level: CSR, support: Floats, texts: Sequence[object] | None
) -> tuple[Confusion, ...]:
    """Return the most frequent confusions.

    Parameters
    ----------
    outcomes
        True and predicted labels.
    same_level
        The result of ``same_level_counts``.
    support
        Number of items of each node, including its descendants.
    texts
        The items' texts: strings, or tuples or mappings of strings; or None.

    Returns
    -------
    tuple of Confusion
        Pairs of true and predicted labels for items with one label; pairs of nodes of the same
        level for label sets. The most frequent pair comes first.
    """
    true, predicted, count = (
        _sorted_pairs(same_level)
        if outcomes.is_multilabel
        else _category_pairs(outcomes, outcomes.taxonomy.n_nodes)
    )
    nodes, find = outcomes.taxonomy.nodes, _finder(outcomes)
    name = outcomes.taxonomy.raw_names.get
    found = []
    for a, b, number in zip(true.tolist(), predicted.tolist(), count.tolist(), strict=True):
        items = find(a, b)[:N_EXAMPLES].tolist()
        shown = () if texts is None else tuple(_as_text(texts[item]) for item in items)
        # The root has no count of its own because every item belongs to it.
        share = number / (support[a] if a else outcomes.n_items)
        names = name(nodes[a], ""), name(nodes[b], "")
        found.append(Confusion(nodes[a], nodes[b], number, share, tuple(items), shown, *names))
    return tuple(found)


def rivals(same_level: CSR) -> dict[int, list[tuple[int, int]]]:
    """Return the nodes most often predicted instead of each missed node, with counts."""
    entries = same_level.tocoo()
    row, column = entries.coords
    order = np.lexsort((column, -entries.data, row))
    nth = np.arange(row.size) - np.searchsorted(row[order], row[order])
    kept = order[nth < N_RIVALS]
    found: dict[int, list[tuple[int, int]]] = {}
    for a, b, count in zip(*(x[kept].tolist() for x in (row, column, entries.data)), strict=True):
        found.setdefault(a, []).append((b, count))
    return found


def _only(Y: CSR, nodes: Bools) -> CSR:
    """Keep only the labels marked by a mask of nodes."""
    from scipy.sparse import csr_array

    keep = nodes[Y.indices]
    starts = np.append(0, np.cumsum(keep))[Y.indptr]
    return csr_array((Y.data[keep], Y.indices[keep], starts), shape=Y.shape)


def _category_pairs(outcomes: Outcomes, n: int) -> tuple[Codes, Codes, Codes]:
    """Return the most frequent pairs of different true and predicted labels, and their counts."""
    true, predicted = outcomes.single_codes()
    wrong = true != predicted
    keys, counts = np.unique(true[wrong] * n + predicted[wrong], return_counts=True)
    first = np.lexsort((keys, -counts))[:N_PAIRS]
    return keys[first] // n, keys[first] % n, counts[first]


def _sorted_pairs(same_level: CSR) -> tuple[Codes, Codes, Codes]:
    entries = same_level.tocoo()
    row, column = (part.astype(np.intp) for part in entries.coords)
    first = np.lexsort((column, row, -entries.data))[:N_PAIRS]
    return row[first], column[first], entries.data[first].astype(np.intp)


def _finder(outcomes: Outcomes) -> Callable[[int, int], Codes]:
    """Return a function from a pair of nodes to the items on which they were confused."""
    if outcomes.is_multilabel:
        missed, added = outcomes.missed.tocsc(), outcomes.added.tocsc()
    else:
        missed, added = outcomes.true.tocsc(), outcomes.predicted.tocsc()

    def find(a: int, b: int) -> Codes:
        lacks = missed.indices[missed.indptr[a] : missed.indptr[a + 1]]
        has = added.indices[added.indptr[b] : added.indptr[b + 1]]
        return np.intersect1d(lacks, has)

    return find


def _as_text(text: Any) -> str:
    """Return an item's text on one line, with its columns joined, shortened if long."""
    if isinstance(text, Mapping):
        text = list(text.values())
    parts = [text] if isinstance(text, str) else [str(part) for part in text]
    # Look only at the beginning of a very long text.
    words = " ".join(" · ".join(part[: 4 * EXAMPLE_LENGTH] for part in parts if part).split())
    return words if len(words) <= EXAMPLE_LENGTH else words[: EXAMPLE_LENGTH - 1].rstrip() + "…"

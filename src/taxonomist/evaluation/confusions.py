"""What is taken for what: pairs of nodes, with counts and examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Codes
    from taxonomist.evaluation.outcomes import Outcomes

N_PAIRS = 30
"""Pairs that an assessment keeps."""

N_EXAMPLES = 3
"""Examples of each pair."""

N_RIVALS = 3
"""Nodes that an assessment keeps for each node it was taken for."""

EXAMPLE_LENGTH = 400
"""Characters of an example's text."""


@dataclass(frozen=True)
class Confusion:
    """Two nodes, one of which was predicted in place of the other.

    Attributes
    ----------
    true, predicted
        Ids of the node that was missed and of the one that was wrongly given.
    count
        Number of items to which it happened.
    share
        That number as a share of the items of the true node.
    items
        Positions of some of these items.
    texts
        Their texts, cut where they are long; empty if none were given.
    """

    true: str
    predicted: str
    count: int
    share: float
    items: tuple[int, ...]
    texts: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain data."""
        return {
            "true": self.true,
            "predicted": self.predicted,
            "count": self.count,
            "share": self.share,
            "items": list(self.items),
            "texts": list(self.texts),
        }


def same_level_counts(outcomes: Outcomes) -> CSR:
    """Return on how many items a node was missed while one of its level was wrongly given.

    Parameters
    ----------
    outcomes
        Truth and prediction.

    Returns
    -------
    csr_array of shape (n_nodes, n_nodes)
        Rows are missed nodes, columns wrongly given ones. The level of a node is the longest
        path from the root.
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
    outcomes: Outcomes, same_level: CSR, support: Any, texts: Sequence[Any] | None
) -> tuple[Confusion, ...]:
    """Return the most frequent confusions.

    Parameters
    ----------
    outcomes
        Truth and prediction.
    same_level
        The result of ``same_level_counts``.
    support
        Number of items of each node, all below it included.
    texts
        The items' texts: strings, or tuples or mappings of strings; or None.

    Returns
    -------
    tuple of Confusion
        For items with one label, of true and predicted labels; for label sets, of nodes of
        the same level. The most frequent comes first.
    """
    true, predicted, count = (
        _sorted_pairs(same_level)
        if outcomes.is_multilabel
        else _category_pairs(outcomes, outcomes.taxonomy.n_nodes)
    )
    nodes, find = outcomes.taxonomy.nodes, _finder(outcomes)
    found = []
    for a, b, number in zip(true.tolist(), predicted.tolist(), count.tolist(), strict=True):
        items = find(a, b)[:N_EXAMPLES].tolist()
        shown = () if texts is None else tuple(_as_text(texts[item]) for item in items)
        # The root has all items, and no count of its own.
        share = number / (support[a] if a else outcomes.n_items)
        found.append(Confusion(nodes[a], nodes[b], number, share, tuple(items), shown))
    return tuple(found)


def rivals(same_level: CSR) -> dict[int, list[tuple[int, int]]]:
    """Return, for each node that was missed, the nodes it was taken for most often, with counts."""
    entries = same_level.tocoo()
    row, column = entries.coords
    order = np.lexsort((column, -entries.data, row))
    nth = np.arange(row.size) - np.searchsorted(row[order], row[order])
    kept = order[nth < N_RIVALS]
    found: dict[int, list[tuple[int, int]]] = {}
    for a, b, count in zip(*(x[kept].tolist() for x in (row, column, entries.data)), strict=True):
        found.setdefault(a, []).append((b, count))
    return found


def _only(Y: CSR, nodes: Any) -> CSR:
    """Return label sets with only the labels that a mask of nodes marks."""
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
    """Return the pairs of nodes with the highest counts."""
    entries = same_level.tocoo()
    row, column = (part.astype(np.intp) for part in entries.coords)
    first = np.lexsort((column, row, -entries.data))[:N_PAIRS]
    return row[first], column[first], entries.data[first].astype(np.intp)


def _finder(outcomes: Outcomes) -> Any:
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
    """Return an item's text on one line, its columns joined, cut where it is long."""
    if isinstance(text, Mapping):
        text = list(text.values())
    parts = [text] if isinstance(text, str) else [str(part) for part in text]
    # Of a very long text only the beginning is looked at.
    words = " ".join(" · ".join(part[: 4 * EXAMPLE_LENGTH] for part in parts if part).split())
    return words if len(words) <= EXAMPLE_LENGTH else words[: EXAMPLE_LENGTH - 1].rstrip() + "…"

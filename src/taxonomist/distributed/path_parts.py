"""Tasks on parts of the items of ``DaskPathSVC``: encode, count, and send rows to their families.

A *set* is a set of training items: number 0 are all items with a weight, the others are the
training items of folds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack

from taxonomist.inference.block_weights import sparse_rows
from taxonomist.models.path_learning import closed_labels
from taxonomist.solvers.row_norms import row_norms, sum_of_squares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Bools, Codes, Floats, Reals
    from taxonomist.distributed.loading import LoadedPart
    from taxonomist.models.path_columns import Family
    from taxonomist.models.targets import Targets


class PathPart(NamedTuple):
    """Some items on a worker.

    Attributes
    ----------
    X
        Rows, in single precision.
    weights
        Weights of the items.
    labels, closed
        The categories of each item, and its nodes, closed under ancestors.
    masks
        Whether each item is in each set, (n_sets, n_items).
    norms
        ||x_i||² as the solver needs it for each set, (n_sets, n_items); 0 outside.
    """

    X: CSR
    weights: Floats
    labels: CSR
    closed: CSR
    masks: Bools
    norms: Reals

    def select(self, items: Codes) -> PathPart:
        """Return some items."""
        tables = (table[items] for table in self[:4])
        return PathPart._make([*tables, self.masks[:, items], self.norms[:, items]])

    @classmethod
    def joined(cls, parts: Sequence[PathPart]) -> PathPart:
        """Return the items of all parts, in their order."""
        if len(parts) == 1:
            return parts[0]
        X, weights, labels, closed, masks, norms = zip(*parts, strict=True)
        return cls(
            csr_array(vstack(X)),
            np.concatenate(weights),
            csr_array(vstack(labels)),
            csr_array(vstack(closed)),
            np.hstack(masks),
            np.hstack(norms),
        )


def encode_part(loaded: LoadedPart, masks: Bools, targets: Targets, n_features: int) -> PathPart:
    """Return a part with encoded labels, whose norms are not known yet."""
    if not len(loaded.weights):
        nothing = targets.without_items()
        X: CSR = csr_array((0, n_features), dtype=np.float32)
        return PathPart(
            X, np.empty(0), nothing.labels, closed_labels(nothing), masks, np.zeros(masks.shape)
        )
    found = targets.again(loaded.y, loaded.X)
    norms = np.zeros(masks.shape, np.float32)
    return PathPart(loaded.X, loaded.weights, found.labels, closed_labels(found), masks, norms)


def squares_after(part: PathPart, before: list[float]) -> list[float]:
    """Return the sums of squares of the items of each set up to the end of a part.

    The norms of rows are differences of such sums, so that they have the same rounding errors as
    if all items were in one place.
    """
    pairs = zip(part.masks, before, strict=True)
    return [sum_of_squares(sparse_rows(part.X[mask]), value) for mask, value in pairs]


def add_norms(part: PathPart, before: list[float], constant: float) -> PathPart:
    """Return a part with norms, given the sums of squares before it."""
    norms = np.zeros(part.masks.shape, np.float32)
    for number, value in enumerate(before):
        mask = part.masks[number]
        norms[number, mask] = row_norms(sparse_rows(part.X[mask]), constant, value)
    return part._replace(norms=norms)


class PartCounts(NamedTuple):
    """Numbers of items.

    Attributes
    ----------
    nodes
        The number of items at or below each node in each set, (n_sets, n_nodes).
    families
        The number of items of each family in each set, (n_sets, n_families).
    values
        The number of stored values of the items of each family, (n_families,).
    least, most
        The smallest and the largest number of labels of an item with a weight.
    """

    nodes: Codes
    families: Codes
    values: Codes
    least: int
    most: int

    @classmethod
    def of(cls, part: PathPart, families: Sequence[Family]) -> PartCounts:
        """Count the items of a part."""
        nodes, sizes = [], []
        for mask in part.masks:
            table = sorted_columns(part.closed[mask])
            nodes.append(np.diff(table.indptr))
            sizes.append([len(family.members(table)) for family in families])
        used = np.flatnonzero(part.masks[0])
        table, entries = sorted_columns(part.closed[used]), np.diff(part.X.indptr)[used]
        values = [int(entries[family.members(table)].sum()) for family in families]
        n_labels = np.diff(part.labels.indptr)[used]
        return cls(
            np.array(nodes, dtype=np.intp),
            np.array(sizes, dtype=np.intp).reshape(len(nodes), len(families)),
            np.array(values, dtype=np.intp),
            int(n_labels.min(initial=part.labels.shape[1])),
            int(n_labels.max(initial=0)),
        )

    @classmethod
    def joined(cls, parts: Sequence[PartCounts]) -> PartCounts:
        """Return the sums over all parts."""
        nodes, families, values, least, most = zip(*parts, strict=True)
        return cls(sum(nodes), sum(families), sum(values), min(least), max(most))


def send_rows(part: PathPart, parents: list[tuple[int, ...]]) -> PathPart:
    """Return the items that belong to at least one of some families, given their parents."""
    is_wanted = part.masks[0].copy()
    if (0,) not in parents:
        nodes = sorted({node for family in parents for node in family})
        is_wanted &= np.asarray(part.closed[:, nodes].sum(axis=1)).ravel() > 0
    return part.select(np.flatnonzero(is_wanted))


def pick_rows(part: PathPart, items: Codes) -> PathPart:
    """Return some items of a part."""
    return part.select(items)


def sorted_columns(closed: CSR) -> csc_array:
    """Return the items of each node, in ascending order."""
    table = csc_array(closed)
    table.sort_indices()
    return table

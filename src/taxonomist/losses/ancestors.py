"""Losses from costs at nodes: the tree loss and its weighted form [CH04, Eq. 23, 34]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.losses.base import CategoryLoss
from taxonomist.taxonomy import differences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Bools, Codes, Floats
    from taxonomist.taxonomy import Taxonomy

DEFAULT_LOAD = 1.0
DEFAULT_COST = 0.5
"""Default load and costs of a node [CH04, Eq. 34]."""


@dataclass(frozen=True)
class WeightedTree:
    """Loads and costs of nodes, not yet bound to a taxonomy; made by `weighted_tree`.

    Attributes
    ----------
    load, miss, false_alarm
        See `weighted_tree`.
    """

    load: float | Mapping[str, float]
    miss: float | Mapping[str, float]
    false_alarm: float | Mapping[str, float]

    def costs(self, taxonomy: Taxonomy) -> tuple[Floats, Floats]:
        """Return the cost of a miss and of a false alarm at every node, including loads.

        Parameters
        ----------
        taxonomy
            The taxonomy whose ids the mappings use.

        Returns
        -------
        tuple of Floats
            Two arrays of shape (n_nodes,): f_z c_z and f_z c̄_z.

        Raises
        ------
        UnknownNodeError
            If a mapping has an id that is not in the taxonomy.
        LabelError
            If a value is negative or not finite.
        """
        load = _per_node(taxonomy, "load", self.load, DEFAULT_LOAD)
        miss = _per_node(taxonomy, "miss", self.miss, DEFAULT_COST)
        false_alarm = _per_node(taxonomy, "false_alarm", self.false_alarm, DEFAULT_COST)
        return load * miss, load * false_alarm


def weighted_tree(
    load: float | Mapping[str, float] = DEFAULT_LOAD,
    miss: float | Mapping[str, float] = DEFAULT_COST,
    false_alarm: float | Mapping[str, float] = DEFAULT_COST,
) -> WeightedTree:
    """Return the loss of CH04's Eq. 23, which charges the nodes above only one category.

    With the defaults, this is the ``"tree"`` loss of Eq. 34, half the number of those nodes.
    HCC03's Eq. 15 is the case ``load=1``. In CH07 the sign-up volumes s_v are the loads, c⁻ is
    ``miss`` and c⁺ is ``false_alarm``; ``taxonomist.metrics.set_loss`` is its loss of label sets.

    Parameters
    ----------
    load
        f_z, the importance of the items filed at or below node z: one number for all nodes, or a
        mapping from node id. Nodes missing from the mapping have 1.
    miss
        c_z, the cost of predicting an item of z outside z. Nodes missing from a mapping have 0.5.
    false_alarm
        c̄_z, the cost of predicting an item from outside z at or below z. Nodes missing from a
        mapping have 0.5.

    Returns
    -------
    WeightedTree
        Pass it as ``loss``.
    """
    return WeightedTree(load, miss, false_alarm)


class AncestorLoss(CategoryLoss):
    """Sum of costs over the nodes above only one of the two categories [CH04, Eq. 23].

    Parameters
    ----------
    taxonomy, categories
        See `CategoryLoss`.
    miss
        f_z c_z for each node z, finite and at least 0, shape (n_nodes,); see `weighted_tree`.
    false_alarm
        f_z c̄_z for each node z, with the same constraints.

    Attributes
    ----------
    ancestors
        Boolean csr_array of shape (n_categories, n_nodes) that marks each category and its
        ancestors.
    miss, false_alarm
        As given.

    Raises
    ------
    LabelError
        If predicting some category in place of another would cost nothing.
    """

    def __init__(
        self, taxonomy: Taxonomy, categories: Codes, miss: Floats, false_alarm: Floats
    ) -> None:
        super().__init__(taxonomy, categories)
        self.ancestors: CSR = taxonomy.ancestor_matrix()[categories]
        self.ancestors.sort_indices()
        self.miss = miss
        self.false_alarm = false_alarm
        self._require_positive()

    def row(self, i: int) -> Floats:
        """Return one row, summed without cancellation so that zeros are exact."""
        matrix = self.ancestors
        above = matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]]
        false_alarm = self.false_alarm.copy()
        false_alarm[above] = 0.0
        missed: Floats = ~matrix[:, above].toarray() @ self.miss[above]
        alarmed: Floats = matrix @ false_alarm
        return missed + alarmed

    def pairs(self, i: Codes, j: Codes) -> Floats:
        """Return the loss of every pair; see `CategoryLoss.pairs`."""
        return self._weights(i, j, self.miss, self.false_alarm)

    def _weights(self, i: Codes, j: Codes, miss: Floats, false_alarm: Floats) -> Floats:
        """Return the weight in which the categories of each pair differ, for any costs."""
        true, predicted = self.categories[i], self.categories[j]
        return differences.pair_weights(self.taxonomy, true, predicted, miss, false_alarm)

    def _require_positive(self) -> None:
        """Raise if the loss between two different categories is zero, and name them."""
        missable, raisable = self.miss > 0, self.false_alarm > 0
        for i, j in self._suspects(missable, raisable):
            # Count costly nodes instead of adding costs, so that rounding cannot hide a zero.
            count = self._weights(i, j, missable.astype(float), raisable.astype(float))
            for k in np.flatnonzero((count == 0) & (i != j))[:1]:
                raise LabelError(
                    f"Predicting {self.ids[j[k]]!r} where {self.ids[i[k]]!r} is true would cost "
                    "nothing: no node above only one of them has a positive load and cost for "
                    "this mistake. Increase the load or cost of such a node."
                )

    def _suspects(self, missable: Bools, raisable: Bools) -> Iterator[tuple[Codes, Codes]]:
        """Yield the pairs that may have zero loss; there are few for sensible costs."""
        if np.array_equal(missable, raisable):
            yield self._twins(missable)
            return
        # If missing y has a cost, zero loss needs u below y; if predicting u has one, y below u.
        below, above = self.ancestors[:, self.categories].nonzero()
        yield below, above
        yield above, below
        unmissed = np.flatnonzero(~missable[self.categories])
        for j in np.flatnonzero(~raisable[self.categories]):
            yield unmissed, np.full(len(unmissed), j)

    def _twins(self, weighted: Bools) -> tuple[Codes, Codes]:
        """Return each category with the first category that has the same weighted ancestors."""
        matrix = self.ancestors[:, weighted]
        matrix.sort_indices()
        first: dict[bytes, int] = {}
        ends = zip(matrix.indptr, matrix.indptr[1:], strict=False)
        same = [
            first.setdefault(matrix.indices[start:end].tobytes(), i)
            for i, (start, end) in enumerate(ends)
        ]
        return np.asarray(same, dtype=np.intp), np.arange(self.n_categories)


def _per_node(
    taxonomy: Taxonomy, what: str, given: float | Mapping[str, float], default: float
) -> Floats:
    values = np.full(taxonomy.n_nodes, default if isinstance(given, Mapping) else given, float)
    if isinstance(given, Mapping):
        values[taxonomy.codes(given)] = list(given.values())
    for code in np.flatnonzero(~(np.isfinite(values) & (values >= 0)))[:1]:
        raise LabelError(
            f"The {what} of node {taxonomy.nodes[code]!r} is {values[code]}; "
            "it must be finite and at least 0."
        )
    return values

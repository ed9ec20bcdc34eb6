"""Losses between two labellings of a taxonomy's nodes [RSSS06, section 2.1].

A labelling marks every node as applying (1) or not (0 or -1). It need not be closed under
ancestors. Each loss charges certain nodes and sums their costs c_j:

================  =====================================================================
charge            a node is charged if its label is wrong and
================  =====================================================================
``"node"``        (no other condition: the symmetric difference loss)
``"parent"``      the labels of all its parents are right (ℓ_H̃)
``"path"``        the labels of all its ancestors are right (ℓ_H)
``"any"``         the whole labelling is charged 1 if any label is wrong (zero-one)
================  =====================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from taxonomist.errors import LabelError, closest, some
from taxonomist.taxonomy import differences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taxonomist._typing import CSR, Codes, Floats, MatrixLike
    from taxonomist.taxonomy import Taxonomy

EDGE_LOSSES = ("shared", "upper")
"""How the charge of a node is split over the edges at it; see ``LabellingLoss.edge_costs``."""

LABELLING_LOSSES = (
    "zero_one",
    "symmetric_difference",
    "hierarchical_uniform",
    "hierarchical_sibling",
    "hierarchical_subtree",
)
"""Names of the built-in losses between labellings."""


@dataclass(frozen=True, eq=False)
class LabellingLoss:
    """A loss between labellings; made by `labelling_loss`.

    Attributes
    ----------
    name
        The name of the loss; ``"user"`` for costs given by the user.
    taxonomy
        The taxonomy whose nodes are labelled.
    charge
        ``"any"``, ``"node"``, ``"parent"`` or ``"path"``; see the module's table.
    costs
        c_j, shape (n_nodes,).
    """

    name: str
    taxonomy: Taxonomy
    charge: str
    costs: Floats

    def __call__(self, Y: MatrixLike, U: MatrixLike) -> Floats:
        """Return the loss of every predicted labelling.

        Parameters
        ----------
        Y, U
            True and predicted labellings, dense or sparse, shape (n_items, n_nodes).

        Returns
        -------
        Floats
            Array of shape (n_items,).

        Raises
        ------
        LabelError
            If the shapes do not match or a label is not -1, 0 or 1.
        """
        totals: Floats = self._charged(Y, U) @ self.costs
        return (totals > 0).astype(np.float64) if self.charge == "any" else totals

    def edge_costs(self, split: str) -> tuple[Floats, Floats]:
        """Return what the edge above each node costs for its two ends [RSSS06, Sec. 2.1].

        ``"shared"`` is the split of the paper: the charge of node j is divided evenly among the
        N(j) edges at j, those to its children and the one to its parent. Only the symmetric
        difference loss can be split in this way. If a node is charged only where its parent is
        right, the edges to its children do not know whether it is charged, so the whole charge goes
        to the edge above it. ``"upper"`` does so for every loss. In both, the charge of the root is
        divided evenly among the edges below it.

        Parameters
        ----------
        split
            ``"shared"`` or ``"upper"``.

        Returns
        -------
        lower, upper : Floats
            For the edge above node j, the cost if j is charged, and the cost if its parent is
            charged. Shape (n_nodes,); 0 for the root, which has no edge above it.
        """
        if split not in EDGE_LOSSES:
            raise LabelError(f"The split must be one of {some(EDGE_LOSSES)}; got {split!r}.")
        above = _parents(self.taxonomy)
        n_edges = np.bincount(above[1:], minlength=len(above)) + (above != np.arange(len(above)))
        share = self.costs / np.maximum(n_edges, 1)
        if split == "shared" and self.charge == "node":
            lower, upper = share, share[above]
        else:
            lower, upper = self.costs.copy(), np.where(above == 0, share[0], 0.0)
        lower[0] = upper[0] = 0.0
        return lower, upper

    def decompose(
        self, Y: MatrixLike, U: MatrixLike, *, split: str | None = None
    ) -> tuple[Floats, CSR]:
        """Split the loss over the edges of a tree.

        By default, the charge of node j, which depends only on the labels of j and its parent, goes
        to the edge between them. The root has no such edge; its charge is returned separately.

        Parameters
        ----------
        Y, U
            True and predicted labellings, dense or sparse, shape (n_items, n_nodes).
        split
            ``"shared"`` or ``"upper"`` to split the root's charge too; see ``edge_costs``.

        Returns
        -------
        root : Floats
            The root's charge, shape (n_items,). 0 if it is split.
        edges : CSR
            The charges of the edges, shape (n_items, n_edges), in the order of
            ``taxonomy.edges``. Together with ``root`` they sum to the loss.

        Raises
        ------
        LabelError
            If the taxonomy is not a tree, the charge is ``"path"`` or ``"any"``, or the
            labellings do not match the taxonomy.
        """
        if not self.taxonomy.is_tree:
            raise LabelError(
                "A loss splits over edges only on a tree, but this taxonomy has a node with "
                "several parents."
            )
        if self.charge not in ("node", "parent"):
            raise LabelError(
                f"The loss {self.name!r} with charge {self.charge!r} depends on more labels than "
                "the two at an edge; use charge='parent' or 'symmetric_difference'."
            )
        lower = self.taxonomy.edges[:, 1]
        if split is None:
            charges = self._charged(Y, U).multiply(self.costs).tocsc()
            return charges[:, [0]].toarray()[:, 0], charges[:, lower].tocsr()
        charged = self._charged(Y, U).tocsc()
        own, other = (costs[lower] for costs in self.edge_costs(split))
        upper = _parents(self.taxonomy)[lower]
        edges = charged[:, lower].multiply(own) + charged[:, upper].multiply(other)
        return np.zeros(charged.shape[0]), sparse.csr_array(edges)

    def _charged(self, Y: MatrixLike, U: MatrixLike) -> CSR:
        """Return the charged nodes as a boolean csr_array."""
        true, predicted = _indicators(self.taxonomy, Y), _indicators(self.taxonomy, U)
        if true.shape != predicted.shape:
            raise LabelError(
                f"Got {true.shape[0]} true and {predicted.shape[0]} predicted labellings; "
                "pass the same number of both."
            )
        charge = "node" if self.charge == "any" else self.charge
        return differences.charged(self.taxonomy, true, predicted, charge)


def labelling_loss(
    loss: str | Mapping[str, float] | Floats | LabellingLoss,
    taxonomy: Taxonomy,
    *,
    charge: str = "parent",
) -> LabellingLoss:
    """Return a loss between labellings of a taxonomy's nodes.

    Parameters
    ----------
    loss
        ``"zero_one"``; ``"symmetric_difference"``; ``"hierarchical_uniform"``,
        ``"hierarchical_sibling"`` or ``"hierarchical_subtree"`` for RSSS06's scalings of the
        costs; the costs themselves, an array of shape (n_nodes,) or a mapping from node id; or
        a `LabellingLoss`, which is returned unchanged. RSSS06 uses costs of at most 1; larger
        ones work too.
    taxonomy
        The taxonomy whose nodes are labelled.
    charge
        When a wrong label is charged, for the hierarchical losses and given costs:
        ``"parent"`` (ℓ_H̃, the default), ``"path"`` (ℓ_H) or ``"node"``.

    Returns
    -------
    LabellingLoss
        A function of true and predicted labellings.

    Raises
    ------
    LabelError
        If the loss or the charge is unknown, or a cost is not finite and positive.
    UnknownNodeError
        If a mapping has an id that is not in the taxonomy.
    """
    if isinstance(loss, LabellingLoss):
        if loss.taxonomy != taxonomy:
            raise LabelError("The loss was made for another taxonomy; create it for this one.")
        return loss
    if charge not in differences.CHARGES:
        raise LabelError(f"charge must be one of {some(differences.CHARGES)}; got {charge!r}.")
    if not isinstance(loss, str):
        costs = differences.node_scaling(taxonomy, loss)
        _require_positive(taxonomy, costs)
        return LabellingLoss("user", taxonomy, charge, costs)
    if loss not in LABELLING_LOSSES:
        raise LabelError(
            f"There is no loss {loss!r} between labellings; choose one of "
            f"{some(LABELLING_LOSSES, len(LABELLING_LOSSES))}.{closest(loss, LABELLING_LOSSES)}"
        )
    kind, _, scaling = loss.partition("hierarchical_")
    fixed = {"zero_one": "any", "symmetric_difference": "node"}
    costs = differences.node_scaling(taxonomy, scaling or "uniform")
    return LabellingLoss(loss, taxonomy, fixed.get(kind, charge), costs)


def _parents(taxonomy: Taxonomy) -> Codes:
    """Return the parent of every node of a tree; the root is its own."""
    above = np.zeros(taxonomy.n_nodes, dtype=np.intp)
    above[1:] = taxonomy.parent_indices[taxonomy.parent_indptr[1:-1]]
    return above


def _require_positive(taxonomy: Taxonomy, costs: Floats) -> None:
    """Raise if a node's cost is not finite and positive, and name the node."""
    for code in np.flatnonzero(~(np.isfinite(costs) & (costs > 0)))[:1]:
        raise LabelError(
            f"The cost of node {taxonomy.nodes[code]!r} is {costs[code]}; it must be finite and "
            "above 0; otherwise a wrong label would cost nothing."
        )


def _indicators(taxonomy: Taxonomy, Y: MatrixLike) -> CSR:
    """Return the labels that are 1 as a boolean csr_array, after checking shape and values."""
    given = sparse.csr_array(Y) if sparse.issparse(Y) else np.asarray(Y)
    if given.ndim != 2 or given.shape[1] != taxonomy.n_nodes:
        raise LabelError(
            f"Labellings have shape {given.shape}; pass one column for each of the "
            f"{taxonomy.n_nodes} nodes of the taxonomy."
        )
    values = given.data if sparse.issparse(given) else given
    wrong = values[~np.isin(values, (-1, 0, 1))]
    if wrong.size:
        raise LabelError(f"Labels must be 1 or 0 (or -1); found {wrong.flat[0]}.")
    return sparse.csr_array(given > 0)

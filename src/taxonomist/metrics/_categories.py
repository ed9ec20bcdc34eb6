"""The loss between two categories or two label sets, and the parents of categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse

from taxonomist.errors import LabelError, some
from taxonomist.taxonomy import differences

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.taxonomy import Taxonomy


class PairLoss(Protocol):
    """A loss between categories, as made by ``taxonomist.losses.category_loss``."""

    categories: Codes

    def pairs(self, i: Codes, j: Codes) -> Floats:
        """Return the loss of predicting category ``j[k]`` where ``i[k]`` is true, for every k."""


class NodeCosts(Protocol):
    """Loads and costs of nodes, as made by ``taxonomist.losses.weighted_tree``."""

    def costs(self, taxonomy: Taxonomy) -> tuple[Floats, Floats]:
        """Return the cost of a miss and of a false alarm at every node, including loads."""


def node_costs(taxonomy: Taxonomy, loss: object) -> tuple[Floats, Floats] | None:
    """Return the costs of a miss and of a false alarm at every node, or None if there are none.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels.
    loss
        None for ½ at every node, a loss made by ``taxonomist.losses.weighted_tree``, or one made
        from costs by ``taxonomist.losses.category_loss``.
    """
    if loss is None:
        half = np.full(taxonomy.n_nodes, 0.5)
        return half, half
    if hasattr(loss, "costs"):
        miss, false_alarm = loss.costs(taxonomy)
        return miss, false_alarm
    if hasattr(loss, "miss") and hasattr(loss, "false_alarm"):
        _require_same(taxonomy, loss)
        return loss.miss, loss.false_alarm
    return None


def pair_losses(taxonomy: Taxonomy, a: Codes, b: Codes, loss: Any) -> Floats:
    """Return the loss of predicting ``b[k]`` where ``a[k]`` is true, for every k."""
    if loss is None or hasattr(loss, "costs"):
        costs = node_costs(taxonomy, loss)
        assert costs is not None
        return differences.pair_weights(taxonomy, a, b, *costs)
    if hasattr(loss, "pairs"):
        _require_same(taxonomy, loss)
        i, j = (_positions(taxonomy, loss.categories, codes) for codes in (a, b))
        return np.asarray(loss.pairs(i, j), dtype=np.float64)
    if callable(loss):
        pairs, inverse = np.unique(np.column_stack([a, b]), axis=0, return_inverse=True)
        nodes = taxonomy.nodes
        values = np.array([loss(nodes[i], nodes[j]) for i, j in pairs], dtype=np.float64)
        return values[inverse.ravel()]
    message = (
        f"loss is {loss!r}; pass None, a function of two ids, or a loss made by "
        "taxonomist.losses.weighted_tree or taxonomist.losses.category_loss."
    )
    raise LabelError(message)


def _require_same(taxonomy: Taxonomy, loss: object) -> None:
    """Raise if a loss belongs to another taxonomy."""
    if getattr(loss, "taxonomy", taxonomy) != taxonomy:
        raise LabelError("The loss was made for another taxonomy; create it for this one.")


def _positions(taxonomy: Taxonomy, categories: Codes, codes: Codes) -> Codes:
    """Return the positions of node codes among the categories of a loss."""
    place = np.full(taxonomy.n_nodes, -1, dtype=np.intp)
    place[categories] = np.arange(len(categories))
    missing = np.unique(codes[place[codes] < 0])
    if missing.size:
        ids = [taxonomy.nodes[code] for code in missing]
        message = f"The loss does not cover {some(ids)}; create it for all categories in use."
        raise LabelError(message)
    return place[codes]


def category_parents(taxonomy: Taxonomy, categories: Codes) -> CSR:
    """Return the parents of each category, categories x nodes.

    An interior node that is used as a category represents its terminal child
    [CH04, section 2.4], whose parent is that node.
    """
    parent, child = taxonomy.edges[taxonomy.is_leaf[taxonomy.edges[:, 1]]].T
    # In a taxonomy of a single node, the root is a leaf without a parent.
    own = np.union1d(np.flatnonzero(~taxonomy.is_leaf), [0])
    row, column = np.append(child, own), np.append(parent, own)
    ones = np.ones(row.size, dtype=bool)
    shape = (taxonomy.n_nodes, taxonomy.n_nodes)
    return sparse.csr_array((ones, (row, column)), shape=shape)[categories]

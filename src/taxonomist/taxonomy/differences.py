"""Differences between two categories or two labellings, as losses and measures use them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.errors import LabelError

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.taxonomy.core import Taxonomy

SCALINGS = ("uniform", "sibling", "subtree")
CHARGES = ("node", "parent", "path")


def pair_weights(
    taxonomy: Taxonomy, a: Codes, b: Codes, miss: Floats, false_alarm: Floats
) -> Floats:
    """Return the weight of the nodes that are above exactly one of two nodes.

    Parameters
    ----------
    taxonomy
        The taxonomy of the nodes.
    a, b
        Codes of the true and predicted nodes, arrays of equal length.
    miss, false_alarm
        Weight of each node where it is above (or equal to) only ``a``, and only ``b``.

    Returns
    -------
    Floats
        For each pair, the sum of ``miss`` over anc(a) - anc(b) and of ``false_alarm`` over
        anc(b) - anc(a) [CH04, Eq. 23].
    """
    ancestors = taxonomy.ancestor_matrix()
    above_a, above_b = ancestors[a], ancestors[b]
    # Sum only the nodes that differ: subtracting shared ones would lose small weights to rounding.
    difference: Floats = (above_a > above_b) @ miss + (above_b > above_a) @ false_alarm
    return difference


def node_scaling(taxonomy: Taxonomy, scaling: Any) -> Floats:
    """Return the coefficient c_j that scales a mistake at each node [RSSS06, Sec. 2.1].

    Parameters
    ----------
    taxonomy
        The taxonomy of the nodes.
    scaling
        ``"uniform"``: 1 everywhere. ``"sibling"``: 1 at the root; each node's coefficient is
        divided evenly among its children (a node with several parents gets the mean).
        ``"subtree"``: the fraction of all nodes at or below the node. Or an array of shape
        (n_nodes,), or a mapping that covers every id.
    """
    if isinstance(scaling, str):
        if scaling not in SCALINGS:
            raise LabelError(f"scaling must be one of {', '.join(SCALINGS)}. Got {scaling!r}.")
        if scaling == "uniform":
            return np.ones(taxonomy.n_nodes)
        if scaling == "subtree":
            sizes = np.bincount(taxonomy.ancestor_matrix().indices, minlength=taxonomy.n_nodes)
            return sizes / taxonomy.n_nodes
        return _sibling_scaling(taxonomy)
    if isinstance(scaling, Mapping):
        absent = [node for node in taxonomy.nodes if node not in scaling]
        if absent:
            raise LabelError(f"scaling has no value for {len(absent)} nodes, e.g. {absent[0]!r}.")
        taxonomy.codes(scaling)
        scaling = [scaling[node] for node in taxonomy.nodes]
    costs = np.asarray(scaling, dtype=np.float64)
    if costs.shape != (taxonomy.n_nodes,):
        raise LabelError(
            f"scaling must have one value for each of the {taxonomy.n_nodes} nodes. "
            f"Got an array of shape {costs.shape}."
        )
    return costs


def _sibling_scaling(taxonomy: Taxonomy) -> Floats:
    """Return c_root = 1, c_j = c_parent / number of the parent's children."""
    n_children = np.diff(taxonomy.child_indptr)
    n_parents = np.diff(taxonomy.parent_indptr)
    costs = np.zeros(taxonomy.n_nodes)
    costs[0] = 1.0
    for parent, child in taxonomy.edges.tolist():
        costs[child] += costs[parent] / (n_children[parent] * n_parents[child])
    return costs


def charged(taxonomy: Taxonomy, Y: CSR, U: CSR, charge: str) -> CSR:
    """Return the nodes at which a labelling is charged for differing from the truth.

    Parameters
    ----------
    taxonomy
        The taxonomy of the nodes.
    Y, U
        True and predicted labels, (n_items, n_nodes). They are not closed under ancestors here.
    charge
        ``"node"``: every node whose label differs. ``"parent"``: only nodes whose parents'
        labels all agree (l_H~). ``"path"``: only nodes whose ancestors' labels all agree (l_H).
        The root's own label counts like any other.

    Returns
    -------
    csr_array of bool, shape (n_items, n_nodes)
    """
    from scipy.sparse import csr_array

    if charge not in CHARGES:
        raise LabelError(f"charge must be one of {', '.join(CHARGES)}. Got {charge!r}.")
    different = csr_array(csr_array(Y, dtype=bool) != csr_array(U, dtype=bool))
    different.sort_indices()
    if charge == "node":
        return different
    if charge == "parent":
        starts, above = taxonomy.parent_indptr, taxonomy.parent_indices
    else:
        starts, above = taxonomy.ancestor_matrix().indptr, taxonomy.ancestor_matrix().indices
    item = np.repeat(np.arange(different.shape[0]), np.diff(different.indptr))
    node = different.indices.astype(np.intp)
    # Look up which nodes above a wrong one are wrong too; wrong ones are sorted by item and node.
    wrong = item * taxonomy.n_nodes + node
    counts = starts[node + 1] - starts[node]
    entry = np.repeat(np.arange(len(node)), counts)
    offset = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
    other = above[starts[node][entry] + offset]
    sought = item[entry] * taxonomy.n_nodes + other
    place = np.minimum(np.searchsorted(wrong, sought), len(wrong) - 1)
    excuses = (wrong[place] == sought) & (other != node[entry])
    kept = np.bincount(entry[excuses], minlength=len(node)) == 0
    rows, columns = item[kept], node[kept]
    return csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=different.shape)

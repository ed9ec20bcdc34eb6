"""Class attributes Λ(y): from the taxonomy, flat, or user-defined [CH04, Sec. 2.2, 2.4]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from taxonomist.errors import LabelError, ParameterError

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Floats, MatrixLike
    from taxonomist.taxonomy import Categories, Taxonomy


AttributesLike: TypeAlias = "str | MatrixLike"
"""``"taxonomy"``, ``"flat"``, or a matrix of categories and attributes."""

NodeWeightLike: TypeAlias = "str | float | Mapping[str, float]"
"""``"depth"``, ``"unit"``, ``"normalized"``, a number, or numbers by node."""


NODE_WEIGHTS = ("depth", "unit", "normalized")


def class_attributes(
    categories: Categories,
    attributes: AttributesLike,
    node_weight: NodeWeightLike,
    *,
    with_root: bool = False,
) -> CSR:
    """Return the attributes of every category.

    Parameters
    ----------
    categories
        The categories of a model.
    attributes
        ``"taxonomy"``: one attribute per node, λ_z(y) = v_z for the nodes z at or above y
        [CH04, Eq. 20]. ``"flat"``: one attribute per category. Or a matrix of shape (n_categories,
        n_attributes).
    node_weight
        v_z; see ``node_weights``. Only used with ``"taxonomy"``.
    with_root
        Whether the root has an attribute too, the first one. All categories share it, so it cancels
        in differences Λ(y) - Λ(c) [CH04, Eq. 19] and does not matter to ``HierarchicalSVC``. It
        does matter where categories are scored one by one [CH04, Eq. 22]. Only used with
        ``"taxonomy"``.

    Returns
    -------
    csr_array, shape (n_categories, n_attributes)
    """
    from scipy.sparse import csr_array, diags_array

    if isinstance(attributes, str):
        if attributes == "flat":
            return csr_array(diags_array(np.ones(len(categories))))
        if attributes != "taxonomy":
            raise ParameterError(
                f"attributes must be 'taxonomy', 'flat' or a matrix. Got {attributes!r}."
            )
        weights = node_weights(categories, node_weight, with_root=with_root)
        above = categories.expanded.ancestor_matrix()[categories.codes]
        return _canonical((above @ diags_array(weights))[:, 0 if with_root else 1 :])
    given = csr_array(attributes, dtype=np.float64)
    if given.shape[0] != len(categories):
        raise LabelError(
            f"attributes has {given.shape[0]} rows, but there are {len(categories)} categories; "
            "give one row for each, in the order of classes_."
        )
    if not np.isfinite(given.data).all():
        raise LabelError("attributes contains NaN or infinite values.")
    return _canonical(given)


def node_weights(
    categories: Categories, node_weight: NodeWeightLike, *, with_root: bool = False
) -> Floats:
    """Return v_z for every node of the expanded taxonomy.

    Parameters
    ----------
    categories
        The categories of a model.
    node_weight
        ``"depth"``: 1/√depth for all nodes, where depth is the largest number of nodes at or above
        any category [CH04, Eq. 35]. ``"unit"``: 1. ``"normalized"``: weights with Σ_z v_z² = 1 for
        every category of any depth. A number, or a mapping from node ids to numbers, with 1 for
        missing ids.
    with_root
        Whether the root counts as a node above the categories.
    """
    taxonomy = categories.expanded
    if isinstance(node_weight, Mapping):
        weights = np.ones(taxonomy.n_nodes)
        weights[taxonomy.codes(node_weight)] = list(node_weight.values())
    elif node_weight == "normalized":
        weights = np.sqrt(_normalized_shares(taxonomy, with_root))
    elif node_weight == "depth":
        n_above = np.diff(taxonomy.ancestor_matrix().indptr)[categories.codes]
        depth = max(1, n_above.max() - (not with_root))
        weights = np.full(taxonomy.n_nodes, 1 / np.sqrt(depth))
    elif node_weight == "unit":
        weights = np.ones(taxonomy.n_nodes)
    elif isinstance(node_weight, str):
        known = ", ".join(NODE_WEIGHTS)
        message = f"node_weight must be one of {known}, a number or a mapping."
        raise ParameterError(f"{message} Got {node_weight!r}.")
    else:
        weights = np.full(taxonomy.n_nodes, float(node_weight))
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ParameterError("node_weight must be finite and nonnegative for all nodes.")
    return weights


def _normalized_shares(taxonomy: Taxonomy, with_root: bool) -> Floats:
    """Return v_z² that sum to 1 over the nodes at or above each leaf, with or without the root.

    From the top down, each node takes an equal share of the remainder, as if the longest path below
    it were divided evenly, and a leaf takes the rest. If nodes with several parents leave nothing
    for some leaf, the shares of inner nodes are scaled down.
    """
    n = taxonomy.n_nodes
    below = np.zeros(n, dtype=np.intp)
    for parent, child in taxonomy.edges[::-1].tolist():
        below[parent] = max(below[parent], below[child] + 1)
    above = taxonomy.ancestor_matrix()
    shares = np.zeros(n)
    for z in range(0 if with_root else 1, n):
        if not taxonomy.is_leaf[z]:
            taken = shares[above.indices[above.indptr[z] : above.indptr[z + 1]]].sum()
            shares[z] = max(0.0, 1.0 - taken) / (below[z] + 1)
    inner = above @ shares
    most = 1.0 - 1.0 / (taxonomy.height + 1 + with_root)
    shares *= min(1.0, most / max(inner[taxonomy.is_leaf].max(), most))
    shares[taxonomy.is_leaf] = (1.0 - above @ shares)[taxonomy.is_leaf]
    if not with_root:
        shares[0] = 0.0
    return shares


def _canonical(matrix: Any) -> CSR:
    """Return a CSR array of floats with sorted indices and without stored zeros."""
    from scipy.sparse import csr_array

    result = csr_array(matrix, dtype=np.float64)
    result.sum_duplicates()
    result.eliminate_zeros()
    return result

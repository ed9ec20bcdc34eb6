"""The marginal polytope of a Markov tree, and linear programs over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from taxonomist._typing import Floats
    from taxonomist.compiled.markov_arrays import Tree

ABOVE, BELOW = np.array([[[1, 1, 0, 0], [0, 0, 1, 1]], [[1, 0, 1, 0], [0, 1, 0, 1]]])
"""Which labellings of an edge give its upper node, and its lower one, the label 0, and 1."""


class MarginalPolytope:
    """The marginals v of weights of labellings that sum to at most 1 [RSSS06, Eq. 6, 7].

    The four marginals of each edge sum to at most 1, and edges agree on the labels of the nodes
    that they share: an edge with the one above it, and those below the root with the first of them.

    Parameters
    ----------
    tree
        A tree with edge features; labellings that it forbids have no weight.

    Attributes
    ----------
    sums, ties
        sums v <= 1 and ties v = 0, CSR with a column for each code.
    most
        Bounds of v from above, (n_codes,).
    """

    def __init__(self, tree: Tree) -> None:
        from scipy.sparse import csr_array, identity, kron, vstack

        above = tree.parent[1:]
        edges = identity(len(above), format="csr")
        upper = csr_array(kron(edges, ABOVE))
        of_nodes = csr_array(vstack([upper[:2], kron(edges, BELOW)]))
        self.sums = csr_array(kron(edges, np.ones((1, 4))))
        self.ties = upper - of_nodes[(2 * above[:, None] + [0, 1]).ravel()]
        self.most = np.isfinite(tree.loss[0, 1:]).astype(np.float64).ravel()

    def best(self, gradient: Floats) -> Floats:
        """Return a vertex with the largest <gradient, v> [RSSS06, Eq. 11].

        Parameters
        ----------
        gradient
            (n_codes,); -inf for forbidden labellings.
        """
        from scipy.optimize import linprog

        costs = np.where(self.most > 0, -gradient, 0.0)
        scale = np.abs(costs).max(initial=0.0)
        found = linprog(
            costs / scale if scale > 0 else costs,
            A_ub=self.sums,
            b_ub=np.ones(self.sums.shape[0]),
            A_eq=self.ties,
            b_eq=np.zeros(self.ties.shape[0]),
            bounds=np.column_stack([np.zeros_like(self.most), self.most]),
        )
        assert found.success, found.message
        best: Floats = np.maximum(found.x, 0.0)
        return best

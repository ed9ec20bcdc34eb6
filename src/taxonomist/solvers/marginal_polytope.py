"""The marginal polytopes of a Markov tree, and linear programs over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from taxonomist._typing import Floats, Integers, Reals
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


class PathPolytope:
    """The path marginals of weights of consistent labellings [RSSS06, Sec. 4].

    With m the sum of the weights and v_j the weight of the labellings in which node j is positive:
    0 <= v_j <= v_pa(j) and v_root <= m <= 1. The loss of a consistent labelling depends on its
    paths only, so it is linear in m and v.

    Parameters
    ----------
    tree
        A tree with path features and consistent labellings.
    """

    def __init__(self, tree: Tree) -> None:
        from scipy.sparse import csr_array

        n = len(tree.parent)
        self._tree = tree
        above = np.concatenate([[0], 1 + tree.parent[1:]])  # of m and of nodes 1 to n - 1
        rows, one = np.arange(n), np.ones(n)
        ties = np.concatenate([one, -one]), (np.tile(rows, 2), np.concatenate([rows + 1, above]))
        self.ties = csr_array(ties, shape=(n, n + 1))

    def losses(self, truth: Integers) -> Floats:
        """Return what m and each v_j add to the loss of weighted labellings, (1 + n_nodes,)."""
        tree, n = self._tree, len(self._tree.parent)
        nodes = np.arange(n)
        table = tree.loss[2 * truth[tree.parent] + truth, nodes]  # (n_nodes, n_states, 2)
        found = np.zeros(n + 1)
        found[0] = table[:, 0, 0].sum()
        found[1] = table[0, 0, 1] - table[0, 0, 0]
        found[2:] = table[1:, 1, 1] - table[1:, 1, 0]
        np.add.at(found, 1 + tree.parent[1:], table[1:, 1, 0] - table[1:, 0, 0])
        return found

    def best(self, truth: Integers, score: Reals, true: Floats) -> tuple[float, float, Floats]:
        """Return the point with the largest G: m, its loss, and the marginals of codes.

        Parameters
        ----------
        truth
            The true microlabels, (n_nodes,).
        score
            Scores of codes, (n_codes,).
        true
            1 for the codes of the truth, (n_codes,).
        """
        from scipy.optimize import linprog

        losses, first = self.losses(truth), self._tree.first
        gains = losses.copy()
        gains[0] -= true @ score
        gains[1 + first :] += score
        scale = np.abs(gains).max(initial=0.0)
        found = linprog(
            -gains / scale if scale > 0 else gains,
            A_ub=self.ties,
            b_ub=np.zeros(self.ties.shape[0]),
            bounds=(0.0, 1.0),
        )
        assert found.success, found.message
        v = np.maximum(found.x, 0.0)
        return float(v[0]), float(losses @ v), v[1 + first :]

"""The problem of the maximum-margin Markov tree that its solvers share.

Problem       min_{w, ξ}  ½ ||w||² + Σ_i C_i ξ_i
              s.t.  <w, φ(x_i, y_i) - φ(x_i, y)> >= ℓ(y_i, y) - ξ_i  for all labellings y != y_i,
              ξ_i >= 0                                                     [RSSS06, Eq. 1]
              An infinite C_i asks for ξ_i = 0, a hard margin              [RSSS06, Sec. 2.4]
              ``"example_signed"``: ξ_i of any sign; ``"edge"``: a slack ξ_ie >= 0 and such
              constraints for each edge e, so that the problem falls apart [RSSS06, Sec. 4]
Dual          max_α  Σ α_iy ℓ(y_i, y) - ½ ||w(α)||²,  w(α) = Σ α_iy (φ(x_i, y_i) - φ(x_i, y)),
              α_iy >= 0,  Σ_y α_iy <= C_i  (= C_i with signed slacks)      [RSSS06, Eq. 2]

A labelling gives every node j of the tree a microlabel y_j, 0 or 1 (the papers' -1 and +1).
Features φ(x, y) are copies of x in blocks of columns of W:

``"edge"``    block (e, u) is on where edge e = (pa(j), j) is labelled u = (y_pa(j), y_j)
``"path"``    block j is on where all microlabels from the root down to j are 1

Losses and scores are sums over nodes given the state of their parents, so that the worst labelling
is found by dynamic programming. The charge of the root, which has no edge, is shared out evenly
over the edges below it, and that of other nodes by ``LabellingLoss.edge_costs``; with path features
each stays with its node, also that of the root, which has weights then.

Notation
    i   item        n_items     x_i   ``items``          C_i   ``costs``
    j   node        n_nodes     y_i   ``labels``         ℓ     ``loss``
    z   code, a column of W     n_codes
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled.arrays import Labels, no_rows
from taxonomist.compiled.markov_arrays import (
    EVERYWHERE,
    LABELLINGS_AT_FIRST,
    NOWHERE,
    MarkovArrays,
    Tree,
    markov_scratch,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import DTypeLike

    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.compiled.markov_arrays import MarkovScratch
    from taxonomist.losses import LabellingLoss
    from taxonomist.solvers.problem import Items
    from taxonomist.taxonomy import Taxonomy

EDGE_UP, EDGE_CODE = np.array([1, 1]), np.array([[0, 1], [2, 3]])
PATH_UP, PATH_CODE = np.array([2, 1, 2]), np.array([[-1, -1], [-1, 0], [-1, -1]])
"""States of nodes: 0 is negative; on paths 1 is positive like all above, 2 positive below a
negative one. See ``Tree``."""


@dataclass(frozen=True)
class MarkovProblem:
    """A problem over items and the nodes of a tree.

    Attributes
    ----------
    items
        The rows of the items.
    labels
        Positive nodes of each item, closed under ancestors: (n_items, n_nodes) boolean CSR.
    costs
        C_i of each item; infinite for a hard margin.
    tree
        Parents, states, and losses; from ``labelled_tree``.
    slack
        ``"example"``, ``"example_signed"`` or ``"edge"``.
    owner
        The node that each local feature is tied to, or ``EVERYWHERE``; (0,) if all are global. The
        norms of ``items`` then leave local features out.
    """

    items: Items
    labels: CSR
    costs: Floats
    tree: Tree
    slack: str = "example"
    owner: Codes = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.labels.shape[0])

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.tree.parent)

    @property
    def n_codes(self) -> int:
        """Number of columns of the weights."""
        return int(self.tree.stride * (self.n_nodes - self.tree.first))

    def arrays(self) -> MarkovArrays:
        """Return the arrays for the compiled loops, as yet without rows."""
        labels = self.labels
        return MarkovArrays(
            rows=no_rows(),
            row_of=np.zeros(self.n_items, dtype=np.intp),
            labels=Labels(labels.indptr.astype(np.intp), labels.indices.astype(np.intp)),
            costs=self.costs,
            norms=self.items.norms,
            owner=self.owner,
            tree=self.tree,
            is_signed=self.slack == "example_signed",
            dual_form=self.items.dual_form,
        )

    def scratch(self, dtype: DTypeLike, room: int = LABELLINGS_AT_FIRST) -> MarkovScratch:
        """Return work arrays for one item with up to ``room`` labellings."""
        return markov_scratch(self.tree, self.n_codes, dtype, room)

    def parts(self) -> Iterator[tuple[slice, MarkovProblem]]:
        """Yield the independent problems that a problem with a slack for each edge consists of.

        Each comes with its columns of the weights. A root with weights of its own has one too.
        """
        tree = self.tree
        if tree.first == 0:
            yield slice(0, 1), self._part([0], tree._replace(parent=np.zeros(1, np.intp)))
        for j in range(1, self.n_nodes):
            p = int(tree.parent[j])
            begin = tree.stride * (j - tree.first)
            pair = tree._replace(
                parent=np.zeros(2, np.intp),
                first=1,
                n_root_states=len(tree.up) if p > 0 and _is_free(tree) else 2,
            )
            yield slice(begin, begin + tree.stride), self._part([p, j], pair)

    def _part(self, nodes: list[int], tree: Tree) -> MarkovProblem:
        """Return the problem of an edge, or of the root, with its own slack."""
        loss = tree.loss[:, nodes].copy()
        if len(nodes) == 2:
            loss[:, 0] = 0.0
        owner = self.owner
        if len(owner):
            local = np.where(owner == nodes[-1], len(nodes) - 1, NOWHERE)
            owner = np.where(owner == EVERYWHERE, EVERYWHERE, local)
        part = replace(self, labels=self.labels[:, nodes].tocsr(), slack="example", owner=owner)
        return replace(part, tree=tree._replace(loss=loss))


def labelled_tree(
    loss: LabellingLoss, features: str, train_on: str, edge_loss: str = "upper"
) -> Tree:
    """Return the states, weights and losses of the nodes of a tree.

    Parameters
    ----------
    loss
        ℓ; it must split over edges.
    features
        ``"edge"`` or ``"path"``.
    train_on
        ``"all"`` labellings, or the ``"consistent"`` ones.
    edge_loss
        How the loss is split over edges, ``"upper"`` or ``"shared"``; see
        ``LabellingLoss.edge_costs``. The sum is the same, so it matters only with a slack for each
        edge. Path features keep the charge of a node at the node.
    """
    taxonomy = loss.taxonomy
    parent = parents(taxonomy)
    is_edge = features == "edge"
    up, code = (EDGE_UP, EDGE_CODE) if is_edge else (PATH_UP, PATH_CODE)
    charge = np.zeros((4, taxonomy.n_nodes, len(up), 2))
    lower, upper = loss.edge_costs(edge_loss) if is_edge else (loss.costs, 0.0 * loss.costs)
    for true, (above, own) in enumerate(np.ndindex(2, 2)):
        for state, label in np.ndindex(len(up), 2):
            is_parent_right = min(state, 1) == above
            if label != own and (is_parent_right or loss.charge == "node"):
                charge[true, 1:, state, label] += lower[1:]
            if not is_parent_right:
                charge[true, :, state, label] += upper
            if label != own and not is_edge:
                charge[true, 0, state, label] = loss.costs[0]
    if train_on == "consistent":
        charge[:, 1:, [state for state in range(len(up)) if state != 1], 1] = -np.inf
    stride, first = (4, 1) if is_edge else (1, 0)
    return Tree(parent, up, code, stride, first, 2, charge)


def parents(taxonomy: Taxonomy) -> Codes:
    """Return the parent of every node of a tree; the root is its own."""
    above = np.zeros(taxonomy.n_nodes, dtype=np.intp)
    above[1:] = taxonomy.parent_indices[taxonomy.parent_indptr[1:-1]]
    return above


def node_map(tree: Tree) -> CSR:
    """Return the map from scores of codes to gains of nodes, (n_codes, n_nodes) CSR.

    The score of a consistent labelling is that of the empty one plus the sum of the gains of its
    nodes: with edge features a node gains on the edge above it, u = (1, 1) instead of (1, 0), and
    on those below it, (1, 0) instead of (0, 0); with path features gains are scores.
    """
    from scipy.sparse import csr_array, identity

    n_nodes = len(tree.parent)
    if tree.first == 0:
        return csr_array(identity(n_nodes, format="csr"))
    nodes = np.arange(1, n_nodes)
    begin, above = 4 * (nodes - 1), tree.parent[1:]
    rows = np.concatenate([begin + 3, begin + 2, begin + 2, begin])
    columns = np.concatenate([nodes, nodes, above, above])
    values = np.repeat([1.0, -1.0, 1.0, -1.0], n_nodes - 1)
    return csr_array((values, (rows, columns)), shape=(4 * (n_nodes - 1), n_nodes))


def _is_free(tree: Tree) -> bool:
    """Return whether labellings need not be consistent."""
    return bool(np.isfinite(tree.loss).all())

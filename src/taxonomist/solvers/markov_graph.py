"""The problem of the maximum-margin Markov network on a DAG.

It is the problem of ``taxonomist.solvers.markov_problem``, where a node may have several parents
and has an edge to each of them [RSSS06, Sec. 4]. A labelling is consistent if it is closed under
ancestors: all parents of a positive node are positive. A node is charged as ``LabellingLoss`` says:
with the hierarchical losses, if its microlabel is wrong and those of all its parents are right.

The worst labelling of an item is found

- among consistent labellings by a minimum cut, exactly on every DAG;
- among all labellings by a junction tree, exactly, if that has at most ``MAX_STATES`` states;
- otherwise by a relaxation. Its bound takes the place of the worst labelling in the primal
  objective, so the duality gap is a valid bound, but it may stay above 0.

With a slack for each edge, the problem falls apart into problems of single edges, which are trees.
The charge of a node is divided evenly among the edges to its parents; with the hierarchical losses,
each of these charges its part if its own upper node is right.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled.arrays import Labels, no_rows
from taxonomist.compiled.closures import make_dag
from taxonomist.compiled.graph_arrays import (
    CLIQUES,
    CLOSED,
    RELAXED,
    Families,
    LabelledDag,
    MarkovGraph,
    graph_scratch,
    make_graph,
    no_cliques,
    no_families,
)
from taxonomist.compiled.graph_search import best_by_graph_codes
from taxonomist.compiled.markov_arrays import (
    EVERYWHERE,
    LABELLINGS_AT_FIRST,
    NOWHERE,
    MarkovArrays,
    Tree,
    markov_scratch,
)
from taxonomist.compiled.roof import make_pairs
from taxonomist.errors import ParameterError
from taxonomist.inference.dag_labellings import ancestor_sets
from taxonomist.inference.junction_tree import eliminate, junction_tree
from taxonomist.solvers.markov_problem import EDGE_CODE, EDGE_UP, MarkovProblem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import DTypeLike

    from taxonomist._typing import CSR, Bools, Codes, Floats, Integers, Reals
    from taxonomist.compiled.markov_arrays import MarkovScratch
    from taxonomist.compiled.roof import Pairs
    from taxonomist.inference.junction_tree import JunctionTree
    from taxonomist.losses import LabellingLoss
    from taxonomist.solvers.problem import Items

MAX_STATES = 2**15
"""The largest junction tree of all labellings that training uses, in states of all cliques."""


@dataclass(frozen=True)
class GraphProblem:
    """A problem over items and the nodes of a DAG; the attributes are those of ``MarkovProblem``.

    Attributes
    ----------
    tree
        The DAG with its costs; from ``labelled_dag``.
    edge_loss
        ``"upper"`` or ``"shared"``: how the loss is split over edges, see ``edge_costs``.
    """

    items: Items
    labels: CSR
    costs: Floats
    tree: LabelledDag
    slack: str = "example"
    owner: Codes = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    edge_loss: str = "upper"

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.labels.shape[0])

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.tree.n_nodes

    @property
    def n_codes(self) -> int:
        """Number of columns of the weights."""
        return self.tree.n_codes

    @cached_property
    def graph(self) -> MarkovGraph:
        """The DAG for the compiled loops."""
        return markov_graph(self.tree)

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
            tree=_no_tree(),
            is_signed=self.slack == "example_signed",
            dual_form=self.items.dual_form,
            graph=self.graph,
        )

    def scratch(self, dtype: DTypeLike, room: int = LABELLINGS_AT_FIRST) -> MarkovScratch:
        """Return work arrays for one item with up to ``room`` labellings."""
        made = markov_scratch(_no_tree(), self.n_codes, dtype, room)
        return made._replace(
            truth=np.zeros(self.n_nodes, np.int8),
            state=np.zeros(self.n_nodes, np.int8),
            search=graph_scratch(self.graph),
        )

    def parts(self) -> Iterator[tuple[slice, MarkovProblem]]:
        """Yield the problems of single edges, with their columns of the weights."""
        lower, upper = edge_costs(self.tree, self.edge_loss)
        for e, (p, j) in enumerate(zip(self.tree.indices, _heads(self.tree), strict=True)):
            owner = self.owner
            if len(owner):
                owner = np.where(owner == EVERYWHERE, EVERYWHERE, np.where(owner == j, 1, NOWHERE))
            pair = _edge_tree(self.tree, float(lower[e]), float(upper[e]))
            part = MarkovProblem(
                self.items, self.labels[:, [p, j]].tocsr(), self.costs, pair, "example", owner
            )
            yield slice(4 * e, 4 * e + 4), part


def labelled_dag(loss: LabellingLoss, features: str, train_on: str) -> LabelledDag:
    """Return the edges and costs of a DAG; the parameters are those of ``labelled_tree``."""
    taxonomy = loss.taxonomy
    return LabelledDag(
        indptr=np.asarray(taxonomy.parent_indptr, dtype=np.intp),
        indices=np.asarray(taxonomy.parent_indices, dtype=np.intp),
        costs=np.asarray(loss.costs, dtype=np.float64),
        stride=4 if features == "edge" else 1,
        charges_parent=loss.charge == "parent",
        is_closed=train_on == "consistent",
    )


def edge_costs(labelled: LabelledDag, split: str) -> tuple[Floats, Floats]:
    """Return what each edge costs if its lower node is charged, and if its upper one is.

    ``"shared"`` divides the charge of a node evenly among all edges at it, if it does not depend on
    its parents. Otherwise it goes to the edges to its parents, and that of the root to the edges
    below it.
    """
    heads = _heads(labelled)
    n_below = np.bincount(labelled.indices, minlength=labelled.n_nodes)
    n_above = np.diff(labelled.indptr)
    if split == "shared" and not labelled.charges_parent:
        share = labelled.costs / np.maximum(n_above + n_below, 1)
        return share[heads], share[labelled.indices]
    of_root = labelled.costs[0] / max(1, n_below[0])
    return (labelled.costs / np.maximum(n_above, 1))[heads], np.where(
        labelled.indices == 0, of_root, 0.0
    )


def _heads(labelled: LabelledDag) -> Codes:
    """Return the lower node of each edge."""
    return np.repeat(np.arange(labelled.n_nodes), np.diff(labelled.indptr))


def _edge_tree(labelled: LabelledDag, lower: float, upper: float) -> Tree:
    """Return the tree of a single edge with these costs."""
    charge = np.zeros((4, 2, 2, 2))
    for true, (above, own) in enumerate(np.ndindex(2, 2)):
        for state, label in np.ndindex(2, 2):
            if label != own and (state == above or not labelled.charges_parent):
                charge[true, 1, state, label] += lower
            if state != above:
                charge[true, 1, state, label] += upper
    if labelled.is_closed:
        charge[:, 1, 0, 1] = -np.inf
    return Tree(np.zeros(2, np.intp), EDGE_UP, EDGE_CODE, 4, 1, 2, charge)


def _no_tree() -> Tree:
    """Return a tree without nodes, which takes the place of one where there is a graph."""
    return Tree(np.zeros(0, np.intp), EDGE_UP, EDGE_CODE, 4, 1, 2, np.zeros((4, 0, 2, 2)))


def graph_node_map(labelled: LabelledDag) -> CSR:
    """Return the map from scores of codes to gains of nodes; see ``markov_problem.node_map``."""
    from scipy.sparse import csr_array, identity

    n_nodes, above = labelled.n_nodes, labelled.indices
    if labelled.stride == 1:
        return csr_array(identity(n_nodes, format="csr"))
    heads = _heads(labelled)
    begin = 4 * np.arange(len(above))
    rows = np.concatenate([begin + 3, begin + 2, begin + 2, begin])
    columns = np.concatenate([heads, heads, above, above])
    values = np.repeat([1.0, -1.0, 1.0, -1.0], len(above))
    return csr_array((values, (rows, columns)), shape=(labelled.n_codes, n_nodes))


def best_by_graph(labelled: LabelledDag, scores: Reals, out: Bools) -> None:
    """Write the best labelling of each item, (n_items, n_nodes), from the scores of codes.

    The costs must be 0. Without a small junction tree, the labelling may not be the best one, and
    path features have none.
    """
    graph = markov_graph(labelled)
    if graph.way == RELAXED and labelled.stride == 1:
        raise ParameterError(
            "The best of all labellings needs a tree or a DAG with a small junction tree, or "
            "features='edge': use consistent=True."
        )
    search = graph_scratch(graph)
    scratch = markov_scratch(_no_tree(), labelled.n_codes, scores.dtype)._replace(
        truth=np.zeros(labelled.n_nodes, np.int8),
        state=np.zeros(labelled.n_nodes, np.int8),
        search=search,
    )
    best_by_graph_codes(graph, scores, scratch, search, out)


# Searching ---------------------------------------------------------------------------------------


def markov_graph(labelled: LabelledDag) -> MarkovGraph:
    """Return a DAG with all that a search for its worst labellings needs."""
    n_nodes, indptr, indices = labelled.n_nodes, labelled.indptr, labelled.indices
    joint = np.full(n_nodes, -1, dtype=np.intp)
    cliques, families, way = no_cliques(), no_families(), CLOSED
    nothing = np.empty(0, dtype=np.intp)
    if not labelled.is_closed:
        tree = labelling_tree(labelled)
        way = RELAXED if tree is None else CLIQUES
        if tree is not None:
            cliques, families = tree.cliques, _families(labelled, tree)
    if labelled.charges_parent:
        several = np.flatnonzero(np.diff(indptr) > 1)
        joint[several] = n_nodes + np.arange(len(several))
        runs = [indices[indptr[j] : indptr[j + 1]] for j in several]
        ends = indptr[-1] + np.cumsum([len(run) for run in runs], dtype=np.intp)
        indptr, indices = np.concatenate([indptr, ends]), np.concatenate([indices, *runs])
    pairs = _pairs(labelled, joint) if way == RELAXED else make_pairs(nothing, nothing, 0)
    dag = make_dag(indptr.astype(np.intp), indices.astype(np.intp))
    return make_graph(labelled, way, dag, joint, cliques, families, pairs)


def _pairs(labelled: LabelledDag, joint: Codes) -> Pairs:
    """Return the pairs of nodes that a relaxation needs; see ``MarkovGraph``."""
    first, second = [labelled.indices], [_heads(labelled)]
    for j in np.flatnonzero(joint >= 0):
        family = np.append(j, labelled.indices[labelled.indptr[j] : labelled.indptr[j + 1]])
        first.append(np.full(len(family), joint[j]))
        second.append(family)
    n_nodes = max(labelled.n_nodes, int(joint.max()) + 1)
    return make_pairs(np.concatenate(first), np.concatenate(second), n_nodes)


def labelling_tree(labelled: LabelledDag) -> JunctionTree | None:
    """Return the junction tree of all labellings of a DAG, or None if it is too large."""
    return _labelling_tree(
        labelled.indptr.tobytes(), labelled.indices.tobytes(), labelled.stride, MAX_STATES
    )


@lru_cache(maxsize=8)
def _labelling_tree(
    indptr: bytes, indices: bytes, stride: int, max_states: int
) -> JunctionTree | None:
    begins, parents = np.frombuffer(indptr, np.intp), np.frombuffer(indices, np.intp)
    order = eliminate(begins, parents)
    if order is None:
        return None
    if stride == 4:

        def both(states: Integers, _nodes: list[int], _node: int) -> list[Bools]:
            return [np.ones(len(states), dtype=bool)] * 2

        return junction_tree(order, both, 2, max_states)
    above = ancestor_sets(begins, parents)

    def three(states: Integers, nodes: list[int], node: int) -> list[Bools]:
        """Return where a node is negative, positive like all above it, or below a negative one."""
        higher = [k for k, other in enumerate(nodes) if other in above[node]]
        family = begins[node + 1] - begins[node]
        near = [k for k in higher if nodes[k] in parents[begins[node] : begins[node + 1]]]
        is_whole: Bools = np.all(states[:, higher] == 1, axis=1)
        is_known = len(near) == family
        is_broken: Bools = np.any(states[:, near] != 1, axis=1) | (not is_known)
        return [np.ones(len(states), dtype=bool), is_whole, is_broken]

    return junction_tree(order, three, 3, max_states)


def _families(labelled: LabelledDag, tree: JunctionTree) -> Families:
    """Return the tables of nodes, each at the clique that first eliminates one of the family."""
    n_domain = 2 if labelled.stride == 4 else 3
    rank = np.empty(labelled.n_nodes, dtype=np.intp)
    rank[tree.cliques.node] = np.arange(labelled.n_nodes)
    of_clique: list[list[list[int]]] = [[] for _ in tree.members]
    sizes = []
    for j in range(labelled.n_nodes):
        family = [j, *labelled.indices[labelled.indptr[j] : labelled.indptr[j + 1]].tolist()]
        of_clique[min(rank[node] for node in family)].append(family)
        sizes.append(n_domain ** len(family))
    nodes, entries, at = [], [], [0]
    for families, members, states in zip(of_clique, tree.members, tree.states, strict=True):
        for family in families:
            columns = states[:, [members.index(node) for node in family]].astype(np.intp)
            nodes.append(family[0])
            entries.append(columns @ (n_domain ** np.arange(len(family))))
            at.append(at[-1] + len(states))
    return Families(
        start=np.cumsum([0, *map(len, of_clique)]).astype(np.intp),
        node=np.array(nodes, dtype=np.intp),
        at=np.array(at, dtype=np.intp),
        entry=np.concatenate(entries).astype(np.intp),
        table=np.cumsum([0, *sizes]).astype(np.intp),
        n_domain=n_domain,
    )

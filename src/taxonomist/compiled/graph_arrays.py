"""The arrays of a Markov network on a DAG; see ``taxonomist.compiled.graph_search``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Bools, Codes, Floats, Integers
from taxonomist.compiled.cliques import CliqueScratch, CliqueTree, clique_scratch
from taxonomist.compiled.closures import ClosureScratch, Dag, closure_scratch
from taxonomist.compiled.roof import Pairs, RoofScratch, roof_scratch

CLOSED, CLIQUES, RELAXED = 0, 1, 2
"""How the worst labelling is found: among closed ones by a cut; among all of them by a junction
tree, or by a relaxation."""


class LabelledDag(NamedTuple):
    """A DAG whose nodes have microlabels, with the costs of wrong ones.

    Edges go from each node to all its parents, in the order of ``indices``. Edge e has the columns
    4 e + 2 y_parent + y_child of W; with a ``stride`` of 1, node j has column j instead, which is
    on if the node and all its ancestors are positive.
    """

    indptr: Codes  # (n_nodes + 1,)  the edges above node j start at indptr[j]
    indices: Codes  # (n_edges,)  parents
    costs: Floats  # (n_nodes,)
    stride: int
    charges_parent: bool  # whether a node is charged only if all its parents are right
    is_closed: bool  # whether labellings must be closed under ancestors

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @property
    def n_codes(self) -> int:
        """Number of columns of the weights."""
        return 4 * len(self.indices) if self.stride == 4 else self.n_nodes


class Families(NamedTuple):
    """The tables of nodes given their parents, and the cliques that they are part of.

    The table of node j starts at ``table[j]``. Its entries are numbered by the states of j and its
    parents, that of j first; ``entry`` has the number for each state of the clique.
    """

    start: Codes  # (n_cliques + 1,)  first family of each clique
    node: Codes  # (n_nodes,)
    at: Codes  # (n_nodes + 1,)
    entry: Codes
    table: Codes  # (n_nodes + 1,)
    n_domain: int  # states of a node


class MarkovGraph(NamedTuple):
    """A DAG with all that a search for labellings needs."""

    dag: Dag  # with the nodes of ``joint`` at the end
    n_nodes: int
    costs: Floats  # (n_nodes,)
    stride: int
    charges_parent: bool
    way: int  # CLOSED, CLIQUES or RELAXED
    joint: Codes  # (n_nodes,)  a node that is positive where all parents of j are; -1 if not needed
    cliques: CliqueTree
    families: Families
    pairs: Pairs  # the edges, then those from each node of ``joint`` to the node and its parents


class GraphScratch(NamedTuple):
    """Work arrays for one item."""

    gain: Floats  # (n_nodes of the dag,)
    costs: Floats  # (n_nodes of the dag,)  what the opposite microlabel costs
    chosen: Bools  # (n_nodes of the dag,)
    closure: ClosureScratch
    worth: Floats  # entries of all families
    best: Floats  # (n_nodes, 2)
    clique: CliqueScratch
    roof: RoofScratch
    kept: Integers  # (n_nodes,)  a labelling to compare with
    excess: Floats  # (1,)  how much a relaxation's bound exceeds the G of the labelling found


def no_cliques() -> CliqueTree:
    """Return a junction tree without cliques."""
    none, one = np.empty(0, np.intp), np.zeros(1, np.intp)
    return CliqueTree(none, none, one, np.empty(0, np.int8), none, one, one, none)


def no_families() -> Families:
    """Return the families of no cliques."""
    none, one = np.empty(0, np.intp), np.zeros(1, np.intp)
    return Families(one, none, one, none, one, 2)


def graph_scratch(graph: MarkovGraph) -> GraphScratch:
    """Return work arrays for one item."""
    n_all = len(graph.dag.indptr) - 1
    return GraphScratch(
        gain=np.zeros(n_all),
        costs=np.zeros(n_all),
        chosen=np.zeros(n_all, np.bool_),
        closure=closure_scratch(graph.dag),
        worth=np.zeros(int(graph.families.table[-1])),
        best=np.zeros((graph.n_nodes, 2)),
        clique=clique_scratch(graph.cliques),
        roof=roof_scratch(graph.pairs),
        kept=np.zeros(graph.n_nodes, np.int8),
        excess=np.zeros(1),
    )

"""The arrays of a Markov network on a DAG; see ``taxonomist.compiled.graph_search``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist._typing import Bools, Codes, Floats, Integers, Objects
from taxonomist.compiled.cliques import CliqueScratch, CliqueTree, clique_scratch
from taxonomist.compiled.closures import ClosureScratch, Dag, closure_scratch
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.roof import Pairs, RoofScratch, roof_scratch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

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
    """A DAG with all that a search for labellings needs.

    Most of its arrays are parts of ``codes``, because numba takes long to compile functions whose
    arguments are many arrays; ``dag_of`` and the functions after it return them.
    """

    codes: Codes
    start: Codes  # where the parts of ``codes`` begin
    own: Integers  # of the cliques
    costs: Floats  # (n_nodes,)
    n_nodes: int
    n_domain: int  # of the families
    stride: int
    charges_parent: bool
    way: int  # CLOSED, CLIQUES or RELAXED


class GraphScratch(NamedTuple):
    """Work arrays for one item; most of them are parts of larger ones, see ``MarkovGraph``."""

    floats: Floats
    codes: Codes
    signs: Integers
    flags: Bools
    start: Codes  # where the parts of ``floats``, then those of the others, begin
    best: Floats  # (n_nodes, 2)
    capacity: Floats  # of the roof
    excess: Floats  # (1,)  how much a relaxation's bound exceeds the G of the labelling found


def no_cliques() -> CliqueTree:
    """Return a junction tree without cliques."""
    none, one = np.empty(0, np.intp), np.zeros(1, np.intp)
    return CliqueTree(none, none, one, np.empty(0, np.int8), none, one, one, none)


def no_families() -> Families:
    """Return the families of no cliques."""
    none, one = np.empty(0, np.intp), np.zeros(1, np.intp)
    return Families(one, none, one, none, one, 2)


def make_graph(
    labelled: LabelledDag,
    way: int,
    dag: Dag,
    joint: Codes,
    cliques: CliqueTree,
    families: Families,
    pairs: Pairs,
) -> MarkovGraph:
    """Return a DAG with all that a search for labellings needs.

    Parameters
    ----------
    labelled
        The DAG with its costs.
    way
        ``CLOSED``, ``CLIQUES`` or ``RELAXED``.
    dag
        The DAG with the nodes of ``joint`` at the end.
    joint
        For each node j, a node that is positive where all parents of j are; -1 if not needed.
    cliques, families
        The junction tree of all labellings.
    pairs
        The edges, then those from each node of ``joint`` to the node and its parents.
    """
    of_cliques = (*cliques[:3], *cliques[4:])
    codes, start = _joined([*dag, joint, *of_cliques, *families[:5], *pairs], np.intp)
    return MarkovGraph(
        codes=codes,
        start=start,
        own=cliques.own,
        costs=labelled.costs,
        n_nodes=labelled.n_nodes,
        n_domain=families.n_domain,
        stride=labelled.stride,
        charges_parent=labelled.charges_parent,
        way=way,
    )


def graph_scratch(graph: MarkovGraph) -> GraphScratch:
    """Return work arrays for one item."""
    parts = np.split(graph.codes, graph.start[1:-1])
    cliques = CliqueTree._make([*parts[6:9], graph.own, *parts[9:13]])
    closure, clique = closure_scratch(Dag._make(parts[:5])), clique_scratch(cliques)
    roof = roof_scratch(Pairs._make(parts[18:]))
    nodes, worth = np.zeros(len(closure.value)), np.zeros(int(parts[17][-1]))
    of_closure = [closure.value, closure.rest, closure.flow]
    of_roof = [roof.unary, roof.joint, roof.excess]
    floats, start = _joined(
        [nodes, nodes, *of_closure, worth, clique.value, clique.message, *of_roof], np.float64
    )
    codes, codes_start = _joined([closure.n_open, *closure[5:], *clique[2:], *roof[4:8]], np.intp)
    signs, signs_start = _joined([closure.status, np.zeros(graph.n_nodes)], np.int8)
    flags, flags_start = _joined([nodes, roof.is_source], np.bool_)
    return GraphScratch(
        floats=floats,
        codes=codes,
        signs=signs,
        flags=flags,
        start=np.concatenate([start, codes_start, signs_start, flags_start]),
        best=np.zeros((graph.n_nodes, 2)),
        capacity=roof.capacity,
        excess=np.zeros(1),
    )


def _joined(parts: Sequence[Floats | Integers | Bools], dtype: DTypeLike) -> tuple[Objects, Codes]:
    """Return arrays one after another, and where each begins; one more is the end."""
    start = np.cumsum([0, *map(len, parts)]).astype(np.intp)
    return np.concatenate(parts).astype(dtype), start


# The parts of a graph --------------------------------------------------------------------------


@compiled(copied=True)
def dag_of(graph: MarkovGraph) -> Dag:
    """Return the DAG, with the nodes of ``joint`` at the end."""
    a, s = graph.codes, graph.start
    return Dag(a[: s[1]], a[s[1] : s[2]], a[s[2] : s[3]], a[s[3] : s[4]], a[s[4] : s[5]])


@compiled(copied=True)
def joint_of(graph: MarkovGraph) -> Codes:
    """Return a node that is positive where all parents of node j are, for each j; -1 if none."""
    joint: Codes = graph.codes[graph.start[5] : graph.start[6]]
    return joint


@compiled(copied=True)
def cliques_of(graph: MarkovGraph) -> CliqueTree:
    """Return the junction tree of all labellings."""
    a, s = graph.codes, graph.start
    return CliqueTree(
        a[s[6] : s[7]],
        a[s[7] : s[8]],
        a[s[8] : s[9]],
        graph.own,
        a[s[9] : s[10]],
        a[s[10] : s[11]],
        a[s[11] : s[12]],
        a[s[12] : s[13]],
    )


@compiled(copied=True)
def families_of(graph: MarkovGraph) -> Families:
    """Return the tables of nodes given their parents."""
    a, s = graph.codes, graph.start
    return Families(
        a[s[13] : s[14]],
        a[s[14] : s[15]],
        a[s[15] : s[16]],
        a[s[16] : s[17]],
        a[s[17] : s[18]],
        graph.n_domain,
    )


@compiled(copied=True)
def pairs_of(graph: MarkovGraph) -> Pairs:
    """Return the edges, then those from each node of ``joint`` to the node and its parents."""
    a, s = graph.codes, graph.start
    return Pairs(a[s[18] : s[19]], a[s[19] : s[20]], a[s[20] : s[21]], a[s[21] : s[22]])


# The parts of the work arrays --------------------------------------------------------------------


@compiled(copied=True)
def gain_of(search: GraphScratch) -> Floats:
    """Return what each node of the DAG adds."""
    gain: Floats = search.floats[: search.start[1]]
    return gain


@compiled(copied=True)
def costs_of(search: GraphScratch) -> Floats:
    """Return what the opposite microlabel of each node costs."""
    costs: Floats = search.floats[search.start[1] : search.start[2]]
    return costs


@compiled(copied=True)
def closure_of(search: GraphScratch) -> ClosureScratch:
    """Return the work arrays of a closure."""
    x, a, s = search.floats, search.codes, search.start
    return ClosureScratch(
        x[s[2] : s[3]],
        x[s[3] : s[4]],
        search.signs[: s[24]],
        a[: s[13]],
        x[s[4] : s[5]],
        a[s[13] : s[14]],
        a[s[14] : s[15]],
        a[s[15] : s[16]],
    )


@compiled(copied=True)
def worth_of(search: GraphScratch) -> Floats:
    """Return the loss plus score of each entry of all families."""
    worth: Floats = search.floats[search.start[5] : search.start[6]]
    return worth


@compiled(copied=True)
def clique_of(search: GraphScratch) -> CliqueScratch:
    """Return the work arrays of the junction tree."""
    x, a, s = search.floats, search.codes, search.start
    return CliqueScratch(x[s[6] : s[7]], x[s[7] : s[8]], a[s[16] : s[17]], a[s[17] : s[18]])


@compiled(copied=True)
def roof_of(search: GraphScratch) -> RoofScratch:
    """Return the work arrays of the relaxation."""
    x, a, s = search.floats, search.codes, search.start
    return RoofScratch(
        x[s[8] : s[9]],
        x[s[9] : s[10]],
        search.capacity,
        x[s[10] : s[11]],
        a[s[18] : s[19]],
        a[s[19] : s[20]],
        a[s[20] : s[21]],
        a[s[21] : s[22]],
        search.flags[s[27] :],
    )


@compiled(copied=True)
def kept_of(search: GraphScratch) -> Integers:
    """Return a labelling to compare with."""
    kept: Integers = search.signs[search.start[24] :]
    return kept


@compiled(copied=True)
def chosen_of(search: GraphScratch) -> Bools:
    """Return the nodes of the DAG that were chosen."""
    chosen: Bools = search.flags[: search.start[27]]
    return chosen

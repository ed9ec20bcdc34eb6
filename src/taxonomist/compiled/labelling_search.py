"""Loops of the maximum-margin Markov tree that find an item's worst labelling.

The notation is that of ``taxonomist.compiled.markov``.
"""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Integers, Reals
from taxonomist.compiled.arrays import Labels
from taxonomist.compiled.graph_arrays import GraphScratch, MarkovGraph
from taxonomist.compiled.graph_search import worst_on_graph
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.markov_arrays import MarkovArrays, MarkovScratch, Tree


@compiled(inline=True)
def mark_truth(labels: Labels, i: int, truth: Integers, value: int) -> None:
    """Set the true microlabels of item i's positive nodes to a value."""
    for k in range(labels.indptr[i], labels.indptr[i + 1]):
        truth[labels.indices[k]] = value


@compiled(inline=True)
def code_at(tree: Tree, j: int, a: int, label: int) -> int:
    """Return the column of W that node j uses below a parent in state a; -1 if none."""
    if j == 0:
        return 0 if tree.first == 0 and label == 1 else -1
    offset = tree.code[a, label]
    return tree.stride * (j - tree.first) + offset if offset >= 0 else -1


@compiled(inline=True)
def write_worth(tree: Tree, scratch: MarkovScratch) -> None:
    """Write the loss plus the score of every node, for each microlabel and state of its parent."""
    n_nodes, n_states = scratch.value.shape
    for j in range(n_nodes):
        true = 2 * scratch.truth[tree.parent[j]] + scratch.truth[j]
        for a in range(n_states):
            for label in range(2):
                z = code_at(tree, j, a, label)
                loss = tree.loss[true, j, a, label]
                scratch.worth[j, a, label] = loss + scratch.score[z] if z >= 0 else loss


@compiled(inline=True)
def find_worst(tree: Tree, scratch: MarkovScratch) -> float:
    """Find the labelling with the largest loss plus score; return that sum [RSSS06, Sec. 3.4]."""
    n_nodes, n_states = scratch.value.shape
    worth, value, state = scratch.worth, scratch.value, scratch.state
    write_worth(tree, scratch)
    value[:, :] = 0.0
    for j in range(n_nodes - 1, 0, -1):
        p = tree.parent[j]
        for a in range(n_states):
            off = worth[j, a, 0] + value[j, 0]
            on = worth[j, a, 1] + value[j, tree.up[a]]
            value[p, a] += max(off, on)
    top = -np.inf
    for b in range(tree.n_root_states):
        total = worth[0, 0, min(b, 1)] + value[0, b]
        if total > top:
            top = total
            state[0] = b
    for j in range(1, n_nodes):
        a = state[tree.parent[j]]
        b = tree.up[a]
        state[j] = b if worth[j, a, 1] + value[j, b] > worth[j, a, 0] + value[j, 0] else 0
    return top


@compiled(inline=True)
def below_other(tree: Tree, scratch: MarkovScratch, j: int, a: int, label: int) -> float:
    """Return the largest sum at and below node j with this microlabel and a wrong one there."""
    b = tree.up[a] if label == 1 else 0
    total: float = scratch.worth[j, a, label] + scratch.value[j, b]
    return total if label != scratch.truth[j] else total + scratch.extra[j, b]


@compiled(inline=True)
def find_other(tree: Tree, scratch: MarkovScratch) -> float:
    """Find the labelling other than the truth with the largest loss plus score; return that sum.

    ``find_worst`` must come first. It gives the best sums below each node; ``extra`` is how much
    less the best sum with a wrong microlabel below the node is, a minimum over the children.
    """
    n_nodes, n_states = scratch.value.shape
    scratch.extra[:, :] = -np.inf
    for j in range(n_nodes - 1, 0, -1):
        p = tree.parent[j]
        for a in range(n_states):
            off = scratch.worth[j, a, 0] + scratch.value[j, 0]
            on = scratch.worth[j, a, 1] + scratch.value[j, tree.up[a]]
            other = max(below_other(tree, scratch, j, a, 0), below_other(tree, scratch, j, a, 1))
            if other - max(off, on) > scratch.extra[p, a]:
                scratch.extra[p, a] = other - max(off, on)
                scratch.where[p, a] = j
    top = -np.inf
    for b in range(tree.n_root_states):
        total = scratch.worth[0, 0, min(b, 1)] + scratch.value[0, b]
        is_wrong = min(b, 1) != scratch.truth[0]
        total = total if is_wrong else total + scratch.extra[0, b]
        if total > top:
            top = total
            scratch.state[0], scratch.differs[0] = b, not is_wrong
    for j in range(1, n_nodes):
        p = tree.parent[j]
        a = scratch.state[p]
        b, wanted = tree.up[a], scratch.differs[p] and scratch.where[p, a] == j
        off = scratch.worth[j, a, 0] + scratch.value[j, 0]
        on = scratch.worth[j, a, 1] + scratch.value[j, b]
        if wanted:
            off, on = below_other(tree, scratch, j, a, 0), below_other(tree, scratch, j, a, 1)
        scratch.state[j] = b if on > off else 0
        scratch.differs[j] = wanted and min(scratch.state[j], 1) == scratch.truth[j]
    return top


@compiled(inline=True)
def true_score(tree: Tree, scratch: MarkovScratch) -> float:
    """Return <w, φ(x_i, y_i)>."""
    total = 0.0
    for j in range(len(tree.parent)):
        z = code_at(tree, j, scratch.truth[tree.parent[j]], scratch.truth[j])
        if z >= 0:
            total += scratch.score[z]
    return total


@compiled(inline=True)
def loss_found(tree: Tree, scratch: MarkovScratch) -> float:
    """Return the loss of the labelling in ``scratch.state``."""
    total = 0.0
    for j in range(len(tree.parent)):
        p = tree.parent[j]
        true = 2 * scratch.truth[p] + scratch.truth[j]
        total += tree.loss[true, j, scratch.state[p], min(scratch.state[j], 1)]
    return total


@compiled(copied=True)
def worst_gradient(problem: MarkovArrays, scratch: MarkovScratch) -> float:
    """Find the labelling with the largest G of those in the item's constraints; return that G."""
    return worst_in(problem.graph, scratch.search, problem.tree, problem.is_signed, scratch)


@compiled(inner=True)
def worst_in(
    graph: MarkovGraph | None,
    search: GraphScratch | None,
    tree: Tree,
    is_signed: bool,
    scratch: MarkovScratch,
) -> float:
    """Return the largest G in the tree, or in the graph, where there is one."""
    if graph is None or search is None:
        worst = find_worst(tree, scratch)
        if is_signed:
            worst = find_other(tree, scratch)
        return worst - true_score(tree, scratch)
    else:  # noqa: RET505  numba leaves out a branch, not what follows it
        return worst_on_graph(graph, is_signed, scratch, search)


@compiled(inline=True)
def bound_of(search: GraphScratch | None, worst: float) -> float:
    """Return a bound of G from above, which exceeds the G found if a relaxation found it."""
    if search is None:
        return worst
    else:  # noqa: RET505  numba leaves out a branch, not what follows it
        return worst + float(search.excess[0])


@compiled()
def best_by_codes(tree: Tree, scores: Reals, scratch: MarkovScratch, out: Reals) -> None:
    """Write the labelling with the largest loss plus score of each item, if no node is positive.

    With a loss of 0 it is the best labelling. ``scores`` has a row for each item, and a column for
    each code.
    """
    for i in range(len(scores)):
        for z in range(len(scratch.score)):
            scratch.score[z] = scores[i, z]
        find_worst(tree, scratch)
        for j in range(len(scratch.state)):
            out[i, j] = scratch.state[j] > 0

"""Loops of the maximum-margin Markov network on a DAG that find an item's worst labelling.

The notation is that of ``taxonomist.compiled.markov``. Every node has an edge to each parent. The
score of a labelling is a sum over edges, and its loss a sum over nodes given all their parents.

Among labellings that are closed under ancestors, both become sums of gains of nodes. An edge gives
its upper node <w_10 - w_00, x> and its lower one <w_11 - w_10, x>. If a positive node is charged
only where all its parents are right, its charge is c_j (Π y_p - y_j); the product is the microlabel
of one more node below the same parents, ``joint``. So the worst labelling is a maximum closure,
found exactly on every DAG. Among all labellings, a junction tree finds it; a larger graph has a
bound from above and a labelling that may not reach it.
"""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Bools, Floats, Integers, Reals
from taxonomist.compiled.cliques import choose, collect, spread, write_best_by
from taxonomist.compiled.closures import best_closure
from taxonomist.compiled.dag_labellings import write_costs
from taxonomist.compiled.graph_arrays import (
    CLOSED,
    RELAXED,
    GraphScratch,
    MarkovGraph,
    chosen_of,
    clique_of,
    cliques_of,
    closure_of,
    costs_of,
    dag_of,
    families_of,
    gain_of,
    joint_of,
    kept_of,
    pairs_of,
    roof_of,
    worth_of,
)
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.markov_arrays import ActiveLabellings, MarkovScratch
from taxonomist.compiled.roof import roof
from taxonomist.compiled.rows import copy_values

MOST_FLIPS = 10
"""Rounds of flips by which the labelling of a relaxation is improved."""


@compiled(inner=True)
def node_loss(graph: MarkovGraph, truth: Integers, state: Integers, j: int) -> float:
    """Return what a labelling is charged at node j."""
    dag = dag_of(graph)
    if min(state[j], 1) == truth[j]:
        return 0.0
    if graph.charges_parent:
        for e in range(dag.indptr[j], dag.indptr[j + 1]):
            p = dag.upper[e]
            if min(state[p], 1) != truth[p]:
                return 0.0
    cost: float = graph.costs[j]
    return cost


@compiled(copied=True)
def graph_true_score(graph: MarkovGraph, truth: Integers, score: Reals) -> float:
    """Return <w, φ(x_i, y_i)>."""
    dag = dag_of(graph)
    total = 0.0
    if graph.stride == 1:
        for j in range(graph.n_nodes):
            if truth[j] == 1:
                total += score[j]
        return total
    for e in range(dag.indptr[graph.n_nodes]):
        total += score[4 * e + 2 * truth[dag.upper[e]] + truth[dag.lower[e]]]
    return total


# Labellings that are closed under ancestors ------------------------------------------------------


@compiled(copied=True)
def write_closed_gains(graph: MarkovGraph, score: Reals, gain: Floats) -> float:
    """Write what nodes add to the score of a closed labelling; return that of the empty one."""
    dag = dag_of(graph)
    base = 0.0
    gain[:] = 0.0
    if graph.stride == 1:
        for j in range(graph.n_nodes):
            gain[j] = score[j]
        return base
    for e in range(dag.indptr[graph.n_nodes]):
        base += score[4 * e]
        gain[dag.upper[e]] += score[4 * e + 2] - score[4 * e]
        gain[dag.lower[e]] += score[4 * e + 3] - score[4 * e + 2]
    return base


@compiled(copied=True)
def add_closed_losses(graph: MarkovGraph, truth: Integers, gain: Floats) -> float:
    """Add what each node adds to the loss of a closed labelling; return that of the empty one."""
    dag, joint = dag_of(graph), joint_of(graph)
    base = 0.0
    for j in range(graph.n_nodes):
        begin, end = dag.indptr[j], dag.indptr[j + 1]
        cost = graph.costs[j]
        if truth[j] == 0:
            is_charged = True
            if graph.charges_parent:
                for e in range(begin, end):
                    is_charged &= truth[dag.upper[e]] == 1
            gain[j] += cost if is_charged else 0.0
        else:
            gain[j] -= cost
            if not graph.charges_parent or j == 0:
                base += cost
            elif joint[j] >= 0:
                gain[joint[j]] += cost
            else:
                gain[dag.upper[begin]] += cost
    return base


@compiled(copied=True)
def is_truth(truth: Integers, state: Integers) -> bool:
    """Return whether a labelling is the true one."""
    n_wrong = 0
    for j in range(len(truth)):
        n_wrong += min(state[j], 1) != truth[j]
    return n_wrong == 0


@compiled(copied=True)
def change_one(graph: MarkovGraph, search: GraphScratch) -> None:
    """Write the best closed labelling that differs from the best one."""
    dag, gain, closure = dag_of(graph), gain_of(search), closure_of(search)
    costs, chosen = costs_of(search), chosen_of(search)
    write_costs(dag, gain, closure, costs)
    at = 0
    for j in range(graph.n_nodes):
        if abs(costs[j]) < abs(costs[at]):
            at = j
    force = 1.0
    for j in range(len(gain)):
        force += abs(gain[j])
    gain[at] += -force if chosen[at] else force
    best_closure(dag, gain, closure, chosen)


@compiled(inner=True)
def worst_closed(
    graph: MarkovGraph, is_signed: bool, scratch: MarkovScratch, search: GraphScratch
) -> float:
    """Find the closed labelling with the largest loss plus score; return that sum."""
    gain, state, chosen = gain_of(search), scratch.state, chosen_of(search)
    base = write_closed_gains(graph, scratch.score, gain)
    base += add_closed_losses(graph, scratch.truth, gain)
    total = best_closure(dag_of(graph), gain, closure_of(search), chosen)
    for j in range(graph.n_nodes):
        state[j] = chosen[j]
    if is_signed and is_truth(scratch.truth, state):
        change_one(graph, search)
        for j in range(graph.n_nodes):
            state[j] = chosen[j]
        return graph_total(graph, scratch)
    return base + total


# All labellings ----------------------------------------------------------------------------------


@compiled(inner=True)
def graph_total(graph: MarkovGraph, scratch: MarkovScratch) -> float:
    """Return the loss plus the score of the labelling in ``scratch.state``."""
    dag = dag_of(graph)
    total, state = 0.0, scratch.state
    for j in range(graph.n_nodes):
        total += node_loss(graph, scratch.truth, state, j)
        if graph.stride == 1 and state[j] == 1:
            total += scratch.score[j]
    if graph.stride == 4:
        for e in range(dag.indptr[graph.n_nodes]):
            u = 2 * min(state[dag.upper[e]], 1) + min(state[dag.lower[e]], 1)
            total += scratch.score[4 * e + u]
    return total


@compiled(copied=True)
def write_families(graph: MarkovGraph, scratch: MarkovScratch, worth: Floats) -> None:
    """Write the loss plus the score of every node, for each state of it and of its parents."""
    dag, families, truth = dag_of(graph), families_of(graph), scratch.truth
    for j in range(graph.n_nodes):
        begin, end = dag.indptr[j], dag.indptr[j + 1]
        for k in range(families.table[j], families.table[j + 1]):
            entry = k - families.table[j]
            own = entry % families.n_domain
            rest = entry // families.n_domain
            is_right, total = True, 0.0
            for e in range(begin, end):
                label = min(rest % families.n_domain, 1)
                rest //= families.n_domain
                is_right &= label == truth[dag.upper[e]]
                if graph.stride == 4:
                    total += scratch.score[4 * e + 2 * label + own]
            if graph.stride == 1 and own == 1:
                total += scratch.score[j]
            if min(own, 1) != truth[j] and (is_right or not graph.charges_parent):
                total += graph.costs[j]
            worth[k] = total


@compiled(inner=True)
def best_of_cliques(graph: MarkovGraph, search: GraphScratch, state: Integers) -> float:
    """Write the labelling with the largest sum of worths; return that sum."""
    cliques, families = cliques_of(graph), families_of(graph)
    clique, worth = clique_of(search), worth_of(search)
    value = clique.value
    for c in range(len(cliques.node)):
        begin, end = cliques.start[c], cliques.start[c + 1]
        value[begin:end] = 0.0
        for f in range(families.start[c], families.start[c + 1]):
            table, at = families.table[families.node[f]], families.at[f]
            for s in range(begin, end):
                value[s] += worth[table + families.entry[at]]
                at += 1
    collect(cliques, clique)
    return choose(cliques, clique, state)


@compiled(copied=True)
def worst_of_cliques(
    graph: MarkovGraph, is_signed: bool, scratch: MarkovScratch, search: GraphScratch
) -> float:
    """Find the labelling with the largest loss plus score; return that sum.

    If it must not be the true one, the node at which a wrong microlabel costs least is found first.
    """
    cliques, clique, worth = cliques_of(graph), clique_of(search), worth_of(search)
    write_families(graph, scratch, worth)
    total = best_of_cliques(graph, search, scratch.state)
    if not is_signed or not is_truth(scratch.truth, scratch.state):
        return total
    spread(cliques, clique)
    write_best_by(cliques, clique, search.best)
    at = 0
    for j in range(graph.n_nodes):
        if search.best[j, 1 - scratch.truth[j]] > search.best[at, 1 - scratch.truth[at]]:
            at = j
    families = families_of(graph)
    for k in range(families.table[at], families.table[at + 1]):
        if min((k - families.table[at]) % families.n_domain, 1) == scratch.truth[at]:
            worth[k] = -np.inf
    return best_of_cliques(graph, search, scratch.state)


# A bound for all labellings ----------------------------------------------------------------------


@compiled(copied=True)
def write_roof(graph: MarkovGraph, scratch: MarkovScratch, search: GraphScratch) -> float:
    """Write minus loss plus score as a sum over nodes and pairs; return its constant.

    A charge that needs several parents to be right is c_j z_j less c_j for each microlabel that
    is not as it must be, where z_j is the microlabel of node ``joint`` j.
    """
    dag, work, truth = dag_of(graph), roof_of(search), scratch.truth
    joint, a, b = joint_of(graph), work.unary, work.joint
    a[:], b[:] = 0.0, 0.0
    n_edges = dag.indptr[graph.n_nodes]
    base, k = 0.0, n_edges
    for e in range(n_edges):
        p, j = dag.upper[e], dag.lower[e]
        t00, t01 = float(scratch.score[4 * e]), float(scratch.score[4 * e + 1])
        t10, t11 = float(scratch.score[4 * e + 2]), float(scratch.score[4 * e + 3])
        if graph.charges_parent and joint[j] < 0:
            cost, wrong = graph.costs[j], 2 * truth[p] + 1 - truth[j]
            t00 += cost if wrong == 0 else 0.0
            t01 += cost if wrong == 1 else 0.0
            t10 += cost if wrong == 2 else 0.0
            t11 += cost if wrong == 3 else 0.0
        base -= t00
        a[p] -= t10 - t00
        a[j] -= t01 - t00
        b[e] -= t11 - t10 - t01 + t00
    for j in range(graph.n_nodes):
        cost = graph.costs[j]
        if j == 0 or not graph.charges_parent:
            base -= cost if truth[j] == 1 else 0.0
            a[j] -= cost if truth[j] == 0 else -cost
        elif joint[j] >= 0:
            a[joint[j]] -= cost
            for q in range(dag.indptr[j] - 1, dag.indptr[j + 1]):
                is_own = q < dag.indptr[j]
                wanted = 1 - truth[j] if is_own else truth[dag.upper[q]]
                a[joint[j]] += cost if wanted == 1 else 0.0
                b[k] = -cost if wanted == 1 else cost
                k += 1
    return base


@compiled(inner=True)
def worth_at(graph: MarkovGraph, scratch: MarkovScratch, j: int) -> float:
    """Return the part of loss plus score that the microlabel of node j matters for."""
    dag, state = dag_of(graph), scratch.state
    total = node_loss(graph, scratch.truth, state, j)
    for e in range(dag.indptr[j], dag.indptr[j + 1]):
        total += scratch.score[4 * e + 2 * state[dag.upper[e]] + state[j]]
    for q in range(dag.kids[j], dag.kids[j + 1]):
        e = dag.below[q]
        c = dag.lower[e]
        if c < graph.n_nodes:
            total += scratch.score[4 * e + 2 * state[j] + state[c]]
            if graph.charges_parent:
                total += node_loss(graph, scratch.truth, state, c)
    return total


@compiled(copied=True)
def gain_of_flip(graph: MarkovGraph, scratch: MarkovScratch, j: int) -> float:
    """Return by how much loss plus score rises if node j gets the opposite microlabel."""
    state = scratch.state
    before = worth_at(graph, scratch, j)
    state[j] = 1 - state[j]
    after = worth_at(graph, scratch, j)
    state[j] = 1 - state[j]
    return after - before


@compiled(inner=True)
def climb(graph: MarkovGraph, is_signed: bool, scratch: MarkovScratch) -> float:
    """Flip microlabels of the labelling found as long as that helps; return loss plus score.

    If it must not be the true labelling, the last flip is the best one away from that.
    """
    state = scratch.state
    for _ in range(MOST_FLIPS):
        is_better = False
        for j in range(graph.n_nodes):
            if gain_of_flip(graph, scratch, j) > 0.0:
                state[j] = 1 - state[j]
                is_better = True
        if not is_better:
            break
    if is_signed and is_truth(scratch.truth, state):
        at, top = 0, -np.inf
        for j in range(graph.n_nodes):
            gain = gain_of_flip(graph, scratch, j)
            if gain > top:
                at, top = j, gain
        state[at] = 1 - state[at]
    return graph_total(graph, scratch)


@compiled(copied=True)
def worst_by_roof(
    graph: MarkovGraph, is_signed: bool, scratch: MarkovScratch, search: GraphScratch
) -> float:
    """Find a labelling with a large loss plus score; return that sum, and write the bound's excess.

    Flips begin with what the bound decides, the rest true, and with the worst closed labelling; the
    better result counts.
    """
    state, kept = scratch.state, kept_of(search)
    worst_closed(graph, is_signed, scratch, search)
    first = climb(graph, is_signed, scratch)
    copy_values(state, kept)
    copy_values(scratch.truth, state)
    base = write_roof(graph, scratch, search)
    bound = -(base + roof(pairs_of(graph), roof_of(search), state))
    total = climb(graph, is_signed, scratch)
    if first > total:
        total = first
        copy_values(kept, state)
    search.excess[0] = max(bound - total, 0.0)
    return total


# What training asks for --------------------------------------------------------------------------


@compiled(copied=True)
def worst_on_graph(
    graph: MarkovGraph, is_signed: bool, scratch: MarkovScratch, search: GraphScratch
) -> float:
    """Find the labelling with the largest G of those in the item's constraints; return that G."""
    search.excess[0] = 0.0
    if graph.way == CLOSED:
        worst = worst_closed(graph, is_signed, scratch, search)
    elif graph.way == RELAXED:
        worst = worst_by_roof(graph, is_signed, scratch, search)
    else:
        worst = worst_of_cliques(graph, is_signed, scratch, search)
    return worst - graph_true_score(graph, scratch.truth, scratch.score)


@compiled(inner=True)
def graph_loss(graph: MarkovGraph, truth: Integers, state: Integers) -> float:
    """Return the loss of a labelling."""
    total = 0.0
    for j in range(graph.n_nodes):
        total += node_loss(graph, truth, state, j)
    return total


@compiled(inner=True)
def write_graph_codes(graph: MarkovGraph, state: Integers, amount: float, out: Floats) -> None:
    """Write an amount for each code that a labelling uses."""
    if graph.stride == 1:
        for j in range(graph.n_nodes):
            if state[j] == 1:
                out[j] = amount
        return
    dag = dag_of(graph)
    for e in range(dag.indptr[graph.n_nodes]):
        out[4 * e + 2 * min(state[dag.upper[e]], 1) + min(state[dag.lower[e]], 1)] = amount


@compiled(inner=True)
def add_graph_labelling(
    graph: MarkovGraph, labellings: ActiveLabellings, i: int, scratch: MarkovScratch
) -> None:
    """Store the labelling in ``scratch.state`` as one of item i; ``make_place`` must come first."""
    dag = dag_of(graph)
    begin = end = labellings.code_start[i] + labellings.code_size[i]
    state, truth = scratch.state, scratch.truth
    loss = graph_loss(graph, truth, state)
    if graph.stride == 1:
        for j in range(graph.n_nodes):
            if (state[j] == 1) != (truth[j] == 1):
                labellings.codes[end] = j + 1 if state[j] == 1 else -j - 1
                end += 1
    if graph.stride == 4:
        for e in range(dag.indptr[graph.n_nodes]):
            p, j = dag.upper[e], dag.lower[e]
            found = 4 * e + 2 * min(state[p], 1) + min(state[j], 1)
            true = 4 * e + 2 * truth[p] + truth[j]
            if found != true:
                labellings.codes[end], labellings.codes[end + 1] = found + 1, -true - 1
                end += 2
    c = labellings.start[i] + labellings.size[i]
    labellings.begin[c], labellings.n_codes[c] = begin, end - begin
    labellings.alpha[c], labellings.loss[c] = 0.0, loss
    labellings.size[i] += 1
    labellings.code_size[i] += end - begin


@compiled()
def best_by_graph_codes(
    graph: MarkovGraph, scores: Reals, scratch: MarkovScratch, search: GraphScratch, out: Bools
) -> None:
    """Write the best labelling of each item if costs are 0; see ``best_by_codes``."""
    for i in range(len(scores)):
        for z in range(len(scratch.score)):
            scratch.score[z] = scores[i, z]
        worst_on_graph(graph, False, scratch, search)
        for j in range(graph.n_nodes):
            out[i, j] = scratch.state[j] > 0

"""Loops over the consistent labellings of a DAG, whose scores are sums over their nodes.

``gains`` holds what each node adds to a labelling's score, (n_items, n_nodes). Loops whose names
begin with ``shared`` treat the DAG like a tree: what a node adds to its parent in a tree is shared
evenly by its parents. A function of several parents that is positive only if all of them are is at
most the mean over the parents, so the shared sums are upper bounds.
"""

from __future__ import annotations

import math

import numpy as np

from taxonomist._typing import Bools, Floats, Reals
from taxonomist.compiled.closures import (
    ON,
    ClosureScratch,
    Dag,
    balance,
    best_closure,
    cost_of_change,
)
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.labellings import softplus
from taxonomist.compiled.rows import copy_values


@compiled(inner=True)
def count_labels(dag: Dag, is_category: Bools, chosen: Bools) -> int:
    """Return the number of positive categories without positive children."""
    n_labels = 0
    for j in range(len(chosen)):
        if chosen[j] and is_category[j]:
            is_inner = False
            for k in range(dag.kids[j], dag.kids[j + 1]):
                is_inner |= chosen[dag.lower[dag.below[k]]]
            n_labels += not is_inner
    return n_labels


@compiled(inner=True, allocates=True)
def write_costs(dag: Dag, gain: Reals, scratch: ClosureScratch, out: Floats) -> float:
    """Write the best score of labellings with a node minus the best of those without it.

    Return the best score of all labellings.
    """
    n_nodes = len(gain)
    stamp = balance(dag, gain, scratch) + 1
    value, flow = scratch.value.copy(), scratch.flow.copy()
    best = 0.0
    for j in range(n_nodes):
        cost = cost_of_change(dag, scratch, j, stamp)
        is_on = scratch.status[j] == ON
        out[j] = cost if is_on else -cost
        best += gain[j] if is_on else 0.0
        if cost > 0.0:
            scratch.value[:] = value
            scratch.flow[:] = flow
        scratch.seen[:] = 0
    return best


@compiled(inner=True)
def force_label(dag: Dag, j: int, force: float, is_alone: bool, gain: Floats, out: Floats) -> None:
    """Write gains with which the best labelling has node j, and if wanted none of its children."""
    copy_values(gain, out)
    out[j] += force
    if is_alone:
        for k in range(dag.kids[j], dag.kids[j + 1]):
            out[dag.lower[dag.below[k]]] -= force


@compiled(copied=True, allocates=True)
def add_label(
    dag: Dag,
    is_category: Bools,
    force: float,
    gain: Floats,  # in/out (n_nodes,)  with what is forced
    scratch: ClosureScratch,
    out: Bools,  # in/out (n_nodes,)
) -> bool:
    """Write the best labelling that forces one more category and has more labels than before.

    Categories are tried in the order of the best scores with them, until no other can be better.
    Return False if none of them gives another label.
    """
    n_nodes, n_before = len(gain), count_labels(dag, is_category, out)
    costs, found = np.zeros(n_nodes), np.zeros(n_nodes, np.bool_)
    trial, kept = np.zeros(n_nodes), np.zeros(n_nodes)
    best, is_any = -np.inf, False
    top = write_costs(dag, gain, scratch, costs)
    for j in np.argsort(-costs):
        if not is_category[j]:
            continue
        if is_any and top + min(costs[j], 0.0) <= best:
            break
        for alone in range(2):
            force_label(dag, j, force, alone == 1, gain, trial)
            best_closure(dag, trial, scratch, found)
            if count_labels(dag, is_category, found) > n_before:
                total = 0.0
                for k in range(n_nodes):
                    total += gain[k] if found[k] else 0.0
                if total > best:
                    best, is_any = total, True
                    kept[:] = trial
                    out[:] = found
                break
    if is_any:
        gain[:] = kept
    return is_any


@compiled(copied=True, allocates=True)
def best_with_labels(
    dag: Dag, is_category: Bools, least: int, gain: Reals, scratch: ClosureScratch, out: Bools
) -> None:
    """Write the best labelling with at least so many labels, forced one after another.

    A forced node has a gain larger than all others together.
    """
    forced = np.zeros(len(gain))
    force = 1.0
    for j in range(len(gain)):
        forced[j] = gain[j]
        force += abs(forced[j])
    while count_labels(dag, is_category, out) < least:
        if not add_label(dag, is_category, force, forced, scratch, out):
            return


@compiled(allocates=True)
def best_dag_labellings(
    dag: Dag,
    is_category: Bools,  # in (n_nodes,)
    least: int,
    gains: Reals,  # in (n_items, n_nodes)
    scratch: ClosureScratch,
    out: Bools,  # out (n_items, n_nodes)
) -> None:
    """Write the best consistent labelling of each item with at least so many labels."""
    for i in range(len(gains)):
        best_closure(dag, gains[i], scratch, out[i])
        if least > 0 and count_labels(dag, is_category, out[i]) < least:
            best_with_labels(dag, is_category, least, gains[i], scratch, out[i])


@compiled()
def dag_max_marginals(dag: Dag, gains: Reals, scratch: ClosureScratch, out: Floats) -> None:
    """Write the best score of labellings with a node minus the best of those without it."""
    for i in range(len(gains)):
        write_costs(dag, gains[i], scratch, out[i])


@compiled()
def shared_values(dag: Dag, gains: Reals, out: Floats) -> None:
    """Write the gain of each node plus the positive values of its children, shared by parents."""
    for i in range(len(gains)):
        copy_values(gains[i], out[i])
        for j in range(gains.shape[1] - 1, 0, -1):
            begin, end = dag.indptr[j], dag.indptr[j + 1]
            if out[i, j] > 0.0:
                for e in range(begin, end):
                    out[i, dag.upper[e]] += out[i, j] / (end - begin)


@compiled(inner=True)
def shared_sums(dag: Dag, gain: Reals, scale: float, sums: Floats) -> None:
    """Write the logarithm of the sum over labellings at and below each node, which is positive."""
    for j in range(len(gain)):
        sums[j] = scale * gain[j]
    for j in range(len(gain) - 1, 0, -1):
        begin, end = dag.indptr[j], dag.indptr[j + 1]
        for e in range(begin, end):
            sums[dag.upper[e]] += softplus(sums[j]) / (end - begin)


@compiled(allocates=True)
def shared_log_partitions(
    dag: Dag, needs_root: bool, gains: Reals, scale: float, out: Floats
) -> None:
    """Write an upper bound of log Σ_y exp(scale x score(y)) of each item."""
    sums = np.zeros(gains.shape[1])
    for i in range(len(gains)):
        shared_sums(dag, gains[i], scale, sums)
        out[i] = sums[0] if needs_root else softplus(sums[0])


@compiled(allocates=True)
def shared_marginals(dag: Dag, needs_root: bool, gains: Reals, scale: float, out: Floats) -> None:
    """Write about the probability of each node; given its parents, it follows from its sum."""
    sums = np.zeros(gains.shape[1])
    for i in range(len(gains)):
        shared_sums(dag, gains[i], scale, sums)
        out[i, 0] = 1.0 if needs_root else math.exp(-softplus(-sums[0]))
        for j in range(1, gains.shape[1]):
            least = 1.0
            for e in range(dag.indptr[j], dag.indptr[j + 1]):
                least = min(least, out[i, dag.upper[e]])
            out[i, j] = least * math.exp(-softplus(-sums[j]))


@compiled()
def limit_to_parents(dag: Dag, out: Floats) -> None:
    """Make no node more probable than one of its parents, and none more than 1."""
    for i in range(len(out)):
        out[i, 0] = min(out[i, 0], 1.0)
        for j in range(1, out.shape[1]):
            for e in range(dag.indptr[j], dag.indptr[j + 1]):
                out[i, j] = min(out[i, j], out[i, dag.upper[e]])

"""Loops over the states of a junction tree: best labellings, max-marginals and probabilities.

Nodes of a graph are eliminated one after another. Clique c consists of the c-th node and of its
separator, those of its neighbours that are eliminated later; they all belong to the clique above c,
``up[c]``. A state of a clique gives each of its nodes a state; only states that the
graph allows are stored. ``value`` holds a sum for each state of each clique: first what the clique
itself adds, later the best sums, or logarithms of sums, of all cliques below it as well.

Sums over labellings come in two parts, those over labellings without a category (``none``) and
those with at least one (``some``), so that neither is a difference of large numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from taxonomist._typing import Bools, Codes, Floats, Integers, Reals
from taxonomist.compiled.jit import compiled


class CliqueTree(NamedTuple):
    """The states of all cliques, and how they belong together."""

    node: Codes  # (n_cliques,)  the node that each clique eliminates
    up: Codes  # (n_cliques,)  the clique above, which comes later; -1 for the last
    start: Codes  # (n_cliques + 1,)  first state of each clique
    own: Integers  # (n_states,)  state of the clique's own node
    below: Codes  # (n_states,)  the separator's state
    gap_start: Codes  # (n_cliques + 1,)  first state of each separator
    lift_start: Codes  # (n_cliques + 1,)
    lift: Codes  # the separator's state for each state of the clique above


class CliqueScratch(NamedTuple):
    """Work arrays for one item."""

    value: Floats  # (n_states,)
    message: Floats  # (n_separator_states,)
    source: Codes  # (n_separator_states,)  the clique's best state
    chosen: Codes  # (n_cliques,)  the state of each clique in the labelling found


class SumScratch(NamedTuple):
    """Work arrays for the sums over one item's labellings; rows: none, some."""

    value: Floats  # (2, n_states)
    message: Floats  # (3, n_separator_states)  none, some, both
    before: Floats  # (2, n_lift)  values of the clique above before a message joined them
    share: Floats  # (2, n_states)  probability of each state
    passed: Floats  # (2, n_separator_states)  probability of each separator state


def clique_scratch(cliques: CliqueTree) -> CliqueScratch:
    """Return work arrays for one item."""
    n_gaps = int(cliques.gap_start[-1])
    return CliqueScratch(
        value=np.zeros(len(cliques.own)),
        message=np.zeros(n_gaps),
        source=np.zeros(n_gaps, np.intp),
        chosen=np.zeros(len(cliques.node), np.intp),
    )


def sum_scratch(cliques: CliqueTree) -> SumScratch:
    """Return work arrays for sums over one item's labellings."""
    n_gaps = int(cliques.gap_start[-1])
    return SumScratch(
        value=np.zeros((2, len(cliques.own))),
        message=np.zeros((3, n_gaps)),
        before=np.zeros((2, len(cliques.lift))),
        share=np.zeros((2, len(cliques.own))),
        passed=np.zeros((2, n_gaps)),
    )


# The best labelling ------------------------------------------------------------------------------


@compiled(inner=True)
def write_gains(cliques: CliqueTree, gain: Reals, value: Floats) -> None:
    """Write what each clique adds if its own node has a gain."""
    for c in range(len(cliques.node)):
        own = gain[cliques.node[c]]
        for s in range(cliques.start[c], cliques.start[c + 1]):
            value[s] = own if cliques.own[s] > 0 else 0.0


@compiled(inner=True)
def collect(cliques: CliqueTree, scratch: CliqueScratch) -> None:
    """Add the best sums of cliques to the ones above them."""
    value, message = scratch.value, scratch.message
    message[:] = -np.inf
    for c in range(len(cliques.node) - 1):
        for s in range(cliques.start[c], cliques.start[c + 1]):
            g = cliques.below[s]
            if value[s] > message[g]:
                message[g], scratch.source[g] = value[s], s
        up, at = cliques.up[c], cliques.lift_start[c]
        for s in range(cliques.start[up], cliques.start[up + 1]):
            value[s] += message[cliques.lift[at]]
            at += 1


@compiled(inner=True)
def choose(cliques: CliqueTree, scratch: CliqueScratch, state: Integers) -> float:
    """Write the best state of every node, after ``collect``; return its sum.

    Of states that are equally good, the first is chosen.
    """
    last = len(cliques.node) - 1
    top = -np.inf
    for s in range(cliques.start[last], cliques.start[last + 1]):
        if scratch.value[s] > top:
            top, scratch.chosen[last] = scratch.value[s], s
    state[cliques.node[last]] = cliques.own[scratch.chosen[last]]
    for c in range(last - 1, -1, -1):
        up = cliques.up[c]
        above = scratch.chosen[up] - cliques.start[up]
        s = scratch.source[cliques.lift[cliques.lift_start[c] + above]]
        scratch.chosen[c] = s
        state[cliques.node[c]] = cliques.own[s]
    return top


@compiled(inner=True)
def spread(cliques: CliqueTree, scratch: CliqueScratch) -> None:
    """Make every state's value the best sum of all labellings with it, after ``collect``.

    It is -inf if there is none: a clique can have states that no labelling of all nodes has.
    """
    value, message, top = scratch.value, scratch.message, scratch.source
    for c in range(len(cliques.node) - 2, -1, -1):
        up, at = cliques.up[c], cliques.lift_start[c]
        for g in range(cliques.gap_start[c], cliques.gap_start[c + 1]):
            top[g] = -1  # from here on the best state of the clique above
        for s in range(cliques.start[up], cliques.start[up + 1]):
            g = cliques.lift[at]
            if top[g] < 0 or value[s] > value[top[g]]:
                top[g] = s
            at += 1
        for s in range(cliques.start[c], cliques.start[c + 1]):
            g = cliques.below[s]
            is_possible = top[g] >= 0 and message[g] > -np.inf
            value[s] = value[s] - message[g] + value[top[g]] if is_possible else -np.inf


@compiled(inner=True)
def write_best_by(cliques: CliqueTree, scratch: CliqueScratch, best: Floats) -> None:
    """Write the best sum with each node negative, and positive, after ``spread``: (n_nodes, 2)."""
    best[:, :] = -np.inf
    for c in range(len(cliques.node)):
        j = cliques.node[c]
        for s in range(cliques.start[c], cliques.start[c + 1]):
            label = min(cliques.own[s], 1)
            best[j, label] = max(best[j, label], scratch.value[s])


@compiled(allocates=True)
def clique_max_marginals(
    cliques: CliqueTree, gains: Reals, scratch: CliqueScratch, out: Floats
) -> None:
    """Write the best score of labellings with a node minus the best of those without it."""
    best = np.zeros((len(cliques.node), 2))
    for i in range(len(gains)):
        write_gains(cliques, gains[i], scratch.value)
        collect(cliques, scratch)
        spread(cliques, scratch)
        write_best_by(cliques, scratch, best)
        for j in range(len(best)):
            out[i, j] = best[j, 1] - best[j, 0]


# Sums over labellings ----------------------------------------------------------------------------


NOTHING = 38.0
"""A term whose logarithm is smaller than another one's by this does not change a sum of floats."""


@compiled(inline=True)
def log_sum(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b))."""
    top, rest = max(a, b), min(a, b)
    if not rest > top - NOTHING:
        return top
    return top + math.log1p(math.exp(rest - top))


@compiled(inline=True)
def part_of(a: float, whole: float) -> float:
    """Return exp(a - whole), 0 if there is nothing."""
    return 0.0 if a == -np.inf else math.exp(a - whole)


@compiled(inner=True)
def collect_sums(
    cliques: CliqueTree, is_category: Bools, gain: Reals, scale: float, scratch: SumScratch
) -> None:
    """Write the logarithms of the sums of exp(scale x score) at and below each state."""
    value, message, before = scratch.value, scratch.message, scratch.before
    for c in range(len(cliques.node)):
        j = cliques.node[c]
        for s in range(cliques.start[c], cliques.start[c + 1]):
            is_some = cliques.own[s] > 0 and is_category[j]
            own = scale * gain[j] if cliques.own[s] > 0 else 0.0
            value[0, s] = -np.inf if is_some else own
            value[1, s] = own if is_some else -np.inf
    message[:, :] = -np.inf
    for c in range(len(cliques.node) - 1):
        for s in range(cliques.start[c], cliques.start[c + 1]):
            g = cliques.below[s]
            for k in range(2):
                message[k, g] = log_sum(message[k, g], value[k, s])
        for g in range(cliques.gap_start[c], cliques.gap_start[c + 1]):
            message[2, g] = log_sum(message[0, g], message[1, g])
        up, at = cliques.up[c], cliques.lift_start[c]
        for s in range(cliques.start[up], cliques.start[up + 1]):
            g = cliques.lift[at]
            none, some = value[0, s], value[1, s]
            before[0, at], before[1, at] = none, some
            value[0, s] = none + message[0, g]
            value[1, s] = log_sum(some + message[2, g], none + message[1, g])
            at += 1


@compiled(inner=True)
def total_sum(cliques: CliqueTree, needs_label: bool, scratch: SumScratch) -> float:
    """Return the logarithm of the sum over all labellings, or over those with a category."""
    last, total = len(cliques.node) - 1, -np.inf
    for s in range(cliques.start[last], cliques.start[last + 1]):
        total = log_sum(total, scratch.value[1, s])
        if not needs_label:
            total = log_sum(total, scratch.value[0, s])
    return total


@compiled(copied=True)
def spread_sums(cliques: CliqueTree, needs_label: bool, scratch: SumScratch) -> None:
    """Write the probability of every state of every clique, after ``collect_sums``.

    Each sum is taken apart again: a term has the part of the sum's probability that it contributed.
    """
    value, message, before = scratch.value, scratch.message, scratch.before
    share, passed = scratch.share, scratch.passed
    last, total = len(cliques.node) - 1, total_sum(cliques, needs_label, scratch)
    for s in range(cliques.start[last], cliques.start[last + 1]):
        share[0, s] = 0.0 if needs_label else part_of(value[0, s], total)
        share[1, s] = part_of(value[1, s], total)
    passed[:, :] = 0.0
    for c in range(last - 1, -1, -1):
        up, at = cliques.up[c], cliques.lift_start[c]
        for s in range(cliques.start[up], cliques.start[up + 1]):
            g = cliques.lift[at]
            none, some = before[0, at], before[1, at]
            whole = log_sum(some + message[2, g], none + message[1, g])
            old = share[1, s] * part_of(some + message[2, g], whole)
            new = share[1, s] * part_of(none + message[1, g], whole)
            passed[0, g] += share[0, s] + old * part_of(message[0, g], message[2, g])
            passed[1, g] += new + old * part_of(message[1, g], message[2, g])
            share[0, s] += new
            share[1, s] = old
            at += 1
        for s in range(cliques.start[c], cliques.start[c + 1]):
            g = cliques.below[s]
            for k in range(2):
                share[k, s] = passed[k, g] * part_of(value[k, s], message[k, g])


@compiled()
def clique_marginals(
    cliques: CliqueTree,
    is_category: Bools,
    needs_label: bool,
    gains: Reals,
    scale: float,
    scratch: SumScratch,
    out: Floats,
) -> None:
    """Write the probability of each node, where that of a labelling goes as exp(scale x score).

    With ``needs_label``, given that the labelling has a category.
    """
    for i in range(len(gains)):
        collect_sums(cliques, is_category, gains[i], scale, scratch)
        spread_sums(cliques, needs_label, scratch)
        out[i] = 0.0
        for c in range(len(cliques.node)):
            for s in range(cliques.start[c], cliques.start[c + 1]):
                if cliques.own[s] > 0:
                    out[i, cliques.node[c]] += scratch.share[0, s] + scratch.share[1, s]


@compiled()
def clique_log_partitions(
    cliques: CliqueTree,
    is_category: Bools,
    needs_label: bool,
    gains: Reals,
    scale: float,
    scratch: SumScratch,
    out: Floats,
) -> None:
    """Write log Σ_y exp(scale x score(y)) of each item, over labellings with a category or all."""
    for i in range(len(gains)):
        collect_sums(cliques, is_category, gains[i], scale, scratch)
        out[i] = total_sum(cliques, needs_label, scratch)

"""Loops over the consistent labellings of a tree, whose scores are sums over their nodes.

A labelling is consistent if every positive node has a positive parent: a union of paths from the
root. ``gains`` holds what each node adds to a labelling's score, (n_items, n_nodes); ``parent``
holds the parent of each node, which comes before it, and of the root itself.
"""

from __future__ import annotations

import math

import numpy as np

from taxonomist._typing import Bools, Codes, Floats, Reals
from taxonomist.compiled.jit import compiled


@compiled()
def below(parent: Codes, gains: Reals, i: int, value: Floats) -> None:
    """Write the best sum of gains at and below each node, given that the node is positive."""
    for j in range(len(parent)):
        value[j] = gains[i, j]
    for j in range(len(parent) - 1, 0, -1):
        if value[j] > 0.0:
            value[parent[j]] += value[j]


@compiled()
def values_below(parent: Codes, gains: Reals, out: Floats) -> None:
    """Write what ``below`` does for all items."""
    for i in range(len(gains)):
        below(parent, gains, i, out[i])


@compiled(allocates=True)
def best_labellings(
    parent: Codes,
    is_category: Bools,  # in (n_nodes,)
    least: int,
    gains: Reals,  # in (n_items, n_nodes)
    out: Bools,  # out (n_items, n_nodes)
) -> None:
    """Write the best consistent labelling of each item with at least so many labels.

    Labels are the categories none of whose children is positive.
    """
    n_nodes = len(parent)
    value, inner = np.zeros(n_nodes), np.zeros(n_nodes, np.bool_)
    for i in range(len(gains)):
        below(parent, gains, i, value)
        out[i, 0] = value[0] > 0.0
        inner[:] = False
        for j in range(1, n_nodes):
            out[i, j] = out[i, parent[j]] and value[j] > 0.0
            inner[parent[j]] |= out[i, j]
        n_labels = 0
        for j in range(n_nodes):
            if out[i, j] and is_category[j] and not inner[j]:
                n_labels += 1
        if n_labels < least:
            best_with(parent, is_category, least, gains[i], out[i])


@compiled()
def join(
    j: int, least: int, done: Floats, sums: Floats, joined: Floats, joins: Codes, before: Codes
) -> None:
    """Add a child's sums to those of its parent, and store where each new sum comes from."""
    n = least + 1
    for c in range(n):
        for f in range(2):
            joined[c, f], joins[j, c, f] = sums[c, f], -1
            before[j, c, f, 0], before[j, c, f, 1] = c, f
    for c in range(n):
        for f in range(2):
            for d in range(n):
                to, total = min(c + d, least), sums[c, f] + done[d]
                if total > joined[to, 1]:
                    joined[to, 1], joins[j, to, 1] = total, d
                    before[j, to, 1, 0], before[j, to, 1, 1] = c, f
    for c in range(n):
        for f in range(2):
            sums[c, f] = joined[c, f]


@compiled()
def finish(own: int, sums: Floats, done: Floats, source: Codes) -> None:
    """Write the best sum of a node, by number of labels, after all its children were added.

    A node without positive children has ``own`` labels.
    """
    for c in range(len(done)):
        done[c], source[c, 0], source[c, 1] = sums[c, 1], c, 1
    if sums[0, 0] > done[own]:
        done[own], source[own, 0], source[own, 1] = sums[0, 0], 0, 0


@compiled(allocates=True)
def best_with(parent: Codes, is_category: Bools, least: int, gain: Reals, out: Bools) -> None:
    """Write the best consistent labelling of one item with at least so many labels.

    ``sums[j, c, f]`` is the best sum of node j and the children added so far, with c
    labels, counted up to ``least``; f says whether one of these children is positive. If no
    labelling has so many labels, one with as many as possible is written.
    """
    n_nodes, n = len(parent), least + 1
    sums = np.full((n_nodes, n, 2), -np.inf)
    joins = np.zeros(
        (n_nodes, n, 2), np.intp
    )  # labels of j where it joins its parent; -1: it is off
    before = np.zeros((n_nodes, n, 2, 2), np.intp)  # c and f of the parent before that
    source = np.zeros((n_nodes, n, 2), np.intp)  # c and f that ``done`` comes from
    done, joined = np.zeros(n), np.zeros((n, 2))
    for j in range(n_nodes):
        sums[j, 0, 0] = gain[j]
    for j in range(n_nodes - 1, -1, -1):
        finish(min(least, 1) if is_category[j] else 0, sums[j], done, source[j])
        if j > 0:
            join(j, least, done, sums[parent[j]], joined, joins, before)
    c = least
    while c > 0 and done[c] == -np.inf:
        c -= 1
    left = np.zeros((n_nodes, 2), np.intp)  # c and f of each positive node, of children to come
    out[:] = False
    out[0], left[0, 0], left[0, 1] = True, source[0, c, 0], source[0, c, 1]
    for j in range(1, n_nodes):
        p = parent[j]
        if out[p]:
            c, f = left[p, 0], left[p, 1]
            left[p, 0], left[p, 1] = before[j, c, f, 0], before[j, c, f, 1]
            d = joins[j, c, f]
            if d >= 0:
                out[j], left[j, 0], left[j, 1] = True, source[j, d, 0], source[j, d, 1]


@compiled(allocates=True)
def max_marginals(parent: Codes, gains: Reals, out: Floats) -> None:
    """Write the best score of labellings with a node minus the best of those without it."""
    n_nodes = len(parent)
    value, within, without = np.zeros(n_nodes), np.zeros(n_nodes), np.zeros(n_nodes)
    for i in range(len(gains)):
        below(parent, gains, i, value)
        within[0], without[0] = value[0], 0.0
        for j in range(1, n_nodes):
            p = parent[j]
            rest = within[p] - max(value[j], 0.0)
            within[j], without[j] = rest + value[j], max(without[p], rest)
        for j in range(n_nodes):
            out[i, j] = within[j] - without[j]


@compiled()
def softplus(x: float) -> float:
    """Return log(1 + exp(x))."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@compiled(allocates=True)
def sum_labellings(
    parent: Codes,
    is_category: Bools,  # in (n_nodes,)
    gain: Reals,  # in (n_nodes,)
    scale: float,
    sums: Floats,  # out (n_nodes, 3)
    later: Floats,  # out (n_nodes, 3)
) -> None:
    """Sum exp(scale x score) over labellings of the nodes at and below each one, which is positive.

    The three columns are logarithms of sums over all labellings, those without a category, and
    those with one; ``later`` holds them for all labellings of what is below the siblings after a
    node, which may be negative too. They are sums of positive terms only: the difference of the
    first two would lose all digits.
    """
    n_nodes = len(parent)
    below = np.zeros((n_nodes, 3))  # children so far
    below[:, 2] = -np.inf
    for j in range(n_nodes - 1, -1, -1):
        own = scale * gain[j]
        for k in range(3):
            sums[j, k] = own + below[j, k]
        if is_category[j]:
            sums[j, 1], sums[j, 2] = -np.inf, sums[j, 0]
        if j > 0:
            p = parent[j]
            for k in range(3):
                later[j, k] = below[p, k]
            below[p, 2] = np.logaddexp(below[p, 2] + softplus(sums[j, 0]), below[p, 1] + sums[j, 2])
            below[p, 0] += softplus(sums[j, 0])
            below[p, 1] += softplus(sums[j, 1])


@compiled(allocates=True)
def log_partitions(
    parent: Codes, is_category: Bools, needs_label: bool, gains: Reals, scale: float, out: Floats
) -> None:
    """Write log Σ_y exp(scale x score(y)) of each item, over labellings with a category or all."""
    sums, later = np.zeros((len(parent), 3)), np.zeros((len(parent), 3))
    for i in range(len(gains)):
        sum_labellings(parent, is_category, gains[i], scale, sums, later)
        out[i] = sums[0, 2] if needs_label else softplus(sums[0, 0])


@compiled(allocates=True)
def marginals(
    parent: Codes, is_category: Bools, needs_label: bool, gains: Reals, scale: float, out: Floats
) -> None:
    """Write the probability of each node, where that of a labelling goes as exp(scale x score).

    With ``needs_label``, given that the labelling has a category: at or below the node, or
    among the rest, which is what ``rest`` holds the sums over, all and those with a category.
    """
    n_nodes = len(parent)
    sums, later, earlier = np.zeros((n_nodes, 3)), np.zeros((n_nodes, 3)), np.zeros((n_nodes, 3))
    rest = np.zeros((n_nodes, 2))
    for i in range(len(gains)):
        sum_labellings(parent, is_category, gains[i], scale, sums, later)
        given = sums[0, 2] if needs_label else softplus(sums[0, 0])
        earlier[:, :2], earlier[:, 2] = 0.0, -np.inf
        rest[0, 0], rest[0, 1] = 0.0, -np.inf
        for j in range(n_nodes):
            if j > 0:
                p = parent[j]
                join_rest(j, p, is_category[p], scale * gains[i, p], later, earlier, rest)
                before = earlier[p, 2] + softplus(sums[j, 0])
                earlier[p, 2] = np.logaddexp(before, earlier[p, 1] + sums[j, 2])
                earlier[p, 0] += softplus(sums[j, 0])
                earlier[p, 1] += softplus(sums[j, 1])
            mine = rest[j, 0] + sums[j, 0]
            if needs_label:
                mine = np.logaddexp(rest[j, 0] + sums[j, 2], rest[j, 1] + sums[j, 1])
            out[i, j] = min(math.exp(min(mine - given, 0.0)), out[i, parent[j]] if j > 0 else 1.0)


@compiled()
def join_rest(
    j: int,
    p: int,
    is_category: bool,
    own: float,
    later: Floats,
    earlier: Floats,
    rest: Floats,
) -> None:
    """Write the sums over what is not at or below node j, from those of its parent p."""
    rest[j, 0] = rest[p, 0] + own + earlier[p, 0] + later[j, 0]
    siblings = np.logaddexp(earlier[p, 2] + later[j, 0], earlier[p, 1] + later[j, 2])
    bare = earlier[p, 1] + later[j, 1]
    rest[j, 1] = own + np.logaddexp(rest[p, 0] + siblings, rest[p, 1] + bare)
    if is_category:
        rest[j, 1] = rest[j, 0]

"""Junction trees of DAGs against enumeration, and their order against a slow twin."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from taxonomist.compiled import cliques
from taxonomist.compiled.graph_arrays import LabelledDag
from taxonomist.inference.dag_labellings import ancestor_sets, closed_tree
from taxonomist.inference.junction_tree import eliminate
from taxonomist.solvers.markov_graph import labelling_tree

KINDS = ("closed", "edge", "path")
SIBLINGS = [[], [0], [1], [1], [1], [2, 3], [3, 4], [2, 4]]
"""A cycle of three siblings: a clique of them has states that their parent forbids."""


def as_arrays(parents):
    """Return the parents of every node as CSR arrays."""
    indptr = np.cumsum([0, *map(len, parents)]).astype(np.intp)
    return indptr, np.array([p for above in parents for p in above], dtype=np.intp)


def random_parents(rng, n_nodes):
    """Return the parents of the nodes of a random DAG, from a tree to a dense one."""
    most = int(rng.integers(1, 4))
    sizes = [min(j, int(rng.integers(1, most + 1))) for j in range(n_nodes)]
    return [sorted(rng.choice(j, size, replace=False).tolist()) for j, size in enumerate(sizes)]


@cache
def dags(n_dags, most):
    """Return random DAGs of up to ``most`` nodes, and the one whose siblings are in a cycle."""
    rng = np.random.default_rng(0)
    return [SIBLINGS, *(random_parents(rng, int(rng.integers(2, most + 1))) for _ in range(n_dags))]


def make_tree(parents, kind):
    """Return the junction tree of closed labellings, or of all, for edge or path features."""
    indptr, indices = as_arrays(parents)
    if kind == "closed":
        return closed_tree(indptr, indices)
    costs, stride = np.zeros(len(parents)), 4 if kind == "edge" else 1
    return labelling_tree(LabelledDag(indptr, indices, costs, stride, False, False))


def all_states(parents, kind):
    """Return the states of all nodes in each labelling; with path features 2 is below a 0."""
    rows = []
    for labels in product((0, 1), repeat=len(parents)):
        whole = []
        for own, above in zip(labels, parents, strict=True):
            whole.append(bool(own) and all(whole[p] for p in above))
        if kind == "closed" and whole != list(map(bool, labels)):
            continue
        broken = [own * (1 if is_whole else 2) for own, is_whole in zip(labels, whole, strict=True)]
        rows.append(broken if kind == "path" else labels)
    return np.array(rows)


# The order --------------------------------------------------------------------------------------


def slow_order(parents):
    """Return the nodes by minimum fill, ties by number, each time counted anew; and the width."""
    near = {j: set() for j in range(len(parents))}
    for j, above in enumerate(parents):
        for a, b in combinations([j, *above], 2):
            near[a].add(b)
            near[b].add(a)
    order, width = [], 0

    def fill(v):
        return sum(b not in near[a] for a, b in combinations(near[v], 2))

    while near:
        v = min(near, key=lambda v: (fill(v), v))
        others = near.pop(v)
        for a in others:
            near[a] = (near[a] | others) - {a, v}
        order.append(v)
        width = max(width, len(others))
    return order, width


def test_nodes_are_eliminated_by_minimum_fill():
    for parents in dags(60, 20):
        found = eliminate(*as_arrays(parents), max_width=len(parents))
        assert (found.order, found.width) == slow_order(parents)


@pytest.mark.parametrize("max_width", [2, 3, 5, 20])
def test_cliques_hold_every_family_and_hang_together(max_width):
    for parents in dags(60, 20):
        found = eliminate(*as_arrays(parents), max_width=max_width)
        if found is None:
            assert slow_order(parents)[1] > max_width
            continue
        assert found.width <= max_width
        assert sorted(found.order) == list(range(len(parents)))
        members = [{v, *later} for v, later in zip(found.order, found.later, strict=True)]
        for j, above in enumerate(parents):
            assert any({j, *above} <= clique for clique in members)
        for c, later in enumerate(found.later[:-1]):
            assert later
            up = min(found.order.index(v) for v in later)
            assert up > c
            assert set(later) <= members[up]
        assert not found.later[-1]


# The states -------------------------------------------------------------------------------------


def places_of(tree, rows):
    """Return the state of each clique in each labelling, (n_labellings, n_cliques)."""
    places = np.full((len(rows), len(tree.members)), -1)
    for c, (members, states) in enumerate(zip(tree.members, tree.states, strict=True)):
        same = (rows[:, None, members] == states[None]).all(axis=2)
        assert (same.sum(axis=1) == 1).all()
        places[:, c] = tree.cliques.start[c] + same.argmax(axis=1)
    return places


@pytest.mark.parametrize("kind", KINDS)
def test_every_labelling_has_one_state_in_each_clique(kind):
    for parents in dags(30, 8):
        tree = make_tree(parents, kind)
        seen = np.unique(places_of(tree, all_states(parents, kind)))
        assert len(seen) <= tree.n_states
        if kind != "path":
            assert len(seen) == tree.n_states


def test_a_clique_can_have_states_that_no_labelling_has():
    tree, rows = make_tree(SIBLINGS, "path"), all_states(SIBLINGS, "path")
    assert len(np.unique(places_of(tree, rows))) < tree.n_states


@pytest.mark.parametrize("kind", KINDS)
def test_best_sums_of_every_state(kind):
    """Each state of each clique adds a random number."""
    rng = np.random.default_rng(1)
    for parents in dags(30, 8):
        tree, rows = make_tree(parents, kind), all_states(parents, kind)
        places = places_of(tree, rows)
        scratch = cliques.clique_scratch(tree.cliques)
        scratch.value[:] = rng.normal(size=tree.n_states)
        sums = scratch.value[places].sum(axis=1)
        best = np.full(tree.n_states, -np.inf)
        np.maximum.at(best, places, np.broadcast_to(sums[:, None], places.shape))
        state = np.zeros(len(parents), dtype=np.int8)
        cliques.collect(tree.cliques, scratch)
        top = cliques.choose(tree.cliques, scratch, state)
        assert top == pytest.approx(sums.max(), abs=1e-12)
        np.testing.assert_array_equal(state, rows[sums.argmax()])
        cliques.spread(tree.cliques, scratch)
        np.testing.assert_allclose(scratch.value, best, atol=1e-12)


def test_ancestors_of_every_node():
    for parents in dags(30, 8):
        found = ancestor_sets(*as_arrays(parents))
        for j, above in enumerate(parents):
            assert found[j] == set(above).union(*(found[p] for p in above))

"""A softmax at each level: against plain recursion, and what fitting finds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist import Taxonomy
from taxonomist.errors import LabelError
from taxonomist.inference import nested_softmax as module
from taxonomist.inference.nested_softmax import NestedSoftmax
from taxonomist.taxonomy import Categories
from tests.strategies import taxonomies

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "a > a3", "b > b1 > b11", "b > b1 > b12", "c"])
FLAT = Taxonomy.flat("abcd")


def categories_of(taxonomy, interior=()):
    return Categories.from_labels(taxonomy, [[node] for node in interior])


def made(categories, slopes, chances):
    """Return a softmax with given parameters."""
    parents, leaves = module._tree(categories)
    height = module._depths(parents).max() + 1
    return NestedSoftmax(parents, leaves, np.resize(slopes, height), np.resize(chances, height))


def by_recursion(softmax, scores):
    """Return the probabilities of one item, going down the tree node by node."""
    children, depth = {}, {0: 0}
    for node, parent in enumerate(softmax.parents.tolist()):
        if node:
            children.setdefault(parent, []).append(node)
            depth[node] = depth[parent] + 1
    score = dict(zip(softmax.leaves.tolist(), scores, strict=True))

    def value(node):
        if node in score:
            return score[node]
        slope = softmax.slopes[depth[node] + 1]
        return math.log(sum(math.exp(slope * value(k)) for k in children[node])) / slope

    def walk(node, probability):
        if node in score:
            return {node: probability}
        slope, chance = softmax.slopes[depth[node] + 1], softmax.chances[depth[node] + 1]
        weights = [math.exp(slope * value(k)) for k in children[node]]
        found = {}
        for k, weight in zip(children[node], weights, strict=True):
            share = (1 - chance) * weight / sum(weights) + chance / len(weights)
            found |= walk(k, probability * share)
        return found

    found = walk(0, 1.0)
    return [found[node] for node in softmax.leaves.tolist()]


@given(st.data())
def test_probabilities_are_those_of_plain_recursion(data):
    taxonomy = data.draw(taxonomies())
    interior = data.draw(st.sets(st.sampled_from(taxonomy.nodes), max_size=3))
    categories = categories_of(taxonomy, interior)
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    softmax = made(categories, rng.uniform(0.2, 3, size=5), rng.uniform(0, 0.5, size=5))
    scores = rng.normal(size=(4, len(categories)))
    found = softmax.of(scores)
    np.testing.assert_allclose(found, [by_recursion(softmax, row) for row in scores], rtol=1e-10)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(softmax.of(scores + 7.0), found, rtol=1e-9)


@pytest.mark.parametrize("taxonomy", [TREE, FLAT])
def test_with_one_temperature_and_no_chance_it_is_the_softmax(taxonomy):
    categories = categories_of(taxonomy)
    scores = np.random.default_rng(0).normal(size=(5, len(categories)))
    shares = np.exp(2.5 * scores)
    found = made(categories, [2.5], [0.0]).of(scores)
    np.testing.assert_allclose(found, shares / shares.sum(axis=1, keepdims=True))


def test_a_node_without_a_child_of_its_own_in_the_tree_has_no_share():
    # The spanning tree keeps x below the deeper of its parents, so that nothing is left below a.
    dag = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("b", "c"), ("a", "x"), ("c", "x")])
    softmax = made(categories_of(dag), [1.0], [0.0])
    np.testing.assert_array_equal(softmax.of([[3.0]]), 1)


def test_huge_scores_do_not_overflow():
    softmax = made(categories_of(TREE), [50.0], [0.01])
    found = softmax.of([[1e6, 0, -1e6, 1e5, 0, 1e6]])
    assert np.isfinite(found).all()
    assert found.sum() == pytest.approx(1)


def drawn(categories, softmax, n, seed=0):
    """Return scores, and categories drawn as the softmax says."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, len(categories)))
    shares = softmax.of(scores).cumsum(axis=1)
    columns = (rng.random((n, 1)) > shares[:, :-1]).sum(axis=1)
    return scores, columns


def test_fitting_finds_what_the_categories_were_drawn_by():
    categories = categories_of(TREE)
    truth = made(categories, [1.0, 3.0, 1.0, 6.0], [0.0, 0.1, 0.3, 0.2])
    scores, columns = drawn(categories, truth, 20_000)
    found = NestedSoftmax.fit(categories, scores, columns, np.ones(len(columns)))
    np.testing.assert_allclose(found.slopes[1:], truth.slopes[1:], rtol=0.2)
    np.testing.assert_allclose(found.chances[1:], truth.chances[1:], atol=0.06)


def level_cost(softmax, scores, columns, weights, depth):
    """Return the negative log-likelihood of the decisions that lead to a depth."""
    parents, leaves = softmax.parents.tolist(), softmax.leaves.tolist()
    children, level = {}, [0] * len(parents)
    for node in range(1, len(parents)):
        children.setdefault(parents[node], []).append(node)
        level[node] = level[parents[node]] + 1
    total = 0.0
    for row, column, weight in zip(scores, columns, weights, strict=True):
        score = dict(zip(leaves, row, strict=True))

        def value(node, score=score):
            if node in score:
                return score[node]
            slope = softmax.slopes[level[node] + 1]
            return math.log(sum(math.exp(slope * value(k)) for k in children[node])) / slope

        node = leaves[column]
        while node and level[node] != depth:
            node = parents[node]
        siblings = children.get(parents[node], [])
        if node and len(siblings) > 1:
            slope, chance = softmax.slopes[depth], softmax.chances[depth]
            sums = sum(math.exp(slope * value(k)) for k in siblings)
            share = (1 - chance) * math.exp(slope * value(node)) / sums + chance / len(siblings)
            total -= weight * math.log(share)
    return total - math.log(softmax.chances[depth]) - math.log1p(-softmax.chances[depth])


@pytest.mark.parametrize("seed", range(3))
def test_no_other_parameters_of_a_level_are_better(seed):
    categories = categories_of(TREE, ["b"])
    scores, columns = drawn(categories, made(categories, [2.0], [0.2]), 60, seed)
    weights = np.random.default_rng(seed).uniform(0.5, 1.5, size=60)
    weights /= weights.mean()
    found = NestedSoftmax.fit(categories, scores, columns, 3 * weights)
    for depth in range(1, len(found.slopes)):
        least = level_cost(found, scores, columns, weights, depth)
        for name, factor in [("slopes", 0.8), ("slopes", 1.25), ("chances", 0.8), ("chances", 1.2)]:
            changed = {"slopes": found.slopes.copy(), "chances": found.chances.copy()}
            changed[name][depth] *= factor
            other = NestedSoftmax(found.parents, found.leaves, **changed)
            assert level_cost(other, scores, columns, weights, depth) > least - 1e-4


def test_items_that_are_all_right_still_leave_a_chance():
    scores = np.tile(10 * np.eye(4), (5, 1))
    found = NestedSoftmax.fit(categories_of(FLAT), scores, np.arange(20) % 4, np.ones(20))
    assert 0.01 < found.chances[1] < 0.15
    assert 0.9 < found.of([[10.0, 0, 0, 0]])[0, 0] < 1


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_size_of_scores_does_not_matter(scale):
    categories = categories_of(TREE)
    scores, columns = drawn(categories, made(categories, [2.0], [0.1]), 300)
    plain = NestedSoftmax.fit(categories, scores, columns, np.ones(300))
    scaled = NestedSoftmax.fit(categories, scale * scores, columns, np.ones(300))
    np.testing.assert_allclose(scaled.of(scale * scores), plain.of(scores), rtol=1e-3)


def test_a_level_where_no_item_has_a_choice_is_like_the_one_below():
    categories = categories_of(Taxonomy.from_paths(["a > a1", "a > a2", "b > b1"]))
    scores = np.random.default_rng(0).normal(size=(30, 3))
    found = NestedSoftmax.fit(categories, scores, np.full(30, 2), np.ones(30))
    # No item is below a, so that nothing is known of the second level: its slope is that of scores.
    assert found.slopes[2] == pytest.approx(1 / module._spread(scores))
    only = categories_of(Taxonomy.from_edges([("top", "a"), ("a", "a1"), ("a", "a2")]))
    found = NestedSoftmax.fit(only, scores[:, :2], np.arange(30) % 2, np.ones(30))
    assert found.slopes[1] == found.slopes[2]


def test_one_category_and_one_item():
    one = categories_of(Taxonomy.flat("a"))
    assert NestedSoftmax.fit(one, [[3.0]], np.zeros(1, int), np.ones(1)).of([[1.0]]) == 1
    alone = categories_of(Taxonomy(nodes=["a"]))
    assert NestedSoftmax.fit(alone, [[3.0]], np.zeros(1, int), np.ones(1)).of([[1.0]]) == 1
    found = NestedSoftmax.fit(categories_of(FLAT), np.zeros((1, 4)), np.zeros(1, int), np.ones(1))
    np.testing.assert_allclose(found.of(np.zeros((1, 4))), 0.25)


def test_blocks_change_nothing(monkeypatch):
    categories = categories_of(TREE)
    softmax = made(categories, [2.0, 1.0, 3.0], [0.1])
    scores = np.random.default_rng(0).normal(size=(20, 6))
    whole = softmax.of(scores)
    monkeypatch.setattr(module, "NODE_VALUES_AT_A_TIME", 1)
    np.testing.assert_array_equal(softmax.of(scores), whole)


@pytest.mark.parametrize("scores", [[[np.nan] * 4], [[np.inf, 0, 0, 0]], [[0.0] * 3]])
def test_scores_must_be_finite_and_fit(scores):
    with pytest.raises(LabelError, match=r"finite scores|4 categories"):
        made(categories_of(FLAT), [1.0], [0.0]).of(scores)


def test_categories_without_items_get_no_probability():
    categories = categories_of(TREE, interior=["b"])
    rng = np.random.default_rng(0)
    seen = np.array([name not in ("a2", "b11", "b12", "c") for name in categories.ids])
    columns = rng.choice(np.flatnonzero(seen), size=200)
    scores = np.eye(len(seen))[columns] + rng.normal(size=(200, len(seen)))
    found = NestedSoftmax.fit(categories, scores, columns, np.ones(200), seen)
    probabilities = found.of(scores)
    assert (probabilities[:, ~seen] == 0).all()
    assert (probabilities[:, seen] > 0).all()
    assert probabilities.sum(axis=1) == pytest.approx(1)
    # The same as in the taxonomy without them.
    small = categories_of(TREE.prune(["a1", "a3", "b"]), interior=["b"])
    same = np.searchsorted(np.flatnonzero(seen), columns)
    alone = NestedSoftmax.fit(small, scores[:, seen], same, np.ones(200))
    assert probabilities[:, seen] == pytest.approx(alone.of(scores[:, seen]), abs=1e-3)

"""Path weights: leaving out by really leaving out, shared and own weights, certificates."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taxonomist.models.sources import node_sources, rest_sources
from taxonomist.solvers import left_out, path_weights
from taxonomist.solvers.left_out import gather
from taxonomist.solvers.path_weights import estimate
from taxonomist.solvers.word_counts import pool
from tests.reference import mixture as naive
from tests.strategies import taxonomies


def components_of(toy, sources, is_inside=True):
    """Return P'(w|v) by (item, category, word number, position on the path)."""
    counts = pool(toy.items, sources).sources
    found = gather(toy.items, counts, sources, True, is_inside)
    result = {}
    for c in range(sources.paths.shape[0]):
        n_nodes = int(np.diff(sources.paths.indptr)[c])
        for e in range(found.entries.indptr[c], found.entries.indptr[c + 1]):
            i = found.entries.items[e]
            words = toy.items.X[[i]].indices
            block = found.components[found.entries.start[e] : found.entries.start[e + 1]]
            for w, row in zip(words, block.reshape(-1, n_nodes), strict=True):
                result[i, c, w] = row
    return result


def assert_left_out(toy):
    taxonomy = toy.taxonomy
    items = toy.naive_items()
    for kind in ("node", "rest"):
        categories = toy.targets.categories
        sources = node_sources(categories) if kind == "node" else rest_sources(categories)[0]
        found = components_of(toy, sources)
        for (i, c, w), row in found.items():
            category = taxonomy.leaves[c]
            rest = naive.without(items, i)
            if kind == "node":
                words = naive.node_words(rest, taxonomy) if rest else None
            else:
                words = naive.rest_words(rest, taxonomy, category) if rest else None
            nodes = sorted(naive.path(taxonomy, category), key=taxonomy.code)
            expected = [words[v][w] if words else 0.0 for v in nodes]
            np.testing.assert_allclose(row, expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", naive.TAXONOMIES)
@pytest.mark.parametrize("seed", [0, 1])
def test_leaving_out_is_really_leaving_out(name, seed):
    assert_left_out(naive.make_toy(naive.TAXONOMIES[name], n_items=8, seed=seed))


@given(taxonomy=taxonomies(max_nodes=7), seed=st.integers(0, 99))
@settings(max_examples=15)
def test_leaving_out_on_random_taxonomies(taxonomy, seed):
    assert_left_out(naive.make_toy(taxonomy, n_items=4, n_words=4, seed=seed))


def test_held_out_items_stay_in_no_count():
    toy = naive.make_toy()
    sources = node_sources(toy.targets.categories)
    words = naive.node_words(toy.naive_items(), toy.taxonomy)
    for (_, c, w), row in components_of(toy, sources, is_inside=False).items():
        nodes = sorted(naive.path(toy.taxonomy, toy.taxonomy.leaves[c]), key=toy.taxonomy.code)
        np.testing.assert_allclose(row, [words[v][w] for v in nodes], rtol=1e-12)


def left_out_value(toy, weights):
    """Return the log-likelihood of left-out items, where something can have made the word."""
    total, items = 0.0, toy.naive_items()
    for i, (row, labels, weight) in enumerate(items):
        words = naive.node_words(naive.without(items, i), toy.taxonomy)
        for label in labels:
            if not naive.can_tell(items, toy.taxonomy, i, label):
                continue
            for w, n in enumerate(row):
                p = naive.word_given_class(words, weights[label], w, len(row))
                if n and p > 0:
                    total += weight * n / len(labels) * math.log(p)
    return total


def as_dictionary(weights, sources, taxonomy):
    """Return the solver's weights by category and node."""
    result = {}
    for c, category in enumerate(taxonomy.leaves):
        slots = slice(*sources.paths.indptr[c : c + 2])
        nodes = [taxonomy.nodes[s] for s in sources.paths.indices[slots]]
        result[category] = dict(zip(nodes, weights.slots[slots].tolist(), strict=True))
        result[category][naive.UNIFORM] = float(weights.uniform[c])
    return result


@pytest.mark.parametrize("sharing", path_weights.SHARING)
@pytest.mark.parametrize("name", naive.TAXONOMIES)
@pytest.mark.parametrize("has_uniform", [True, False])
def test_values_rise_and_are_the_naive_ones(sharing, name, has_uniform):
    toy = naive.make_toy(naive.TAXONOMIES[name], seed=3)
    sources = node_sources(toy.targets.categories)
    counts = pool(toy.items, sources).sources
    solution = estimate(
        toy.items, counts, sources, sharing=sharing, has_uniform=has_uniform, tol=1e-3
    )
    weights = as_dictionary(solution.weights, sources, toy.taxonomy)
    assert np.isclose(solution.log_likelihood, left_out_value(toy, weights))
    assert (np.diff(solution.history) >= -1e-9).all()
    assert solution.converged
    assert solution.gap <= 1e-3
    assert len(solution.history) == solution.n_iter + 1
    for category in toy.taxonomy.leaves:
        assert np.isclose(sum(weights[category].values()), 1)
        assert has_uniform or weights[category][naive.UNIFORM] == 0


@pytest.mark.equation("TCPH01:7")
def test_the_first_step_is_the_papers():
    toy = naive.make_toy(seed=4)
    taxonomy, items = toy.taxonomy, toy.naive_items()
    sources = node_sources(toy.targets.categories)
    counts = pool(toy.items, sources).sources
    evidence = gather(toy.items, counts, sources, True, True)
    ties = path_weights._ties_by_class(sources, True)
    start = path_weights._evenly(ties)
    look = path_weights._look(evidence, ties, start, np.zeros(len(start)))
    found = path_weights._spread(
        evidence, ties, path_weights._shared_out(start * look.ratio, ties, start)
    )
    weights = naive.even_weights(taxonomy)
    expected = {c: dict.fromkeys(weights[c], 0.0) for c in weights}
    for i, (row, labels, weight) in enumerate(items):
        words = naive.node_words(naive.without(items, i), taxonomy)
        for c in labels:
            if not naive.can_tell(items, taxonomy, i, c):
                continue
            for w, n in enumerate(row):
                p = naive.word_given_class(words, weights[c], w, len(row))
                for v in weights[c]:
                    share = weights[c][v] * (1 / len(row) if v == naive.UNIFORM else words[v][w])
                    expected[c][v] += weight * n / len(labels) * share / p
    for c, by_node in as_dictionary(found, sources, taxonomy).items():
        total = sum(expected[c].values())
        for v, weight in by_node.items():
            assert np.isclose(weight, expected[c][v] / total if total else weights[c][v])


def test_level_weights_are_shared_by_depth():
    toy = naive.make_toy(seed=5, n_items=30)
    sources = node_sources(toy.targets.categories)
    counts = pool(toy.items, sources).sources
    weights = as_dictionary(estimate(toy.items, counts, sources).weights, sources, toy.taxonomy)
    by_level = {
        c: [weights[c][v] for v in [*naive.path(toy.taxonomy, c), naive.UNIFORM]] for c in weights
    }
    np.testing.assert_allclose(by_level["hound"], by_level["terrier"])
    np.testing.assert_allclose(by_level["cat"], by_level["oak"])
    assert len(by_level["cat"]) == len(by_level["hound"]) - 1


def test_nodes_of_one_depth_share_a_weight_in_a_dag():
    toy = naive.make_toy(naive.DAG, seed=6, n_items=30)
    sources = node_sources(toy.targets.categories)
    counts = pool(toy.items, sources).sources
    weights = as_dictionary(estimate(toy.items, counts, sources).weights, sources, toy.taxonomy)
    assert naive.DAG.depth("hound") == naive.DAG.depth("puppy")
    assert np.isclose(weights["hound"]["animal"], weights["hound"]["pet"])
    tops = [v for v in weights["puppy"] if v in ("animal", "pet", "young")]
    assert len(tops) == 3
    assert np.isclose(
        sum(weights["puppy"][v] for v in tops),
        sum(weights["hound"][v] for v in ("animal", "pet")),
    )


def test_shrunk_weights_lie_between_own_and_shared_ones():
    toy = naive.make_toy(seed=7, n_items=40, most=1)
    sources = node_sources(toy.targets.categories)
    counts = pool(toy.items, sources).sources

    def slots(**options):
        solution = estimate(toy.items, counts, sources, tol=3e-4, **options)
        return np.concatenate(solution.weights)

    shared, own = slots(sharing="level"), slots(sharing="class")
    nearly_own = slots(sharing="shrunk", shared_words=1e-9)
    nearly_shared = slots(sharing="shrunk", shared_words=1e9)
    np.testing.assert_allclose(nearly_own, own, atol=0.05)
    np.testing.assert_allclose(nearly_shared, shared, atol=1e-2)
    half = slots(sharing="shrunk", shared_words=20.0)
    assert np.abs(half - shared).sum() < np.abs(own - shared).sum()


def test_a_category_without_items_has_the_shared_weights():
    toy = naive.make_toy(seed=8)
    toy = toy._replace(y=[[label for label in labels if label != "elm"] for labels in toy.y])
    sources = node_sources(toy.targets.categories)
    counts = pool(toy.items, sources).sources
    for sharing in ("class", "shrunk"):
        shared = estimate(toy.items, counts, sources).weights
        own = estimate(toy.items, counts, sources, sharing=sharing).weights
        c = toy.taxonomy.leaves.index("elm")
        row = slice(*sources.paths.indptr[c : c + 2])
        np.testing.assert_allclose(own.slots[row], shared.slots[row])
        assert np.isclose(own.uniform[c], shared.uniform[c])


def test_many_items_are_sampled_and_say_about_the_same(monkeypatch):
    toy = naive.make_toy(naive.FLAT, n_items=400, n_words=30, most=1, weighted=False)
    for row, labels in zip(toy.X, toy.y, strict=True):
        for label in labels:
            row[10 * naive.FLAT.leaves.index(label) :][:10] += 1
    sources = node_sources(toy.targets.categories)
    counts = pool(toy.items, sources).sources
    whole = estimate(toy.items, counts, sources).weights
    monkeypatch.setattr(left_out, "MOST_WORDS", 3000)
    sample = left_out.sampled(toy.items)
    assert 3000 <= sample.X.nnz < 3040
    some = estimate(toy.items, counts, sources).weights
    assert not np.array_equal(whole.slots, some.slots)
    np.testing.assert_allclose(np.concatenate(some), np.concatenate(whole), atol=0.05)


def test_only_items_say_nothing():
    toy = naive.Toy(naive.FLAT, np.eye(3) + 1, [["a"], ["b"], ["c"]], np.ones(3))
    sources = node_sources(toy.targets.categories)
    solution = estimate(toy.items, pool(toy.items, sources).sources, sources)
    assert solution.converged
    assert solution.log_likelihood == 0
    np.testing.assert_allclose(np.concatenate(solution.weights), 1 / 3)


def test_steps_may_be_too_few(monkeypatch):
    monkeypatch.setattr(path_weights, "MOST_STEPS", 2)
    toy = naive.make_toy(seed=1)
    sources = node_sources(toy.targets.categories)
    solution = estimate(toy.items, pool(toy.items, sources).sources, sources, tol=1e-12)
    assert not solution.converged
    assert solution.n_iter == 2


def test_steps_that_go_too_far_are_taken_back(monkeypatch):
    toy = naive.make_toy(seed=3)
    for row, labels in zip(toy.X, toy.y, strict=True):
        row[[toy.taxonomy.leaves.index(label) for label in labels]] += 2
    sources = node_sources(toy.targets.categories)
    counts = pool(toy.items, sources).sources
    usual = estimate(toy.items, counts, sources)
    monkeypatch.setattr(path_weights, "FURTHER", 40.0)
    far = estimate(toy.items, counts, sources)
    assert (np.diff(far.history) >= -1e-9).all()
    assert usual.converged


def test_weights_of_items_are_repetitions():
    toy = naive.make_toy(seed=2)
    repeated = np.repeat(np.arange(len(toy.y)), toy.weights.astype(int))
    sources = node_sources(toy.targets.categories)
    again = naive.Toy(
        toy.taxonomy, toy.X[repeated], [toy.y[i] for i in repeated], np.ones(len(repeated))
    )
    one = estimate(toy.items, pool(toy.items, sources).sources, sources)
    other = estimate(again.items, pool(again.items, sources).sources, sources)
    np.testing.assert_allclose(one.weights.slots, other.weights.slots, rtol=1e-9)
    assert np.isclose(one.log_likelihood, other.log_likelihood)
    lighter = replace(toy.items, weights=toy.items.weights * 0.25)
    assert np.isfinite(estimate(lighter, pool(lighter, sources).sources, sources).log_likelihood)

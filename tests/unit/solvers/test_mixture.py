"""Words of nodes by EM: against loops over every word, by hand, and what never falls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taxonomist.models.sources import node_sources, rest_sources
from taxonomist.solvers import mixture
from taxonomist.solvers.mixture import MixtureOptions, MixtureProblem, solve
from taxonomist.solvers.path_weights import PathWeights
from taxonomist.solvers.word_counts import pool
from tests.reference import mixture as naive
from tests.strategies import taxonomies

PLAIN = {"trust": 1.0, "discount": 0.0}


def problem_of(toy, weights=None):
    """Return the solver's problem, with weights by category and node if they are given."""
    sources = node_sources(toy.targets.categories)
    given = None
    if weights is not None:
        matrix = naive.as_matrix(weights, toy.taxonomy)
        category = np.repeat(np.arange(len(matrix)), np.diff(sources.paths.indptr))
        given = PathWeights(matrix[category, sources.paths.indices], matrix[:, -1].copy())
    return MixtureProblem(pool(toy.items, sources), sources, toy.items, given)


def assert_steps(toy, seed, beta, has_uniform=True):
    random = np.random.default_rng(seed)
    taxonomy, items = toy.taxonomy, toy.naive_items()
    weights = naive.random_weights(taxonomy, random, has_uniform)
    problem = problem_of(toy, weights)
    # Nodes without words pass their weight on; the naive twin has no such nodes.
    solved = {
        steps: solve(
            problem,
            MixtureOptions(max_iter=steps, inverse_temperature=beta, uniform=has_uniform, **PLAIN),
        )
        for steps in (0, 1, 3)
    }
    words = naive.node_words(items, taxonomy)
    for v in taxonomy.nodes:
        if not any(words[v]):
            for c in naive.below(taxonomy, v):
                del weights[c][v]
    for c, by_node in weights.items():
        total = sum(by_node.values())
        weights[c] = {v: weight / total for v, weight in by_node.items()} if total else by_node
    for steps in range(4):
        if steps in solved:
            found = solved[steps].words.toarray()
            np.testing.assert_allclose(found, [words[v] for v in taxonomy.nodes], atol=1e-12)
            if beta == 1:
                value = naive.log_likelihood(items, taxonomy, words, weights)
                assert np.isclose(solved[steps].bound, value)
        words = naive.em_step(items, taxonomy, words, weights, beta)
    bounds = [step.bound for step in solved[3].history]
    assert (np.diff(bounds) >= -1e-9).all()


@pytest.mark.equation("TCPH01:6")
@pytest.mark.equation("TCPH01:5")
@pytest.mark.equation("TCPH01:4")
@pytest.mark.equation("TCPH01:3")
@pytest.mark.parametrize("name", naive.TAXONOMIES)
@pytest.mark.parametrize("beta", [1.0, 0.6, 1.7])
@pytest.mark.parametrize("has_uniform", [True, False])
def test_steps_are_those_of_loops_over_words(name, beta, has_uniform):
    toy = naive.make_toy(naive.TAXONOMIES[name], seed=2)
    assert_steps(toy, 0, beta, has_uniform)


@given(taxonomy=taxonomies(max_nodes=8), seed=st.integers(0, 99), beta=st.sampled_from([1.0, 0.5]))
@settings(max_examples=20)
def test_steps_on_random_taxonomies(taxonomy, seed, beta):
    assert_steps(naive.make_toy(taxonomy, n_items=6, n_words=5, seed=seed), seed, beta)


def test_two_words_and_two_classes_by_hand():
    taxonomy = naive.Taxonomy.flat(["a", "b"])
    toy = naive.Toy(taxonomy, np.array([[3, 1], [1, 3]]), [["a"], ["b"]], np.ones(2))
    half = {c: {taxonomy.root: 0.5, c: 0.5} for c in ("a", "b")}
    problem = problem_of(toy, half)
    start = solve(problem, MixtureOptions(max_iter=0, uniform=False, **PLAIN))
    # P(w1|a) = .5 * 3/4 + .5 * 1/2 = 5/8, P(w2|a) = 3/8
    assert np.isclose(start.bound, 2 * (3 * np.log(5 / 8) + np.log(3 / 8)))
    found = solve(problem, MixtureOptions(max_iter=1, uniform=False, **PLAIN))
    # Of the 3 words w1 of class a, 3/5 come from a itself; of the one w2, 1/3.
    own = 9 / 5 / (9 / 5 + 1 / 3)
    np.testing.assert_allclose(found.words.toarray(), [[0.5, 0.5], [own, 1 - own], [1 - own, own]])
    cold = solve(
        problem, MixtureOptions(max_iter=1, uniform=False, inverse_temperature=2.0, **PLAIN)
    )
    # Squared: 9/16 against 1/4 for w1, 1/16 against 1/4 for w2.
    own = 3 * 9 / 13 / (3 * 9 / 13 + 1 / 5)
    np.testing.assert_allclose(cold.words.toarray()[1], [own, 1 - own])


def weights_by_name(weights, sources, taxonomy):
    """Return weights by category and node."""
    found = {}
    for c, category in enumerate(taxonomy.leaves):
        slots = slice(*sources.paths.indptr[c : c + 2])
        nodes = [taxonomy.nodes[s] for s in sources.paths.indices[slots]]
        found[category] = dict(zip(nodes, weights.slots[slots].tolist(), strict=True))
        found[category][naive.UNIFORM] = float(weights.uniform[c])
    return found


@pytest.mark.equation("TCPH01:7")
@pytest.mark.parametrize("name", naive.TAXONOMIES)
@pytest.mark.parametrize("beta", [1.0, 0.6])
@pytest.mark.parametrize("weighted", [True, False])
def test_weights_are_re_estimated_in_each_step_from_left_out_items(name, beta, weighted):
    toy = naive.make_toy(naive.TAXONOMIES[name], n_items=30, seed=4, weighted=weighted)
    taxonomy, items = toy.taxonomy, toy.naive_items()
    problem = problem_of(toy)
    options = {"path_weights": "class", "inverse_temperature": beta, "tol": 0.05, **PLAIN}
    start = solve(problem, MixtureOptions(max_iter=0, **options))
    words = naive.node_words(items, taxonomy)
    left_out = [naive.node_words(naive.without(items, i), taxonomy) for i in range(len(items))]
    weights = weights_by_name(start.weights, problem.sources, taxonomy)
    for steps in range(1, 4):
        after = naive.left_out_steps(items, taxonomy, words, weights, beta)
        words, weights, left_out = (
            naive.em_step(items, taxonomy, words, weights, beta),
            naive.weight_step(items, taxonomy, left_out, weights),
            after,
        )
        updated = MixtureOptions(max_iter=steps, weight_updates="step", **options)
        found = solve(problem, updated)
        np.testing.assert_allclose(
            found.words.toarray(), [words[v] for v in taxonomy.nodes], atol=1e-12
        )
        named = weights_by_name(found.weights, problem.sources, taxonomy)
        for c in taxonomy.leaves:
            for v in weights[c]:
                assert np.isclose(named[c][v], weights[c][v], atol=1e-12), (c, v)
    assert not np.allclose(found.weights.slots, start.weights.slots)


@pytest.mark.parametrize("sharing", ["level", "class", "shrunk"])
@pytest.mark.parametrize("held_out", [None, 0.4])
def test_full_updates_are_the_best_weights_for_the_words(sharing, held_out):
    toy = naive.make_toy(n_items=40, seed=5)
    options = MixtureOptions(
        path_weights=sharing, held_out=held_out, weight_updates="full", max_iter=3, **PLAIN
    )
    found = solve(problem_of(toy), options).weights_solution
    assert found.converged
    assert found.gap <= options.tol
    again = found.climb.climbed()
    assert np.isclose(again.log_likelihood, found.log_likelihood)
    once = solve(problem_of(toy), MixtureOptions(path_weights=sharing, max_iter=3, **PLAIN))
    assert not np.allclose(once.weights.slots, found.weights.slots)


def test_held_out_items_stay_out_of_the_words_that_weights_are_judged_by():
    toy = naive.make_toy(n_items=60, seed=6, weighted=False)
    items, taxonomy = toy.naive_items(), toy.taxonomy
    options = {"path_weights": "class", "held_out": 0.5, "seed": 3, **PLAIN}
    start = solve(problem_of(toy), MixtureOptions(max_iter=0, **options))
    order = np.random.default_rng(3).permutation(len(items))
    held, rest = np.sort(order[:30]), [items[i] for i in np.sort(order[30:])]
    words = naive.node_words(items, taxonomy)
    sources = problem_of(toy).sources
    weights = weights_by_name(start.weights, sources, taxonomy)
    after = naive.em_step(rest, taxonomy, words, weights)
    found = solve(problem_of(toy), MixtureOptions(max_iter=1, weight_updates="step", **options))
    evidence = found.weights_solution.climb.evidence
    for c, category in enumerate(taxonomy.leaves):
        nodes = [taxonomy.nodes[s] for s in sources.paths.indices[sources.paths.indptr[c] :]]
        for e in range(evidence.entries.indptr[c], evidence.entries.indptr[c + 1]):
            row = items[held[evidence.entries.items[e]]][0]
            block = evidence.components[slice(*evidence.entries.start[e : e + 2])]
            n_nodes = len(naive.path(taxonomy, category))
            seen = [w for w, n in enumerate(row) if n]
            for w, parts in zip(seen, block.reshape(-1, n_nodes), strict=True):
                expected = [after[v][w] for v in nodes[:n_nodes]]
                np.testing.assert_allclose(parts, expected, atol=1e-12)


def test_words_and_weights_are_distributions():
    for name, taxonomy in naive.TAXONOMIES.items():
        toy = naive.make_toy(taxonomy, seed=9)
        for options in (MixtureOptions(), MixtureOptions(uniform=False, held_out=0.4, max_iter=4)):
            solution = solve(problem_of(toy), options)
            sums = np.asarray(solution.words.sum(axis=1)).ravel()
            assert np.isin(sums.round(12), [0, 1]).all(), name
            paths = problem_of(toy).sources.paths
            category = np.repeat(np.arange(paths.shape[0]), np.diff(paths.indptr))
            mass = np.bincount(category, solution.weights.slots * sums[paths.indices])
            np.testing.assert_allclose(mass + solution.weights.uniform, 1)


def test_a_schedule_gives_each_step_its_temperature():
    toy = naive.make_toy()
    solution = solve(
        problem_of(toy), MixtureOptions(max_iter=4, inverse_temperature=(0.3, 0.6, 0.9))
    )
    assert [step.inverse_temperature for step in solution.history] == [0.3, 0.6, 0.9, 0.9, 0.9]
    seen = []
    solve(problem_of(toy), MixtureOptions(max_iter=2), seen.append)
    assert [step.inverse_temperature for step in seen] == [1.0, 1.0, 1.0]


def test_trust_moves_weight_to_the_root_and_the_uniform_node():
    toy = naive.make_toy(most=1, n_items=40)
    sources = problem_of(toy).sources
    weights = naive.random_weights(toy.taxonomy, np.random.default_rng(0))
    given = problem_of(toy, weights).weights
    trusted = mixture.trusted(given, sources, 0.25)
    for c, category in enumerate(toy.taxonomy.leaves):
        slots = slice(*sources.paths.indptr[c : c + 2])
        row = dict(
            zip(
                [toy.taxonomy.nodes[s] for s in sources.paths.indices[slots]],
                trusted.slots[slots],
                strict=True,
            )
        )
        root = toy.taxonomy.root
        general = weights[category][root] + weights[category][naive.UNIFORM]
        for v, weight in row.items():
            if v != root:
                assert np.isclose(weight, 0.25 * weights[category][v])
        rise = (1 - 0.25 * (1 - general)) / general
        assert np.isclose(row[root], rise * weights[category][root])
        assert np.isclose(trusted.uniform[c], rise * weights[category][naive.UNIFORM])
    nothing_above = PathWeights(
        given.slots * ~sources.is_general[sources.paths.indices], np.zeros(len(given.uniform))
    )
    same = mixture.trusted(nothing_above, sources, 0.25)
    np.testing.assert_array_equal(same.slots, nothing_above.slots)


def test_the_discount_depends_on_how_many_items_have_a_word():
    taxonomy = naive.Taxonomy.flat(["a", "b"])
    X = np.array([[4, 1, 0], [0, 1, 1], [2, 0, 0]])
    toy = naive.Toy(taxonomy, X, [["a"], ["a"], ["b"]], np.array([1.0, 1.0, 1.0]))
    problem = problem_of(toy)
    words = mixture.discounted(problem.pooled, problem.sources, 0.5).toarray()
    np.testing.assert_allclose(words[0], np.array([6, 2, 1]) / 9)
    np.testing.assert_allclose(words[1], np.array([4 * 0.5, 2 * 0.75, 0.5]) / 4)
    np.testing.assert_allclose(words[2], [1, 0, 0])
    weighted = toy._replace(weights=np.array([2.0, 1.0, 0.1]))
    problem = problem_of(weighted)
    words = mixture.discounted(problem.pooled, problem.sources, 0.5).toarray()
    np.testing.assert_allclose(
        words[1], np.array([8 * (1 - 0.5 / 2), 3 * (1 - 0.5 / 3), 0.5]) / (6 + 2.5 + 0.5)
    )
    np.testing.assert_allclose(words[2], [1, 0, 0])


def test_an_item_with_two_labels_is_one_item_above_both():
    taxonomy = naive.Taxonomy.from_paths(["x > a", "x > b", "c"])
    toy = naive.Toy(taxonomy, np.array([[2], [1]]), [["a", "b"], ["c"]], np.ones(2))
    pooled = pool(toy.items, node_sources(toy.targets.categories))
    order = [taxonomy.code(v) for v in ("x", "a", "b", "c")]
    assert pooled.sources.toarray()[order, 0].tolist() == [2, 1, 1, 1]
    assert pooled.having.toarray()[order, 0].tolist() == [1, 1, 1, 1]


def test_sources_without_words_pass_their_weight_on():
    toy = naive.make_toy()
    toy = toy._replace(y=[[label for label in labels if label != "elm"] for labels in toy.y])
    weights = naive.even_weights(toy.taxonomy)
    c = toy.taxonomy.leaves.index("elm")
    solution = solve(problem_of(toy, weights), MixtureOptions(**PLAIN))
    slots = slice(*problem_of(toy).sources.paths.indptr[c : c + 2])
    np.testing.assert_allclose(solution.weights.slots[slots], [1 / 3, 1 / 3, 0])
    assert np.isclose(solution.weights.uniform[c], 1 / 3)
    only_own = {a: {v: float(v == a) for v in by_node} for a, by_node in weights.items()}
    solution = solve(problem_of(toy, only_own), MixtureOptions(**PLAIN))
    assert solution.weights.uniform[c] == 1
    solution = solve(problem_of(toy, only_own), MixtureOptions(uniform=False, **PLAIN))
    assert solution.weights.uniform[c] == 0
    assert not solution.weights.slots[slots].any()


def test_no_words_at_all():
    toy = naive.make_toy()
    empty = toy._replace(X=np.zeros_like(toy.X))
    for options in (MixtureOptions(), MixtureOptions(held_out=0.5)):
        solution = solve(problem_of(empty), options)
        assert solution.words.nnz == 0
        assert solution.bound == 0
        np.testing.assert_allclose(solution.weights.uniform, 1)


def test_held_out_items_are_drawn_by_the_seed():
    toy = naive.make_toy(n_items=30)
    found = [
        solve(problem_of(toy), MixtureOptions(held_out=0.5, seed=seed)).weights.slots
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
    one = naive.make_toy(n_items=1)
    assert solve(problem_of(one._replace(X=one.X + 1)), MixtureOptions(held_out=0.5)).bound < 0


@pytest.mark.parametrize("sharing", ["level", "class"])
def test_leaving_out_words_is_leaving_out_items_of_one_word(sharing):
    toy = naive.make_toy(n_items=20, seed=12)
    rows = [
        (np.eye(len(row), dtype=int)[w], labels)
        for row, labels, weight in zip(toy.X, toy.y, toy.weights, strict=True)
        for w, n in enumerate(row)
        for _ in range(int(n * weight))
    ]
    X, y = np.array([row for row, _ in rows]), [labels for _, labels in rows]
    single = naive.Toy(toy.taxonomy, X, y, np.ones(len(y)))
    by_word = solve(problem_of(toy), MixtureOptions(held_out="word", path_weights=sharing))
    by_item = solve(problem_of(single), MixtureOptions(path_weights=sharing))
    np.testing.assert_allclose(by_word.weights.slots, by_item.weights.slots, atol=1e-9)
    np.testing.assert_allclose(by_word.weights.uniform, by_item.weights.uniform, atol=1e-9)
    usual = solve(problem_of(toy), MixtureOptions(path_weights=sharing))
    assert not np.allclose(by_word.weights.slots, usual.weights.slots)


@pytest.mark.parametrize("name", naive.TAXONOMIES)
@pytest.mark.parametrize("without", ["child", "class"])
def test_rest_sources_are_what_is_left_of_nodes(name, without):
    toy = naive.make_toy(naive.TAXONOMIES[name], seed=11)
    taxonomy = toy.taxonomy
    sources, nodes = rest_sources(toy.targets.categories, without)
    left = naive.rest_words if without == "child" else naive.other_words
    words = mixture.discounted(pool(toy.items, sources), sources, 0.0).toarray()
    for c, category in enumerate(taxonomy.leaves):
        expected = left(toy.naive_items(), taxonomy, category)
        row = sources.paths.indices[slice(*sources.paths.indptr[c : c + 2])]
        assert [taxonomy.nodes[v] for v in nodes[row]] == sorted(expected, key=taxonomy.code)
        for s in row:
            np.testing.assert_allclose(words[s], expected[taxonomy.nodes[nodes[s]]])
            assert sources.levels[s] == taxonomy.depths[nodes[s]]


def test_one_category_of_its_own_root():
    taxonomy = naive.Taxonomy([], nodes=["only"])
    toy = naive.Toy(taxonomy, np.array([[1, 2], [0, 1]]), [["only"], ["only"]], np.ones(2))
    solution = solve(problem_of(toy), MixtureOptions(uniform=False))
    np.testing.assert_allclose(solution.words.toarray(), [[0.25, 0.75]])
    np.testing.assert_allclose(solution.weights.slots, [1.0])

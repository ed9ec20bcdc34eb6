"""The measures that take a loss, with the losses of ``taxonomist.losses``."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist import losses, metrics
from taxonomist.errors import LabelError
from taxonomist.taxonomy import Taxonomy
from tests.strategies import taxonomies

LOADS = {"n1": 3.0, "n2": 0.25}


def above(taxonomy, node):
    return {node, *taxonomy.ancestors(node)}


def weighted(taxonomy, y, u):
    """CH04's Eq. 23 with LOADS, 2 for a miss and 1 for a false alarm."""
    true, predicted = above(taxonomy, y), above(taxonomy, u)
    missed = sum(2 * LOADS.get(node, 1) for node in true - predicted)
    return missed + sum(LOADS.get(node, 1) for node in predicted - true)


def from_codes(taxonomy, y, u):
    """An asymmetric loss that knows no taxonomy."""
    return 0.0 if y == u else 2.0 * taxonomy.code(y) + taxonomy.code(u)


def matrix(taxonomy, categories):
    return [[from_codes(taxonomy, y, u) for u in categories] for y in categories]


# What category_loss is given, and the same as a function of two ids.
LOSSES = {
    "zero_one": (lambda t, c: "zero_one", lambda t, y, u: float(y != u)),
    "tree": (lambda t, c: "tree", lambda t, y, u: len(above(t, y) ^ above(t, u)) / 2),
    "weighted": (
        lambda t, c: losses.weighted_tree(
            {node: load for node, load in LOADS.items() if node in t}, 2.0, 1.0
        ),
        weighted,
    ),
    "matrix": (matrix, from_codes),
    "callable": (lambda t, c: lambda y, u: from_codes(t, y, u), from_codes),
}


@st.composite
def problems(draw):
    """A taxonomy, categories in any order, scores with ties, and which are relevant."""
    taxonomy = draw(taxonomies(min_nodes=3))
    nodes = st.sampled_from(taxonomy.nodes[1:])
    categories = draw(st.lists(nodes, unique=True, min_size=2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (draw(st.integers(1, 5)), len(categories))
    relevant = rng.random(shape) < 0.5
    relevant[:, 0] = True
    return taxonomy, categories, rng.integers(-2, 3, size=shape).astype(float), relevant


@pytest.mark.equation("CH04:39")
@pytest.mark.parametrize("name", LOSSES)
@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_taxonomy_loss_is_the_mean_of_the_loss(name, problem, seed):
    taxonomy, categories, *_ = problem
    spec, naive = LOSSES[name]
    loss = losses.category_loss(spec(taxonomy, categories), taxonomy, categories)
    true, predicted = np.random.default_rng(seed).choice(categories, size=(2, 6))
    expected = np.mean([naive(taxonomy, y, u) for y, u in zip(true, predicted, strict=True)])
    assert metrics.taxonomy_loss(true, predicted, taxonomy, loss=loss) == pytest.approx(expected)


@pytest.mark.parametrize("name", LOSSES)
@given(problem=problems())
def test_maximal_loss_is_the_worst_of_a_misordered_pair(name, problem):
    taxonomy, categories, scores, relevant = problem
    spec, naive = LOSSES[name]
    # The loss may list the categories in another order than the scores.
    loss = losses.category_loss(spec(taxonomy, categories[::-1]), taxonomy, categories[::-1])
    worst = [
        max(
            naive(taxonomy, categories[y], categories[u]) if row[y] <= row[u] else 0.0
            for y in np.flatnonzero(hits)
            for u in [*np.flatnonzero(~hits), y]
        )
        for row, hits in zip(scores, relevant, strict=True)
    ]
    value = metrics.maximal_loss(relevant, scores, taxonomy, classes=categories, loss=loss)
    assert value == pytest.approx(np.mean(worst))


@pytest.mark.parametrize("name", LOSSES)
@given(problem=problems())
def test_misordering_loss_sums_over_the_misordered_pairs(name, problem):
    """CH07's Δ(Y, g): every pair whose irrelevant category is not ranked below the relevant one."""
    taxonomy, categories, scores, relevant = problem
    spec, naive = LOSSES[name]
    given_loss = spec(taxonomy, categories[::-1])
    loss = losses.category_loss(given_loss, taxonomy, categories[::-1])
    totals = [
        sum(
            naive(taxonomy, categories[y], categories[u])
            for y in np.flatnonzero(hits)
            for u in np.flatnonzero(~hits)
            if row[u] >= row[y]
        )
        for row, hits in zip(scores, relevant, strict=True)
    ]
    options = {"classes": categories}
    value = metrics.misordering_loss(relevant, scores, taxonomy, loss=loss, **options)
    assert value == pytest.approx(np.mean(totals))
    each = metrics.item_values(
        metrics.misordering_loss, relevant, scores, taxonomy, loss=loss, **options
    )
    np.testing.assert_allclose(each, totals)
    worst = metrics.item_values(
        metrics.maximal_loss, relevant, scores, taxonomy, loss=loss, **options
    )
    assert (worst <= each + 1e-12).all()


@st.composite
def two_sets(draw):
    """A taxonomy, s_v, c⁻ and c⁺, and pairs of label sets, some of them empty."""
    taxonomy = draw(taxonomies(min_nodes=3))
    numbers = st.sampled_from([0.0, 0.25, 1.0, 3.0])
    load = {node: draw(numbers) for node in draw(st.sets(st.sampled_from(taxonomy.nodes)))}
    first = int(taxonomy.has_artificial_root)
    label_sets = st.lists(st.sampled_from(taxonomy.nodes[first:]), max_size=4)
    pairs = draw(st.lists(st.tuples(label_sets, label_sets), min_size=1, max_size=4))
    return taxonomy, load, draw(numbers), draw(numbers), pairs


@given(two_sets())
def test_set_loss_is_the_formula_of_ch07(problem):
    """Δ = c⁻ Σ_anc(Y) s + c⁺ Σ_anc(Ŷ) s - (c⁻ + c⁺) Σ_both s."""
    taxonomy, load, miss, false_alarm, pairs = problem
    loss = losses.weighted_tree(load, miss, false_alarm)

    def volume(nodes):
        return sum(load.get(node, 1.0) for node in nodes)

    def anc(nodes):
        # A virtual root stands above every set, the empty one too.
        top = {taxonomy.root} if taxonomy.has_artificial_root else set()
        return set().union(top, *(above(taxonomy, node) for node in nodes))

    expected = [
        miss * volume(anc(Y))
        + false_alarm * volume(anc(U))
        - (miss + false_alarm) * volume(anc(Y) & anc(U))
        for Y, U in pairs
    ]
    true, predicted = ([list(part) for part in parts] for parts in zip(*pairs, strict=True))
    found = metrics.item_values(metrics.set_loss, true, predicted, taxonomy, loss=loss)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    # Costs of 1 count the nodes that differ, and the default halves that.
    ones = losses.weighted_tree(1.0, 1.0, 1.0)
    count = metrics.symmetric_difference_loss(true, predicted, taxonomy)
    assert metrics.set_loss(true, predicted, taxonomy, loss=ones) == pytest.approx(count)
    assert metrics.set_loss(true, predicted, taxonomy) == pytest.approx(count / 2)


@given(problems(), st.integers(0, 2**32 - 1))
def test_set_loss_of_single_labels_is_the_taxonomy_loss(problem, seed):
    taxonomy, categories, *_ = problem
    true, predicted = np.random.default_rng(seed).choice(categories, size=(2, 6)).tolist()
    spec = LOSSES["weighted"][0](taxonomy, categories)
    bound = losses.category_loss(spec, taxonomy, categories)
    expected = metrics.taxonomy_loss(true, predicted, taxonomy, loss=bound)
    assert metrics.taxonomy_loss(true, predicted, taxonomy, loss=spec) == pytest.approx(expected)
    for loss in (spec, bound):
        sets = [[label] for label in true]
        assert metrics.set_loss(sets, predicted, taxonomy, loss=loss) == pytest.approx(expected)


def test_set_loss_needs_costs_of_nodes():
    tree = Taxonomy.from_edges([("r", "a"), ("r", "b")])
    matrix = losses.category_loss([[0, 1], [2, 0]], tree)
    for loss in (matrix, "tree", lambda y, u: 1.0):
        with pytest.raises(LabelError, match=r"pass None or taxonomist.losses.weighted_tree"):
            metrics.set_loss([["a"]], [["b"]], tree, loss=loss)
    other = losses.category_loss("tree", Taxonomy.flat("ab"))
    with pytest.raises(LabelError, match="another taxonomy"):
        metrics.set_loss([["a"]], [["b"]], tree, loss=other)


def test_the_set_loss_by_hand():
    """A reader of all sports misses less than one of soccer only, if few signed up for soccer."""
    news = Taxonomy.from_nested({"sports": ["soccer", "chess"], "arts": ["film"]})
    volumes = {"sports": 10.0, "soccer": 1.0, "chess": 2.0, "arts": 5.0, "film": 0.0}
    loss = losses.weighted_tree(volumes, miss=3.0, false_alarm=1.0)
    true, predicted = [["soccer"], ["soccer", "film"], []], [["chess"], ["soccer"], ["film"]]
    found = metrics.item_values(metrics.set_loss, true, predicted, news, loss=loss)
    assert found.tolist() == [3 * 1 + 2, 3 * (5 + 0), 5 + 0]
    weighted = metrics.set_loss(true, predicted, news, loss=loss, sample_weight=[1, 0, 0])
    assert weighted == 5.0
    classes = ["soccer", "chess", "film"]
    scores = [[0.2, 0.5, 0.1], [0.5, 0.6, 0.3]]
    total = metrics.misordering_loss(
        [["soccer"], ["soccer", "film"]], scores, news, classes=classes, loss=loss
    )
    assert total == ((3 * 1 + 2) + (3 * 1 + 2) + (3 * 5 + 10 + 2)) / 2


def test_half_a_link_by_hand():
    tree = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1")])
    loss = losses.category_loss(losses.weighted_tree({"a": 10.0}), tree)
    assert metrics.taxonomy_loss(["a1", "a1"], ["a2", "b1"], tree, loss=loss) == (1 + 6.5) / 2
    scores = [[0.5, 0.5, 0.4], [0.1, 0.5, 0.4]]
    options = {"classes": ["a1", "a2", "b1"], "loss": loss}
    assert metrics.maximal_loss(["a1", "a1"], scores, tree, **options) == (1 + 6.5) / 2

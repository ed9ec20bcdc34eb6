from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics as peers
from sklearn.exceptions import UndefinedMetricWarning

from taxonomist import metrics
from taxonomist.errors import LabelError
from taxonomist.metrics import _rankings
from taxonomist.taxonomy import Taxonomy
from tests.strategies import taxonomies

PLAIN = (metrics.one_accuracy, metrics.average_precision, metrics.ranking_loss)


@st.composite
def rankings(draw, *, ties=True):
    taxonomy = draw(taxonomies(min_nodes=4))
    interior = [n for n in taxonomy.nodes[1:] if taxonomy.children(n)]
    classes = [*taxonomy.leaves]
    if interior:
        classes += draw(st.lists(st.sampled_from(interior), unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (draw(st.integers(1, 6)), len(classes))
    scores = rng.integers(-2, 3, size=shape).astype(float) if ties else rng.standard_normal(shape)
    relevant = rng.random(shape) < draw(st.sampled_from([0.2, 0.5, 1.0]))
    relevant[0, 0] = True
    return taxonomy, classes, scores, relevant


def worst_order(scores, relevant):
    """Categories from first to last, irrelevant before relevant ones of the same score."""
    return sorted(range(len(scores)), key=lambda j: (-scores[j], relevant[j]))


def mean_over_items(measure, scores, relevant):
    """The mean of ``measure(hits in order)`` over items that have a relevant category."""
    rows = [(s, r) for s, r in zip(scores, relevant, strict=True) if r.any()]
    return np.mean([measure([r[j] for j in worst_order(s, r)]) for s, r in rows])


def naive_average_precision(hits):
    positions = [p for p, hit in enumerate(hits, 1) if hit]
    return np.mean([sum(hits[:p]) / p for p in positions])


def naive_ndcg(k):
    def ndcg(hits):
        gain = sum(hit / math.log2(p + 1) for p, hit in enumerate(hits[:k], 1))
        return gain / sum(1 / math.log2(p + 1) for p in range(1, min(k, sum(hits)) + 1))

    return ndcg


def misordered(scores, relevant):
    """Pairs (y, ȳ) with f(y) <= f(ȳ), from CH07's own definition."""
    for y in np.flatnonzero(relevant):
        yield from ((y, z) for z in np.flatnonzero(~relevant) if scores[y] <= scores[z])


@given(rankings(), st.integers(1, 12))
def test_against_the_worst_order(problem, k):
    _, _, scores, relevant = problem
    expected = {
        metrics.one_accuracy: lambda hits: hits[0],
        metrics.average_precision: naive_average_precision,
    }
    for measure, naive in expected.items():
        value = measure(relevant, scores)
        assert value == pytest.approx(mean_over_items(naive, scores, relevant))
    at_k = {
        metrics.precision_at_k: lambda hits: sum(hits[:k]) / k,
        metrics.ndcg_at_k: naive_ndcg(k),
    }
    for measure, naive in at_k.items():
        value = measure(relevant, scores, k=k)
        assert value == pytest.approx(mean_over_items(naive, scores, relevant))


@given(rankings())
def test_losses_against_misordered_pairs(problem):
    taxonomy, classes, scores, relevant = problem
    fractions, worst = [], []
    for s, r in zip(scores, relevant, strict=True):
        if r.any():
            pairs = list(misordered(s, r))
            fractions.append(len(pairs) / max(1, r.sum() * (~r).sum()))
            delta = [taxonomy.distance(classes[y], classes[z]) / 2 for y, z in pairs]
            worst.append(max(delta, default=0))
    assert metrics.ranking_loss(relevant, scores) == pytest.approx(np.mean(fractions))
    value = metrics.maximal_loss(relevant, scores, taxonomy, classes=classes)
    assert value == pytest.approx(np.mean(worst))
    value = metrics.maximal_loss(
        relevant, scores, taxonomy, classes=classes, loss=lambda a, b: float(a != b)
    )
    assert value == pytest.approx(np.mean([w > 0 for w in worst]))


@given(rankings())
def test_parent_one_accuracy_is_one_accuracy_one_level_up(problem):
    taxonomy, classes, scores, relevant = problem
    above = [set(taxonomy.parents(c)) if c in taxonomy.leaves else {c} for c in classes]
    related = np.zeros_like(relevant)
    for i, row in enumerate(relevant):
        wanted = set().union(*(above[j] for j in np.flatnonzero(row)))
        related[i] = [bool(above[j] & wanted) for j in range(len(classes))]
    value = metrics.parent_one_accuracy(relevant, scores, taxonomy, classes=classes)
    expected = mean_over_items(lambda hits: hits[0], scores, related)
    assert value == pytest.approx(expected)
    assert value >= metrics.one_accuracy(relevant, scores)


@given(rankings(ties=False), st.integers(1, 5))
def test_against_scikit_learn_where_there_are_no_ties(problem, k):
    _, _, scores, relevant = problem
    rows = relevant.any(axis=1)
    scores, relevant = scores[rows], relevant[rows]
    if relevant.shape[1] < 2:
        return
    value = metrics.average_precision(relevant, scores)
    assert value == pytest.approx(peers.label_ranking_average_precision_score(relevant, scores))
    value = metrics.ndcg_at_k(relevant, scores, k=k)
    assert value == pytest.approx(peers.ndcg_score(relevant, scores, k=k, ignore_ties=True))


@given(rankings())
def test_ranking_loss_against_scikit_learn(problem):
    _, _, scores, relevant = problem
    rows = relevant.any(axis=1)
    scores, relevant = scores[rows], relevant[rows]
    if relevant.shape[1] > 1:
        expected = peers.label_ranking_loss(relevant, scores)
        assert metrics.ranking_loss(relevant, scores) == pytest.approx(expected)


@given(rankings())
def test_all_forms_of_input_give_the_same(problem):
    taxonomy, classes, scores, relevant = problem
    sets = [[classes[j] for j in np.flatnonzero(row)] for row in relevant]
    for measure in (*PLAIN, metrics.precision_at_k, metrics.ndcg_at_k):
        expected = measure(relevant, scores)
        assert measure(sets, sparse.csr_array(scores), classes=classes) == expected
        assert measure(sparse.csr_matrix(relevant), sparse.csr_matrix(scores)) == expected
        assert measure(relevant.astype(float), scores.astype(np.float32)) == expected
    for measure in (metrics.maximal_loss, metrics.parent_one_accuracy):
        expected = measure(relevant, scores, taxonomy, classes=classes)
        assert measure(sets, sparse.csr_array(scores), taxonomy, classes=classes) == expected


@given(rankings())
def test_small_blocks_give_the_same(problem):
    taxonomy, classes, scores, relevant = problem
    whole = [measure(relevant, scores) for measure in PLAIN]
    options = {"classes": classes}
    taxonomic = (metrics.maximal_loss, metrics.parent_one_accuracy)
    whole += [measure(relevant, scores, taxonomy, **options) for measure in taxonomic]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rankings, "DENSE_CELLS", 3)
        parts = [measure(relevant, scores) for measure in PLAIN]
        parts += [measure(relevant, scores, taxonomy, **options) for measure in taxonomic]
    assert parts == whole


def test_one_label_per_item_is_a_set_of_one():
    scores = [[0.1, 0.9], [0.8, 0.2]]
    assert metrics.one_accuracy(["b", "b"], scores, classes=["a", "b"]) == 0.5


def test_zeros_that_are_stored_are_zeros():
    relevant = sparse.csr_array(np.array([[1, 1, 0]]))
    relevant.data[0] = 0
    assert metrics.ranking_loss(relevant, [[0.0, 1.0, 2.0]]) == 0.5


def test_labels_that_are_given_twice_count_once():
    scores = [[0.1, 0.9, 0.5]]
    twice = sparse.csr_array((np.ones(3, bool), [2, 0, 2], [0, 3]), shape=(1, 3))
    for measure in PLAIN:
        expected = measure(np.array([[1, 0, 1]]), scores)
        assert measure([["a", "c", "a"]], scores, classes=list("abc")) == expected
        assert measure(twice, scores) == expected


def test_a_table_of_ids_is_label_sets():
    scores = [[0.1, 0.9], [0.8, 0.2]]
    for table in (np.array([["b", ""], ["a", "b"]]), pd.DataFrame([["b", None], ["a", "b"]])):
        assert metrics.average_precision(table, scores, classes=["a", "b"]) == 1.0


def test_infinite_scores_are_ranked():
    scores = [[-np.inf, -np.inf, 0.0], [np.inf, 0.0, -np.inf]]
    relevant = np.array([[True, False, True], [True, False, False]])
    assert metrics.one_accuracy(relevant, scores) == 1.0
    assert metrics.ranking_loss(relevant, scores) == pytest.approx(1 / 4)


def test_weights_weigh_items():
    relevant, scores = np.eye(2, dtype=bool), [[1.0, 0.0], [1.0, 0.0]]
    for measure, expected in zip(PLAIN, (0.75, 0.875, 0.25), strict=True):
        assert measure(relevant, scores, sample_weight=[3, 1]) == expected


def test_items_without_relevant_categories_are_left_out():
    relevant, scores = np.array([[0, 0], [1, 0]]), np.array([[1.0, 0.0], [1.0, 0.0]])
    assert metrics.one_accuracy(relevant, scores) == 1.0
    taxonomy = Taxonomy.flat(["a", "b"])
    for measure in PLAIN:
        with pytest.warns(UndefinedMetricWarning, match="No item has a relevant category") as seen:
            assert math.isnan(measure(np.zeros((2, 2)), scores))
        assert seen[0].filename == __file__
    for measure in (metrics.maximal_loss, metrics.parent_one_accuracy):
        with pytest.warns(UndefinedMetricWarning):
            assert math.isnan(measure([[], []], scores, taxonomy, classes=["a", "b"]))


@pytest.mark.parametrize(
    ("true", "scores", "classes", "message"),
    [
        ([["a"]], [[1.0], [2.0]], ["a"], "y_true has 1 items but scores has 2"),
        ([], np.zeros((0, 2)), ["a", "b"], "at least one item"),
        ([["a"]], [[1.0, 2.0]], ["a"], "2 columns but classes has 1 labels"),
        ([["a"]], [[1.0, 2.0]], ["a", "a"], "twice"),
        ([["a"]], [[1.0, 2.0]], None, "classes="),
        ([["c"]], [[1.0, 2.0]], ["a", "b"], "without a column in scores: 'c'"),
        ([["a"]] * 2, [[1.0, 2.0], [0.0, np.nan]], ["a", "b"], "NaN in row 1"),
        ([["a"]] * 2, sparse.csr_array([[1.0, 2.0], [0.0, np.nan]]), ["a", "b"], "NaN in row 1"),
        ([["a"]], [1.0], ["a"], "1 dimension"),
        ([["a"]], [[]], [], "no columns"),
        (np.eye(1), [[1.0, 2.0]], None, r"shape \(1, 1\) but scores has \(1, 2\)"),
        (np.array([[2, 0]]), [[1.0, 2.0]], None, "other than 0 and 1"),
    ],
)
def test_input_that_does_not_fit(true, scores, classes, message):
    with pytest.raises(LabelError, match=message):
        metrics.one_accuracy(true, scores, classes=classes)


@pytest.mark.parametrize("k", [0, 1.5, math.nan])
def test_k_is_a_whole_number(k):
    for measure in (metrics.precision_at_k, metrics.ndcg_at_k):
        with pytest.raises(LabelError, match=f"k is {k}"):
            measure([[1]], [[1.0]], k=k)


def test_unknown_classes_are_named():
    for measure in (metrics.maximal_loss, metrics.parent_one_accuracy):
        with pytest.raises(LabelError, match="in classes is not a node of the taxonomy: 'c'"):
            measure([["c"]], [[1.0, 2.0]], Taxonomy.flat(["a", "b"]), classes=["c", "b"])


def test_sparse_scores_are_unfolded_in_blocks(monkeypatch):
    monkeypatch.setattr(_rankings, "DENSE_CELLS", 2**14)
    scores = sparse.eye_array(1000, format="csr")
    taxonomy = Taxonomy.flat([f"c{i}" for i in range(1000)])
    true, classes = taxonomy.leaves, taxonomy.leaves
    tracemalloc.start()
    assert metrics.average_precision(true, scores, classes=classes) == 1.0
    assert metrics.maximal_loss(true, scores, taxonomy, classes=classes) == 0.0
    assert metrics.parent_one_accuracy(true, scores, taxonomy, classes=classes) == 1.0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6, "what all scores would take"


def test_tens_of_thousands_of_relevant_categories_fit_in_memory():
    n = 20_000
    scores = np.arange(2 * n, dtype=float).reshape(2, n)
    relevant = np.tile(np.arange(n) % 2 == 0, (2, 1))
    tracemalloc.start()
    # From the top, every irrelevant category is followed by a relevant one: positions 2, 4, ...
    assert metrics.average_precision(relevant, scores) == 0.5
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_thousands_of_classes():
    rng = np.random.default_rng(0)
    parents = {f"c{i}": f"g{i % 50}" for i in range(3000)}
    taxonomy = Taxonomy.from_parents(parents | {f"g{i}": None for i in range(50)})
    classes = sorted(parents)
    scores = sparse.csr_array(np.maximum(rng.random((200, 3000)) - 0.99, 0.0))
    true = [rng.choice(classes, size=3, replace=False) for _ in range(200)]
    value = metrics.maximal_loss(true, scores, taxonomy, classes=classes)
    assert value == 2.0
    assert 0 <= metrics.parent_one_accuracy(true, scores, taxonomy, classes=classes) < 0.3

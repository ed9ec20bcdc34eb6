from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import average_precision_score

from taxonomist import metrics
from taxonomist.errors import LabelError
from taxonomist.taxonomy import Taxonomy
from tests.strategies import taxonomies

FLAT = Taxonomy.flat(["a", "b"])


@st.composite
def scored(draw):
    taxonomy = draw(taxonomies())
    label_set = st.lists(st.sampled_from(taxonomy.nodes[1:]), unique=True, max_size=3)
    true = draw(st.lists(label_set, min_size=1, max_size=6))
    true[0] = true[0] or [taxonomy.leaves[0]]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (len(true), taxonomy.n_nodes)
    return taxonomy, true, rng.integers(-2, 3, size=shape) * (rng.random(shape) < 0.7)


def closed(taxonomy, true):
    Y = np.zeros((len(true), taxonomy.n_nodes), dtype=bool)
    for row, nodes in zip(Y, true, strict=True):
        row[taxonomy.codes(set(nodes).union(*map(taxonomy.ancestors, nodes)))] = True
    return Y


def naive_area(true, scores):
    """Precision times gain in recall, threshold by threshold."""
    pairs = list(zip(true.ravel(), scores.ravel(), strict=True))
    area = recall = 0.0
    for threshold in sorted({s for _, s in pairs}, reverse=True):
        hits = [t for t, s in pairs if s >= threshold]
        now = sum(hits) / true.sum()
        area += (now - recall) * sum(hits) / len(hits)
        recall = now
    return area


@given(scored())
def test_area_against_thresholds_and_scikit_learn(problem):
    taxonomy, true, scores = problem
    Y = closed(taxonomy, true)
    forms = (scores, sparse.csr_array(scores), sparse.csc_matrix(scores.astype(float)))
    for form in forms:
        value = metrics.au_prc(true, form, taxonomy)
        assert value == pytest.approx(naive_area(Y[:, 1:], scores[:, 1:]))
        expected = average_precision_score(Y[:, 1:].ravel(), scores[:, 1:].ravel())
        assert value == pytest.approx(expected)
        value = metrics.au_prc(Y, form, taxonomy, exclude_root=False)
        assert value == pytest.approx(naive_area(Y, scores))


@given(scored())
def test_weights_repeat_items(problem):
    taxonomy, true, scores = problem
    weights = np.arange(1, len(true) + 1)
    repeated = np.repeat(np.arange(len(true)), weights)
    expected = metrics.au_prc([true[i] for i in repeated], scores[repeated], taxonomy)
    for form in (scores, sparse.csr_array(scores)):
        value = metrics.au_prc(true, form, taxonomy, sample_weight=weights)
        assert value == pytest.approx(expected)


@given(scored())
def test_a_node_scores_as_its_best_category(problem):
    taxonomy, true, scores = problem
    classes = [*taxonomy.leaves, *[n for n in taxonomy.nodes if taxonomy.children(n)][:2]]
    scores = scores[:, : len(classes)]
    expected = np.empty((len(true), taxonomy.n_nodes))
    for code, node in enumerate(taxonomy.nodes):
        below = {node, *taxonomy.descendants(node)}
        columns = [j for j, c in enumerate(classes) if c in below]
        expected[:, code] = scores[:, columns].max(axis=1)
    for form in (scores, sparse.csr_array(scores)):
        np.testing.assert_array_equal(metrics.node_scores(form, taxonomy, classes), expected)
        value = metrics.au_prc(true, form, taxonomy, classes=classes)
        assert value == pytest.approx(metrics.au_prc(true, expected, taxonomy))


def test_a_node_without_categories_comes_last():
    scores = metrics.node_scores([[1.0]], FLAT, ["b"])
    np.testing.assert_array_equal(scores, [[1.0, -np.inf, 1.0]])
    assert metrics.au_prc([["a"]], [[1.0]], FLAT, classes=["b"]) == 0.5


@given(scored())
def test_an_indicator_has_a_column_per_node_or_per_class(problem):
    taxonomy, true, scores = problem
    classes = taxonomy.nodes[:0:-1]
    scores = scores[:, 1:]
    expected = metrics.au_prc(true, scores, taxonomy, classes=classes)
    by_class = np.array([[node in row for node in classes] for row in true])
    by_node = np.array([[node in row for node in taxonomy.nodes] for row in true])
    for form in (by_class, sparse.csr_array(by_class), by_node):
        assert metrics.au_prc(form, scores, taxonomy, classes=classes) == expected


def test_items_of_weight_zero_may_come_first():
    scores = [[0.0, 9.0, 0.0], [0.0, 1.0, 0.0]]
    assert metrics.au_prc([[], ["a"]], scores, FLAT, sample_weight=[0, 1]) == 1.0


def test_no_labels_at_all():
    with pytest.warns(UndefinedMetricWarning, match="No item has a label") as seen:
        assert math.isnan(metrics.au_prc([[]], [[0.0, 1.0, 2.0]], FLAT))
    assert seen[0].filename == __file__
    with pytest.warns(UndefinedMetricWarning):
        assert math.isnan(metrics.au_prc(["x"], [[1.0]], Taxonomy.from_edges([], nodes=["x"])))


@pytest.mark.parametrize(
    ("scores", "classes", "message"),
    [
        ([[1.0, 2.0]], None, "2 columns but the taxonomy has 3 nodes"),
        ([[1.0, 2.0]], ["a"], "2 columns but classes has 1 labels"),
        ([[1.0, 2.0]], ["a", "a"], "classes names a label twice"),
        ([[1.0, 2.0]], ["a", "c"], "in classes is not a node of the taxonomy: 'c'"),
        ([[1.0, np.nan]], ["a", "b"], "NaN in row 0"),
        ([[1.0, 2.0]] * 2, ["a", "b"], "y_true has 1 items but scores has 2"),
    ],
)
def test_scores_that_do_not_fit(scores, classes, message):
    with pytest.raises(LabelError, match=message):
        metrics.au_prc([["a"]], scores, FLAT, classes=classes)

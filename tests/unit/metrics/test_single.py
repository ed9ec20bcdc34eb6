from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from taxonomist import losses, metrics
from taxonomist.errors import LabelError
from taxonomist.taxonomy import Taxonomy
from tests.strategies import taxonomies

TREE = Taxonomy.from_edges(
    [("ROOT", "a"), ("ROOT", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2")]
)


@st.composite
def labelled(draw):
    taxonomy = draw(taxonomies())
    label = st.sampled_from(taxonomy.nodes)
    pairs = draw(st.lists(st.tuples(label, label), min_size=1, max_size=8))
    true, predicted = map(list, zip(*pairs, strict=True))
    return taxonomy, true, predicted


def closed(taxonomy, node):
    return {node, *taxonomy.ancestors(node)}


def parents(taxonomy, node):
    is_terminal = not taxonomy.children(node) and taxonomy.parents(node)
    return set(taxonomy.parents(node)) if is_terminal else {node}


@pytest.mark.equation("CH04:37")
@given(labelled())
def test_accuracy_counts_equal_labels(problem):
    _, true, predicted = problem
    expected = np.mean([t == p for t, p in zip(true, predicted, strict=True)])
    assert metrics.accuracy(true, predicted) == pytest.approx(expected)
    assert metrics.accuracy(np.array(true), np.array(predicted, dtype=object)) == expected


@pytest.mark.equation("CH04:39")
@given(labelled())
def test_taxonomy_loss_is_half_the_symmetric_difference(problem):
    taxonomy, true, predicted = problem
    losses = [
        len(closed(taxonomy, t) ^ closed(taxonomy, p)) / 2
        for t, p in zip(true, predicted, strict=True)
    ]
    assert metrics.taxonomy_loss(true, predicted, taxonomy) == pytest.approx(np.mean(losses))
    distance = metrics.taxonomy_loss(true, predicted, taxonomy, loss=taxonomy.distance)
    assert distance == pytest.approx(2 * np.mean(losses))


@pytest.mark.equation("CH04:40")
@given(labelled())
def test_parent_accuracy_asks_for_a_common_parent(problem):
    taxonomy, true, predicted = problem
    expected = np.mean(
        [
            bool(parents(taxonomy, t) & parents(taxonomy, p))
            for t, p in zip(true, predicted, strict=True)
        ]
    )
    assert metrics.parent_accuracy(true, predicted, taxonomy) == pytest.approx(expected)


def test_parent_accuracy_with_several_parents():
    dag = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("b", "y")])
    assert metrics.parent_accuracy(["x", "y", "a"], ["y", "a", "x"], dag) == pytest.approx(2 / 3)


def test_parent_accuracy_of_a_single_node():
    assert metrics.parent_accuracy(["x"], ["x"], Taxonomy.from_edges([], nodes=["x"])) == 1.0


@pytest.mark.equation("CH04:38")
@given(st.integers(0, 2**32 - 1))
def test_mean_reciprocal_rank_counts_ties_against_the_prediction(seed):
    rng = np.random.default_rng(seed)
    classes = list("abcde")
    scores = rng.integers(-1, 2, size=(6, 5)).astype(float)
    true = rng.choice(classes, size=6)
    ranks = [sum(row >= row[classes.index(t)]) for row, t in zip(scores, true, strict=True)]
    expected = pytest.approx(np.mean(1 / np.array(ranks)))
    for form in (scores, sparse.csr_matrix(scores), sparse.csr_array(scores), scores.astype(int)):
        assert metrics.mean_reciprocal_rank(true, form, classes=classes) == expected


def test_a_loss_object_is_asked_for_pairs_of_its_categories():
    class Loss:
        categories = TREE.codes(["b1", "a1", "a2"])

        def pairs(self, i, j):
            return 10 * i + j

    loss = metrics.taxonomy_loss(["a1", "b1"], ["a2", "a2"], TREE, loss=Loss())
    assert loss == (12 + 2) / 2
    with pytest.raises(LabelError, match="does not cover 'b2'"):
        metrics.taxonomy_loss(["a1"], ["b2"], TREE, loss=Loss())
    with pytest.raises(LabelError, match=r"loss is 'tree'; pass .*category_loss"):
        metrics.taxonomy_loss(["a1"], ["b2"], TREE, loss="tree")


def test_a_loss_made_for_another_taxonomy_is_refused():
    other = losses.category_loss("tree", Taxonomy.flat(["a1", "a2", "b1"]))
    with pytest.raises(LabelError, match="another taxonomy"):
        metrics.taxonomy_loss(["a1"], ["a2"], TREE, loss=other)


def test_integers_are_ids():
    taxonomy = Taxonomy.from_edges([(1, 11), (1, 12)])
    for true in ([11, 12], np.array([11, 12])):
        assert metrics.accuracy(true, ["11", "11"]) == 0.5
        assert metrics.taxonomy_loss(true, ["11", "11"], taxonomy) == 0.5
        scores = [[1, 0], [0, 1]]
        assert metrics.mean_reciprocal_rank(true, scores, classes=["11", "12"]) == 1.0
        assert metrics.mean_reciprocal_rank(["11", "12"], scores, classes=true) == 1.0
        assert metrics.maximal_loss(true, scores, taxonomy, classes=true) == 0.0
        assert metrics.parent_one_accuracy(true, scores, taxonomy, classes=true) == 1.0
        assert metrics.au_prc(true, scores, taxonomy, classes=true) == 1.0
    assert metrics.accuracy([True, False], np.array([True, True])) == 0.5


def test_sample_weights_weigh_items():
    true, predicted, weights = ["a1", "a2", "b1"], ["a1", "b1", "b2"], [3, 2, 1]
    assert metrics.accuracy(true, predicted, sample_weight=weights) == 3 / 6
    assert metrics.taxonomy_loss(true, predicted, TREE, sample_weight=weights) == 5 / 6
    assert metrics.parent_accuracy(true, predicted, TREE, sample_weight=weights) == 4 / 6
    scores = [[1.0, 0, 0], [1, 0, 0], [1, 0, 0]]
    options = {"classes": ["a1", "a2", "b1"], "sample_weight": weights}
    expected = (3 * 1 + 2 / 3 + 1 / 3) / 6
    assert metrics.mean_reciprocal_rank(true, scores, **options) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("true", "predicted", "message"),
    [
        (["a1"], ["a1", "a2"], "y_true has 1 items but y_pred has 2"),
        ([], [], "at least one item"),
        (["a1", None], ["a1", "a1"], "y_true"),
        (["a1", "a1"], ["a1", float("nan")], "y_pred"),
        ([["a1"]], [["a1"]], "label sets"),
        (np.eye(2), np.eye(2), "label sets"),
    ],
)
def test_labels_that_do_not_fit(true, predicted, message):
    for measure in (metrics.taxonomy_loss, metrics.parent_accuracy):
        with pytest.raises(LabelError, match=message):
            measure(true, predicted, TREE)
    with pytest.raises(LabelError, match=message):
        metrics.accuracy(true, predicted)


def test_unknown_labels_are_named():
    with pytest.raises(LabelError, match="'a3'"):
        metrics.taxonomy_loss(["a3"], ["a1"], TREE)


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [0.0, 0.0], [1.0, np.nan], [1.0, np.inf]])
def test_weights_that_do_not_fit(weights):
    with pytest.raises(LabelError, match="sample_weight"):
        metrics.accuracy(["a", "b"], ["a", "b"], sample_weight=weights)


def test_reciprocal_rank_needs_one_label():
    with pytest.raises(LabelError, match="exactly one label"):
        metrics.mean_reciprocal_rank([["a", "b"]], [[1.0, 2.0]], classes=["a", "b"])

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics as peers

from taxonomist import metrics
from taxonomist.errors import LabelError, UnknownNodeError
from taxonomist.metrics.sets import hierarchical_prf
from taxonomist.taxonomy import Taxonomy, labels
from tests.strategies import taxonomies

TREE = Taxonomy.from_edges(
    [("ROOT", "a"), ("ROOT", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2")]
)
HIERARCHICAL = (
    metrics.hierarchical_precision,
    metrics.hierarchical_recall,
    metrics.hierarchical_f1,
)


@st.composite
def problems(draw):
    taxonomy = draw(taxonomies())
    label_set = st.lists(st.sampled_from(taxonomy.nodes), unique=True, max_size=3)
    pairs = draw(st.lists(st.tuples(label_set, label_set), min_size=1, max_size=6))
    true, predicted = map(list, zip(*pairs, strict=True))
    return taxonomy, true, predicted


def close(taxonomy, sets):
    return [set(s).union(*(taxonomy.ancestors(n) for n in s)) for s in sets]


def narrow(taxonomy, sets):
    return [{n for n in s if not set(taxonomy.descendants(n)) & set(s)} for s in sets]


def counts(true, predicted, nodes):
    """Pairs (item, node) that are in both, predicted and true."""
    y, u = ({(i, n) for i, s in enumerate(x) for n in s if n in nodes} for x in (true, predicted))
    return len(y & u), len(u), len(y)


def prf(both, predicted, true, zero=0.0):
    return (
        both / predicted if predicted else zero,
        both / true if true else zero,
        2 * both / (predicted + true) if predicted + true else zero,
        true,
    )


def evaluated(problem, nodes):
    """The sets that are compared and the nodes over which, for one of the three words."""
    taxonomy, true, predicted = problem
    if nodes == "categories":
        y, u = narrow(taxonomy, true), narrow(taxonomy, predicted)
        return y, u, [*dict.fromkeys([*taxonomy.leaves, *set().union(*y, *u)])]
    y, u = close(taxonomy, true), close(taxonomy, predicted)
    return y, u, taxonomy.nodes[1:] if nodes == "all" else taxonomy.leaves


@pytest.mark.parametrize("nodes", ["leaves", "all", "categories"])
@given(problem=problems())
def test_micro_and_macro_against_sets_of_pairs(nodes, problem):
    taxonomy, true, predicted = problem
    y, u, chosen = evaluated(problem, nodes)
    found = metrics.precision_recall_f1(true, predicted, taxonomy, nodes=nodes)
    assert found == pytest.approx(prf(*counts(y, u, set(chosen))))
    each = [prf(*counts(y, u, {node})) for node in chosen if any(counts(y, u, {node}))]
    expected = np.mean(each, axis=0)[:3] if each else np.zeros(3)
    found = metrics.precision_recall_f1(true, predicted, taxonomy, nodes=nodes, average="macro")
    assert found[:3] == pytest.approx(expected)
    assert found.support == sum(row[3] for row in each)


@given(problems(), st.sampled_from([0.0, 1.0, math.nan]))
def test_single_nodes_and_given_nodes(problem, zero):
    taxonomy, true, predicted = problem
    y, u = close(taxonomy, true), close(taxonomy, predicted)
    nodes = taxonomy.nodes[::-1]
    each = np.array([prf(*counts(y, u, {node}), zero) for node in nodes])
    options = {"nodes": nodes, "zero_division": zero}
    found = metrics.precision_recall_f1(true, predicted, taxonomy, average=None, **options)
    np.testing.assert_allclose(np.column_stack(found), each)
    found = metrics.precision_recall_f1(true, predicted, taxonomy, average="macro", **options)
    for value, column in zip(found[:3], each.T[:3], strict=True):
        defined = column[~np.isnan(column)]
        expected = defined.mean() if defined.size else zero
        assert value == pytest.approx(expected, nan_ok=True)


@given(problems())
def test_levels_against_sets_of_pairs(problem):
    taxonomy, true, predicted = problem
    y, u = close(taxonomy, true), close(taxonomy, predicted)
    found = metrics.precision_recall_f1_per_level(true, predicted, taxonomy)
    assert list(found) == list(range(taxonomy.height + 1))
    for level, value in found.items():
        assert value == pytest.approx(prf(*counts(y, u, set(taxonomy.level(level)))))


def test_level_zero_is_there_only_for_a_real_root():
    assert list(metrics.precision_recall_f1_per_level(["a1"], ["a2"], TREE)) == [1, 2]


@given(problems())
def test_hierarchical_measures_against_sets(problem):
    taxonomy, true, predicted = problem
    y, u = ([s - {taxonomy.root} for s in close(taxonomy, x)] for x in (true, predicted))
    pairs = list(zip(y, u, strict=True))
    rows = [(len(t & p), len(p), len(t)) for t, p in pairs]
    samples = np.mean([prf(*row, zero=float(not any(row))) for row in rows], axis=0)
    pooled = np.sum(rows, axis=0)
    micro = prf(*pooled, zero=float(not any(pooled)))
    for k, measure in enumerate(HIERARCHICAL):
        assert measure(true, predicted, taxonomy) == pytest.approx(micro[k])
        value = measure(true, predicted, taxonomy, average="samples")
        assert value == pytest.approx(samples[k])


@given(problems())
def test_all_forms_of_input_give_the_same(problem):
    taxonomy, true, predicted = problem
    Y, U = (labels.encode_sets(taxonomy, y) for y in (true, predicted))
    expected = metrics.precision_recall_f1(true, predicted, taxonomy, nodes="all")
    forms = [
        (Y.toarray(), U.toarray()),
        (sparse.csr_matrix(Y), U),
        (sparse.csc_array(Y), predicted),
    ]
    for y, u in forms:
        assert metrics.precision_recall_f1(y, u, taxonomy, nodes="all") == expected
        for measure in HIERARCHICAL:
            assert measure(y, u, taxonomy) == measure(true, predicted, taxonomy)


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_label_per_item_agrees_with_scikit_learn(average, weighted):
    rng = np.random.default_rng(3)
    true, predicted = rng.choice(["a1", "a2", "b1"], size=(2, 40))
    weights = rng.integers(0, 4, size=40) if weighted else None
    expected = peers.precision_recall_fscore_support(
        true, predicted, average=average, sample_weight=weights, zero_division=0.0
    )
    found = metrics.precision_recall_f1(
        true, predicted, TREE, average=average, sample_weight=weights
    )
    assert found[:3] == pytest.approx(expected[:3])


def test_label_sets_agree_with_scikit_learn():
    rng = np.random.default_rng(4)
    true, predicted = rng.random((2, 30, TREE.n_nodes)) < 0.3
    Y, U = (labels.close(TREE, labels.encode_sets(TREE, y)).toarray() for y in (true, predicted))
    for average in ("micro", "macro"):
        expected = peers.f1_score(Y[:, 1:], U[:, 1:], average=average)
        found = metrics.precision_recall_f1(true, predicted, TREE, nodes="all", average=average)
        assert found.f1 == pytest.approx(expected)
    expected = peers.f1_score(Y[:, 1:], U[:, 1:], average="samples", zero_division=1.0)
    value = metrics.hierarchical_f1(true, predicted, TREE, average="samples")
    assert value == pytest.approx(expected)


def test_published_example_of_ancestor_sets():
    # Truth a1, prediction a2: the common ancestor a makes half of it right.
    assert metrics.hierarchical_f1(["a1"], ["a2"], TREE) == 0.5
    assert metrics.hierarchical_precision([["a1"]], [["a"]], TREE) == 1.0
    assert metrics.hierarchical_recall([["a1"]], [["a"]], TREE) == 0.5


def test_a_missed_interior_category_counts_beside_a_prediction_below_it():
    found = metrics.precision_recall_f1([["a"]], [["a1"]], TREE, nodes="categories")
    assert found == (0.0, 0.0, 0.0, 1.0)


def test_support_is_weighted():
    weights = {"sample_weight": [3, 1]}
    found = metrics.precision_recall_f1(["a1", "b1"], ["a1", "b2"], TREE, **weights)
    assert found == (0.75, 0.75, 0.75, 4.0)
    found = hierarchical_prf(["a1", "b1"], ["a1", "b2"], TREE, **weights)
    assert found == (7 / 8, 7 / 8, 7 / 8, 8.0)


def test_options_and_labels_that_do_not_fit():
    with pytest.raises(LabelError, match="average is 'weighted'"):
        metrics.precision_recall_f1(["a1"], ["a1"], TREE, average="weighted")
    with pytest.raises(LabelError, match="average is 'macro'"):
        metrics.hierarchical_f1(["a1"], ["a1"], TREE, average="macro")
    with pytest.raises(LabelError, match="nodes is 'interior'"):
        metrics.precision_recall_f1(["a1"], ["a1"], TREE, nodes="interior")
    with pytest.raises(UnknownNodeError, match="a3"):
        metrics.precision_recall_f1(["a1"], ["a1"], TREE, nodes=["a3"])
    for measure in (*HIERARCHICAL, metrics.precision_recall_f1):
        with pytest.raises(LabelError, match="y_true has 1 items but y_pred has 0"):
            measure([["a1"]], [], TREE)
        with pytest.raises(LabelError, match="at least one item"):
            measure([], [], TREE)


def test_an_indicator_over_classes_means_the_same_as_label_sets():
    taxonomy = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2")])
    classes = ["a1", "b"]
    true, predicted = np.array([[1, 0], [0, 1]]), np.array([[1, 1], [0, 0]])
    true_sets, predicted_sets = [["a1"], ["b"]], [["a1", "b"], []]
    for measure in (
        metrics.precision_recall_f1,
        metrics.precision_recall_f1_per_level,
        metrics.hierarchical_precision,
        metrics.hierarchical_recall,
        metrics.hierarchical_f1,
        metrics.zero_one_loss,
        metrics.symmetric_difference_loss,
        metrics.hierarchical_loss,
        metrics.hierarchical_report,
    ):
        assert measure(true, predicted, taxonomy, classes=classes) == measure(
            true_sets, predicted_sets, taxonomy
        )

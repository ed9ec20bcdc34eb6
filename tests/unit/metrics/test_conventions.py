"""F-beta, zero division, chosen nodes, averages over items: by definition and as scikit-learn."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as peers
from sklearn.exceptions import UndefinedMetricWarning

from taxonomist import metrics
from taxonomist.errors import LabelError, UnknownNodeError
from taxonomist.taxonomy import Taxonomy, labels
from tests.unit.metrics.test_sets import HIERARCHICAL, TREE, close, narrow, problems

betas = st.sampled_from([0.0, 0.5, 1.0, 2.0, math.inf])
zeros = st.sampled_from([0.0, 0.5, 1.0, math.nan])
NODES = ("leaves", "all", "below_roots", "categories", "labels")


def naive_prf(true, predicted, beta, zero):
    """Precision, recall and F-beta of two sets, from precision and recall themselves."""
    both = len(true & predicted)
    precision = both / len(predicted) if predicted else zero
    recall = both / len(true) if true else zero
    if math.isinf(beta) or not (true or predicted):
        return precision, recall, recall
    if beta == 0 and not predicted:
        return precision, recall, zero
    p, r = both / max(len(predicted), 1), both / max(len(true), 1)
    wrong = not both
    return precision, recall, 0.0 if wrong else (1 + beta**2) * p * r / (beta**2 * p + r)


def naive_mean(rows):
    columns = np.array(rows).T
    return [np.nan if np.isnan(column).all() else np.nanmean(column) for column in columns]


def sets_to_compare(taxonomy, true, predicted, nodes):
    """The nodes that count, and the sets of nodes that are compared."""
    if nodes == "labels":
        return taxonomy.nodes, list(map(set, true)), list(map(set, predicted))
    if nodes == "categories":
        return taxonomy.nodes, narrow(taxonomy, true), narrow(taxonomy, predicted)
    chosen = {
        "leaves": taxonomy.leaves,
        "all": taxonomy.nodes[1:],
        "below_roots": [n for n in taxonomy.nodes[1:] if n not in taxonomy.roots],
    }[nodes]
    return chosen, close(taxonomy, true), close(taxonomy, predicted)


@pytest.mark.parametrize("nodes", NODES)
@given(problem=problems(), beta=betas, zero=zeros)
def test_averages_over_items_against_sets(nodes, problem, beta, zero):
    taxonomy, true, predicted = problem
    chosen, y, u = sets_to_compare(taxonomy, true, predicted, nodes)
    pairs = [(t & set(chosen), p & set(chosen)) for t, p in zip(y, u, strict=True)]
    expected = naive_mean([naive_prf(*pair, beta, zero) for pair in pairs])
    options = {"nodes": nodes, "beta": beta, "zero_division": zero}
    found = metrics.precision_recall_f1(true, predicted, taxonomy, average="samples", **options)
    assert found[:3] == pytest.approx(expected, nan_ok=True)
    assert found.support == sum(len(t) for t, _ in pairs)


@given(problems(), betas, zeros, st.sampled_from(["all", "below_roots", "leaves"]))
def test_hierarchical_measures_of_chosen_nodes_against_sets(problem, beta, zero, nodes):
    taxonomy, true, predicted = problem
    chosen, y, u = sets_to_compare(taxonomy, true, predicted, nodes)
    pairs = [(t & set(chosen), p & set(chosen)) for t, p in zip(y, u, strict=True)]
    pooled = [{(i, n) for i, pair in enumerate(pairs) for n in pair[k]} for k in (0, 1)]
    rows = {"samples": [naive_prf(*pair, beta, zero) for pair in pairs]}
    rows["micro"] = [naive_prf(*pooled, beta, zero)]
    for average, values in rows.items():
        for k, measure in enumerate(HIERARCHICAL):
            options = {"beta": beta} if k == 2 else {}
            for given_nodes in (nodes, list(chosen)):
                value = measure(
                    true, predicted, taxonomy, average=average, nodes=given_nodes,
                    zero_division=zero, **options,
                )  # fmt: skip
                assert value == pytest.approx(naive_mean(values)[k], nan_ok=True)


@pytest.mark.parametrize("average", ["micro", "macro", "samples", None])
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("zero", [0.0, 1.0, math.nan])
@pytest.mark.parametrize("weighted", [False, True])
def test_label_sets_as_given_agree_with_scikit_learn(average, beta, zero, weighted):
    rng = np.random.default_rng(5)
    true, predicted = rng.random((2, 12, TREE.n_nodes)) < 0.15
    true[0] = predicted[0] = false = np.zeros(TREE.n_nodes, dtype=bool)
    true[1], predicted[2], true[:, 1], predicted[:, 2] = false, false, False, False
    weights = rng.integers(1, 4, size=12) if weighted else None
    options = {"average": average, "beta": beta, "zero_division": zero, "sample_weight": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        expected = peers.precision_recall_fscore_support(true, predicted, **options)
    # Given as ids, all nodes count in a macro average, as all columns do in scikit-learn.
    nodes = "labels" if average in ("micro", "samples") else None
    if nodes:
        found = metrics.precision_recall_f1(true, predicted, TREE, nodes=nodes, **options)
    else:
        Y, U = (
            labels.close(TREE, labels.encode_sets(TREE, y)).toarray() for y in (true, predicted)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            expected = peers.precision_recall_fscore_support(Y, U, **options)
        found = metrics.precision_recall_f1(true, predicted, TREE, nodes=TREE.nodes, **options)
    for ours, theirs in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_a_warning_on_request():
    options = {"nodes": "labels", "average": "samples", "zero_division": "warn"}
    with pytest.warns(UndefinedMetricWarning, match="Precision divided by zero"):
        found = metrics.precision_recall_f1([["a1"], ["b1"]], [["a1"], []], TREE, **options)
    assert found[:3] == (0.5, 0.5, 0.5)
    with pytest.warns(UndefinedMetricWarning, match="Precision and Recall and F-score divided"):
        assert metrics.hierarchical_f1([[]], [[]], TREE, zero_division="warn") == 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metrics.precision_recall_f1(["a1"], ["a1"], TREE, zero_division="warn")


def test_by_default_two_empty_sets_agree():
    for measure in HIERARCHICAL:
        assert measure([[]], [[]], TREE) == 1.0
        assert measure([["a1"], []], [["a1"], []], TREE, average="samples") == 1.0
        assert math.isnan(measure([[]], [[]], TREE, zero_division=math.nan))
        assert measure([["a1"], []], [["a2"], []], TREE, average="samples", zero_division=0.0) < 0.5


@pytest.mark.parametrize("beta", [0.5, 2.0])
def test_f_beta_of_levels_and_nodes(beta):
    true, predicted = [["a1", "b1"], ["a2"]], [["a1"], ["a1", "b2"]]
    levels = metrics.precision_recall_f1_per_level(true, predicted, TREE, beta=beta)
    for found in (*levels.values(), metrics.precision_recall_f1(true, predicted, TREE, beta=beta)):
        p, r = found.precision, found.recall
        assert found.f1 == pytest.approx((1 + beta**2) * p * r / (beta**2 * p + r))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"beta": -1}, "beta is -1; it must be a number, at least 0"),
        ({"beta": "2"}, "beta is '2'"),
        ({"beta": math.nan}, "beta is nan"),
        ({"beta": True}, "beta is True"),
        ({"zero_division": 2}, "zero_division is 2; it must be a number from 0 to 1, NaN or"),
        ({"zero_division": "raise"}, "zero_division is 'raise'"),
        ({"nodes": "labelled"}, "nodes is 'labelled'; pass 'all', 'leaves', 'below_roots'"),
    ],
)
def test_options_that_do_not_fit(options, sentence):
    for measure in (metrics.precision_recall_f1, metrics.hierarchical_f1):
        with pytest.raises(LabelError, match=sentence):
            measure(["a1"], ["a1"], TREE, **options)


def test_hierarchical_measures_and_areas_have_no_nodes_without_ancestors():
    for nodes in ("labels", "categories"):
        with pytest.raises(LabelError, match=f"nodes is '{nodes}'"):
            metrics.hierarchical_f1(["a1"], ["a1"], TREE, nodes=nodes)
        with pytest.raises(LabelError, match=f"nodes is '{nodes}'"):
            metrics.au_prc(["a1"], np.ones((1, TREE.n_nodes)), TREE, nodes=nodes)
    with pytest.raises(UnknownNodeError, match="a3"):
        metrics.hierarchical_f1(["a1"], ["a1"], TREE, nodes=["a3"])


@pytest.mark.parametrize("sparse_scores", [False, True])
def test_area_of_chosen_nodes_agrees_with_scikit_learn(sparse_scores):
    from scipy import sparse

    rng = np.random.default_rng(6)
    true = [list(rng.choice(TREE.leaves, size=2, replace=False)) for _ in range(20)]
    scores = rng.random((20, TREE.n_nodes))
    Y = labels.close(TREE, labels.encode_sets(TREE, true)).toarray()
    for nodes, ids in {
        "below_roots": ["a1", "a2", "b1", "b2"],
        "leaves": TREE.leaves,
        ("b", "a1"): ["b", "a1"],
    }.items():
        columns = TREE.codes(ids)
        given_scores = sparse.csr_array(scores) if sparse_scores else scores
        value = metrics.au_prc(true, given_scores, TREE, nodes=nodes)
        expected = peers.average_precision_score(Y[:, columns], scores[:, columns], average="micro")
        assert value == pytest.approx(expected)


def test_tops_lift_the_area_until_they_are_left_out():
    """The tops of several namespaces are in every set: they are right without any knowledge."""
    go = Taxonomy(
        [("ROOT", top) for top in "FCP"] + [(top, f"{top}{i}") for top in "FCP" for i in (1, 2)]
    )
    true = [["F1", "C1", "P1"], ["F2", "C2", "P2"]]
    constant = np.array([[1.0, 1.0, 0.5, 0.5] + [1.0, 0.5, 0.5] * 2] * 2)
    assert metrics.au_prc(true, constant, go) == pytest.approx(0.5 * 1 + 0.5 * 6 / 9)
    assert metrics.au_prc(true, constant, go, nodes="below_roots") == pytest.approx(0.5)


def test_area_on_the_gene_ontology_as_c_hmcnn_computes_it(load_corpus):
    """C-HMCNN leaves out the root and the three namespaces, and pools all other pairs."""
    corpus = load_corpus("hmc-funcat-go", set="pheno_GO")
    taxonomy, is_test = corpus.taxonomy, np.asarray(corpus.split) == "test"
    Y = labels.close(taxonomy, labels.encode_sets(taxonomy, corpus.labels))
    prior = np.asarray(Y[~is_test].mean(axis=0)).ravel()
    scores = np.tile(prior, (is_test.sum(), 1))
    skipped = ("root", "GO0003674", "GO0005575", "GO0008150")
    columns = [code for code, node in enumerate(taxonomy.nodes) if node not in skipped]
    true = Y[is_test]
    expected = peers.average_precision_score(
        true.toarray()[:, columns], scores[:, columns], average="micro"
    )
    value = metrics.au_prc(true, scores, taxonomy, nodes="below_roots")
    assert value == pytest.approx(expected)
    assert value == pytest.approx(0.3346, abs=5e-5)
    assert metrics.au_prc(true, scores, taxonomy) == pytest.approx(0.4235, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "nodes", "skipped", "expected"),
    [
        ("cellcycle_FUN", "all", 1, 0.1538),
        ("cellcycle_GO", "below_roots", 4, 0.3410),
        ("cellcycle_GO", "all", 1, 0.4303),
        ("Enron_corr", "all", 1, 0.6544),
    ],
)
def test_area_of_frequencies_over_the_nodes_of_c_hmcnn(load_corpus, name, nodes, skipped, expected):
    """C-HMCNN keeps the top nodes of trees and leaves out the namespaces of the Gene Ontology.

    With these, the frequencies of nodes are as good as 0.430 on the Gene Ontology.
    """
    corpus = load_corpus("hmc-funcat-go", set=name)
    taxonomy, is_test = corpus.taxonomy, np.asarray(corpus.split) == "test"
    Y = labels.close(taxonomy, labels.encode_sets(taxonomy, corpus.labels))
    prior = np.asarray(Y[~is_test].mean(axis=0)).ravel()
    scores = np.tile(prior, (is_test.sum(), 1))
    to_skip = ("root", "ROOT", "GO0003674", "GO0005575", "GO0008150")
    left_out = to_skip[: skipped + 1]
    columns = [code for code, node in enumerate(taxonomy.nodes) if node not in left_out]
    assert len(columns) == taxonomy.n_nodes - skipped
    true = Y[is_test]
    by_peer = peers.average_precision_score(
        true.toarray()[:, columns], scores[:, columns], average="micro"
    )
    value = metrics.au_prc(true, scores, taxonomy, nodes=nodes)
    assert value == pytest.approx(by_peer)
    assert value == pytest.approx(expected, abs=5e-5)


@given(problems(), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_f1_at_k_by_definition_and_as_scikit_learn(problem, k, seed):
    taxonomy, true, _ = problem
    rng = np.random.default_rng(seed)
    scores = rng.permuted(np.tile(np.arange(taxonomy.n_nodes), (len(true), 1)), axis=1)
    first = [{taxonomy.nodes[j] for j in np.argsort(-row)[:k]} for row in scores]
    rows = [2 * len(set(t) & f) / (k + len(set(t))) for t, f in zip(true, first, strict=True) if t]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        value = metrics.f1_at_k(true, scores, k=k, classes=taxonomy.nodes)
    assert value == pytest.approx(np.mean(rows) if rows else math.nan, nan_ok=True)
    if k <= taxonomy.n_nodes and all(true):
        Y, U = (labels.encode_sets(taxonomy, y).toarray() for y in (true, list(map(list, first))))
        assert value == pytest.approx(peers.f1_score(Y, U, average="samples"))


def test_f1_at_k_of_ties_weights_and_wrong_k():
    classes, scores = ["a", "b", "c"], [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    # In the worst order, a comes second: nothing of the first one is right.
    assert metrics.f1_at_k([["a"], ["c"]], scores, k=1, classes=classes) == 0.5
    weighted = {"classes": classes, "sample_weight": [1, 3]}
    assert metrics.f1_at_k([["a"], ["c"]], scores, k=1, **weighted) == 0.75
    values = metrics.item_values(metrics.f1_at_k, [["a"], []], scores, k=2, classes=classes)
    np.testing.assert_allclose(values, [2 / 3, math.nan])
    with pytest.raises(LabelError, match="k is 0"):
        metrics.f1_at_k([["a"], ["c"]], scores, k=0, classes=classes)

"""Equations of CH04, with Φ(x, y) = Λ(y) ⊗ x written out."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import LinearSVC

from taxonomist import HierarchicalSVC, Taxonomy
from taxonomist.compiled.attributes import write_category_scores
from taxonomist.compiled.inspection import write_pairs
from taxonomist.compiled.rows import score_row
from taxonomist.inference.linear_scorer import LinearScorer
from taxonomist.inference.row_maps import FeatureMap
from taxonomist.solvers.duals import Entries
from taxonomist.solvers.weights import coefficients, weights_from_duals
from tests.reference import joint_svm as reference
from tests.reference.joint_toys import SHAPES, SetToy, State, toy
from tests.strategies import taxonomies

seeds = st.integers(0, 10**6)
every_shape = pytest.mark.parametrize("shape", SHAPES)


def drawn_scores(seed):
    """Return items, attributes and weights, small integers so that scores are exact and tie."""
    rng = np.random.default_rng(seed)
    n_categories, n_attributes, n_features = rng.integers(1, 8, size=3)
    X = rng.integers(-2, 3, size=(5, n_features)).astype(float)
    attributes = rng.integers(-1, 3, size=(n_categories, n_attributes)).astype(float)
    W = rng.integers(-2, 3, size=(n_features, n_attributes)).astype(float)
    return X, attributes, W


def scores_of(X, attributes, W):
    scorer = LinearScorer(W, sparse.csr_array(attributes), FeatureMap())
    return scorer.categories(scorer.raw(sparse.csr_array(X)))


@pytest.mark.equation("CH04:10")
@given(seeds)
def test_scores_are_sums_over_attributes(seed):
    X, attributes, W = drawn_scores(seed)
    found = scores_of(X, attributes, W)
    for i, x in enumerate(X):
        for y, of_category in enumerate(attributes):
            terms = [of_category[r] * np.dot(W[:, r], x) for r in range(W.shape[1])]
            assert found[i, y] == sum(terms)
            # Eq. 7: the same with the stacked weights.
            assert found[i, y] == np.dot(W.T.ravel(), np.kron(of_category, x))


@pytest.mark.equation("CH04:2")
@given(seeds)
def test_the_winner_takes_all(seed):
    X, attributes, W = drawn_scores(seed)
    everything = scores_of(X, attributes, W)
    model = LinearScorer(W, sparse.csr_array(attributes), FeatureMap())
    winners, best = model.best(sparse.csr_array(X), 1)
    for i, row in enumerate(everything.tolist()):
        assert best[i, 0] == max(row)
        assert winners[i, 0] == row.index(max(row))  # of equal ones the first


def drawn_duals(case, seed):
    """Return feasible dual variables of a problem, and α as a dense array."""
    rng = np.random.default_rng(seed)
    n_items, n_categories = len(case.y), case.attributes.shape[0]
    chosen = rng.random((n_items, n_categories)) < 0.4
    chosen[np.arange(n_items), case.y] = False
    item, other = np.nonzero(chosen)
    beta = rng.random(len(item)) * case.costs[item] / n_categories
    own = case.y[item]
    delta = case.loss.rows(range(n_categories))[own, other]
    alpha = np.zeros((n_items, n_categories))
    alpha[item, other] = beta * delta
    return Entries(item, own, other, beta, delta).stored(n_items), alpha


def joint_features(case, i, y):
    """Return Φ(x_i, y_i) - Φ(x_i, y) as attributes x features."""
    Lambda = case.attributes.toarray()
    return np.kron(Lambda[case.y[i]] - Lambda[y], case.X[i]).reshape(len(Lambda.T), -1)


def stacked_weights(case, alpha):
    """Return w(α) as attributes x features."""
    return sum(
        alpha[i, y] * joint_features(case, i, y)
        for i in range(len(case.y))
        for y in range(alpha.shape[1])
        if y != case.y[i]
    )


@pytest.mark.equation("CH04:13")
@every_shape
def test_weights_are_sums_of_joint_features(shape):
    case = toy(shape, "weighted")
    duals, alpha = drawn_duals(case, seed=1)
    w = stacked_weights(case, alpha)
    problem = case.problem()
    np.testing.assert_allclose(weights_from_duals(problem, duals, "float64"), w.T, atol=1e-12)
    np.testing.assert_allclose(coefficients(problem, duals).T @ case.X, w, atol=1e-12)


@pytest.mark.equation("CH04:28")
@every_shape
def test_gradients_of_the_dual(shape):
    case = toy(shape, "weighted")
    duals, alpha = drawn_duals(case, seed=2)
    w = stacked_weights(case, alpha)
    active = Entries.of(duals)
    for i, y_i in enumerate(case.y):
        state = State(SetToy.of(case), SimpleNamespace(W=w.T.copy(), duals=duals))
        F = [
            case.loss.row(y_i)[y] * (1 - np.sum(joint_features(case, i, y) * w))
            for y in range(alpha.shape[1])
        ]
        assert F[y_i] == 0
        looks, problem = state.looks(), state.problem
        score_row(problem.rows, i, state.W, looks.scores)
        write_category_scores(problem.attributes, looks.scores, looks.f)
        write_pairs(i, y_i, problem.labels, problem.loss, looks)
        np.testing.assert_allclose(looks.G, F, atol=1e-10)
        state.enter(i)
        others = active.other[active.item == i]
        np.testing.assert_allclose(state.scratch.G[: len(others)], np.array(F)[others], atol=1e-10)


@pytest.mark.equation("CH04:21")
@settings(max_examples=15)
@given(taxonomies(max_nodes=12), seeds)
def test_scores_are_sums_over_the_nodes_at_and_above(taxonomy, seed):
    rng = np.random.default_rng(seed)
    leaves = [node for node in taxonomy.leaves if node != taxonomy.root]
    if len(leaves) < 3:
        taxonomy = Taxonomy.from_paths(["a > b > c", "a > d", "a > b > e"])
        leaves = list(taxonomy.leaves)
    y = leaves * 3
    X = rng.normal(size=(len(y), 4))
    weight = {node: rng.uniform(0.5, 2) for node in taxonomy.nodes}
    model = HierarchicalSVC(taxonomy, node_weight=weight, constant=0.0, dtype="float64", tol=0.1)
    scores = model.fit(X, y).decision_function(X)
    row_of = dict(zip(model.taxonomy_.nodes, model.node_coef_, strict=True))  # λ_z w_z
    for column, label in zip(scores.T, model.classes_, strict=True):
        nodes = {label, *taxonomy.ancestors(label)} - {taxonomy.root}
        expected = sum(np.array([np.dot(row_of[z], x) for x in X]) for z in nodes)
        np.testing.assert_allclose(column, expected, atol=1e-10)


@pytest.mark.equation("CH04:41")
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("shape", ["tree", "dag", "flat"])
def test_active_ratio_is_the_share_of_positive_dual_variables(shape, C):
    case = toy(shape, n=12)
    X = np.random.default_rng(3).normal(size=(12, 20))  # independent rows: one optimum only
    taxonomy, q = case.loss.taxonomy, case.attributes.shape[0]
    model = HierarchicalSVC(
        taxonomy, C=C, node_weight="unit", constant=0.0, dtype="float64", tol=1e-9, stop="gap"
    ).fit(X, np.array(taxonomy.leaves)[case.y])
    instance = case._replace(X=X, costs=np.full(12, C)).instance()
    _, alpha = reference.dual_optimum(instance)
    positive = sum(
        alpha[i, y] > 1e-5 * C for i in range(12) for y in range(q) if y != instance.y[i]
    )
    assert 0 < positive < 12 * (q - 1)
    assert model.active_ratio_ == pytest.approx(positive / (12 * (q - 1)))


@pytest.mark.equation("CH04:41")
@pytest.mark.parametrize("solver", ["auto", "greedy", "greedy_joint", "full"])
def test_active_ratio_by_hand(solver):
    """Only the inner items are on the margin, each with all other categories.

    Two categories: v = w_a - w_b = (1, -1) by the items (1, 0) and (0, 1), so 2 of 4 (2 - 1)
    variables are positive. Three: α = 1/3 for the three unit vectors and both others of each, so
    6 of 6 (3 - 1).
    """
    for n, coef in ((2, np.array([[1, -1], [-1, 1]]) / 2), (3, np.eye(3) - 1 / 3)):
        X = np.concatenate([np.eye(n), 3 * np.eye(n)])
        y = list("abc"[:n]) * 2
        model = HierarchicalSVC(C=10.0, solver=solver, tol=1e-9, dtype="float64").fit(X, y)
        np.testing.assert_allclose(model.coef_, coef, atol=1e-6)
        assert model.active_ratio_ == n * (n - 1) / (2 * n * (n - 1)) == 0.5


@pytest.mark.parametrize("C", [0.05, 1.0, 10.0])
def test_two_categories_are_the_binary_svm(C):
    """CH04, section 2.1, without a bias: w_1 = -w_2 = v/2, and C stands for 2 C of the binary SVM.

    The paper derives it from w_1j w_2j = 0 for all features, which is not so; but ||w||² is
    ||v||² / 2 at the optimum, and so the conclusion holds.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=50) > 0, "a", "b")
    model = HierarchicalSVC(C=C, tol=1e-9, stop="gap", dtype="float64").fit(X, y)
    binary = LinearSVC(loss="hinge", C=2 * C, fit_intercept=False, tol=1e-9, max_iter=10**6)
    v = binary.fit(X, y).coef_[0]
    np.testing.assert_allclose(model.coef_, [-v / 2, v / 2], atol=2e-3)
    margins = np.where(y == "b", 1, -1) * (X @ v)
    value = v @ v / 4 + C * np.maximum(0, 1 - margins).sum()
    assert model.objective_ == pytest.approx(value, rel=1e-5)
    assert (model.predict(X) == binary.predict(X)).all()

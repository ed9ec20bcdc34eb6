"""Coupled binary SVMs against a general QP solver, their certificate, and liblinear."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import LinearSVC

from taxonomist.solvers import binary
from taxonomist.solvers import problem as problems
from taxonomist.solvers.problem import FeatureRows, GramRows
from taxonomist.solvers.solution import Options
from tests.combinations import every_pair
from tests.reference import binary_svm as reference
from tests.reference.binary_svm import SHAPES, recomputed, toy

EXACT = Options(tol=1e-6, stop="gap", dtype="float64")
VERY_EXACT = Options(tol=1e-9, stop="gap", dtype="float64", max_iter=5000)
ROUNDING = {"float64": 1e-11, "float32": 1e-6}


@cache
def optimum(shape, C, seed=0):
    found = toy(shape, C, seed)
    return reference.primal_optimum(found.instance(), found.X)[0]


def check(instance, solution, best, options, X=None):
    """Check what every solution must be: feasible, certified, optimal, complementary."""
    assert (solution.alpha >= 0).all()
    assert (solution.alpha <= instance.costs).all()
    rounding = ROUNDING[options.dtype]
    for entry in solution.history:
        if entry.is_exact:
            assert entry.primal - entry.dual >= -rounding * entry.primal
    for before, after in pairwise(solution.history):
        assert after.dual >= before.dual - rounding * before.dual
    claimed = solution.certificate
    assert solution.converged
    assert claimed.gap <= options.tol
    assert solution.history[-1].is_exact
    assert (claimed.primal, claimed.dual, claimed.violation) == solution.history[-1][1:4]
    assert claimed.primal == pytest.approx(best, rel=2 * options.tol)
    assert claimed.dual == pytest.approx(best, rel=2 * options.tol)
    found = recomputed(instance, solution, X)
    precision = 1e-9 if options.dtype == "float64" else 1e-5
    assert claimed.primal == pytest.approx(found.primal, rel=precision)
    assert claimed.dual == pytest.approx(found.dual, rel=precision)
    assert claimed.violation == pytest.approx(found.violation.max(), abs=100 * precision)
    check_complementary(instance, solution, found, options)


def check_complementary(instance, solution, found, options):
    """Check that no term that optimality makes zero is larger than the gap, their sum."""
    free = instance.costs - solution.alpha
    terms = free * np.maximum(found.G, 0) + solution.alpha * np.maximum(-found.G, 0)
    allowed = options.tol * found.primal
    assert terms.max() <= 1.1 * allowed
    assert terms.sum() == pytest.approx(found.primal - found.dual, abs=allowed / 10)


def rbf(X):
    squared = np.sum(X**2, axis=1)
    return np.exp(-(squared[:, None] - 2 * X @ X.T + squared) / 10)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_reference_programs_agree(shape, C):
    instance = toy(shape, C).instance()
    assert optimum(shape, C) == pytest.approx(reference.dual_optimum(instance)[0], rel=1e-7)


@pytest.mark.equation("CH04:22")
@every_pair(shape=SHAPES, C=[0.01, 1.0, 100.0], seed=[0, 1], least_size=[1, binary.LEAST_SIZE])
def test_solution_is_optimal(shape, C, seed, least_size, monkeypatch):
    monkeypatch.setattr(binary, "LEAST_SIZE", least_size)
    found = toy(shape, C, seed)
    solution = binary.solve(found.problem(), EXACT)
    check(found.instance(), solution, optimum(shape, C, seed), EXACT, found.X)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_feature_rows_of_any_kind(kind, dtype):
    options = Options(tol=5e-5, stop="gap", dtype=dtype)
    found = toy("dag")
    rows = FeatureRows(found.X if kind == "dense" else sparse.csr_array(found.X), dtype)
    solution = binary.solve(found.problem(rows), options)
    assert solution.W.dtype == dtype
    check(found.instance(), solution, optimum("dag", 1.0), options, found.X)


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_kernel_with_blocks_that_are_recomputed(shape, C, monkeypatch):
    monkeypatch.setattr(problems, "GRAM_ROWS_AT_A_TIME", 7)
    monkeypatch.setattr(binary, "LEAST_SIZE", 1)
    found = toy(shape, C)
    K = rbf(found.X)
    calls = []

    def rows(members):
        calls.append(len(members))
        return K[members]

    kept = 2 * 8 * 7 * len(K)
    options = Options(tol=1e-5, stop="gap")
    solution = binary.solve(found.problem(GramRows(rows, K.diagonal(), kept)), options)
    assert len(calls) > 5
    best = reference.dual_optimum(found.instance(K))[0]
    check(found.instance(K), solution, best, Options(tol=1e-5, stop="gap", dtype="float64"))


@pytest.mark.parametrize("shape", SHAPES)
def test_stopping_on_the_violation(shape):
    found = toy(shape, 10.0)
    solution = binary.solve(found.problem(), Options(tol=1e-5, dtype="float64"))
    assert solution.converged
    assert recomputed(found.instance(), solution, found.X).violation.max() <= 1.001e-5
    assert solution.certificate.primal == pytest.approx(optimum(shape, 10.0), rel=1e-4)


@pytest.mark.equation("CH04:22")
@settings(max_examples=25)
@given(
    shape=st.sampled_from(SHAPES),
    C=st.sampled_from([0.01, 0.3, 10.0]),
    seed=st.integers(0, 10**6),
    n=st.integers(1, 9),
)
def test_random_problems(shape, C, seed, n):
    found = toy(shape, C, seed, n)
    solution = binary.solve(found.problem(), EXACT)
    best = reference.dual_optimum(found.instance())[0]
    check(found.instance(), solution, best, EXACT, found.X)


@pytest.mark.equation("CH04:22")
@settings(max_examples=25)
@given(st.sampled_from(SHAPES), st.integers(0, 10**6))
def test_weak_duality(shape, seed):
    """Any w and any feasible α bound the optimum, and so each other."""
    rng = np.random.default_rng(seed)
    found = toy(shape, seed=seed)
    instance = found.instance()
    alpha = instance.costs * np.clip(rng.uniform(-1, 2, size=instance.costs.shape), 0, 1)
    W = rng.normal(size=(found.X.shape[1], found.attributes.shape[1]))
    at = reference.certificate(instance, found.X @ W, np.sum(W * W), alpha)
    assert at.dual <= at.primal


@pytest.mark.parametrize("label", [True, False])
def test_all_items_have_all_categories_or_none(label):
    found = toy("tree")
    found = found._replace(Y=np.full_like(found.Y, label))
    best = reference.primal_optimum(found.instance(), found.X)[0]
    check(found.instance(), binary.solve(found.problem(), EXACT), best, EXACT, found.X)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_flat_attributes_are_independent_binary_svms(C):
    found = toy("flat")
    found = found._replace(costs=np.full(len(found.X), C), weight=None)
    np.testing.assert_array_equal(found.attributes, np.eye(5))
    solution = binary.solve(found.problem(), VERY_EXACT)
    for r in range(5):
        model = LinearSVC(loss="hinge", dual=True, fit_intercept=False, C=C, tol=1e-8)
        model.set_params(max_iter=10**6, random_state=0).fit(found.X, found.Y[:, r])
        np.testing.assert_allclose(solution.W[:, r], model.coef_[0], atol=1e-4)


def test_weight_of_positives_is_liblinears_class_weight():
    found = toy("flat")
    found = found._replace(costs=np.full(len(found.X), 0.5))
    solution = binary.solve(found.problem(), VERY_EXACT)
    for r in range(5):
        model = LinearSVC(loss="hinge", dual=True, fit_intercept=False, C=0.5, tol=1e-8)
        model.set_params(class_weight={True: found.weight[r]}, max_iter=10**6, random_state=0)
        model.fit(found.X, found.Y[:, r])
        np.testing.assert_allclose(solution.W[:, r], model.coef_[0], atol=1e-4)


# What must not change the answer.


def solved(found):
    return binary.solve(found.problem(), VERY_EXACT)


def assert_same(solution, other, W):
    """Check one optimum: ½ ||w - w'||² is at most the gap."""
    primal = other.certificate.primal
    assert solution.certificate.primal == pytest.approx(primal, rel=2e-9)
    np.testing.assert_allclose(solution.W, W, atol=np.sqrt(8e-9 * primal))


@pytest.fixture(scope="module", params=["tree", "dag", "real"])
def case(request):
    return toy(request.param, seed=3)


@pytest.fixture(scope="module")
def base(case):
    return solved(case)


def test_order_of_items(case, base):
    order = np.random.default_rng(0).permutation(len(case.X))
    moved = case._replace(X=case.X[order], Y=case.Y[order], costs=case.costs[order])
    assert_same(solved(moved), base, base.W)


def test_order_of_categories(case, base):
    order = np.random.default_rng(0).permutation(len(case.attributes))
    moved = case._replace(
        Y=case.Y[:, order], attributes=case.attributes[order], weight=case.weight[order]
    )
    assert_same(solved(moved), base, base.W)


def test_order_of_attributes(case, base):
    order = np.random.default_rng(0).permutation(case.attributes.shape[1])
    moved = case._replace(attributes=case.attributes[:, order])
    assert_same(solved(moved), base, base.W[:, order])


def test_order_of_features(case, base):
    order = np.random.default_rng(0).permutation(case.X.shape[1])
    assert_same(solved(case._replace(X=case.X[:, order])), base, base.W[order])


def test_an_item_twice_is_cost_two(case, base):
    twice = case._replace(
        X=np.repeat(case.X, 2, axis=0),
        Y=np.repeat(case.Y, 2, axis=0),
        costs=np.repeat(case.costs / 2, 2),
    )
    assert_same(solved(twice), base, base.W)


def test_an_item_that_costs_nothing(case, base):
    more = case._replace(
        X=np.concatenate([case.X, -case.X[5:7]]),
        Y=np.concatenate([case.Y, case.Y[5:7]]),
        costs=np.append(case.costs, [0.0, 0.0]),
    )
    solution = solved(more)
    assert_same(solution, base, base.W)
    assert not solution.alpha[-2:].any()


def test_a_feature_that_is_always_zero(case, base):
    wider = case._replace(X=np.insert(case.X, 5, 0.0, axis=1))
    assert_same(solved(wider), base, np.insert(base.W, 5, 0.0, axis=0))


def test_an_attribute_of_no_category(case, base):
    wider = case._replace(attributes=np.insert(case.attributes, 2, 0.0, axis=1))
    assert_same(solved(wider), base, np.insert(base.W, 2, 0.0, axis=1))


def test_linear_gram_equals_features(case, base):
    K = case.X @ case.X.T
    rows = GramRows(lambda members: K[members], K.diagonal(), 1e6)
    found = binary.solve(case.problem(rows), VERY_EXACT)
    assert found.W.shape == (len(case.X), case.attributes.shape[1])
    assert found.certificate.primal == pytest.approx(base.certificate.primal, rel=2e-9)
    np.testing.assert_allclose(case.X.T @ found.W, base.W, atol=1e-3)


@pytest.mark.parametrize("scale", [0.01, 30.0])
def test_scaled_features_with_scaled_cost(case, base, scale):
    scaled = solved(case._replace(X=scale * case.X, costs=case.costs / scale**2))
    primal = base.certificate.primal / scale**2
    assert scaled.certificate.primal == pytest.approx(primal, rel=2e-9)
    np.testing.assert_allclose(scale * scaled.W, base.W, atol=1e-3)

"""Every solver of the joint SVM against a general QP solver, its certificate, and CH04's claims."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import LinearSVC

from taxonomist.losses import category_loss
from taxonomist.solvers import SOLVERS, sequential
from taxonomist.solvers import problem as problems
from taxonomist.solvers.duals import Entries
from taxonomist.solvers.problem import FeatureRows, GramRows
from taxonomist.solvers.solution import Options
from taxonomist.taxonomy import Taxonomy
from tests.combinations import every_pair
from tests.reference import joint_svm as reference
from tests.reference.joint_toys import LOSSES, SHAPES, alpha_of, recomputed, separable, toy

EXACT = Options(tol=1e-6, stop="gap", dtype="float64")
VERY_EXACT = Options(tol=1e-9, stop="gap", dtype="float64", max_iter=5000)
ROUNDING = {"float64": 1e-11, "float32": 1e-7}

cached_toy = cache(toy)
# HCC03's rule does not lead to the optimum; tests/unit/solvers/test_greedy.py has its tests.
NAMES = [name for name in SOLVERS if name not in ("auto", "hcc03")]
every_solver = pytest.mark.parametrize("name", NAMES)


@cache
def optimum(shape, loss, C):
    found = toy(shape, loss, C)
    return reference.primal_optimum(found.instance(), found.X)[0]


def check(instance, solution, best, options, X=None):
    """Check what every solution must be: feasible, certified, optimal, complementary."""
    check_feasible(instance, solution)
    exact = [entry for entry in solution.history if entry.is_exact]
    rounding = ROUNDING[options.dtype]
    for entry in exact:
        assert entry.primal - entry.dual >= -rounding * entry.primal
    for before, after in pairwise(exact):
        assert after.dual >= before.dual - rounding * abs(before.dual)
    claimed = solution.certificate
    assert solution.converged
    assert claimed.gap <= options.tol
    assert (claimed.primal, claimed.dual, claimed.violation) == exact[-1][1:4]
    assert claimed.primal == pytest.approx(best, rel=2 * options.tol)
    found = recomputed(instance, solution, X)
    precision = 1e-9 if options.dtype == "float64" else 1e-5
    assert claimed.primal == pytest.approx(found.primal, rel=precision)
    assert claimed.dual == pytest.approx(found.dual, rel=precision)
    assert claimed.violation == pytest.approx(found.psi.max(), abs=100 * precision)
    if np.isfinite(instance.costs).all():
        check_complementary(instance, solution, found, options)


def check_feasible(instance, solution):
    """Check Eq. 25b and 25c, and that active sets hold distinct wrong categories."""
    item, own, other, beta, delta = Entries.of(solution.duals)
    assert (beta > 0).all()
    assert (np.bincount(item, beta, len(instance.y)) <= instance.costs * (1 + 1e-12)).all()
    assert len(set(zip(item, other, strict=True))) == len(item)
    assert (own == instance.y[item]).all()
    assert (own != other).all()
    np.testing.assert_allclose(delta, instance.loss[own, other], rtol=1e-12)


def check_complementary(instance, solution, found, options):
    """Check Eq. 26: no term that optimality makes zero is larger than the gap, their sum."""
    alpha = alpha_of(solution.duals, instance)
    loss = instance.loss[instance.y]
    beta = np.divide(alpha, loss, out=np.zeros_like(alpha), where=loss > 0)
    terms = np.concatenate(
        [
            (beta * (found.slack[:, None] - found.F)).ravel(),  # 26c
            (instance.costs - beta.sum(axis=1)) * found.slack,  # 26d
        ]
    )
    allowed = options.tol * found.primal
    rounding = allowed / 10
    assert terms.min() >= -rounding
    assert terms.max() <= allowed + rounding
    assert terms.sum() == pytest.approx(found.primal - found.dual, abs=rounding)


def items(kind, X, dtype="float64"):
    return FeatureRows(sparse.csr_array(X) if kind == "sparse" else X, dtype)


def gram(kernel, X):
    if kernel == "poly":
        return (X @ X.T + 1) ** 2 / 10
    squared = np.sum(X**2, axis=1)
    return np.exp(-(squared[:, None] - 2 * X @ X.T + squared) / 10)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_reference_programs_agree(shape, C):
    found = toy(shape, "weighted", C)
    assert optimum(shape, "weighted", C) == pytest.approx(
        reference.dual_optimum(found.instance())[0], rel=1e-7
    )


@pytest.mark.equation("CH04:24")
@pytest.mark.equation("CH04:26")
@every_pair(shape=SHAPES, loss=LOSSES, C=[0.01, 1.0, 100.0])
def test_sequential_is_optimal(shape, loss, C):
    found = cached_toy(shape, loss, C)
    solution = sequential.solve(found.problem(), EXACT)
    check(found.instance(), solution, optimum(shape, loss, C), EXACT, found.X)


@every_pair(
    name=NAMES,
    toy=[("tree", "weighted"), ("dag", "tree"), ("flat", "zero_one"), ("real", "matrix")],
    C=[0.01, 1.0, 10.0],
)
def test_every_solver_is_optimal(name, toy, C):
    options = Options(tol=1e-5, stop="gap", dtype="float64")
    found = cached_toy(*toy, C)
    solution = SOLVERS[name](found.problem(), options)
    check(found.instance(), solution, optimum(*toy, C), options, found.X)


@every_solver
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_feature_rows_of_any_kind(name, kind, dtype):
    options = Options(tol=5e-5, stop="gap", dtype=dtype)
    found = cached_toy("dag", "weighted", 1.0)
    solution = SOLVERS[name](found.problem(items(kind, found.X, dtype)), options)
    assert solution.W.dtype == dtype
    check(found.instance(), solution, optimum("dag", "weighted", 1.0), options, found.X)


@pytest.mark.equation("CH04:25")
@every_solver
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_kernels_with_blocks_that_are_recomputed(name, kernel, C, monkeypatch):
    monkeypatch.setattr(problems, "GRAM_ROWS_AT_A_TIME", 7)
    found = cached_toy("dag", "tree", C)
    K = gram(kernel, found.X)
    calls = []

    def rows(members):
        calls.append(len(members))
        return K[members]

    kept = 2 * 8 * 7 * len(K)
    options = Options(tol=1e-5, stop="gap")
    solution = SOLVERS[name](found.problem(GramRows(rows, K.diagonal(), kept)), options)
    assert len(calls) > 5
    best = reference.dual_optimum(found.instance(K))[0]
    check(found.instance(K), solution, best, options)


@every_solver
@pytest.mark.parametrize("shape", ["tree", "dag", "flat"])
def test_hard_margin(name, shape):
    found = separable(shape)
    best = reference.primal_optimum(found.instance(), found.X)[0]
    options = Options(tol=1e-5, stop="gap", dtype="float64")
    solution = SOLVERS[name](found.problem(), options)
    check(found.instance(), solution, best, options, found.X)
    margins = found.margins(solution.W)
    margins[np.arange(len(margins)), found.y] = np.inf
    assert margins.min() == pytest.approx(1, abs=1e-3)


@every_solver
def test_stopping_on_the_violation(name):
    found = cached_toy("tree", "weighted", 1.0)
    options = Options(tol=1e-3, dtype="float64")
    solution = SOLVERS[name](found.problem(), options)
    assert solution.converged
    assert recomputed(found.instance(), solution, found.X).psi.max() <= 1e-3 * (1 + 1e-9)


# The claims of CH04.


def random_alpha(instance, rng):
    """Return a feasible α with many zeros; some items use up their costs."""
    loss = instance.loss[instance.y]
    beta = rng.random(loss.shape) * (rng.random(loss.shape) < 0.4) * (loss > 0)
    used = instance.costs * np.minimum(rng.uniform(0, 1.5, len(beta)), 1)
    return loss * beta * (used / np.maximum(beta.sum(axis=1), 1e-9))[:, None]


def at_alpha(instance, alpha):
    """Return the certificate of w(α)."""
    A = reference.coefficients(instance, alpha)
    return reference.certificate(instance, instance.K @ A, np.sum(A * (instance.K @ A)), alpha)


cases = st.builds(
    cached_toy, st.sampled_from(SHAPES), st.sampled_from(LOSSES), st.sampled_from([0.01, 1.0, 10.0])
)
seeds = st.integers(0, 10**6)


@settings(max_examples=25)
@given(cases, seeds, st.sampled_from([0.01, 0.3, 3.0]))
def test_proposition_1_mean_slack_bounds_the_training_loss(case, seed, scale):
    rng = np.random.default_rng(seed)
    instance = case.instance()
    W = rng.normal(scale=scale, size=(case.X.shape[1], case.attributes.shape[1]))
    nothing = np.zeros((len(case.y), len(instance.attributes)))
    slack = reference.certificate(instance, case.X @ W, np.sum(W * W), nothing).slack
    predicted = np.argmin(case.margins(W), axis=1)
    assert slack.mean() >= instance.loss[case.y, predicted].mean() - 1e-12


@pytest.mark.equation("CH04:33")
@settings(max_examples=25)
@given(cases, seeds)
def test_proposition_2_no_violation_means_optimal(case, seed):
    """The gap is at most Σ_i C_i ψ_i; and while some ψ_i > 0, the dual can be raised."""
    instance = case.instance()
    alpha = random_alpha(instance, np.random.default_rng(seed))
    found = at_alpha(instance, alpha)
    assert (found.psi >= 0).all()
    assert found.primal - found.dual <= instance.costs @ found.psi * (1 + 1e-9) + 1e-12
    i = int(np.argmax(found.psi))
    positive = alpha[i] > 0
    y = case.y[i]
    loss = instance.loss[y].copy()
    loss[y] = np.inf
    positive[y] = instance.costs[i] - np.sum(alpha[i] / loss) > 1e-12 * instance.costs[i]
    up = int(np.argmax(found.F[i]))
    down = int(np.argmin(np.where(positive, found.F[i], np.inf)))
    step = 1e-6 * instance.costs[i]
    moved = alpha.copy()
    for c, sign in ((up, 1), (down, -1)):
        if c != y:
            moved[i, c] = max(moved[i, c] + sign * step * instance.loss[y, c], 0.0)
    assert at_alpha(instance, moved).dual > found.dual


@pytest.mark.equation("CH04:33")
@pytest.mark.parametrize("shape", SHAPES)
def test_proposition_2_optimal_means_no_violation(shape):
    found = cached_toy(shape, "weighted", 1.0)
    instance = found.instance()
    options = Options(tol=1e-7, dtype="float64", max_iter=5000)
    solution = sequential.solve(found.problem(), options)
    alpha = alpha_of(solution.duals, instance)
    assert at_alpha(instance, alpha).psi.max() <= 1.1e-7
    assert at_alpha(instance, alpha).dual == pytest.approx(
        optimum(shape, "weighted", 1.0), rel=1e-6
    )
    assert at_alpha(instance, 0.99 * alpha).psi.max() > 1e-3


@pytest.mark.parametrize("shape", SHAPES)
def test_proposition_3_a_reduced_optimum_without_violation_is_the_full_one(shape):
    found = cached_toy(shape, "tree", 1.0)
    instance = found.instance()
    best = optimum(shape, "tree", 1.0)
    solution = sequential.solve(found.problem(), VERY_EXACT)
    support = alpha_of(solution.duals, instance) > 1e-4
    rng = np.random.default_rng(0)
    for share in (1.0, 0.9, 0.5, 0.0):
        selected = support & (rng.random(support.shape) < share)
        value, alpha = reference.dual_optimum(instance, selected)
        alpha[alpha < 1e-6] = 0  # an interior point has no exact zeros and bounds
        alpha *= snap(instance, alpha)[:, None]
        psi = at_alpha(instance, alpha).psi
        if share == 1:
            assert value == pytest.approx(best, rel=1e-5)
            assert psi.max() < 0.02
        else:
            assert value < best * (1 - 1e-4)
            assert psi.max() > 0.1
            assert best - value <= instance.costs @ psi


def snap(instance, alpha):
    """Return factors that make items use up their costs where they almost do."""
    loss = instance.loss[instance.y]
    used = np.divide(alpha, loss, out=np.zeros_like(alpha), where=loss > 0).sum(axis=1)
    nearly = np.isclose(used, instance.costs, rtol=1e-4)
    return np.divide(instance.costs, used, out=np.ones_like(used), where=nearly)


# What must not change the answer.


def weights(found, kind="sparse"):
    return sequential.solve(found.problem(items(kind, found.X)), VERY_EXACT)


def assert_same(solution, other, W, scale=1.0):
    """Check one optimum: ½ ||w - w'||² is at most the gap."""
    primal = scale * other.certificate.primal
    assert solution.certificate.primal == pytest.approx(primal, rel=2e-9)
    np.testing.assert_allclose(solution.W, W, atol=np.sqrt(8e-9 * other.certificate.primal))


@pytest.fixture(scope="module")
def case():
    return toy("dag", "weighted", 1.0, seed=3)


@pytest.fixture(scope="module")
def solved(case):
    return weights(case)


def test_order_of_items(case, solved):
    order = np.random.default_rng(0).permutation(len(case.y))
    moved = case._replace(X=case.X[order], y=case.y[order], costs=case.costs[order])
    assert_same(weights(moved), solved, solved.W)


def test_order_of_features(case, solved):
    order = np.random.default_rng(0).permutation(case.X.shape[1])
    assert_same(weights(case._replace(X=case.X[:, order])), solved, solved.W[order])


def test_order_of_categories(case, solved):
    n = case.loss.n_categories
    order = np.random.default_rng(0).permutation(n)
    matrix = case.loss.rows(order)[:, order]
    moved = case._replace(
        y=np.argsort(order)[case.y],
        attributes=case.attributes[order],
        loss=category_loss(matrix, Taxonomy.flat([f"c{k}" for k in range(n)])),
    )
    assert_same(weights(moved), solved, solved.W)


def test_order_of_attributes(case, solved):
    order = np.random.default_rng(0).permutation(case.attributes.shape[1])
    moved = case._replace(attributes=case.attributes[:, order])
    assert_same(weights(moved), solved, solved.W[:, order])


def test_an_item_twice_is_cost_two(case, solved):
    twice = case._replace(
        X=np.repeat(case.X, 2, axis=0),
        y=np.repeat(case.y, 2),
        costs=np.repeat(case.costs / 2, 2),
    )
    assert_same(weights(twice), solved, solved.W)


def test_an_item_that_costs_nothing(case, solved):
    more = case._replace(
        X=np.concatenate([case.X, -case.X[3:5]]),
        y=np.append(case.y, case.y[3:5]),
        costs=np.append(case.costs, [0.0, 0.0]),
    )
    assert_same(weights(more), solved, solved.W)


def test_a_feature_that_is_always_zero(case, solved):
    wider = case._replace(X=np.insert(case.X, 5, 0.0, axis=1))
    assert_same(weights(wider), solved, np.insert(solved.W, 5, 0.0, axis=0))


@pytest.mark.equation("CH04:19")
def test_an_attribute_of_every_category(case, solved):
    """A root carries no weight [CH04, Eq. 19]."""
    root = np.ones((case.attributes.shape[0], 1))
    rooted = case._replace(
        attributes=sparse.csr_array(np.hstack([root, case.attributes.toarray()]))
    )
    assert_same(weights(rooted), solved, np.insert(solved.W, 0, 0.0, axis=1))


def test_dense_equals_sparse(case, solved):
    assert_same(weights(case, "dense"), solved, solved.W)


def test_linear_gram_equals_features(case, solved):
    K = case.X @ case.X.T
    found = sequential.solve(
        case.problem(GramRows(lambda members: K[members], K.diagonal(), 1e6)), VERY_EXACT
    )
    assert found.certificate.primal == pytest.approx(solved.certificate.primal, rel=2e-9)
    np.testing.assert_allclose(case.X.T @ found.W, solved.W, atol=1e-3)


@pytest.mark.parametrize("scale", [0.01, 30.0])
def test_scaled_features_with_scaled_cost(case, solved, scale):
    scaled = weights(case._replace(X=scale * case.X, costs=case.costs / scale**2))
    assert scaled.certificate.primal == pytest.approx(
        solved.certificate.primal / scale**2, rel=2e-9
    )
    np.testing.assert_allclose(scale * scaled.W, solved.W, atol=1e-3)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_flat_taxonomy_is_the_multiclass_svm(C):
    """One node per category: Crammer and Singer's machine, as liblinear solves it."""
    found = cached_toy("flat", "tree", 1.0)
    found = found._replace(costs=np.full(len(found.y), C))
    np.testing.assert_array_equal(found.attributes.toarray(), np.eye(6))
    ours = weights(found)
    model = LinearSVC(
        multi_class="crammer_singer", fit_intercept=False, C=C, tol=1e-8, max_iter=10**6
    )
    theirs = model.fit(found.X, found.y).coef_.T
    # liblinear leaves out the category without items.
    five = found._replace(
        attributes=sparse.csr_array(np.eye(5)),
        loss=category_loss("zero_one", Taxonomy.flat("abcde")),
    )
    np.testing.assert_allclose(weights(five).W, theirs, atol=1e-3)
    assert weights(five).certificate.primal < ours.certificate.primal

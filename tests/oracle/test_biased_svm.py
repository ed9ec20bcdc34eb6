"""The joint SVM with the bias terms of CH04's footnote against a general QP solver."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.svm import SVC

from taxonomist import HierarchicalSVC, Taxonomy
from taxonomist.errors import ParameterError
from taxonomist.models.class_kernel import kernel_attributes
from taxonomist.solvers import biased
from taxonomist.solvers.duals import Entries
from taxonomist.solvers.problem import FeatureRows
from taxonomist.solvers.solution import Options
from tests.reference import joint_svm as reference
from tests.reference.joint_toys import alpha_of, separable, toy

EXACT = Options(tol=1e-6, stop="gap", dtype="float64")


def biased_optimum(instance, X):
    """Return the minimum of Eq. 24 with <w, Φ(x, y)> + b_y in place of <w, Φ(x, y)>.

    The variables are w, feature after feature, then b, then ξ; all constraints are written out.
    """
    n_items, n_features = X.shape
    q, s = instance.attributes.shape
    soft = np.isfinite(instance.costs)
    rows, least = [], []
    for i, c in instance.wrong:
        y = instance.y[i]
        w = np.outer(X[i], instance.attributes[y] - instance.attributes[c]).ravel()
        xi = np.eye(n_items)[i] / instance.loss[y, c] * soft[i]
        rows.append(np.concatenate([w, np.eye(q)[y] - np.eye(q)[c], xi]))
        least.append(1.0)
    width = n_features * s + q + n_items
    rows += [*np.eye(n_items, width, n_features * s + q)]
    least += [0.0] * n_items
    squared = np.concatenate([np.ones(n_features * s), np.zeros(q + n_items)])
    linear = np.concatenate([np.zeros(n_features * s + q), np.where(soft, instance.costs, 0.0)])
    found, value = reference.minimise(np.diag(squared), linear, np.array(rows), np.array(least))
    b = found[n_features * s : n_features * s + q]
    return value, found[: n_features * s].reshape(n_features, s), b - b.mean()


@cache
def toy_optimum(shape, loss, C):
    """Return the minimum of a toy problem, which does not depend on the constant."""
    case = toy(shape, loss, C)
    return biased_optimum(case.instance(), case.X)[0]


def with_constant(case, constant=1.0):
    X = np.column_stack([case.X, np.full(len(case.X), constant)])
    return case.problem(FeatureRows(X, "float64"))


@pytest.mark.equation("CH04:24")
# The larger the constant, the sooner biases settle. Other tests here have the constant 1.
@pytest.mark.parametrize(
    "constant", [3.0, *(pytest.param(c, marks=pytest.mark.slow) for c in (0.5, 1.0))]
)
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
@pytest.mark.parametrize(
    ("shape", "loss"), [("tree", "weighted"), ("dag", "tree"), ("flat", "matrix")]
)
def test_biases_are_optimal(shape, loss, C, constant):
    case = toy(shape, loss, C)
    best = toy_optimum(shape, loss, C)
    found = biased.solve(with_constant(case, constant), EXACT)
    known = found.certificate
    assert found.converged
    assert known.dual <= best * (1 + 1e-9)
    assert best <= known.primal * (1 + 1e-9)
    assert known.primal == pytest.approx(best, rel=1e-5)
    # The objective at the weights and biases, by definition.
    b = constant * case.attributes @ found.W[-1]
    scores = case.X @ found.W[:-1] @ case.attributes.toarray().T + b
    own = scores[np.arange(len(case.y)), case.y][:, None]
    slack = np.maximum((case.loss.rows(case.y) * (1 - own + scores)).max(axis=1), 0)
    primal = np.sum(found.W[:-1] ** 2) / 2 + case.costs @ slack
    assert primal == pytest.approx(known.primal, rel=1e-9)


@pytest.mark.parametrize("C", [0.05, pytest.param(1.0, marks=pytest.mark.slow), 20.0])
def test_dual_variables_are_feasible(C):
    case = toy("dag", "weighted", C)
    found = biased.solve(with_constant(case), EXACT)
    item, own, other, beta, delta = Entries.of(found.duals)
    assert (np.bincount(item, beta, len(case.y)) <= case.costs * (1 + 1e-12)).all()
    q = case.attributes.shape[0]
    out, into = (np.bincount(end, beta * delta, q) for end in (own, other))
    np.testing.assert_allclose(out, into, atol=1e-9 * (1 + out.max()))
    alpha = alpha_of(found.duals, case.instance())
    A = reference.coefficients(case.instance(), alpha)
    assert alpha.sum() - np.sum((case.X.T @ A) ** 2) / 2 == pytest.approx(found.certificate.dual)


def test_hard_margin_with_biases():
    case = separable("tree")
    best, _, _ = biased_optimum(case.instance(), case.X)
    found = biased.solve(with_constant(case), EXACT)
    assert found.converged
    assert found.certificate.primal == pytest.approx(best, rel=1e-5)


def test_the_model_has_the_biases_of_the_general_solver():
    case = toy("flat", "zero_one", 1.0, seed=2)
    case = case._replace(costs=np.ones(len(case.y)))
    best, w, b = biased_optimum(case.instance(), case.X)
    names = np.array([f"c{k}" for k in range(6)])
    model = HierarchicalSVC(
        Taxonomy.flat(names),
        loss="zero_one",
        fit_intercept=True,
        tol=1e-9,
        stop="gap",
        dtype="float64",
    ).fit(case.X, names[case.y])
    assert model.objective_ == pytest.approx(best, rel=1e-7)
    np.testing.assert_allclose(model.coef_, w.T, atol=1e-3)
    scores = case.X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(case.X), scores, atol=1e-9)
    # Several biases may be optimal; the sum of the slacks at the optimal w tells.
    slacks = [
        np.maximum(0, np.delete(row - row[y] + 1, y).max())
        for offsets in (model.intercept_, b)
        for row, y in zip(case.X @ w + offsets, case.y, strict=True)
    ]
    ours, theirs = np.reshape(slacks, (2, -1)).sum(axis=1)
    assert ours == pytest.approx(theirs, abs=1e-2)


@pytest.mark.parametrize("C", [0.05, 1.0, 10.0])
def test_two_categories_with_biases_are_the_binary_svm(C):
    """w_1 = -w_2 = v/2, so ½ ||w||² is ¼ ||v||², and C stands for 2 C of the binary SVM."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) + 1.5
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 1.7, "a", "b")
    model = HierarchicalSVC(C=C, fit_intercept=True, tol=1e-8, stop="gap", dtype="float64")
    model.fit(X, y)
    binary = SVC(kernel="linear", C=2 * C, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_[1] - model.coef_[0], binary.coef_[0], atol=1e-3)
    np.testing.assert_allclose(
        model.intercept_[1] - model.intercept_[0], binary.intercept_[0], atol=1e-3
    )
    value = (
        np.sum(binary.coef_**2) / 4
        + C * np.maximum(0, 1 - np.where(y == "b", 1, -1) * binary.decision_function(X)).sum()
    )
    assert model.objective_ == pytest.approx(value, rel=1e-6)


def test_stopping_on_the_violation_is_stopping_at_still_biases():
    case = toy("tree", "tree", 1.0)
    best, _, _ = biased_optimum(case.instance(), case.X)
    found = biased.solve(with_constant(case), Options(tol=1e-3, dtype="float64"))
    assert found.converged
    assert found.certificate.violation <= 1e-3
    assert 0 <= found.certificate.primal - best <= 1e-3 * case.costs.sum()


def test_flows_are_reduced_to_cycles():
    #  0 -> 1 -> 2 -> 0 carries 1, and 0 -> 1 -> 3 a surplus of 2 that must go.
    own, other = np.array([0, 1, 2, 1]), np.array([1, 2, 0, 3])
    alpha = np.array([3.0, 1.0, 1.0, 2.0])
    duals = Entries(np.arange(4), own, other, alpha / 2, np.full(4, 2.0)).stored(4)
    left = Entries.of(biased.circulation(duals, 4))
    np.testing.assert_array_equal(left.item, [0, 1, 2])
    np.testing.assert_allclose(left.beta * left.delta, 1.0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"constant": 1.0}, "constant=0"),
        ({"solver": "greedy"}, "Got constant=0.0 and solver='greedy'"),
        ({"kernel": "rbf"}, "needs kernel='linear'"),
        ({"attributes": np.ones((3, 1))}, "linearly dependent"),
    ],
)
def test_what_biases_need(changed, message):
    X, y = np.eye(3), ["a", "b", "c"]
    with pytest.raises(ParameterError, match=message):
        HierarchicalSVC(fit_intercept=True, **changed).fit(X, y)


def test_biases_are_free_if_attributes_and_a_constant_span_all_categories():
    assert biased.free_biases(kernel_attributes(np.eye(3), np.array(["a", "b", "c"])))
    two = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.9]])
    assert biased.free_biases(kernel_attributes(two @ two.T, np.array(["a", "b", "c"])))

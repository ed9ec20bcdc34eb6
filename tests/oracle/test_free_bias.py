"""Binary SVMs with a free bias against a general QP solver and libsvm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from taxonomist import Taxonomy
from taxonomist.models.node_svc import NodeSVC
from taxonomist.models.top_down_svc import TopDownSVC
from taxonomist.solvers import free_bias
from taxonomist.solvers.free_bias import FreeBiasOptions
from tests.reference.joint_svm import minimise

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2"])


def toy(seed=0, n=30, d=8):
    """Return items of which one has no features and two are equal, a third of them positive."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    is_in = X @ rng.normal(size=d) + rng.normal(size=n) > 0.5
    X[0], X[1] = 0.0, X[2]
    return X, is_in, rng.uniform(0.5, 1.5, size=n)


def optimum(X, is_in, costs, loss):
    """Return the minimum of ½ ||w||² + Σ C_i ξ_i (or ξ_i²), all constraints written out."""
    (n, d), s = X.shape, np.where(is_in, 1.0, -1.0)
    margins = np.column_stack([s[:, None] * X, s, np.eye(n)])
    signs = np.eye(n, d + 1 + n, d + 1)
    is_squared = loss == "squared_hinge"
    squared = np.concatenate([np.ones(d), [0.0], 2 * costs if is_squared else np.zeros(n)])
    linear = np.concatenate([np.zeros(d + 1), np.zeros(n) if is_squared else costs])
    least = np.repeat([1.0, 0.0], n)
    found, value = minimise(np.diag(squared), linear, np.concatenate([margins, signs]), least)
    return value, found[:d]


@pytest.mark.parametrize("loss", free_bias.LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("n_bytes", [0, 1e9])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_optimum(loss, C, n_bytes, seed):
    X, is_in, costs = toy(seed)
    costs = C * costs
    rows = free_bias.kernel_rows(sparse.csr_array(X), n_bytes)
    options = FreeBiasOptions(loss, tol=1e-6)
    found = free_bias.solve(rows, np.arange(len(X)), is_in, costs, options)
    best, w = optimum(X, is_in, costs, loss)
    assert found.converged
    assert found.primal == pytest.approx(best, rel=1e-4)
    assert found.dual == pytest.approx(best, rel=1e-4)
    np.testing.assert_allclose(found.w, w, atol=1e-3 * np.abs(w).max())
    s = np.where(is_in, 1, -1)
    slack = np.maximum(0, 1 - s * (X @ found.w + found.bias))
    charged = slack if loss == "hinge" else slack**2
    assert found.primal == pytest.approx(found.w @ found.w / 2 + costs @ charged, rel=1e-6)


@pytest.mark.parametrize("loss", free_bias.LOSSES)
def test_the_default_tolerance_is_exact_enough(loss):
    X, is_in, costs = toy(3)
    rows = free_bias.kernel_rows(X, 1e9)
    found = free_bias.solve(rows, np.arange(len(X)), is_in, costs, FreeBiasOptions(loss))
    assert found.primal == pytest.approx(optimum(X, is_in, costs, loss)[0], rel=1e-4)


def test_nodes_share_rows_of_the_kernel():
    """Some of the items, and in another order, with rows that other problems have computed."""
    X, is_in, costs = toy(1)
    rows = free_bias.kernel_rows(X, 1e9)
    for items in (np.arange(30), np.arange(5, 28, 2), np.random.default_rng(0).permutation(20)):
        found = free_bias.solve(rows, items, is_in[items], costs[items], FreeBiasOptions())
        best, _ = optimum(X[items], is_in[items], costs[items], "hinge")
        assert found.primal == pytest.approx(best, rel=1e-4)


def labelled(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = [[rng.choice(["a1", "a2", "b1", "b2"])] for _ in range(n)]
    centres = {node: rng.normal(size=6) for node in TREE.nodes}
    X = np.array([centres[row[0]] + centres[row[0][0]] for row in y])
    return X + 0.8 * rng.normal(size=X.shape), y


@pytest.mark.parametrize("kind", [NodeSVC, TopDownSVC])
@pytest.mark.parametrize("is_sparse", [True, False])
def test_models_as_in_the_paper_are_those_of_libsvm(kind, is_sparse):
    X, y = labelled()
    given = sparse.csr_array(X) if is_sparse else X
    ours = kind(TREE, loss="hinge", bias="free").fit(given, y)
    other = kind(TREE, estimator=SVC(kernel="linear", C=1.0, tol=1e-6)).fit(X, y)
    assert set(ours.node_estimators_) == set(other.node_estimators_) == set(TREE.nodes[1:])
    for node, model in ours.node_estimators_.items():
        expected = other.node_estimators_[node].decision_function(X)
        np.testing.assert_allclose(model.decision_function(X), expected, atol=0.01)
    assert ours.predict_labels(X) == other.predict_labels(X)


def test_the_bias_is_not_regularized():
    """Far from the origin, a regularized bias costs weight; a free one does not."""
    X, y = labelled()
    shifted = X + 100.0
    near, far = (NodeSVC(TREE, loss="hinge", bias="free").fit(data, y) for data in (X, shifted))
    for node, model in near.node_estimators_.items():
        expected = model.decision_function(X)
        found = far.node_estimators_[node].decision_function(shifted)
        np.testing.assert_allclose(found, expected, atol=0.02)


def test_weights_are_repeats():
    X, y = labelled(40)
    weights = np.arange(40) % 3
    twice = np.repeat(np.arange(40), weights)
    one = NodeSVC(TREE, loss="hinge", bias="free").fit(X, y, sample_weight=weights)
    other = NodeSVC(TREE, loss="hinge", bias="free").fit(X[twice], [y[i] for i in twice])
    for node, model in one.node_estimators_.items():
        expected = other.node_estimators_[node].decision_function(X)
        np.testing.assert_allclose(model.decision_function(X), expected, atol=0.02)


def test_options_are_checked():
    X, y = labelled(40)
    for options, message in (
        ({"loss": "log"}, "loss must be one of"),
        ({"bias": "none"}, "bias must be one of"),
        ({"bias": "free", "estimator": SVC()}, "bias applies to the default SVM"),
        ({"loss": "hinge", "estimator": SVC()}, "loss applies to the default SVM"),
    ):
        with pytest.raises(ValueError, match=message):
            NodeSVC(TREE, **options).fit(X, y)
    rows = free_bias.kernel_rows(X, 1e9)
    is_in = np.array([row[0] == "a1" for row in y])
    options = FreeBiasOptions(max_iter=3)
    found = free_bias.solve(rows, np.arange(40), is_in, np.ones(40), options)
    assert not found.converged
    assert found.n_iter == 3

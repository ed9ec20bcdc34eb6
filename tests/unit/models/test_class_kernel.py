"""Similarities between classes as a kernel [HCC03, Sec. 3]."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from taxonomist import CoupledBinarySVC, HierarchicalSVC, Taxonomy, persistence
from taxonomist.errors import LabelError, ParameterError
from taxonomist.models.attributes import class_attributes
from taxonomist.models.class_kernel import kernel_attributes
from taxonomist.taxonomy import Categories
from tests.reference import joint_svm as reference
from tests.reference.joint_toys import toy

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2"])
NAMES = np.array([f"c{k}" for k in range(12)])


@pytest.mark.equation("HCC03:12")
@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 10))
def test_products_of_attributes_are_the_kernel(seed, n, rank):
    factor = np.random.default_rng(seed).normal(size=(n, rank))
    K = factor @ factor.T
    found = kernel_attributes(K, NAMES[:n])
    assert found.shape == (n, min(n, rank))
    np.testing.assert_allclose((found @ found.T).toarray(), K, atol=1e-9 * np.abs(K).max())


def test_a_kernel_of_blocks_has_sparse_attributes():
    K = np.kron(np.eye(4), [[2.0, 1.0], [1.0, 2.0]])
    assert kernel_attributes(sparse.csr_array(K), NAMES[:8]).nnz == 12
    assert (kernel_attributes(np.eye(3), NAMES[:3]).toarray() == np.eye(3)).all()
    assert kernel_attributes(np.zeros((2, 2)), NAMES[:2]).shape == (2, 0)


def data(n=40):
    rng = np.random.default_rng(0)
    y = rng.choice(TREE.leaves, size=n)
    X = rng.normal(size=(n, 6)) + 2 * np.eye(4, 6)[[TREE.leaves.index(label) for label in y]]
    return X, y


@pytest.mark.equation("HCC03:12")
@pytest.mark.parametrize("kind", [HierarchicalSVC, CoupledBinarySVC])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_taxonomy_s_own_kernel_gives_the_taxonomy_s_model(kind, kernel):
    X, y = data()
    options = {"tol": 1e-9, "stop": "gap", "dtype": "float64", "kernel": kernel, "random_state": 0}
    plain = kind(TREE, **options).fit(X, y)
    Lambda = class_attributes(Categories.from_labels(TREE, list(y)), "taxonomy", "depth")
    given_matrix = kind(TREE, class_kernel=(Lambda @ Lambda.T).toarray(), **options).fit(X, y)
    by_ids = kind(
        TREE, class_kernel=lambda a, b: 1.0 if a == b else 0.5 * (a[0] == b[0]), **options
    ).fit(X, y)
    for model in (given_matrix, by_ids):
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-8)
        np.testing.assert_allclose(
            model.decision_function(X), plain.decision_function(X), atol=1e-3
        )


def test_a_kernel_is_optimal_by_a_general_solver():
    """The dual of HCC03, Eq. 11 has the similarities in place of products of attributes."""
    case = toy("real", "tree", 1.0)
    case = case._replace(costs=np.ones(len(case.y)))
    K = (case.attributes @ case.attributes.T).toarray()
    best, _ = reference.dual_optimum(case.instance())
    taxonomy = case.loss.taxonomy
    names = np.array(taxonomy.leaves)
    options = {"class_kernel": K, "tol": 1e-8, "stop": "gap", "dtype": "float64"}
    for solver in ("auto", "full"):
        model = HierarchicalSVC(taxonomy, solver=solver, **options).fit(case.X, names[case.y])
        assert model.objective_ == pytest.approx(best, rel=1e-6)


def test_a_kernel_couples_categories_without_a_taxonomy():
    X, y = data()
    K = np.array([[1, 0.9, 0, 0], [0.9, 1, 0, 0], [0, 0, 1, 0.9], [0, 0, 0.9, 1]])
    model = HierarchicalSVC(class_kernel=K, random_state=0).fit(X, y)
    flat = HierarchicalSVC(random_state=0).fit(X, y)
    assert np.corrcoef(model.coef_)[0, 1] > np.corrcoef(flat.coef_)[0, 1] + 0.3
    with pytest.raises(AttributeError, match="user-defined attributes"):
        _ = model.node_coef_
    assert not model.terminal_coef_.any()
    parts = model.explain(X[:1]).parts
    assert all(part.node.startswith("attribute ") for part in parts)


def test_a_model_with_a_kernel_is_stored(tmp_path):
    X, y = data()
    model = HierarchicalSVC(class_kernel=np.eye(4) + 0.5, random_state=0).fit(X, y)
    persistence.save(model, tmp_path / "model")
    again = persistence.load(tmp_path / "model")
    assert (again.decision_function(X) == model.decision_function(X)).all()
    assert (again.class_kernel == model.class_kernel).all()


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        (np.eye(3), LabelError, r"shape \(3, 3\), but there are 4 categories"),
        (np.full((4, 4), np.nan), LabelError, "NaN"),
        (np.triu(np.ones((4, 4))), ParameterError, "symmetric. Got 1 for 'a1' and 'a2', but 0 for"),
        (1 - np.eye(4), ParameterError, "positive semidefinite. Its smallest eigenvalue is -1;"),
        (lambda a, b: -float(a == b), ParameterError, "positive semidefinite"),
    ],
)
@pytest.mark.parametrize("kind", [HierarchicalSVC, CoupledBinarySVC])
def test_what_is_no_kernel_is_explained(kind, kernel, error, message):
    X, y = data()
    with pytest.raises(error, match=message):
        kind(TREE, class_kernel=kernel).fit(X, y)


def test_attributes_and_kernel_exclude_each_other():
    X, y = data()
    with pytest.raises(ParameterError, match="either attributes or class_kernel"):
        HierarchicalSVC(TREE, class_kernel=np.eye(4), attributes="flat").fit(X, y)

"""The root's attribute: it cancels in differences, but not in CH04's Eq. 22."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from taxonomist import CoupledBinarySVC, Taxonomy
from taxonomist.models.attributes import class_attributes
from taxonomist.taxonomy import Categories
from tests.reference import binary_svm as reference
from tests.strategies import taxonomies

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2"])
EXACT = {"tol": 1e-8, "stop": "gap", "dtype": "float64", "random_state": 0, "decision": "top_k"}


def data(n=30):
    rng = np.random.default_rng(1)
    Y = rng.random((n, 4)) < 0.4
    X = rng.normal(size=(n, 5)) + Y @ rng.normal(size=(4, 5)) - 1
    return X, Y, [[TREE.leaves[c] for c in np.flatnonzero(row)] for row in Y]


@pytest.mark.equation("CH04:20")
@pytest.mark.parametrize("weight", ["depth", "unit", "normalized"])
@given(taxonomy=taxonomies())
def test_the_root_is_above_every_category(weight, taxonomy):
    categories = Categories.from_labels(taxonomy, list(taxonomy.nodes[1:]))
    rooted = class_attributes(categories, "taxonomy", weight, with_root=True).toarray()
    assert rooted.shape[1] == categories.expanded.n_nodes
    assert (rooted[:, 0] == rooted[0, 0]).all()
    assert rooted[0, 0] > 0
    if weight == "normalized":
        assert (rooted**2).sum(axis=1) == pytest.approx(1)


@pytest.mark.equation("CH04:35")
def test_depth_counts_the_root_if_it_has_an_attribute():
    categories = Categories.from_labels(TREE, list(TREE.leaves))
    rooted = class_attributes(categories, "taxonomy", "depth", with_root=True).toarray()
    assert (rooted**2).sum(axis=1) == pytest.approx(1)
    assert rooted[0, 0] == pytest.approx(1 / np.sqrt(3))


@pytest.mark.equation("CH04:22")
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_coupled_problems_with_the_root_are_optimal(C):
    X, Y, y = data()
    model = CoupledBinarySVC(TREE, C=C, with_root=True, **EXACT).fit(X, y)
    above = np.array(
        [[1, 1, 0, 1, 0, 0, 0], [1, 1, 0, 0, 1, 0, 0], [1, 0, 1, 0, 0, 1, 0], [1, 0, 1, 0, 0, 0, 1]]
    )  # root, a, b, a1, a2, b1, b2
    case = reference.Toy(X, Y, np.full(len(X), C), above / np.sqrt(3))
    best = reference.primal_optimum(case.instance(), X)[0]
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    without = CoupledBinarySVC(TREE, C=C, node_weight=1 / np.sqrt(3), **EXACT).fit(X, y)
    assert model.objective_ < 0.999 * without.objective_


def test_the_root_has_a_row_of_weights():
    X, _, y = data()
    model = CoupledBinarySVC(TREE, with_root=True, **EXACT).fit(X, y)
    assert model.node_coef_[0].any()
    row_of = dict(zip(TREE.nodes, model.node_coef_, strict=True))
    for label, weights in zip(model.classes_, model.coef_, strict=True):
        path = [TREE.root, *TREE.ancestors(label), label]
        np.testing.assert_allclose(weights, sum(row_of[z] for z in dict.fromkeys(path)))
    why = model.explain(X[:1], category="a1")
    assert why.parts[0].node == TREE.root
    assert sum(part.value for part in why.parts) == pytest.approx(why.score)

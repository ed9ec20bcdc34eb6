"""``HierarchicalRLS`` against the paper's formula, with an inverse for every item and node."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from taxonomist import Taxonomy
from taxonomist.errors import ParameterError
from taxonomist.models.hierarchical_rls import HierarchicalRLS
from taxonomist.solvers import least_squares
from tests.combinations import every_pair

TAXONOMIES = {
    "tree": Taxonomy.from_paths(["a > a1 > a11", "a > a1 > a12", "a > a2", "b > b1", "b > b2"]),
    "dag": Taxonomy.from_edges([("a", "x"), ("b", "x"), ("a", "y"), ("x", "x1"), ("x", "x2")]),
    "rooted": Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2")]),
}
WIDTHS = {"primal": 4, "dual": 60}


def make_problem(taxonomy, n_features, n_items=50):
    random = np.random.default_rng(n_features)
    X = random.normal(size=(n_items, n_features)) * (random.random((n_items, n_features)) < 0.5)
    X[3] = 0
    X[5] = X[4]
    y = [
        random.choice(taxonomy.nodes[1:], size=random.integers(0, 3), replace=False).tolist()
        for _ in range(n_items)
    ]
    return X, y


def has(taxonomy, labels, node):
    if node == taxonomy.root and taxonomy.has_artificial_root:
        return True
    return any(node == label or node in taxonomy.ancestors(label) for label in labels)


def margin_by_inverse(taxonomy, X, y, node, x, costs, train_on="parents"):
    """Return <w, x> with w = (I + Σ c_i x_i x_iᵀ + c x xᵀ)⁻¹ Σ c_i y_i x_i [RSSS06, Sec. 5]."""
    costs, own = costs
    parents = taxonomy.parents(node) if train_on == "parents" else ()
    rows = [i for i in range(len(X)) if all(has(taxonomy, y[i], p) for p in parents)]
    matrix = np.eye(X.shape[1]) + own * np.outer(x, x)
    right = np.zeros(X.shape[1])
    for i in rows:
        matrix += costs[i] * np.outer(X[i], X[i])
        right += costs[i] * (1 if has(taxonomy, y[i], node) else -1) * X[i]
    return np.linalg.inv(matrix) @ right @ x


@every_pair(
    name=TAXONOMIES,
    width=WIDTHS,
    form=[np.asarray, csr_array],
    options=[{}, {"cache_size": 0}, {"C": 0.3}, {"train_on": "all"}],
    weighted=[False, True],
)
def test_margins_are_those_of_an_inverse_per_item(name, width, form, options, weighted):
    taxonomy = TAXONOMIES[name]
    X, y = make_problem(taxonomy, WIDTHS[width])
    new = np.vstack([np.random.default_rng(1).normal(size=(8, X.shape[1])), X[:3], X[3:4]])
    weights = np.random.default_rng(2).uniform(0.1, 3, len(X)) if weighted else None
    C = options.get("C", 1.0)
    costs = C * np.ones(len(X)) if weights is None else C * weights
    model = HierarchicalRLS(taxonomy, **options).fit(form(X), y, weights)
    nodes = taxonomy.nodes[int(taxonomy.has_artificial_root) :]
    assert not model.node_constants_
    of = options.get("train_on", "parents")
    expected = np.array(
        [[margin_by_inverse(taxonomy, X, y, z, x, (costs, C), of) for x in new] for z in nodes]
    )
    got = np.empty((taxonomy.n_nodes, len(new)))
    model.scorer_.margins(form(new), taxonomy.codes(nodes), got)
    np.testing.assert_allclose(got[taxonomy.codes(nodes)], expected, atol=1e-8)
    decided = {}
    for z, row in zip(nodes, expected, strict=True):
        above = [decided[p] for p in taxonomy.parents(z) if p in decided]
        decided[z] = np.all([row > 0, *above], axis=0)
    assert model.predict_labels(form(new)) == [
        [z for z in nodes if decided[z][i]] for i in range(len(new))
    ]
    by_node = dict(zip(nodes, expected, strict=True))
    scores = model.node_decision_function(form(new))
    assert scores.shape == (len(new), taxonomy.n_nodes)
    for z in nodes:
        least = np.min([by_node[a] for a in (z, *taxonomy.ancestors(z)) if a in by_node], axis=0)
        np.testing.assert_allclose(scores[:, taxonomy.code(z)], least, atol=1e-8)


def test_all_nodes_share_one_system_if_all_see_all_items():
    taxonomy = TAXONOMIES["tree"]
    X, y = make_problem(taxonomy, WIDTHS["primal"])
    model = HierarchicalRLS(taxonomy, train_on="all").fit(X, y)
    ((codes, system),) = model.scorer_.systems
    assert len(codes) == taxonomy.n_nodes - 1
    assert system.S.shape == X.shape
    with pytest.raises(ParameterError, match="train_on must be one of parents, all"):
        HierarchicalRLS(taxonomy, train_on="some").fit(X, y)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_smaller_system_is_solved(width):
    taxonomy = TAXONOMIES["tree"]
    X, y = make_problem(taxonomy, WIDTHS[width])
    model = HierarchicalRLS(taxonomy).fit(X, y)
    sizes = [len(system.factor) for _, system in model.scorer_.systems]
    assert sizes == [min(system.S.shape) for _, system in model.scorer_.systems]
    assert sum(len(codes) for codes, _ in model.scorer_.systems) == taxonomy.n_nodes - 1
    # One for the top, one for each inner node.
    assert len(model.scorer_.systems) == 4
    scores = model.decision_function(X)
    alone = np.vstack([model.decision_function(X[[i]]) for i in range(len(X))])
    np.testing.assert_allclose(alone, scores, atol=1e-12)


@pytest.mark.parametrize("cheap", [0, 1000])
@pytest.mark.parametrize("block", [1, 2**22])
def test_ways_to_solve_agree(cheap, block, monkeypatch):
    taxonomy = TAXONOMIES["dag"]
    for width in WIDTHS.values():
        X, y = make_problem(taxonomy, width)
        expected = HierarchicalRLS(taxonomy).fit(X, y)
        scores = expected.decision_function(X)
        with monkeypatch.context() as patch:
            patch.setattr(least_squares, "CHEAP", cheap)
            patch.setattr(least_squares, "NUMBERS_AT_A_TIME", block)
            for form in (X, csr_array(X), X.astype(np.float32)):
                model = HierarchicalRLS(taxonomy).fit(form, y)
                atol = 1e-9 if form.dtype == np.float64 else 1e-5
                np.testing.assert_allclose(model.node_coef_, expected.node_coef_, atol=atol)
                np.testing.assert_allclose(model.decision_function(form), scores, atol=atol)


def test_factors_are_made_when_needed_within_the_room_and_not_pickled():
    taxonomy = TAXONOMIES["tree"]
    X, y = make_problem(taxonomy, 400, n_items=90)
    model = HierarchicalRLS(taxonomy).fit(X, y)
    sizes = [min(system.S.shape) for _, system in model.scorer_.systems]
    scores = model.decision_function(X)
    assert all("factor" in vars(system) for _, system in model.scorer_.systems)
    again = pickle.loads(pickle.dumps(model))
    assert not any("factor" in vars(system) for _, system in again.scorer_.systems)
    np.testing.assert_array_equal(again.decision_function(X), scores)
    room = 8 * (sizes[0] ** 2 + sizes[1] ** 2) / 1e6
    for given, n_kept in ((room, 2), (room - 1e-5, 1)):
        small = HierarchicalRLS(taxonomy, cache_size=given).fit(X, y)
        kept = [system.has_factor for _, system in small.scorer_.systems]
        assert kept[:2] == [True, n_kept > 1]
        assert sum(system.n_bytes for _, system in small.scorer_.systems) <= given * 1e6
        np.testing.assert_allclose(small.decision_function(X), scores, atol=1e-8)


def test_conjugate_gradients_that_do_not_arrive(monkeypatch):
    monkeypatch.setattr(least_squares, "MAX_STEPS", 2)
    taxonomy = TAXONOMIES["tree"]
    X, y = make_problem(taxonomy, 30)
    with pytest.warns(ConvergenceWarning, match="Increase cache_size"):
        model = HierarchicalRLS(taxonomy, cache_size=0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="Increase cache_size"):
        model.decision_function(X)
    # With room for the factor there is no need for them.
    monkeypatch.setattr(least_squares, "CHEAP", 0)
    patient = HierarchicalRLS(taxonomy).fit(X, y)
    monkeypatch.undo()
    np.testing.assert_allclose(
        patient.node_coef_, HierarchicalRLS(taxonomy).fit(X, y).node_coef_, atol=1e-10
    )

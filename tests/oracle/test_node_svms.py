"""The classifiers of PathSVC against a general QP solver, node by node."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from taxonomist import PathSVC, Taxonomy
from taxonomist.compiled.arrays import Labels
from taxonomist.inference.block_weights import sparse_rows
from taxonomist.solvers import row_norms
from taxonomist.solvers.node_svms import Groups, NodeOptions, NodeProblems, solve
from tests.reference.node_svms import optimum

EXACT = NodeOptions(tol=1e-5, max_iter=20_000)
TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2 > b21", "c"])
DAG = Taxonomy.from_edges([("a", "x"), ("a", "y"), ("b", "y"), ("b", "z"), ("z", "z1")])
LABELS = {
    "tree": (TREE, TREE.leaves),
    "dag": (DAG, DAG.leaves),
    "interior": (TREE, ("a", "a1", "b", "b1", "b21", "c")),
    "flat": (Taxonomy.flat(["p", "q", "r"]), ("p", "q", "r")),
}


def items(labels, *, n=40, is_set=False, seed=0):
    """Return sparse rows, labels and weights, of which some are 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.6)
    y = rng.choice(np.array(labels, dtype=object), size=n)
    X[:, 0] += y == labels[0]
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=n)
    sets = [sorted({y[k], y[-1 - k]}) if k % 3 == 0 else [y[k]] for k in range(n)]
    return X, (sets if is_set else y), weights


def members(taxonomy, sets):
    """Return the items at or below each node, by definition."""
    above = {node: {node, *taxonomy.ancestors(node)} for node in taxonomy.nodes}
    return {
        node: np.array([any(node in above[label] for label in labels) for labels in sets])
        for node in taxonomy.nodes
    }


def expected_total(taxonomy, sets, X, weights, negatives, C, constant, *, is_squared):
    """Return the sum of the optima of all classifiers, by definition."""
    rows = np.hstack([X, np.full((len(X), 1), constant)])
    used = weights > 0
    inside = members(taxonomy, sets)
    root = taxonomy.nodes[0]
    inside[root] = np.ones(len(X), dtype=bool)
    total = 0.0
    for node in taxonomy.nodes[1:]:
        parents = taxonomy.parents(node)
        beside = np.logical_or.reduce([inside[parent] for parent in parents])
        kinds = []
        if negatives != "siblings":
            kinds.append(used)
        if negatives != "all" and not (negatives == "both" and list(parents) == [root]):
            kinds.append(used & beside)
        for chosen in kinds:
            is_in = inside[node][chosen]
            if is_in.any() and not is_in.all():
                signs = np.where(is_in, 1.0, -1.0)
                costs = C * weights[chosen]
                total += optimum(rows[chosen], signs, costs, is_squared=is_squared)
    return total


@pytest.mark.parametrize("negatives", ["all", "siblings", "both"])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("kind", LABELS)
def test_every_classifier_is_optimal(kind, loss, negatives):
    taxonomy, labels = LABELS[kind]
    X, y, weights = items(labels)
    model = PathSVC(
        taxonomy, C=0.7, negatives=negatives, loss=loss, constant=0.5, tol=1e-5, random_state=0
    ).fit(X, y, weights)
    expanded = model.targets_.categories.expanded
    terminal = {node: leaf for leaf, node in expanded.terminals.items()}
    sets = [[terminal.get(label, label)] for label in y]
    expected = expected_total(
        expanded, sets, X, weights, negatives, 0.7, 0.5, is_squared=loss == "squared_hinge"
    )
    assert model.converged_
    assert model.objective_ == pytest.approx(expected, rel=1e-4)
    assert model.dual_objective_ == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("kind", ["tree", "dag", "interior"])
def test_label_sets_have_a_classifier_for_every_node(kind):
    taxonomy, labels = LABELS[kind]
    X, sets, weights = items(labels, is_set=True)
    model = PathSVC(taxonomy, negatives="both", tol=1e-5, random_state=0).fit(X, sets, weights)
    expected = expected_total(taxonomy, sets, X, weights, "both", 1.0, 1.0, is_squared=True)
    assert model.objective_ == pytest.approx(expected, rel=1e-4)


def one_group(X, Y, costs, constant=1.0, *, is_squared=True):
    own = sparse.csr_array(Y)
    labels = Labels(own.indptr.astype(np.intp), own.indices.astype(np.intp))
    n_items, n_columns = Y.shape
    ends = np.array([0, n_items]), np.array([0, n_columns])
    group = Groups(np.arange(n_items), ends[0], labels, ends[1], np.arange(n_columns))
    rows = sparse_rows(sparse.csr_array(X.astype(np.float32)))
    return NodeProblems(rows, X.shape[1], costs, group, constant, is_squared)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("is_squared", [True, False])
def test_each_column_is_optimal_for_every_cost(C, is_squared):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(30, 5)), rng.random((30, 20)) < 0.4
    solution = solve(one_group(X, Y, np.full(30, C), is_squared=is_squared), EXACT)
    rows = np.hstack([X, np.ones((30, 1))])
    for b in range(20):
        expected = optimum(
            rows, np.where(Y[:, b], 1.0, -1.0), np.full(30, C), is_squared=is_squared
        )
        assert solution.primal[b] == pytest.approx(expected, rel=2e-4)
        assert solution.dual[b] <= expected * (1 + 1e-4)


def test_weights_follow_from_dual_variables():
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(25, 4)), rng.random((25, 3)) < 0.5
    solution = solve(one_group(X, Y, np.ones(25), 2.0), EXACT)
    alpha = solution.duals.toarray() * np.where(Y, 1.0, -1.0)
    scores = np.empty((25, 3), np.float32)
    solution.weights.scores(sparse.csr_array(X.astype(np.float32)), scores)
    np.testing.assert_allclose(scores, X @ (X.T @ alpha) + 4.0 * alpha.sum(axis=0), atol=1e-3)


def test_a_warm_start_ends_at_once_and_threads_change_no_bit():
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(60, 5)), rng.random((60, 40)) < 0.3
    problem = one_group(X, Y, np.ones(60), is_squared=False)
    first = solve(problem, EXACT)
    again = solve(problem, EXACT, start=first.duals)
    assert again.n_passes < first.n_passes
    assert again.primal.sum() == pytest.approx(first.primal.sum(), rel=1e-4)
    threads = solve(problem, NodeOptions(tol=1e-5, max_iter=20_000, n_threads=3))
    np.testing.assert_array_equal(threads.weights.table.values, first.weights.table.values)


def test_too_few_passes_are_said():
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(60, 5)), rng.random((60, 2)) < 0.5
    assert not solve(
        one_group(X, Y, np.full(60, 10.0)), NodeOptions(tol=1e-7, max_iter=1)
    ).converged


@pytest.mark.parametrize("n_items", [0, 1, 7, 9])
def test_norms_do_not_depend_on_how_many_rows_are_squared_together(n_items, monkeypatch):
    X = sparse.random_array((n_items, 5), density=0.5, rng=np.random.default_rng(0))
    rows = sparse_rows(sparse.csr_array(X))
    # Rounding errors show where the sum before is large.
    whole = row_norms.row_norms(rows, 2.0, 1e12)
    monkeypatch.setattr(row_norms, "ROWS_TOGETHER", 3)
    np.testing.assert_array_equal(row_norms.row_norms(rows, 2.0, 1e12), whole)
    expected = np.square(X.toarray()).sum(axis=1) + 4
    np.testing.assert_allclose(row_norms.row_norms(rows, 2.0), expected, rtol=1e-6)

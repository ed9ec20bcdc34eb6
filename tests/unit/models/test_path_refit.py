"""PathSVC.refit: the same model as a fit from the start, with fewer classifiers trained."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from taxonomist import PathSVC
from taxonomist.errors import LabelError, ParameterError, UnknownNodeError
from taxonomist.models import path_learning
from taxonomist.persistence import load, save
from tests.unit.models.test_path_search import wide_problem
from tests.unit.models.test_path_svc import DAG, TREE, items


@pytest.fixture
def solved(monkeypatch):
    """Count the blocks that are solved in all calls of the solver."""
    counts = []

    def solve(problem, options, callback, start, kept):
        n_kept = 0 if kept is None else int(kept.is_kept.sum())
        counts.append((n_kept, kept is None))
        return true_solve(problem, options, callback, start, kept)

    true_solve = path_learning.solve
    monkeypatch.setattr(path_learning, "solve", solve)
    return counts


def assert_same(one, other, X):
    for name in ("objective_", "dual_objective_", "converged_"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-12)
    assert (one.start_.alpha != other.start_.alpha).nnz == 0
    tables = one.scorer_.weights.table, other.scorer_.weights.table
    assert all(
        np.array_equal(a, b)
        for a, b in zip(
            tables[0]._replace(start=0, values=0),
            tables[1]._replace(start=0, values=0),
            strict=True,
        )
    )
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("negatives", ["siblings", "both", "all"])
@pytest.mark.parametrize("is_new", [False, True])
def test_a_refit_is_a_fit(negatives, is_new, solved):
    taxonomy, X, y = wide_problem()
    model = PathSVC(taxonomy, negatives=negatives, random_state=0)
    model.fit(X[:250], y[:250])
    inside = np.flatnonzero([label.startswith("bx") for label in y[:250]])
    y = y.copy()
    y[inside[:4]] = "bx2"
    if is_new:
        y[250:] = np.resize(["bx1", "bx2", "bx3"], len(y) - 250)
    else:
        X, y = X[:250], y[:250]
    solved.clear()
    model.refit(X, y, nodes=["bx"])
    n_kept, is_whole = solved[0]
    assert not is_whole
    assert n_kept > 0 or (negatives == "all")
    assert_same(model, PathSVC(taxonomy, negatives=negatives, random_state=0).fit(X, y), X)


@pytest.mark.parametrize("kind", ["sets", "dag"])
def test_label_sets_and_dags(kind, solved):
    taxonomy = TREE if kind == "sets" else DAG
    X, y, sets = items(taxonomy, n=150)
    X = sparse.csr_array(np.hstack([X, np.random.default_rng(0).normal(size=(150, 130))]))
    y = sets if kind == "sets" else y
    node, labels = ("b2", ["b21", "b22"]) if kind == "sets" else ("z", ["z1", "w"])
    new = (
        [[labels[k % 2]] for k in range(10)]
        if kind == "sets"
        else [labels[k % 2] for k in range(10)]
    )
    X_all = sparse.vstack([X, X[:10]]).tocsr()
    y_all = [*y, *new]
    model = PathSVC(taxonomy, negatives="siblings", random_state=0).fit(X, y)
    solved.clear()
    model.refit(X_all, y_all, nodes=[node])
    assert solved[0][0] > 0
    assert_same(
        model, PathSVC(taxonomy, negatives="siblings", random_state=0).fit(X_all, y_all), X_all
    )


def test_few_features_too():
    X, y, _ = items(TREE, n=150)
    model = PathSVC(TREE, negatives="siblings", random_state=0).fit(X, y)
    changed = np.where(y == "b21", "b22", y)
    model.refit(X, changed, nodes=["b2"])
    again = PathSVC(TREE, negatives="siblings", random_state=0).fit(X, changed)
    assert_same(model, again, X)


def test_what_cannot_be_refitted_is_refused(tmp_path):
    X, y, _ = items(TREE, n=60)
    model = PathSVC(TREE, random_state=0).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ParameterError, match="needs all 60 items"):
        model.refit(X[:50], y[:50], nodes=["a"])
    with pytest.raises(UnknownNodeError, match="nope"):
        model.refit(X, y, nodes=["nope"])
    with pytest.raises(LabelError, match="Item 60 is new and belongs to none of the nodes a"):
        model.refit(np.vstack([X, X[:1]]), [*y, "c"], nodes=["a"])
    np.testing.assert_array_equal(model.decision_function(X), before)
    save(model, tmp_path / "model")
    with pytest.raises(ParameterError, match="warm_start=True"):
        load(tmp_path / "model").refit(X, y, nodes=["a"])
    kept = PathSVC(TREE, warm_start=True, random_state=0).fit(X, y)
    save(kept, tmp_path / "kept")
    again = load(tmp_path / "kept").refit(X, y, nodes=["a"])
    np.testing.assert_array_equal(again.decision_function(X), before)

"""``MaxMarginMarkovClassifier`` on taxonomies in which nodes have several parents."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from taxonomist import MaxMarginMarkovClassifier, Taxonomy
from taxonomist.errors import ModelFileError, ParameterError
from taxonomist.models.markov_dags import check_dag
from taxonomist.models.markov_parts import is_same_tree
from taxonomist.persistence import load, save
from taxonomist.persistence.contracts import check_object
from taxonomist.solvers import markov_graph

# The loops of DAGs take a minute to compile.
pytestmark = pytest.mark.slow

DAG = Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("a", "ab"), ("b", "ab"), ("b", "b1"), ("ab", "ab1"), ("b1", "ab1")]
)
LABELS = ["a", "ab", "ab1", "b1"]
FORMS = {
    "auto": {},
    "consistent": {"train_on": "consistent"},
    "paths": {"features": "path"},
    "signed": {"slack": "example_signed"},
    "slack per edge": {"slack": "edge"},
    "hierarchical": {"loss": "hierarchical_sibling"},
    "argmax": {"decision": "argmax", "cv": 0},
    "rbf": {"kernel": "rbf", "gamma": 0.1},
}


def data(n=60, seed=0):
    """Return items with a prototype per label, and sets of one or two labels."""
    rng = np.random.default_rng(seed)
    centres = {label: rng.normal(size=8) for label in LABELS}
    y = [sorted(rng.choice(LABELS, size=rng.integers(1, 3), replace=False)) for _ in range(n)]
    X = np.array([sum(centres[label] for label in item) for item in y])
    return X + 0.1 * rng.normal(size=X.shape), y


def model(**options):
    return MaxMarginMarkovClassifier(DAG, **{"C": 10, "cv": 3, "random_state": 0, **options})


def closed(labels):
    return {node for label in labels for node in (label, *DAG.ancestors(label))} - {"r"}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_predictions_are_closed_under_all_parents(form):
    X, y = data()
    fitted = model(**form).fit(X, y)
    assert fitted.converged_
    assert 0 <= fitted.duality_gap_ <= 0.01
    found = fitted.predict_labels(X)
    right = [set(a) - {"r"} == closed(b) for a, b in zip(found, y, strict=True)]
    assert np.mean(right) > 0.8
    for labels in found:
        assert {parent for label in labels for parent in DAG.parents(label)} <= {*labels, "r"}
    columns = {node: k for k, node in enumerate(fitted.classes_)}
    scores, chances = fitted.decision_function(X), fitted.predict_proba(X)
    for labels, score in zip(found, scores, strict=True):
        assert {node for node, k in columns.items() if score[k] > 0} == set(labels) & set(columns)
    for node, k in columns.items():
        for parent in set(DAG.parents(node)) & set(columns):
            assert (chances[:, k] <= chances[:, columns[parent]]).all()
    assert ((chances >= 0) & (chances <= 1)).all()


def test_each_parent_has_an_edge():
    X, y = data()
    fitted = model(decision="argmax", cv=0).fit(X, y)
    assert fitted.edge_coef_.shape == (7, 4, 8)
    assert fitted.node_coef_.shape == (6, 8)
    # Gains of nodes are those of the edges above and below them.
    edges = [
        (DAG.code(p), DAG.code(j)) for j in DAG.nodes for p in sorted(DAG.parents(j), key=DAG.code)
    ]
    gains = np.zeros((6, 8))
    for (p, j), weights in zip(edges, fitted.edge_coef_, strict=True):
        gains[p] += weights[2] - weights[0]
        gains[j] += weights[3] - weights[2]
    np.testing.assert_allclose(fitted.node_coef_, gains, rtol=1e-4, atol=1e-6)
    free = fitted.predict(X, consistent=False)
    assert free.shape[0] == len(X)


def test_one_label_per_item():
    X, y = data()
    single = [labels[0] for labels in y]
    fitted = model().fit(X, single)
    assert set(fitted.predict(X)) <= set(LABELS)
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1)


def test_files_and_warm_starts(tmp_path):
    X, y = data()
    fitted = model(warm_start=True).fit(X, y)
    save(fitted, tmp_path / "model")
    read = load(tmp_path / "model")
    np.testing.assert_array_equal(read.decision_function(X), fitted.decision_function(X))
    np.testing.assert_array_equal(read.predict_proba(X), fitted.predict_proba(X))
    assert read.predict_labels(X) == fitted.predict_labels(X)
    n_before = fitted.n_iter_
    assert fitted.fit(X, y).n_iter_ <= n_before
    dag = fitted.scorer_.tree
    assert is_same_tree(dag, dag)
    assert not is_same_tree(dag, dag._replace(costs=dag.costs + 1))
    for wrong in ({"indices": dag.indices[::-1].copy()}, {"stride": 2}, {"costs": dag.costs[1:]}):
        with pytest.raises(ModelFileError, match="LabelledDag"):
            check_object(dag._replace(**wrong))


def test_a_wide_graph_trains_on_consistent_labellings(monkeypatch):
    """All labellings have only a bound there, which the certificate then uses."""
    X, y = data()
    narrow = model(decision="argmax", cv=0).fit(X, y)
    closed_ones = model(decision="argmax", cv=0, train_on="consistent").fit(X, y)
    monkeypatch.setattr(markov_graph, "MAX_STATES", 1)
    wide = model(decision="argmax", cv=0).fit(X, y)
    np.testing.assert_array_equal(wide.edge_coef_, closed_ones.edge_coef_)
    assert not np.array_equal(wide.edge_coef_, narrow.edge_coef_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the bound may stay above the gap
        bounded = model(decision="argmax", cv=0, train_on="all", max_iter=30).fit(X, y)
    assert bounded.dual_objective_ <= 1.01 * narrow.objective_
    assert bounded.objective_ >= 0.99 * narrow.dual_objective_
    assert bounded.predict(X, consistent=False).shape[0] == len(X)
    paths = {"features": "path", "decision": "argmax", "cv": 0}
    with pytest.raises(ParameterError, match="train_on='consistent'"):
        model(train_on="all", **paths).fit(X, y)
    with pytest.raises(ParameterError, match="use consistent=True"):
        model(**paths).fit(X, y).predict(X, consistent=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"solver": "subspace", "solver_options": {"oracle": "linear_program"}},
            "oracle='dynamic'",
        ),
        ({"slack": "edge", "features": "path"}, "features='edge'"),
    ],
)
def test_what_needs_a_tree_says_so(options, message):
    X, y = data()
    with pytest.raises(ParameterError, match=message):
        model(**options).fit(X, y)
    with pytest.raises(ParameterError, match=r"hard margin .* needs a tree"):
        check_dag(model(C=np.inf))
    tree = DAG.spanning_tree()
    MaxMarginMarkovClassifier(tree, tol=1.0, cv=0, decision="argmax", **options).fit(X, y)


def test_the_papers_solver_reaches_the_same_optimum():
    X, y = data()
    exact = {"tol": 0.01, "dtype": "float64", "decision": "argmax", "cv": 0, "C": 0.3}
    one = model(**exact).fit(X, y)
    other = model(**exact, solver="subspace").fit(X, y)
    assert other.objective_ == pytest.approx(one.objective_, rel=0.02)

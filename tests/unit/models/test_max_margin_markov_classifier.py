"""``MaxMarginMarkovClassifier``: what it is fitted to, and how it answers."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from taxonomist import MaxMarginMarkovClassifier, Taxonomy
from taxonomist.errors import LabelError, NotSeparableError, TaxonomyError
from taxonomist.losses import labelling_loss
from tests.reference.labellings import all_labellings

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2 > b21", "b > b2 > b22"])
DAG = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "ab"), ("b", "ab"), ("b", "b1")])
LEAVES = ["a1", "a2", "b1", "b21", "b22"]
FORMS = {
    "edge": {},
    "path": {"features": "path", "train_on": "consistent"},
    "signed": {"slack": "example_signed"},
    "slack per edge": {"slack": "edge"},
    "hierarchical": {"loss": "hierarchical_sibling"},
    "argmax": {"decision": "argmax", "cv": 0},
    "level": {"decision": "level"},
    "rbf": {"kernel": "rbf", "gamma": 0.1},
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def data(n=40, seed=0, labels=LEAVES, least=1):
    """Return items with a prototype per label, and sets of up to two labels."""
    rng = np.random.default_rng(seed)
    centres = {label: rng.normal(size=8) for label in labels}
    y = [sorted(rng.choice(labels, size=rng.integers(least, 3), replace=False)) for _ in range(n)]
    X = np.array([sum((centres[label] for label in item), np.zeros(8)) for item in y])
    return X + 0.2 * rng.normal(size=X.shape), y


def model(**options):
    return MaxMarginMarkovClassifier(
        options.pop("taxonomy", TREE), **{"C": 10, "cv": 3, "random_state": 0, **options}
    )


def closed(labels):
    return {node for label in labels for node in (label, *TREE.ancestors(label))} - {"ROOT"}


@every_form
def test_predictions_agree_with_each_other_and_are_closed(form):
    X, y = data()
    fitted = model(**form).fit(X, y)
    found = fitted.predict_labels(X)
    right = [set(a) == closed(b) for a, b in zip(found, y, strict=True)]
    assert np.mean(right) > 0.8
    assert fitted.score(X, y) == np.mean(right)
    indicator, paths = fitted.predict(X), fitted.predict_paths(X)
    assert sparse.issparse(indicator)
    for i, labels in enumerate(found):
        assert set(labels) == closed(labels)
        assert set(fitted.classes_[indicator[[i]].indices]) == set(labels) & set(LEAVES)
        assert {node for path in paths[i] for node in path} == set(labels)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["edge", "path"]))
def test_predictions_are_closed_whatever_the_data(seed, features):
    rng = np.random.default_rng(seed)
    paths = [f"n{rng.integers(3)} > m{rng.integers(6)}" for _ in range(8)]
    taxonomy = Taxonomy.from_paths(paths, ids="path")
    nodes = list(taxonomy.nodes[1:])
    y = [list(rng.choice(nodes, size=rng.integers(0, 4))) for _ in range(12)]
    X = rng.normal(size=(12, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = model(taxonomy=taxonomy, features=features, max_iter=5, cv=2).fit(X, y)
    for labels in fitted.predict_labels(rng.normal(size=(20, 3))):
        above = {node for label in labels for node in taxonomy.ancestors(label)}
        assert above - {taxonomy.nodes[0]} <= set(labels)


def test_ancestors_may_be_given_or_not():
    X, y = data()
    with_ancestors = [sorted(closed(labels)) for labels in y]
    one, other = model().fit(X, y), model().fit(X, with_ancestors)
    np.testing.assert_array_equal(one.node_coef_, other.node_coef_)


def test_items_may_stop_at_interior_nodes_and_have_no_label():
    X, y = data(labels=["a1", "b", "b21"], least=0)
    fitted = model().fit(X, y)
    assert set(fitted.classes_) >= {"a1", "b", "b21"}
    found = [set(labels) for labels in fitted.predict_labels(X)]
    assert fitted.score(X, y) > 0.8
    assert {"b"} in found
    assert set() in found


def test_labels_of_unseen_interior_nodes_can_be_scored():
    X, y = data()
    fitted = model().fit(X, y)
    assert 0 <= fitted.score(X[:2], [["b"], ["b2", "a1"]]) <= 1


def test_a_label_at_least_where_every_item_had_one():
    X, y = data()
    far = np.zeros((1, 8))
    assert model(decision="argmax", cv=0, C=1e-3).fit(X, y).label_limits_.least == 1
    for least in (1, 2, 3):
        fitted = model(min_labels=least, C=1e-3).fit(X, y)
        labels = set(fitted.predict_labels(far)[0]) & set(LEAVES)
        assert len(labels) >= least
    none = model(min_labels=0, decision="argmax", cv=0, C=1e-9).fit(X, y)
    assert none.label_limits_.least == 0


def test_scores_are_those_of_the_labellings():
    """Gains of nodes are differences of edge scores, whatever the labelling."""
    X, y = data()
    fitted = model(constant=0.0, decision="argmax", cv=0).fit(X, y)
    scores = np.einsum("euf,f->eu", fitted.edge_coef_.astype(float), X[0])
    gains = fitted.node_coef_ @ X[0]
    parent = fitted.scorer_.tree.parent
    for row in all_labellings(parent):
        total = sum(
            scores[j - 1, 2 * row[parent[j]] + row[j]] - scores[j - 1, 0]
            for j in range(1, len(parent))
        )
        assert total == pytest.approx(gains[row].sum(), abs=1e-4)
    path = TREE.codes(["b21", *TREE.ancestors("b21")])
    np.testing.assert_allclose(
        fitted.coef_[list(fitted.classes_).index("b21")],
        fitted.node_coef_[path].sum(axis=0),
        atol=1e-5,
    )


def test_unrestricted_labellings_are_the_best_of_all():
    X, y = data()
    columns = list(TREE.nodes)
    Y = np.array([[node in closed(labels) | {"ROOT"} for node in columns] for labels in y])
    fitted = model(C=0.05, tol=0.3, max_iter=3, decision="argmax", cv=0, min_labels=0)
    with pytest.warns(ConvergenceWarning):
        fitted.set_params(tol=1e-9).fit(X, Y.astype(int))
    found = fitted.predict(X, consistent=False).astype(bool)
    parent = fitted.scorer_.tree.parent
    rows = all_labellings(parent, consistent=False)
    weights = fitted.scorer_.edge_weights.astype(float)
    scores = np.hstack([X, np.full((len(X), 1), 0.5)]) @ weights
    totals = np.zeros((len(X), len(rows)))
    for j in range(1, len(parent)):
        codes = 4 * (j - 1) + 2 * rows[:, parent[j]] + rows[:, j]
        totals += scores[:, codes]
    np.testing.assert_array_equal(found, rows[totals.argmax(axis=1)])


def test_scores_are_positive_for_what_is_predicted():
    X, y = data(seed=3)
    for decision in ("argmax", "node"):
        fitted = model(decision=decision, min_labels=0).fit(X, y)
        chosen = fitted.predict(X).toarray() > 0
        np.testing.assert_array_equal(fitted.decision_function(X) > 0, chosen)
    labels, scores = fitted.predict_topk(X, 2)
    np.testing.assert_array_equal(scores[:, 0], fitted.decision_function(X).max(axis=1))
    assert labels.shape == (40, 2)


def test_probabilities():
    X, y = data(n=120)
    fitted = model().fit(X, y)
    p = fitted.predict_proba(X)
    assert p.shape == (120, 5)
    assert p.sum() == pytest.approx(sum(map(len, y)), rel=0.1)
    assert fitted.temperature_ != 1.0
    one = fitted.predict_proba(X[[7]])
    np.testing.assert_allclose(one[0], p[7], atol=1e-12)


def test_single_labels():
    X, y = data(n=80)
    y = [labels[0] for labels in y]
    fitted = model().fit(X, y)
    assert fitted.predict(X).shape == (80,)
    assert fitted.decision_function(X).shape == (80, 5)
    p = fitted.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.classes_[p.argmax(axis=1)], fitted.predict(X))
    assert fitted.predict_paths(X[:1])[0][-1] == fitted.predict(X[:1])[0]
    assert fitted.predict_topk(X, 2)[0].shape == (80, 2)
    with pytest.raises(ValueError, match="requires a model of label sets"):
        fitted.predict(X, consistent=False)


def test_explanations_add_up():
    X, y = data()
    fitted = model().fit(X, y)
    why = fitted.explain(X[0], category="b21")
    nodes = [part.node for part in why.parts]
    assert nodes[-3:] == ["b", "b2", "b21"]
    for part in why.parts:
        shown = sum(share for _, share in part.features) + part.rest
        assert shown == pytest.approx(part.value)
    gains = fitted.node_coef_ @ X[0] + fitted.scorer_.W[-1] * 0.5
    path = TREE.codes(["b21", *TREE.ancestors("b21")])
    assert why.score == pytest.approx(gains[path].sum(), abs=1e-5)


def test_linear_and_kernel_path_agree():
    X, y = data()
    exact = {
        "constant": 0.0,
        "tol": 1e-5,
        "C": 1,
        "dtype": "float64",
        "decision": "argmax",
        "cv": 0,
    }
    one = model(**exact).fit(X, y)
    for features in ("edge", "path"):
        one = model(**exact, features=features).fit(X, y)
        other = model(**exact, features=features, kernel="precomputed").fit(X @ X.T, y)
        assert one.objective_ == pytest.approx(other.objective_, rel=1e-5)
        np.testing.assert_allclose(
            one.decision_function(X), other.decision_function(X @ X.T), atol=1e-3
        )


def test_items_of_weight_two_are_two_items():
    X, y = data()
    exact = {"tol": 1e-5, "C": 1, "dtype": "float64", "decision": "argmax", "cv": 0}
    weights = np.arange(40) % 3
    weighted = model(**exact).fit(X, y, sample_weight=weights)
    twice = np.repeat(np.arange(40), weights)
    repeated = model(**exact).fit(X[twice], [y[i] for i in twice])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=3e-5)
    np.testing.assert_allclose(weighted.node_coef_, repeated.node_coef_, atol=1e-3)


@every_form
def test_warm_start_saves_passes(form):
    X, y = data()
    fitted = model(**form, warm_start=True).fit(X, y)
    first = fitted.n_iter_
    fitted.fit(X, y)
    assert fitted.n_iter_ <= max(2, first // 2)
    assert fitted.converged_


def test_warm_start_forgets_items_whose_labels_changed():
    X, y = data()
    exact = {"tol": 1e-5, "C": 1, "dtype": "float64", "decision": "argmax", "cv": 0}
    fitted = model(**exact, warm_start=True).fit(X, y)
    other = [["a1"], *y[1:]]
    fitted.set_params(C=5).fit(X, other)
    cold = model(**exact).set_params(C=5).fit(X, other)
    assert fitted.objective_ == pytest.approx(cold.objective_, rel=1e-5)


def test_local_features():
    """A feature that is tied to a node is used there and nowhere else."""
    X, y = data()
    rng = np.random.default_rng(1)
    cue = np.array([["b21" in labels] for labels in y]) + 0.1 * rng.normal(size=(40, 1))
    fitted = model(local_features={"b21": [8]}, constant=0.0).fit(np.hstack([X, cue]), y)
    others = [j for j, node in enumerate(TREE.nodes[1:]) if node != "b21"]
    assert not fitted.edge_coef_[others, :, 8].any()
    assert fitted.edge_coef_[list(TREE.nodes[1:]).index("b21"), :, 8].any()
    exact = {"tol": 1e-5, "C": 1, "dtype": "float64", "decision": "argmax", "cv": 0}
    for form in ({}, {"features": "path"}, {"slack": "edge"}):
        without = model(**exact, **form).fit(X, y)
        tied = model(**exact, **form, local_features={"b21": slice(8, 9)})
        assert tied.fit(np.hstack([X, cue]), y).objective_ <= without.objective_ * (1 + 1e-5)
        dense, table = tied, sparse.csr_array(np.hstack([X, cue]))
        again = model(**exact, **form, local_features={"b21": [8]}).fit(table, y)
        assert again.objective_ == pytest.approx(dense.objective_, rel=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slack": "items"}, "slack must be one of"),
        ({"features": "node"}, "features must be one of"),
        ({"train_on": "some"}, "train_on must be one of"),
        ({"solver": "greedy"}, "solver must be one of"),
        ({"decision": "nodes"}, "Did you mean 'node'"),
        ({"cv": 1}, "cv must be 0"),
        ({"cv": 0}, "give cv=2 or more"),
        ({"C": np.inf, "slack": "edge"}, "no slack variables"),
        ({"C": np.inf, "slack": "example_signed"}, "no slack variables"),
        ({"C": np.inf, "features": "path"}, "no hard margin exists"),
        ({"C": np.inf, "solver": "subspace"}, "needs a finite C"),
        ({"edge_loss": "lower"}, "edge_loss must be one of"),
        ({"solver_options": {"chunk_size": 5}}, "those of solver='subspace'"),
        ({"solver_options": {"chunk": 5}, "solver": "subspace"}, "Did you mean 'chunk_size'"),
        ({"solver_options": 5, "solver": "subspace"}, "must be a mapping"),
        ({"features": "additive"}, "give local_features"),
        ({"features": "additive", "local_features": {"b21": [1]}}, "as many local features"),
        (
            {"features": "additive", "local_features": {"b21": [1]}, "slack": "edge"},
            "needs slack='example'",
        ),
        (
            {"features": "additive", "local_features": {"b21": [1]}, "solver": "subspace"},
            "a block of weights for each edge",
        ),
        ({"loss": "zero_one"}, "does not split over the edges"),
        ({"loss": labelling_loss("hierarchical_uniform", TREE, charge="path")}, "does not split"),
        ({"local_features": {"b21": [8]}}, "numbers of columns"),
        ({"local_features": {"b21": [1], "a1": [1]}}, "local feature of two nodes"),
        ({"local_features": {"ROOT": [1]}}, "below the root"),
        ({"local_features": {"b21": [1]}, "kernel": "rbf"}, "need kernel='linear'"),
        ({"kernel": "rbf", "constant": 1.0}, "constant feature needs"),
        ({"min_labels": 9}, "min_labels is 9"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        model(**options).fit(X, y)


# Loops over graphs take more than a minute to compile; test_markov_dags.py has more of them.
@pytest.mark.parametrize(
    "taxonomy", [pytest.param(DAG, marks=pytest.mark.slow, id="dag"), DAG.spanning_tree()], ids=str
)
def test_a_dag_and_its_spanning_tree_are_taken(taxonomy):
    X, y = data(labels=["ab", "b1"])
    assert model(taxonomy=taxonomy).fit(X, y).score(X, y) > 0.8


def test_taxonomies_and_labels_that_make_no_sense_are_refused():
    X, _ = data()
    with pytest.raises(TaxonomyError, match="nothing to decide"):
        model(taxonomy=Taxonomy([], nodes=["only"])).fit(X, [["only"]] * 40)
    with pytest.raises(LabelError, match="a3"):
        model().fit(X, [["a3"]] * 40)


def test_without_a_taxonomy_there_is_one_of_depth_one():
    X, y = data()
    fitted = MaxMarginMarkovClassifier(C=10, cv=3).fit(X, y)
    assert fitted.taxonomy_.height == 1
    assert fitted.score(X, y) > 0.8


def test_one_item_and_empty_items():
    X, y = data()
    fitted = model().fit(X[:1], y[:1])
    assert closed(y[0]) <= set(fitted.predict_labels(X[:1])[0])
    X[5] = 0
    assert model(constant=0.0).fit(sparse.csr_matrix(X), y).converged_


def test_same_seed_same_model_whatever_the_threads():
    X, y = data()
    one, other = model(n_jobs=1).fit(X, y), model(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.node_coef_, other.node_coef_)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    copy = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(copy.predict_proba(X), one.predict_proba(X))


def test_fitted_attributes_say_when_they_are_missing():
    X, y = data()
    assert not hasattr(model(), "node_coef_")
    fitted = model(kernel="rbf", gamma=0.1).fit(X, y)
    assert not hasattr(fitted, "edge_coef_")
    paths = model(features="path", train_on="consistent").fit(X, y)
    assert not hasattr(paths, "edge_coef_")
    assert paths.node_coef_.shape == (TREE.n_nodes, 8)


def test_the_papers_solver_reaches_the_same_optimum():
    X, y = data(n=30)
    exact = {"tol": 2e-3, "dtype": "float64", "decision": "argmax", "cv": 0, "C": 1}
    one = model(**exact).fit(X, y)
    other = model(**exact, solver="subspace", max_iter=20_000).fit(X, y)
    assert other.objective_ == pytest.approx(one.objective_, rel=5e-3)


def test_the_papers_solver_with_partial_paths():
    X, y = data(n=30)
    exact = {"tol": 0.02, "dtype": "float64", "decision": "argmax", "cv": 0, "C": 0.1}
    for train_on in ("all", "consistent"):
        paths = {**exact, "features": "path", "train_on": train_on}
        one = model(**paths).fit(X, y)
        other = model(**paths, solver="subspace").fit(X, y)
        assert other.objective_ == pytest.approx(one.objective_, rel=0.03)


def test_options_of_the_papers_solver():
    X, y = data(n=12)
    given = {"decision": "argmax", "cv": 0, "C": 0.1, "tol": 0.05, "solver": "subspace"}
    usual = model(**given).fit(X, y)
    for options in (
        {"oracle": "linear_program", "steps_per_example": 1, "chunk_size": 12},
        {"working_set": "kkt", "chunk_size": 5},
    ):
        fitted = model(**given, solver_options=options, max_iter=3000).fit(X, y)
        assert fitted.objective_ == pytest.approx(usual.objective_, rel=0.1)
        assert fitted.n_iter_ != usual.n_iter_
    with pytest.raises(ValueError, match="chunk_size must be at least 1"):
        model(**given, solver_options={"chunk_size": 0}).fit(X, y)


def test_a_hard_margin():
    """Every labelling has a margin of its loss, and a large finite C leads to the same."""
    X, y = data(n=25)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(25, 25))])
    exact = {"tol": 1e-3, "dtype": "float64", "decision": "argmax", "cv": 0, "min_labels": 0}
    fitted = model(**exact, C=np.inf).fit(X, y)
    assert fitted.converged_
    assert fitted.duality_gap_ <= 1e-3
    assert fitted.objective_ == pytest.approx(model(**exact, C=1e4).fit(X, y).objective_, rel=3e-3)
    assert fitted.score(X, y) == 1
    X[1] = X[0]
    y[1] = ["a1"] if y[0] != ["a1"] else ["b1"]
    with pytest.raises(NotSeparableError, match="C is infinite"):
        model(**exact, C=np.inf, max_iter=30).fit(X, y)


def test_shared_losses_matter_with_a_slack_for_each_edge_only():
    X, y = data()
    exact = {"tol": 1e-4, "dtype": "float64", "decision": "argmax", "cv": 0, "C": 0.1}
    for slack in ("example", "edge"):
        one, other = (
            model(**exact, slack=slack, edge_loss=split).fit(X, y) for split in ("shared", "upper")
        )
        is_same = np.array_equal(one.node_coef_, other.node_coef_)
        assert is_same == (slack == "example")


def local(n=120, seed=0, n_hidden=0):
    """Return items with a cue and noise for each node, which mean the same for all nodes."""
    rng = np.random.default_rng(seed)
    y = [[rng.choice(LEAVES[: len(LEAVES) - n_hidden])] for _ in range(n)]
    cues = np.array([[node in closed(labels) for node in TREE.nodes[1:]] for labels in y])
    X = np.stack([cues + 0.4 * rng.normal(size=cues.shape), rng.normal(size=cues.shape)], axis=2)
    columns = {node: [2 * j, 2 * j + 1] for j, node in enumerate(TREE.nodes[1:])}
    return X.reshape(n, -1), y, columns


def test_additive_features_carry_over_to_nodes_without_items():
    """All edges share their weights: a node is found by its cue without a training item."""
    X, y, columns = local(n_hidden=1)
    fitted = model(features="additive", local_features=columns, cv=0, decision="argmax").fit(X, y)
    assert fitted.converged_
    shared = fitted.edge_coef_[0, :, :2]
    for j in range(fitted.edge_coef_.shape[0]):
        np.testing.assert_array_equal(fitted.edge_coef_[j, :, 2 * j : 2 * j + 2], shared)
    X_new, y_new, _ = local(seed=1)
    hidden = [i for i, labels in enumerate(y_new) if labels == ["b22"]]
    edges = model(local_features=columns, cv=0, decision="argmax").fit(X, y)
    share, without = (
        np.mean(["b22" in labels for labels in fit.predict_labels(X_new[hidden])])
        for fit in (fitted, edges)
    )
    assert share > 0.7
    assert without < share / 2


def test_additive_features_of_sparse_items_and_in_folds():
    X, y, columns = local(n=60)
    given = {"features": "additive", "local_features": columns, "C": 1}
    one = model(**given).fit(X, y)
    other = model(**given).fit(sparse.csr_array(X), y)
    assert one.objective_ == pytest.approx(other.objective_, rel=0.02)
    assert one.score(X, y) > 0.8
    copy = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(copy.predict_proba(X), one.predict_proba(X))

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from taxonomist import HierarchicalSVC, Taxonomy, datasets, losses, metrics
from taxonomist.errors import LabelError, NotSeparableError
from taxonomist.solvers import SOLVERS

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2 > b21", "c"])
EXACT = {"stop": "violation", "tol": 1e-8, "dtype": "float64", "random_state": 0}


def problem(n=40, d=6, seed=0, labels=TREE.leaves):
    rng = np.random.default_rng(seed)
    centres = {label: rng.normal(size=d) for label in labels}
    y = rng.choice(np.array(labels, dtype=object), size=n)
    X = np.array([centres[label] for label in y]) + 0.7 * rng.normal(size=(n, d))
    return X, y


def naive_certificate(model, X, y):
    """Return the primal value that follows from ``node_coef_`` alone."""
    taxonomy = model.taxonomy_
    scores = model.node_coef_ @ X.T
    v = np.sqrt(1 / 3)  # the longest path, b > b2 > b21, has three nodes below the root
    squared = float((model.node_coef_.astype(float) ** 2).sum()) / v**2
    total = 0.0
    for i, label in enumerate(y):
        f = {c: scores[taxonomy.codes([c, *taxonomy.ancestors(c)]), i].sum() for c in TREE.leaves}
        loss = {c: taxonomy.distance(label, c) / 2 for c in TREE.leaves}
        total += max(0.0, *(loss[c] * (1 - f[label] + f[c]) for c in TREE.leaves))
    return squared / 2 + total


@pytest.mark.parametrize("stop", ["violation", "gap"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_certificate_follows_from_node_coef_alone(dtype, stop):
    X, y = problem()
    model = HierarchicalSVC(TREE, dtype=dtype, stop=stop, random_state=0).fit(X, y)
    assert naive_certificate(model, X, y) == pytest.approx(model.objective_, rel=1e-5)
    gap = (model.objective_ - model.dual_objective_) / model.objective_
    assert model.duality_gap_ == pytest.approx(gap)
    reached = {"violation": model.max_violation_, "gap": model.duality_gap_}
    assert reached[stop] <= 0.01
    assert model.converged_
    assert model.n_iter_ == len(model.history_)
    assert 0 < model.active_ratio_ <= 1


def test_training_stops_at_a_gap_of_one_percent_by_default():
    X, y = problem()
    usual, named = (
        HierarchicalSVC(TREE, random_state=0, **rule).fit(X, y)
        for rule in ({}, {"stop": "gap", "tol": 0.01})
    )
    np.testing.assert_array_equal(usual.node_coef_, named.node_coef_)
    assert usual.duality_gap_ <= 0.01


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "hcc03"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "precomputed", np.inner])
def test_all_solvers_and_kernels_reach_the_same_optimum(solver, kernel):
    X, y = problem(n=25)
    items = X @ X.T if kernel == "precomputed" else X
    options = {"kernel": kernel, "gamma": 0.3, **EXACT, "tol": 1e-5}
    reference = HierarchicalSVC(TREE, **options).fit(items, y)
    model = HierarchicalSVC(TREE, solver=solver, **options).fit(items, y)
    assert model.objective_ == pytest.approx(reference.objective_, rel=1e-4)
    scores = model.decision_function(items)
    assert scores == pytest.approx(reference.decision_function(items), abs=0.01)
    assert (model.predict(items) == model.classes_[scores.argmax(axis=1)]).all()


def test_linear_kernels_agree_whatever_their_form():
    X, y = problem()
    fitted = [
        HierarchicalSVC(TREE, **EXACT).fit(X, y).decision_function(X),
        HierarchicalSVC(TREE, **EXACT).fit(sparse.csr_matrix(X), y).decision_function(X),
        HierarchicalSVC(TREE, kernel="precomputed", **EXACT)
        .fit(X @ X.T, y)
        .decision_function(X @ X.T),
        HierarchicalSVC(TREE, kernel=np.inner, **EXACT).fit(X, y).decision_function(X),
    ]
    for scores in fitted[1:]:
        assert scores == pytest.approx(fitted[0], abs=1e-5)


def test_flat_attributes_equal_a_flat_taxonomy():
    X, y = problem()
    flat = HierarchicalSVC(TREE, attributes="flat", loss="zero_one", **EXACT).fit(X, y)
    alone = HierarchicalSVC(loss="zero_one", **EXACT).fit(X, y)
    order = [list(flat.classes_).index(label) for label in alone.classes_]
    assert flat.coef_[order] == pytest.approx(alone.coef_, abs=1e-5)


def test_a_document_twice_is_a_document_of_weight_two():
    X, y = problem()
    weights = np.where(np.arange(len(y)) < 10, 2.0, 1.0)
    weighted = HierarchicalSVC(TREE, **EXACT).fit(X, y, sample_weight=weights)
    repeated = HierarchicalSVC(TREE, **EXACT).fit(np.r_[X, X[:10]], np.r_[y, y[:10]])
    assert weighted.coef_ == pytest.approx(repeated.coef_, abs=1e-5)


def test_a_document_of_weight_zero_does_not_count():
    X, y = problem()
    weights = (np.arange(len(y)) >= 10).astype(float)
    weighted = HierarchicalSVC(TREE, **EXACT).fit(X, y, sample_weight=weights)
    without = HierarchicalSVC(TREE, **EXACT).fit(X[10:], y[10:])
    assert weighted.coef_ == pytest.approx(without.coef_, abs=1e-5)


def test_coef_sums_node_coef_along_ancestors():
    X, y = problem()
    model = HierarchicalSVC(TREE, constant=1.0, **EXACT).fit(X, y)
    taxonomy = model.taxonomy_
    for row, label in zip(model.coef_, model.classes_, strict=True):
        above = taxonomy.codes([label, *taxonomy.ancestors(label)])
        assert row == pytest.approx(model.node_coef_[above].sum(axis=0))
    expected = X @ model.coef_.T + model.intercept_
    assert model.decision_function(X) == pytest.approx(expected)
    assert (model.node_coef_[0] == 0).all()


def test_interior_categories_and_categories_without_documents():
    X, y = problem(labels=["a", "a1", "b", "b1", "c"])
    model = HierarchicalSVC(TREE, random_state=0).fit(X, y)
    assert list(model.classes_) == ["a", "a1", "a2", "b", "b1", "b21", "c"]
    assert set(model.predict(X)) <= set(y) | {"a2", "b21"}
    assert set(model.predict_paths(X)) >= {("a",), ("b", "b1")}
    assert "b" in model.predict(X)


def test_a_dag():
    dag = Taxonomy.from_edges([("a", "x"), ("a", "y"), ("b", "y"), ("b", "z")])
    X, y = problem(labels=dag.leaves)
    model = HierarchicalSVC(dag, random_state=0).fit(X, y)
    assert model.converged_
    assert set(model.predict_paths(X)) <= {("a", "x"), ("a", "y"), ("b", "z")}


def test_two_classes_have_one_decision_and_one_class_has_none():
    X, y = problem(labels=["a1", "b1"])
    model = HierarchicalSVC(random_state=0).fit(X, y)
    assert model.decision_function(X).shape == (len(X),)
    assert ((model.decision_function(X) > 0) == (model.predict(X) == "b1")).all()
    assert (HierarchicalSVC().fit(X, ["only"] * len(X)).predict(X) == "only").all()


def test_topk_is_sorted_and_agrees_with_the_scores():
    X, y = problem()
    model = HierarchicalSVC(TREE, random_state=0).fit(X, y)
    labels, scores = model.predict_topk(X, 3)
    assert model.predict_labels(X) == [[label] for label in labels[:, 0]]
    everything = model.decision_function(X)
    order = np.argsort(-everything, axis=1)[:, :3]
    assert (labels == model.classes_[order]).all()
    assert scores == pytest.approx(np.take_along_axis(everything, order, axis=1))
    with pytest.raises(ValueError, match="k must be from 1 to 5. Got 6"):
        model.predict_topk(X, 6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("against", [None, "b1"])
def test_explanations_add_up_to_the_score(kernel, against):
    X, y = problem()
    model = HierarchicalSVC(TREE, kernel=kernel, constant=float(kernel == "linear")).fit(X, y)
    column = {label: c for c, label in enumerate(model.classes_)}
    for x, scores in zip(X[:10], model.decision_function(X[:10]), strict=True):
        why = model.explain(x, n=2, against=against)
        expected = scores[column[why.category]] - (scores[column[against]] if against else 0.0)
        assert why.score == pytest.approx(expected, abs=1e-5)
        assert why.score == pytest.approx(sum(part.value for part in why.parts))
        for part in why.parts:
            if kernel == "linear":
                shown = sum(value for _, value in part.features)
                assert part.value == pytest.approx(shown + part.rest)
                assert len(part.features) <= 2
    assert why.category in str(why)


def test_explanations_name_features_and_nodes():
    X, y = problem()
    frame = pd.DataFrame(X, columns=[f"word{f}" for f in range(6)])
    model = HierarchicalSVC(TREE).fit(frame, y)
    why = model.explain(frame.iloc[[0]], category="b21")
    assert [part.node for part in why.parts] == ["b", "b2", "b21"]
    assert {name for part in why.parts for name, _ in part.features} <= set(frame.columns)
    with pytest.raises(
        LabelError, match="'b22' is not a category of the model. Did you mean 'b21'"
    ):
        model.explain(frame.iloc[[0]], category="b22")


def test_warm_start_goes_on_from_where_it_was():
    X, y = problem(n=200)
    cold = HierarchicalSVC(TREE, random_state=0).fit(X, y)
    warm = HierarchicalSVC(TREE, warm_start=True, random_state=0).fit(X[:190], y[:190]).fit(X, y)
    again = clone(warm).fit(X, y).fit(X, y)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-2)
    assert warm.history_[0].dual > cold.history_[0].dual
    assert again.n_iter_ < cold.n_iter_


def test_warm_start_with_more_categories_and_another_cost():
    X, y = problem(n=100)
    few = np.isin(y.astype(str), ["a1", "a2", "b1"])
    order = np.argsort(~few, kind="stable")
    X, y = X[order], y[order]
    model = HierarchicalSVC(warm_start=True, **EXACT).fit(X[: few.sum()], y[: few.sum()])
    model.set_params(C=0.1).fit(X, y)
    cold = HierarchicalSVC(C=0.1, **EXACT).fit(X, y)
    assert model.coef_ == pytest.approx(cold.coef_, abs=1e-5)


def test_a_hard_margin_separates_or_says_that_it_cannot():
    X, y = problem(n=10, d=30)
    model = HierarchicalSVC(TREE, C=float("inf"), **EXACT | {"tol": 1e-6}).fit(X, y)
    scores = model.decision_function(X)
    own = scores[np.arange(len(y)), [list(model.classes_).index(label) for label in y]]
    others = np.where(scores == own[:, None], -np.inf, scores).max(axis=1)
    assert (own - others).min() == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(NotSeparableError, match="Give a finite C"):
        HierarchicalSVC(C=float("inf"), max_iter=50).fit([[1.0], [1.0]], ["a", "b"])


def test_the_number_of_threads_changes_nothing():
    X, y = problem(n=600)
    models = [HierarchicalSVC(TREE, n_jobs=n, random_state=3).fit(X, y) for n in (1, 3)]
    assert (models[0].node_coef_ == models[1].node_coef_).all()


def test_prediction_does_not_depend_on_the_batch():
    X, y = problem(n=50)
    model = HierarchicalSVC(TREE, random_state=0).fit(X, y)
    together = model.decision_function(X)
    apart = np.vstack([model.decision_function(X[i : i + 1]) for i in range(len(X))])
    assert (together == apart).all()


def test_stopping_on_the_gap_and_giving_up():
    X, y = problem(n=200)
    model = HierarchicalSVC(TREE, stop="gap", tol=1e-3, random_state=0).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    with pytest.warns(ConvergenceWarning, match="Stopped after 2 passes with largest violation"):
        HierarchicalSVC(TREE, stop="violation", max_iter=1, tol=1e-9).fit(X, y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames(frame):
    X, y = problem()
    table = frame({f"f{f}": X[:, f] for f in range(X.shape[1])})
    model = HierarchicalSVC(TREE, random_state=0).fit(table, list(y))
    assert list(model.feature_names_in_) == list(table.columns)
    assert (
        model.predict(table) == HierarchicalSVC(TREE, random_state=0).fit(X, y).predict(X)
    ).all()


def test_pickle_keeps_predictions():
    X, y = problem()
    model = HierarchicalSVC(TREE, kernel="rbf").fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.predict(X) == model.predict(X)).all()


def test_text_pipelines_and_searches():
    corpus = datasets.load("arxiv-sample", labels="primary")
    chosen = corpus.select([i for i, label in enumerate(corpus.y) if label.startswith("q-bio")])
    pipeline = make_pipeline(TfidfVectorizer(), HierarchicalSVC(corpus.taxonomy, random_state=0))
    search = GridSearchCV(
        pipeline,
        {"hierarchicalsvc__C": [0.1, 1.0]},
        scoring=metrics.SCORERS["neg_taxonomy_loss"],
        cv=3,
    ).fit(chosen.texts, chosen.y)
    assert search.best_score_ > -2.0
    values = cross_val_score(
        pipeline, chosen.texts, chosen.y, scoring=metrics.scorer("hierarchical_f1"), cv=3
    )
    assert (values > 0.5).all()


def test_losses_in_training_are_those_of_the_losses_module():
    X, y = problem()
    table = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    by_matrix = HierarchicalSVC(TREE, loss=table, **EXACT).fit(X, y)
    place = {label: k for k, label in enumerate(by_matrix.classes_)}
    by_function = HierarchicalSVC(TREE, loss=lambda a, b: abs(place[a] - place[b]), **EXACT).fit(
        X, y
    )
    assert by_matrix.coef_ == pytest.approx(by_function.coef_, abs=1e-6)
    tree = HierarchicalSVC(TREE, **EXACT).fit(X, y)
    weighted = HierarchicalSVC(TREE, loss=losses.weighted_tree(load=2.0), C=0.5, **EXACT).fit(X, y)
    assert tree.coef_ == pytest.approx(weighted.coef_, abs=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "C must be a number above 0"),
        ({"C": float("nan")}, "C must be a number above 0"),
        ({"solver": "fast"}, "solver must be one of auto, sequential"),
        ({"stop": "time"}, "stop must be one of violation, gap"),
        ({"dtype": "int32"}, "dtype must be one of"),
        ({"tol": 0.0}, "tol must be above 0"),
        ({"kernel": "rfb"}, "kernel must be one of.*Did you mean 'rbf'"),
        ({"kernel": "rbf", "constant": 1.0}, "needs kernel='linear'"),
        ({"kernel": "rbf", "gamma": -1}, "gamma must be"),
        ({"kernel": "precomputed"}, "must be square"),
        ({"loss": "path"}, "no loss 'path'"),
    ],
)
def test_bad_parameters_are_explained(options, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        HierarchicalSVC(TREE, **options).fit(X, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a1", "zz"], "1 label in y is not a node of the taxonomy: 'zz'"),
        (["a1", None], "no label at position 1"),
        (["a1"], "inconsistent numbers of samples"),
        (None, "requires y"),
    ],
)
def test_bad_labels_are_explained(y, message):
    with pytest.raises(ValueError, match=message):
        HierarchicalSVC(TREE).fit([[1.0], [2.0]], y)
    with pytest.raises(ValueError, match="at least one non-zero"):
        HierarchicalSVC().fit([[1.0], [2.0]], ["a", "b"], sample_weight=[0, 0])


def test_kernels_have_no_coefficients():
    X, y = problem()
    model = HierarchicalSVC(TREE, kernel="rbf").fit(X, y)
    with pytest.raises(AttributeError, match="the kernel is not linear"):
        _ = model.coef_
    with pytest.raises(AttributeError, match="fit the model first"):
        _ = HierarchicalSVC().node_coef_

"""Models of label sets: what they are fitted to, and how they answer."""

from __future__ import annotations

import logging
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from taxonomist import (
    CoupledBinarySVC,
    HierarchicalPerceptron,
    HierarchicalRankingSVC,
    HierarchicalSVC,
    Taxonomy,
    metrics,
)
from taxonomist.errors import LabelError
from taxonomist.inference.label_sets import SizePredictor, Threshold, TopK
from tests.combinations import every_value

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2 > b21", "b > b2 > b22"])
DAG = Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("a", "a1"), ("a", "ab"), ("b", "ab"), ("b", "b1")]
)
LEAVES = ["a1", "a2", "b1", "b21", "b22"]
MODELS = {
    "ranking": HierarchicalRankingSVC(TREE, random_state=0, cv=3),
    "pair": HierarchicalRankingSVC(TREE, slack="pair", random_state=0, cv=3),
    "binary": CoupledBinarySVC(TREE, random_state=0, cv=3),
    "perceptron": HierarchicalPerceptron(TREE, ridge=0.1, cv=3),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def data(n=60, seed=0, labels=LEAVES):
    """Return items with a prototype per label, and sets of one or two labels."""
    rng = np.random.default_rng(seed)
    centres = {label: rng.normal(size=8) for label in labels}
    y = [sorted(rng.choice(labels, size=rng.integers(1, 3), replace=False)) for _ in range(n)]
    X = np.array([sum(centres[label] for label in item) for item in y])
    return X + 0.2 * rng.normal(size=X.shape), y


def fresh(model, **changed):
    return clone(model).set_params(**changed)


def closed(labels, taxonomy=TREE):
    return {node for label in labels for node in [label, *taxonomy.ancestors(label)]} - {
        taxonomy.nodes[0]
    }


@every_model
def test_predictions_agree_with_each_other_and_are_closed(model):
    X, y = data()
    fitted = fresh(model).fit(X, y)
    found = fitted.predict_labels(X)
    assert np.mean([set(a) == closed(b) for a, b in zip(found, y, strict=True)]) > 0.8
    indicator = fitted.predict(X)
    assert sparse.issparse(indicator)
    paths = fitted.predict_paths(X)
    for i, labels in enumerate(found):
        assert set(labels) == closed(labels)
        assert set(fitted.classes_[indicator[[i]].indices]) == set(labels) & set(LEAVES)
        assert {path[-1] for path in paths[i]} <= set(labels)
        assert {node for path in paths[i] for node in path} == set(labels)
    assert fitted.score(X, y) == np.mean(
        [set(a) == closed(b) for a, b in zip(found, y, strict=True)]
    )


@every_model
def test_rankings_are_those_of_the_scores(model):
    X, y = data()
    fitted = fresh(model).fit(X, y)
    scores = fitted.decision_function(X)
    assert scores.shape == (len(X), len(LEAVES))
    labels, best = fitted.predict_ranking(X)
    np.testing.assert_allclose(best, -np.sort(-scores, axis=1), rtol=1e-6)
    assert (fitted.classes_[scores.argmax(axis=1)] == labels[:, 0]).all()
    assert fitted.predict_ranking(X, 2)[0].shape == (len(X), 2)
    np.testing.assert_allclose(X @ fitted.coef_.T, scores, rtol=1e-4, atol=1e-5)
    why = fitted.explain(X[0], category="b21")
    assert why.score == pytest.approx(scores[0, 3], rel=1e-4)
    assert [part.node for part in why.parts] == ["b", "b2", "b21"]


@every_value(form=["closed", "sets", "tuple", "nodes", "leaves", "frame", "sparse"], name=MODELS)
def test_labels_in_any_form_mean_the_same(form, name):
    X, y = data()
    ids = list(TREE.nodes)
    table = np.array([[node in closed(item) | {ids[0]} for node in ids] for item in y], dtype=int)
    leaves = [ids.index(leaf) for leaf in LEAVES]
    given = {
        "closed": [list(closed(item)) for item in y],
        "sets": [set(item) for item in y],
        "tuple": tuple(np.array(item, dtype=object) for item in y),
        "nodes": table,
        "leaves": table[:, leaves],
        "frame": pd.DataFrame(table[:, leaves[::-1]], columns=LEAVES[::-1]),
        "sparse": sparse.csr_matrix(table),
    }[form]
    plain = fresh(MODELS[name]).fit(X, y)
    fitted = fresh(MODELS[name]).fit(X, given)
    np.testing.assert_array_equal(fitted.decision_function(X), plain.decision_function(X))
    assert fitted.predict_labels(X) == plain.predict_labels(X)
    predicted = fitted.predict(X)
    if form in ("nodes", "leaves", "frame", "sparse"):
        assert predicted.shape == given.shape
        assert sparse.issparse(predicted) == (form == "sparse")
        right = np.mean(
            [set(a) == closed(b) for a, b in zip(fitted.predict_labels(X), y, strict=True)]
        )
        assert fitted.score(X, np.asarray(given) if form == "frame" else given) == right


def test_interior_labels_are_categories():
    X, y = data(labels=["a1", "a", "b21"])
    fitted = HierarchicalRankingSVC(TREE, C=10, random_state=0).fit(X, y)
    assert list(fitted.classes_) == ["a", "a1", "a2", "b1", "b21", "b22"]
    found = fitted.predict_labels(X)
    assert np.mean([set(a) == closed(b) for a, b in zip(found, y, strict=True)]) > 0.8
    assert not fitted.predict(X)[:, [2, 3, 5]].toarray().any()


@every_model
def test_dags(model):
    X, y = data(labels=["a1", "ab", "b1"])
    fitted = fresh(model, taxonomy=DAG).fit(X, y)
    for labels in fitted.predict_labels(X):
        assert {"a", "b"} <= set(labels) or "ab" not in labels


@every_model
def test_without_taxonomy_labels_are_of_any_kind(model):
    X, y = data()
    numbers = [[LEAVES.index(label) for label in item] for item in y]
    fitted = fresh(model, taxonomy=None).fit(X, numbers)
    assert fitted.classes_.tolist() == [0, 1, 2, 3, 4]
    assert (
        np.mean([a == sorted(b) for a, b in zip(fitted.predict_labels(X), numbers, strict=True)])
        > 0.8
    )
    assert fitted.score(X, numbers) > 0.8
    with pytest.raises(LabelError, match="not classes of the model: '7'"):
        fitted.score(X, [[7]] * len(X))


@every_model
def test_one_label_per_item_makes_a_model_of_single_labels(model):
    X, y = data()
    first = np.array([item[0] for item in y], dtype=object)
    fitted = fresh(model).fit(X, first)
    predicted = fitted.predict(X)
    assert predicted.shape == (len(X),)
    assert np.mean(predicted == first) > 0.5
    assert fitted.predict_labels(X) == [[label] for label in predicted]
    assert fitted.predict_paths(X)[0][-1] == predicted[0]
    assert not hasattr(fitted, "decision_")


@pytest.mark.parametrize("loss", ["tree", "zero_one"])
def test_with_one_label_each_the_ranking_svm_is_the_joint_svm(loss):
    X, y = data()
    first = [item[0] for item in y]
    options = {"loss": loss, "stop": "violation", "tol": 1e-8, "dtype": "float64"}
    options["random_state"] = 0
    joint = HierarchicalSVC(TREE, **options).fit(X, first)
    ranking = HierarchicalRankingSVC(TREE, **options).fit(X, [[label] for label in first])
    assert ranking.objective_ == pytest.approx(joint.objective_, rel=1e-9)
    np.testing.assert_allclose(ranking.decision_function(X), joint.decision_function(X), atol=1e-6)


@every_model
def test_items_without_labels_are_legal(model, caplog):
    X, y = data()
    y = [[], LEAVES, *y[2:]]
    with caplog.at_level(logging.INFO, "taxonomist"):
        fitted = fresh(model).fit(X, y)
    assert fitted.label_limits_ == (0, 5)
    if isinstance(model, HierarchicalRankingSVC):
        assert "2 items have no category or all" in caplog.text


@every_model
def test_limits(model):
    X, y = data()
    fitted = fresh(model, min_labels=2, max_labels=2).fit(X, y)
    assert (fitted.predict(X).sum(axis=1) == 2).all()
    assert fresh(model).fit(X, y).label_limits_ == (1, 2)
    with pytest.raises(ValueError, match="min_labels is 3"):
        fresh(model, min_labels=3, max_labels=1).fit(X, y)


@every_model
def test_decisions(model):
    X, y = data()
    for decision in ("size", "threshold", "category_thresholds", "top_k", TopK(1), SizePredictor()):
        fitted = fresh(model, decision=decision).fit(X, y)
        assert fitted.score(X, y) > 0.3
    with pytest.raises(ValueError, match="'threshhold'.*threshold"):
        fresh(model, decision="threshhold").fit(X, y)


def test_thresholds_come_from_held_out_scores(monkeypatch):
    """Every item is scored once, by a model that has not seen it."""
    X, y = data()
    seen = []
    learn = HierarchicalRankingSVC.learn

    def spy(self, training, start=None):
        seen.append(training.X.copy())
        return learn(self, training, start)

    monkeypatch.setattr(HierarchicalRankingSVC, "learn", spy)
    blocks = []

    class Spy(Threshold):
        def reader(self, labels, limits):
            reader = super().reader(labels, limits)
            add = reader.add
            reader.add = lambda items, scores: blocks.append((items, scores)) or add(items, scores)
            return reader

    HierarchicalRankingSVC(TREE, decision=Spy(), cv=4, random_state=0).fit(X, y)
    items = np.concatenate([numbers for numbers, _ in blocks])
    assert sorted(items) == list(range(len(X)))
    assert [len(rows) for rows in seen] == [60, 45, 45, 45, 45]
    for part, (numbers, _) in zip(seen[1:], blocks, strict=True):
        rows = {row.tobytes() for row in part}
        assert not any(X[i].tobytes() in rows for i in numbers)


def test_held_out_scores_do_not_depend_on_where_learning_starts(monkeypatch):
    X, y = data()
    options = {"tol": 1e-8, "dtype": "float64", "random_state": 0, "cv": 3}
    warm = HierarchicalRankingSVC(TREE, **options).fit(X, y)
    monkeypatch.setattr(HierarchicalRankingSVC, "start_of", lambda self, items: None)
    cold = HierarchicalRankingSVC(TREE, **options).fit(X, y)
    np.testing.assert_allclose(warm.decision_.coefficients, cold.decision_.coefficients, atol=1e-5)


@every_model
def test_kernels(model):
    X, y = data()
    gram = X @ X.T
    linear = fresh(model).fit(X, y)
    scores = linear.decision_function(X)
    for kernel, rows in (("precomputed", gram), (lambda a, b: a @ b.T, X)):
        fitted = fresh(model, kernel=kernel).fit(rows, y)
        np.testing.assert_allclose(fitted.decision_function(rows), scores, atol=0.05)
        assert fitted.score(rows, y) > 0.7
    assert fresh(model, kernel="rbf", gamma=0.1).fit(X, y).score(X, y) > 0.7


@every_model
def test_warm_start_goes_on(model):
    X, y = data()
    again = fresh(model, warm_start=True).fit(X, y)
    first = again.n_iter_
    again.fit(X, y)
    assert again.n_iter_ <= first
    more, more_y = data(80)
    again.fit(more, more_y)
    assert again.score(more, more_y) > 0.7


@every_model
def test_scikit_learn_tools(model):
    X, y = data()
    pipeline = make_pipeline(StandardScaler(), fresh(model, decision="top_k"))
    scorer = metrics.scorer("hierarchical_f1", TREE)
    table = np.array([[leaf in item for leaf in LEAVES] for item in y], dtype=int)
    assert (cross_val_score(pipeline, X, table, scoring=scorer, cv=3) > 0.4).all()
    name = pipeline.steps[-1][0]
    grid = {f"{name}__node_weight": ["depth", "unit"]}
    search = GridSearchCV(pipeline, grid, scoring=scorer, cv=3).fit(X, table)
    assert search.best_score_ > 0.4
    copied = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copied.predict(X), search.predict(X))


@every_model
def test_bad_input(model):
    X, y = data()
    with pytest.raises(LabelError, match="'a3'"):
        fresh(model).fit(X, [["a3"], *y[1:]])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fresh(model).fit(X, y[1:])
    with pytest.raises(LabelError, match="y has 3 columns"):
        fresh(model).fit(X, np.ones((60, 3), dtype=int))
    with pytest.raises(ValueError, match="NaN"):
        fresh(model).fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(LabelError, match="nothing to learn"):
        fresh(model, taxonomy=None).fit(X, [[]] * 60)


def test_coupled_problems_fall_apart_without_a_taxonomy():
    X, y = data()
    options = {"tol": 1e-8, "dtype": "float64", "random_state": 0, "decision": "top_k"}
    together = CoupledBinarySVC(TREE, attributes="flat", **options).fit(X, y)
    for c, leaf in enumerate(LEAVES):
        inside = [[leaf] if leaf in item else [] for item in y]
        alone = CoupledBinarySVC(Taxonomy.flat([leaf]), **options).fit(X, inside)
        np.testing.assert_allclose(
            together.decision_function(X)[:, c], alone.decision_function(X)[:, 0], atol=1e-5
        )


def test_positive_weights():
    X, y = data()
    plain = CoupledBinarySVC(TREE, random_state=0).fit(X, y)
    heavy = CoupledBinarySVC(TREE, random_state=0, positive_weight={"a1": 10.0}).fit(X, y)
    inside = np.array(["a1" in item for item in y])
    gain = heavy.decision_function(X)[inside, 0] - plain.decision_function(X)[inside, 0]
    assert gain.mean() > 0
    CoupledBinarySVC(TREE, random_state=0, positive_weight="balanced").fit(X, y)
    for bad in ("balance", {"a1": -1.0}, {"a1": np.inf}):
        with pytest.raises(ValueError, match="positive_weight must be"):
            CoupledBinarySVC(TREE, positive_weight=bad).fit(X, y)
    with pytest.raises(LabelError, match="'a9' is not a category"):
        CoupledBinarySVC(TREE, positive_weight={"a9": 1.0}).fit(X, y)
    with pytest.raises(ValueError, match="C must be finite"):
        CoupledBinarySVC(TREE, C=np.inf).fit(X, y)


class TestPerceptron:
    """What only the perceptron does."""

    def test_warns_where_items_are_not_separable(self):
        X, y = data()
        X[1] = X[0]
        y[0], y[1] = ["a1"], ["b1"]
        with pytest.warns(ConvergenceWarning, match="ridge"):
            fitted = HierarchicalPerceptron(TREE, ridge=0.0, max_iter=300, cv=2).fit(X, y)
        assert not fitted.converged_

    def test_converges_on_separable_items(self):
        X, y = data()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fitted = HierarchicalPerceptron(TREE, decision="top_k").fit(
                np.hstack([X, np.eye(60)]), y
            )
        assert fitted.converged_
        assert fitted.margin_ > 1

    @pytest.mark.parametrize("kernel", ["linear", "rbf"])
    def test_partial_fit_goes_on(self, kernel):
        X, y = data()
        other, other_y = data(seed=1)
        model = HierarchicalPerceptron(TREE, ridge=0.1, kernel=kernel, gamma=0.1)
        model.partial_fit(X, y)
        rule, before = model.decision_, model.predict_ranking(other, 1)[0][:, 0]
        model.partial_fit(other, other_y)
        assert model.decision_ is rule
        after = model.predict_ranking(other, 1)[0][:, 0]
        right = [
            np.mean([label in item for label, item in zip(best, other_y, strict=True)])
            for best in (before, after)
        ]
        assert right[0] < 0.7 < right[1]

    def test_partial_fit_of_single_labels_takes_classes(self):
        X, y = data()
        first = np.array([item[0] for item in y])
        model = HierarchicalPerceptron(ridge=0.1)
        model.partial_fit(X[:1], first[:1], classes=LEAVES)
        assert model.classes_.tolist() == LEAVES
        for _ in range(3):
            model.partial_fit(X, first)
        assert np.mean(model.predict(X) == first) > 0.5
        with pytest.raises(LabelError, match="not classes of the model: 'zz'"):
            model.partial_fit(X[:1], ["zz"])

    def test_partial_fit_of_matrices_keeps_columns(self):
        X, y = data()
        table = np.array([[leaf in item for leaf in LEAVES] for item in y], dtype=int)
        model = HierarchicalPerceptron(TREE, ridge=0.1).partial_fit(X[:30], table[:30])
        model.partial_fit(X[30:], table[30:])
        assert model.predict(X).shape == table.shape

    def test_partial_fit_needs_items(self):
        with pytest.raises(ValueError, match="precomputed"):
            HierarchicalPerceptron(kernel="precomputed").partial_fit(np.eye(3), ["a", "b", "c"])

    def test_bad_parameters(self):
        X, y = data()
        for bad in ({"margin": -1}, {"ridge": np.inf}, {"max_iter": 0}):
            with pytest.raises(ValueError, match=next(iter(bad))):
                HierarchicalPerceptron(TREE, **bad).fit(X, y)

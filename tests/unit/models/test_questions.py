"""Every classifier answers the same questions, from one set of scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from taxonomist import CalibratedClassifier, HierarchicalSVC, Taxonomy
from taxonomist.models import all_models

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2 > b21", "b > b2 > b22"])
OPTIONS = {
    "BlendedClassifier": {},
    "CalibratedClassifier": {"model": HierarchicalSVC(TREE, random_state=0), "cv": 2},
    "HierarchicalPerceptron": {"ridge": 1.0},
    "ThresholdedKNN": {"n_neighbors": 5},
}
NAMES = sorted(all_models())
SET_NAMES = [name for name in NAMES if all_models()[name].traits.label_sets]
SET_NAMES.remove("CalibratedClassifier")


def make(name):
    kind = all_models()[name]
    model = kind(**OPTIONS.get(name, {}))
    known = model.get_params(deep=False)
    given = {"taxonomy": TREE, "random_state": 0, "cv": 2}
    return model.set_params(**{key: value for key, value in given.items() if key in known})


def data(is_single=True, n=60):
    """Return counts around prototypes; some items are filed at an inner node."""
    rng = np.random.default_rng(0)
    nodes = np.array([*TREE.leaves, "b2"], dtype=object)
    chosen = rng.integers(0, 6, size=n)
    X = rng.poisson(rng.gamma(0.6, 3.0, size=(6, 8))[chosen] + 0.2).astype(float)
    y = nodes[chosen]
    if is_single:
        return X, y.tolist()
    return X, [
        sorted({label, nodes[k % 5]}) if k % 3 == 0 else [label] for k, label in enumerate(y)
    ]


def equal(one, two):
    if issparse(one):
        return (one != two).nnz == 0
    if isinstance(one, tuple):
        return all(map(equal, one, two))
    return np.array_equal(one, two) if isinstance(one, np.ndarray) else one == two


def check_answers(model, X):
    """Check that one set of scores gives what the methods give, in any order of questions."""
    questions = {
        "predict": "predict",
        "labels": "predict_labels",
        "paths": "predict_paths",
        "scores": "decision_function",
    }
    if hasattr(model, "predict_proba"):
        questions["proba"] = "predict_proba"
    if isinstance(model, CalibratedClassifier):
        questions.pop("scores")
    together, backwards = model.answer(X), model.answer(X)
    for question, method in questions.items():
        assert equal(getattr(together, question)(), getattr(model, method)(X)), question
    for question, method in reversed(questions.items()):
        assert equal(getattr(backwards, question)(), getattr(model, method)(X)), question
    assert equal(together.topk(3), model.predict_topk(X, 3))
    for k, labels in enumerate(model.predict_topk(X, 1)[0].tolist()):
        assert labels[0] in model.classes_, k


@pytest.mark.parametrize("name", NAMES)
def test_single_labels(name):
    X, y = data()
    model = make(name).fit(X, y)
    check_answers(model, X[:20])
    assert model.taxonomy_ == TREE
    best = model.predict_topk(X, 1)[0][:, 0]
    if name != "CalibratedClassifier":
        np.testing.assert_array_equal(best, model.predict(X))


@pytest.mark.parametrize("name", SET_NAMES)
def test_label_sets(name):
    X, y = data(is_single=False)
    model = make(name).fit(X, y)
    check_answers(model, X[:20])
    assert model.taxonomy_ == TREE
    labels, scores = model.predict_topk(X, 3)
    assert labels.shape == scores.shape == (len(X), 3)
    assert (np.diff(scores, axis=1) <= 0).all()
    np.testing.assert_array_equal(model.predict_ranking(X)[1][:, :3], scores)


@pytest.mark.parametrize("name", NAMES)
def test_reasons_add_up_or_there_is_a_sentence(name):
    X, y = data()
    model = make(name).fit(X, y)
    if not hasattr(model, "explain"):
        with pytest.raises(AttributeError) as caught:
            model.explain(X[0])
        assert "cannot explain a score: " in str(caught.value.__cause__ or caught.value)
        return
    found = model.explain(X[0], category="b21", against="a1")
    assert found.score == pytest.approx(sum(part.value for part in found.parts))
    inner = getattr(model, "model_", model)
    columns = [list(inner.classes_).index(label) for label in ("b21", "a1")]
    scores = inner.answer(X[:1]).category_scores()[0, columns]
    assert found.score == pytest.approx(scores[0] - scores[1], abs=1e-4)
    for part in found.parts:
        total = sum(share for _, share in part.features) + part.rest
        assert not part.features or part.value == pytest.approx(total, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_probabilities_or_a_sentence(name):
    X, y = data()
    model = make(name).fit(X, y)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
        return
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(X)
    assert "CalibratedClassifier" in str(caught.value.__cause__ or caught.value)


def test_label_sets_need_a_model_of_label_sets():
    X, y = data(is_single=False)
    with pytest.raises(ValueError, match="takes one label per item, but y has label sets"):
        HierarchicalSVC(TREE).fit(X, y)


@pytest.mark.parametrize("name", ["CoupledBinarySVC", "LidstoneNB", "TopDownSVC"])
def test_calibrated_label_sets_on_a_pipeline(name):
    X, y = data(is_single=False)
    pipeline = make_pipeline(MaxAbsScaler(), make(name))
    model = CalibratedClassifier(clone(pipeline), cv=2).fit(X, y)
    assert model.predict_labels(X) == model.model_[-1].predict_labels(model.model_[0].transform(X))
    for rule in ({"depth": "confident", "risk": 0.2}, {"cost": "tree"}):
        for labels in model.predict_labels(X, **rule):
            assert set(labels) <= set(TREE.nodes)
        assert len(model.predict_paths(X, **rule)) == len(X)
    nodes = model.predict_node_proba(X)
    assert nodes.shape == (len(X), TREE.n_nodes)


def test_node_weights_have_the_order_of_the_taxonomy():
    X, y = data()
    model = HierarchicalSVC(TREE, random_state=0, dtype="float64").fit(X, y)
    above = TREE.ancestor_matrix()[TREE.codes(model.classes_)].astype(float)
    np.testing.assert_allclose(above @ model.node_coef_ + model.terminal_coef_, model.coef_)
    is_leaf = TREE.is_leaf[TREE.codes(model.classes_)]
    assert not model.terminal_coef_[is_leaf].any()
    assert model.terminal_coef_[~is_leaf].any()

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_array
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from taxonomist import MaxMarginMarkovClassifier, metrics
from taxonomist.errors import LabelError
from taxonomist.evaluation import outputs


class Fitted:
    """A model whose answers are given."""

    def __init__(self, classes, predicted=None, scores=None, taxonomy=None):
        self.classes_ = np.array(classes)
        self.predict = lambda X: predicted
        if scores is not None:
            self.decision_function = lambda X: np.asarray(scores)
        if taxonomy is not None:
            self.taxonomy_ = taxonomy


def test_taxonomy_is_found_in_pipelines_and_searches(taxonomy):
    X, y = [[1, 0], [0, 1], [1, 0], [0, 1]], list("abab")
    pipeline = make_pipeline(FunctionTransformer(), MultinomialNB())
    search = GridSearchCV(pipeline, {"multinomialnb__alpha": [1.0]}, cv=2).fit(X, y)
    assert outputs.taxonomy_of(search) is None
    search.best_estimator_[-1].taxonomy_ = taxonomy
    assert outputs.taxonomy_of(search) == taxonomy


@pytest.mark.parametrize("form", [np.array, csr_array, csc_matrix])
def test_indicators_become_ids(taxonomy, form):
    answer = form([[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    model = Fitted(["b1", "a1", "a2"], answer)
    assert outputs.predictions(model, [], taxonomy) == [["b1", "a2"], [], ["a1"]]
    assert outputs.truth_of(model, answer, taxonomy) == [["b1", "a2"], [], ["a1"]]


def test_label_sets_keep_inner_nodes_that_are_no_category(taxonomy):
    model = Fitted(["a1", "a2"], np.array([[1, 0], [0, 0]]))
    model.predict_labels = lambda X: [["a", "a1"], ["b"]]
    assert outputs.predictions(model, [], taxonomy) == [["a", "a1"], ["b"]]


def test_label_sets_of_a_pipeline(taxonomy):
    X = np.array([[2.0, 0, 0], [0, 2, 0], [0, 0, 2]] * 4)
    y = [["a1"], ["a2"], ["a1", "b1"]] * 4
    models = [
        make_pipeline(
            FunctionTransformer(), MaxMarginMarkovClassifier(taxonomy, decision="argmax")
        ),
        make_pipeline(MaxMarginMarkovClassifier(taxonomy, decision="argmax")),
    ]
    for model in models:
        model.fit(X, y)
        assert outputs.predictions(model, X, taxonomy) == model[-1].predict_labels(X)


def test_stored_zeros_are_no_labels(taxonomy):
    stored = csr_array(([0, 1], [0, 1], [0, 2]), shape=(1, 2))
    assert outputs.predictions(Fitted(["a1", "a2"], stored), [], taxonomy) == [["a2"]]
    assert stored.nnz == 2, "what is given stays as it is"


def test_numbered_columns_are_nodes_where_there_are_as_many(taxonomy):
    answer = np.eye(taxonomy.n_nodes, dtype=int)[1:3]
    model = Fitted(range(taxonomy.n_nodes), answer)
    assert outputs.predictions(model, [], taxonomy) == [[taxonomy.nodes[1]], [taxonomy.nodes[2]]]
    assert outputs.predictions(model, [], None) is answer


def test_single_labels_stay(taxonomy):
    model = Fitted(["a1", "a2"], np.array(["a1", "a2"]))
    assert outputs.predictions(model, [], taxonomy).tolist() == ["a1", "a2"]
    assert outputs.truth_of(model, ["a1", "b1"], taxonomy) == ["a1", "b1"]


def test_unknown_categories_rank_last():
    model = Fitted(["a1", "a2"], scores=[[-5.0, -6.0], [1.0, 2.0]])
    y, scores, classes = outputs.scored_truth(model, [], ["b1", "a1"], None)
    assert y == ["b1", "a1"]
    assert list(classes) == ["a1", "a2", "b1"]
    assert scores.tolist() == [[-5, -6, -np.inf], [1, 2, -np.inf]]


def test_integers_are_the_labels_that_strings_name():
    model = Fitted(["1", "2"], scores=[[0.0, 1.0]])
    y, scores, classes = outputs.scored_truth(model, [], [2], None)
    assert scores.tolist() == [[0.0, 1.0]]
    assert metrics.mean_reciprocal_rank(y, scores, classes=classes) == 1.0


def test_ancestors_of_other_labels_are_not_ranked(taxonomy):
    model = Fitted(["a1", "a2", "b1"], scores=np.zeros((2, 3)))
    y, scores, classes = outputs.scored_truth(model, [], [["a", "a1"], ["b"]], taxonomy)
    assert y == [["a1"], ["b"]]
    assert list(classes) == ["a1", "a2", "b1", "b"]
    assert np.isneginf(scores[:, 3]).all()


def test_numbered_scores_keep_the_indicator(taxonomy):
    n = taxonomy.n_nodes
    truth = np.eye(n, dtype=int)
    model = Fitted(range(n), scores=np.zeros((n, n)))
    assert outputs.scored_truth(model, [], truth, taxonomy)[2] == taxonomy.nodes
    assert list(outputs.scored_truth(model, [], truth, None)[2]) == list(range(n))


def test_two_classes_get_two_columns():
    X, y = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array(list("abab"))
    model = LinearSVC().fit(X, y)
    _, scores, classes = outputs.scored_truth(model, X, y, None)
    assert np.array(classes)[scores.argmax(axis=1)].tolist() == list("abab")


def test_models_without_scores_are_named():
    with pytest.raises(LabelError, match="Fitted has neither decision_function"):
        outputs.scored_truth(Fitted(["a"]), [], ["a"], None)

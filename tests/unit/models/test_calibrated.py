"""Calibrated classifiers: coherent, independent of the batch, right as often as they say."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC

from taxonomist import (
    CoupledBinarySVC,
    HierarchicalMixture,
    HierarchicalPerceptron,
    HierarchicalRankingSVC,
    HierarchicalRLS,
    HierarchicalShrinkage,
    HierarchicalSVC,
    LidstoneNB,
    MaxMarginMarkovClassifier,
    NodeSVC,
    PLSAClassifier,
    Taxonomy,
    ThresholdedKNN,
    TopDownSVC,
    datasets,
    metrics,
    persistence,
)
from taxonomist.inference.held_out import EvidenceReader
from taxonomist.inference.label_sets import label_limits
from taxonomist.inference.probabilities import SetProbabilities
from taxonomist.losses import weighted_tree
from taxonomist.models import calibrator
from taxonomist.models import probable_questions as module
from taxonomist.models.calibrated import CalibratedClassifier
from taxonomist.taxonomy import labels
from tests.strategies import taxonomies

# Leaves at three depths: a, b1 and b21.
RAGGED = Taxonomy.from_paths(["a", "b > b1", "b > b2 > b21", "b > b2 > b22"])
DAG = Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("a", "a1"), ("a", "ab"), ("b", "ab"), ("b", "b1")]
)
METHODS = ("temperature", "platt", "isotonic")
EVERY = {
    "svm": HierarchicalSVC(RAGGED, random_state=0),
    "perceptron": HierarchicalPerceptron(RAGGED, ridge=1.0, cv=2),
    "ranking": HierarchicalRankingSVC(RAGGED, random_state=0, cv=2),
    "binary": CoupledBinarySVC(RAGGED, random_state=0, cv=2),
    "markov": MaxMarginMarkovClassifier(RAGGED, random_state=0, cv=2),
    "node": NodeSVC(RAGGED, random_state=0),
    "top down": TopDownSVC(RAGGED, random_state=0),
    "rls": HierarchicalRLS(RAGGED),
    "bayes": LidstoneNB(RAGGED),
    "mixture": HierarchicalMixture(RAGGED),
    "shrinkage": HierarchicalShrinkage(RAGGED),
    "plsa": PLSAClassifier(RAGGED),
    "neighbours": ThresholdedKNN(RAGGED, n_neighbors=5, tfidf=False),
}
every_model = pytest.mark.parametrize("model", EVERY.values(), ids=EVERY)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def data(taxonomy=RAGGED, n=60, seed=0, is_single=True, interior=(), noise=1.0):
    """Return items that are noisy sums of prototypes, none of them negative, and labels."""
    rng = np.random.default_rng(seed)
    nodes = [*taxonomy.leaves, *interior]
    centres = {node: rng.integers(0, 4, size=10) for node in nodes}
    sizes = np.ones(n, int) if is_single else rng.integers(1, min(3, len(nodes) + 1), size=n)
    y = [sorted(rng.choice(nodes, size=size, replace=False).tolist()) for size in sizes]
    y[: len(nodes)] = [[node] for node in nodes]
    X = np.array([sum(centres[label] for label in item) for item in y])
    X = (X + rng.poisson(noise, size=X.shape)).astype(float)
    return X, [item[0] for item in y] if is_single else y


def assert_coherent(fitted, X):
    of_nodes, found = fitted.predict_node_proba(X), fitted.predict_proba(X)
    taxonomy = fitted.taxonomy_
    assert of_nodes.shape == (len(X), taxonomy.n_nodes)
    assert found.shape == (len(X), len(fitted.classes_))
    for table in (of_nodes, found):
        assert (table >= 0).all()
        assert (table <= 1).all()
    for parent, child in taxonomy.edges:
        assert (of_nodes[:, parent] >= of_nodes[:, child]).all()
    leaves = [k for k, label in enumerate(fitted.classes_) if not taxonomy.children(label)]
    codes = taxonomy.codes(fitted.classes_[leaves])
    np.testing.assert_allclose(of_nodes[:, codes], found[:, leaves], rtol=1e-9)
    return of_nodes, found


@every_model
@pytest.mark.parametrize("is_single", [True, False])
def test_every_model_has_coherent_probabilities(model, is_single):
    if isinstance(model, HierarchicalSVC) and not is_single:
        model = CoupledBinarySVC(RAGGED, attributes="flat", random_state=0, cv=2)
    X, y = data(is_single=is_single)
    fitted = CalibratedClassifier(model, cv=3).fit(X, y)
    of_nodes, found = assert_coherent(fitted, X)
    np.testing.assert_array_equal(of_nodes[:, 0], 1)
    if is_single:
        np.testing.assert_allclose(found.sum(axis=1), 1)
        for code, node in enumerate(RAGGED.nodes):
            inside = [label in {node, *RAGGED.descendants(node)} for label in fitted.classes_]
            np.testing.assert_allclose(of_nodes[:, code], found[:, inside].sum(axis=1))
        truth = [fitted.classes_.tolist().index(label) for label in y]
        assert found[np.arange(len(y)), truth].mean() > 1.3 / len(fitted.classes_)


@every_model
def test_probabilities_do_not_depend_on_the_batch(model):
    """HiClass issue 159: there, an item has other probabilities alone than with others."""
    X, y = data()
    fitted = CalibratedClassifier(model, cv=2).fit(X, y)
    for method in ("predict_proba", "predict_node_proba"):
        whole = getattr(fitted, method)(X)
        np.testing.assert_allclose(getattr(fitted, method)(X[::-1]), whole[::-1], rtol=1e-9)
        alone = np.vstack([getattr(fitted, method)(X[i : i + 1]) for i in range(20)])
        np.testing.assert_allclose(alone, whole[:20], rtol=1e-9)


@every_model
def test_leaves_above_the_last_level_have_their_share(model):
    """HiClass issue 162: there, a leaf that is less deep than others has probability 0."""
    X, y = data(n=120)
    fitted = CalibratedClassifier(model, cv=3).fit(X, y)
    shallow = np.array([label in ("a", "b1") for label in y])
    for label in ("a", "b1"):
        column = fitted.classes_.tolist().index(label)
        found = fitted.predict_proba(X)[:, column]
        assert (found > 0).all()
        is_it = np.array([other == label for other in y])
        assert found[is_it].mean() > found[~is_it].mean() + 0.1
    columns = [fitted.classes_.tolist().index(label) for label in ("a", "b1")]
    share = fitted.predict_proba(X)[:, columns].sum(axis=1)
    assert share.mean() == pytest.approx(shallow.mean(), abs=0.15)


@settings(max_examples=15)
@given(st.data(), st.sampled_from(METHODS), st.booleans())
def test_coherence_on_any_taxonomy(data_, method, is_single):
    taxonomy = data_.draw(taxonomies(min_nodes=3))
    interior = data_.draw(st.sets(st.sampled_from(taxonomy.nodes[1:]), max_size=2))
    X, y = data(taxonomy, n=30, is_single=is_single, interior=sorted(interior))
    if not is_single:
        y[0] = []
    kind = HierarchicalSVC if is_single else CoupledBinarySVC
    fitted = CalibratedClassifier(kind(taxonomy, random_state=0), method=method, cv=2).fit(X, y)
    of_nodes, found = assert_coherent(fitted, X)
    if is_single:
        np.testing.assert_allclose(found.sum(axis=1), 1)
        np.testing.assert_array_equal(of_nodes[:, 0], 1)
    depths, chosen = taxonomy.depths, fitted.predict_labels(X, depth="confident", risk=0.3)
    for row, nodes in zip(of_nodes, chosen, strict=True):
        codes = taxonomy.codes(nodes)
        assert (row[codes] >= 0.7 - 1e-9).all()
        if is_single:
            assert depths[codes].max(initial=0) == depths[row >= 0.7 - 1e-9].max()


@pytest.fixture(scope="module")
def arxiv():
    """Items of the smaller groups of the bundled corpus, as tf-idf, and their labels."""
    corpus = datasets.load("arxiv-sample", labels="primary")
    groups = {"grp_q-bio", "grp_q-fin", "grp_stat", "grp_econ", "grp_eess"}
    above = corpus.taxonomy.ancestors
    chosen = corpus.select([i for i, y in enumerate(corpus.y) if groups & set(above(y))])
    train, test = chosen.train(), chosen.test()
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2)
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    taxonomy = corpus.taxonomy.prune(sorted(set(chosen.y)))
    return taxonomy, X, list(train.y), X_test, list(test.y)


def log_loss(fitted, table, y):
    columns = [fitted.classes_.tolist().index(label) for label in y]
    return -np.log(np.maximum(table[np.arange(len(y)), columns], 1e-15)).mean()


def softmax(scores):
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("method", METHODS)
def test_calibrated_probabilities_are_right_as_often_as_they_say(arxiv, method):
    taxonomy, X, y, X_test, y_test = arxiv
    model = HierarchicalSVC(taxonomy, random_state=0)
    fitted = CalibratedClassifier(model, method=method).fit(X, y)
    found, scores = fitted.predict_proba(X_test), fitted.decision_function(X_test)
    loss = log_loss(fitted, found, y_test)
    # The scores as they are, and as sharp as those of training items ask for.
    assert loss < log_loss(fitted, softmax(scores), y_test) - 0.3
    assert loss < log_loss(fitted, softmax(20 * scores), y_test) - 0.1
    of_nodes = fitted.predict_node_proba(X_test)
    measured = metrics.reliability(y_test, of_nodes, taxonomy)
    assert max(level.error for level in measured.levels) < 0.13
    closed = labels.close(taxonomy, labels.encode_sets(taxonomy, y_test)).toarray()
    for risk in (0.1, 0.2, 0.3):
        nodes = taxonomy.codes(fitted.predict(X_test, depth="confident", risk=risk))
        right = closed[np.arange(len(nodes)), nodes]
        assert right[nodes > 0].mean() > 1 - risk - 0.05
        assert (nodes > 0).mean() > 0.25
    own, cheap = fitted.predict(X_test), fitted.predict(X_test, cost="tree")
    loss = metrics.taxonomy_loss
    assert loss(y_test, cheap, taxonomy) < loss(y_test, own, taxonomy) - 0.05


def test_confident_label_sets_are_right_as_often_as_they_say():
    X, y = data(n=600, is_single=False)
    fitted = CalibratedClassifier(CoupledBinarySVC(RAGGED, random_state=0, cv=2)).fit(
        X[:300], y[:300]
    )
    truth = labels.close(RAGGED, labels.encode_sets(RAGGED, y[300:])).toarray()
    sizes = []
    for risk in (0.02, 0.1, 0.3):
        sets = fitted.predict(X[300:], depth="confident", risk=risk)
        lowest = labels.most_specific(RAGGED, sets.astype(bool))[:, 1:]
        items, nodes = lowest.nonzero()
        sizes.append(sets.sum())
        assert truth[items, nodes + 1].mean() > 1 - risk - 0.03
    assert sizes[0] < sizes[1] <= sizes[2]
    cheap = fitted.predict_labels(X[300:], cost="tree")
    own = fitted.predict_labels(X[300:])
    loss = metrics.symmetric_difference_loss
    assert loss(y[300:], cheap, RAGGED) < loss(y[300:], own, RAGGED) + 0.05


def test_without_a_rule_the_model_answers():
    for is_single, kind in ((True, HierarchicalSVC), (False, CoupledBinarySVC)):
        X, y = data(is_single=is_single)
        fitted = CalibratedClassifier(kind(RAGGED, random_state=0), cv=2).fit(X, y)
        plain = fitted.model_
        one, same = fitted.predict(X), plain.predict(X)
        assert (one != same).sum() == 0
        assert fitted.predict_labels(X) == plain.predict_labels(X)
        assert fitted.predict_paths(X) == plain.predict_paths(X)
        assert fitted.score(X, y) == plain.score(X, y)
        np.testing.assert_array_equal(fitted.decision_function(X), plain.decision_function(X))
        assert str(fitted.explain(X[0], n=2)) == str(plain.explain(X[0], n=2))


def test_labels_and_paths_of_nodes():
    X, y = data(n=80)
    fitted = CalibratedClassifier(HierarchicalSVC(RAGGED, random_state=0)).fit(X, y)
    for rule in ({"depth": "confident", "risk": 0.02}, {"depth": "confident", "risk": 0.3}):
        nodes = fitted.predict(X, **rule)
        assert nodes.dtype == object
        lists, paths = fitted.predict_labels(X, **rule), fitted.predict_paths(X, **rule)
        for node, listed, path in zip(nodes, lists, paths, strict=True):
            assert listed == ([] if node == "ROOT" else [node])
            assert path == (() if node == "ROOT" else RAGGED.paths(node)[0])
    assert {"ROOT", "b21"} <= set(nodes) | set(fitted.predict(X, depth="confident", risk=0.0))


def test_paths_of_label_sets():
    X, y = data(n=80, is_single=False)
    fitted = CalibratedClassifier(CoupledBinarySVC(RAGGED, random_state=0)).fit(X, y)
    rule = {"depth": "confident", "risk": 0.2}
    sets, paths = fitted.predict_labels(X, **rule), fitted.predict_paths(X, **rule)
    indicator = fitted.predict(X, **rule)
    assert indicator.shape == (80, RAGGED.n_nodes)
    decoded = labels.decode_sets(RAGGED, indicator.astype(bool))
    for nodes, ways, row in zip(sets, paths, decoded, strict=True):
        assert {node for way in ways for node in way} == set(nodes) == set(row) - {"ROOT"}
        assert all(len(set(way) & {way[-1] for way in ways}) == 1 for way in ways)
    everything = fitted.predict_labels(X, depth="confident", risk=0.999)
    assert everything == fitted.predict_labels(X)


def test_a_dag_counts_a_category_once():
    X, y = data(DAG, interior=["b"])
    fitted = CalibratedClassifier(HierarchicalSVC(DAG, random_state=0)).fit(X, y)
    of_nodes, found = assert_coherent(fitted, X)
    column = {label: found[:, k] for k, label in enumerate(fitted.classes_)}
    np.testing.assert_allclose(of_nodes[:, DAG.code("a")], column["a1"] + column["ab"])
    expected = column["b"] + column["b1"] + column["ab"]
    np.testing.assert_allclose(of_nodes[:, DAG.code("b")], expected)
    assert fitted.taxonomy_ == DAG
    assert fitted.predict_paths(X[:1], depth="confident", risk=0.9)[0][0] == "r"


def test_labels_of_any_kind_without_a_taxonomy():
    X, y = data()
    numbers = np.array([RAGGED.leaves.index(label) for label in y]) * 10
    fitted = CalibratedClassifier(HierarchicalSVC(random_state=0)).fit(X, numbers)
    assert fitted.predict_node_proba(X).shape == (60, 5)
    nodes = fitted.predict(X, depth="confident", risk=0.4)
    assert set(nodes) <= {0, 10, 20, 30, "ROOT"}
    assert {10} < set(nodes)
    assert (
        fitted.predict(X, cost="zero_one").tolist() == fitted.predict_topk(X, 1)[0][:, 0].tolist()
    )


def test_topk_are_the_most_probable():
    X, y = data()
    fitted = CalibratedClassifier(HierarchicalSVC(RAGGED, random_state=0)).fit(X, y)
    found, table = fitted.predict_topk(X, 3), fitted.predict_proba(X)
    for row, names, values in zip(table, *found, strict=True):
        np.testing.assert_array_equal(values, np.sort(row)[::-1][:3])
        assert [row[fitted.classes_.tolist().index(name)] for name in names] == values.tolist()
    for k in (0, 5):
        with pytest.raises(ValueError, match="k must be from 1 to 4"):
            fitted.predict_topk(X, k)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), table)


def test_costs_move_decisions():
    X, y = data(n=200, noise=5.0)
    fitted = CalibratedClassifier(LidstoneNB(RAGGED)).fit(X, y)
    depths = [
        RAGGED.depths[RAGGED.codes(fitted.predict(X, cost=weighted_tree(1.0, 1 - alarm, alarm)))]
        for alarm in (0.01, 0.5, 0.99)
    ]
    assert depths[0].mean() > depths[1].mean() > depths[2].mean()
    matrix = 1.0 - np.eye(4)
    matrix[:, 0] *= 100
    np.fill_diagonal(matrix, 0)
    assert (fitted.predict(X, cost=matrix) != fitted.classes_[0]).mean() > 0.9


def test_blocks_change_nothing(monkeypatch):
    for is_single, kind in ((True, HierarchicalSVC), (False, CoupledBinarySVC)):
        X, y = data(is_single=is_single)
        fitted = CalibratedClassifier(kind(RAGGED, random_state=0), cv=2).fit(X, y)
        for make in (list, sparse.coo_array, np.asarray):
            with monkeypatch.context() as patch:
                whole = fitted.predict_labels(make(X), depth="confident", risk=0.2)
                patch.setattr(module, "NODES_AT_A_TIME", 40)
                assert fitted.predict_labels(make(X), depth="confident", risk=0.2) == whole
        with monkeypatch.context() as patch:
            patch.setattr(calibrator, "MAX_HELD_OUT_SCORES", 50 * len(fitted.classes_))
            fewer = CalibratedClassifier(kind(RAGGED, random_state=0), cv=2).fit(X, y)
        is_same = np.array_equal(fewer.predict_proba(X), fitted.predict_proba(X))
        assert is_same != is_single


def test_scikit_learn_can_copy_search_and_pickle_it():
    X, y = data()
    model = CalibratedClassifier(HierarchicalSVC(RAGGED, random_state=0), method="platt", cv=3)
    names = set(model.get_params())
    assert {"model", "method", "cv", "model__C", "model__taxonomy"} <= names
    assert clone(model).get_params()["method"] == "platt"
    grid = {"model__C": [0.1, 1.0], "method": ["temperature", "isotonic"]}
    search = GridSearchCV(model, grid, cv=2, scoring="neg_log_loss").fit(X, y)
    assert search.best_params_.keys() == grid.keys()
    fitted = model.fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_node_proba(X), fitted.predict_node_proba(X))
    np.testing.assert_array_equal(clone(fitted).fit(X, y).predict_proba(X), fitted.predict_proba(X))
    assert not hasattr(CalibratedClassifier(LogisticRegression()), "explain")


def test_a_pipeline_and_a_search_show_the_taxonomy_inside():
    X, y = data()
    inside = HierarchicalSVC(RAGGED, random_state=0)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), inside), {"hierarchicalsvc__C": [1, 2]}, cv=2
    )
    fitted = CalibratedClassifier(search, cv=2).fit(X, y)
    assert fitted.taxonomy_ == RAGGED
    assert fitted.predict_node_proba(X).shape == (60, RAGGED.n_nodes)


@pytest.mark.parametrize(
    "model", [HierarchicalSVC(), make_pipeline(MaxAbsScaler(), NodeSVC()), LinearSVC()]
)
def test_without_a_seed_two_fits_are_equal(model):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
    first, second = (CalibratedClassifier(model, cv=3).fit(X, y) for _ in range(2))
    assert first.predict_proba(X).tobytes() == second.predict_proba(X).tobytes()
    assert "random_state=0" not in repr(model)


def test_splits_and_weights():
    X, y = data()
    model = HierarchicalSVC(RAGGED, random_state=0)
    splits = list(KFold(3).split(X))
    one = CalibratedClassifier(model, cv=splits).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(
        CalibratedClassifier(model, cv=KFold(3)).fit(X, y).predict_proba(X), one
    )
    weights = np.ones(60)
    weights[:10] = 0
    given = CalibratedClassifier(model, cv=KFold(5)).fit(X, y, sample_weight=weights)
    # The first of five folds and a bit have no weight.
    assert not np.array_equal(given.predict_proba(X), one)
    wrong = ["a" if label != "a" else "b1" for label in y[:10]] + y[10:]
    spoiled = CalibratedClassifier(model, cv=KFold(5)).fit(X, wrong, sample_weight=weights)
    np.testing.assert_allclose(spoiled.predict_proba(X), given.predict_proba(X), atol=1e-6)


def test_label_sets_of_which_some_are_not_held_out():
    X, y = data(is_single=False)
    model = CoupledBinarySVC(RAGGED, random_state=0, cv=2)
    half = [(np.arange(30), np.arange(30, 60)[::-1])]
    found = CalibratedClassifier(model, cv=half).fit(X, y)
    # What the other half says is not looked at.
    part = model.fit(X[:30], y[:30])
    scores = part.decision_function(X[30:])
    marked = found.targets_.encode(y[30:])
    held_out = EvidenceReader.of([(np.arange(30), scores)], marked, label_limits(marked))
    expected = SetProbabilities.fit("temperature", held_out, np.ones(30))
    found = found.probabilities_
    np.testing.assert_allclose(found.calibration.slopes, expected.calibration.slopes, rtol=0.1)
    np.testing.assert_allclose(found.ceiling, expected.ceiling, rtol=0.1)


def test_one_item_and_one_category():
    fitted = CalibratedClassifier(HierarchicalSVC(RAGGED, random_state=0)).fit([[1.0, 0.0]], ["a"])
    np.testing.assert_allclose(fitted.predict_proba([[1.0, 0.0]]).sum(), 1)
    fitted = CalibratedClassifier(HierarchicalSVC(), method="platt").fit([[1.0], [2.0]], ["x", "x"])
    np.testing.assert_array_equal(fitted.predict_proba([[1.0]]), [[1.0]])


def test_label_sets_may_be_empty():
    X, y = data(is_single=False)
    fitted = CalibratedClassifier(CoupledBinarySVC(RAGGED, random_state=0)).fit(X, [[], *y[1:]])
    assert (fitted.predict_node_proba(X)[:, 0] < 1).any()
    given = CalibratedClassifier(CoupledBinarySVC(RAGGED, random_state=0)).fit(X, y)
    assert (given.predict_node_proba(X)[:, 0] == 1).all()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"depth": "deep"}, "None or 'confident'"),
        ({"depth": "confident", "cost": "tree"}, "give one of them"),
        ({"depth": "confident", "risk": 1.0}, "risk must be"),
        ({"cost": "trees"}, "Did you mean 'tree'"),
    ],
)
def test_rules_that_make_no_sense(rule, message):
    X, y = data()
    fitted = CalibratedClassifier(HierarchicalSVC(RAGGED, random_state=0), cv=2).fit(X, y)
    for method in (fitted.predict, fitted.predict_labels, fitted.predict_paths):
        with pytest.raises(ValueError, match=message):
            method(X, **rule)


def test_what_cannot_be_fitted():
    X, y = data()
    with pytest.raises(ValueError, match="method must be one of temperature"):
        CalibratedClassifier(HierarchicalSVC(RAGGED), method="beta").fit(X, y)
    with pytest.raises(ValueError, match="more items of each category"):
        CalibratedClassifier(GaussianNB(), cv=2).fit(np.eye(4), list("abcd"))
    with pytest.raises(ValueError, match="other classes than the labels"):
        CalibratedClassifier(_Numbered()).fit(X, y)


class _Numbered(LogisticRegression):
    """A classifier that numbers its classes."""

    def fit(self, X, y):
        return super().fit(X, np.unique(y, return_inverse=True)[1])


@pytest.mark.parametrize("method", METHODS)
def test_categories_without_items_get_no_probability(method, tmp_path):
    many = Taxonomy.from_paths([f"{top} > {top}{k}" for top in "ab" for k in range(40)])
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=80)
    y = np.array(["a0", "a1", "b0", "b1"], dtype=object)[codes]
    X = np.eye(4)[codes] + rng.normal(size=(80, 4))
    fitted = CalibratedClassifier(HierarchicalSVC(many), method=method).fit(X, y)
    seen = np.isin(fitted.classes_, y)
    probabilities = fitted.predict_proba(X)
    assert (probabilities[:, ~seen] == 0).all()
    assert probabilities.sum(axis=1) == pytest.approx(1)
    persistence.save(fitted, tmp_path / "model")
    again = persistence.load(tmp_path / "model")
    assert again.predict_proba(X).tobytes() == probabilities.tobytes()

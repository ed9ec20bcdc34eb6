"""``NodeSVC``, ``TopDownSVC``, ``HierarchicalRLS``: decisions node by node, from the top down."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from taxonomist import Taxonomy
from taxonomist.errors import LabelError, UnknownNodeError
from taxonomist.models import node_margins
from taxonomist.models.hierarchical_rls import HierarchicalRLS
from taxonomist.models.node_margins import MarginScorer
from taxonomist.models.node_svc import NodeSVC
from taxonomist.models.per_node import node_problems
from taxonomist.models.top_down_svc import TopDownSVC
from tests.strategies import label_sets, taxonomies

EXACT = LinearSVC(tol=1e-12, dual=False, max_iter=100_000)
MODELS = [NodeSVC, TopDownSVC, HierarchicalRLS]
SVMS = [NodeSVC, TopDownSVC]

TREE = Taxonomy.from_paths(
    ["animal > cat", "animal > dog > hound", "animal > dog > terrier", "plant > oak", "plant > elm"]
)
DAG = Taxonomy.from_edges(
    [
        ("animal", "dog"),
        ("animal", "cow"),
        ("pet", "dog"),
        ("pet", "plant"),
        ("dog", "hound"),
        ("dog", "puppy"),
        ("young", "puppy"),
    ]
)
ROOTED = Taxonomy.from_edges([("thing", "a"), ("thing", "b"), ("a", "a1"), ("a", "a2")])


def make_items(taxonomy, n_items=60, seed=0, n_features=6, most=2):
    """Return features that tell nodes apart a little, and label sets that may stop anywhere."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(taxonomy.n_nodes, n_features))
    X, y = [], []
    for _ in range(n_items):
        nodes = random.choice(
            taxonomy.nodes[1:], size=random.integers(0, most + 1), replace=False
        ).tolist()
        closed = ancestors_of(taxonomy, nodes)
        X.append(random.normal(size=n_features) + sum(centres[taxonomy.code(z)] for z in closed))
        y.append(nodes)
    return np.array(X), y


def ancestors_of(taxonomy, nodes):
    """Return nodes and all above them but a root that only joins, as a set."""
    closed = set(nodes).union(*(taxonomy.ancestors(node) for node in nodes))
    return closed - ({taxonomy.root} if taxonomy.has_artificial_root else set())


def real_nodes(taxonomy):
    return taxonomy.nodes[1:] if taxonomy.has_artificial_root else taxonomy.nodes


def real_parents(taxonomy, node):
    return [p for p in taxonomy.parents(node) if p in real_nodes(taxonomy)]


def walk(taxonomy, says):
    """Return the nodes that an item has by what its classifiers say, straight from the rule."""
    found = set()
    for node in real_nodes(taxonomy):
        if says[node] and all(parent in found for parent in real_parents(taxonomy, node)):
            found.add(node)
    return found


# Against naive twins -------------------------------------------------------------------------


@pytest.mark.parametrize("taxonomy", [TREE, DAG, ROOTED], ids=["tree", "dag", "rooted"])
@pytest.mark.parametrize("make", [np.asarray, csr_matrix, csr_array])
@pytest.mark.filterwarnings("ignore:Label .* is present:UserWarning")
def test_node_svc_is_one_vs_rest_and_the_rule(taxonomy, make):
    X, y = make_items(taxonomy)
    nodes = real_nodes(taxonomy)
    Y = np.array([[node in ancestors_of(taxonomy, labels) for node in nodes] for labels in y])
    peer = OneVsRestClassifier(LinearSVC(random_state=0)).fit(make(X[:40]), Y[:40].astype(int))
    model = NodeSVC(taxonomy, estimator=LinearSVC(random_state=0)).fit(make(X[:40]), y[:40])
    assert list(model.node_estimators_) == list(nodes)
    for node, theirs in zip(nodes, peer.estimators_, strict=True):
        np.testing.assert_array_equal(model.node_estimators_[node].coef_, theirs.coef_)
    says = peer.predict(make(X))
    assert model.predict_labels(make(X)) == [
        [node for node in nodes if node in walk(taxonomy, dict(zip(nodes, row, strict=True)))]
        for row in says
    ]


@pytest.mark.parametrize("taxonomy", [TREE, DAG, ROOTED], ids=["tree", "dag", "rooted"])
def test_top_down_svc_is_a_loop_over_nodes(taxonomy):
    X, y = make_items(taxonomy, seed=1)
    closed = [ancestors_of(taxonomy, labels) for labels in y]
    model = TopDownSVC(taxonomy, estimator=LinearSVC(random_state=0)).fit(X[:40], y[:40])
    says = {}
    for node in real_nodes(taxonomy):
        above = real_parents(taxonomy, node)
        rows = [i for i in range(40) if closed[i].issuperset(above)]
        target = [int(node in closed[i]) for i in rows]
        if len(set(target)) < 2:
            assert model.node_constants_[node] == bool(sum(target))
            says[node] = np.full(len(X), bool(sum(target)))
        else:
            says[node] = LinearSVC(random_state=0).fit(X[rows], target).predict(X)
    assert set(model.node_constants_).isdisjoint(model.node_estimators_)
    assert [set(labels) for labels in model.predict_labels(X)] == [
        walk(taxonomy, {node: says[node][i] for node in says}) for i in range(len(X))
    ]


def naive_scores(taxonomy, margins, category):
    """Return the least margin that makes a category a most specific label of one item."""
    upwards = [margins[node] for node in ancestors_of(taxonomy, [category])]
    downwards = []
    for child in taxonomy.children(category):
        others = [p for p in real_parents(taxonomy, child) if p != category]
        beside = {node for p in others for node in ancestors_of(taxonomy, [p])}
        downwards.append(-min([margins[child], *(margins[node] for node in beside)]))
    return min(upwards + downwards)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("taxonomy", [TREE, DAG, ROOTED], ids=["tree", "dag", "rooted"])
def test_scores_are_least_margins_and_agree_with_the_sets(kind, taxonomy, monkeypatch):
    X, y = make_items(taxonomy, seed=2)
    model = kind(taxonomy).fit(X, y)
    assert not model.node_constants_
    margins = np.empty((taxonomy.n_nodes, len(X)))
    model.scorer_.margins(X, taxonomy.codes(real_nodes(taxonomy)), margins)
    expected = [
        [
            naive_scores(taxonomy, {z: margins[taxonomy.code(z), i] for z in taxonomy.nodes}, c)
            for c in model.classes_
        ]
        for i in range(len(X))
    ]
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
    assert {"dog"} & set(model.classes_) or taxonomy is ROOTED
    for row, labels in zip(scores, model.predict_labels(X), strict=True):
        lowest = {z for z in labels if not set(labels) & set(taxonomy.descendants(z))}
        assert set(model.classes_[row > 0]) == lowest & set(model.classes_)
    monkeypatch.setattr(node_margins, "MARGINS_AT_A_TIME", 7 * taxonomy.n_nodes)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", MODELS)
@given(data=st.data())
@settings(max_examples=15)
def test_sets_are_closed_under_ancestors(kind, data):
    taxonomy = data.draw(taxonomies(max_nodes=8))
    y = data.draw(label_sets(taxonomy))
    least = data.draw(st.sampled_from([None, 1]))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    X = random.normal(size=(len(y), 3))
    model = kind(taxonomy, min_labels=least).fit(X, y)
    new = random.normal(size=(20, 3))
    for labels, paths in zip(model.predict_labels(new), model.predict_paths(new), strict=True):
        assert set(labels) == ancestors_of(taxonomy, labels)
        assert {node for path in paths for node in path} <= set(labels)
        assert len(set(labels) & set(model.classes_)) >= (least or 0)
    assert np.isfinite(model.decision_function(new)).all()


# Forms of labels -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
def test_ancestors_given_or_not_and_indicators_mean_the_same(kind):
    X, y = make_items(TREE)
    model = kind(TREE).fit(X, y)
    closed = [sorted(ancestors_of(TREE, labels)) for labels in y]
    Y = np.array([[node in labels for node in TREE.nodes[1:]] for labels in closed], dtype=int)
    for same in (closed, Y, csr_array(Y)):
        other = kind(TREE).fit(X, same)
        assert other.predict_labels(X) == model.predict_labels(X)
    dense = kind(TREE).fit(X, Y).predict(X)
    assert dense.shape == Y.shape
    np.testing.assert_array_equal(
        [[node in labels for node in TREE.nodes[1:]] for labels in model.predict_labels(X)], dense
    )
    assert model.predict(X).shape == (len(X), len(model.classes_))
    assert model.score(X, y) == np.mean((dense == Y).all(axis=1))


@pytest.mark.parametrize("kind", MODELS)
def test_single_labels(kind):
    X, y = make_items(TREE, n_items=80, most=1)
    X, y = X[[len(labels) > 0 for labels in y]], [labels[0] for labels in y if labels]
    model = kind(TREE).fit(X, y)
    assert set(model.classes_) == set(TREE.nodes[1:])
    predicted, scores = model.predict(X), model.decision_function(X)
    best = scores[np.arange(len(X)), [list(model.classes_).index(label) for label in predicted]]
    np.testing.assert_array_equal(best, scores.max(axis=1))
    assert model.predict_labels(X) == [[label] for label in predicted]
    assert model.predict_paths(X) == [TREE.paths(label)[0] for label in predicted]
    assert model.score(X, y) > 0.5


def test_equal_scores_are_ordered_by_own_margins():
    taxonomy = Taxonomy.from_paths(["a > a1", "a > a2", "a > a3", "b"])
    model = NodeSVC(taxonomy, min_labels=2).fit(np.eye(5)[:4], [["a1"], ["a2"], ["a3"], ["b"]])
    margins = {"a": -0.1, "a1": 0.2, "a2": 0.9, "a3": 0.5, "b": -0.7}

    class Given(MarginScorer):
        def margins(self, X, codes, out):
            for node, margin in margins.items():
                out[taxonomy.code(node)] = margin

        def accepts(self, code, X):
            return np.full(X.shape[0], margins[taxonomy.nodes[code]] > 0)

    known = model.scorer_
    model.scorer_ = Given(known.taxonomy, known.nodes, known.constants)
    new = np.zeros((1, 5))
    assert model.decision_function(new).tolist() == [[-0.1, -0.1, -0.1, -0.7]]
    assert model.predict_topk(new, 1)[0].tolist() == [["a2"]]
    assert model.predict_labels(new) == [["a", "a2", "a3"]]


@pytest.mark.parametrize("kind", MODELS)
def test_without_a_taxonomy(kind):
    X, y = make_items(TREE, n_items=40)
    y = [[len(label) for label in labels] for labels in y]
    model = kind().fit(X, y)
    assert model.classes_.tolist() == sorted({label for labels in y for label in labels})
    assert model.node_constants_ == {}
    for labels, row in zip(model.predict_labels(X), model.decision_function(X), strict=True):
        assert labels == model.classes_[row > 0].tolist()
    if kind in SVMS:
        assert list(model.node_estimators_) == model.classes_.tolist()


@pytest.mark.parametrize("kind", MODELS)
def test_two_classes_give_one_score(kind):
    X, y = make_items(TREE, n_items=40, most=1)
    y = np.array(["some" if labels else "none" for labels in y])
    model = kind().fit(X, y)
    scores = model.decision_function(X)
    assert scores.shape == (40,)
    np.testing.assert_array_equal(model.classes_[(scores > 0).astype(int)], model.predict(X))


# Nodes without a choice ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
def test_categories_without_items(kind):
    taxonomy = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2"])
    X = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]] * 4)
    y = [["a1"], ["a2"], []] * 4
    model = kind(taxonomy).fit(X, y)
    assert model.classes_.tolist() == ["a1", "a2", "b1", "b2"]
    assert model.node_constants_ == dict.fromkeys(["b", "b1", "b2"], False)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores[:, 2], np.minimum(scores[:, :2].min(axis=1), 0) - 1)
    np.testing.assert_array_equal(scores[:, 2], scores[:, 3])
    assert model.predict_labels(X[:3])[2] == []
    assert not any({"b", "b1", "b2"} & set(labels) for labels in model.predict_labels(X))


@pytest.mark.parametrize("kind", [TopDownSVC, HierarchicalRLS])
def test_a_node_that_all_items_of_its_parent_have(kind):
    taxonomy = Taxonomy.from_paths(["a > a1 > a2", "b"])
    X = np.array([[1.0, 0], [0, 1]] * 3)
    model = kind(taxonomy).fit(X, [["a2"], ["b"]] * 3)
    assert model.node_constants_ == {"a1": True, "a2": True}
    assert model.predict_labels(X[:2]) == [["a", "a1", "a2"], ["b"]]
    margin = np.empty((taxonomy.n_nodes, 6))
    model.scorer_.margins(X, taxonomy.codes(["a", "b"]), margin)
    np.testing.assert_allclose(model.decision_function(X)[:, 0], margin[taxonomy.code("a")])


@pytest.mark.parametrize("kind", MODELS)
def test_one_category_and_one_item(kind):
    model = kind(Taxonomy.flat(["a"])).fit([[1.0]], [["a"]])
    assert model.predict_labels([[5.0]]) == [["a"]]
    assert model.decision_function([[5.0], [-5.0]]).tolist() == [[1.0], [1.0]]
    nothing = kind(Taxonomy.flat(["a"])).fit([[1.0], [2.0]], [[], []])
    assert nothing.predict_labels([[5.0]]) == [[]]
    assert nothing.predict_paths([[5.0]]) == [[]]
    assert nothing.decision_function([[5.0]]).tolist() == [[-1.0]]
    lone = kind(Taxonomy(nodes=["x"])).fit([[1.0], [2.0]], [["x"], ["x"]])
    assert lone.predict_labels([[5.0]]) == [["x"]]


@pytest.mark.parametrize("kind", MODELS)
def test_a_root_that_is_a_node(kind):
    X = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]] * 4)
    always = kind(ROOTED).fit(X, [["a1"], ["b"], ["thing"]] * 4)
    assert always.node_constants_["thing"]
    assert always.predict_labels(X[:3]) == [["thing", "a", "a1"], ["thing", "b"], ["thing"]]
    assert always.predict_labels(-X[:1])[0][0] == "thing"
    sometimes = kind(ROOTED).fit(X, [["a1"], ["b"], []] * 4)
    assert "thing" not in sometimes.node_constants_
    assert sometimes.predict_labels(X[:3]) == [["thing", "a", "a1"], ["thing", "b"], []]


@pytest.mark.parametrize("kind", MODELS)
def test_items_of_nothing(kind):
    X, y = make_items(TREE)
    X[::7] = 0
    for form in (X, csr_array(X)):
        model = kind(TREE).fit(form, y)
        assert len(model.predict_labels(form)) == len(X)
        np.testing.assert_allclose(
            model.decision_function(form), kind(TREE).fit(X, y).decision_function(X), atol=1e-3
        )


@pytest.mark.parametrize("kind", MODELS)
def test_least_number_of_labels(kind):
    X, y = make_items(TREE, seed=3)
    free, least = kind(TREE).fit(X, y), kind(TREE, min_labels=1).fit(X, y)
    n_empty = 0
    scores, before = least.decision_function(X), free.predict_labels(X)
    for i, labels in enumerate(least.predict_labels(X)):
        if set(before[i]) & set(free.classes_):
            assert labels == before[i]
        else:
            n_empty += 1
            allowed = least.classes_[scores[i] == scores[i].max()]
            assert any(
                set(labels) == ancestors_of(TREE, [category]) | set(before[i])
                for category in allowed
            )
    assert n_empty


# Weights and seeds ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
def test_weights_are_repetitions(kind):
    X, y = make_items(DAG, seed=4)
    exact = {} if kind is HierarchicalRLS else {"estimator": EXACT}
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    repeated = np.repeat(np.arange(len(X)), weights)
    a = kind(DAG, **exact).fit(X, y, sample_weight=weights)
    b = kind(DAG, **exact).fit(X[repeated], [y[i] for i in repeated])
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-4)
    c = kind(DAG, **exact).fit(X, y)
    assert np.abs(a.decision_function(X) - c.decision_function(X)).max() > 0.01


@pytest.mark.parametrize("kind", MODELS)
def test_items_without_weight_do_not_count(kind):
    X = np.array([[1.0, 0], [0, 1], [1, 1]])
    model = kind(Taxonomy.flat("ab")).fit(X, [["a"], ["a"], ["b"]], sample_weight=[1, 1, 0])
    assert model.node_constants_ == {"a": True, "b": False}
    with pytest.raises(ValueError, match="weight"):
        kind().fit(X, [["a"], ["a"], ["b"]], sample_weight=[0, 0, 0])
    with pytest.raises(ValueError, match="No item has a weight above 0"):
        list(node_problems(TREE, csc_array((2, TREE.n_nodes)), np.zeros(2), False))


@pytest.mark.parametrize("kind", SVMS)
def test_the_same_seed_gives_the_same_model_in_any_number_of_processes(kind):
    X, y = make_items(TREE, n_items=80)
    forest = RandomForestClassifier(n_estimators=3)
    for estimator in (LinearSVC(C=0.01, dual=True), make_pipeline(StandardScaler(), forest)):
        one = kind(TREE, estimator=estimator, random_state=3).fit(X, y)
        two = kind(TREE, estimator=estimator, random_state=3, n_jobs=2).fit(X, y)
        np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
        other = kind(TREE, estimator=estimator, random_state=4).fit(X, y)
        assert (one.decision_function(X) != other.decision_function(X)).any()
    seeds = {tree[-1].random_state for tree in one.node_estimators_.values()}
    assert len(seeds) == len(one.node_estimators_)
    assert forest.random_state is None


# Estimators ----------------------------------------------------------------------------------


class Sign(ClassifierMixin, BaseEstimator):
    """A classifier with answers only: whether the first feature is positive."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("kind", SVMS)
def test_any_classifier_at_any_node(kind):
    X, y = make_items(TREE)
    own = {
        "default": LogisticRegression(),
        "dog": GaussianNB(),
        "cat": DecisionTreeClassifier(),
        "oak": Sign(),
    }
    model = kind(TREE, estimator=own).fit(X, y)
    kinds = {node: type(estimator).__name__ for node, estimator in model.node_estimators_.items()}
    assert kinds["animal"] == kinds["hound"] == "LogisticRegression"
    assert (kinds["dog"], kinds["oak"]) == ("GaussianNB", "Sign")
    margins = np.full((TREE.n_nodes, len(X)), np.nan)
    model.scorer_.margins(X, TREE.codes(["dog", "cat", "oak", "animal"]), margins)
    nodes = model.node_estimators_
    np.testing.assert_allclose(
        margins[TREE.code("dog")], 2 * nodes["dog"].predict_proba(X)[:, 1] - 1
    )
    np.testing.assert_array_equal(margins[TREE.code("oak")], np.where(X[:, 0] > 0, 1, -1))
    np.testing.assert_array_equal(
        margins[TREE.code("animal")], nodes["animal"].decision_function(X)
    )
    default = kind(TREE, estimator={"dog": GaussianNB()}, random_state=0).fit(X, y)
    assert isinstance(default.node_estimators_["cat"], LinearSVC)
    assert not hasattr(own["dog"], "classes_")


@pytest.mark.parametrize("kind", SVMS)
def test_a_classifier_with_a_threshold_keeps_it(kind):
    X, y = make_items(TREE)
    timid = FixedThresholdClassifier(LogisticRegression(), threshold=0.999)
    model = kind(TREE, estimator=timid).fit(X, y)
    n_labels = sum(map(len, model.predict_labels(X)))
    bold = kind(TREE, estimator=LogisticRegression()).fit(X, y)
    assert n_labels < sum(map(len, bold.predict_labels(X))) / 2


@pytest.mark.parametrize("kind", SVMS)
def test_precomputed_kernel(kind):
    X, y = make_items(DAG)
    train, test = np.arange(40), np.arange(40, 60)
    gram = X @ X.T
    weights = np.where(np.arange(40) % 5, 1.0, 0.0)
    a = kind(DAG, estimator=SVC(kernel="linear")).fit(X[train], y[:40], weights)
    b = kind(DAG, estimator=SVC(kernel="precomputed")).fit(
        gram[np.ix_(train, train)], y[:40], weights
    )
    got = b.decision_function(gram[np.ix_(test, train)])
    np.testing.assert_allclose(got, a.decision_function(X[test]), atol=1e-3)
    assert b.predict_labels(gram[np.ix_(test, train)]) == a.predict_labels(X[test])
    with pytest.raises(ValueError, match="must be square"):
        kind(DAG, estimator=SVC(kernel="precomputed")).fit(gram[:40], y[:40])


def test_what_the_classifier_can_take():
    X, y = make_items(TREE)
    X[0, 0] = np.nan
    tree = DecisionTreeClassifier(random_state=0)
    assert NodeSVC(TREE, estimator=tree).fit(X, y).predict(X).shape[0] == len(X)
    with pytest.raises(ValueError, match="NaN"):
        NodeSVC(TREE).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        HierarchicalRLS(TREE).fit(X, y)


# Complaints, copies --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SVMS)
def test_complaints_about_estimators(kind):
    X, y = make_items(TREE)
    with pytest.raises(UnknownNodeError, match="'hund'.*Did you mean 'hound'"):
        kind(TREE, estimator={"hund": GaussianNB()}).fit(X, y)
    with pytest.raises(UnknownNodeError, match="'ROOT', which is not a node with a classifier"):
        kind(TREE, estimator={"ROOT": GaussianNB()}).fit(X, y)
    with pytest.raises(TypeError, match="Got <class"):
        kind(TREE, estimator=GaussianNB).fit(X, y)
    with pytest.raises(TypeError, match="Got 'svm'"):
        kind(TREE, estimator={"dog": "svm"}).fit(X, y)
    with pytest.raises(ValueError, match="C applies to the default SVM"):
        kind(TREE, estimator=LinearSVC(), C=2).fit(X, y)
    with pytest.raises(ValueError, match="KNeighborsClassifier does not support sample_weight"):
        kind(TREE, estimator={"dog": KNeighborsClassifier()}).fit(X, y, np.full(len(X), 2.0))


@pytest.mark.parametrize("kind", MODELS)
def test_complaints(kind):
    X, y = make_items(TREE)
    for C in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="C must be a finite number above 0"):
            kind(TREE, C=C).fit(X, y)
    for least in (-1, 100):
        with pytest.raises(ValueError, match="min_labels must be None or from 0 to"):
            kind(TREE, min_labels=least).fit(X, y)
    with pytest.raises(LabelError, match="'dgo'"):
        kind(TREE).fit(X[:1], [["dgo"]])
    with pytest.raises(ValueError, match="cache_size"):
        HierarchicalRLS(TREE, cache_size=-1).fit(X, y)


@pytest.mark.parametrize("kind", MODELS)
def test_c_counts(kind):
    X, y = make_items(TREE)
    small, large = (kind(TREE, C=C).fit(X, y).decision_function(X) for C in (0.001, 1))
    assert np.abs(small).mean() < np.abs(large).mean()


@pytest.mark.parametrize("kind", MODELS)
def test_copies_and_searches(kind):
    X, y = make_items(TREE, n_items=80)
    Y = np.array([[node in ancestors_of(TREE, labels) for node in TREE.nodes[1:]] for labels in y])
    model = kind(TREE).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert clone(model).get_params() == model.get_params()
    search = GridSearchCV(kind(TREE), {"C": [0.01, 1]}, cv=2, scoring="f1_micro").fit(
        X, Y.astype(int)
    )
    assert search.best_score_ > 0.5
    if kind in SVMS:
        own = kind(TREE, estimator=LinearSVC())
        assert own.set_params(estimator__C=3.0).fit(X, y).node_estimators_["dog"].C == 3.0


def test_items_with_wide_indices_are_taken():
    """liblinear refuses 64-bit indices, which scipy makes in places."""
    X = csr_array(np.eye(6))
    wide = csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    model = NodeSVC().fit(wide, ["a", "b"] * 3)
    assert model.predict(wide).tolist() == ["a", "b"] * 3

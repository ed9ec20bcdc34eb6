"""Models of word counts: priors, parameters, partial fits, and what they show."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from taxonomist import HierarchicalMixture, HierarchicalShrinkage, LidstoneNB, Taxonomy
from taxonomist.errors import LabelError
from taxonomist.solvers import path_weights
from taxonomist.solvers.temperature import TEMPERATURES
from tests.reference import mixture as naive
from tests.reference.count_models import make_items
from tests.reference.mixture import TREE

MODELS = [HierarchicalMixture, HierarchicalShrinkage, LidstoneNB]
MIXTURES = MODELS[:2]
PAPER = {"trust": 1.0, "discount": 0.0, "damping": None, "length": 0.0}
RAW = {"damping": None, "length": 0.0}


# Priors, parameters, partial fits ------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
def test_priors(kind):
    X, y = make_items()
    n = len(TREE.leaves)
    assert np.allclose(kind(TREE, priors="uniform").fit(X, y).class_log_prior_, -np.log(n))
    given = np.arange(1.0, n + 1)
    model = kind(TREE, priors=given).fit(X, y)
    np.testing.assert_allclose(np.exp(model.class_log_prior_), given / given.sum())
    by_label = kind(TREE, priors=dict(zip(TREE.leaves, given.tolist(), strict=True))).fit(X, y)
    np.testing.assert_allclose(by_label.class_log_prior_, model.class_log_prior_)
    empty = np.zeros((1, X.shape[1]))
    np.testing.assert_allclose(model.predict_proba(empty)[0], given / given.sum())
    for wrong, text in (
        ("equal", "priors must be one of estimated"),
        ([1.0, 2.0], f"priors must be {n} numbers above 0"),
        (np.zeros(n), "above 0"),
        ({"cat": 1.0}, "no value for 'hound'"),
    ):
        with pytest.raises(ValueError, match=text):
            kind(TREE, priors=wrong).fit(X, y)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"damping": "sqrt"}, "damping must be"),
        ({"length": 2}, "length must be"),
        ({"path_weights": "node"}, "path_weights must be one of level"),
        ({"path_weights": np.ones((2, 2))}, "give a row for each of the 5 classes"),
        ({"path_weights": np.ones((5, 10))}, "sum to 1"),
        ({"trust": -0.1}, "trust must be"),
        ({"shared_words": -1}, "shared_words must be"),
        ({"tol": -1}, "tol must be"),
        ({"discount": 1.0}, "discount must be"),
        ({"held_out": 1.0}, "held_out must be"),
        ({"held_out": "item"}, "held_out must be above 0 and below 1, or None, or 'word'"),
        ({"decision": "best"}, "decision is 'best'"),
        ({"max_iter": -1}, "max_iter must be"),
        ({"max_iter": 1.5}, "max_iter must be"),
        ({"inverse_temperature": 0.0}, "inverse_temperature must be"),
        ({"inverse_temperature": []}, "inverse_temperature must be"),
        ({"inverse_temperature": "best"}, "one for each step, or 'held_out'"),
        ({"weight_updates": "always"}, "weight_updates must be one of step, full, or None"),
        ({"background": "root"}, "background must be one of mixture, pooled"),
    ],
)
def test_senseless_parameters_are_refused(options, text):
    X, y = make_items()
    kinds = [HierarchicalMixture]
    if not {"max_iter", "inverse_temperature", "weight_updates"} & set(options):
        kinds.append(HierarchicalShrinkage)
    for kind in kinds:
        with pytest.raises(ValueError, match=text):
            kind(TREE, **options).fit(X, y)


def test_senseless_weights_and_labels_are_refused():
    X, y = make_items()
    with pytest.raises(ValueError, match="alpha must be"):
        LidstoneNB(alpha=-1).fit(X, y)
    negative = naive.as_matrix({c: {c: 2.0, TREE.root: -1.0} for c in TREE.leaves}, TREE)
    with pytest.raises(ValueError, match="must be nonnegative"):
        HierarchicalMixture(TREE, path_weights=negative).fit(X, y)
    above = naive.as_matrix(naive.even_weights(TREE), TREE)
    with pytest.raises(ValueError, match="uniform is False"):
        HierarchicalMixture(TREE, path_weights=above, uniform=False).fit(X, y)
    even = naive.as_matrix(naive.even_weights(TREE), TREE)
    with pytest.raises(ValueError, match="path_weights is a matrix"):
        HierarchicalMixture(TREE, path_weights=even, weight_updates="step").fit(X, y)
    with pytest.raises(ValueError, match="take_out must be one of class, child"):
        HierarchicalShrinkage(TREE, take_out="node").fit(X, y)
    elsewhere = naive.as_matrix({c: {"oak": 1.0} for c in TREE.leaves}, TREE)
    with pytest.raises(ValueError, match="sum to 1 over the nodes at or above it"):
        HierarchicalMixture(TREE, path_weights=elsewhere).fit(X, y)
    with pytest.raises(LabelError, match="cart"):
        HierarchicalMixture(TREE).fit(X, ["cart", *y[1:]])


def test_the_inverse_temperature_is_chosen_by_held_out_items():
    X, y = make_items(n_items=50)
    model = HierarchicalMixture(TREE, inverse_temperature="held_out", max_iter=4, **PAPER).fit(X, y)
    assert model.inverse_temperature_ in TEMPERATURES
    same = HierarchicalMixture(
        TREE, inverse_temperature=model.inverse_temperature_, max_iter=4, **PAPER
    ).fit(X, y)
    np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))
    even = naive.as_matrix(naive.even_weights(TREE), TREE)
    given = HierarchicalMixture(TREE, inverse_temperature="held_out", path_weights=even)
    assert given.fit(X, y).inverse_temperature_ in TEMPERATURES
    assert not hasattr(given, "partial_fit")
    steps = HierarchicalMixture(TREE, inverse_temperature=(0.5, 1)).fit(X, y)
    assert steps.inverse_temperature_ == [0.5, 1.0]


@pytest.mark.parametrize("updates", ["step", "full"])
def test_weights_are_updated_with_the_words(updates):
    X, y = make_items(n_items=50)
    options = {"path_weights": "class", "max_iter": 3, **PAPER}
    model = HierarchicalMixture(TREE, weight_updates=updates, **options).fit(X, y)
    once = HierarchicalMixture(TREE, **options).fit(X, y)
    np.testing.assert_allclose(np.asarray(model.path_weights_.sum(axis=1)).ravel(), 1)
    assert not np.allclose(model.path_weights_.toarray(), once.path_weights_.toarray())
    if updates == "full":
        assert model.weights_gap_ <= model.tol
    nothing = model.set_params(max_iter=0).fit(X, y)
    shrunk = HierarchicalShrinkage(TREE, path_weights="class", **PAPER).fit(X, y)
    np.testing.assert_array_equal(nothing.decision_function(X), shrunk.decision_function(X))


@pytest.mark.parametrize("kind", MIXTURES)
def test_weights_can_be_given_back(kind):
    X, y = make_items()
    model = kind(TREE).fit(X, y)
    again = kind(TREE, path_weights=model.path_weights_).fit(X, y)
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X))
    assert again.weights_gap_ is None
    assert 0 <= model.weights_gap_ <= model.tol


EXACT = [
    LidstoneNB(TREE, alpha=0.3),
    LidstoneNB(TREE, alpha=0.0, damping="log"),
    HierarchicalShrinkage(TREE, path_weights=naive.as_matrix(naive.even_weights(TREE), TREE)),
    HierarchicalMixture(TREE, path_weights=naive.as_matrix(naive.even_weights(TREE), TREE)),
]


@pytest.mark.parametrize("model", EXACT, ids=lambda model: type(model).__name__)
def test_partial_fits_add_up(model):
    X, y = make_items()
    model = clone(model).set_params(length=0.0)
    whole = clone(model).fit(X, y).decision_function(X)
    parts = clone(model)
    for batch in (slice(0, 20), slice(20, 21), slice(21, None)):
        parts.partial_fit(X[batch], y[batch])
    np.testing.assert_allclose(parts.decision_function(X), whole)
    again = clone(model).fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    np.testing.assert_allclose(again.decision_function(X), whole)


def test_partial_fits_without_a_taxonomy_and_with_sets():
    X, y = make_items(most=2)
    first = LidstoneNB(alpha=1.0).partial_fit(X[:30], y[:30], classes=TREE.leaves)
    whole = LidstoneNB(alpha=1.0).fit(X, y)
    first.partial_fit(X[30:], y[30:])
    np.testing.assert_allclose(first.decision_function(X), whole.decision_function(X))
    with pytest.raises(LabelError, match="not classes of the model"):
        first.partial_fit(X[:1], [["whale"]])


def test_no_partial_fit_where_counts_do_not_suffice():
    for model in (HierarchicalMixture(), HierarchicalShrinkage(), LidstoneNB()):
        assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as caught:
        _ = LidstoneNB().partial_fit
    assert "Give alpha" in str(caught.value.__cause__)


def test_weights_that_stop_early_are_complained_about(monkeypatch):
    monkeypatch.setattr(path_weights, "MOST_STEPS", 1)
    X, y = make_items()
    with pytest.warns(ConvergenceWarning, match="wanted 1e-09"):
        HierarchicalMixture(TREE, tol=1e-9).fit(X, y)


def test_held_out_items_follow_the_seed():
    X, y = make_items()
    found = [
        HierarchicalShrinkage(TREE, held_out=0.4, random_state=seed).fit(X, y).path_weights_
        for seed in (0, 0, 1)
    ]
    assert not (found[0] != found[1]).nnz
    assert (found[0] != found[2]).nnz


def test_unseen_words_cost_no_infinity():
    X, y = make_items()
    X = np.hstack([X, np.zeros((len(X), 1), dtype=int)])
    new = X[:5].copy()
    new[:, -1] = 2
    for kind in MIXTURES:
        assert np.isfinite(kind(TREE).fit(X, y).decision_function(new)).all()
        without = kind(TREE, uniform=False).fit(X, y)
        np.testing.assert_allclose(
            without.decision_function(new).argmax(axis=1),
            without.decision_function(X[:5]).argmax(axis=1),
        )


def test_words_that_rule_out_all_categories_leave_the_priors():
    model = LidstoneNB(alpha=0.0).fit([[1, 0], [0, 1], [0, 1]], ["a", "b", "b"])
    assert model.predict_proba([[1, 0], [0, 2]]).tolist() == [[1, 0], [0, 1]]
    np.testing.assert_allclose(model.predict_proba([[1, 1]]), [[0.4, 0.6]])
    assert model.predict_log_proba([[1, 0]])[0, 1] == -np.inf


# What they show ------------------------------------------------------------------------------


def test_top_words_of_levels():
    names = ["purr", "bark", "acorn", "samara", "fur", "leaf", "the"]
    taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak", "plant > elm"])
    rows = {
        "cat": [4, 0, 0, 0, 4, 0, 4],
        "dog": [0, 4, 0, 0, 4, 0, 4],
        "oak": [0, 0, 4, 0, 0, 4, 4],
        "elm": [0, 0, 0, 4, 0, 4, 4],
    }
    X = [rows[label] for label in rows for _ in range(6)]
    y = [label for label in rows for _ in range(6)]
    model = HierarchicalMixture(taxonomy, max_iter=300, **PAPER).fit(X, y)

    def top(node, n=1):
        return [word for word, _ in model.top_words(node, n, feature_names=names)]

    assert top(taxonomy.root) == ["the"]
    assert top("animal") == ["fur"]
    assert top("plant") == ["leaf"]
    assert top("cat") == ["purr"]
    assert top("dog") == ["bark"]
    words = model.top_words("cat", 10)
    assert len(words) == model.node_word_proba_[[taxonomy.code("cat")]].nnz
    assert [p for _, p in words] == sorted((p for _, p in words), reverse=True)
    assert words[0][0] == "0"
    with pytest.raises(LabelError, match="whale"):
        model.top_words("whale")


def test_top_words_of_labels_that_are_numbers():
    model = LidstoneNB().fit([[3, 1], [0, 2]], [10, 20])
    assert model.top_words(10, 1) == [("0", 0.75)]
    assert model.top_words(20) == [("1", 1.0)]


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("most", [1, 2])
def test_explanations_add_up(kind, most):
    X, y = make_items(most=most)
    model = kind(TREE).fit(X, y)
    scores = model.decision_function(X)
    for i in (0, 7):
        best = int(scores[i].argmax())
        found = model.explain(X[i], 3)
        assert found.category == model.classes_[best]
        assert np.isclose(found.score, scores[i, best])
        assert np.isclose(sum(part.value for part in found.parts), found.score)
        for part in found.parts[1 if most == 1 else 0 :]:
            assert np.isclose(part.value, sum(v for _, v in part.features) + part.rest)
            assert len(part.features) <= 3
        titles = [part.node for part in found.parts]
        expected = [*naive.path(TREE, found.category), "(uniform)"]
        assert titles == (["(prior)"] if most == 1 else []) + expected
        other = model.explain(csr_array(X[[i]]), category="oak", against="cat")
        columns = [list(model.classes_).index(c) for c in ("oak", "cat")]
        assert np.isclose(other.score, scores[i, columns[0]] - scores[i, columns[1]])
        assert str(other).startswith("oak rather than cat")
    with pytest.raises(ValueError, match="takes one item"):
        model.explain(X[:2])


def test_an_explanation_shares_words_by_responsibilities():
    X, y = make_items()
    model = HierarchicalMixture(TREE, priors="uniform", **RAW).fit(X, y)
    w = int(X.sum(axis=0).argmax())
    x = np.zeros(X.shape[1])
    x[w] = 2
    found = model.explain(x, category="cat")
    score = found.score - found.parts[0].value
    weights = model.path_weights_.toarray()[list(model.classes_).index("cat")]
    words = np.append(model.node_word_proba_.toarray()[:, w], 1 / X.shape[1])
    joint = weights * words
    by_node = dict(zip([*TREE.nodes, "(uniform)"], joint / joint.sum(), strict=True))
    for part in found.parts[1:]:
        assert np.isclose(part.value, by_node[part.node] * score)


def test_an_impossible_category_is_explained_by_itself():
    model = LidstoneNB(alpha=0.0).fit([[1, 0], [0, 1]], ["a", "b"])
    found = model.explain([1, 0], category="b")
    assert found.score == -np.inf
    assert [part.value for part in found.parts][-2:] == [-np.inf, 0.0]


def test_feature_names_come_from_data_frames():
    pandas = pytest.importorskip("pandas")
    X, y = make_items(n_words=3)
    frame = pandas.DataFrame(X, columns=["red", "green", "blue"])
    model = HierarchicalMixture(TREE).fit(frame, y)
    assert {word for word, _ in model.top_words(TREE.root)} <= {"red", "green", "blue"}
    assert model.explain(frame.iloc[[0]]).parts[1].features[0][0] in {"red", "green", "blue"}

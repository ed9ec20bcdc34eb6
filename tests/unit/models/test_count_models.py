"""``HierarchicalMixture``, ``HierarchicalShrinkage``, ``LidstoneNB``: words, answers, reasons."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.naive_bayes import MultinomialNB

from taxonomist import HierarchicalMixture, HierarchicalShrinkage, LidstoneNB, Taxonomy
from taxonomist.inference import word_scorer, word_scores
from taxonomist.inference.label_sets import CategoryThresholds
from taxonomist.inference.rules import FittedThresholds
from taxonomist.models.learning import KeptScores, plain_folds
from tests.reference import mixture as naive
from tests.reference.count_models import make_items, word_probabilities
from tests.reference.mixture import DAG, FLAT, TREE
from tests.strategies import label_sets, taxonomies

MODELS = [HierarchicalMixture, HierarchicalShrinkage, LidstoneNB]
MIXTURES = MODELS[:2]
PAPER = {"trust": 1.0, "discount": 0.0, "damping": None, "length": 0.0}
RAW = {"damping": None, "length": 0.0}


# The models are what they say ----------------------------------------------------------------


@pytest.mark.equation("TCPH01:1")
@pytest.mark.equation("TCPH01:9")
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("taxonomy", [TREE, DAG, None], ids=["tree", "dag", "flat"])
@pytest.mark.parametrize("most", [1, 2])
def test_probabilities_are_distributions_and_mixed_along_paths(kind, taxonomy, most):
    X, y = make_items(taxonomy or FLAT, most=most)
    model = kind(taxonomy).fit(X, y)
    mixed = word_probabilities(model)
    np.testing.assert_allclose(mixed.sum(axis=1), 1)
    weights = model.path_weights_.toarray()
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    words = np.exp(model.node_word_log_proba_)
    np.testing.assert_allclose(words.sum(axis=1), 1)
    everything = np.vstack([words, np.full(X.shape[1], 1 / X.shape[1])])
    np.testing.assert_allclose(weights @ everything, mixed)
    for row, label in zip(weights, model.classes_, strict=True):
        nodes = {model.taxonomy_.nodes[v] for v in np.flatnonzero(row[:-1])}
        assert nodes <= set(naive.path(model.taxonomy_, label))
    assert np.isclose(np.exp(model.class_log_prior_).sum(), 1)


@pytest.mark.equation("TCPH01:2")
@pytest.mark.equation("TCPH01:8")
@pytest.mark.equation("TCPH01:13")
@pytest.mark.parametrize("kind", MODELS)
def test_posteriors_are_priors_times_products_of_word_probabilities(kind):
    X, y = make_items()
    model = kind(TREE, **RAW).fit(X, y)
    mixed, priors = word_probabilities(model), np.exp(model.class_log_prior_)
    for x, found in zip(X, model.predict_proba(X), strict=True):
        joint = [
            prior * np.prod([row[w] ** n for w, n in enumerate(x)])
            for prior, row in zip(priors, mixed, strict=True)
        ]
        np.testing.assert_allclose(found, np.array(joint) / sum(joint))
    best = model.classes_[model.predict_proba(X).argmax(axis=1)]
    assert (model.predict(X) == best).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    scores = model.decision_function(X)
    general = X @ np.log(priors @ mixed)
    np.testing.assert_allclose(scores, X @ np.log(mixed).T + np.log(priors) - general[:, None])
    paths = model.predict_paths(X)
    assert [path[-1] for path in paths] == best.tolist()


def test_mixture_without_steps_is_shrinkage():
    for taxonomy in (TREE, DAG, None):
        X, y = make_items(taxonomy or FLAT)
        for options in ({}, PAPER, {"path_weights": "shrunk", "held_out": 0.3, "random_state": 1}):
            mixture = HierarchicalMixture(taxonomy, max_iter=0, **options).fit(X, y)
            shrinkage = HierarchicalShrinkage(taxonomy, **options).fit(X, y)
            np.testing.assert_array_equal(
                mixture.decision_function(X), shrinkage.decision_function(X)
            )
            moved = HierarchicalMixture(taxonomy, max_iter=1, **options).fit(X, y)
            assert not np.allclose(moved.decision_function(X), mixture.decision_function(X))
            assert moved.n_iter_ == 1
            assert mixture.n_iter_ == shrinkage.n_iter_ == 0


@pytest.mark.equation("TCPH01:11")
def test_all_weight_on_the_leaf_is_naive_bayes():
    X, y = make_items(n_items=120)
    own = naive.as_matrix({c: {c: 1.0} for c in TREE.leaves}, TREE)
    model = HierarchicalShrinkage(TREE, path_weights=own, uniform=False, **PAPER).fit(X, y)
    counts = np.array([X[np.array(y) == c].sum(axis=0) for c in TREE.leaves])
    np.testing.assert_allclose(
        word_probabilities(model), counts / counts.sum(axis=1, keepdims=True)
    )
    order = [sorted(TREE.leaves).index(c) for c in TREE.leaves]
    peer = MultinomialNB(alpha=1e-12, force_alpha=True, fit_prior=False).fit(X, y)
    model.set_params(priors="uniform").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X)[:, order], atol=1e-8)
    plain = LidstoneNB(TREE, alpha=0.0).fit(X, y)
    np.testing.assert_allclose(word_probabilities(plain), word_probabilities(model))


@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_lidstone_is_multinomial_naive_bayes(alpha):
    X, y = make_items()
    priors = np.array([y.count(c) + 1.0 for c in TREE.leaves]) / (len(y) + len(TREE.leaves))
    order = np.argsort(TREE.leaves)
    peer = MultinomialNB(alpha=alpha, class_prior=priors[order]).fit(X, y)
    model = LidstoneNB(TREE, alpha=alpha).fit(X, y)
    np.testing.assert_allclose(np.log(word_probabilities(model))[order], peer.feature_log_prob_)
    np.testing.assert_allclose(
        model.predict_log_proba(X)[:, order], peer.predict_log_proba(X), atol=1e-10
    )
    assert model.alpha_ == alpha
    flat = LidstoneNB(alpha=alpha).fit(X, y)
    np.testing.assert_allclose(flat.predict_proba(X), peer.predict_proba(X))


@pytest.mark.parametrize("take_out", ["class", "child", True])
def test_taking_out_is_what_the_paper_says(take_out):
    X, y = make_items(TREE, most=2)
    model = HierarchicalShrinkage(TREE, take_out=take_out, **PAPER).fit(X, y)
    left = naive.other_words if take_out == "class" else naive.rest_words
    items = [(x.tolist(), labels, 1.0) for x, labels in zip(X, y, strict=True)]
    mixed, weights = word_probabilities(model), model.path_weights_.toarray()
    for c, category in enumerate(TREE.leaves):
        words = left(items, TREE, category)
        expected = np.full(X.shape[1], weights[c, -1] / X.shape[1])
        for v, row in words.items():
            expected += weights[c, TREE.code(v)] * np.array(row)
        np.testing.assert_allclose(mixed[c], expected)
    with pytest.raises(AttributeError, match="take_out=False"):
        _ = model.node_word_proba_
    with pytest.raises(AttributeError, match="take_out=False"):
        model.top_words("animal")


@pytest.mark.parametrize("kind", MODELS)
def test_label_sets_split_counts_in_equal_parts(kind):
    X, y = make_items(most=3)
    model = kind(TREE, **RAW).fit(X, y)
    parts = np.array([[(c in labels) / len(labels) for c in model.classes_] for labels in y])
    counts = parts.T @ X
    priors = parts.sum(axis=0) + 1
    np.testing.assert_allclose(np.exp(model.class_log_prior_), priors / priors.sum())
    leaves = model.node_word_proba_.toarray()[TREE.codes(model.classes_)]
    if kind is LidstoneNB:
        np.testing.assert_allclose(leaves, counts / counts.sum(axis=1, keepdims=True))
    mixed = word_probabilities(model)
    general = (priors / priors.sum()) @ mixed
    np.testing.assert_allclose(model.decision_function(X), X @ np.log(mixed / general).T)


def test_pooled_unigrams_are_the_words_of_all_items_by_hand():
    # Three items, four words in all: P(w) = (5, 3) / 8. Item 2 has two labels and counts once.
    X = np.array([[2, 0], [1, 1], [2, 2]])
    y = [["cat"], ["dog"], ["cat", "dog"]]
    model = LidstoneNB(alpha=1.0, background="pooled").fit(X, y)
    # cat: (2 + 1 + 1, 1 + 1) / (4 + 2), dog: (1 + 1 + 1, 1 + 1 + 1) / (4 + 2)
    cat, dog = np.array([4, 2]) / 6, np.array([3, 3]) / 6
    pooled = np.array([5, 3]) / 8
    d = np.array([1, 2])
    expected = [d @ np.log(cat / pooled), d @ np.log(dog / pooled)]
    np.testing.assert_allclose(model.decision_function([d]), [expected])
    mixed = LidstoneNB(alpha=1.0).fit(X, y)
    np.testing.assert_allclose(mixed.predict_proba([d]), model.predict_proba([d]))
    assert not np.allclose(mixed.decision_function([d]), model.decision_function([d]))


@pytest.mark.parametrize("kind", MODELS)
def test_pooled_unigrams_shift_all_categories_and_ignore_unseen_words(kind):
    X, y = make_items(most=1)
    X = np.hstack([X, np.zeros((len(X), 1), dtype=int)])
    one = [label[0] if isinstance(label, list) else label for label in y]
    for options in ({}, RAW):
        mixed = kind(TREE, **options).fit(X, one)
        pooled = kind(TREE, background="pooled", **options).fit(X, one)
        np.testing.assert_array_equal(pooled.predict(X), mixed.predict(X))
        np.testing.assert_allclose(pooled.predict_proba(X), mixed.predict_proba(X))
        shift = pooled.decision_function(X) - mixed.decision_function(X)
        np.testing.assert_allclose(shift, shift[:, :1] * np.ones(shift.shape), atol=1e-9)
    unseen = X[:1].copy()
    unseen[0, -1] = 3
    pooled = kind(TREE, background="pooled", **RAW).fit(X, one)
    np.testing.assert_allclose(pooled.decision_function(unseen), pooled.decision_function(X[:1]))


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("least", [None, 0.0])
def test_counted_thresholds_have_the_best_f1_of_each_category_and_force_no_label(kind, least):
    X, y = make_items(most=2, n_items=60)
    rule = CategoryThresholds(counted=True, least_score=least)
    model = kind(TREE, decision=rule, min_labels=0, background="pooled").fit(X, y)
    scores = KeptScores()
    kind(TREE, background="pooled").fit_held_out(
        X, y, cv=plain_folds(5, np.ones(60)), make_taker=lambda *_: scores
    )
    held_out = scores.scores[np.argsort(scores.items)]
    truth = np.array([[c in labels for c in model.classes_] for labels in y])

    def f1(column, threshold):
        chosen = held_out[:, column] > threshold
        return 2 * (chosen & truth[:, column]).sum() / (chosen.sum() + truth[:, column].sum())

    for c in range(len(model.classes_)):
        cuts = [*held_out[:, c], held_out[:, c].min() - 1]
        if least is not None:
            cuts = [least, *(cut for cut in cuts if cut > least)]
            assert model.decision_.thresholds[c] >= least
        assert np.isclose(f1(c, model.decision_.thresholds[c]), max(f1(c, cut) for cut in cuts))
    found = model.predict(X).toarray().astype(bool)
    above = model.decision_function(X) > model.decision_.thresholds
    few = above.sum(axis=1) <= 2
    np.testing.assert_array_equal(found[few], above[few])
    model.decision_ = FittedThresholds(np.full(above.shape[1], 1e3), None)
    assert not model.predict(X).toarray().any()


def test_thresholds_are_tuned_on_scores_of_held_out_items(monkeypatch):
    X, y = make_items(most=2, n_items=40)
    model = HierarchicalMixture(TREE, cv=4).fit(X, y)
    seen = {}
    learned = HierarchicalMixture.learn

    def learn(self, training, start=None):
        n_items = training.X.shape[0]
        seen[n_items] = seen.get(n_items, 0) + 1
        return learned(self, training, start)

    monkeypatch.setattr(HierarchicalMixture, "learn", learn)
    again = HierarchicalMixture(TREE, cv=4).fit(X, y)
    assert seen == {40: 1, 30: 4}
    np.testing.assert_array_equal(again.decision_.thresholds, model.decision_.thresholds)
    np.testing.assert_array_equal(again.predict(X).toarray(), model.predict(X).toarray())
    assert again.label_limits_ == (1, 2)


# Forms of items and labels -------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("make", [csr_matrix, csr_array, lambda X: X.tolist()])
def test_forms_of_items(kind, make):
    X, y = make_items()
    expected = kind(TREE).fit(X, y).decision_function(X)
    model = kind(TREE).fit(make(X), y)
    np.testing.assert_array_equal(model.decision_function(make(X)), expected)


@pytest.mark.parametrize("kind", MODELS)
def test_stored_zeros_and_duplicates_mean_what_they_are(kind):
    X, y = make_items()
    X[-1, -1] = 0
    expected = kind(TREE).fit(X, y).decision_function(X)
    split = csr_array(X).astype(float)
    doubled = csr_matrix(
        (
            np.repeat(split.data / 2, 2),
            np.repeat(split.indices, 2),
            2 * split.indptr,
        ),
        shape=X.shape,
    )
    doubled.has_canonical_format = False
    ends = np.append(split.indptr[:-1], split.indptr[-1] + 1)
    entries = np.append(split.data, 0.0), np.append(split.indices, X.shape[1] - 1)
    zeros = csr_matrix((*entries, ends), shape=X.shape)
    for same in (doubled, zeros):
        before = same.data.copy(), same.indices.copy(), same.indptr.copy()
        found = kind(TREE).fit(same, y).decision_function(same)
        np.testing.assert_allclose(found, expected)
        for array, old in zip((same.data, same.indices, same.indptr), before, strict=True):
            np.testing.assert_array_equal(array, old)


@pytest.mark.parametrize("kind", MODELS)
def test_negative_counts_are_refused(kind):
    X, y = make_items()
    with pytest.raises(
        ValueError, match=rf"{kind.__name__}: X must contain word counts.* smallest value is -1\."
    ):
        kind(TREE).fit(X - 1, y)
    model = kind(TREE).fit(X, y)
    with pytest.raises(ValueError, match="Negative values in data"):
        model.predict(-X)


@pytest.mark.parametrize("kind", MODELS)
def test_damping_and_length_are_what_a_user_could_do(kind):
    X, y = make_items()
    logs = np.log1p(X)
    lengths = logs.sum(axis=1, keepdims=True)
    scaled = logs * np.sqrt(lengths.mean() / lengths)
    model = kind(TREE, damping="log", length=0.5)
    plain = kind(TREE, damping=None, length=0.0)
    np.testing.assert_allclose(
        model.fit(X, y).decision_function(X), plain.fit(scaled, y).decision_function(scaled)
    )
    assert np.isclose(model.reference_length_, lengths.mean())
    assert plain.reference_length_ == 1


@pytest.mark.parametrize("kind", MODELS)
def test_interior_nodes_are_categories_of_their_own(kind):
    X, y = make_items()
    y = ["dog" if label == "hound" else label for label in y]
    model = kind(TREE).fit(X, y)
    assert "dog" in model.classes_
    assert set(model.predict(X)) <= set(model.classes_)
    assert model.taxonomy_ == TREE
    # The last row, and the column before the uniform node, are those of the items filed at dog.
    assert model.node_word_proba_.shape[0] == TREE.n_nodes + 1
    mixed = model.path_weights_[:, :-1] @ model.node_word_proba_.toarray()
    mixed += model.path_weights_[:, [-1]].toarray() / X.shape[1]
    np.testing.assert_allclose(mixed, word_probabilities(model))
    reasons = model.explain(X[0], category="dog")
    assert [part.node for part in reasons.parts][-2] == "dog"
    assert model.top_words("dog") != model.top_words("animal")


@pytest.mark.parametrize("kind", MODELS)
def test_categories_without_items_can_be_predicted(kind):
    X, y = make_items()
    keep = [i for i, label in enumerate(y) if label != "hound"]
    model = kind(TREE).fit(X[keep], [y[i] for i in keep])
    scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    c = list(model.classes_).index("hound")
    assert np.isclose(word_probabilities(model)[c].sum(), 1)
    if kind is not LidstoneNB:
        # It borrows from its parent: more likely than a category of the other branch.
        row = word_probabilities(model)
        dogs = X[[i for i, label in enumerate(y) if label == "hound"]].sum(axis=0)
        assert dogs @ np.log(row[c]) > dogs @ np.log(row[list(model.classes_).index("elm")])


@pytest.mark.parametrize("kind", MODELS)
@given(data=st.data())
@settings(max_examples=15)
def test_sets_are_closed_under_ancestors(kind, data):
    taxonomy = data.draw(taxonomies(max_nodes=8))
    y = data.draw(label_sets(taxonomy))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    X = random.poisson(1.0, size=(len(y), 4))
    model = kind(taxonomy).fit(X, y)
    new = random.poisson(1.0, size=(10, 4))
    root = {taxonomy.root} if taxonomy.has_artificial_root else set()
    for labels in model.predict_labels(new):
        for label in labels:
            assert set(taxonomy.ancestors(label)) - root <= set(labels)
    proba = model.predict_proba(new)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(word_probabilities(model).sum(axis=1), 1)


@pytest.mark.parametrize("kind", MODELS)
def test_weights_are_repetitions_and_order_does_not_matter(kind):
    X, y = make_items()
    random = np.random.default_rng(0)
    weights = random.integers(0, 3, size=len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    weighted = kind(TREE).fit(X, y, sample_weight=weights).decision_function(X)
    again = kind(TREE).fit(X[repeated], [y[i] for i in repeated]).decision_function(X)
    np.testing.assert_allclose(weighted, again, rtol=1e-7, atol=1e-9)
    order = random.permutation(len(y))
    shuffled = kind(TREE).fit(X[order], [y[i] for i in order]).decision_function(X)
    np.testing.assert_allclose(shuffled, kind(TREE).fit(X, y).decision_function(X))
    with pytest.raises(ValueError, match="weight"):
        kind(TREE).fit(X, y, sample_weight=np.zeros(len(y)))


@pytest.mark.parametrize("kind", MODELS)
def test_an_item_does_not_depend_on_the_batch_or_on_blocks(kind, monkeypatch):
    X, y = make_items(most=2)
    model = kind(TREE).fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.decision_function(X[5:9]), scores[5:9])
    sets = model.predict(X).toarray()
    monkeypatch.setattr(word_scores, "WORD_PROBABILITIES_AT_A_TIME", 40)
    monkeypatch.setattr(word_scorer, "WORD_SCORES_AT_A_TIME", 20)
    blocked = kind(TREE).fit(X, y)
    np.testing.assert_allclose(blocked.decision_function(X), scores, atol=1e-10)
    np.testing.assert_array_equal(blocked.predict(X).toarray(), sets)
    np.testing.assert_array_equal(
        blocked.decision_function(X)[5:9], blocked.decision_function(X[5:9])
    )


@pytest.mark.parametrize("kind", MODELS)
def test_saved_models_say_the_same(kind):
    X, y = make_items(most=2)
    model = kind(TREE).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("kind", MODELS)
def test_small_problems(kind):
    one = kind().fit([[1, 2]], ["a"])
    assert one.predict([[0, 1]]).tolist() == ["a"]
    assert one.predict_proba([[3, 0]]).tolist() == [[1.0]]
    sets = kind(TREE).fit([[1, 2]], [["cat", "oak"]])
    assert len(set(sets.predict_labels([[1, 2]])[0]) & set(sets.classes_)) == 2
    empty = kind().fit([[0, 0], [0, 0], [0, 0]], ["a", "b", "b"])
    np.testing.assert_allclose(empty.predict_proba([[1, 1]]), [[0.4, 0.6]])
    two = kind().fit([[3, 0], [0, 3]], ["a", "b"])
    scores = two.decision_function([[1, 0], [0, 1]])
    assert scores.shape == (2,)
    assert scores[0] < 0 < scores[1]


def test_memory_grows_with_counts_not_with_categories_times_words():
    random = np.random.default_rng(0)
    n_items, n_categories, n_words = 2_000, 1_000, 40_000
    words = random.integers(n_words, size=(n_items, 10)).ravel()
    items = np.repeat(np.arange(n_items), 10)
    X = csr_array((np.ones(len(items)), (items, words)), shape=(n_items, n_words))
    y = [f"{i % 40} > {i % n_categories}" for i in range(n_items)]
    taxonomy = Taxonomy.from_paths(sorted(set(y)))
    y = [path.split(" > ")[1] for path in y]
    HierarchicalMixture(taxonomy).fit(X[:50], y[:50])
    tracemalloc.start()
    model = HierarchicalMixture(taxonomy).fit(X, y)
    predicted = model.predict(X[:20])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Predicting holds a block of words at a time.
    assert peak < 0.4 * 8 * n_categories * n_words
    assert (predicted == y[:20]).mean() > 0.9

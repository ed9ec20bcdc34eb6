"""``ThresholdedKNN``, against brute force."""

from __future__ import annotations

import pickle
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix
from sklearn.base import clone

from taxonomist import Taxonomy, ThresholdedKNN
from taxonomist.compiled import neighbours
from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.errors import LabelError
from taxonomist.inference.label_sets import CategoryThresholds, Threshold

TREE = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak", "plant > elm"])
ZERO = Threshold(value=0.0, calibrated=False)


def make_items(seed=0, n_items=40, n_features=12):
    random = np.random.default_rng(seed)
    leaves = ["cat", "dog", "oak", "elm"]
    X = random.poisson(0.3, size=(n_items, n_features)).astype(float)
    y = []
    for i in range(n_items):
        labels = random.choice(leaves, size=random.integers(0, 3), replace=False).tolist()
        for label in labels:
            X[i, 3 * leaves.index(label) : 3 * leaves.index(label) + 3] += random.poisson(1.0, 3)
        y.append(labels)
    return X, y


def naive_vectors(train, rows):
    """Return tf-idf vectors of length 1 (1 + log tf) log N / df, item by item."""
    n_items, n_features = train.shape
    df = [(train[:, w] > 0).sum() for w in range(n_features)]
    out = np.zeros(rows.shape)
    for i, w in zip(*np.nonzero(rows), strict=True):
        out[i, w] = (1 + log(rows[i, w])) * (log(n_items / df[w]) if df[w] else 0.0)
    lengths = np.linalg.norm(out, axis=1, keepdims=True)
    return out / np.where(lengths > 0, lengths, 1)


def naive_votes(vectors, train, Y, k, left_out=None):
    """Return the sums of Eq. 15 from sorted lists of all training items."""
    votes = np.zeros((len(vectors), Y.shape[1]))
    for i, vector in enumerate(vectors):
        near = [(-(vector @ other), j) for j, other in enumerate(train)]
        near = [(s, j) for s, j in near if left_out is None or j != left_out[i]]
        for s, j in sorted(near)[:k]:
            votes[i] += max(-s, 0.0) * Y[j]
    return votes


def brute_force_threshold(votes, truth):
    """Return the highest threshold from 0 with the best F1, halfway between two votes."""
    steps = [0.0, *sorted(set(votes[votes > 0]))]
    cuts = [(low + high) / 2 for low, high in pairwise(steps)]
    scored = []
    for cut in cuts:
        chosen = votes > cut
        scored.append((2 * (chosen & truth).sum() / (chosen.sum() + truth.sum()), cut))
    best = max(scored, default=(0.0, 0.0))
    return best[1] if best[0] > 0 else None


@pytest.mark.equation("TCPH01:15")
@pytest.mark.parametrize("k", [1, 3, 7, 100])
def test_scores_and_thresholds_are_those_of_brute_force(k):
    X, y = make_items()
    X[5] = 0
    new = make_items(seed=1)[0]
    model = ThresholdedKNN(TREE, n_neighbors=k).fit(X, y)
    Y = np.array([[label in item for label in model.classes_] for item in y])
    train = naive_vectors(X, X)
    own = naive_votes(train, train, Y, k, left_out=range(len(X)))
    thresholds = model.decision_.thresholds
    for c in range(Y.shape[1]):
        assert thresholds[c] == pytest.approx(brute_force_threshold(own[:, c], Y[:, c]))
    expected = naive_votes(naive_vectors(X, new), train, Y, k) - thresholds
    found = model.decision_function(new)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(
        model.predict(new).toarray(), (expected > 0).astype(int), strict=True
    )


def test_single_labels_take_the_best_score():
    X, y = make_items(seed=2)
    first = [item[0] if item else "elm" for item in y]
    model = ThresholdedKNN(TREE, n_neighbors=5).fit(X, first)
    scores = model.decision_function(X)
    assert scores.shape == (40, 4)
    assert model.predict(X).tolist() == model.classes_[scores.argmax(axis=1)].tolist()
    assert model.predict_paths(X)[0] == TREE.paths(model.predict(X)[0])[0]
    two = ThresholdedKNN(n_neighbors=5).fit(X, np.arange(40) % 2)
    assert two.decision_function(X).shape == (40,)
    assert two.predict(X).tolist() == (two.decision_function(X) > 0).astype(int).tolist()


counts = arrays.arrays(float, (5, 4), elements=st.integers(0, 2))


@given(counts, arrays.arrays(bool, (5, 3)), st.lists(st.integers(0, 3), min_size=5, max_size=5))
def test_an_item_of_weight_two_is_two_items(X, Y, weights):
    if not any(weights) or not Y[np.array(weights) > 0].any():
        return
    rows = np.repeat(np.arange(5), weights)
    one = ThresholdedKNN(n_neighbors=2).fit(X, Y.astype(int), sample_weight=weights)
    other = ThresholdedKNN(n_neighbors=2).fit(X[rows], Y[rows].astype(int))
    np.testing.assert_allclose(one.decision_.thresholds, other.decision_.thresholds, atol=1e-12)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-12)


def test_parts_of_weights_fill_k():
    X = np.eye(3)[[0, 0, 0, 1]] + np.eye(3)[[0, 0, 2, 2]] * 0.5
    plain = {"tfidf": False, "decision": ZERO}
    model = ThresholdedKNN(n_neighbors=1, **plain)
    model.fit(X, ["a", "b", "c", "c"], sample_weight=[0.4, 0.4, 0.4, 0.4])
    near = 2 / np.sqrt(5)
    found = model.decision_function([[1.0, 0, 0]])
    assert found == pytest.approx(np.array([[0.4, 0.4, 0.2 * near]]))


@pytest.mark.parametrize("form", [np.asarray, csr_matrix, csr_array, coo_array, csc_array, list])
def test_forms_of_items_and_labels(form):
    X, y = make_items(seed=3)
    reference = ThresholdedKNN(TREE, n_neighbors=4).fit(X, y)
    given = X.tolist() if form is list else form(X)
    model = ThresholdedKNN(TREE, n_neighbors=4).fit(given, y)
    assert (model.decision_function(given) == reference.decision_function(X)).all()
    untouched = given if form in (np.asarray, list) else given.toarray()
    assert (np.asarray(untouched) == make_items(seed=3)[0]).all()
    leaves = [TREE.nodes[code] for code in np.flatnonzero(TREE.is_leaf)]
    table = np.array([[leaf in item for leaf in leaves] for item in y], dtype=int)
    by_table = ThresholdedKNN(TREE, n_neighbors=4).fit(X, table)
    assert by_table.predict(X).tolist() == reference.predict(X).toarray().tolist()


def test_sets_are_closed_under_ancestors_and_have_least_labels():
    X, y = make_items(seed=4)
    model = ThresholdedKNN(TREE, n_neighbors=4).fit(X, y)
    for labels in model.predict_labels(X):
        assert {TREE.parents(label)[0] for label in labels} <= {*labels, TREE.root}
    assert any(not labels for labels in model.predict_labels(X))
    more = ThresholdedKNN(TREE, n_neighbors=4, min_labels=1).fit(X, y)
    assert all(more.predict_labels(X))
    assert more.label_limits_ == (1, 4)


def test_threads_and_batches_change_nothing():
    X, y = make_items(seed=5, n_items=300)
    one = ThresholdedKNN(TREE, n_neighbors=9, n_jobs=1).fit(X, y)
    two = ThresholdedKNN(TREE, n_neighbors=9, n_jobs=2).fit(csr_array(X), y)
    assert (one.decision_.thresholds == two.decision_.thresholds).all()
    together = one.decision_function(X)
    assert (two.decision_function(X) == together).all()
    alone = np.vstack([one.decision_function(X[[i]]) for i in range(40)])
    assert (alone == together[:40]).all()
    again = pickle.loads(pickle.dumps(one))
    assert (again.decision_function(X) == together).all()


def test_blocks_of_left_out_items(monkeypatch):
    from taxonomist.inference import scorers

    X, y = make_items(seed=6)
    model = ThresholdedKNN(TREE, n_neighbors=4).fit(X, y)
    scores, sets = model.decision_function(X), model.predict_labels(X)
    monkeypatch.setattr(scorers, "SCORES_AT_A_TIME", 12)
    small = clone(model).fit(X, y)
    assert (small.decision_function(X) == scores).all()
    assert small.predict_labels(X) == sets


def test_of_equally_near_items_the_first_vote():
    X = [[1.0, 0], [1, 0], [1, 0], [0, 1]]
    model = ThresholdedKNN(n_neighbors=2, tfidf=False, decision=ZERO)
    model.fit(X, ["a", "b", "c", "d"])
    assert model.decision_function([[2.0, 0]]).tolist() == [[1, 1, 0, 0]]


def test_other_features_may_be_negative_but_are_no_neighbours():
    X = np.array([[1.0, -1], [-1, 1], [1, 1]])
    model = ThresholdedKNN(n_neighbors=3, tfidf=False, decision=ZERO).fit(X, ["a", "b", "c"])
    assert model.decision_function(X) == pytest.approx(np.eye(3))
    with pytest.raises(ValueError, match="Negative values in data .* tfidf=False"):
        ThresholdedKNN().fit(X, ["a", "b", "c"])
    fitted = ThresholdedKNN().fit(np.abs(X), ["a", "b", "c"])
    with pytest.raises(ValueError, match="Negative values"):
        fitted.predict(X)


@pytest.mark.parametrize("rule", ["threshold", "category_thresholds", "size", "top_k"])
def test_other_rules_are_tuned_on_left_out_items(rule):
    X, y = make_items(seed=7)
    model = ThresholdedKNN(TREE, n_neighbors=6, decision=rule).fit(X, y)
    assert model.predict(X).shape == (40, 4)
    Y = np.array([[label in item for label in model.classes_] for item in y])
    train = naive_vectors(X, X)
    own = naive_votes(train, train, Y, 6, left_out=range(len(X)))
    if rule == "category_thresholds":
        expected = CategoryThresholds().fit([(np.arange(40), own)], csr_array(Y), (0, 4))
        assert model.decision_.thresholds == pytest.approx(expected.thresholds)


def test_edges():
    alone = ThresholdedKNN().fit([[1.0, 2.0]], ["a"])
    assert alone.predict([[0.0, 3.0], [0, 0]]).tolist() == ["a", "a"]
    seen = ThresholdedKNN(TREE, n_neighbors=2).fit([[1.0, 0], [1, 0], [0, 1], [0, 1]], ["elm"] * 4)
    assert seen.classes_.tolist() == [TREE.nodes[c] for c in np.flatnonzero(TREE.is_leaf)]
    assert seen.predict([[1.0, 0]]).tolist() == ["elm"]
    assert len(set(seen.decision_.thresholds)) == 1
    with pytest.raises(ValueError, match="n_neighbors must be at least 1. Got 0"):
        ThresholdedKNN(n_neighbors=0).fit([[1.0]], ["a"])
    with pytest.raises(ValueError, match="[Ww]eight"):
        ThresholdedKNN().fit([[1.0]], ["a"], sample_weight=[0.0])
    with pytest.raises(ValueError, match="decision is 'thresholds'"):
        ThresholdedKNN(decision="thresholds").fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(LabelError, match="'cot'"):
        ThresholdedKNN(TREE).fit([[1.0]], ["cot"])
    with pytest.raises(ValueError, match="min_labels is 9"):
        ThresholdedKNN(TREE, min_labels=9).fit([[1.0]], [["cat"]])


@given(
    arrays.arrays(float, (4, 5), elements=st.integers(-1, 2)),
    arrays.arrays(float, (6, 5), elements=st.integers(-1, 2)),
    arrays.arrays(float, 6, elements=st.sampled_from([0.3, 1.0, 2.0])),
    st.integers(1, 4),
)
def test_the_loop_is_its_uncompiled_twin(new, train, weights, k):
    X, near, Y = csr_array(new), csr_array(train.T), csr_array(train[:, :3] > 0)
    arguments = (
        Rows(X.indptr, X.indices, X.data),
        Rows(near.indptr, near.indices, near.data),
        Labels(Y.indptr, Y.indices),
        weights,
        np.array([-1, 0, 5, 3]),
        k,
    )
    fast, plain = np.zeros((4, 3)), np.zeros((4, 3))
    neighbours.add_votes(*arguments, fast)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "_weight", neighbours._weight.py_func)
        neighbours.add_votes.py_func(*arguments, plain)
    np.testing.assert_allclose(fast, plain, rtol=1e-12)
    for i, own in enumerate([-1, 0, 5, 3]):
        left, expected = float(k), np.zeros(3)
        for j in sorted(range(6), key=lambda j: -(new[i] @ train[j])):
            part = min(left, max(weights[j] - (j == own), 0.0))
            if part > 0 and new[i] @ train[j] > 0:
                left -= part
                expected += part * (new[i] @ train[j]) * (train[j, :3] > 0)
        np.testing.assert_allclose(fast[i], expected, atol=1e-9)

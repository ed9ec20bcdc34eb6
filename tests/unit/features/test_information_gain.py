"""Information gain of features, against a naive computation."""

from __future__ import annotations

from math import log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array, csr_matrix
from sklearn.feature_selection import mutual_info_classif

from taxonomist.errors import LabelError
from taxonomist.features import InformationGainSelector
from taxonomist.features.information_gain import information_gain


def naive_gain(X, sets, w):
    """Return the gain of feature w term by term, from the pairs of an item and a label."""
    pairs = [(row[w] != 0, label) for row, item in zip(X, sets, strict=True) for label in item]
    if not pairs:
        return 0.0

    def entropy(chosen):
        found = [label for _, label in chosen]
        counts = [found.count(label) for label in set(found)]
        return -sum(n / len(found) * log(n / len(found)) for n in counts)

    gain = entropy(pairs)
    for has in (True, False):
        part = [pair for pair in pairs if pair[0] == has]
        if part:
            gain -= len(part) / len(pairs) * entropy(part)
    return gain


@st.composite
def labelled(draw):
    n_items = draw(st.integers(1, 8))
    X = draw(arrays.arrays(float, (n_items, 4), elements=st.sampled_from([0.0, 0.0, 1.0, -2.0])))
    sets = st.lists(st.sets(st.sampled_from("abc")), min_size=n_items, max_size=n_items)
    return X, draw(sets)


@pytest.mark.equation("TCPH01:10")
@given(labelled())
def test_gains_are_those_of_the_formula(data):
    X, sets = data
    Y = np.array([[label in item for label in "abc"] for item in sets])
    expected = [naive_gain(X, sets, w) for w in range(4)]
    for form in (np.asarray, csr_array, csr_matrix):
        found = information_gain(form(X), csr_array(Y))
        assert found == pytest.approx(expected, abs=1e-12)
        assert (found >= 0).all()
    as_sets = InformationGainSelector(2).fit(X, [sorted(item) for item in sets]).scores_
    assert as_sets == pytest.approx(expected, abs=1e-12)
    as_table = InformationGainSelector(2).fit(X, Y.astype(int)).scores_
    assert as_table == pytest.approx(expected, abs=1e-12)


@given(labelled(), st.randoms(use_true_random=False))
def test_order_of_items_and_features_does_not_matter(data, random):
    X, sets = data
    rows, columns = list(range(len(X))), list(range(4))
    random.shuffle(rows)
    random.shuffle(columns)
    gains = InformationGainSelector().fit(X, sets).scores_
    shuffled = InformationGainSelector().fit(X[rows][:, columns], [sets[i] for i in rows]).scores_
    assert shuffled == pytest.approx(gains[columns], abs=1e-12)


@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_with_single_labels_it_is_mutual_information():
    random = np.random.default_rng(0)
    X, y = (random.random((200, 6)) < 0.4).astype(float), random.integers(0, 3, 200)
    X[:, 0] = y == 1
    expected = mutual_info_classif(X, y, discrete_features=True)
    for labels in (y, y.astype(str), y[:, None], pd.Series(y), [[c] for c in y]):
        found = InformationGainSelector().fit(csr_array(X), labels).scores_
        assert found == pytest.approx(expected)


def test_selection():
    X = np.array([[1, 5, 0, 1], [1, 0, 2, 1], [0, 1, 0, 1], [0, 0, 1, 1]])
    y = ["a", "a", "b", "b"]
    selector = InformationGainSelector(2).fit(X, y)
    assert selector.get_support().tolist() == [True, True, False, False]
    assert selector.get_support(indices=True).tolist() == [0, 1]
    assert selector.transform(X).tolist() == X[:, :2].tolist()
    assert selector.transform(csr_matrix(X)).toarray().tolist() == X[:, :2].tolist()
    assert selector.get_feature_names_out(["w", "x", "y", "z"]).tolist() == ["w", "x"]
    frame = pd.DataFrame(X, columns=["w", "x", "y", "z"])
    assert InformationGainSelector(1).fit(frame, y).get_feature_names_out().tolist() == ["w"]
    assert InformationGainSelector(9).fit(X, y).get_support().all()
    # A word that all items have tells nothing, and so does one that is there half the time.
    assert selector.scores_[1:].tolist() == [0, 0, 0]


def test_stored_zeros_are_no_occurrences():
    X = csr_array(([0.0, 2.0], [0, 0], [0, 1, 2]), shape=(2, 1))
    assert InformationGainSelector().fit(X, ["a", "b"]).scores_ == pytest.approx([np.log(2)])


def test_labels_that_repeat_count_once():
    X = [[1, 0], [0, 1], [1, 1]]
    once = InformationGainSelector().fit(X, [["a"], ["a", "b"], ["b"]]).scores_
    again = InformationGainSelector().fit(X, [["a", "a"], ["a", "b"], ["b"]]).scores_
    assert (once == again).all()


def test_bad_input():
    with pytest.raises(ValueError, match="k must be a whole number, at least 1. Got 0"):
        InformationGainSelector(0).fit([[1]], ["a"])
    with pytest.raises(ValueError, match="y to be passed"):
        InformationGainSelector().fit([[1]], None)
    with pytest.raises(LabelError, match="only 0 and 1"):
        InformationGainSelector().fit([[1, 1], [1, 2]], np.array([[0, 2], [1, 0]]))
    with pytest.raises(ValueError, match="inconsistent"):
        InformationGainSelector().fit([[1], [2]], ["a"])
    assert InformationGainSelector().fit([[1], [0]], [[], []]).scores_.tolist() == [0.0]

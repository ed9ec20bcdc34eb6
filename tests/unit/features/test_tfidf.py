from math import log, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from taxonomist.features import SpectrumFeatures, TfidfFeatures, TfidfWeights
from taxonomist.features.tfidf import inverse_frequencies

TEXTS = ["the cat and the dog", "the dog", "a cat, the", "the end"]
counts = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=6)


def naive(train, rows):
    """Return counts times log2 N / N_u, where N_u > 0, item by item."""
    n = [sum(row[u] > 0 for row in train) for u in range(3)]
    return [[row[u] * log2(len(train) / n[u]) if n[u] else 0.0 for u in range(3)] for row in rows]


@given(counts, counts)
def test_weights_follow_the_formula(train, new):
    plain = TfidfWeights(normalize=False).fit(np.array(train, dtype=float))
    assert plain.transform(new).toarray() == pytest.approx(np.array(naive(train, new)))
    expected = np.array(naive(train, new))
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    normal = TfidfWeights().fit(train).transform(new).toarray()
    assert normal == pytest.approx(expected / np.where(lengths > 0, lengths, 1))


@given(counts)
def test_sublinear_weights_follow_the_formula(train):
    damped = [[1 + log(tf) if tf else 0.0 for tf in row] for row in train]
    expected = np.array(naive(train, damped)) * log(2)  # in nats, as the paper writes it
    plain = TfidfWeights(normalize=False, sublinear_tf=True).fit_transform(train)
    assert plain.toarray() * log(2) == pytest.approx(expected)
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    normal = TfidfWeights(sublinear_tf=True).fit_transform(train).toarray()
    assert normal == pytest.approx(expected / np.where(lengths > 0, lengths, 1))


@given(counts, st.data())
def test_an_item_of_weight_two_is_two_items(train, data):
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(train), max_size=len(train)))
    X = sparse.csr_array(np.array(train, dtype=float))
    repeated = X[np.repeat(np.arange(len(train)), weights)]
    found = inverse_frequencies(X, np.array(weights, dtype=float))
    assert found == pytest.approx(inverse_frequencies(repeated))


def test_a_feature_of_all_items_weighs_nothing_whatever_their_weights():
    X = sparse.csr_array(np.ones((10, 1)))
    assert inverse_frequencies(X, np.full(10, 0.1)).tolist() == [0.0]


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
def test_forms_of_counts(form):
    X = np.array([[2.0, 1, 0], [1, 0, 0]])
    given = form(X)
    weighted = TfidfWeights(normalize=False).fit_transform(given)
    assert weighted.format == "csr"
    assert weighted.toarray().tolist() == [[0, 1, 0], [0, 0, 0]]
    assert weighted.nnz == 1
    untouched = given if isinstance(given, np.ndarray) else given.toarray()
    assert (untouched == X).all()


def test_stored_zeros_are_no_occurrences():
    X = sparse.csr_array(([0.0, 2.0], [0, 0], [0, 1, 2]), shape=(2, 1))
    assert TfidfWeights().fit(X).idf_.tolist() == [1.0]


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="Negative values"):
        TfidfWeights().fit([[-1.0]])


def test_words_are_counted_and_weighted():
    words = TfidfFeatures(normalize=False)
    X = words.fit_transform(TEXTS).toarray()
    names = words.get_feature_names_out().tolist()
    assert names == ["a", "and", "cat", "dog", "end", "the"]
    assert words.idf_.tolist() == [2, 2, 1, 1, 2, 0]
    assert X[0].tolist() == [0, 2, 1, 1, 0, 0]
    assert words.transform(["cat cat unknown the"]).toarray().tolist() == [[0, 0, 2, 0, 0, 0]]
    assert (words.transform(TEXTS).toarray() == X).all()


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_both_forms_agree(normalize, dtype):
    words = TfidfFeatures((1, 2), normalize=normalize, dtype=dtype).fit_transform(TEXTS)
    counts = SpectrumFeatures((1, 2), unit="word", normalize=False, dtype=dtype)
    weights = TfidfWeights(normalize=normalize)
    assert words.dtype == dtype
    assert (words != weights.fit_transform(counts.fit_transform(TEXTS))).nnz == 0


def test_counts_of_scikit_learn_can_be_weighted():
    vectorizer = CountVectorizer(token_pattern=r"\w+")
    weighted = TfidfWeights().fit_transform(vectorizer.fit_transform(TEXTS))
    assert weighted.toarray() == pytest.approx(TfidfFeatures().fit_transform(TEXTS).toarray())


def test_one_item_weighs_nothing():
    assert TfidfFeatures().fit_transform(["a b"]).nnz == 0


def test_given_words_only():
    words = TfidfFeatures(alphabet=["cat", "dog"], outside="skip", normalize=False).fit(TEXTS)
    assert words.get_feature_names_out().tolist() == ["cat", "dog"]
    assert words.letters_.tolist() == ["cat", "dog"]
    with pytest.raises(ValueError, match="Item 0 has 'the' at index 0"):
        TfidfFeatures(alphabet=["cat", "dog"]).fit(TEXTS)

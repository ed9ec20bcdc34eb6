import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from taxonomist.features import AMINO_ACIDS, SpectrumFeatures, substrings
from taxonomist.features.letters import Letters
from tests.unit.features.naive import items, ranges, weighted_substrings

decays = st.sampled_from([0.0, 0.3, 1.0])


def features(transformer, X):
    """Return the features of each item as a mapping from names, without zeros."""
    names = transformer.get_feature_names_out()
    return [
        {names[f]: row[f] for f in np.flatnonzero(row)}
        for row in transformer.transform(X).toarray()
    ]


def expected(item, known, **options):
    weights = weighted_substrings(item, **options)
    return {
        "".join(u): pytest.approx(weight)
        for u, weight in weights.items()
        if "".join(u) in known and weight
    }


@given(items, items, ranges, st.integers(0, 3), decays)
def test_weights_are_those_of_all_occurrences(train, new, lengths, max_gaps, decay):
    spectrum = SpectrumFeatures(lengths, max_gaps=max_gaps, decay=decay, normalize=False)
    occurring = set()
    for item in train:
        occurring |= {"".join(u) for u in weighted_substrings(item, lengths, max_gaps)}
    if not occurring:
        with pytest.raises(ValueError, match="has a substring of"):
            spectrum.fit(train)
        return
    X = spectrum.fit_transform(train)
    names = spectrum.get_feature_names_out().tolist()
    assert names == sorted(occurring, key=lambda name: (len(name), name))
    assert X.shape == (len(train), len(names))
    assert X.has_canonical_format
    assert (spectrum.transform(train) != X).nnz == 0
    options = {"lengths": lengths, "max_gaps": max_gaps, "decay": decay}
    for item, found in zip(train + new, features(spectrum, train + new), strict=True):
        assert found == expected(item, set(names), **options)


@pytest.mark.parametrize("largest_table", [0, 30])
@pytest.mark.parametrize("block_letters", [1, 5, 2**20])
@given(train=items, new=items, lengths=ranges, max_gaps=st.integers(0, 2))
def test_blocks_and_tables_change_nothing(
    largest_table, block_letters, train, new, lengths, max_gaps
):
    spectrum = SpectrumFeatures(lengths, max_gaps=max_gaps)
    other = clone(spectrum)
    train = [*train, "abcab" * 2]
    X, X_new = spectrum.fit_transform(train), spectrum.transform(new)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(substrings, "BLOCK_LETTERS", block_letters)
        patch.setattr(substrings, "LARGEST_TABLE", largest_table)
        assert (other.fit_transform(train) != X).nnz == 0
        assert (other.transform(train) != X).nnz == 0
        assert (other.transform(new) != X_new).nnz == 0
        assert other.transform([]).shape == (0, X.shape[1])
    assert other.get_feature_names_out().tolist() == spectrum.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    ("block_letters", "sizes"), [(1, [1, 1, 3, 1]), (4, [2, 3, 1]), (100, [6])]
)
def test_blocks_are_of_whole_items(monkeypatch, block_letters, sizes):
    monkeypatch.setattr(substrings, "BLOCK_LETTERS", block_letters)
    ends = np.cumsum([0, 2, 2, 1, 0, 0, 9])
    blocks = list(substrings._blocks(Letters(np.arange(14), ends), 14, 0))
    assert [block.n_items for block in blocks] == sizes
    assert np.concatenate([block.codes for block in blocks]).tolist() == list(range(14))


@given(items, ranges)
def test_contiguous_counts_are_those_of_scikit_learn(train, lengths):
    train = [*train, "abcab"]
    ours = SpectrumFeatures(lengths, normalize=False).fit(train)
    theirs = CountVectorizer(analyzer="char", ngram_range=lengths).fit(train)
    order = [theirs.vocabulary_[name] for name in ours.get_feature_names_out()]
    assert len(order) == len(theirs.vocabulary_)
    counts = theirs.transform(train).toarray()[:, order]
    assert (ours.transform(train).toarray() == counts).all()


@given(items, st.integers(0, 2))
def test_letters_outside_an_alphabet_do_not_count(train, max_gaps):
    train = [*train, "abab"]
    options = {"lengths": (1, 3), "max_gaps": max_gaps}
    spectrum = SpectrumFeatures(
        **options, decay=0.5, alphabet="ba", outside="skip", normalize=False
    ).fit(train)
    known = set(spectrum.get_feature_names_out())
    for item, found in zip(train, features(spectrum, train), strict=True):
        assert found == expected(item, known, **options, decay=0.5, alphabet="ab")


@given(items, st.permutations(range(6)))
def test_an_item_does_not_depend_on_the_others(train, order):
    train = [*train, "abcab"]
    spectrum = SpectrumFeatures(2, max_gaps=1).fit(train)
    X = spectrum.transform(train).toarray()
    chosen = [i for i in order if i < len(train)]
    assert (spectrum.transform([train[i] for i in chosen]).toarray() == X[chosen]).all()
    assert (clone(spectrum).fit_transform([train[i] for i in chosen]).toarray() == X[chosen]).all()


def test_words_and_their_names():
    texts = ["The cat was chased by the fat dog"]
    bag = SpectrumFeatures(1, unit="word", normalize=False).fit(texts)
    assert features(bag, texts) == [
        {"the": 2, "cat": 1, "was": 1, "chased": 1, "by": 1, "fat": 1, "dog": 1}
    ]
    pairs = SpectrumFeatures(2, unit="word", normalize=False).fit(["a b a b"])
    assert features(pairs, ["a b", "b a b c a"]) == [{"a b": 1}, {"a b": 1, "b a": 1}]
    tokens = SpectrumFeatures(2, normalize=False).fit([["ab", "c"], ["a", "bc"]])
    assert sorted(tokens.get_feature_names_out()) == ["a bc", "ab c"]


def test_strings_and_lists_of_letters_may_be_mixed():
    spectrum = SpectrumFeatures(2, normalize=False).fit(["abc"])
    X = spectrum.transform(["abc", list("abc"), np.array(list("abc"))]).toarray()
    assert (X == [[1, 1]] * 3).all()


def test_normalised_items_have_length_one_or_nothing():
    spectrum = SpectrumFeatures(2).fit(["abab", "ba"])
    X = spectrum.transform(["abab", "b", "", "xyz", "bab"])
    assert np.linalg.norm(X.toarray(), axis=1) == pytest.approx([1, 0, 0, 0, 1])
    assert X[[0]].toarray().ravel() == pytest.approx(np.array([2, 1]) / 5**0.5)


@pytest.mark.parametrize("dtype", ["float32", "float64", np.float32, np.dtype("float64")])
@pytest.mark.parametrize("normalize", [True, False])
def test_types(dtype, normalize):
    spectrum = SpectrumFeatures(2, normalize=normalize, dtype=dtype, max_gaps=1)
    for X in (spectrum.fit_transform(["abc", "b"]), spectrum.transform(["ab"])):
        assert X.dtype == np.dtype(dtype)
        assert X.format == "csr"
        assert X.indices.dtype == X.indptr.dtype == np.int32


def test_letters_that_are_new_do_not_count():
    spectrum = SpectrumFeatures((1, 2), normalize=False).fit(["ab"])
    assert features(spectrum, ["aXb", "\U0001f600", "ba"]) == [
        {"a": 1, "b": 1},
        {},
        {"a": 1, "b": 1},
    ]


def test_letters_outside_are_an_error_in_fit_and_in_transform():
    message = "Item 1 has 'X' at index 2, which is not in the alphabet 'ACDEFGHIKLMNPQRSTVWY'"
    spectrum = SpectrumFeatures(2, alphabet=AMINO_ACIDS)
    with pytest.raises(ValueError, match=message):
        spectrum.fit(["ACD", "ACX"])
    spectrum.fit(["ACD"])
    with pytest.raises(ValueError, match=message):
        spectrum.transform(["ACD", "ACX"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lengths": 0}, "lengths must be a whole number, at least 1"),
        ({"lengths": (3, 2)}, "in ascending order. Got \\(3, 2\\)"),
        ({"lengths": (1, 2, 3)}, "lengths must be"),
        ({"lengths": 2.5}, "lengths must be"),
        ({"lengths": "ab"}, "lengths must be"),
        ({"lengths": None}, "lengths must be"),
        ({"lengths": True}, "lengths must be"),
        ({"max_gaps": -1}, "max_gaps must be a whole number, at least 0. Got -1"),
        ({"max_gaps": 1.5}, "max_gaps must be"),
        ({"decay": 1.5}, "decay must be from 0 to 1. Got 1.5"),
        ({"decay": float("nan")}, "decay must be from 0 to 1"),
        ({"dtype": "int32"}, "dtype must be one of float32, float64. Got 'int32'"),
        ({"outside": "drop"}, "outside must be one of"),
        ({"unit": "words"}, "Did you mean 'word'"),
    ],
)
def test_parameters_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SpectrumFeatures(**options).fit(["abcd"])


@pytest.mark.parametrize("lengths", [2, np.int64(2), (2, 2), [2, 2], np.array([2, 2])])
def test_forms_of_lengths(lengths):
    assert SpectrumFeatures(lengths).fit(["aba"]).get_feature_names_out().tolist() == ["ab", "ba"]


@pytest.mark.parametrize("train", [[], [""], ["abc"], [[]]])
def test_nothing_to_learn_from(train):
    with pytest.raises(ValueError, match=f"None of the {len(train)} items has a substring of 4"):
        SpectrumFeatures().fit(train)


def test_pickles_are_small_and_the_same():
    spectrum = SpectrumFeatures(3).fit(["abcabd" * 5, "xyz\U0010ffff"])
    stored = pickle.dumps(spectrum)
    assert len(stored) < 5_000
    again = pickle.loads(stored)
    assert (spectrum.transform(["abcxyz"]) != again.transform(["abcxyz"])).nnz == 0


def test_names_in_a_pipeline():
    pipeline = make_pipeline(SpectrumFeatures(1)).fit(["ab"])
    assert pipeline.get_feature_names_out().tolist() == ["a", "b"]


def test_substrings_may_be_long():
    text = "".join(chr(200 + k) for k in range(100))
    spectrum = SpectrumFeatures(60, normalize=False).fit([text])
    assert spectrum.transform([text]).sum() == 41
    assert spectrum.get_feature_names_out()[0] == text[:60]


def test_the_length_4_spectrum_of_proteins(load_corpus):
    train = load_corpus("enzyme-ec").train().texts
    X = SpectrumFeatures(4, normalize=False).fit_transform(train)
    assert X.shape == (7700, 157_292)
    assert X.sum() == sum(max(0, len(text) - 3) for text in train)


def test_keys_are_of_machine_size():
    letters = Letters(np.array([0, 7]), np.array([0, 2]))
    block = substrings.ItemBlock(letters, n_kinds=2**20, max_gaps=0)
    shorter = substrings.Occurrences(0, np.array([5_000, 0], dtype=np.int32))
    assert block.extend([shorter], 2)[0].numbers.tolist() == [5_000 * 2**20 + 7]

"""Contexts of a word against features that are read off token by token."""

import re
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

from taxonomist import HierarchicalSVC, Taxonomy
from taxonomist.features import ContextFeatures
from taxonomist.features.contexts import COLLOCATIONS
from taxonomist.persistence import load, save

PASSAGES = [
    ("They left the", "bar", "at two."),
    ("He has raised the", "bars", "", "bar"),
    ("", "Bar", "none, they left"),
    ([], "art", ["at", "two"], "art"),
]

tokens = st.lists(st.sampled_from(["a", "b", "c", ".", "1"]), max_size=5)
contexts = st.tuples(tokens, st.sampled_from(["bar", "Bars"]), tokens, st.sampled_from("xy"))
spans = st.tuples(st.integers(-3, 3), st.integers(-3, 3)).map(sorted).map(tuple)


def naive_names(item, collocations, window, has_lemma):
    """Return the names of an item's features by kind, from a row of all places."""
    left, target, right, lemma = item
    row = {k - len(left): token for k, token in enumerate(left)}
    row |= {k + 1: token for k, token in enumerate(right)}
    phrases = set()
    for first, last in collocations:
        words = [row.get(k, "") if k else "_" for k in range(first, last + 1)]
        if (first, last) == (0, 0):
            words = [target.lower()]
        phrases.add(f"({first}, {last}) " + " ".join(words))
    near = [row[k] for k in row if window is None or abs(k) <= window]
    bag = {f"word {token}" for token in near if re.search(r"\w", token)}
    return phrases, bag, {f"lemma {lemma}"} if has_lemma else set()


@given(
    st.lists(contexts, min_size=1, max_size=6),
    st.lists(contexts, max_size=3),
    st.lists(spans, max_size=4),
    st.none() | st.integers(0, 6),
    st.integers(1, 3),
    st.sampled_from([0.0, 1.0, 2.5]),
    st.booleans(),
)
def test_naive_twin(train, test, collocations, window, min_df, weight, normalize):
    features = ContextFeatures(
        collocations, window=window, min_df=min_df, lemma_weight=weight, normalize=normalize
    )
    found = [naive_names(item, collocations, window, weight > 0) for item in train]
    kept = []
    for kind, least in enumerate((min_df, min_df, 1)):
        names = {name for item in found for name in item[kind]}
        often = [n for n in sorted(names) if sum(n in item[kind] for item in found) >= least]
        kept.append(often)
    if not any(kept):
        with pytest.raises(ValueError, match="smaller min_df"):
            features.fit(train)
        return
    X = features.fit_transform(train)
    assert features.get_feature_names_out().tolist() == [*chain(*kept)]
    assert X.format == "csr"
    np.testing.assert_array_equal(X.toarray(), features.transform(train).toarray())
    for items, rows in ((train, X), (test, features.transform(test))):
        expected = []
        for item in items:
            row = []
            for kind, names in enumerate(naive_names(item, collocations, window, weight > 0)):
                part = np.array([float(name in names) for name in kept[kind]])
                length = np.linalg.norm(part) if normalize and kind < 2 else 0.0
                row.append(part / (length or 1.0) * (weight if kind == 2 else 1.0))
            expected.append(np.concatenate(row))
        wanted = np.reshape(expected, (len(items), X.shape[1]))
        np.testing.assert_allclose(rows.toarray(), wanted, rtol=1e-12)


def test_strings_are_split_into_words_and_punctuation_marks():
    features = ContextFeatures([(1, 3)], min_df=1, lemma_weight=0).fit(PASSAGES[:1])
    assert features.names_.tolist() == [
        "(1, 3) at two .",
        *(f"word {word}" for word in ("at", "left", "the", "they", "two")),
    ]


def test_the_lemma_is_the_target_unless_it_is_given():
    features = ContextFeatures([], window=0, min_df=1, lemma_weight=3)
    assert features.fit_transform(PASSAGES).toarray().tolist() == [[0, 3]] * 3 + [[3, 0]]
    assert features.names_.tolist() == ["lemma art", "lemma bar"]
    assert features.transform([("", "chair", "")]).nnz == 0


def test_the_target_itself_is_in_lower_case():
    features = ContextFeatures([(0, 0)], window=0, min_df=1, lemma_weight=0).fit(PASSAGES)
    assert features.names_.tolist() == ["(0, 0) art", "(0, 0) bar", "(0, 0) bars"]


def test_other_units():
    features = ContextFeatures([(-1, -1)], window=0, min_df=1, lemma_weight=0, unit=str.split)
    assert features.fit([("A B.", "x", "")]).names_.tolist() == ["(-1, -1) B."]
    letters = features.set_params(unit="char").fit([("A B.", "x", "")])
    assert letters.names_.tolist() == ["(-1, -1) ."]


def test_forms_of_collections_and_no_items():
    features = ContextFeatures(min_df=1).fit(PASSAGES)
    X = features.transform(PASSAGES)
    column = np.empty(len(PASSAGES), dtype=object)
    column[:] = PASSAGES
    assert (features.transform(column) != X).nnz == 0
    assert (features.transform(iter([list(item) for item in PASSAGES])) != X).nnz == 0
    assert features.transform([]).shape == (0, X.shape[1])


def test_collocations_that_come_twice_count_once():
    once, twice = (ContextFeatures([(1, 1)] * n, min_df=1).fit_transform(PASSAGES) for n in (1, 2))
    assert (once != twice).nnz == 0
    assert len(set(COLLOCATIONS)) == len(COLLOCATIONS) == 14


@pytest.mark.parametrize(
    "item",
    ["They left", ("a", "b"), ("a", "b", "c", "d", "e"), ("a", ["b"], "c"), ("a", "b", "c", 1), 7],
)
def test_items_of_other_forms_are_refused(item):
    with pytest.raises(TypeError, match="Item 1 is .*triples"):
        ContextFeatures().fit([PASSAGES[0], item])


def test_parts_that_are_no_text_and_single_strings_are_refused():
    with pytest.raises(TypeError, match="must be strings"):
        ContextFeatures().fit([(None, "bar", "")])
    with pytest.raises(TypeError, match="one string"):
        ContextFeatures().fit("They left the bar")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"collocations": [(1, -1)]}, "collocations"),
        ({"collocations": [1, 2]}, "collocations"),
        ({"collocations": 3}, "collocations"),
        ({"window": -1}, "window"),
        ({"min_df": 0}, "min_df"),
        ({"lemma_weight": -1.0}, "lemma_weight"),
        ({"lemma_weight": float("nan")}, "lemma_weight"),
        ({"unit": "tokens"}, "unit"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        ContextFeatures(**parameters).fit(PASSAGES)


def test_in_front_of_a_model_and_in_a_file(tmp_path):
    taxonomy = Taxonomy.from_paths(["thing > bar", "act > barring", "act > art"])
    senses = ["bar", "barring", "barring", "art"]
    model = make_pipeline(ContextFeatures(min_df=1), HierarchicalSVC(taxonomy, random_state=0))
    model.fit(PASSAGES, senses)
    assert model.predict(PASSAGES).tolist() == senses
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again[0].get_feature_names_out().tolist() == model[0].names_.tolist()
    expected = model.decision_function(PASSAGES)
    np.testing.assert_array_equal(again.decision_function(PASSAGES), expected)

"""``CountedTexts``: tokenised once, and the same as texts to everything that is fitted to them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import _safe_indexing

from taxonomist.errors import ParameterError
from taxonomist.features import TextFeatures
from taxonomist.features.counted_texts import CountedTexts

WORD = st.sampled_from(["cat", "dog", "bird", "Fish", "fish", "7", "事象の地", "x", "über"])
TEXT = st.lists(WORD, max_size=8).map(" ".join)
OPTIONS = st.fixed_dictionaries(
    {
        "words": st.sampled_from([(1, 1), (1, 2), (2, 2), None]),
        "characters": st.sampled_from([None, (2, 3)]),
        "min_df": st.integers(1, 3),
        "max_features": st.sampled_from([None, 1, 3]),
    }
).filter(lambda options: options["words"] or options["characters"])


@st.composite
def items_of_one_kind(draw):
    """Return items that are texts, tuples of texts or mappings, and the weights of their parts."""
    kind = draw(st.sampled_from(["text", "pair", "mapping"]))
    if kind == "text":
        return draw(st.lists(TEXT, min_size=1, max_size=8)), None
    pairs = draw(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8))
    weights = draw(st.sampled_from([None, [3.0, 1.0], [0.0, 0.1]]))
    if kind == "pair":
        return pairs, weights
    return [{"title": title, "text": text} for title, text in pairs], weights


def same_matrix(one, other):
    assert one.shape == other.shape
    for part in ("data", "indices", "indptr"):
        a, b = getattr(one, part), getattr(other, part)
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()


def state(features):
    return {**vars(features), "terms_": features.terms_.tolist(), "idf_": features.idf_.tobytes()}


@given(data=st.data(), given_items=items_of_one_kind(), options=OPTIONS)
def test_subsets_give_what_their_texts_give_to_the_byte(data, given_items, options):
    items, weights = given_items
    options["weights"] = weights
    chosen = data.draw(st.lists(st.integers(0, len(items) - 1), min_size=1, max_size=10))
    counted = TextFeatures(**options).count(items)
    plain, fast = TextFeatures(**options), TextFeatures(**options)
    texts = [items[i] for i in chosen]
    try:
        counts = plain.fit_counts(texts)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20]):
            fast.fit_counts(counted[np.array(chosen)])
        return
    same_matrix(fast.fit_counts(counted[np.array(chosen)]), counts)
    assert state(fast) == state(plain)
    same_matrix(fast.counts(counted), plain.counts(items))
    same_matrix(fast.transform(counted[1:]), plain.transform(items[1:]))
    # What is fitted counts as it was fitted.
    same_matrix(plain.counts(plain.count(items)), plain.counts(items))


def test_it_is_indexed_like_an_array():
    texts = ["cat", "dog dog", "", "bird"]
    counted = TextFeatures(min_df=1).count(iter(texts))
    assert isinstance(counted, CountedTexts)
    assert (len(counted), counted.shape, list(counted)) == (4, (4,), texts)
    assert counted[1] == counted[np.int64(1)] == "dog dog"
    assert list(counted[[True, False, False, True]]) == ["cat", "bird"]
    assert list(counted[-2:]) == ["", "bird"]
    assert list(_safe_indexing(counted, np.array([3, 0, 3]))) == ["bird", "cat", "bird"]
    assert list(pickle.loads(pickle.dumps(counted))[:1]) == ["cat"]
    # Once more from texts that are counted already.
    again = TextFeatures(min_df=1).count(counted)
    same_matrix(TextFeatures(min_df=1).fit_counts(again), TextFeatures(min_df=1).fit_counts(texts))


def test_texts_are_split_once_for_all_sets_of_terms():
    texts = ["cat dog", "cat dog bird"]
    counted = TextFeatures(words=(1, 2)).count(texts)
    for options in ({}, {"characters": (3, 5)}, {"words": (2, 2)}):
        same_matrix(
            TextFeatures(**options).fit_counts(counted), TextFeatures(**options).fit_counts(texts)
        )


def test_texts_with_other_columns_are_refused():
    with pytest.raises(ParameterError, match="count them again"):
        TextFeatures().fit(["cat cat", "cat"]).transform(TextFeatures().count([("cat", "dog")]))
    titles = TextFeatures(weights=[2, 1]).count([{"title": "cat", "text": "dog"}] * 2)
    assert TextFeatures(weights={"title": 2}).fit(titles).columns_ == ["title", "text"]
    with pytest.raises(ParameterError, match="count them again"):
        TextFeatures().fit(["cat", "dog"]).transform(titles)
    with pytest.raises(TypeError, match="not a single text"):
        TextFeatures().count("cat")

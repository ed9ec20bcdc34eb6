"""Texts in a temporary file are a sequence like a list of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist import _spill
from taxonomist.compiled.jit import sparing_nothing
from taxonomist.features import TextFeatures, token_table
from taxonomist.features.stored_texts import GatheredTexts, StoredTexts, taken_texts
from tests.unit.features.test_counted_texts import OPTIONS, TEXT

ITEM = st.fixed_dictionaries({"title": st.text(max_size=5), "text": st.text(max_size=20)})


def stored(items, most=-1):
    """Return items in a file, where they go behind so many bytes."""
    found = GatheredTexts()
    found._left = most
    for item in items:
        found.add(item)
    assert len(found) == len(items)
    return found.finish()


@given(items=st.lists(ITEM, max_size=12), most=st.integers(-1, 3000), data=st.data())
def test_they_are_a_sequence(items, most, data):
    found = stored(items, most)
    assert len(found) == len(items)
    assert list(found) == items
    assert [found[i] for i in range(-len(items), len(items))] == items * 2
    chosen = data.draw(st.lists(st.integers(0, len(items) - 1)) if items else st.just([]))
    some = taken_texts(found, np.array(chosen, dtype=np.intp))
    assert list(some) == [items[i] for i in chosen]
    again = taken_texts(some, np.arange(len(chosen))[::-1])
    assert list(again) == [items[i] for i in chosen[::-1]]


def test_large_texts_are_read_one_after_another_and_by_several_threads(monkeypatch):
    items = [{"text": f"{k} " * (k % 100)} for k in range(2000)] + [{"text": "\ud800x" * 10**6}]
    found = stored(items)
    assert isinstance(found, StoredTexts)
    assert list(found) == items
    assert list(found[10:20]) == items[10:20]
    with pytest.raises(IndexError):
        found[len(items)]
    with ThreadPoolExecutor(4) as pool:
        assert all(one == items for one in pool.map(lambda _: list(found), range(8)))


@given(
    texts=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=12),
    weights=st.sampled_from([None, [3.0, 1.0], [0.0, 0.5]]),
    options=OPTIONS,
    spares=st.booleans(),
)
def test_features_are_the_same_with_little_memory(texts, weights, options, spares):
    items = [{"title": title, "text": text} for title, text in texts]
    features = [TextFeatures(**options, weights=weights) for _ in range(2)]
    try:
        wanted = features[0].fit_transform(items)
    except ValueError:
        return  # no words
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(_spill.VARIABLE, "1e-8")
        patch.setattr(_spill, "BLOCK_BYTES", 64)
        patch.setattr(token_table, "BLOCK_BYTES", 64)
        patch.setattr(token_table, "TOKENS_AT_ONCE", 4)
        if spares:
            found = features[1].fit_transform(stored(items))
        else:
            with sparing_nothing():
                found = features[1].fit_transform(stored(items))
        again = features[1].transform(stored(items))
    assert features[1].terms_.tolist() == features[0].terms_.tolist()
    np.testing.assert_array_equal(features[1].idf_, features[0].idf_)
    for each in (found, again):
        np.testing.assert_array_equal(each.indptr, wanted.indptr)
        np.testing.assert_array_equal(each.indices, wanted.indices)
        np.testing.assert_array_equal(each.data, wanted.data)

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist.errors import LabelError
from taxonomist.workflow.holding_out import held_out
from tests.unit.workflow.test_labelled import labelled


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.25, 0.3, 0.37, 0.5, 0.63, 0.8])
def test_a_share_of_every_category_is_held_out(share):
    sizes = {"a": 200, "b": 60, "c": 20, "d": 7, "e": 1}
    items = labelled([[label] for label, size in sizes.items() for _ in range(size)])
    is_test = held_out(items, share, seed=3)
    assert abs(is_test.sum() - share * 288) <= 1.5
    found = Counter(items.targets[i] for i in np.flatnonzero(is_test))
    for label, size in sizes.items():
        assert abs(found[label] - share * size) <= 1.5


@given(data=st.data(), n_items=st.integers(2, 100), seed=st.integers(0, 5), sets=st.booleans())
def test_as_many_as_asked_for_are_held_out_and_the_seed_decides(data, n_items, seed, sets):
    n_test = data.draw(st.integers(1, n_items - 1))
    items = labelled([["a"] + ["b"] * (sets and i % 3 == 0) for i in range(n_items)])
    is_test = held_out(items, n_test / n_items, seed)
    assert is_test.sum() == n_test
    assert np.array_equal(is_test, held_out(items, n_test / n_items, seed))


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_a_share_that_leaves_none(share):
    with pytest.raises(LabelError, match="of 10 items: one part would be empty"):
        held_out(labelled([["a"]] * 10), share, seed=0)


def test_the_only_label_set_is_learnt_from():
    items = labelled([["a"]] * 9 + [["a", "b"]])
    for seed in range(10):
        is_test = held_out(items, 0.5, seed)
        assert not is_test[-1]
        assert is_test.sum() == 5


def test_nothing_is_held_out_on_demand():
    assert not held_out(labelled([["a"], ["b"]]), 0, seed=0).any()


def test_an_item_without_labels_is_a_label_set():
    items = labelled([["a"], ["b"]] * 9 + [[]])
    for seed in range(10):
        is_test = held_out(items, 0.5, seed)
        assert not is_test[-1]
        assert items.take((~is_test).nonzero()[0]).is_multilabel

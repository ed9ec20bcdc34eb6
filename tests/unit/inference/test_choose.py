"""The choice of categories within limits, and the limits themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from taxonomist.compiled.decisions import choose_categories, choose_few_categories
from taxonomist.errors import LabelError
from taxonomist.inference.label_sets import choose, label_limits
from tests.unit.inference.plain_loops import plain

# Few values, so that many are equal.
values = st.sampled_from([-np.inf, -2.0, -1.0, -0.0, 0.0, 1e-300, 0.5, 1.0, np.inf])
tables = st.tuples(st.integers(0, 5), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=values)
)


def in_room(loop):
    """Return a loop as a function that makes its own room."""
    return lambda excess, least, most, chosen: loop(
        excess, least, most, np.empty(max(most, 1), np.intp), chosen
    )


CHOICES = (
    in_room(plain.choose_categories),
    in_room(choose_categories),
    choose_few_categories,
)


def slow_choice(row, least, most):
    """Return the chosen columns of one row, by sorting it."""
    order = sorted(range(len(row)), key=lambda c: (-row[c], c))
    n_positive = sum(value > 0 for value in row)
    return sorted(order[: min(max(n_positive, least), most)])


@given(tables, st.data())
def test_choice_is_that_of_a_sort(excess, data):
    least = data.draw(st.integers(0, excess.shape[1]))
    most = data.draw(st.integers(least, excess.shape[1]))
    chosen = choose(excess, least, most)
    assert chosen.shape == excess.shape
    assert chosen.dtype == bool
    assert chosen.data.all()
    for i, row in enumerate(excess):
        assert chosen[[i]].indices.tolist() == slow_choice(row, least, most)
    for choice in CHOICES:
        twin = np.zeros(excess.shape, dtype=bool)
        assert choice(excess, least, most, twin) == -1
        np.testing.assert_array_equal(twin, chosen.toarray())


def test_the_first_missing_value_is_found():
    excess = np.array([[1.0, -1.0, 2.0], [0.0, np.nan, np.nan]])
    for choice in CHOICES:
        assert choice(excess, 1, 2, np.zeros(excess.shape, dtype=bool)) == 4


@given(tables)
def test_choice_does_not_depend_on_the_batch(excess):
    together = choose(excess, 1, 2).toarray()
    for i in range(len(excess)):
        np.testing.assert_array_equal(choose(excess[[i]], 1, 2).toarray()[0], together[i])


def test_limits_beyond_the_categories_take_all():
    assert choose([[-1.0, -2.0]], 5, 9).toarray().all()


def test_other_types_and_layouts():
    excess = np.array([[1, -1, 2], [-3, -1, -2]])
    expected = [[True, False, True], [False, True, False]]
    for given_excess in (
        excess,
        excess.tolist(),
        excess.astype(np.float32),
        np.asfortranarray(excess),
    ):
        assert choose(given_excess, 1, 3).toarray().tolist() == expected


def test_indices_are_as_narrow_as_scikit_learn_wants_them():
    chosen = choose(np.ones((3, 4)), 0, 4)
    assert chosen.indices.dtype == chosen.indptr.dtype == np.int32


def test_nan_is_refused():
    excess = np.ones((3, 4))
    excess[1, 2] = np.nan
    with pytest.raises(LabelError, match="category 2 in row 1 is NaN"):
        choose(excess, 0, 4)


@pytest.mark.parametrize(("least", "most"), [(-1, 2), (2, 1)])
def test_impossible_limits_are_refused(least, most):
    with pytest.raises(ValueError, match=f"Limits are {least} and {most}"):
        choose(np.ones((1, 3)), least, most)


def test_one_row_is_not_a_block():
    with pytest.raises(LabelError, match="1 dimension"):
        choose(np.ones(3), 0, 3)


LABELS = csr_array(np.array([[1, 1, 0, 0], [0, 1, 1, 1], [1, 1, 0, 0]], dtype=bool))
SOME_EMPTY = csr_array(np.array([[0, 0], [1, 0]], dtype=bool))


@pytest.mark.parametrize(
    ("labels", "asked", "expected"),
    [
        (LABELS, (None, None), (2, 3)),
        (LABELS, (0, None), (0, 3)),
        (LABELS, (1, 4), (1, 4)),
        (LABELS, (None, 1), (1, 1)),
        (LABELS, (4, None), (4, 4)),
        (LABELS, (np.int64(3), np.int32(3)), (3, 3)),
        (SOME_EMPTY, (None, None), (0, 1)),
        (csr_array((2, 3), dtype=bool), (None, None), (0, 0)),
        (csr_array((0, 3), dtype=bool), (None, None), (0, 0)),
    ],
)
def test_limits(labels, asked, expected):
    assert label_limits(labels, *asked) == expected


def test_labels_that_are_stored_as_false_do_not_count():
    labels = csr_array(([True, False, True], [0, 1, 1], [0, 2, 3]), shape=(2, 2))
    assert label_limits(labels) == (1, 1)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ((-1, None), "min_labels is -1; give an integer from 0 to 4"),
        ((5, None), "min_labels is 5; give an integer from 0 to 4"),
        ((None, 5), "max_labels is 5; give an integer from 1 to 4"),
        ((None, 0), "max_labels is 0; give an integer from 1 to 4"),
        ((1.5, None), "min_labels is 1.5"),
        ((None, True), "max_labels is True"),
        ((3, 2), "min_labels is 3 and max_labels is 2"),
    ],
)
def test_limits_that_make_no_sense(asked, message):
    with pytest.raises(ValueError, match=message):
        label_limits(LABELS, *asked)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist.features import SequenceCodes


@given(st.lists(st.text(max_size=6), min_size=1, max_size=4))
def test_characters_have_their_code_points(items):
    rows = SequenceCodes(max_length=6).fit_transform(items).toarray()
    for row, item in zip(rows, items, strict=True):
        assert row.tolist() == [ord(letter) + 1 for letter in item] + [0] * (6 - len(item))


def test_words_have_codes_that_last():
    codes = SequenceCodes(unit="word", max_length=3)
    first = codes.fit_transform(["the cat", "Cat the"]).toarray()
    assert first[0, 0] == first[1, 1] != first[0, 1] == first[1, 0]
    assert codes.transform([["cat"]]).toarray()[0, 0] == first[0, 1]
    # A change of these would change what stored models know.
    assert codes.transform(["cat"]).toarray()[0].tolist() == [6_928_551_800_284_979, 0, 0]


def test_codes_survive_as_floats():
    words = [f"word{k}" for k in range(2_000)]
    codes = SequenceCodes(unit="word").transform([words]).data
    assert len(set(codes.tolist())) == 2_000
    assert (codes.astype(np.float64).astype(np.intp) == codes).all()
    assert codes.min() > ord("\U0010ffff") + 1


def test_letters_outside_leave_a_gap():
    codes = SequenceCodes(alphabet="ab", outside="skip", max_length=4)
    rows = codes.transform(["axb", "xx"])
    assert rows.toarray().tolist() == [[98, 0, 99, 0], [0, 0, 0, 0]]
    assert rows.nnz == 2
    with pytest.raises(ValueError, match="Item 0 has 'x' at index 1"):
        SequenceCodes(alphabet="ab").fit(["axb"])


def test_the_matrix():
    rows = SequenceCodes().transform(["abc", "", "b"])
    assert rows.shape == (3, 1_000_000)
    assert rows.format == "csr"
    assert rows.indices.dtype == rows.indptr.dtype == np.int32
    assert np.diff(rows.indptr).tolist() == [3, 0, 1]
    assert SequenceCodes().transform([]).shape == (0, 1_000_000)


def test_an_item_that_is_too_long():
    with pytest.raises(ValueError, match="Item 1 has 3 letters, but max_length is 2; increase it"):
        SequenceCodes(max_length=2).fit(["ab", "abc"])


@pytest.mark.parametrize("max_length", [0, 2.5, None])
def test_a_length_that_makes_no_sense(max_length):
    with pytest.raises(ValueError, match="max_length must be a whole number, at least 1"):
        SequenceCodes(max_length=max_length).fit(["a"])


def test_bad_items_are_refused():
    with pytest.raises(TypeError, match="Item 1 is None"):
        SequenceCodes().transform(["a", None])

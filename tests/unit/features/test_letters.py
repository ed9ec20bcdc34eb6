import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist.features.letters import (
    AMINO_ACIDS,
    check_alphabet,
    check_inside,
    code_letters,
    distinct_letters,
    split_items,
)

texts = st.lists(st.text(max_size=6), max_size=5)


def test_characters_words_and_functions():
    text = "The cat, the 2nd."
    assert split_items([text], "char") == [text]
    assert split_items([text], "word") == [["the", "cat", "the", "2nd"]]
    assert split_items([text], str.split) == [["The", "cat,", "the", "2nd."]]
    assert split_items(["naïve Ärzte"], "word") == [["naïve", "ärzte"]]


def test_lists_stay_as_they_are():
    items = [["The", "cat"], ("a b",), np.array(["x", "y"]), pd.Series(["u", "v"], index=[7, 3])]
    expected = [["The", "cat"], ["a b"], ["x", "y"], ["u", "v"]]
    for unit in ("char", "word", str.split):
        assert split_items(items, unit) == expected


@pytest.mark.parametrize(
    "collection",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        pl.Series,
        iter,
        lambda items: np.array(items, dtype=object),
    ],
)
def test_any_collection(collection):
    assert split_items(collection(["ab", "c"]), "char") == ["ab", "c"]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["a", None], r"Item 1 is None \(NoneType\), but items must be .* remove it"),
        ([float("nan")], r"Item 0 is nan \(float\)"),
        (pd.Series(["a", "b", None]), r"Item 2 is (nan|None)"),
        (["a", 3], r"Item 1 is 3 \(int\)"),
        ([b"ACGT"], r"Item 0 is b'ACGT' \(bytes\).*decode it"),
        ([{"a": 1}], r"Item 0 is \{'a': 1\} \(dict\)"),
        ([["a", 5]], r"Item 0 has 5 \(int\) at index 1"),
        ([["a"], ["b", None]], r"Item 1 has None \(NoneType\) at index 1"),
        (np.array([1.5, 2.5]), r"Item 0 is .*1\.5.*float64"),
        ("abc", r"Got one string; put it in a list"),
        (b"abc", r"Got one string"),
        (pd.DataFrame({"text": ["a"]}), r"Got DataFrame of shape \(1, 1\); pass a single column"),
        (np.array([["a"]]), r"Got ndarray of shape \(1, 1\)"),
        (None, r"Items must be a collection of strings. Got NoneType"),
        (5, r"Items must be a collection of strings. Got int"),
    ],
)
def test_other_items_are_refused(items, message):
    with pytest.raises(TypeError, match=message):
        split_items(items, "char")


def test_the_message_stays_short():
    with pytest.raises(TypeError) as error:
        split_items([b"A" * 10_000], "char")
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("unit", ["words", None, 3])
def test_an_unknown_unit(unit):
    with pytest.raises(ValueError, match="unit must be 'char', 'word', 'syllable' or a function"):
        split_items(["a"], unit)


@pytest.mark.parametrize("unit", [str.upper, lambda text: [1]])
def test_a_function_that_does_not_split(unit):
    with pytest.raises(TypeError, match="must return a list of strings. Got"):
        split_items(["ab"], unit)


@given(texts)
def test_strings_and_lists_of_characters_are_the_same(strings):
    lists = [list(string) for string in strings]
    alphabet = sorted(set("".join(strings)))
    index = {letter: code for code, letter in enumerate(alphabet[::2])}
    assert distinct_letters(strings) == alphabet
    if lists:
        assert distinct_letters(lists) == alphabet
    for sequences in (strings, lists):
        codes, ends = code_letters(sequences, index)
        assert ends.tolist() == [0, *np.cumsum([len(string) for string in strings]).tolist()]
        assert codes.tolist() == [index.get(letter, -1) for letter in "".join(strings)]


def test_characters_of_all_planes():
    strings = ["a\U0001f600", "\x00\ud800", "\U0010ffff"]
    letters = distinct_letters(strings)
    assert letters == ["\x00", "a", "\ud800", "\U0001f600", "\U0010ffff"]
    index = {letter: code for code, letter in enumerate(letters)}
    assert code_letters(strings, index).codes.tolist() == [1, 3, 0, 2, 4]


def test_letters_of_several_characters_are_in_no_string():
    assert code_letters(["abc"], {"a": 0, "bc": 1}).codes.tolist() == [0, -1, -1]
    assert code_letters([["a", "bc"]], {"a": 0, "bc": 1}).codes.tolist() == [0, 1]


def test_alphabets():
    assert check_alphabet(None, "error") is None
    assert check_alphabet("ba", "error") == ["a", "b"]
    assert check_alphabet({"dog", "cat"}, "skip") == ["cat", "dog"]
    assert len(AMINO_ACIDS) == 20


@pytest.mark.parametrize(
    ("alphabet", "message"),
    [
        ("", "alphabet is empty"),
        ([], "alphabet is empty"),
        ("aba", "alphabet has 'a' more than once"),
        ([1, 2], "must consist of strings. Got 1"),
        (7, "must consist of strings. Got 7"),
    ],
)
def test_alphabets_that_are_refused(alphabet, message):
    with pytest.raises((ValueError, TypeError), match=message):
        check_alphabet(alphabet, "error")


def test_outside_is_one_of_two_words():
    with pytest.raises(ValueError, match="outside must be one of error, skip. Got 'drop'"):
        check_alphabet(None, "drop")


def inside(items, alphabet, outside="error"):
    codes = code_letters(items, {letter: code for code, letter in enumerate(alphabet)})
    check_inside(codes, items, alphabet, outside)


@pytest.mark.parametrize("form", [str, list])
def test_the_first_letter_outside_is_named(form):
    items = [form(text) for text in ("", "ab", "", "bXaY")]
    inside(items, list("abXY"))
    inside(items, list("ab"), "skip")
    with pytest.raises(ValueError, match="Item 3 has 'X' at index 1, .* alphabet 'ab'. Add it"):
        inside(items, list("ab"))


def test_a_long_alphabet_is_not_shown():
    with pytest.raises(ValueError, match="'x' at index 0, .*alphabet of 40 letters"):
        inside([["x"]], [f"word{k}" for k in range(40)])
    with pytest.raises(ValueError, match=r"alphabet \['cat', 'dog'\]"):
        inside([["cat", "x"]], ["cat", "dog"])

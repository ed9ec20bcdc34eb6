"""Words that a compiled loop finds and counts: the same as regular expressions, to the byte."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist._spill import Spool
from taxonomist.compiled import words as loops
from taxonomist.compiled.jit import sparing_nothing
from taxonomist.features import TextFeatures, token_table, word_codes
from taxonomist.features.term_table import TermTable
from taxonomist.features.terms import MARKS, UNSPACED, words_of
from taxonomist.features.token_table import TokenTable
from taxonomist.features.word_codes import add_words

PIECES = [
    *("cat", "Cat", "CAT", "x", "7", "42", "a_b", "don't", "e-mail", "\0", " ", "\n", "\xa0", "—"),
    *("über", "Straße", "STRASSE", "ﬁsh", "fish", "ﬀ", "İstanbul", "i̇", "ǅ", "ŉ", "ﬃ", "Å", "Å"),
    *("e\u0301", "\u0301", "so\xadft", "\u200d", "\ufeff", "²", "x²", "½", "Ⅷ", "①", "٣", "७", "𝟘"),
    *(
        "Привет",
        "λόγος",
        "שָׁלוֹם",
        "عَرَبِيّ",
        "हिन्दी",
        "한국어",
        "한",
        "事象の地平面",
        "事",
        "ภาษาไทย",
        "ไ",
    ),
    *("emoji🙂", "𐐀𐐁", "\ud800", "\udfff\ud800", "K", "ſ", "µ", "ß", "ẞ"),
]
TEXT = st.one_of(
    st.lists(st.sampled_from([*PIECES, " ", " ", "."]), max_size=12).map("".join),
    st.text(max_size=20),
    st.text(st.characters(max_codepoint=127), max_size=30),
    # Surrogates and everything else.
    st.lists(st.integers(0, 0x10FFFF).map(chr), max_size=8).map("".join),
)


def naive(texts, known=()):
    """Return the distinct words, the number of each word, and where texts end."""
    words, codes, ends = {word: k for k, word in enumerate(known)}, [], []
    for text in texts:
        codes += [words.setdefault(word, len(words)) for word in words_of(text)]
        ends.append(len(codes))
    return list(words), codes, ends


def coded(texts, known=()):
    codes, ends = Spool(np.int32), Spool(np.int64)
    words = add_words(texts, list(known), codes, ends)
    return words, codes.finish().tolist(), ends.finish().tolist()


@given(st.lists(TEXT, max_size=6))
def test_the_loop_finds_the_words_that_regular_expressions_find(texts):
    expected = naive(texts)
    assert coded(texts) == expected
    with sparing_nothing():
        assert coded(texts) == expected


def test_every_character_is_of_its_kind():
    """Words around each character, alone, in a run and beside digits."""
    texts = [
        f"{mark} a{mark} {mark}{mark} 7{mark}7 {mark}b"
        for mark in map(chr, (*range(0x3100), *range(0xA000, 0xAC20), *range(0xD7A0, 0x10100)))
    ]
    with sparing_nothing():
        assert coded(texts) == naive(texts)


def test_kinds_are_those_of_the_regular_expression_of_words():
    kinds = word_codes._kinds()
    every = "".join(map(chr, range(word_codes.N_KINDS)))
    inside = {found.start() for found in re.finditer(rf"[^\W{UNSPACED}]|[{MARKS}]", every)}
    foreign = {found.start() for found in word_codes._FOREIGN.finditer(every)}
    assert {*np.flatnonzero(kinds).tolist()} - foreign == inside - foreign
    assert inside - foreign > {ord(c) for c in "a9_é한ह"}


@given(st.lists(TEXT, max_size=6), st.integers(1, 30), st.sampled_from([(), ("cat", "7")]))
def test_portions_of_texts_make_no_difference(texts, size, known):
    with pytest.MonkeyPatch.context() as patch, sparing_nothing():
        assert coded(texts, known) == naive(texts, known)
        patch.setattr(word_codes, "CHARACTERS_AT_ONCE", size)
        assert coded(texts, known) == naive(texts, known)


def test_many_distinct_words_need_more_slots():
    texts = [" ".join(f"w{k % 3000} v{k}" for k in range(n, n + 50)) for n in range(0, 6000, 40)]
    with sparing_nothing():
        assert coded(texts) == naive(texts)


@given(st.lists(TEXT, min_size=1, max_size=6))
def test_uncompiled_loops_give_the_same(texts):
    with pytest.MonkeyPatch.context() as patch, sparing_nothing():
        for module, name in ((word_codes, "code_words"), (token_table, "count_words")):
            loop = getattr(loops, name)
            patch.setattr(module, name, getattr(loop, "py_func", loop))
        assert coded(texts) == naive(texts)
        table = TokenTable.of([[text] for text in texts], 1)
        vocabulary = {word: k for k, word in enumerate(reversed(table.words))}
        plain = table.known((1, 1), None, [1.0], vocabulary)
    compiled = table.known((1, 1), None, [1.0], vocabulary)
    for part in ("data", "indices", "indptr"):
        assert getattr(plain, part).tobytes() == getattr(compiled, part).tobytes()


@pytest.mark.parametrize("words", [(1, 1), (1, 2)])
@pytest.mark.parametrize("weights", [None, (3.0, 1.0), (0.1, 0.7), (0.0, 1.0)])
@given(data=st.data())
def test_counts_are_the_same_to_the_byte(words, weights, data):
    n_columns = 1 if weights is None else 2
    item = st.tuples(*[TEXT] * n_columns)
    known = data.draw(st.lists(item, min_size=1, max_size=4))
    new = data.draw(st.lists(item, max_size=4))
    features = TextFeatures(words=words, min_df=1, weights=weights)
    try:
        features.fit([*known, ("word",) * n_columns])
    except ValueError:  # all words are in a column without weight
        return
    expected, shares = features.counts(new), features.known_share(new)
    with sparing_nothing():
        found = features.counts(new)
        assert features.known_share(new).tobytes() == shares.tobytes()
    for part in ("data", "indices", "indptr"):
        one, other = getattr(found, part), getattr(expected, part)
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


def test_a_few_texts_need_no_loop(monkeypatch):
    monkeypatch.setattr(word_codes, "code_words", None)
    monkeypatch.setattr(word_codes, "can_spare", lambda *_: True)
    assert coded(["a cat"]) == (["cat"], [0], [1])


def test_known_words_are_counted_once_for_counts_and_shares(monkeypatch):
    features = TextFeatures(min_df=1).fit(["a cat", "the dog"])
    counted = features.count(["the cat sat", ""])
    asked, known = [], TokenTable.known
    monkeypatch.setattr(TokenTable, "known", lambda *given: (asked.append(1), known(*given))[1])
    counts = features.counts(counted)
    counts.data[:] = 7  # the caller's own
    np.testing.assert_allclose(features.known_share(counted), [2 / 3, 0])
    assert len(asked) == 1
    again = TextFeatures(min_df=1).fit(["sat"])
    np.testing.assert_allclose(again.known_share(counted), [1 / 3, 0])
    assert len(asked) == 2


@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=40, unique=True), st.text())
def test_terms_are_found_one_by_one_and_in_a_dictionary(terms, other):
    terms.sort()
    columns = {term: column for column, term in enumerate(terms)}
    table = TermTable.of(terms)
    assert len(table) == len(terms)
    assert table.terms().tolist() == terms
    assert table.first(2) == terms[:2]
    # The first answers are by bisection, the rest by a dictionary.
    for term in [*terms, other, *terms]:
        assert table.finder(1)(term, -1) == columns.get(term, -1) == table._found(term, -1)
    assert "_columns" in vars(table)

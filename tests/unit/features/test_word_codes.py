"""Words that a compiled loop finds and counts: the same as regular expressions, to the byte."""

from __future__ import annotations

import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist._spill import Spool
from taxonomist.compiled.jit import sparing_nothing
from taxonomist.features import TextFeatures, token_table, word_codes, word_terms
from taxonomist.features.term_table import TermTable
from taxonomist.features.terms import MARKS, UNSPACED, words_of
from taxonomist.features.token_table import TokenTable
from taxonomist.features.word_codes import add_words
from taxonomist.features.word_terms import WordTerms

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
        for module, name in (
            (word_codes, "code_words"),
            (token_table, "count_terms"),
            (word_terms, "find_terms"),
            (word_terms, "fill_slots"),
        ):
            loop = getattr(module, name)
            patch.setattr(module, name, getattr(loop, "py_func", loop))
        assert coded(texts) == naive(texts)
        features = TextFeatures(words=(1, 2), characters=(2, 4), min_df=1)
        vocabulary = features.fit([*texts, "word"]).vocabulary_
        table = features.count(texts).table
        plain = table.known((1, 2), (2, 4), [1.0], WordTerms(vocabulary, (2, 4)))
        patch.undo()
        compiled = table.known((1, 2), (2, 4), [1.0], WordTerms(vocabulary, (2, 4)))
    for part in ("data", "indices", "indptr"):
        assert getattr(plain, part).tobytes() == getattr(compiled, part).tobytes()


KINDS = [((1, 1), None), ((1, 2), None), (None, (1, 3)), ((1, 1), (2, 4)), ((1, 3), (3, 5))]


@pytest.mark.parametrize(("words", "characters"), [*KINDS, ((2, 3), (1, 1))])
@pytest.mark.parametrize("weights", [None, (3.0, 1.0), (0.1, 0.7), (0.0, 1.0)])
@given(data=st.data())
def test_counts_are_the_same_to_the_byte(words, characters, weights, data):
    n_columns = 1 if weights is None else 2
    item = st.tuples(*[TEXT] * n_columns)
    known = data.draw(st.lists(item, min_size=1, max_size=4))
    # Texts that were learned have known terms.
    asked = st.lists(st.one_of(item, st.sampled_from(known)), max_size=4)
    batches = data.draw(st.lists(asked, min_size=1, max_size=3))
    features = TextFeatures(words=words, characters=characters, min_df=1, weights=weights)
    try:
        features.fit([*known, ("word word word",) * n_columns])
    except ValueError:  # all words are in a column without weight
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_table, "can_spare", lambda *_: True)
        expected = [(features.counts(new), features.known_share(new)) for new in batches]
    with pytest.MonkeyPatch.context() as patch, sparing_nothing():
        patch.setattr(token_table, "ENTRIES_AT_ONCE", data.draw(st.sampled_from([1, 30, 10**6])))
        patch.setattr(word_terms, "MOST_WORDS", data.draw(st.sampled_from([0, 3, 10**6])))
        patch.setattr(word_terms, "WORDS_AT_ONCE", data.draw(st.sampled_from([1, 2, 10**6])))
        for new, (counts, shares) in zip(batches, expected, strict=True):
            assert_same(features.counts(new), counts)
            assert features.known_share(new).tobytes() == shares.tobytes()


def assert_same(found, expected):
    for part in ("data", "indices", "indptr"):
        one, other = getattr(found, part), getattr(expected, part)
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


def test_a_loop_is_compiled_once_for_learning_and_for_known_terms():
    with sparing_nothing():
        features = TextFeatures(words=(1, 2), characters=(2, 3), min_df=1)
        texts = ["a black cat", "the cat"]
        expected = features.fit_transform(texts)
        compiled = len(token_table.count_terms.signatures)
        found = features.transform(texts)
        saved = TextFeatures(words=(1, 2), characters=(2, 3), min_df=1)
        vars(saved).update(features.file_state())
        again = saved.transform(texts)
    assert_same(found, expected)
    assert_same(again, expected)
    assert len(token_table.count_terms.signatures) == compiled > 0


def test_words_that_return_are_not_looked_up_again(monkeypatch):
    vocabulary = {"cat": 0, '"cat"': 1, '"ca"': 2}
    terms = WordTerms(vocabulary, (2, 3))
    first = terms.of(["cat", "dog"])
    assert first.term.tolist() == [0, -1]
    assert [first.gram[a:b].tolist() for a, b in zip(first.begins, first.ends, strict=True)] == [
        [2, 1],
        [],
    ]
    monkeypatch.setattr(word_terms, "find_terms", None)
    again = terms.of(["dog", "cat"])
    assert again.term.tolist() == [-1, 0]
    assert (again.ends - again.begins).tolist() == [0, 2]


def test_what_is_kept_of_words_is_bounded_and_not_copied(monkeypatch):
    monkeypatch.setattr(word_terms, "MOST_GRAMS", 50)
    terms = WordTerms({f'"{k:02d}"': k for k in range(100)}, (2, 2))
    for k in range(0, 100, 10):
        found = terms.of([f"{word:02d}" for word in range(k, k + 10)])
        assert found.gram[found.begins].tolist() == list(range(k, k + 10))
        assert len(terms._number) <= 50
    assert terms._number
    copied = pickle.loads(pickle.dumps(terms))
    assert (copied.vocabulary, copied.characters) == (terms.vocabulary, (2, 2))
    assert not copied._number


def test_threads_may_ask_for_words_at_the_same_time(monkeypatch):
    monkeypatch.setattr(word_terms, "MOST_WORDS", 200)
    words = [f"w{k}" for k in range(300)]
    terms = WordTerms({word: k for k, word in enumerate(words)}, None)

    def ask(seed):
        asked = np.random.default_rng(seed).permutation(300)[:50]
        return terms.of([words[k] for k in asked]).term.tolist() == asked.tolist()

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(200)))


def test_as_many_words_are_kept_as_there_are_terms(monkeypatch):
    monkeypatch.setattr(word_terms, "MOST_WORDS", 3)
    terms = WordTerms({f"w{k}": k for k in range(100)}, None)
    assert terms.of([f"w{k}" for k in range(103)]).term.tolist() == [*range(100), -1, -1, -1]
    assert len(terms._number) == 103
    assert terms.of(["w5", "new", "w7"]).term.tolist() == [5, -1, 7]
    assert not terms._number


def test_new_lengths_and_a_new_fit_forget_what_is_known_of_words():
    features = TextFeatures(characters=(2, 2), min_df=1)
    with sparing_nothing():
        features.fit(["cats"]).counts(["cats"])
        features.set_params(characters=(3, 3))
        assert features.counts(["cats"]).nnz == 1
        features.fit(["cats", "dogs"])
        assert features.counts(["dogs cats"]).nnz == len(features.terms_)
        features.set_params(characters=None)
        assert features.counts(["dogs cats"]).nnz == 2


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

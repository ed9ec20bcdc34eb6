"""``TextFeatures``: terms in any script, several columns, weights."""

from __future__ import annotations

import pickle
from collections import Counter
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from taxonomist._unicode import nfkc
from taxonomist.features import TextFeatures
from taxonomist.features.terms import is_unspaced, spans, words_of


def terms(text, **options):
    features = TextFeatures(min_df=1, **options)
    features.fit([text])
    return set(features.get_feature_names_out())


def test_words_of_many_scripts():
    assert terms("The cat's 2 Café, ÄRGER!") == {"the", "cat", "2", "café", "ärger"}
    assert terms("Кошка и собака") == {"кошка", "собака"}
    assert terms("قطة و كلب") == {"قطة", "كلب"}
    assert terms("事象の地平面") == {"事象", "象の", "の地", "地平", "平面"}
    assert terms("猫 and 犬") == {"猫", "and", "犬"}


def test_word_and_character_ngrams():
    assert terms("black holes shine", words=(1, 2)) == {
        "black",
        "holes",
        "shine",
        "black holes",
        "holes shine",
    }
    assert terms("black holes shine", words=(2, 2)) == {"black holes", "holes shine"}
    assert terms("ab", words=None, characters=(2, 3)) == {'" a"', '"ab"', '"b "', '" ab"', '"ab "'}
    with pytest.raises(ValueError, match="both None"):
        terms("ab", words=None)


def test_weights_against_the_formula():
    texts = ["cat cat dog", "cat", "bird dog", ""]
    features = TextFeatures(min_df=1)
    X = features.fit_transform(texts).toarray()
    words = ["bird", "cat", "dog"]
    assert features.get_feature_names_out().tolist() == words
    counts = np.array([[text.split().count(word) for word in words] for text in texts])
    idf = np.log(5 / (1 + (counts > 0).sum(axis=0))) + 1
    expected = np.log1p(counts) * idf
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(X, expected / np.where(lengths > 0, lengths, 1))
    np.testing.assert_allclose(features.transform(texts).toarray(), X)
    np.testing.assert_array_equal(features.counts(texts).toarray(), counts)


def test_columns_count_as_often_as_their_weights():
    items = [{"title": "cat", "text": "dog dog"}, {"title": None, "text": "cat"}]
    features = TextFeatures(min_df=1, weights={"title": 3})
    counts = features.fit_counts(items).toarray()
    np.testing.assert_array_equal(counts, [[3, 2], [1, 0]])
    # Columns are found by name, whatever their order, and may be missing.
    np.testing.assert_array_equal(
        features.counts([{"text": "dog", "title": "cat"}, {"text": "cat"}]).toarray(),
        [[3, 1], [1, 0]],
    )
    pairs = TextFeatures(min_df=1, weights=[3, 1]).fit_counts([("cat", "dog dog"), ("", "cat")])
    np.testing.assert_array_equal(pairs.toarray(), counts)


def test_rare_terms_are_left_out_unless_all_are_rare():
    texts = ["a1 common", "b1 common", "c1 common other", "other"]
    assert TextFeatures().fit(texts).get_feature_names_out().tolist() == ["common", "other"]
    assert TextFeatures(max_features=1).fit(texts).terms_.tolist() == ["common"]
    assert len(TextFeatures().fit(["one two"]).terms_) == 2


def test_texts_are_read_once():
    texts = (f"word{k % 3} thing" for k in range(9))
    assert TextFeatures().fit_transform(texts).shape == (9, 4)


def test_missing_texts_are_empty():
    X = TextFeatures(min_df=1).fit_transform(["cat", None, float("nan"), "", "  "])
    assert X.shape == (5, 1)
    assert X.nnz == 1
    assert TextFeatures(min_df=1).fit(["cat"]).transform([]).shape == (0, 1)


def test_words_are_found_in_the_text():
    text = "Black holes, 事象の地"
    found = list(spans(text))
    assert [term for *_, term in found] == ["black", "holes", "事象", "象の", "の地"]
    assert all(text[start:end].lower() == term for start, end, term in found)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("ﬁsh ＣＡＴ №5 cafe\u0301 x²", "fish cat no5 café x2"),
        ("ｱｲｳ ﾃｽﾄ", "アイウ テスト"),
        ("Stra\u00dfe \u2168 ½", "STRASSE ix 1⁄2"),
        ("\u1112\u1161\u11ab한", "한한"),
    ],
)
def test_words_have_one_spelling(text, plain):
    assert terms(text) == terms(plain)
    assert {term for *_, term in spans(text)} <= terms(plain)


@given(st.text(st.sampled_from("aeB1 .ﬁ²½é\u0301\u0327ｶﾞ事猫Ⅸ…")))
def test_spans_lie_in_the_text_and_give_its_words(text):
    found = list(spans(text))
    assert all(0 <= start < end <= len(text) for start, end, _ in found)
    assert [start for start, *_ in found] == sorted(start for start, *_ in found)
    for start, end, term in found:
        assert term in nfkc(text[start:end]).lower()
    assert [term for *_, term in found] == words_of(text)


def naive_terms(text, words, characters):
    """Return the terms of a text, with repetitions, from the definition."""
    found = words_of(text)
    least, most = words or (1, 0)
    terms = [
        " ".join(found[k : k + n])
        for n in range(least, most + 1)
        for k in range(len(found) - n + 1)
    ]
    for word in found if characters else ():
        if is_unspaced(word):
            terms += [f'"{character}"' for character in word]
            continue
        terms += [
            f'"{f" {word} "[k : k + n]}"'
            for n in range(characters[0], characters[1] + 1)
            for k in range(len(word) + 2 - n + 1)
        ]
    return terms


WORDS = st.sampled_from(["cat", "banana", "Fish", "7", "事象の地", "x", "über", "ab"])


@given(
    st.lists(st.tuples(*[st.lists(WORDS, max_size=6).map(" ".join)] * 2), min_size=1, max_size=6),
    st.sampled_from([(1, 1), (1, 2), (2, 3), None]),
    st.sampled_from([None, (1, 2), (3, 5)]),
    st.sampled_from([[1.0, 1.0], [3.0, 1.0], [0.0, 0.5]]),
)
def test_counts_against_the_definition(items, words, characters, weights):
    if not words and not characters:
        return
    features = TextFeatures(words=words, characters=characters, min_df=1, weights=weights)
    expected = [
        sum(
            (
                Counter(
                    {
                        t: n * weight
                        for t, n in Counter(naive_terms(text, words, characters)).items()
                    }
                )
                for text, weight in zip(item, weights, strict=True)
                if weight
            ),
            Counter(),
        )
        for item in items
    ]
    names = sorted(set().union(*expected))
    if not names:
        return
    counts = features.fit_counts(items)
    assert features.terms_.tolist() == names
    np.testing.assert_allclose(
        counts.toarray(), [[row[name] for name in names] for row in expected]
    )
    np.testing.assert_array_equal(features.counts(items).toarray(), counts.toarray())
    shares = features.known_share(items)
    np.testing.assert_allclose(shares, [float(bool(row)) for row in expected])


@pytest.mark.parametrize("limit", [("TOKENS_AT_ONCE", 3), ("ENTRIES_AT_ONCE", 5)])
def test_blocks_do_not_matter(limit, monkeypatch):
    texts = ["cat dog cat", "", "bird banana cat dog", "dog", "cat cat cat cat"] * 2
    features = [TextFeatures(words=(1, 2), characters=(2, 3), min_df=1) for _ in range(2)]
    whole = features[0].fit_transform(texts)
    monkeypatch.setattr(f"taxonomist.features.token_table.{limit[0]}", limit[1])
    parts = features[1].fit_transform(texts)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The cat's 2 Cafés", ["the", "cat", "2", "cafés"]),
        ("Straße STRASSE ſoft auto\u00admobil", ["strasse", "strasse", "soft", "automobil"]),
        ("ΟΔΟΣ οδός Οδός", ["οδοσ", "οδόσ", "οδόσ"]),
        ("Ёлка ЁЛКА", ["ёлка", "ёлка"]),
        ("ქართული ენა", ["ქართული", "ენა"]),
        ("Հայերեն լեզու", ["հայերեն", "լեզու"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("مُحَمَّد كِتَاب، كلب", ["مُحَمَّد", "كِتَاب", "كلب"]),
        ("می\u200cخواهم", ["میخواهم"]),
        ("हिन्दी भाषा है।", ["हिन्दी", "भाषा", "है"]),
        ("বাংলা ভাষা", ["বাংলা", "ভাষা"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("తెలుగు భాష", ["తెలుగు", "భాష"]),
        ("ภาษาไทย", ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]),
        ("ລາວ", ["ລາ", "າວ"]),
        ("မြန်", ["မြ", "ြန", "န်"]),
        ("ខ្មែ។ខ្", ["ខ្", "្ម", "មែ", "ខ្"]),
        ("བོད་སྐད་", ["བོད", "སྐད"]),
        ("አማርኛ ቋንቋ", ["አማርኛ", "ቋንቋ"]),
        ("한국어 텍스트", ["한국어", "텍스트"]),
        ("地平面、猫", ["地平", "平面", "猫"]),
        ("𠮷野家", ["𠮷野", "野家"]),
        ("ｶﾀｶﾅ ひらが", ["カタ", "タカ", "カナ", "ひら", "らが"]),
        ("Việt Nam", ["việt", "nam"]),
    ],
)
def test_words_of_each_script(text, words):
    expected = [normalize("NFKC", word) for word in words]
    assert words_of(text) == expected
    assert [term for *_, term in spans(text)] == expected


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ("one text", {}, "not a single text"),
        (["..."], {}, "nothing to learn"),
        ([], {}, "nothing to learn"),
        ([1, 2], {}, "not a text but int"),
        ([("a", "b"), ("a",)], {}, "Item 1 has 1 texts"),
        (["ab"], {"weights": [1, 2]}, "one for each column"),
        (["ab"], {"weights": [-1]}, "of at least 0"),
        ([{"title": "ab"}], {"weights": {"titel": 1}}, "titel"),
    ],
)
def test_bad_input_is_refused(texts, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        TextFeatures(min_df=1, **options).fit(texts)


def test_copies_do_the_same():
    features = TextFeatures(min_df=1).fit(["cat dog", "dog"])
    again = pickle.loads(pickle.dumps(features))
    np.testing.assert_array_equal(again.transform(["dog"]).data, features.transform(["dog"]).data)
    assert clone(features).get_params() == features.get_params()


def test_features_of_old_files_find_their_words():
    features = TextFeatures(min_df=1).fit(["strasse haus", "baum"])
    # As an old version stored them: in lower case.
    features.terms_ = np.array(["baum", "haus", "straße"], dtype=object)
    features.vocabulary_ = {"baum": 0, "haus": 1, "straße": 2}
    del features.folds_case_
    assert features.counts(["STRASSE Straße"]).toarray().tolist() == [[0, 0, 2]]
    assert features.known_share(["Straße"]).tolist() == [1]

"""``porter_stem``: the suffix-stripping algorithm of Porter (1980) for English words.

A word is a sequence of consonants and vowels, [C](VC)^m[V], where m is its measure. Five steps
replace or remove suffixes, if what is left of the word has a large enough measure. In every list of
suffixes, the longest one that the word ends in decides, whether or not its condition holds.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

__all__ = ["porter_stem"]

STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "abli": "able",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
}
STEP_3 = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


@lru_cache(maxsize=2**17)
def porter_stem(word: str) -> str:
    """Return the stem of an English word in lower case.

    Parameters
    ----------
    word
        A word. Single letters are returned unchanged.

    Returns
    -------
    str
        The stem, which need not be a word.

    Examples
    --------
    >>> from taxonomist.features import porter_stem
    >>> [porter_stem(word) for word in ("relational", "relate", "relating", "hopping", "ponies")]
    ['relat', 'relat', 'relat', 'hop', 'poni']
    """
    if len(word) < 2:
        return word
    for step in (_plurals, _past, _final_y, _double_suffixes, _suffixes, _last_suffix, _tidy):
        word = step(word)
    return word


def _is_consonant(word: str, at: int) -> bool:
    """Return whether a letter is a consonant: no vowel, and no y after a consonant."""
    if word[at] == "y":
        return at == 0 or not _is_consonant(word, at - 1)
    return word[at] not in "aeiou"


def _measure(stem: str) -> int:
    """Return m, the number of changes from vowels to consonants."""
    kinds = [_is_consonant(stem, at) for at in range(len(stem))]
    return sum(not before and after for before, after in pairwise(kinds))


def _has_vowel(stem: str) -> bool:
    return not all(_is_consonant(stem, at) for at in range(len(stem)))


def _ends_double(word: str) -> bool:
    """Return whether a word ends in two equal consonants."""
    return len(word) > 1 and word[-1] == word[-2] and _is_consonant(word, len(word) - 1)


def _ends_short(word: str) -> bool:
    """Return whether a word ends in consonant, vowel, consonant, the last one not w, x or y."""
    n = len(word)
    return (
        n > 2
        and [_is_consonant(word, at) for at in (n - 3, n - 2, n - 1)] == [True, False, True]
        and word[-1] not in "wxy"
    )


def _plurals(word: str) -> str:
    """Step 1a: caresses, ponies, cats."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    """Step 1b: agreed, plastered, motoring; an e or a single consonant is restored."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            stem = word.removesuffix(suffix)
            return _restored(stem) if _has_vowel(stem) else word
    return word


def _restored(stem: str) -> str:
    """Return what is left of a word in -ed or -ing with its ending restored."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _ends_double(stem) and stem[-1] not in "lsz":
        return stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _final_y(word: str) -> str:
    """Step 1c: happy becomes happi."""
    return word[:-1] + "i" if word.endswith("y") and _has_vowel(word[:-1]) else word


def _replaced(word: str, endings: dict[str, str]) -> str:
    """Replace the longest of some endings if the measure before it is above 0."""
    for ending in sorted((e for e in endings if word.endswith(e)), key=len, reverse=True)[:1]:
        stem = word.removesuffix(ending)
        return stem + endings[ending] if _measure(stem) > 0 else word
    return word


def _double_suffixes(word: str) -> str:
    """Step 2: relational becomes relate."""
    return _replaced(word, STEP_2)


def _suffixes(word: str) -> str:
    """Step 3: triplicate becomes triplic."""
    return _replaced(word, STEP_3)


def _last_suffix(word: str) -> str:
    """Step 4: revival becomes reviv."""
    for ending in sorted((e for e in STEP_4 if word.endswith(e)), key=len, reverse=True)[:1]:
        stem = word.removesuffix(ending)
        is_stem = ending != "ion" or stem.endswith(("s", "t"))
        return stem if is_stem and _measure(stem) > 1 else word
    return word


def _tidy(word: str) -> str:
    """Step 5: probate becomes probat, controll becomes control."""
    if word.endswith("e"):
        stem = word[:-1]
        m = _measure(stem)
        if m > 1 or (m == 1 and not _ends_short(stem)):
            word = stem
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word

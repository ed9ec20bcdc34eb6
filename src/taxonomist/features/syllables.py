"""Split words into syllables by their spelling.

A syllable has one run of vowels. Of the consonants between two runs, the longest ending with which
a word can begin goes to the second syllable (*mon-ster*, *win-ter*), a single consonant always
(*ta-xo-no-my*). A final *e* after a consonant is silent (*late*), except in *-le* (*ta-ble*). This
is close to hyphenation in English and in other languages with Latin letters, without a dictionary:
adjacent vowels that are spoken apart (*sci-ence*) stay together.
"""

from __future__ import annotations

import re
from itertools import pairwise
from unicodedata import normalize

__all__ = ["syllables"]

VOWELS = frozenset("aeiouyæœø")
CLUSTERS = (
    "bl br ch chr cl cr dr fl fr gh gl gn gr kl kn kr ph phr pl pr qu rh sc sch scr sh shr sk sl "
    "sm sn sp spl spr squ st str sw th thr tr tw vr wh wr"
)
ONSETS = frozenset(re.findall(r"\w+", CLUSTERS))
"""Clusters with which a word can begin. Every single letter is one too."""


def syllables(word: str) -> list[str]:
    """Return the syllables of a word; their letters are those of the word.

    Parameters
    ----------
    word
        A word in lower case. A word without Latin vowels is one syllable.

    Examples
    --------
    >>> from taxonomist.features.syllables import syllables
    >>> syllables("classification")
    ['clas', 'si', 'fi', 'ca', 'tion']
    """
    nuclei = _nuclei(word)
    cuts = [0]
    for (_, end), (begin, _) in pairwise(nuclei):
        cuts.append(begin - _onset(word[end:begin]))
    return [word[begin:end] for begin, end in pairwise([*cuts, len(word)])]


def _nuclei(word: str) -> list[tuple[int, int]]:
    """Return the begin and end of each run of vowels that makes a syllable."""
    found: list[tuple[int, int]] = []
    for place in range(len(word)):
        if not _is_vowel(word, place):
            continue
        if found and found[-1][1] == place:
            found[-1] = found[-1][0], place + 1
        else:
            found.append((place, place + 1))
    is_silent = len(found) > 1 and found[-1] == (len(word) - 1, len(word)) and word[-1] == "e"
    if is_silent and not (word[-2] == "l" and not _is_vowel(word, len(word) - 3)):
        found.pop()
    return found


def _is_vowel(word: str, place: int) -> bool:
    """Return whether a letter is a vowel; y before a vowel and u after q are consonants."""
    letter = normalize("NFD", word[place])[0]
    if letter == "y":
        after = word[place + 1 : place + 2]
        return not after or normalize("NFD", after)[0] not in VOWELS
    if letter == "u" and word[:place].endswith("q"):
        return False
    return letter in VOWELS


def _onset(consonants: str) -> int:
    """Return how many of the consonants between two vowels begin the second syllable."""
    for size in (3, 2):
        if len(consonants) >= size and consonants[-size:] in ONSETS:
            return size
    return min(1, len(consonants))

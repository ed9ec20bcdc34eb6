"""Split texts in any script into words, word n-grams and character n-grams."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["spans", "terms"]

# Scripts without spaces between words: Thai, Lao, Khmer, Myanmar; kana, ideographs.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
TERM = re.compile(rf"[{UNSPACED}]+|[^\W{UNSPACED}]{{2,}}|\d")
RUN = re.compile(rf"[{UNSPACED}]")


def terms(
    text: str, words: tuple[int, int] | None, characters: tuple[int, int] | None
) -> list[str]:
    """Return the terms of a text, with repetitions.

    Parameters
    ----------
    text
        The text.
    words, characters
        The smallest and largest number of words, and of characters, in a term. None for no such
        terms.
    """
    found = TERM.findall(text.lower())
    if RUN.search(text):
        found = [part for word in found for part in _pairs(word)]
    least, most = words or (1, 0)
    terms = found if least == 1 and most >= 1 else []
    for n in range(max(least, 2), most + 1):
        terms = terms + [" ".join(found[k : k + n]) for k in range(len(found) - n + 1)]
    if characters:
        terms = terms + _grams(found, *characters)
    return terms


def spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the term of each word of a text."""
    for found in TERM.finditer(text):
        begin, end = found.span()
        if RUN.match(found.group()) and end - begin > 2:
            yield from ((k, k + 2, text[k : k + 2].lower()) for k in range(begin, end - 1))
        else:
            yield begin, end, found.group().lower()


def _pairs(word: str) -> list[str]:
    """Return the pairs of neighbouring characters in an unspaced script, or the word itself."""
    if len(word) <= 2 or not RUN.match(word):
        return [word]
    return [word[k : k + 2] for k in range(len(word) - 1)]


def _grams(words: list[str], least: int, most: int) -> list[str]:
    """Return the character n-grams of words, with the spaces around them, in quotes."""
    padded = [f" {word} " for word in words]
    return [
        f'"{word[k : k + n]}"'
        for word in padded
        for n in range(least, min(most, len(word)) + 1)
        for k in range(len(word) - n + 1)
    ]

"""Split texts in any script into words, word n-grams and character n-grams.

Words are in lower case and in Unicode's compatibility form (NFKC), so that a ligature, a full-width
letter or an accent of its own makes no other word.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import combining

from taxonomist._unicode import nfkc

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
    text = nfkc(text)
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
    plain = nfkc(text)
    if plain == text:
        yield from _plain_spans(text)
        return
    parts = _parts(text)
    pieces = [nfkc(text[begin:end]) for begin, end in parts]
    # The part of the text that each character of the plain one comes from.
    origin = [part for part, piece in zip(parts, pieces, strict=True) for _ in piece]
    for begin, end, term in _plain_spans("".join(pieces)):
        yield origin[begin][0], origin[end - 1][1], term


def _parts(text: str) -> list[tuple[int, int]]:
    """Return the start and the end of each character with all that normalisation joins to it."""
    starts = [k for k, character in enumerate(text) if not k or not _is_joined(character)]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _is_joined(character: str) -> bool:
    """Return whether a character is an accent, or a later letter of a Korean syllable."""
    return bool(combining(nfkc(character)[0])) or "\u1160" <= character <= "\u11ff"


def _plain_spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the term of each word of a text in compatibility form."""
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

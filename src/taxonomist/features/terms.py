"""Split texts in any script into words.

Words are in Unicode's compatibility form (NFKC) with folded case, so that a ligature, a full-width
letter, a capital or an accent of its own makes no other word. Characters that are not shown, such
as soft hyphens, are left out. Accents and vowel signs belong to their words. In scripts without
spaces between words, the words are pairs of neighbouring characters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import combining

from taxonomist._unicode import nfkc

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "MARKS",
    "UNSPACED",
    "grams_of",
    "is_unspaced",
    "plain_text",
    "respelled",
    "spans",
    "words_in",
    "words_of",
]

# Scripts without spaces between words: Thai, Lao; Myanmar; Khmer; New Tai Lue, Tai Tham; kana,
# Bopomofo; ideographs, also rare ones.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3\u17d7\u17dc-\u17ff\u1980-\u19df\u1a20-\u1a9f"
    "\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U000323af"
)
# Accents and vowel signs, which are no letters for regular expressions: accents; Cyrillic, Hebrew,
# Arabic, Syriac, Thaana, N'Ko; all of the Indic blocks but their full stops; Tibetan, Ethiopic.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u07a6-\u07b0\u07eb-\u07f3\u0900-\u0963\u0966-\u096f\u0971-\u0dff\u0f18\u0f19\u0f35\u0f37"
    "\u0f39\u0f3e-\u0f84\u0f86-\u0f97\u0f99-\u0fbc\u135d-\u135f"
)
TERM = re.compile(rf"[{UNSPACED}]+|(?:[^\W{UNSPACED}]|[{MARKS}]){{2,}}|\d")
RUN = re.compile(rf"[{UNSPACED}]")
# Soft hyphen, joiners, marks of direction, and the byte order mark.
UNSEEN = dict.fromkeys((0xAD, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF))
HAS_UNSEEN = re.compile(f"[{''.join(map(chr, UNSEEN))}]")


def words_of(text: str) -> list[str]:
    """Return the words of a text, with repetitions."""
    return words_in(plain_text(text))


def words_in(plain: str) -> list[str]:
    """Return the words of a plain text, with repetitions."""
    found = TERM.findall(plain)
    if not plain.isascii() and RUN.search(plain):
        return [part for word in found for part in _pairs(word)]
    return found


def grams_of(word: str, least: int, most: int) -> dict[str, int]:
    """Return the character n-grams of a word with the spaces around it, and their counts.

    Those of a word in a script without spaces are its characters.
    """
    if is_unspaced(word):
        found = list(word)
    else:
        padded = f" {word} "
        found = [
            padded[k : k + n]
            for n in range(least, min(most, len(padded)) + 1)
            for k in range(len(padded) - n + 1)
        ]
    counts = dict.fromkeys(found, 1)
    if len(counts) < len(found):
        for gram in counts:
            counts[gram] = found.count(gram)
    return counts


def respelled(term: str) -> str:
    """Return a term of old features, in lower case, as texts are spelled now."""
    return term if term.isascii() else plain_text(term)


def is_unspaced(word: str) -> bool:
    """Return whether a word consists of characters of a script without spaces."""
    return RUN.match(word) is not None


def plain_text(text: str) -> str:
    """Return a text in compatibility form, with folded case and without unseen characters."""
    if text.isascii():
        return text.lower()
    if HAS_UNSEEN.search(text):
        text = text.translate(UNSEEN)
    # Folding may take a text out of the compatibility form.
    return nfkc(nfkc(text).casefold())


def spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the term of each word of a text."""
    if text.isascii():
        yield from _plain_spans(text.lower())
        return
    parts = _parts(text)
    pieces = [plain_text(text[begin:end]) for begin, end in parts]
    # The part of the text that each character of the plain one comes from.
    origin = [part for part, piece in zip(parts, pieces, strict=True) for _ in piece]
    for begin, end, term in _plain_spans("".join(pieces)):
        yield origin[begin][0], origin[end - 1][1], term


def _parts(text: str) -> list[tuple[int, int]]:
    """Return the start and the end of each character with all that normalisation joins to it."""
    starts = [k for k, character in enumerate(text) if not k or not _is_joined(character)]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _is_joined(character: str) -> bool:
    """Return whether a character is unseen, an accent, or a later letter of a Korean syllable."""
    if ord(character) in UNSEEN:
        return True
    return bool(combining(nfkc(character)[0])) or "\u1160" <= character <= "\u11ff"


def _plain_spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the term of each word of a plain text."""
    for found in TERM.finditer(text):
        begin, end = found.span()
        if end - begin > 2 and is_unspaced(found.group()):
            yield from ((k, k + 2, text[k : k + 2]) for k in range(begin, end - 1))
        else:
            yield begin, end, found.group()


def _pairs(word: str) -> list[str]:
    """Return the pairs of neighbouring characters in an unspaced script, or the word itself."""
    if len(word) <= 2 or not is_unspaced(word):
        return [word]
    return [word[k : k + 2] for k in range(len(word) - 1)]

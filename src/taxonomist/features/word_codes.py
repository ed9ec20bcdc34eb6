"""Texts as numbers of words: many at a time in a compiled loop, or word by word.

Both give the same numbers. The loop knows the characters of the Basic Multilingual Plane, except
those of scripts without spaces; texts with others are split by regular expressions before.
"""

from __future__ import annotations

import re
from array import array
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled.jit import can_spare, is_compiled
from taxonomist.compiled.words import DIGIT, INSIDE, PlainTexts, WordCodes, code_words
from taxonomist.features.terms import MARKS, UNSPACED, plain_text, words_in, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["add_words"]

CHARACTERS_AT_ONCE = 2**21
"""Characters that are split at once, about; each needs 32 bytes."""
MOST_SPARED = 2**21
"""Characters that are split without the loop at most, rather than to import numba."""
MOST_UNCOMPILED = 2**23
"""Characters that are split without the loop at most, rather than to compile it."""
N_KINDS = 2**16
"""Characters whose kind the loop knows."""

_FOREIGN = re.compile(rf"[{UNSPACED}]|[^\x00-\uffff]")


def add_words(
    texts: Iterable[str], find: Callable[[str], int], codes: array[int], ends: array[int]
) -> None:
    """Add the numbers of all words of texts to ``codes``, and where texts end to ``ends``.

    Parameters
    ----------
    texts
        The texts.
    find
        Returns the number of a word. It is called at least once for every distinct word, in order
        of first appearance.
    codes, ends
        Are extended.
    """
    for some, n_characters in _portions(texts):
        if _is_little(n_characters):
            for text in some:
                codes.extend(map(find, words_of(text)))
                ends.append(len(codes))
            continue
        words, found, lasts = _coded(some)
        number = np.fromiter(map(find, words), np.int32, len(words))
        ends.frombytes((lasts + len(codes)).tobytes())
        codes.frombytes(number[found].tobytes())


def _is_little(n_characters: int) -> bool:
    """Return whether the loop would take longer to load than its work takes without it."""
    if n_characters == 0 or can_spare(code_words, n_characters, MOST_SPARED):
        return True
    return not is_compiled(code_words) and can_spare(code_words, n_characters, MOST_UNCOMPILED)


def _portions(texts: Iterable[str]) -> Iterator[tuple[list[str], int]]:
    """Yield portions of texts with their numbers of characters."""
    some: list[str] = []
    n_characters = 0
    for text in texts:
        some.append(text)
        n_characters += len(text)
        if n_characters >= CHARACTERS_AT_ONCE:
            yield some, n_characters
            some, n_characters = [], 0
    if some:
        yield some, n_characters


def _coded(texts: list[str]) -> tuple[list[str], NDArray[np.int32], NDArray[np.int64]]:
    """Return the distinct words of texts, the number of each word, and where each text ends."""
    whole, is_split = "".join(texts), np.zeros(len(texts), dtype=bool)
    if whole.isascii():
        whole = whole.lower()
    else:
        for k, text in enumerate(texts := [*map(plain_text, texts)]):
            if not text.isascii() and _FOREIGN.search(text):
                texts[k], is_split[k] = "\0".join(words_in(text)), True
        whole = "".join(texts)
    n = len(whole)
    points = np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), "<u4")
    given = PlainTexts(
        points, np.fromiter(accumulate(map(len, texts)), np.intp, len(texts)), is_split, _kinds()
    )
    n_slots = 1 << max(4, n.bit_length())
    out = WordCodes(
        np.empty(n, np.int32),
        np.empty(len(texts), np.int64),
        np.empty(n, np.intp),
        np.empty(n, np.intp),
        np.full(n_slots, -1, np.int32),
    )
    n_words = code_words(given, out)
    begins, sizes = out.begins[:n_words].tolist(), out.sizes[:n_words].tolist()
    words = [whole[begin : begin + size] for begin, size in zip(begins, sizes, strict=True)]
    return words, out.codes[: out.ends[-1]], out.ends


@cache
def _kinds() -> NDArray[np.uint8]:
    """Return the kinds of characters by code point."""
    kinds = np.zeros(N_KINDS, np.uint8)
    every = "".join(map(chr, range(N_KINDS)))
    for expression, kind in ((rf"[\w{MARKS}]", INSIDE), (r"\d", DIGIT)):
        kinds[[found.start() for found in re.finditer(expression, every)]] = kind
    return kinds

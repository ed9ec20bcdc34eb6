"""Texts as numbers of words: many at a time in a compiled loop, or word by word.

Both give the same numbers. The loop knows the characters of the Basic Multilingual Plane, except
those of scripts without spaces; texts with others are split by regular expressions before.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import accumulate, count
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled.jit import can_spare, is_compiled
from taxonomist.compiled.words import DIGIT, INSIDE, PlainTexts, WordCodes, code_words
from taxonomist.features.terms import MARKS, UNSPACED, plain_text, words_in, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from taxonomist._spill import Spool
    from taxonomist._typing import Codes, Integers

    Coded = tuple[list[str], Integers, Codes]
    """The distinct words of texts, the number of each word, and where each text ends."""

__all__ = ["add_words"]

CHARACTERS_AT_ONCE = 2**22
"""Characters that are split at once, about; each needs 32 bytes."""
MOST_SPARED = 2**21
"""Characters that are split without the loop at most, rather than to import numba."""
MOST_UNCOMPILED = 2**23
"""Characters that are split without the loop at most, rather than to compile it."""
AHEAD = 2
"""Portions that are read while the words of another one are found."""
N_KINDS = 2**16
"""Characters whose kind the loop knows."""

_FOREIGN = re.compile(rf"[{UNSPACED}]|[^\x00-\uffff]")


def add_words(texts: Iterable[str], words: list[str], codes: Spool, ends: Spool) -> list[str]:
    """Add the numbers of all words of texts to ``codes``, and where texts end to ``ends``.

    Parameters
    ----------
    texts
        The texts.
    words
        The words that have numbers: their places. It is not changed.
    codes, ends
        Are extended.

    Returns
    -------
    list of str
        The words and new ones behind them, in order of first appearance.
    """
    number: defaultdict[str, int] = defaultdict(count(len(words)).__next__)
    number.update(zip(words, count(), strict=False))
    find = number.__getitem__
    for some, n_characters, coded in _ahead(_portions(texts)):
        before = len(codes)
        if coded is None:
            found, lasts = array("i"), array("q")
            for text in some:
                found.extend(map(find, words_of(text)))
                lasts.append(before + len(found))
            codes.add(np.frombuffer(found, "i") if found else np.empty(0, np.int32))
            ends.add(np.frombuffer(lasts, "q"))
            continue
        distinct, numbers, places = coded()
        ends.add(places + before)
        if not number and n_characters < CHARACTERS_AT_ONCE:
            # All texts: their words have numbers already.
            codes.add(numbers)
            return distinct
        codes.add(np.fromiter(map(find, distinct), np.int32, len(distinct))[numbers])
    return list(number)


def _ahead(
    portions: Iterable[tuple[list[str], int]],
) -> Iterator[tuple[list[str], int, Callable[[], Coded] | None]]:
    """Yield portions with a function that returns their words.

    A thread finds these while other portions are read. Those with little work have None instead.
    """
    waiting: deque[tuple[list[str], int, Callable[[], Coded] | None]] = deque()
    pool = ThreadPoolExecutor(1)  # it starts no thread before there is work
    try:
        for some, n_characters in portions:
            coded: Callable[[], Coded] | None = None
            if not _is_little(n_characters):
                # The last portion is smaller; starting a thread takes as long as some texts.
                is_last = n_characters < CHARACTERS_AT_ONCE
                coded = partial(_coded, some) if is_last else pool.submit(_coded, some).result
            waiting.append((some, n_characters, coded))
            if len(waiting) > AHEAD:
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()
    finally:
        pool.shutdown(cancel_futures=True)


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


def _coded(texts: list[str]) -> Coded:
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
    out = WordCodes(
        np.empty(n, np.int32),
        np.empty(len(texts), np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int32),
        np.empty(n, np.uint32),
        # There is a word for every two characters at most, and a slot for every word at least.
        np.full(1 << max(4, n.bit_length()), -1, np.int32),
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

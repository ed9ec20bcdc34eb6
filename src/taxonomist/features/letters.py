"""Split items into letters, and encode letters as integers.

A letter is one element of a sequence: a character, a word, or a token of any kind. An item is a
string, which ``unit`` splits into letters, or a list of letters.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from taxonomist.errors import ParameterError, closest
from taxonomist.features.syllables import syllables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from taxonomist._typing import Codes


Unit: TypeAlias = "str | Callable[[str], Sequence[str]]"
"""What strings are split into: ``"char"`` or another name, or a function."""

Alphabet: TypeAlias = "str | Iterable[str]"
"""The letters to know."""


AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
"""The twenty standard amino acids, without codes for rare (O, U) or ambiguous ones (B, J, X, Z)."""

UNITS = ("char", "word", "syllable")
OUTSIDE = ("error", "skip")

_WORD = re.compile(r"\w+")


class Letters(NamedTuple):
    """Encoded letters of all items, concatenated; -1 marks letters that do not count.

    The letters of item i are at ``ends[i]`` to ``ends[i + 1]``.
    """

    codes: Codes  # (n_letters_in_all,)
    ends: Codes  # (n_items + 1,)


def split_items(items: Any, unit: str | Callable[[str], Sequence[str]]) -> list[Sequence[str]]:
    """Return the letters of each item; with ``unit="char"`` a string stays a string.

    Parameters
    ----------
    items
        Strings, or lists of letters, in any one-dimensional collection.
    unit
        ``"char"``; ``"word"``, runs of letters, digits and underscores in lower case;
        ``"syllable"``, the syllables of these words; or a function from a string to its letters.

    Returns
    -------
    list of sequences of str

    Raises
    ------
    TypeError
        If ``items`` is not such a collection, or an item is neither a string nor a list of strings.
    ValueError
        If ``unit`` is unknown.
    """
    split = _splitter(unit)
    if isinstance(items, str | bytes):
        raise TypeError("Items must be a collection of strings. Got one string; put it in a list.")
    if getattr(items, "ndim", 1) != 1:
        raise TypeError(
            f"Items must be a one-dimensional collection of strings. Got {type(items).__name__} of "
            f"shape {items.shape}; pass a single column."
        )
    try:
        numbered = enumerate(items)
    except TypeError:
        message = f"Items must be a collection of strings. Got {type(items).__name__}."
        raise TypeError(message) from None
    return [split(item) if isinstance(item, str) else _listed(item, i) for i, item in numbered]


def _splitter(unit: Unit) -> Callable[[str], Sequence[str]]:
    """Return the function that splits a string into letters."""
    if unit == "char":
        return str
    if unit == "word":
        return lambda text: _WORD.findall(text.lower())
    if unit == "syllable":
        return _spelled
    if not callable(unit):
        hint = closest(str(unit), UNITS)
        raise ParameterError(
            f"unit must be 'char', 'word', 'syllable' or a function. Got {unit!r}.{hint}"
        )

    def split(text: str) -> Sequence[str]:
        letters = unit(text)
        if isinstance(letters, str) or not all(isinstance(letter, str) for letter in letters):
            raise TypeError(
                "The function given as unit must return a list of strings. "
                f"Got {reprlib.repr(letters)} for {reprlib.repr(text)}."
            )
        return list(letters)

    return split


def _spelled(text: str) -> list[str]:
    """Return the syllables of a text, word after word."""
    return [part for word in _WORD.findall(text.lower()) for part in syllables(word)]


def _listed(item: Any, i: int) -> list[str]:
    """Check an item that is not a string and return it as a list of letters."""
    is_list = isinstance(item, Sequence) or getattr(item, "ndim", 0) == 1
    if not is_list or isinstance(item, bytes | bytearray | memoryview):
        advice = "decode it" if isinstance(item, bytes | bytearray) else "remove it, or pass ''"
        raise TypeError(
            f"Item {i} is {reprlib.repr(item)} ({type(item).__name__}), but items must be strings "
            f"or lists of strings: {advice}."
        )
    for place, letter in enumerate(item):
        if not isinstance(letter, str):
            raise TypeError(
                f"Item {i} has {letter!r} ({type(letter).__name__}) at index {place}, but items "
                "must be strings or lists of strings."
            )
    return list(item)


def check_alphabet(alphabet: Any, outside: str) -> list[str] | None:
    """Return a given alphabet in sorted order, or None if there is none.

    Raises
    ------
    TypeError
        If the alphabet is not a collection of strings.
    ValueError
        If it is empty or has a letter twice, or ``outside`` is not in ``OUTSIDE``.
    """
    if outside not in OUTSIDE:
        raise ParameterError(f"outside must be one of {', '.join(OUTSIDE)}. Got {outside!r}.")
    if alphabet is None:
        return None
    try:
        letters = list(alphabet)
    except TypeError:
        letters = [alphabet]
    for letter in letters:
        if not isinstance(letter, str):
            raise TypeError(f"alphabet must consist of strings. Got {letter!r} in it.")
    if not letters:
        raise ParameterError("alphabet is empty. Pass its letters, or None for those of the items.")
    if len(set(letters)) < len(letters):
        twice = next(letter for letter in letters if letters.count(letter) > 1)
        raise ParameterError(f"alphabet has {twice!r} more than once.")
    return sorted(letters)


def distinct_letters(sequences: list[Sequence[str]]) -> list[str]:
    """Return all letters that occur, sorted."""
    if _are_strings(sequences):
        return [chr(point) for point in np.flatnonzero(np.bincount(_code_points(sequences)))]
    return sorted(set(chain.from_iterable(sequences)))


def code_letters(sequences: list[Sequence[str]], index: Mapping[str, int]) -> Letters:
    """Encode sequences by an index of letters; unknown letters become -1."""
    ends = np.zeros(len(sequences) + 1, dtype=np.intp)
    np.cumsum([len(sequence) for sequence in sequences], out=ends[1:])
    if not _are_strings(sequences):
        codes = (index.get(letter, -1) for letter in chain.from_iterable(sequences))
        return Letters(np.fromiter(codes, dtype=np.intp, count=ends[-1]), ends)
    points = _code_points(sequences)
    table = np.full(points.max(initial=0) + 1, -1, dtype=np.intp)
    for letter, code in index.items():
        if len(letter) == 1 and ord(letter) < len(table):
            table[ord(letter)] = code
    return Letters(table[points], ends)


def check_inside(
    letters: Letters, sequences: list[Sequence[str]], alphabet: list[str], outside: str
) -> None:
    """Raise for letters outside the alphabet, unless ``outside`` is ``"skip"``.

    Raises
    ------
    ValueError
        If there is such a letter; the message names the first.
    """
    if outside == "skip" or letters.codes.min(initial=0) >= 0:
        return
    first = int(np.argmin(letters.codes >= 0))
    i = int(np.searchsorted(letters.ends, first, side="right")) - 1
    place = first - int(letters.ends[i])
    shown = "".join(alphabet) if all(len(letter) == 1 for letter in alphabet) else alphabet
    known = f"{shown!r}" if len(alphabet) <= 30 else f"of {len(alphabet)} letters"
    raise ParameterError(
        f"Item {i} has {sequences[i][place]!r} at index {place}, which is not in the alphabet "
        f"{known}. Add it, or set outside='skip' to leave out substrings with such letters."
    )


def _are_strings(sequences: list[Sequence[str]]) -> bool:
    """Return whether all sequences are strings, so that letters are characters."""
    return all(isinstance(sequence, str) for sequence in sequences)


def _code_points(strings: list[Any]) -> NDArray[np.uint32]:
    """Return the Unicode code points of the concatenated strings."""
    joined = "".join(strings).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype="<u4")

"""The gapped substring kernel of pairs of strings.

Problem       K_l(s, t) = Σ_u φ_u(s) φ_u(t) over all strings u of l letters, where φ_u(s) is the sum
              of λ^g over all occurrences of u in s, and g the number of letters that an occurrence
              leaves out between its first letter and its last.
Notation      i, j       places in s and t
              M_l(i, j)  the part of K_l of occurrences that end at i and j: 0 unless s_i = t_j,
                         1 for l = 1                                           ``found``
              C_l(i, j)  Σ_{i' <= i} λ^(i - i') M_l(i', j)                     ``sums``
              D_l(i, j)  Σ_{j' <= j} λ^(j - j') C_l(i, j')                     ``run``
Step          M_{l+1}(i, j) = D_l(i - 1, j - 1) where s_i = t_j; K_l = Σ_ij M_l(i, j). For each i,
              only the j with t_j = s_i are visited, by lists of the places of each letter. To get
              from one to the next, whole chunks of t are passed over by their sums; C is kept
              divided by λ^i, so that it changes at these j only. There are no differences, hence
              no cancellation.
Cost          O(p (|s| |t| / CHUNK + CHUNK m)) for m pairs of places with equal letters, memory
              O(p |t|).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Codes, Floats
from taxonomist.compiled.jit import compiled

CHUNK = 8
"""Columns that are passed over at once: 8 was fastest for proteins and for words."""

LEAST_SCALE = 1e-100
"""C is multiplied by λ^i when that gets smaller than this, long before numbers underflow."""


class Strings(NamedTuple):
    """Strings of coded letters, and the places of each letter in each string."""

    ends: Codes  # (n_strings + 1,)  string i has the letters from ends[i] to ends[i + 1]
    letters: Codes  # (n_letters,)  number among the string's different letters; -1: a gap
    kind_ends: Codes  # (n_strings + 1,)  the same for the string's different letters
    kinds: Codes  # (n_kinds,)  their codes, ascending within a string
    place_ends: Codes  # (n_kinds + 1,)  the same for the places of a kind
    places: Codes  # (n_places,)  ascending within a kind


class StringScratch(NamedTuple):
    """Work arrays for one pair of strings; p is the longest length."""

    first: Codes  # (most kinds of a string,)  where the places of a kind of s begin in t
    last: Codes  # (most kinds of a string,)  and where they end
    sums: Floats  # (longest t, p - 1)  C / scale
    chunks: Floats  # (chunks of it, p - 1)  Σ_j λ^(end of chunk - j) C_j / scale
    run: Floats  # (2, p - 1)  D / scale, at the start of the chunk and at the present column
    found: Floats  # (longest t, p)  M of the present row at its places
    totals: Floats  # (p,)  K_1, ..., K_p


@compiled()
def write_gapped(
    s: Strings,  # in
    t: Strings,  # in
    powers: Floats,  # in (CHUNK + 1,)  λ^0, λ^1, ...
    lengths: tuple[int, int],
    rows: tuple[int, int],
    is_symmetric: bool,
    scratch: StringScratch,
    values: Floats,  # out (n_strings of s, n_strings of t)
) -> None:
    """Write Σ_l K_l for some rows; if s and t are the same, from the diagonal on."""
    for i in range(rows[0], rows[1]):
        for j in range(i if is_symmetric else 0, len(t.ends) - 1):
            values[i, j] = pair_value(s, i, t, j, powers, lengths[0], scratch)


@compiled()
def write_own(
    s: Strings,  # in
    powers: Floats,  # in (CHUNK + 1,)
    lengths: tuple[int, int],
    rows: tuple[int, int],
    scratch: StringScratch,
    values: Floats,  # out (n_strings,)
) -> None:
    """Write Σ_l K_l of some strings with themselves."""
    for i in range(rows[0], rows[1]):
        values[i] = pair_value(s, i, s, i, powers, lengths[0], scratch)


def string_scratch(s: Strings, t: Strings, p: int) -> StringScratch:
    """Return work arrays for any pair of strings."""
    most_kinds = int(np.diff(s.kind_ends).max(initial=0))
    longest = int(np.diff(t.ends).max(initial=0))
    return StringScratch(
        np.zeros(most_kinds, dtype=np.intp),
        np.zeros(most_kinds, dtype=np.intp),
        np.zeros((longest, p - 1)),
        np.zeros((longest // CHUNK + 1, p - 1)),
        np.zeros((2, p - 1)),
        np.zeros((longest, p)),
        np.zeros(p),
    )


@compiled(inline=True)
def pair_value(
    s: Strings, i: int, t: Strings, j: int, powers: Floats, shortest: int, scratch: StringScratch
) -> float:
    """Return Σ_l K_l of string i of s and string j of t."""
    if not match_kinds(s, i, t, j, scratch):
        return 0.0
    width = t.ends[j + 1] - t.ends[j]
    clear(width, scratch)
    scale = 1.0
    for row in range(s.ends[i], s.ends[i + 1]):
        kind = s.letters[row]
        matches = kind >= 0 and scratch.first[kind] < scratch.last[kind]
        if matches:
            find(t.places, scratch.first[kind], scratch.last[kind], powers, scale, scratch)
        scale *= powers[1]
        if scale < LEAST_SCALE:
            rescale(width, scale, scratch)
            scale = 1.0
        if matches:
            enter(t.places, scratch.first[kind], scratch.last[kind], powers, scale, scratch)
    total = 0.0
    for k in range(shortest - 1, len(scratch.totals)):
        total += scratch.totals[k]
    return total


@compiled(inline=True)
def match_kinds(s: Strings, i: int, t: Strings, j: int, scratch: StringScratch) -> bool:
    """Write where the places of each kind of s are in t; return whether there are any."""
    start = s.kind_ends[i]
    y, y_end = t.kind_ends[j], t.kind_ends[j + 1]
    is_any = False
    for x in range(start, s.kind_ends[i + 1]):
        while y < y_end and t.kinds[y] < s.kinds[x]:
            y += 1
        scratch.first[x - start] = 0
        scratch.last[x - start] = 0
        if y < y_end and t.kinds[y] == s.kinds[x]:
            scratch.first[x - start] = t.place_ends[y]
            scratch.last[x - start] = t.place_ends[y + 1]
            is_any = True
    return is_any


@compiled(inline=True)
def clear(width: int, scratch: StringScratch) -> None:
    """Set the totals, and C in the first ``width`` columns, to 0."""
    for k in range(len(scratch.totals)):
        scratch.totals[k] = 0.0
    for k in range(scratch.sums.shape[1]):
        for column in range(width):
            scratch.sums[column, k] = 0.0
        for c in range(width // CHUNK + 1):
            scratch.chunks[c, k] = 0.0


@compiled(inline=True)
def find(
    places: Codes, first: int, last: int, powers: Floats, scale: float, scratch: StringScratch
) -> None:
    """Write M of a row at its places, and add it to the totals."""
    n_sums = scratch.sums.shape[1]
    for k in range(n_sums):
        scratch.run[0, k] = 0.0
        scratch.run[1, k] = 0.0
    chunk, column = 0, 0
    for x in range(first, last):
        place = places[x]
        if place // CHUNK > chunk:
            for c in range(chunk, place // CHUNK):
                for k in range(n_sums):
                    scratch.run[0, k] = powers[CHUNK] * scratch.run[0, k] + scratch.chunks[c, k]
            chunk = place // CHUNK
            column = chunk * CHUNK
            for k in range(n_sums):
                scratch.run[1, k] = scratch.run[0, k]
        while column < place:
            for k in range(n_sums):
                scratch.run[1, k] = powers[1] * scratch.run[1, k] + scratch.sums[column, k]
            column += 1
        scratch.found[x - first, 0] = 1.0
        scratch.totals[0] += 1.0
        for k in range(n_sums):
            value = scale * scratch.run[1, k]
            scratch.found[x - first, k + 1] = value
            scratch.totals[k + 1] += value


@compiled(inline=True)
def rescale(width: int, scale: float, scratch: StringScratch) -> None:
    """Multiply C in the first ``width`` columns by a scale."""
    for k in range(scratch.sums.shape[1]):
        for column in range(width):
            scratch.sums[column, k] *= scale
        for c in range(width // CHUNK + 1):
            scratch.chunks[c, k] *= scale


@compiled(inline=True)
def enter(
    places: Codes, first: int, last: int, powers: Floats, scale: float, scratch: StringScratch
) -> None:
    """Add M of a row to C at its places."""
    for x in range(first, last):
        place = places[x]
        chunk = place // CHUNK
        to_end = powers[CHUNK - 1 - (place - chunk * CHUNK)]
        for k in range(scratch.sums.shape[1]):
            value = scratch.found[x - first, k] / scale
            scratch.sums[place, k] += value
            scratch.chunks[chunk, k] += value * to_end

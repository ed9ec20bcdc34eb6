"""Substrings by enumeration, straight from their definition."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import strategies as st

items = st.lists(st.text(alphabet="abc", max_size=8), min_size=1, max_size=5)
ranges = st.tuples(st.integers(1, 4), st.integers(1, 4)).map(sorted).map(tuple)


def weighted_substrings(letters, lengths, max_gaps=0, decay=1.0, alphabet=None):
    """Return the weight of each substring: all choices of places, one by one."""
    weights = Counter()
    for length in range(lengths[0], lengths[1] + 1):
        for places in combinations(range(len(letters)), length):
            gaps = places[-1] - places[0] + 1 - length
            substring = tuple(letters[place] for place in places)
            if gaps <= max_gaps and (alphabet is None or set(substring) <= set(alphabet)):
                weights[substring] += decay**gaps
    return weights


def naive_kernel(s, t, lengths, decay):
    """Return the sum over all common subsequences, with gaps of any size."""
    left = weighted_substrings(s, lengths, len(s), decay)
    right = weighted_substrings(t, lengths, len(t), decay)
    return sum(weight * right[u] for u, weight in left.items())

"""Explanations in which words stand for the character n-grams that they contain."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from taxonomist.features.terms import grams_of, words_of

if TYPE_CHECKING:
    from taxonomist.models.explanation import Explanation, NodePart

__all__ = ["spread_grams"]


def spread_grams(found: Explanation, text: str, characters: tuple[int, int]) -> Explanation:
    """Replace character n-grams in an explanation by the words of the text that contain them.

    Parameters
    ----------
    found
        The explanation of a model, with all features; n-grams are in quotes.
    text
        The text.
    characters
        The smallest and the largest number of characters of n-grams.

    Returns
    -------
    Explanation
        The same scores. What an n-gram contributes is divided among the words that contain it, in
        proportion to how often they do.
    """
    holders: dict[str, dict[str, int]] = defaultdict(dict)
    for word, n in Counter(words_of(text)).items():
        for gram, times in grams_of(word, *characters).items():
            holders[f'"{gram}"'][word] = n * times
    return replace(found, parts=[_spread(part, holders) for part in found.parts])


def _spread(part: NodePart, holders: dict[str, dict[str, int]]) -> NodePart:
    """Return a part with the contributions of n-grams added to those of words."""
    totals: dict[str, float] = defaultdict(float)
    for name, share in part.features:
        words = holders.get(name) if name.startswith('"') else None
        if not words:
            totals[name] += share
            continue
        n_times = sum(words.values())
        for word, times in words.items():
            totals[word] += share * times / n_times
    features = tuple(sorted(totals.items(), key=lambda pair: -abs(pair[1])))
    return replace(part, features=features)

"""What the words of a text contribute to a score through its sentence vector.

The score is linear in the vector's columns: a column x_k adds g_k x_k, which the explanation of the
model gives. The vector itself is a sum over tokens and a constant, x = Σ_t p_t + c, so that the
share of a token is Σ_k g_k p_tk, and shares and constant sum to what the vector adds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.features.terms import spans

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taxonomist._typing import CSR, Floats, Objects
    from taxonomist.features.sentence_vectors import VectorParts
    from taxonomist.models.explanation import Explanation, NodePart

__all__ = ["WHOLE", "column_names", "share_out"]

MARK = "\0"
"""What names of vector columns begin with; no word has it."""
WHOLE = "(meaning)"
"""Stands for the whole text, if the encoder does not know what its words contribute."""


def column_names(terms: Objects, n_columns: int) -> Objects:
    """Return the names of the words, followed by those of the vector columns."""
    names = np.array([f"{MARK}{k}" for k in range(n_columns)], dtype=object)
    return np.concatenate([terms, names])


def share_out(
    found: Explanation, row: CSR, parts: VectorParts | None, weight: float, text: str
) -> tuple[Explanation, tuple[Mapping[str, float], ...]]:
    """Replace vector columns in an explanation by the words of the text.

    Parameters
    ----------
    found
        The explanation of a model, with all features under names by ``column_names``.
    row
        The features of the item, (1, n_features).
    parts
        The vector as a sum over tokens; None if that is unknown.
    weight
        The weight of the vector beside words.
    text
        The text.

    Returns
    -------
    explanation
        The same scores. The contribution of a word is that of its own column and of its tokens.
        What the centre and the marks at both ends contribute counts for no word.
    of_vectors
        For each part of the explanation, what words contribute through the vector.
    """
    words = [] if parts is None else _words_of(text, parts)
    shared = [_shared(part, row, parts, weight, words) for part in found.parts]
    merged = [_merged(part, extra) for part, extra in zip(found.parts, shared, strict=True)]
    return replace(found, parts=merged), tuple(shared)


def _words_of(text: str, parts: VectorParts) -> list[str]:
    """Return the word that each token belongs to; other tokens stand for themselves."""
    places = list(spans(text))
    starts = [start for start, _, _ in places]
    words = []
    for start, end in zip(parts.starts.tolist(), parts.ends.tolist(), strict=True):
        k = bisect_right(starts, start) - 1
        is_inside = k >= 0 and start < places[k][1]
        words.append(places[k][2] if is_inside else text[start:end].lower())
    return words


def _shared(
    part: NodePart, row: CSR, parts: VectorParts | None, weight: float, words: Sequence[str]
) -> dict[str, float]:
    """Return what words contribute to a node through the vector."""
    shares = {int(name[1:]): share for name, share in part.features if name.startswith(MARK)}
    if parts is None:
        return {WHOLE: sum(shares.values())} if shares else {}
    n_columns = len(parts.constant)
    values: Floats = row[:, row.shape[1] - n_columns :].toarray().ravel()
    slopes = np.zeros(n_columns)
    for k, share in shares.items():
        slopes[k] = share / values[k]
    found: dict[str, float] = defaultdict(float)
    for word, share in zip(words, (weight * parts.values @ slopes).tolist(), strict=True):
        found[word] += share
    return dict(found)


def _merged(part: NodePart, extra: Mapping[str, float]) -> NodePart:
    """Return a part with the contributions of words through the vector added."""
    totals = {name: share for name, share in part.features if not name.startswith(MARK)}
    for word, share in extra.items():
        totals[word] = totals.get(word, 0.0) + share
    features = tuple(sorted(totals.items(), key=lambda pair: -abs(pair[1])))
    return replace(part, features=features, rest=part.value - sum(totals.values()))

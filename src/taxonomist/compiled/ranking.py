"""Ranking categories by the scores of attributes, without storing all scores."""

from __future__ import annotations

from taxonomist._typing import Codes, Floats, Reals
from taxonomist.compiled.arrays import Attributes
from taxonomist.compiled.attributes import category_score
from taxonomist.compiled.jit import compiled


@compiled()
def best_categories(
    node_scores: Reals,  # in (n_items, n_attributes)
    attributes: Attributes,  # in
    categories: Codes,  # out (n_items, k)  best first; of equal ones the first
    scores: Floats,  # out (n_items, k)
) -> None:
    """Write the k best categories of each item and their scores [CH04, Eq. 2]."""
    n_categories = len(attributes.indptr) - 1
    k = categories.shape[1]
    for i in range(len(node_scores)):
        found = 0
        for c in range(n_categories):
            total = category_score(attributes, c, node_scores[i])
            if found == k and total <= scores[i, k - 1]:
                continue
            a = min(found, k - 1)
            while a > 0 and scores[i, a - 1] < total:
                scores[i, a] = scores[i, a - 1]
                categories[i, a] = categories[i, a - 1]
                a -= 1
            scores[i, a] = total
            categories[i, a] = c
            found = min(found + 1, k)

"""Folds of documents, for choices and probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Codes

__all__ = ["document_folds", "n_folds_of"]

MOST_FOLDS = 10
"""Folds of few documents."""
ITEMS_OF_FOLDS = 2000
"""Documents times folds up to which there are more folds than usual."""
FEWEST_ITEMS = 30
"""Fewer documents have as many folds as usual: what they tell is noise anyway."""


def n_folds_of(n_items: int, usual: int) -> int:
    """Return the number of folds: more of few documents, where every one that is left out counts.

    With 7 documents of a category, 3 folds leave 4 or 5 of them to learn from, and what is best
    with these is not best with 7: sentence vectors count more, and the margins of SVMs less.
    """
    if n_items < FEWEST_ITEMS:
        return usual
    return max(usual, min(MOST_FOLDS, ITEMS_OF_FOLDS // n_items))


def document_folds(
    labels: Sequence[object], n_folds: int, *, is_multilabel: bool, n_added: int = 0
) -> list[tuple[Codes, Codes]]:
    """Return pairs of training and held-out documents; none if no document can be held out.

    With one label per item, each category is dealt out evenly. Otherwise a category that happens to
    have many documents in a fold would be rare in training just where it is asked for, so that
    margins, which know how frequent categories are, would look worse than they are.

    Parameters
    ----------
    labels
        The labels of the documents.
    n_folds
        The number of folds.
    is_multilabel
        Whether these are label sets.
    n_added
        The number of items behind the documents, such as names, which are in all training parts.
    """
    n = len(labels)
    if n < 2:
        return []
    order = np.random.default_rng(0).permutation(n)
    if not is_multilabel:
        numbers: dict[object, int] = {}
        codes = np.array([numbers.setdefault(label, len(numbers)) for label in labels])
        order = order[np.argsort(codes[order], kind="stable")]
    added = np.arange(n, n + n_added)
    parts = [np.sort(order[k::n_folds]) for k in range(min(n_folds, n))]
    return [(np.concatenate([np.setdiff1d(order, test), added]), test) for test in parts]

"""Samples of items that keep rare categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Codes

__all__ = ["sampled"]

RARE = 3
"""Items of a rare category that a sample keeps, if it has as many and there is room."""


def sampled(
    labels: Sequence[object], is_multilabel: bool, most: int, seed: int, share: float = 1.0
) -> Codes:
    """Return at most ``most`` items in random order, those of rare categories first.

    In turn, a first, a second and a third item of every category is taken, and then any others.
    Without this, a sample of a corpus with many categories would hold few of them, and the search
    would judge models on a much easier problem.

    Parameters
    ----------
    labels
        The label of each item, or its labels.
    is_multilabel
        Whether items have label sets.
    most
        Maximum number of items.
    seed
        Random seed.
    share
        The share of the sample that first items of categories may take. The rest is any items.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(labels))
    if len(order) <= most:
        return order
    turns = np.full(len(order), RARE)
    counts: dict[object, int] = {}
    for place, item in enumerate(order.tolist()):
        row = cast("Sequence[object]", labels[item]) if is_multilabel else (labels[item],)
        turns[place] = min((counts.get(label, 0) for label in row), default=RARE)
        for label in row:
            counts[label] = counts.get(label, 0) + 1
    ranked = np.argsort(np.minimum(turns, RARE), kind="stable")
    first, others = ranked[: int(share * most)], np.sort(ranked[int(share * most) :])
    return rng.permutation(order[np.concatenate([first, others[: most - len(first)]])])

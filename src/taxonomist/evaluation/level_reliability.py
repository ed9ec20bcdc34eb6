"""Reliability per level from probabilities of classes, one block of items at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist._typing import MatrixLike, is_sparse
from taxonomist.errors import LabelError
from taxonomist.inference.node_probabilities import any_of_categories, sum_of_categories
from taxonomist.metrics.reliability import LevelReliability, ReliabilityBin, reliability
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import Floats
    from taxonomist.evaluation.outcomes import Outcomes

# Maximum number of node probabilities held dense at a time.
_DENSE_CELLS = 2**22


class RowBlocks:
    """Rows of a dense matrix, which are made when a block of them is asked for.

    Parameters
    ----------
    shape
        The shape of the whole matrix.
    make
        Returns some of the rows.
    """

    def __init__(self, shape: tuple[int, int], make: Callable[[slice], Floats]) -> None:
        self.shape = shape
        self._make = make

    def __getitem__(self, block: slice) -> Floats:
        """Return some of the rows."""
        return self._make(block)


def reliability_per_level(
    outcomes: Outcomes, probabilities: MatrixLike | RowBlocks, classes: Sequence[str] | None
) -> tuple[LevelReliability, ...]:
    """Compare the probability of each level's most probable node with how often it is true.

    Parameters
    ----------
    outcomes
        The truth; predictions are not used.
    probabilities
        Dense or sparse, with one column per class, or per node in taxonomy order; or blocks of
        such rows.
    classes
        The node of each column; None for all nodes.

    Returns
    -------
    tuple of LevelReliability
        One entry for each level below the root.

    Raises
    ------
    LabelError
        If the shape does not match items and classes, or a value is not a probability.
    """
    taxonomy = outcomes.taxonomy
    names = taxonomy.nodes if classes is None else tuple(classes)
    expected = (outcomes.n_items, len(names))
    given = (
        probabilities
        if is_sparse(probabilities) or isinstance(probabilities, RowBlocks)
        else np.asarray(probabilities)
    )
    if given.shape != expected:
        raise LabelError(
            f"probabilities must have shape {expected}, items x classes. Got {given.shape}."
        )
    given = given.tocsr() if is_sparse(given) else given
    size = max(1, _DENSE_CELLS // taxonomy.n_nodes)
    blocks = [
        reliability(
            outcomes.true[start : start + size],
            _of_nodes(outcomes, given[start : start + size], names),
            taxonomy,
        ).levels
        for start in range(0, outcomes.n_items, size)
    ]
    return tuple(_merged(parts) for parts in zip(*blocks, strict=True))


def _of_nodes(outcomes: Outcomes, block: Any, names: tuple[str, ...]) -> Floats:
    """Convert some rows of probabilities to one column per node."""
    P: Floats = np.asarray(block.toarray() if hasattr(block, "toarray") else block, np.float64)
    if names == outcomes.taxonomy.nodes:
        return P
    # Probabilities may exceed 1 by rounding.
    if not ((P >= 0) & (P <= 1 + 1e-9)).all():
        raise LabelError("probabilities must be between 0 and 1; calibrate scores first.")
    codes = labels.encode(outcomes.taxonomy, names, name="classes")
    combine = any_of_categories if outcomes.is_multilabel else sum_of_categories
    return combine(outcomes.taxonomy, codes, np.minimum(P, 1.0))


def _merged(parts: tuple[LevelReliability, ...]) -> LevelReliability:
    """Merge the answers of several blocks of items at one level."""
    bins = [part for level in parts for part in level.bins]
    merged = tuple(
        ReliabilityBin(low, high, *_average([part for part in bins if part.low == low]))
        for low, high in sorted({(part.low, part.high) for part in bins})
    )
    whole = _average(parts)
    gaps = (part.weight * abs(part.probability - part.share) for part in merged)
    return LevelReliability(parts[0].level, *whole, sum(gaps) / whole[0], merged)


def _average(parts: Sequence[LevelReliability | ReliabilityBin]) -> tuple[float, float, float]:
    """Return the total weight, and the weighted means of probability and share."""
    weights = [part.weight for part in parts]
    probability, share = (
        float(np.average([getattr(part, name) for part in parts], weights=weights))
        for name in ("probability", "share")
    )
    return sum(weights), probability, share

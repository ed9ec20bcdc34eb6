"""Bootstrap intervals of measures that are functions of sums over items.

A resample gives each item a weight, the number of times it was drawn. Every measure of an
assessment is a function of weighted sums, so all of them share one set of weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.evaluation.significance import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from taxonomist._typing import Floats
    from taxonomist.evaluation.significance import Seed

N_RESAMPLES = 1000

# Bounds the memory of one block of weights (32 MB of float64).
_BLOCK_CELLS = 2**22


def intervals(
    values: Callable[[Floats], Mapping[str, Floats]],
    n_items: int,
    *,
    random_state: Seed,
    n_resamples: int = N_RESAMPLES,
    confidence: float = 0.95,
) -> dict[str, Interval]:
    """Return bootstrap intervals of several measures over the same resamples.

    Parameters
    ----------
    values
        A function from weights, (n_rows, n_items), to the n_rows values of each measure.
    n_items
        Number of items; a single item gives an estimate but no interval.
    random_state
        Seed of the resamples.
    n_resamples
        Number of resamples.
    confidence
        Nominal coverage, between 0 and 1.

    Returns
    -------
    dict of Interval
        By measure: the percentiles of the resamples, centred on the estimate. The ends are NaN
        for a single item and for an undefined measure.
    """
    estimates = {name: float(value[0]) for name, value in values(np.ones((1, n_items))).items()}
    if n_items < 2:
        return {name: Interval(np.nan, np.nan, value) for name, value in estimates.items()}
    blocks = [values(weights) for weights in _weights(n_items, n_resamples, random_state)]
    tail = (1 - confidence) / 2
    found = {}
    for name, estimate in estimates.items():
        drawn = np.concatenate([block[name] for block in blocks])
        # A rare level can be absent from some resamples, where its value is undefined.
        drawn = drawn[~np.isnan(drawn)]
        low, high = np.quantile(drawn, [tail, 1 - tail]) if drawn.size else (np.nan, np.nan)
        # Resampling items of rare nodes lowers means over nodes, which is not a property of the
        # prediction. Use only the spread of the resamples, centred on the estimate.
        shift = estimate - (drawn.mean() if drawn.size else np.nan)
        found[name] = Interval(float(low + shift), float(high + shift), estimate)
    return found


def _weights(n_items: int, n_resamples: int, random_state: Seed) -> Iterator[Floats]:
    """Yield how often each item is drawn, (rows of the block, n_items)."""
    rng = np.random.default_rng(random_state)
    size = max(1, _BLOCK_CELLS // n_items)
    for start in range(0, n_resamples, size):
        n_rows = min(size, n_resamples - start)
        drawn = rng.integers(n_items, size=(n_rows, n_items))
        drawn += np.arange(n_rows)[:, None] * n_items
        counts = np.bincount(drawn.ravel(), minlength=n_rows * n_items)
        yield counts.reshape(n_rows, n_items).astype(np.float64)

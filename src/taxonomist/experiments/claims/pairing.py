"""Paired differences of cells, weighted so that their mean is the difference that a table shows.

A table shows the mean of a measure over folds and repeats. An item of fold r, which has n_r of the
N items and is one of R folds, contributes its value divided by R n_r. The contributions of the same
item, in several draws or in several pairs of cells, are added before a test, so that an item counts
once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.evaluation import bootstrap_interval, permutation_test, smallest_p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Codes, Floats
    from taxonomist.evaluation import PermutationResult
    from taxonomist.experiments.declarations import Result, Results

N_PERMUTATIONS = 9_999
"""Enough that Holm's correction of a hundred claims can leave the smallest p-value significant."""
SEED = 0
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Paired:
    """Values for distinct items, or for repeats.

    Attributes
    ----------
    ids
        The identities, sorted; None if they are unknown, and then those of other cells differ.
    values
        The values, scaled so that their mean is the difference of the averages that a table shows.
    """

    ids: tuple[str, ...] | None
    values: Floats

    @property
    def mean(self) -> float:
        """The difference of the averages."""
        return float(self.values.mean())

    def test(self) -> PermutationResult:
        """Test whether the mean is zero, by flipping the signs of items."""
        zeros = np.zeros_like(self.values)
        return permutation_test(
            self.values, zeros, n_permutations=N_PERMUTATIONS, random_state=SEED
        )

    def is_least(self, p_value: float) -> bool:
        """Return whether the test has no smaller p-value than this."""
        return p_value <= smallest_p_value(self.values.size, N_PERMUTATIONS)

    def interval(self) -> tuple[float, float]:
        """Return the ends of the 95 % bootstrap interval of the mean."""
        found = bootstrap_interval(self.values, random_state=SEED)
        return found.low, found.high


def paired(results: Results, first: str, second: str, measure: str) -> Paired:
    """Return the differences between two cells, item by item if both have items, else by repeat.

    Parameters
    ----------
    results
        The results.
    first, second
        The names of the cells.
    measure
        The measure.

    Returns
    -------
    Paired
        The differences first - second.

    Raises
    ------
    ValueError
        If the cells have different items or repeats, or a mean over items is not the table's.
    """
    by_item = all(measure in results[name].items for name in (first, second))
    a, b = (shares(results[name], measure, name, by_item=by_item) for name in (first, second))
    check_same_items(a, b, first, second)
    return Paired(a.ids, a.values - b.values)


def check_same_items(a: Paired, b: Paired, first: str, second: str) -> None:
    """Raise ValueError unless two cells have values for the same items."""
    if a.ids != b.ids or a.values.size != b.values.size:
        raise ValueError(
            f"{first} and {second} do not have the same items: {a.values.size} and {b.values.size}."
        )


def shares(result: Result, measure: str, name: str = "", *, by_item: bool = True) -> Paired:
    """Return what each item contributes to the average of a measure that a table shows.

    Parameters
    ----------
    result
        The result of a cell.
    measure
        The measure.
    name
        The name of the cell, for messages.
    by_item
        Whether to return contributions of items rather than of repeats.

    Returns
    -------
    Paired
        Values for distinct items whose mean is the average.

    Raises
    ------
    ValueError
        If the mean over items is not the average of the table.
    """
    if not by_item:
        repeats = np.asarray(result.values[measure], dtype=np.float64)
        # Identities are sorted, and so are these.
        return Paired(tuple(f"repeat {number:06}" for number in range(repeats.size)), repeats)
    items = np.asarray(result.items[measure], dtype=np.float64)
    runs = np.asarray(result.item_runs.get(measure, np.zeros(items.size)), dtype=np.intp)
    sizes = np.bincount(runs)
    weighted = items / (np.count_nonzero(sizes) * sizes[runs])
    mean = float(weighted.sum())
    shown = float(np.mean(result.values.get(measure, mean)))
    if abs(mean - shown) > _ROUNDING * max(1.0, abs(shown)):
        raise ValueError(
            f"{name}: the items' mean {measure} is {mean:.6g}, but a table shows {shown:.6g}. "
            "Set item_runs."
        )
    if measure not in result.item_ids:
        return Paired(None, weighted * items.size)
    ids, places = np.unique(result.item_ids[measure], return_inverse=True)
    return Paired(tuple(ids.tolist()), _added(places, weighted))


def together(parts: Sequence[Paired]) -> Paired:
    """Return the mean of several pairs of cells, in which each item counts once.

    Parameters
    ----------
    parts
        Differences of pairs of cells.

    Returns
    -------
    Paired
        Values whose mean is the mean of the parts' means, regardless of their sizes.

    Raises
    ------
    ValueError
        If there are several parts, and items of some have no identities.
    """
    if len(parts) == 1:
        return parts[0]
    if any(part.ids is None for part in parts):
        raise ValueError("Several pairs can be tested together only if results have item_ids.")
    ids = np.concatenate([part.ids for part in parts if part.ids is not None])
    weighted = np.concatenate([part.values / (len(parts) * part.values.size) for part in parts])
    names, places = np.unique(ids, return_inverse=True)
    return Paired(tuple(names.tolist()), _added(places, weighted))


def _added(places: Codes, weighted: Floats) -> Floats:
    """Add the contributions of each item, scaled so that their mean is the sum of all."""
    sums = np.bincount(places, weighted).astype(np.float64)
    return np.asarray(sums * sums.size)

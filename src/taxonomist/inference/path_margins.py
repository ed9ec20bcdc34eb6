"""Functions of margins that ``PathScorer`` sums along paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from taxonomist.compiled.path_scores import SHARPNESS

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Reals
    from taxonomist.compiled.arrays import Labels


def log_shares(margins: Reals, families: Labels) -> Reals:
    """Return the log-probabilities among siblings: log softmax of β times the margins.

    Parameters
    ----------
    margins
        Margins, (n_columns, n_items).
    families
        The families of each column. The result is the largest over them, and 0 without any.
    """
    found = np.zeros_like(margins)
    sizes = np.diff(families.indptr)
    order = np.argsort(families.indices, kind="stable")
    if not len(order):
        return found
    columns = np.repeat(np.arange(len(sizes)), sizes)[order]
    starts = np.flatnonzero(np.diff(families.indices[order], prepend=-1))
    ends = np.append(starts, len(order))
    number = np.repeat(np.arange(len(starts)), np.diff(ends))
    logs = SHARPNESS * margins[columns]
    logs -= _maxima(logs, starts, np.diff(ends))[number]
    # A product of matrices sums faster than ``reduceat``.
    sums = csr_array((np.ones(len(order), margins.dtype), np.arange(len(order)), ends))
    logs -= np.log(sums @ np.exp(logs))[number]
    if sizes.max() == 1:
        found[columns] = logs
        return found
    of_column = logs[np.argsort(columns, kind="stable")]
    found[sizes > 0] = np.maximum.reduceat(of_column, families.indptr[:-1][sizes > 0])
    return found


def _maxima(values: Reals, starts: Codes, sizes: Codes) -> Reals:
    """Return the largest values of groups of rows. ``reduceat`` takes three times as long."""
    found, place, groups = values[starts], 0, np.arange(len(starts))
    while len(groups := groups[sizes[groups] > place + 1]):
        place += 1
        found[groups] = np.maximum(found[groups], values[starts[groups] + place])
    return found


def squash(margins: Reals) -> Reals:
    """Return -max(0, 1 - s)²: 0 for margins of at least 1, and -1 for a margin of 0."""
    found = 1 - margins
    np.maximum(found, 0, out=found)
    np.square(found, out=found)
    return np.negative(found, out=found)

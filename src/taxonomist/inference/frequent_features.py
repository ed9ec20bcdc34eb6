"""Dense rows of the weights of features that most columns have, which are added up much faster.

The rows are a copy of weights that are already in memory, or mapped there from a file. So they are
made only for weights that are used often, and only as many as fit into bounded memory.
"""

from __future__ import annotations

from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, cast

import numpy as np

from taxonomist.compiled.block_scores import DenseRows
from taxonomist.compiled.jit import spares

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Floats, Integers, Reals
    from taxonomist.compiled.block_scores import WeightBlocks

__all__ = ["FrequentFeatures"]

LEAST_SHARE = 8
"""There are dense rows if at least 1 in so many weights exists, and for features for which at least
1 in so many does: the weights of others are faster to find block by block."""
USES = 4
"""Dense rows are made as soon as so many times the segments of all weights were added up."""
MOST_BYTES = 2**27
"""Memory of dense rows at most."""
LANES = 16
"""Columns that a processor adds up at once; dense rows have a multiple of it."""

_lock = Lock()


class FrequentFeatures:
    """The features of some weights that have dense rows.

    Parameters
    ----------
    table
        The weights.
    n_features
        The number of features.

    Attributes
    ----------
    can_be
        Whether there are so many weights that features may have dense rows.
    """

    def __init__(self, table: WeightBlocks, n_features: int) -> None:
        self._table, self._n_features = table, n_features
        self._n_used = 0
        self._rows: DenseRows | None = None
        n_columns = len(table.bias)
        self.can_be = LEAST_SHARE * len(table.values) >= max(1, n_features * n_columns)

    @property
    def is_made(self) -> bool:
        """Whether there are dense rows already."""
        return self._rows is not None

    def __reduce__(self) -> tuple[object, ...]:
        """Return how to copy this: without the rows."""
        return type(self), (self._table, self._n_features)

    def rows_for(self, features: Integers, n_segments: int) -> DenseRows | None:
        """Return the dense rows if they make scoring faster.

        Parameters
        ----------
        features
            The features of all items to be scored.
        n_segments
            How many segments these have.
        """
        with _lock:
            self._n_used += n_segments
            if self._rows is None:
                if spares() and self._n_used < USES * len(self._table.features):
                    return None
                self._rows = self._made()
        is_frequent = self._rows.place[features] >= 0
        return self._rows if 2 * np.count_nonzero(is_frequent) >= len(features) else None

    def _made(self) -> DenseRows:
        table, width = self._table, -(-len(self._table.bias) // LANES) * LANES
        kept = self._chosen(MOST_BYTES // max(1, width * table.values.itemsize))
        place = np.full(self._n_features, -1, np.intp)
        place[kept] = np.arange(len(kept))
        values = cast("Reals", np.zeros((len(kept), width), table.values.dtype))
        scale = np.zeros(width, np.float32)
        for block, (begin, end) in enumerate(pairwise(table.indptr.tolist())):
            first, last = table.first[block : block + 2].tolist()
            start, rows = int(table.start[block]), place[table.features[begin:end]]
            given = table.values[start : start + (end - begin) * (last - first)]
            has = rows >= 0
            values[rows[has], first:last] = given.reshape(end - begin, last - first)[has]
            scale[first:last] = table.scale[block]
        return DenseRows(place, values, scale)

    def _chosen(self, most: int) -> Codes:
        """Return the features with weights in enough columns, those with most first.

        There are at most ``most`` of them.
        """
        table = self._table
        counts: Floats = np.zeros(self._n_features)
        for block, (begin, end) in enumerate(pairwise(table.indptr.tolist())):
            # The features of a block differ.
            counts[table.features[begin:end]] += table.first[block + 1] - table.first[block]
        found = np.flatnonzero(LEAST_SHARE * counts >= len(table.bias))
        return found[np.argsort(-counts[found], kind="stable")[:most]]

"""Scores of categories as sums along paths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Codes, Floats, Integers, Reals
from taxonomist.compiled.jit import compiled


class PathTerms(NamedTuple):
    """The terms of every category's score as CSR rows: weights of margins, plain and squashed."""

    indptr: Codes  # (n_categories + 1,)
    columns: Integers  # (nnz,)
    linear: Floats  # (nnz,)
    squashed: Floats  # (nnz,)
    offset: Floats  # (n_categories,)


@compiled(inline=True)
def squash(margin: float) -> float:
    """Return -max(0, 1 - s)²."""
    lack = max(0.0, 1.0 - margin)
    return -lack * lack


@compiled()
def path_scores(raw: Reals, terms: PathTerms, out: Floats) -> None:
    """Write the score of every category for every item, given the margins of all columns."""
    bent = np.empty(raw.shape[1])
    for i in range(len(raw)):
        for b in range(raw.shape[1]):
            bent[b] = squash(raw[i, b])
        for c in range(len(terms.offset)):
            total = 0.0
            for k in range(terms.indptr[c], terms.indptr[c + 1]):
                b = terms.columns[k]
                total += terms.linear[k] * raw[i, b] + terms.squashed[k] * bent[b]
            out[i, c] = total + terms.offset[c]


def few_path_scores(raw: Reals, terms: PathTerms, out: Floats) -> None:
    """Do the same as ``path_scores`` for few items, without numba; the results are the same."""
    rows = np.repeat(np.arange(len(terms.offset)), np.diff(terms.indptr))
    for i in range(len(raw)):
        margins = raw[i].astype(np.float64)[terms.columns]
        lacks = np.maximum(0.0, 1.0 - margins)
        out[i] = 0.0
        # This adds one after the other, in the order of the loop.
        np.add.at(out[i], rows, terms.linear * margins + terms.squashed * (-lacks * lacks))
        out[i] += terms.offset

"""Scores of categories as sums along paths."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from taxonomist._typing import Codes, Floats, Integers, Reals
from taxonomist.compiled.arrays import Labels
from taxonomist.compiled.jit import compiled

SHARPNESS = 4.0
"""β of the softmax of margins of siblings."""


class PathTerms(NamedTuple):
    """The terms of every category's score as CSR rows.

    A term is a margin, plain and squashed, and its column's log-probability among siblings. The
    children of a node are a family; a column belongs to one for each parent of its node.
    """

    indptr: Codes  # (n_categories + 1,)
    columns: Integers  # (nnz,)
    linear: Floats  # (nnz,)
    squashed: Floats  # (nnz,)
    among: Floats  # (nnz,)
    offset: Floats  # (n_categories,)
    families: Labels  # of each column; none without a classifier against siblings
    n_families: int


@compiled(inline=True)
def squash(margin: float) -> float:
    """Return -max(0, 1 - s)²."""
    lack = max(0.0, 1.0 - margin)
    return -lack * lack


@compiled(inline=True)
def write_shares(
    margins: Reals, terms: PathTerms, peak: Floats, total: Floats, share: Floats
) -> None:
    """Write the log-probabilities of an item's columns among siblings, in their best family."""
    begin, family = terms.families.indptr, terms.families.indices
    for f in range(terms.n_families):
        peak[f], total[f] = -np.inf, 0.0
    for b in range(len(margins)):
        for k in range(begin[b], begin[b + 1]):
            peak[family[k]] = max(peak[family[k]], margins[b])
    for b in range(len(margins)):
        for k in range(begin[b], begin[b + 1]):
            total[family[k]] += math.exp(SHARPNESS * (margins[b] - peak[family[k]]))
    for b in range(len(margins)):
        share[b] = -np.inf if begin[b] < begin[b + 1] else 0.0
        for k in range(begin[b], begin[b + 1]):
            f = family[k]
            share[b] = max(share[b], SHARPNESS * (margins[b] - peak[f]) - math.log(total[f]))


def score_room(terms: PathTerms) -> Floats:
    """Return room for the values of an item's columns, and of their families."""
    return np.empty((4, max(len(terms.families.indptr) - 1, terms.n_families)))


@compiled()
def path_scores(raw: Reals, terms: PathTerms, room: Floats, out: Floats) -> None:
    """Write the score of every category for every item, given the margins of all columns."""
    bent, share, peak, total = room[0], room[1], room[2], room[3]
    for i in range(len(raw)):
        for b in range(raw.shape[1]):
            bent[b] = squash(raw[i, b])
        write_shares(raw[i], terms, peak, total, share)
        for c in range(len(terms.offset)):
            score = 0.0
            for k in range(terms.indptr[c], terms.indptr[c + 1]):
                b = terms.columns[k]
                plain = terms.linear[k] * raw[i, b] + terms.squashed[k] * bent[b]
                score += plain + terms.among[k] * share[b]
            out[i, c] = score + terms.offset[c]


def few_path_scores(raw: Reals, terms: PathTerms, out: Floats) -> None:
    """Do the same as ``path_scores`` for few items, without numba; the results are the same."""
    rows = np.repeat(np.arange(len(terms.offset)), np.diff(terms.indptr))
    for i in range(len(raw)):
        everything = raw[i].astype(np.float64)
        share = _shares(everything, terms)
        margins = everything[terms.columns]
        lacks = np.maximum(0.0, 1.0 - margins)
        plain = terms.linear * margins + terms.squashed * (-lacks * lacks)
        out[i] = 0.0
        # This adds one after the other, in the order of the loop.
        np.add.at(out[i], rows, plain + terms.among * share[terms.columns])
        out[i] += terms.offset


def _shares(margins: Floats, terms: PathTerms) -> Floats:
    """Return what ``write_shares`` writes, rounded as there."""
    sizes, family = np.diff(terms.families.indptr), terms.families.indices
    column = np.repeat(np.arange(len(margins)), sizes)
    peak, total = np.full(terms.n_families, -np.inf), np.zeros(terms.n_families)
    np.maximum.at(peak, family, margins[column])
    ahead = SHARPNESS * (margins[column] - peak[family])
    # numpy's own functions may round otherwise.
    np.add.at(total, family, [math.exp(value) for value in ahead.tolist()])
    logs = np.array([math.log(value) for value in total.tolist()])
    found = np.where(sizes > 0, -np.inf, 0.0)
    np.maximum.at(found, column, ahead - logs[family])
    return found

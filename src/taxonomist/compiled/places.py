"""Loops over the attributes that one item's step uses, few of all; each gets a place 0, 1, ..."""

from __future__ import annotations

from typing import NamedTuple

from taxonomist._typing import Codes, Floats, Reals
from taxonomist.compiled.arrays import Attributes, Rows
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.rows import score_row
from taxonomist.compiled.vectors import IS_COMPILED, LANES

FEW_ATTRIBUTES = 320
"""Up to this many attributes, scoring all of them is faster than scoring those in use: with 285 by
a third, but with 1,110 it takes twice as long."""


class Places(NamedTuple):
    """Work arrays over all attributes, and over the places of those in use."""

    row: Reals  # (n_attributes,)  by attribute: <w_z, x> or a change, of the type of ``W``
    place: Codes  # (n_attributes,)  by attribute: its place, -1 if it has none
    used: Codes  # (n_attributes,)  by place: the attribute
    score: Floats  # (n_attributes,)  by place: <w_z, x>
    change: Floats  # (n_attributes,)  by place: what is added to the weights; 0 between items


@compiled(inline=True)
def enter_category(attributes: Attributes, c: int, n_used: int, places: Places) -> int:
    """Give the attributes of a category a place; return how many attributes have one now."""
    for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
        z = attributes.indices[k]
        if places.place[z] < 0:
            places.place[z] = n_used
            places.used[n_used] = z
            n_used += 1
    return n_used


@compiled(inline=True)
def leave_places(n_used: int, places: Places) -> None:
    """Take the places back from all attributes."""
    for t in range(n_used):
        places.place[places.used[t]] = -1


@compiled(inline=True)
def placed_score(attributes: Attributes, c: int, places: Places) -> float:
    """Return f(x, c) from the scores of attributes that have a place."""
    total = 0.0
    for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
        total += attributes.values[k] * places.score[places.place[attributes.indices[k]]]
    return total


@compiled(inline=True)
def change_category(attributes: Attributes, c: int, amount: float, places: Places) -> None:
    """Add a multiple of Λ(c), whose attributes have places, to the change."""
    for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
        places.change[places.place[attributes.indices[k]]] += amount * attributes.values[k]


@compiled(inline=True)
def uses_vectors(rows: Rows, W: Reals) -> bool:
    """Return whether the loops of ``vectors`` apply: few attributes, which fill whole vectors."""
    fills = len(rows.indices) > 0 and W.shape[1] % LANES == 0
    return IS_COMPILED and fills and W.shape[1] <= FEW_ATTRIBUTES


@compiled(inline=True)
def score_places(
    rows: Rows, row: int, W: Reals, n_used: int, whole_rows: bool, places: Places
) -> None:
    """Write <w_z, x> for the attributes that have a place.

    With ``whole_rows``, all attributes are scored, which is faster unless few have a place.
    """
    if whole_rows:
        score_row(rows, row, W, places.row)
        for t in range(n_used):
            places.score[t] = places.row[places.used[t]]
        return
    for t in range(n_used):
        places.score[t] = 0.0
    start = rows.indptr[row]
    dense = len(rows.indices) == 0
    for k in range(start, rows.indptr[row + 1]):
        x = rows.data[k]
        w = W[k - start] if dense else W[rows.indices[k]]
        for t in range(n_used):
            places.score[t] += x * w[places.used[t]]


@compiled("contract", inline=True)
def add_change(
    rows: Rows, row: int, W: Reals, n_used: int, whole_rows: bool, places: Places
) -> None:
    """Add x times the change to the weights, and clear the change.

    With ``whole_rows``, all attributes are added to, as in ``score_places``.
    """
    start, end = rows.indptr[row], rows.indptr[row + 1]
    dense = len(rows.indices) == 0
    if whole_rows:
        for z in range(len(places.row)):
            places.row[z] = 0
        for t in range(n_used):
            places.row[places.used[t]] = places.change[t]
        for k in range(start, end):
            x = rows.data[k]
            w = W[k - start] if dense else W[rows.indices[k]]
            for z in range(len(w)):
                w[z] += x * places.row[z]
    else:
        for k in range(start, end):
            x = rows.data[k]
            w = W[k - start] if dense else W[rows.indices[k]]
            for t in range(n_used):
                w[places.used[t]] += x * places.change[t]
    for t in range(n_used):
        places.change[t] = 0.0


@compiled(inline=True)
def add_coefficients(i: int, W: Reals, n_used: int, places: Places) -> None:
    """Add the change to row i of the kernel expansion, and clear it: dual form."""
    for t in range(n_used):
        W[i, places.used[t]] += places.change[t]
        places.change[t] = 0.0

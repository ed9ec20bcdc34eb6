"""The arrays that loops of several files work on."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from taxonomist._typing import Codes, Floats, Integers, Objects, Reals

A = TypeVar("A", bound=Objects)


ZERO_ONE, ANCESTORS, MATRIX = 0, 1, 2
"""Kinds of ``Loss``."""


class Rows(NamedTuple):
    """A matrix as CSR rows, or as CSC columns; ``indices`` is empty if it is dense."""

    indptr: Integers  # (n_rows + 1,)
    indices: Integers  # (nnz,), or (0,)
    data: Reals  # (nnz,)


def read_only(rows: Rows) -> Rows:
    """Return the same rows as views that cannot be written to.

    numba compiles a loop once for arrays that can be written to, and once more for those that
    cannot, such as files that are mapped into memory. Rows are always of the second type.
    """
    return Rows._make(fixed(table) for table in rows)


def fixed(table: A) -> A:
    """Return a view of an array that cannot be written to."""
    view = table.view()
    view.flags.writeable = False
    return view


def no_rows() -> Rows:
    """Return rows of no items, of the types that all rows have."""
    return read_only(Rows(np.zeros(1, np.intp), np.empty(0, np.int32), np.empty(0)))


class Attributes(NamedTuple):
    """Λ(c) of every category as CSR rows with sorted indices."""

    indptr: Codes  # (n_categories + 1,)
    indices: Codes  # (nnz,)
    values: Floats  # (nnz,)
    products: Floats  # (n_categories, n_categories)  <Λ(c), Λ(d)>; (0, 0): computed when needed


class Loss(NamedTuple):
    """The loss Δ between categories; arrays that its kind does not use are empty."""

    kind: int
    indptr: Codes  # ancestors of each category as CSR rows
    indices: Codes
    miss: Floats  # (n_nodes,)
    false_alarm: Floats  # (n_nodes,)
    matrix: Floats  # (n_categories, n_categories)


class Labels(NamedTuple):
    """The categories of each item as CSR rows."""

    indptr: Codes  # (n_items + 1,)
    indices: Codes  # (nnz,)


class Duals(NamedTuple):
    """Active dual variables: those of item i are ``size[i]`` entries from ``start[i]`` on."""

    start: Codes  # (n_items,)
    room: Codes  # (n_items,)  how many entries item i may have
    size: Codes  # (n_items,)
    own: Codes  # (n_entries,)  y
    other: Codes  # (n_entries,)  c
    beta: Floats  # (n_entries,)
    delta: Floats  # (n_entries,)  Δ(y, c)


class Findings(NamedTuple):
    """What inspecting each item finds."""

    slack: Floats  # (n_items,)  ξ_i, or Σ_r C_ir ξ_ir
    violation: Floats  # (n_items,)  how far the item is from optimal
    linear: Floats  # (n_items,)  the item's part of the linear term of the dual
    quadratic: Floats  # (n_items,)  the item's part of ||w||²

"""The arrays that the loops of the joint SVM work on; see ``taxonomist.compiled.joint``."""

from __future__ import annotations

from typing import Any, NamedTuple

from taxonomist._typing import Codes, Floats

ZERO_ONE, ANCESTORS, MATRIX = 0, 1, 2
"""Kinds of loss."""


class Rows(NamedTuple):
    """Items as CSR rows; ``indices`` is empty where rows are dense."""

    indptr: Any  # (n_rows + 1,)
    indices: Any  # (nnz,), or (0,)
    data: Any  # (nnz,)


class Attributes(NamedTuple):
    """Λ(c) of every category as CSR rows with sorted indices."""

    indptr: Codes  # (n_categories + 1,)
    indices: Codes  # (nnz,)
    values: Floats  # (nnz,)
    products: Floats  # (n_categories, n_categories)  <Λ(c), Λ(d)>; (0, 0): computed when needed


class Loss(NamedTuple):
    """What Δ is computed from; arrays that a kind does not use are empty."""

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


class Problem(NamedTuple):
    """The arrays of a joint problem; ``row_of[i]`` is the row of item i."""

    rows: Rows
    row_of: Codes  # (n_items,)
    labels: Labels
    costs: Floats  # (n_items,)  C_i
    norms: Floats  # (n_items,)  k(x_i, x_i)
    attributes: Attributes
    loss: Loss
    slack_per_pair: bool
    dual_form: bool


class Duals(NamedTuple):
    """The active dual variables of item i are ``size[i]`` entries from ``start[i]`` on."""

    start: Codes  # (n_items,)
    room: Codes  # (n_items,)  how many entries item i may have
    size: Codes  # (n_items,)
    own: Codes  # (n_entries,)  y
    other: Codes  # (n_entries,)  c
    beta: Floats  # (n_entries,)
    delta: Floats  # (n_entries,)  Δ(y, c)


class Findings(NamedTuple):
    """What a full look at each item finds."""

    slack: Floats  # (n_items,)  ξ_i = max(0, max G_iyc), or the sum of the pairs' slacks
    violation: Floats  # (n_items,)  ψ_i [CH04, Eq. 33]
    within: Floats  # (n_items,)  ψ_i over the active pairs only
    margin: Floats  # (n_items,)  min of f(x_i, y) - f(x_i, c)
    linear: Floats  # (n_items,)  Σ α_iyc
    quadratic: Floats  # (n_items,)  Σ α_iyc (f(x_i, y) - f(x_i, c)); sums to ||w||²


class Room(NamedTuple):
    """Room for the inspection of one item."""

    scores: Any  # (n_attributes,)
    f: Floats  # (n_categories,)  f(x_i, c)
    G: Floats  # (n_categories,)
    delta: Floats  # (n_categories,)
    mark: Any  # (n_nodes,)  False between items
    top: Floats  # (n_new,)  G of the pairs that enter, in descending order


class Scratch(NamedTuple):
    """Room for one item's QP, over the attributes that its active pairs use."""

    place: Codes  # (n_attributes,)  where an attribute stands in the next three; -1 if nowhere
    used: Codes  # (n_attributes,)
    score: Floats  # (n_attributes,)  <w_z, x>
    change: Floats  # (n_attributes,)  what is added to the weights, 0 outside
    row: Any  # (n_attributes,)
    G: Floats  # (largest room of an item,)
    before: Floats  # (largest room of an item,)  β when the QP began

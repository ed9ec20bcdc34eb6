"""The arrays that the loops of the joint SVM work on."""

from __future__ import annotations

from typing import NamedTuple

from taxonomist._typing import Bools, Codes, Floats, Reals
from taxonomist.compiled.arrays import Attributes, Labels, Loss, Rows
from taxonomist.compiled.places import Places


class JointArrays(NamedTuple):
    """The arrays of a joint problem; ``row_of[i]`` is the row of item i."""

    rows: Rows
    row_of: Codes  # (n_items,)
    labels: Labels
    costs: Floats  # (n_items,)  C_i
    norms: Floats  # (n_items,)  k(x_i, x_i)
    attributes: Attributes
    shared: Codes  # (n_categories,)  by ``attributes.write_shared``, or (0,): nothing is shared
    loss: Loss
    slack_per_pair: bool
    dual_form: bool


class JointFindings(NamedTuple):
    """What inspecting each item at all categories finds."""

    slack: Floats  # (n_items,)  ξ_i = max(0, max G_iyc), or the sum of the pairs' slacks
    violation: Floats  # (n_items,)  ψ_i [CH04, Eq. 33]
    within: Floats  # (n_items,)  ψ_i over the active pairs only
    margin: Floats  # (n_items,)  min of f(x_i, y) - f(x_i, c)
    linear: Floats  # (n_items,)  Σ α_iyc
    quadratic: Floats  # (n_items,)  Σ α_iyc (f(x_i, y) - f(x_i, c)); sums to ||w||²


class InspectionScratch(NamedTuple):
    """Work arrays for the inspection of one item."""

    scores: Reals  # (n_attributes,)
    partial: Floats  # (largest number of attributes of a category,)
    f: Floats  # (n_categories,)  f(x_i, c)
    G: Floats  # (n_categories,)
    delta: Floats  # (n_categories,)
    mark: Bools  # (n_nodes,)  False between items
    top: Floats  # (n_new,)  G of the pairs that enter, in descending order


class QPScratch(NamedTuple):
    """Work arrays for one item's QP."""

    places: Places  # of the attributes that the item's active pairs use
    G: Floats  # (largest room of an item,)
    before: Floats  # (largest room of an item,)  β when the QP began

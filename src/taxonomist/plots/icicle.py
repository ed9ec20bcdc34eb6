"""A taxonomy as an icicle plot: every node is a box below its parent, coloured by a measure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.errors import LabelError, import_extra
from taxonomist.plots.axes import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from taxonomist._typing import Codes, Floats
    from taxonomist.evaluation import Assessment
    from taxonomist.taxonomy import Taxonomy

FIGURE_WIDTH = 10.0
"""Width of the figure in inches."""

# Width of a character in inches; labels that do not fit are left out.
_CHARACTER = 0.075


def tree(
    taxonomy: Taxonomy,
    values: Assessment | Mapping[str, float],
    *,
    measure: str = "f1",
    sizes: Mapping[str, float] | None = None,
    max_depth: int | None = None,
) -> Figure:
    """Draw the taxonomy with its nodes coloured by a measure.

    Parameters
    ----------
    taxonomy
        The taxonomy; a node with several parents is drawn below the deepest one.
    values
        An assessment, or numbers by node. Nodes without a number are grey.
    measure
        The measure of an assessment to draw: ``"f1"``, ``"precision"`` or ``"recall"``; for numbers
        by node, only a title.
    sizes
        Widths of leaves; equal by default. A node is as wide as the leaves below it.
    max_depth
        Number of levels to draw; all by default.

    Returns
    -------
    matplotlib.figure.Figure
        One row per level from the top; boxes that are wide enough have labels.

    Raises
    ------
    LabelError
        If a size is negative or not finite, or all are zero.
    """
    if not isinstance(values, Mapping):
        values = {node.node: float(getattr(node, measure)) for node in values.nodes}
    values = {node: value for node, value in values.items() if not math.isnan(value)}
    shape = taxonomy if taxonomy.is_tree else taxonomy.spanning_tree()
    left, width = _boxes(shape, sizes)
    top = int(shape.has_artificial_root)
    deepest = shape.height if max_depth is None else min(max_depth, shape.height)
    is_drawn = (top <= shape.depths) & (shape.depths <= deepest) & (width > 0)
    drawn = np.flatnonzero(is_drawn)
    figure = new_figure(FIGURE_WIDTH, 1.0 + 0.7 * (deepest - top + 1))
    axes = figure.subplots()
    corners = np.array(
        [_corners(left[code], width[code], shape.depths[code]) for code in drawn.tolist()]
    )
    collections = import_extra("matplotlib.collections", "plot")
    ids = [shape.nodes[code] for code in drawn.tolist()]
    is_known = np.array([node in values for node in ids])
    style = {"edgecolor": "white", "linewidth": 0.5}
    known = collections.PolyCollection(corners[is_known], cmap="viridis", **style)
    known.set_array(np.array([values[node] for node in ids if node in values]))
    known.set_clim(*_limits(values))
    axes.add_collection(known)
    axes.add_collection(collections.PolyCollection(corners[~is_known], facecolor="0.85", **style))
    _label(axes, shape, (drawn, left, width), known, values)
    axes.set_xlim(0, 1)
    axes.set_ylim(deepest + 1, top)
    axes.set_axis_off()
    figure.colorbar(known, ax=axes, label=measure.replace("_", " "), pad=0.01)
    return figure


def _boxes(taxonomy: Taxonomy, sizes: Mapping[str, float] | None) -> tuple[Floats, Floats]:
    """Return the left edge and the width of each node of a tree; the root is one wide."""
    width = taxonomy.is_leaf.astype(np.float64)
    if sizes is not None:
        own = np.array([sizes.get(node, 0.0) for node in taxonomy.nodes], dtype=np.float64)
        width = np.where(taxonomy.is_leaf, own, 0.0)
    if not (np.isfinite(width).all() and (width >= 0).all() and width.any()):
        raise LabelError("sizes must be finite, not negative and not zero for all leaves.")
    edges = taxonomy.edges.tolist()
    # Codes increase from parents to children, so the widths of children are complete here.
    for parent, child in sorted(edges, key=lambda edge: -edge[1]):
        width[parent] += width[child]
    width /= width[0]
    left = np.zeros(taxonomy.n_nodes)
    used = np.zeros(taxonomy.n_nodes)
    for parent, child in edges:
        left[child] = left[parent] + used[parent]
        used[parent] += width[child]
    return left, width


def _corners(left: float, width: float, depth: int) -> list[tuple[float, float]]:
    right = left + width
    return [(left, depth), (right, depth), (right, depth + 1), (left, depth + 1)]


def _limits(values: Mapping[str, float]) -> tuple[float, float]:
    """Return the ends of the colour scale: 0 to 1 for fractions, else the range of values."""
    numbers = list(values.values()) or [0.0]
    if min(numbers) >= 0 and max(numbers) <= 1:
        return 0.0, 1.0
    return min(numbers), max(numbers)


def _label(
    axes: Axes,
    taxonomy: Taxonomy,
    boxes: tuple[Codes, Floats, Floats],
    colours: Any,
    values: Mapping[str, float],
) -> None:
    """Write the names of nodes into boxes that are wide enough."""
    drawn, left, width = boxes
    for code in drawn.tolist():
        room = int(width[code] * 0.88 * FIGURE_WIDTH / _CHARACTER)
        name = taxonomy.names[code]
        if room < min(len(name), 4):
            continue
        text = name if len(name) <= room else name[: room - 1] + "…"
        value = values.get(taxonomy.nodes[code])
        # Use black letters at the light end of the scale.
        is_dark = value is not None and colours.norm(value) < 0.6
        at = left[code] + width[code] / 2, taxonomy.depths[code] + 0.5
        colour = "white" if is_dark else "black"
        axes.text(*at, text, ha="center", va="center", fontsize=8, color=colour)

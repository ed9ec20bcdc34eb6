"""The arrays that the loops over marginals of edges work on.

The notation is that of ``taxonomist.compiled.edge_marginals``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist._typing import Bools, Codes, Floats, Integers, Reals

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class EdgeMarginals(NamedTuple):
    """Positive marginals of edges' wrong labellings: ``size[i]`` entries from ``start[i]`` on.

    The entries of an item are in ascending order of codes. An edge's true labelling has what the
    others leave of C_i.
    """

    start: Codes  # (n_items,)
    room: Codes  # (n_items,)  how many entries item i may have
    size: Codes  # (n_items,)
    codes: Integers  # (n_entries,)  z
    mass: Floats  # (n_entries,)  μ_iz


class MarginalScratch(NamedTuple):
    """Work arrays for one item."""

    truth: Integers  # (n_nodes,)  true microlabels; 0 between items
    true: Integers  # (n_nodes,)  2 y_pa(j) + y_j of the truth
    score: Reals  # (n_codes,)  <w_z, x_i>
    g: Floats  # (n_codes,)
    mu: Floats  # (n_codes,)
    norm: Floats  # (n_nodes,)  k(x_i, x_i), local features included
    high: Floats  # (n_nodes, 2)  largest sum of g below a node with this label
    low: Floats  # (n_nodes, 2)  smallest sum of g below it, over positive marginals
    to: Integers  # (n_nodes,)  the labelling with the largest G
    off: Integers  # (n_nodes,)  the labelling with the smallest G, over positive marginals
    part: Codes  # (n_nodes,)  the part in which both differ at a node; -1: none
    rise: Floats  # (n_nodes,)  by part: the slope of the dual, then the step
    bend: Floats  # (n_nodes,)  by part: the curvature of the dual
    limit: Floats  # (n_nodes,)  by part: the longest step
    moved: Codes  # (n_nodes,)  nodes whose edges a step changes
    used: Codes  # (n_nodes,)  nodes whose edges a visit changes
    is_used: Bools  # (n_nodes,)  whether a node is among these; False between items
    change: Floats  # (n_codes,)  what x_i is multiplied by and added to W; 0 between items
    block: Reals  # (n_codes,)  the same, of the type of ``W``


def marginal_scratch(n_nodes: int, dtype: DTypeLike) -> MarginalScratch:
    """Return work arrays for one item."""
    n_codes = 4 * (n_nodes - 1)
    return MarginalScratch(
        truth=np.zeros(n_nodes, np.int8),
        true=np.zeros(n_nodes, np.int8),
        score=np.zeros(n_codes, dtype),
        g=np.zeros(n_codes),
        mu=np.zeros(n_codes),
        norm=np.zeros(n_nodes),
        high=np.zeros((n_nodes, 2)),
        low=np.zeros((n_nodes, 2)),
        to=np.zeros(n_nodes, np.int8),
        off=np.zeros(n_nodes, np.int8),
        part=np.zeros(n_nodes, np.intp),
        rise=np.zeros(n_nodes),
        bend=np.zeros(n_nodes),
        limit=np.zeros(n_nodes),
        moved=np.zeros(n_nodes, np.intp),
        used=np.zeros(n_nodes, np.intp),
        is_used=np.zeros(n_nodes, np.bool_),
        change=np.zeros(n_codes),
        block=np.zeros(n_codes, dtype),
    )

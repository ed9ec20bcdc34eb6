"""The arrays that the loops of the Markov tree work on; see ``taxonomist.compiled.markov``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist._typing import Bools, Codes, Floats, Integers, Reals
from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.compiled.graph_arrays import GraphScratch, MarkovGraph

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

EVERYWHERE, NOWHERE = -1, -2
"""Owners of features that are not tied to one node: all nodes have them, or none has."""

LABELLINGS_AT_FIRST = 16
"""Labellings of one item that scratch arrays hold at first."""


class Tree(NamedTuple):
    """A tree whose nodes are in one of a few states, with the losses and weights of the states.

    State 0 is a negative microlabel, the others are positive. Below a parent in state a, a node
    with microlabel 1 is in state ``up[a]``. Its weights for microlabel u are column
    ``stride (j - first) + code[a, u]`` of W, unless ``code[a, u]`` is negative.
    """

    parent: Codes  # (n_nodes,)  of the root: itself; parents come before their children
    up: Codes  # (n_states,)
    code: Codes  # (n_states, 2)
    stride: int
    first: int  # the first node that has weights
    n_root_states: int
    loss: Floats  # (4, n_nodes, n_states, 2)  by the true microlabels 2 y_pa + y_j; -inf: forbidden


class MarkovArrays(NamedTuple):
    """The arrays of a problem; ``row_of[i]`` is the row of item i."""

    rows: Rows
    row_of: Codes  # (n_items,)
    labels: Labels  # positive nodes
    costs: Floats  # (n_items,)  C_i
    norms: Floats  # (n_items,)  k(x_i, x_i) without local features
    owner: Codes  # (n_features,)  node of each local feature; (0,): all features are global
    tree: Tree
    is_signed: bool  # whether slacks may be negative
    dual_form: bool
    graph: MarkovGraph | None = None  # in place of the tree if nodes have several parents


class ActiveLabellings(NamedTuple):
    """Labellings with dual variables: those of item i are ``size[i]`` entries from ``start[i]`` on.

    Labelling c differs from the true one by ``n_codes[c]`` codes from ``begin[c]`` on: z + 1 for a
    column z of W that only it uses, -(z + 1) for one that only the true labelling uses.
    """

    start: Codes  # (n_items,)
    room: Codes  # (n_items,)
    size: Codes  # (n_items,)
    code_start: Codes  # (n_items,)
    code_room: Codes  # (n_items,)
    code_size: Codes  # (n_items,)
    begin: Codes  # (n_labellings,)
    n_codes: Codes  # (n_labellings,)
    alpha: Floats  # (n_labellings,)
    loss: Floats  # (n_labellings,)  ℓ(y_i, y)
    codes: Integers  # (n_codes,)


class MarkovScratch(NamedTuple):
    """Work arrays for one item."""

    truth: Integers  # (n_nodes,)  true microlabels; 0 between items
    score: Reals  # (n_codes,)  <w_z, x_i>
    norm: Floats  # (n_codes,)  k(x_i, x_i), local features included
    worth: Floats  # (n_nodes, n_states, 2)  loss plus score of a node, by its parent's state
    value: Floats  # (n_nodes, n_states)  best sum below a node in that state
    extra: Floats  # (n_nodes, n_states)  what a difference somewhere below costs at the least
    where: Codes  # (n_nodes, n_states)  the child at or below which that is
    state: Integers  # (n_nodes,)  the labelling found
    differs: Bools  # (n_nodes,)  whether a difference is still wanted below
    mark: Floats  # (n_codes,)  0 between uses
    used: Codes  # (n_codes,)  columns of W that a visit changes
    step: Floats  # (n_codes,)  the direction of a step in the space of marginals
    change: Floats  # (n_codes,)  what x_i is multiplied by and added to W; 0 between items
    G: Floats  # (room,)  G of each labelling
    before: Floats  # (room,)  α of each labelling when the QP began
    is_known: Bools  # (room,)  whether its row of the next is there
    products: Floats  # (room, room)  between the φ(x_i, y_i) - φ(x_i, y) of labellings
    search: GraphScratch | None = None  # for a graph in place of the tree


def markov_scratch(
    tree: Tree, n_codes: int, dtype: DTypeLike, room: int = LABELLINGS_AT_FIRST
) -> MarkovScratch:
    """Return work arrays for one item with up to ``room`` labellings."""
    table = n_nodes, _ = tree.loss.shape[1:3]
    return MarkovScratch(
        truth=np.zeros(n_nodes, np.int8),
        score=np.zeros(n_codes, dtype),
        norm=np.zeros(n_codes),
        worth=np.zeros((*table, 2)),
        value=np.zeros(table),
        extra=np.zeros(table),
        where=np.zeros(table, np.intp),
        state=np.zeros(n_nodes, np.int8),
        differs=np.zeros(n_nodes, np.bool_),
        mark=np.zeros(n_codes),
        used=np.zeros(n_codes, np.intp),
        step=np.zeros(n_codes),
        change=np.zeros(n_codes),
        G=np.zeros(room),
        before=np.zeros(room),
        is_known=np.zeros(room, np.bool_),
        products=np.zeros((room, room)),
    )

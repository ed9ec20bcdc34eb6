"""Loops over the labellings that have dual variables: read them, drop some, store one more.

The notation is that of ``taxonomist.compiled.markov``.
"""

from __future__ import annotations

from taxonomist._typing import Codes, Reals
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.labelling_search import code_at
from taxonomist.compiled.markov_arrays import ActiveLabellings, MarkovScratch, Tree


@compiled(inline=True)
def gradient(labellings: ActiveLabellings, c: int, score: Reals) -> float:
    """Return the gradient G_iy of labelling c from the scores of its item."""
    total: float = labellings.loss[c]
    for k in range(labellings.begin[c], labellings.begin[c] + labellings.n_codes[c]):
        z = labellings.codes[k]
        total += score[z - 1] if z > 0 else -score[-z - 1]
    return total


@compiled(inline=True)
def move(labellings: ActiveLabellings, c: int, to: int) -> None:
    """Copy the entry of labelling c to another place."""
    labellings.begin[to] = labellings.begin[c]
    labellings.n_codes[to] = labellings.n_codes[c]
    labellings.alpha[to] = labellings.alpha[c]
    labellings.loss[to] = labellings.loss[c]


@compiled()
def drop_unused(labellings: ActiveLabellings, i: int) -> None:
    """Drop the labellings of item i whose dual variables are zero."""
    to, end = labellings.start[i], labellings.code_start[i]
    for c in range(labellings.start[i], labellings.start[i] + labellings.size[i]):
        if labellings.alpha[c] > 0.0:
            begin = labellings.begin[c]
            for k in range(labellings.n_codes[c]):
                labellings.codes[end + k] = labellings.codes[begin + k]
            move(labellings, c, to)
            labellings.begin[to] = end
            end += labellings.n_codes[to]
            to += 1
    labellings.size[i] = to - labellings.start[i]
    labellings.code_size[i] = end - labellings.code_start[i]


@compiled()
def make_place(labellings: ActiveLabellings, i: int, n_codes: int, end: Codes) -> bool:
    """Make room for one more labelling of item i; return False if the tables are full.

    An item that needs more room moves to the end of the tables: ``end[0]`` is the end of the
    labellings in use, ``end[1]`` that of the codes.
    """
    has_codes = labellings.code_size[i] + n_codes <= labellings.code_room[i]
    if has_codes and labellings.size[i] < labellings.room[i]:
        return True
    drop_unused(labellings, i)
    room = 2 * labellings.size[i] + 2
    code_room = 2 * (labellings.code_size[i] + n_codes)
    if end[0] + room > len(labellings.alpha) or end[1] + code_room > len(labellings.codes):
        return False
    if labellings.size[i] == labellings.room[i]:
        for c in range(labellings.size[i]):
            move(labellings, labellings.start[i] + c, end[0] + c)
        labellings.start[i], labellings.room[i] = end[0], room
        end[0] += room
    if labellings.code_size[i] + n_codes > labellings.code_room[i]:
        shift = end[1] - labellings.code_start[i]
        for k in range(
            labellings.code_start[i], labellings.code_start[i] + labellings.code_size[i]
        ):
            labellings.codes[k + shift] = labellings.codes[k]
        for c in range(labellings.start[i], labellings.start[i] + labellings.size[i]):
            labellings.begin[c] += shift
        labellings.code_start[i], labellings.code_room[i] = end[1], code_room
        end[1] += code_room
    return True


@compiled()
def add_labelling(tree: Tree, labellings: ActiveLabellings, i: int, scratch: MarkovScratch) -> None:
    """Store the labelling in ``scratch.state`` as one of item i; ``make_place`` must come first."""
    begin = end = labellings.code_start[i] + labellings.code_size[i]
    loss = 0.0
    for j in range(len(tree.parent)):
        p = tree.parent[j]
        a, label = scratch.state[p], min(scratch.state[j], 1)
        loss += tree.loss[2 * scratch.truth[p] + scratch.truth[j], j, a, label]
        found = code_at(tree, j, a, label)
        true = code_at(tree, j, scratch.truth[p], scratch.truth[j])
        if found != true and found >= 0:
            labellings.codes[end] = found + 1
            end += 1
        if found != true and true >= 0:
            labellings.codes[end] = -true - 1
            end += 1
    c = labellings.start[i] + labellings.size[i]
    labellings.begin[c], labellings.n_codes[c] = begin, end - begin
    labellings.alpha[c], labellings.loss[c] = 0.0, loss
    labellings.size[i] += 1
    labellings.code_size[i] += end - begin


@compiled(inline=True)
def add_codes(labellings: ActiveLabellings, c: int, amount: float, out: Reals) -> None:
    """Add a multiple of φ(x_i, y) - φ(x_i, y_i) of labelling c to a vector over codes."""
    for k in range(labellings.begin[c], labellings.begin[c] + labellings.n_codes[c]):
        z = labellings.codes[k]
        if z > 0:
            out[z - 1] += amount
        else:
            out[-z - 1] -= amount

"""Loops of the maximum-margin Markov tree: the worst labelling of an item, and its small QP.

Notation (see ``taxonomist.solvers.markov_problem``): i item, j node, a and b states of a parent and
its child, y a labelling, z a column of the weights ``W`` (features x codes; in dual form the
coefficients of the kernel expansion, items x codes). The gradient of the dual at α_iy is
G_iy = ℓ(y_i, y) - <w, φ(x_i, y_i) - φ(x_i, y)> [RSSS06, Eq. 2]. The true labelling has G = 0; it is
not stored, and has what the others leave of C_i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taxonomist._typing import Codes, Floats
from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.markov_arrays import EVERYWHERE, Columns, Found, Space, Tree, TreeProblem

FULL = 1e-12
"""An item whose dual variables sum to C up to this relative error has none left for the truth."""
MOST_TURNS, MOST_STEPS = 4, 10
"""Labellings that enter, and pairwise steps after each, at one visit to an item: more of either
saves sweeps, but not time (Reuters-21578)."""
FIRST_ROOM = 16
"""Labellings of one item that there is room for at first."""
ENTERS = 0.1
"""A labelling enters if its G exceeds the others by this part of the tolerance."""
MOST_REST, RESTFUL = 5, 30.0
"""Sweeps that an item sits out at the most, and which do: those whose violation is at most this
multiple of the tolerance. 1 takes half as long again (Reuters-21578), 10 a tenth."""


def make_space(tree: Tree, n_codes: int, dtype: Any, room: int = FIRST_ROOM) -> Space:
    """Return room for one item with up to so many labellings."""
    table = n_nodes, _ = tree.loss.shape[1:3]
    return Space(
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


# Scores ---------------------------------------------------------------------------------------


# Sums over features may be reordered, which lets them run in vector registers.
@compiled("reassoc", "contract", "nsz")
def score(rows: Rows, row: int, W: Any, out: Any) -> None:
    """Write <w_z, x> for every code z as a sum of rows of ``W``, three at a time."""
    begin, end = rows.indptr[row], rows.indptr[row + 1]
    is_dense = len(rows.indices) == 0
    odd = begin + (end - begin) % 3
    out[:] = 0
    for k in range(begin, odd):
        w = W[k - begin] if is_dense else W[rows.indices[k]]
        for z in range(len(out)):
            out[z] += rows.data[k] * w[z]
    for k in range(odd, end, 3):
        x, x1, x2 = rows.data[k], rows.data[k + 1], rows.data[k + 2]
        w = W[k - begin] if is_dense else W[rows.indices[k]]
        w1 = W[k + 1 - begin] if is_dense else W[rows.indices[k + 1]]
        w2 = W[k + 2 - begin] if is_dense else W[rows.indices[k + 2]]
        for z in range(len(out)):
            out[z] += x * w[z] + x1 * w1[z] + x2 * w2[z]


@compiled(inline=True)
def write_norms(problem: TreeProblem, i: int, norm: Floats) -> None:
    """Write k(x_i, x_i) for every code: local features count at their own nodes only."""
    norm[:] = problem.norms[i]
    if len(problem.owner) == 0:
        return
    rows, row, tree = problem.rows, problem.row_of[i], problem.tree
    begin = rows.indptr[row]
    for k in range(begin, rows.indptr[row + 1]):
        j = problem.owner[k - begin if len(rows.indices) == 0 else rows.indices[k]]
        if j >= 0:
            to = tree.stride * (j - tree.first)
            for z in range(to, to + tree.stride):
                norm[z] += np.float64(rows.data[k]) ** 2


@compiled(inline=True)
def mark_truth(labels: Labels, i: int, truth: Any, value: int) -> None:
    """Set the microlabels of an item's positive nodes."""
    for k in range(labels.indptr[i], labels.indptr[i + 1]):
        truth[labels.indices[k]] = value


@compiled(inline=True)
def code_at(tree: Tree, j: int, a: int, label: int) -> int:
    """Return the column of W that node j uses below a parent in state a; -1 if none."""
    if j == 0:
        return 0 if tree.first == 0 and label == 1 else -1
    offset = tree.code[a, label]
    return tree.stride * (j - tree.first) + offset if offset >= 0 else -1


@compiled(inline=True)
def write_worth(tree: Tree, space: Space) -> None:
    """Write the loss plus the score of every node, for each microlabel and state of its parent."""
    n_nodes, n_states = space.value.shape
    for j in range(n_nodes):
        true = 2 * space.truth[tree.parent[j]] + space.truth[j]
        for a in range(n_states):
            for label in range(2):
                z = code_at(tree, j, a, label)
                loss = tree.loss[true, j, a, label]
                space.worth[j, a, label] = loss + space.score[z] if z >= 0 else loss


# The worst labelling --------------------------------------------------------------------------


@compiled(inline=True)
def find_worst(tree: Tree, space: Space) -> float:
    """Find the labelling of the largest loss plus score, and return that [RSSS06, Sec. 3.4]."""
    n_nodes, n_states = space.value.shape
    worth, value, state = space.worth, space.value, space.state
    write_worth(tree, space)
    value[:, :] = 0.0
    for j in range(n_nodes - 1, 0, -1):
        p = tree.parent[j]
        for a in range(n_states):
            off = worth[j, a, 0] + value[j, 0]
            on = worth[j, a, 1] + value[j, tree.up[a]]
            value[p, a] += max(off, on)
    top = -np.inf
    for b in range(tree.n_root_states):
        total = worth[0, 0, min(b, 1)] + value[0, b]
        if total > top:
            top = total
            state[0] = b
    for j in range(1, n_nodes):
        a = state[tree.parent[j]]
        b = tree.up[a]
        state[j] = b if worth[j, a, 1] + value[j, b] > worth[j, a, 0] + value[j, 0] else 0
    return top


@compiled(inline=True)
def below_other(tree: Tree, space: Space, j: int, a: int, label: int) -> float:
    """Return the largest sum at and below node j with this microlabel and some wrong one."""
    b = tree.up[a] if label == 1 else 0
    total: float = space.worth[j, a, label] + space.value[j, b]
    return total if label != space.truth[j] else total + space.extra[j, b]


@compiled(inline=True)
def find_other(tree: Tree, space: Space) -> float:
    """Find the labelling of the largest loss plus score that is not the truth; return that.

    Of all labellings in which some microlabel at or below a node is wrong, the best costs, against
    the best one whatever, the least over the children; ``find_worst`` must have been called.
    """
    n_nodes, n_states = space.value.shape
    space.extra[:, :] = -np.inf
    for j in range(n_nodes - 1, 0, -1):
        p = tree.parent[j]
        for a in range(n_states):
            off = space.worth[j, a, 0] + space.value[j, 0]
            on = space.worth[j, a, 1] + space.value[j, tree.up[a]]
            other = max(below_other(tree, space, j, a, 0), below_other(tree, space, j, a, 1))
            if other - max(off, on) > space.extra[p, a]:
                space.extra[p, a] = other - max(off, on)
                space.where[p, a] = j
    top = -np.inf
    for b in range(tree.n_root_states):
        total = space.worth[0, 0, min(b, 1)] + space.value[0, b]
        is_wrong = min(b, 1) != space.truth[0]
        total = total if is_wrong else total + space.extra[0, b]
        if total > top:
            top = total
            space.state[0], space.differs[0] = b, not is_wrong
    for j in range(1, n_nodes):
        p = tree.parent[j]
        a = space.state[p]
        b, wanted = tree.up[a], space.differs[p] and space.where[p, a] == j
        off = space.worth[j, a, 0] + space.value[j, 0]
        on = space.worth[j, a, 1] + space.value[j, b]
        if wanted:
            off, on = below_other(tree, space, j, a, 0), below_other(tree, space, j, a, 1)
        space.state[j] = b if on > off else 0
        space.differs[j] = wanted and min(space.state[j], 1) == space.truth[j]
    return top


@compiled(inline=True)
def true_score(tree: Tree, space: Space) -> float:
    """Return <w, φ(x_i, y_i)>."""
    total = 0.0
    for j in range(len(tree.parent)):
        z = code_at(tree, j, space.truth[tree.parent[j]], space.truth[j])
        if z >= 0:
            total += space.score[z]
    return total


@compiled()
def worst_gradient(problem: TreeProblem, space: Space) -> float:
    """Find the labelling of the largest G among those that an item has to beat; return that."""
    worst = find_worst(problem.tree, space)
    if problem.is_signed:
        worst = find_other(problem.tree, space)
    return worst - true_score(problem.tree, space)


# Labellings in use ----------------------------------------------------------------------------


@compiled(inline=True)
def gradient(columns: Columns, c: int, score: Any) -> float:
    """Return G of a labelling."""
    total: float = columns.loss[c]
    for k in range(columns.begin[c], columns.begin[c] + columns.n_codes[c]):
        z = columns.codes[k]
        total += score[z - 1] if z > 0 else -score[-z - 1]
    return total


@compiled(inline=True)
def move(columns: Columns, c: int, to: int) -> None:
    """Copy the entry of a labelling."""
    columns.begin[to] = columns.begin[c]
    columns.n_codes[to] = columns.n_codes[c]
    columns.alpha[to] = columns.alpha[c]
    columns.loss[to] = columns.loss[c]


@compiled()
def drop_unused(columns: Columns, i: int) -> None:
    """Keep the labellings of item i whose dual variables are positive."""
    to, end = columns.start[i], columns.code_start[i]
    for c in range(columns.start[i], columns.start[i] + columns.size[i]):
        if columns.alpha[c] > 0.0:
            begin = columns.begin[c]
            for k in range(columns.n_codes[c]):
                columns.codes[end + k] = columns.codes[begin + k]
            move(columns, c, to)
            columns.begin[to] = end
            end += columns.n_codes[to]
            to += 1
    columns.size[i] = to - columns.start[i]
    columns.code_size[i] = end - columns.code_start[i]


@compiled()
def make_place(columns: Columns, i: int, n_codes: int, end: Codes) -> bool:
    """Make room for one more labelling of item i; return whether there was space left.

    An item that needs more moves to the end: ``end[0]`` of labellings, ``end[1]`` of codes.
    """
    has_codes = columns.code_size[i] + n_codes <= columns.code_room[i]
    if has_codes and columns.size[i] < columns.room[i]:
        return True
    drop_unused(columns, i)
    room = 2 * columns.size[i] + 2
    code_room = 2 * (columns.code_size[i] + n_codes)
    if end[0] + room > len(columns.alpha) or end[1] + code_room > len(columns.codes):
        return False
    if columns.size[i] == columns.room[i]:
        for c in range(columns.size[i]):
            move(columns, columns.start[i] + c, end[0] + c)
        columns.start[i], columns.room[i] = end[0], room
        end[0] += room
    if columns.code_size[i] + n_codes > columns.code_room[i]:
        shift = end[1] - columns.code_start[i]
        for k in range(columns.code_start[i], columns.code_start[i] + columns.code_size[i]):
            columns.codes[k + shift] = columns.codes[k]
        for c in range(columns.start[i], columns.start[i] + columns.size[i]):
            columns.begin[c] += shift
        columns.code_start[i], columns.code_room[i] = end[1], code_room
        end[1] += code_room
    return True


@compiled()
def add_labelling(tree: Tree, columns: Columns, i: int, space: Space) -> None:
    """Store the labelling that was found as one of item i, for which there must be room."""
    begin = end = columns.code_start[i] + columns.code_size[i]
    loss = 0.0
    for j in range(len(tree.parent)):
        p = tree.parent[j]
        a, label = space.state[p], min(space.state[j], 1)
        loss += tree.loss[2 * space.truth[p] + space.truth[j], j, a, label]
        found = code_at(tree, j, a, label)
        true = code_at(tree, j, space.truth[p], space.truth[j])
        if found != true and found >= 0:
            columns.codes[end] = found + 1
            end += 1
        if found != true and true >= 0:
            columns.codes[end] = -true - 1
            end += 1
    c = columns.start[i] + columns.size[i]
    columns.begin[c], columns.n_codes[c] = begin, end - begin
    columns.alpha[c], columns.loss[c] = 0.0, loss
    columns.size[i] += 1
    columns.code_size[i] += end - begin


# One item's QP --------------------------------------------------------------------------------


@compiled(inline=True)
def add_codes(columns: Columns, c: int, amount: float, out: Any) -> None:
    """Add a multiple of φ(x_i, y) - φ(x_i, y_i) of a labelling to a vector over codes."""
    for k in range(columns.begin[c], columns.begin[c] + columns.n_codes[c]):
        z = columns.codes[k]
        if z > 0:
            out[z - 1] += amount
        else:
            out[-z - 1] -= amount


@compiled(inline=True)
def write_products(columns: Columns, i: int, c: int, space: Space) -> None:
    """Write the products of labelling c of item i with all of its labellings, unless known."""
    if space.is_known[c]:
        return
    space.is_known[c] = True
    first = columns.start[i]
    a = first + c
    for k in range(columns.begin[a], columns.begin[a] + columns.n_codes[a]):
        z = columns.codes[k]
        space.mark[abs(z) - 1] = space.norm[abs(z) - 1] if z > 0 else -space.norm[abs(z) - 1]
    for d in range(columns.size[i]):
        total = 0.0
        begin = columns.begin[first + d]
        for k in range(begin, begin + columns.n_codes[first + d]):
            z = columns.codes[k]
            total += space.mark[z - 1] if z > 0 else -space.mark[-z - 1]
        space.products[c, d] = total
    for k in range(columns.begin[a], columns.begin[a] + columns.n_codes[a]):
        space.mark[abs(columns.codes[k]) - 1] = 0.0


@compiled(inline=True)
def total_alpha(columns: Columns, i: int) -> float:
    """Return the sum of the dual variables of item i."""
    total = 0.0
    for c in range(columns.start[i], columns.start[i] + columns.size[i]):
        total += columns.alpha[c]
    return total


@compiled(inline=True)
def extremes(
    columns: Columns, i: int, G: Floats, truth_may: bool, truth_has: bool
) -> tuple[int, int, float]:
    """Return the labelling of the largest G, that of the smallest with weight, and the difference.

    -1 stands for the truth, whose G is 0, if it may have weight, or has it.
    """
    up, down = -1, -1
    top = 0.0 if truth_may else -np.inf
    bottom = 0.0 if truth_has else np.inf
    for c in range(columns.size[i]):
        if G[c] > top:
            top, up = G[c], c
        if columns.alpha[columns.start[i] + c] > 0.0 and G[c] < bottom:
            bottom, down = G[c], c
    return up, down, top - bottom


@compiled(inline=True)
def take_step(
    columns: Columns, i: int, up: int, down: int, rise: float, limit: float, space: Space
) -> tuple[float, float]:
    """Move weight from a labelling to another, as far as the dual rises; return step and gain."""
    curvature, n = 0.0, columns.size[i]
    if up >= 0:
        write_products(columns, i, up, space)
        curvature += space.products[up, up]
    if down >= 0:
        write_products(columns, i, down, space)
        curvature += space.products[down, down]
    if up >= 0 and down >= 0:
        curvature -= 2.0 * space.products[up, down]
    step = min(limit, rise / curvature) if curvature > 0.0 else limit
    for c in range(n):
        if up >= 0:
            space.G[c] -= step * space.products[up, c]
        if down >= 0:
            space.G[c] += step * space.products[down, c]
    return step, step * (rise - 0.5 * step * curvature)


@compiled()
def ascend(problem: TreeProblem, i: int, columns: Columns, space: Space, tol: float) -> float:
    """Raise the dual by pairwise steps within the labellings of item i; return by how much."""
    gain, cost, first = 0.0, problem.costs[i], columns.start[i]
    used, may = total_alpha(columns, i), not problem.is_signed
    for c in range(columns.size[i]):
        space.G[c] = gradient(columns, first + c, space.score)
        space.before[c], space.is_known[c] = columns.alpha[first + c], False
    for _ in range(MOST_STEPS):
        has = may and used < cost * (1.0 - FULL)
        up, down, rise = extremes(columns, i, space.G, may, has)
        if not rise > tol:
            break
        limit = columns.alpha[first + down] if down >= 0 else cost - used
        step, more = take_step(columns, i, up, down, rise, limit, space)
        gain += more
        if up >= 0:
            columns.alpha[first + up] += step
        else:
            used -= step
        if down >= 0:
            columns.alpha[first + down] = 0.0 if step == limit else limit - step
        else:
            used += step
    follow(columns, i, space)
    return gain


@compiled(inline=True)
def follow(columns: Columns, i: int, space: Space) -> None:
    """Bring scores and change up to date with the dual variables of item i."""
    for c in range(columns.size[i]):
        a = columns.start[i] + c
        moved = columns.alpha[a] - space.before[c]
        if moved != 0.0:
            for k in range(columns.begin[a], columns.begin[a] + columns.n_codes[a]):
                z = abs(columns.codes[k]) - 1
                amount = moved if columns.codes[k] > 0 else -moved
                space.score[z] -= amount * space.norm[z]
                space.change[z] -= amount


@compiled(inline=True)
def give_all(problem: TreeProblem, i: int, columns: Columns, space: Space) -> float:
    """Give the only labelling of item i all of C_i; return by how much the dual rises."""
    c, cost = columns.start[i], problem.costs[i]
    rise = gradient(columns, c, space.score)
    space.before[0], space.is_known[0] = 0.0, False
    write_products(columns, i, 0, space)
    columns.alpha[c] = cost
    follow(columns, i, space)
    gain: float = cost * (rise - 0.5 * cost * space.products[0, 0])
    return gain


@compiled("contract", inline=True)
def add_row(problem: TreeProblem, i: int, W: Any, n_used: int, space: Space) -> None:
    """Add x_i times the change to the weights: of local features at their own nodes only."""
    rows, row, tree = problem.rows, problem.row_of[i], problem.tree
    begin, is_dense = rows.indptr[row], len(rows.indices) == 0
    for k in range(begin, rows.indptr[row + 1]):
        f, x = k - begin if is_dense else rows.indices[k], rows.data[k]
        owner = problem.owner[f] if len(problem.owner) > 0 else EVERYWHERE
        if owner == EVERYWHERE:
            for q in range(n_used):
                W[f, space.used[q]] += x * space.change[space.used[q]]
        elif owner >= 0:
            to = tree.stride * (owner - tree.first)
            for z in range(to, to + tree.stride):
                W[f, z] += x * space.change[z]


@compiled("contract")
def apply_change(problem: TreeProblem, i: int, W: Any, space: Space) -> None:
    """Bring the weights up to date with the change, and clear it."""
    n_used = 0
    for z in range(len(space.change)):
        if space.change[z] != 0.0:
            space.used[n_used] = z
            n_used += 1
    if problem.dual_form:
        for q in range(n_used):
            W[i, space.used[q]] += space.change[space.used[q]]
    else:
        add_row(problem, i, W, n_used, space)
    for q in range(n_used):
        space.change[space.used[q]] = 0.0


# Items ----------------------------------------------------------------------------------------


@compiled()
def look(
    problem: TreeProblem, i: int, W: Any, columns: Columns, space: Space, found: Found
) -> float:
    """Score item i, find its worst labelling, and write what is known of it.

    Returns by how much the G of that labelling exceeds those in use.
    """
    mark_truth(problem.labels, i, space.truth, 1)
    score(problem.rows, problem.row_of[i], W, space.score)
    worst = worst_gradient(problem, space)
    highest = -np.inf if problem.is_signed else 0.0
    lowest, used, linear, inner = np.inf, 0.0, 0.0, 0.0
    for c in range(columns.start[i], columns.start[i] + columns.size[i]):
        g, alpha = gradient(columns, c, space.score), columns.alpha[c]
        highest = max(highest, g)
        if alpha > 0.0:
            lowest = min(lowest, g)
            used += alpha
            linear += alpha * columns.loss[c]
            inner += alpha * g
    if not problem.is_signed and used < problem.costs[i] * (1.0 - FULL):
        lowest = min(lowest, 0.0)
    found.slack[i] = worst if problem.is_signed else max(worst, 0.0)
    found.violation[i] = max(worst, highest) - lowest
    found.linear[i] = linear
    found.quadratic[i] = linear - inner
    return worst - highest


@compiled(inline=True)
def look_again(problem: TreeProblem, i: int, columns: Columns, space: Space) -> float:
    """Find the worst labelling of item i at the scores that its QP has led to; as ``look``."""
    worst = worst_gradient(problem, space)
    highest = -np.inf if problem.is_signed else 0.0
    for c in range(columns.start[i], columns.start[i] + columns.size[i]):
        highest = max(highest, gradient(columns, c, space.score))
    return worst - highest


@compiled(inline=True)
def visit(
    problem: TreeProblem,
    i: int,
    W: Any,
    columns: Columns,
    end: Codes,
    space: Space,
    found: Found,
    tol: float,
) -> float:
    """Solve item i, for one more labelling of which there must be room; return the gain."""
    beats = look(problem, i, W, columns, space, found)
    write_norms(problem, i, space.norm)
    gain, n_codes = 0.0, 2 * len(space.truth)
    for turn in range(MOST_TURNS):
        if beats > ENTERS * tol:
            add_labelling(problem.tree, columns, i, space)
        if problem.is_signed and columns.alpha[columns.start[i]] == 0.0 and columns.size[i] == 1:
            gain += give_all(problem, i, columns, space)
        gain += ascend(problem, i, columns, space, tol)
        if turn + 1 == MOST_TURNS or not make_place(columns, i, n_codes, end):
            break
        beats = look_again(problem, i, columns, space)
        if not beats > tol:
            break
    apply_change(problem, i, W, space)
    mark_truth(problem.labels, i, space.truth, 0)
    return gain


@compiled()
def sweep(
    group: Codes,
    begin: int,
    problem: TreeProblem,
    W: Any,
    columns: Columns,
    end: Codes,
    space: Space,
    found: Found,
    tol: float,
    rest: Codes,
    calm: Codes,
) -> tuple[int, float]:
    """Solve item after item; return how far the room for labellings lasted, and the gain.

    Items without slack and dual variables sit out ever more sweeps: ``rest`` of them, after
    ``calm`` in which nothing was to do.
    """
    gain = 0.0
    for at in range(begin, len(group)):
        i = group[at]
        if rest[i] > 0:
            rest[i] -= 1
            continue
        has_room = columns.size[i] + MOST_TURNS <= len(space.G)
        if not has_room or not make_place(columns, i, 2 * len(space.truth), end):
            return at, gain
        gain += visit(problem, i, W, columns, end, space, found, tol)
        calm[i] = calm[i] + 1 if found.violation[i] <= RESTFUL * tol else 0
        rest[i] = min(calm[i], MOST_REST)
    return len(group), gain


@compiled()
def inspect(
    group: Codes, problem: TreeProblem, W: Any, columns: Columns, space: Space, found: Found
) -> None:
    """Write what is found of items at fixed weights, which certifies."""
    for i in group:
        look(problem, i, W, columns, space, found)
        mark_truth(problem.labels, i, space.truth, 0)


@compiled()
def add_up(group: Codes, problem: TreeProblem, W: Any, columns: Columns, space: Space) -> None:
    """Add what the dual variables of items make of the weights."""
    for i in group:
        for c in range(columns.start[i], columns.start[i] + columns.size[i]):
            add_codes(columns, c, -columns.alpha[c], space.change)
        apply_change(problem, i, W, space)


@compiled()
def best_labellings(tree: Tree, scores: Any, space: Space, out: Any) -> None:
    """Write the microlabels of the labelling of the largest loss plus score, the truth being empty.

    With a loss of 0 that is the best labelling; ``scores`` hold those of all codes, a row an item.
    """
    for i in range(len(scores)):
        space.score[:] = scores[i]
        find_worst(tree, space)
        for j in range(len(space.state)):
            out[i, j] = space.state[j] > 0

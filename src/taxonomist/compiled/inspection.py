"""Loops of the joint SVM that inspect items: find violated pairs, slacks and parts of the dual.

The notation is that of ``taxonomist.compiled.joint``.
"""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Bools, Codes, Floats, Reals
from taxonomist.compiled.arrays import Duals, Labels, Loss
from taxonomist.compiled.attributes import write_category_scores, write_scores_in_order
from taxonomist.compiled.duals import drop_zeros, unused_cost
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.joint_arrays import InspectionScratch, JointArrays, JointFindings
from taxonomist.compiled.losses import write_losses
from taxonomist.compiled.places import uses_vectors
from taxonomist.compiled.rows import score_row
from taxonomist.compiled.vectors import score_vectors


def inspection_scratch(problem: JointArrays, W: Reals, n_new: int) -> InspectionScratch:
    """Return work arrays for inspections that add up to ``n_new`` pairs; threads need their own.

    ``W`` holds the weights or, if scores are known, these.
    """
    n_categories = len(problem.attributes.indptr) - 1
    return InspectionScratch(
        np.zeros(W.shape[1], W.dtype),
        np.zeros(np.diff(problem.attributes.indptr).max(initial=0)),
        np.zeros(n_categories),
        np.zeros(n_categories),
        np.zeros(n_categories),
        np.zeros(max(n_categories, len(problem.loss.miss)), np.bool_),
        np.zeros(n_new),
    )


@compiled(inline=True)
def look_at_active(
    i: int,
    f: Floats,
    cost: float,
    slack_per_pair: bool,
    free: float,
    duals: Duals,
    findings: JointFindings,
) -> float:
    """Write the findings about the active pairs; return the G above which a pair is violated."""
    highest = worst = 0.0
    lowest = 0.0 if free > 0.0 else np.inf
    linear = quadratic = 0.0
    for a in range(duals.start[i], duals.start[i] + duals.size[i]):
        margin = f[duals.own[a]] - f[duals.other[a]]
        alpha = duals.beta[a] * duals.delta[a]
        linear += alpha
        quadratic += alpha * margin
        gradient = duals.delta[a] * (1.0 - margin)
        if gradient > highest:
            highest = gradient
        if gradient < lowest:
            lowest = gradient
        if abs(gradient) > worst and (gradient < 0.0 or duals.beta[a] < cost):
            worst = abs(gradient)
    findings.linear[i] = linear
    findings.quadratic[i] = quadratic
    findings.within[i] = worst if slack_per_pair else highest - lowest
    return 0.0 if slack_per_pair else lowest


@compiled(inline=True)
def smallest_margin(i: int, f: Floats, labels: Labels, mark: Bools) -> float:
    """Return the smallest f(x_i, y) - f(x_i, c); ``mark`` is all False before and after."""
    own, other = np.inf, -np.inf
    for k in range(labels.indptr[i], labels.indptr[i + 1]):
        own = min(own, f[labels.indices[k]])
        mark[labels.indices[k]] = True
    for c in range(len(f)):
        if not mark[c]:
            other = max(other, f[c])
    for k in range(labels.indptr[i], labels.indptr[i + 1]):
        mark[labels.indices[k]] = False
    return own - other


@compiled(inline=True)
def write_pairs(i: int, y: int, labels: Labels, loss: Loss, scratch: InspectionScratch) -> None:
    """Write Δ(y, c) and G_iyc for all c; G is 0 for the item's own categories."""
    write_losses(loss, y, scratch.mark, scratch.delta)
    over = 1.0 - scratch.f[y]
    for c in range(len(scratch.G)):
        scratch.G[c] = scratch.delta[c] * (over + scratch.f[c])
    for k in range(labels.indptr[i], labels.indptr[i + 1]):
        scratch.G[labels.indices[k]] = 0.0


@compiled(inline=True)
def add_violated(
    i: int,
    y: int,
    least: float,
    n_old: int,
    duals: Duals,
    scratch: InspectionScratch,
) -> None:
    """Make the pairs (y, c) with the largest G above ``least`` active, up to ``len(scratch.top)``.

    Pairs added before for another y are in descending order of G; better ones replace them.
    """
    first = duals.start[i] + n_old
    n_new = duals.size[i] - n_old
    most = min(len(scratch.top), duals.room[i] - n_old)
    if n_new == most:
        least = max(least, scratch.top[most - 1]) if most > 0 else np.inf
    for c in range(len(scratch.G)):
        if scratch.G[c] <= least:
            continue
        a = n_new if n_new < most else most - 1
        while a > 0 and scratch.top[a - 1] < scratch.G[c]:
            scratch.top[a] = scratch.top[a - 1]
            duals.own[first + a] = duals.own[first + a - 1]
            duals.other[first + a] = duals.other[first + a - 1]
            duals.delta[first + a] = duals.delta[first + a - 1]
            a -= 1
        scratch.top[a] = scratch.G[c]
        duals.own[first + a] = y
        duals.other[first + a] = c
        duals.delta[first + a] = scratch.delta[c]
        if n_new < most:
            duals.beta[first + n_new] = 0.0
            n_new += 1
        if n_new == most:
            least = scratch.top[most - 1]
    duals.size[i] = n_old + n_new


@compiled(inline=True)
def highest_and_total(G: Floats) -> tuple[float, float]:
    """Return the largest positive G, and the sum of those that are positive."""
    highest = total = 0.0
    for c in range(len(G)):
        if G[c] > 0.0:
            total += G[c]
            if G[c] > highest:
                highest = G[c]
    return highest, total


@compiled(inline=True)
def judge(
    i: int,
    problem: JointArrays,  # in
    duals: Duals,  # in/out: zeros are dropped, violated pairs added
    findings: JointFindings,  # out
    scratch: InspectionScratch,  # in: ``f``
) -> None:
    """Write the findings about an item from its scores; make its most violated pairs active."""
    labels, f, G = problem.labels, scratch.f, scratch.G
    free = unused_cost(problem.costs[i], drop_zeros(duals, i))
    n_old = duals.size[i]
    lowest = look_at_active(i, f, problem.costs[i], problem.slack_per_pair, free, duals, findings)
    highest = total = highest_inactive = 0.0
    for k in range(labels.indptr[i], labels.indptr[i + 1]):
        y = labels.indices[k]
        write_pairs(i, y, labels, problem.loss, scratch)
        found = highest_and_total(G)
        highest, total = max(highest, found[0]), total + found[1]
        for a in range(duals.start[i], duals.start[i] + n_old):
            if duals.own[a] == y:
                G[duals.other[a]] = 0.0
        if problem.slack_per_pair and problem.costs[i] > 0.0:
            highest_inactive = max(highest_inactive, highest_and_total(G)[0])
        add_violated(i, y, max(lowest, 0.0), n_old, duals, scratch)
    if problem.slack_per_pair:
        findings.slack[i] = total
        findings.violation[i] = max(highest_inactive, findings.within[i])
    else:
        findings.slack[i] = highest
        findings.violation[i] = highest - lowest
    if problem.costs[i] == np.inf:
        findings.margin[i] = smallest_margin(i, f, labels, scratch.mark)


@compiled(inline=True)
def inspect_item(
    i: int,
    problem: JointArrays,
    W: Reals,
    duals: Duals,
    findings: JointFindings,
    scratch: InspectionScratch,
) -> None:
    """Score an item at all categories, and write the findings about it."""
    if uses_vectors(problem.rows, W):
        score_vectors(problem.rows, problem.row_of[i], W, scratch.scores)
    else:
        score_row(problem.rows, problem.row_of[i], W, scratch.scores)
    attributes, shared = problem.attributes, problem.shared
    if len(shared) > 0:
        write_scores_in_order(attributes, shared, scratch.scores, scratch.partial, scratch.f)
    else:
        write_category_scores(attributes, scratch.scores, scratch.f)
    judge(i, problem, duals, findings, scratch)


@compiled()
def inspect(
    items: Codes,
    problem: JointArrays,
    W: Reals,
    duals: Duals,
    scratch: InspectionScratch,
    findings: JointFindings,
) -> None:
    """Inspect items at fixed weights; make the most violated pairs of each active."""
    for i in items:
        inspect_item(i, problem, W, duals, findings, scratch)


@compiled()
def judge_scored(
    items: Codes,
    problem: JointArrays,
    f: Floats,
    duals: Duals,
    scratch: InspectionScratch,
    findings: JointFindings,
) -> None:
    """Write the findings about items whose scores f, (n_items, n_categories), are known."""
    for i in items:
        for c in range(f.shape[1]):
            scratch.f[c] = f[i, c]
        judge(i, problem, duals, findings, scratch)

"""Loops of the greedy solvers over items whose scores are all kept."""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Codes, Floats
from taxonomist.compiled.arrays import Attributes, Duals
from taxonomist.compiled.attributes import write_category_scores
from taxonomist.compiled.duals import drop_zeros, unused_cost
from taxonomist.compiled.inspection import look_at_active
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.joint_arrays import JointArrays, JointFindings


@compiled(allocates=True)
def spread(
    attributes: Attributes,  # in
    change: Floats,  # in (n_attributes,)  of the weights, in units of φ(x_i)
    kernel: Floats,  # in (n_items,)  k(x_i, x_j) for every item j
    f: Floats,  # in/out (n_items, n_categories)
) -> None:
    """Update the scores of all items after one item changed the weights."""
    n_categories = f.shape[1]
    score = np.zeros(n_categories)
    write_category_scores(attributes, change, score)
    for j in range(len(kernel)):
        if kernel[j] != 0.0:
            for c in range(n_categories):
                f[j, c] += kernel[j] * score[c]


@compiled(allocates=True)
def spread_and_judge(
    problem: JointArrays,  # in: one category per item, one slack each, a table of losses
    i: int,
    change: Floats,  # in (n_attributes,)  of the weights, in units of φ(x_i)
    kernel: Floats,  # in (n_items,)  k(x_i, x_j) for every item j
    f: Floats,  # in/out (n_items, n_categories)
    duals: Duals,  # in/out: zeros are dropped
    findings: JointFindings,  # out, but for margins
) -> None:
    """Update the scores after item i changed the weights, and the findings about touched items.

    The same as ``spread`` and ``inspection.judge_scored`` one after the other, in one pass.
    """
    score = np.zeros(f.shape[1])
    write_category_scores(problem.attributes, change, score)
    add_and_judge(problem, i, score, kernel, f, duals, findings)


@compiled(inner=True)
def add_and_judge(
    problem: JointArrays,
    i: int,
    score: Floats,  # in (n_categories,)  by which f changes, in units of the kernel
    kernel: Floats,
    f: Floats,
    duals: Duals,
    findings: JointFindings,
) -> None:
    """Do the part of ``spread_and_judge`` that goes over items; it makes no arrays."""
    n_categories = f.shape[1]
    for j in range(len(kernel)):
        if kernel[j] == 0.0 and j != i:
            continue
        delta = problem.loss.matrix[problem.labels.indices[problem.labels.indptr[j]]]
        own = f[j]
        for c in range(n_categories):
            own[c] += kernel[j] * score[c]
        over = 1.0 - own[problem.labels.indices[problem.labels.indptr[j]]]
        highest = 0.0
        for c in range(n_categories):
            gradient = delta[c] * (over + own[c])
            highest = max(highest, gradient)
        free = unused_cost(problem.costs[j], drop_zeros(duals, j))
        lowest = look_at_active(j, own, problem.costs[j], False, free, duals, findings)
        findings.slack[j] = highest
        findings.violation[j] = highest - lowest


@compiled()
def write_lowest(
    items: Codes,  # in
    f: Floats,  # in (n_items, n_categories)
    duals: Duals,  # in
    lowest: Floats,  # out (n_items,)
) -> None:
    """Write the smallest G_iyc of each item's positive variables, and 0 where none is positive."""
    for i in items:
        least = np.inf
        for a in range(duals.start[i], duals.start[i] + duals.size[i]):
            if duals.beta[a] > 0.0:
                gradient = duals.delta[a] * (1.0 - f[i, duals.own[a]] + f[i, duals.other[a]])
                least = min(least, gradient)
        lowest[i] = 0.0 if least == np.inf else least

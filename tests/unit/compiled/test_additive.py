"""Loops of additive features and of path marginals: compiled against uncompiled."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist.compiled import additive, code_subspace
from taxonomist.compiled.labelling_search import mark_truth
from taxonomist.compiled.markov_arrays import markov_scratch
from tests.reference.markov_toys import toy


def started(case, i, seed=0):
    """Return the arrays of a problem, and scratch arrays with an item's truth and scores."""
    problem = case.problem()
    arrays = problem.arrays()
    arrays = arrays._replace(rows=problem.items.rows(np.arange(len(case.X)), arrays.row_of))
    scratch = markov_scratch(problem.tree, problem.n_codes, np.float64)
    mark_truth(arrays.labels, i, scratch.truth, 1)
    rng = np.random.default_rng(seed)
    scratch.score[:] = rng.normal(size=problem.n_codes)
    scratch.norm[:] = arrays.norms[i]
    scratch.state[:] = rng.integers(0, 2, size=problem.n_nodes)
    return arrays, scratch


@pytest.mark.parametrize("i", range(4))
def test_scores_and_differences(i):
    case = toy("tree", n_local=4)
    shared = np.arange(case.X.shape[1]) % 3
    W = np.random.default_rng(1).normal(size=(3, 4))
    found = []
    for write_scores, write_difference in (
        (additive.write_scores, additive.write_difference),
        (additive.write_scores.py_func, additive.write_difference.py_func),
    ):
        arrays, scratch = started(case, i)
        out = np.zeros_like(W)
        write_difference(arrays, i, shared, scratch, out)
        write_scores(arrays, i, shared, W, scratch)
        found.append((scratch.score.copy(), out))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    arrays, scratch = started(case, i)
    parent = arrays.tree.parent
    codes = [2 * labels[parent[1:]] + labels[1:] for labels in (scratch.truth, scratch.state)]
    scores = found[0][0].reshape(-1, 4)
    true, other = (scores[np.arange(len(scores)), code].sum() for code in codes)
    assert np.sum(W * found[0][1]) == pytest.approx(true - other, abs=1e-9)


def test_pairwise_steps():
    rng = np.random.default_rng(0)
    differences = rng.normal(size=(5, 3))
    differences[0] = 0.0
    products, G = differences @ differences.T, np.array([0.0, 1.0, 0.5, 2.0, -1.0])
    ends = []
    for shift in (additive.shift, additive.shift.py_func):
        alpha, g = np.array([1.0, 0, 0, 0, 0]), G.copy()
        shift(products, g, alpha, 1e-9, 1000)
        assert alpha.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(g, G - products @ alpha + products @ [1, 0, 0, 0, 0], atol=1e-9)
        assert g.max() - g[alpha > 0].min() <= 1e-9
        ends.append(alpha)
    np.testing.assert_allclose(*ends, atol=1e-12)


@pytest.mark.parametrize("slack", ["example", "example_signed"])
@pytest.mark.parametrize("train_on", ["all", "consistent"])
def test_steps_of_path_marginals(slack, train_on):
    case = toy("tree", "costs", 0.5, slack, "path", train_on)
    found = []
    for is_compiled in (True, False):
        begin, ascend, look = (
            loop if is_compiled else loop.py_func
            for loop in (code_subspace.begin, code_subspace.ascend, code_subspace.look)
        )
        arrays, scratch = started(case, 5)
        point = code_subspace.make_code_point(len(case.X), len(scratch.score))
        findings = code_subspace.Findings(*np.zeros((4, len(case.X))))
        begin(arrays, scratch, point)
        gain = ascend(arrays, 5, 7, scratch, point)
        look(arrays, 5, scratch, point, findings)
        found.append([gain, *point, scratch.score.copy(), *findings])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    assert found[0][0] > 0

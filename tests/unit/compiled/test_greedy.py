"""Loops of the greedy solvers: compiled against uncompiled, and against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist.compiled import greedy
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.duals import add_all_pairs
from taxonomist.compiled.inspection import inspection_scratch, judge_scored
from taxonomist.compiled.joint_arrays import JointFindings
from taxonomist.compiled.rows import write_products
from taxonomist.solvers import sequential
from taxonomist.solvers.duals import DualStore, Entries, no_duals
from taxonomist.solvers.solution import Options
from tests.reference.joint_toys import SHAPES, UNWRITTEN, assert_twins, pair_alpha, set_toy, toy


def test_products_of_rows():
    X = set_toy(n=9).X
    rows, columns = (
        Rows(M.indptr, M.indices, M.data) for M in (csr_array(X), csr_array(X).tocsc())
    )
    for i in range(9):
        (*_, out), _ = assert_twins(write_products, lambda i=i: (rows, columns, i, np.full(9, 7.0)))
        np.testing.assert_allclose(out, X @ X[i], atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_scores_follow_a_change_of_the_weights(shape):
    case = set_toy(shape)
    rng = np.random.default_rng(0)
    attributes = case.problem().arrays().attributes
    change = rng.normal(size=case.attributes.shape[1])
    kernel = rng.normal(size=5) * [1, 0, 1, 1, 0]
    f = rng.normal(size=(5, case.Y.shape[1]))
    (*_, found), _ = assert_twins(greedy.spread, lambda: (attributes, change, kernel, f.copy()))
    np.testing.assert_allclose(found, f + np.outer(kernel, case.attributes @ change), atol=1e-12)


@pytest.mark.parametrize("active", [[], [2], [0, 3, 4], "all"])
def test_all_pairs_of_an_item_become_active_once(active):
    case = set_toy("dag", "matrix")
    instance = case.instance()
    for i in (3, 4, 7, 9):
        own = np.flatnonzero(case.Y[i])
        pairs = [t[1:] for t in instance.triples if t[0] == i]
        before = pairs if active == "all" else [pairs[k] for k in active if k < len(pairs)]

        def make(i=i, own=own, before=before, pairs=pairs):
            store = DualStore(no_duals(len(case.Y)))
            store.make_place(np.array([i, 20]), len(pairs) + 1)
            for y, c in before:
                a = store.duals.start[i] + store.duals.size[i]
                store.duals.own[a], store.duals.other[a] = y, c
                store.duals.beta[a], store.duals.delta[a] = 0.5, instance.loss[y, c]
                store.duals.size[i] += 1
            store.duals.beta[store.duals.start[i] + len(before) :] = 9.0
            labels, losses = case.problem().arrays().labels, case.loss.rows(own)
            return i, labels, losses, store.duals, np.zeros(case.Y.shape[1], dtype=bool)

        (*_, duals, mark), _ = assert_twins(add_all_pairs, make)
        at = slice(duals.start[i], duals.start[i] + duals.size[i])
        found = list(zip(duals.own[at].tolist(), duals.other[at].tolist(), strict=True))
        assert found[: len(before)] == before
        assert sorted(found) == pairs
        expected = np.zeros((*case.Y.shape, case.Y.shape[1]))
        for y, c in before:
            expected[i, y, c] = 0.5 * instance.loss[y, c]
        np.testing.assert_allclose(pair_alpha(duals, case.Y.shape), expected)
        np.testing.assert_allclose(duals.delta[at], [instance.loss[pair] for pair in found])
        assert not mark.any()
        assert duals.size.sum() == len(pairs)


def test_lowest_gradients_of_positive_variables():
    case = set_toy("dag", "matrix")
    problem = case.problem()
    store = DualStore(sequential.solve(problem, Options(max_iter=2, dtype="float64")).duals)
    f = np.random.default_rng(0).normal(size=case.Y.shape)
    items = np.arange(len(case.Y))
    store.duals.beta[:3:2] = 0.0
    make = lambda: (items, f, store.duals, np.full(len(items), 7.0))  # noqa: E731
    (*_, found), _ = assert_twins(greedy.write_lowest, make)
    entries = Entries.of(store.duals)
    G = entries.delta * (1 - f[entries.item, entries.own] + f[entries.item, entries.other])
    for i in items:
        assert found[i] == min(G[(entries.item == i) & (entries.beta > 0)], default=0.0)


@pytest.mark.parametrize("shape", SHAPES)
def test_scores_and_findings_in_one_pass(shape):
    """The fused loop, its plain twin, and the two loops that it stands for."""
    case = toy(shape, "weighted")
    problem = case.problem()
    arrays = problem.arrays()
    solution = sequential.solve(problem, Options(max_iter=2, dtype="float64"))
    rng = np.random.default_rng(0)
    n, q = len(case.y), case.attributes.shape[0]
    change = rng.normal(size=case.attributes.shape[1])
    kernel = rng.normal(size=n) * (rng.random(n) < 0.6)
    f = rng.normal(size=(n, q))
    i = int(np.flatnonzero(kernel == 0)[0])

    def make():
        findings = JointFindings(*np.full((6, n), UNWRITTEN))
        return arrays, i, change, kernel, f.copy(), DualStore(solution.duals).duals, findings

    (*_, scores, duals, found), _ = assert_twins(greedy.spread_and_judge, make)
    _, _, _, _, expected, other, known = make()
    greedy.spread(arrays.attributes, change, kernel, expected)
    touched = np.union1d(np.flatnonzero(kernel), [i])
    looks = inspection_scratch(arrays, expected, 0)
    judge_scored(touched, arrays, expected, other, looks, known)
    np.testing.assert_array_equal(scores, expected)
    for one, two in zip(found, known, strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(duals.size, other.size)

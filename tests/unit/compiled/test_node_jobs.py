"""Loops over blocks of binary SVMs: compiled against not."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from taxonomist.compiled import node_jobs
from taxonomist.compiled.arrays import Labels, Rows, read_only
from taxonomist.compiled.node_svm import Scratch
from taxonomist.inference.block_weights import sparse_rows


def job_arrays(seed=0):
    """Return two groups of items with three jobs, and the number of features."""
    rng = np.random.default_rng(seed)
    X = sparse.csr_array((rng.normal(size=(20, 9)) * (rng.random((20, 9)) < 0.5)).astype("f4"))
    items = np.concatenate([np.arange(20), np.arange(3, 15)])
    own = sparse.csr_array(
        np.vstack(
            [
                np.hstack([rng.random((20, 4)) < 0.4, np.zeros((20, 2), bool)]),
                np.hstack([np.zeros((12, 4), bool), rng.random((12, 2)) < 0.4]),
            ]
        )
    )
    norms = (X.multiply(X).sum(axis=1) + 1).astype(np.float32)
    return node_jobs.JobArrays(
        sparse_rows(X),
        norms[items],
        np.ones(32, np.float32),
        1.0,
        True,
        items,
        np.array([0, 20, 32]),
        Labels(own.indptr.astype(np.intp), own.indices.astype(np.intp)),
        np.array([0, 0, 1]),
        np.array([0, 2, 4]),
        np.array([2, 4, 6]),
        np.array([4, 8, 16]),
        np.array([7, 8, 9], dtype=np.uint64),
    )


def solved(loop, start, jobs=(2, 0, 1), n_features=9):
    results = node_jobs.JobResults(
        np.zeros(6, np.float32), np.zeros(6), np.zeros(6),
        np.zeros(3, np.intp), np.zeros(3), np.zeros(3, np.intp),
    )  # fmt: skip
    rows = Rows(np.empty(21, np.intp), np.empty(180, np.int32), np.empty(180, np.float32))
    place = np.full(n_features, -1, np.int32)
    # What is there from earlier jobs must not matter.
    scratch = Scratch.of(20, 16)
    scratch.change[:] = 7
    room = node_jobs.JobRoom(
        rows,
        read_only(rows),
        np.empty(n_features, np.int32),
        place,
        np.full(16 * (n_features + 1), 7, np.float32),
        np.full(40, 7, np.float32),
        scratch,
    )
    numbers, reals = np.empty((3, 120), np.int32), np.empty((2, 120), np.float32)
    features, items, columns = numbers
    out = node_jobs.Variables(features, reals[0], items, columns, reals[1], np.zeros(3, np.intp))
    loop(np.array(jobs), job_arrays(), start, room, results, out, 1e-3, 200)
    assert (room.place == -1).all()
    ends = np.cumsum(results.n_features[list(jobs)])[:-1]
    assert all((np.diff(part) > 0).all() for part in np.split(features[: out.counts[0]], ends))
    n_features, n_values, n_alphas = out.counts
    ends = n_features, n_values, n_alphas, n_alphas, n_alphas
    return [part[:end] for part, end in zip(out, ends, strict=False)], results


NOTHING = read_only(Rows(np.zeros(1, np.intp), np.empty(0, np.int32), np.empty(0, np.float32)))


def test_jobs_have_the_same_results_uncompiled():
    (found, results), (expected, twins) = (
        solved(loop, NOTHING)
        for loop in (node_jobs.solve_jobs, getattr(node_jobs.solve_jobs, "py_func", None))
    )
    for one, other in zip((*found, *results), (*expected, *twins), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert (results.gap <= 1e-3).all()


def test_rows_need_no_copy_if_a_job_has_all_items():
    """Jobs 0 and 1 have all items; with more features than entries, the rows are copied."""
    (found, results), (expected, twins) = (
        solved(node_jobs.solve_jobs, NOTHING, n_features=n) for n in (9, 1000)
    )
    for one, other in zip((*found, *results), (*expected, *twins), strict=True):
        np.testing.assert_array_equal(one, other)


def test_every_job_is_solved_as_if_it_were_alone():
    found, results = solved(node_jobs.solve_jobs, NOTHING)
    features, values, items, columns, alphas = found
    for job in range(3):
        alone, one = solved(node_jobs.solve_jobs, NOTHING, [job])
        here = slice(2 * job, 2 * job + 2)
        np.testing.assert_array_equal(one.primal[here], results.primal[here])
        is_here = (columns >= 2 * job) & (columns < 2 * job + 2)
        np.testing.assert_array_equal(alone[4], alphas[is_here])
        np.testing.assert_array_equal(alone[2], items[is_here])
    assert len(values) == 2 * len(features)


def test_a_solution_is_a_start():
    found, results = solved(node_jobs.solve_jobs, NOTHING)
    alpha = sparse.csr_array((found[4], (found[2], found[3])), shape=(20, 6))
    start = Rows(alpha.indptr.astype(np.intp), alpha.indices.astype(np.int32), alpha.data)
    again = solved(node_jobs.solve_jobs, start)[1]
    assert (again.n_passes <= results.n_passes).all()
    np.testing.assert_allclose(again.primal, results.primal, rtol=2e-3)

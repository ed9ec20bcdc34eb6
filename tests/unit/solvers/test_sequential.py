"""The sequential solver: work, limits, starts, threads, and problems at the edge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from taxonomist.compiled import joint
from taxonomist.compiled.inspection import inspect
from taxonomist.losses import category_loss
from taxonomist.solvers import greedy, sequential
from taxonomist.solvers import problem as problems
from taxonomist.solvers.duals import Entries
from taxonomist.solvers.problem import FeatureRows
from taxonomist.solvers.solution import Options
from taxonomist.solvers.weights import weights_from_duals
from taxonomist.taxonomy import Taxonomy
from tests.reference import joint_svm as reference
from tests.reference.joint_toys import SLACKS, recomputed, separable, set_toy, toy

EXACT = Options(tol=1e-6, stop="gap", dtype="float64")


@pytest.mark.parametrize(
    "case", [toy("dag", "weighted", C=10.0), set_toy(C=10.0), set_toy(C=10.0, slack="pair")]
)
def test_threads_and_groups_do_not_change_a_bit(case, monkeypatch):
    monkeypatch.setattr(problems, "GRAM_ROWS_AT_A_TIME", 8)
    problem = case.problem(FeatureRows(case.X, "float32"))
    one, three = (sequential.solve(problem, Options(tol=1e-3, n_threads=n)) for n in (1, 3))
    np.testing.assert_array_equal(one.W, three.W)
    np.testing.assert_array_equal(one.duals.beta, three.duals.beta)
    assert [entry[1:] for entry in one.history] == [entry[1:] for entry in three.history]


def test_same_seed_same_bits_other_seed_same_optimum():
    case = toy()
    one, again, other = (
        sequential.solve(case.problem(), replace(EXACT, random_state=seed)) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.W, again.W)
    assert (one.W != other.W).any()
    assert other.certificate.primal == pytest.approx(one.certificate.primal, rel=2e-6)


@pytest.mark.parametrize(
    ("case", "options", "most"),
    [
        (toy("tree", "tree", C=1.0), Options(tol=0.01), 20),
        (toy("tree", "tree", C=1.0), EXACT, 60),
        (toy("dag", "weighted", C=100.0), EXACT, 120),
        (separable(), replace(EXACT, tol=1e-4), 40),
    ],
)
def test_passes_stay_few(case, options, most):
    solution = sequential.solve(case.problem(FeatureRows(case.X, options.dtype)), options)
    assert solution.converged
    assert len(solution.history) <= most


def test_history_is_timed_and_counts_active_variables():
    solution = sequential.solve(toy().problem(), EXACT)
    seconds = [entry.seconds for entry in solution.history]
    assert seconds == sorted(seconds)
    beta = Entries.of(solution.duals).beta
    assert (beta > 0).all()
    assert solution.history[-1].n_active == len(beta)
    assert solution.history[-1].is_exact
    assert not solution.history[0].is_exact


def test_estimates_are_near_the_truth_at_the_end():
    solution = sequential.solve(toy().problem(), EXACT)
    primals = [entry.primal for entry in solution.history]
    assert min(primals) >= solution.certificate.dual * (1 - 1e-9)


@pytest.mark.parametrize("max_iter", [0, 1, 2])
def test_too_few_passes_still_certify(max_iter):
    case = toy(C=100.0)
    solution = sequential.solve(case.problem(), replace(EXACT, max_iter=max_iter))
    assert not solution.converged
    found = recomputed(case.instance(), solution, case.X)
    assert solution.certificate.primal == pytest.approx(found.primal, rel=1e-9)
    assert solution.certificate.dual == pytest.approx(found.dual, rel=1e-9, abs=1e-12)
    assert solution.certificate.violation == pytest.approx(found.psi.max(), rel=1e-9)


def test_callback_stops():
    seen = []

    def stop_at_three(entry):
        seen.append(entry)
        return len(seen) == 3

    solution = sequential.solve(toy(C=100.0).problem(), EXACT, callback=stop_at_three)
    assert not solution.converged
    assert seen == solution.history
    assert len(seen) <= 4  # the certificate may take a pass of its own


def test_start_at_the_optimum_takes_few_passes():
    case = toy("dag", "weighted")
    solution = sequential.solve(case.problem(), EXACT)
    again = sequential.solve(case.problem(), EXACT, start=solution)
    assert again.converged
    assert len(again.history) <= 3
    assert again.certificate.primal == pytest.approx(solution.certificate.primal, rel=2e-6)


def test_start_from_a_smaller_cost_reaches_the_optimum():
    case = toy("dag", "weighted")
    start = sequential.solve(case.problem(), Options(tol=0.1, dtype="float64"))
    dearer = case._replace(costs=3 * case.costs)
    solution = sequential.solve(dearer.problem(), EXACT, start=start)
    assert solution.converged
    best = reference.primal_optimum(dearer.instance(), case.X)[0]
    assert solution.certificate.primal == pytest.approx(best, rel=2e-6)


def test_start_is_left_as_it_was():
    case = toy()
    start = sequential.solve(case.problem(), Options(tol=0.1, dtype="float64"))
    W, beta = start.W.copy(), start.duals.beta.copy()
    sequential.solve(case.problem(), EXACT, start=start)
    np.testing.assert_array_equal(start.W, W)
    np.testing.assert_array_equal(start.duals.beta, beta)


def test_active_sets_grow():
    n = 60
    case = toy()._replace(
        X=np.eye(3),
        y=np.array([0, 1, 2]),
        costs=np.full(3, 100.0),
        attributes=sparse.csr_array(np.eye(n)),
        loss=category_loss("zero_one", Taxonomy.flat([f"c{k}" for k in range(n)])),
    )
    solution = sequential.solve(case.problem(), EXACT)
    best = reference.primal_optimum(case.instance(), case.X)[0]
    assert solution.certificate.primal == pytest.approx(best, rel=2e-6)
    # More than the room that an item is given at first.
    assert solution.duals.size.max() > 2 * sequential.MOST_NEW


def test_one_item():
    case = toy()
    case = case._replace(X=case.X[3:4], y=case.y[3:4], costs=case.costs[3:4])
    solution = sequential.solve(case.problem(), EXACT)
    best = reference.primal_optimum(case.instance(), case.X)[0]
    assert solution.certificate.primal == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize("cost", [1.0, np.inf])
def test_one_category(cost):
    only = toy()._replace(
        y=np.zeros(30, dtype=np.intp),
        costs=np.full(30, cost),
        attributes=sparse.csr_array(np.ones((1, 1))),
        loss=category_loss("zero_one", Taxonomy.flat(["only"])),
    )
    solution = sequential.solve(only.problem(), EXACT)
    assert solution.converged
    assert len(solution.history) <= 2
    assert solution.certificate == (0.0, 0.0, 0.0, 0.0)
    assert not solution.W.any()


def test_items_without_features():
    case = toy("tree", "weighted")
    case = case._replace(X=np.zeros_like(case.X))
    solution = sequential.solve(case.problem(), EXACT)
    assert solution.converged
    largest = case.instance().loss[case.y].max(axis=1)
    assert solution.certificate.primal == pytest.approx(case.costs @ largest, rel=1e-9)
    assert not solution.W.any()


def test_no_costs():
    case = toy()
    solution = sequential.solve(case._replace(costs=np.zeros(30)).problem(), EXACT)
    assert solution.converged
    assert solution.certificate.primal == 0
    assert not solution.W.any()


def test_hard_margin_on_items_that_cannot_be_separated():
    case = separable()
    X = case.X.copy()
    X[1] = X[0]
    y = case.y.copy()
    y[:2] = 0, 1
    problem = case._replace(X=X, y=y).problem(FeatureRows(X, "float32"))
    solution = sequential.solve(problem, Options(max_iter=100))
    assert not solution.converged
    assert solution.certificate.primal == np.inf


def test_sums_to_the_cost_within_rounding_count_as_using_it_up():
    """Otherwise the unused part, a rounding error, would look like a violation for ever."""
    case = toy("tree", "matrix", C=1e-3, seed=5)
    solution = sequential.solve(case.problem(), Options(tol=1e-7, dtype="float64"))
    assert solution.converged
    assert recomputed(case.instance(), solution, case.X).psi.max() <= 1e-7 * (1 + 1e-6)


def test_features_that_cannot_be_written_to_need_no_compilation_of_their_own():
    case = set_toy()
    X, options = sparse.csr_array(case.X), Options(dtype="float64")
    first = sequential.solve(case.problem(FeatureRows(X, "float64")), options)
    loops = joint.sweep, joint.visit, inspect
    known = [len(loop.signatures) for loop in loops]
    for table in (X.data, X.indices, X.indptr):
        table.flags.writeable = False
    again = sequential.solve(case.problem(FeatureRows(X, "float64")), options)
    np.testing.assert_array_equal(first.W, again.W)
    assert [len(loop.signatures) for loop in loops] == known


def test_float32_features_and_weights():
    case = toy()
    items = FeatureRows(sparse.csr_array(case.X.astype(np.float32)), "float32")
    solution = sequential.solve(case.problem(items), Options(tol=1e-3, stop="gap"))
    assert solution.W.dtype == np.float32
    assert solution.converged


UNCOMPILED = """
import json
from taxonomist.solvers import sequential
from taxonomist.solvers.solution import Options
from tests.reference.joint_toys import set_toy, toy
options = Options(tol=1e-8, stop="gap", dtype="float64")
for case in (toy("dag", "weighted", n=8), set_toy("dag", n=8), set_toy(slack="pair", n=8)):
    solution = sequential.solve(case.problem(), options)
    print(json.dumps([solution.W.tolist(), list(solution.certificate)]))
"""


def test_uncompiled_solver_gives_the_same(request):
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join([str(request.config.rootpath), *sys.path]),
    }
    run = subprocess.run(
        [sys.executable, "-c", UNCOMPILED], env=environment, capture_output=True, check=True
    )
    options = Options(tol=1e-8, stop="gap", dtype="float64")
    cases = toy("dag", "weighted", n=8), set_toy("dag", n=8), set_toy(slack="pair", n=8)
    for case, line in zip(cases, run.stdout.splitlines(), strict=True):
        W, certificate = json.loads(line)
        compiled = sequential.solve(case.problem(), options)
        # Sums in another order take another way to the same optimum.
        np.testing.assert_allclose(W, compiled.W, atol=1e-3)
        np.testing.assert_allclose(certificate, compiled.certificate, atol=1e-6)


@pytest.mark.parametrize("form", ["sparse", "dense", "gram"])
def test_many_attributes_take_another_way_to_the_same_optimum(form, monkeypatch):
    """Above FEW_ATTRIBUTES groups are inspected at once, and scores picked out one by one."""
    monkeypatch.setattr(problems, "GRAM_ROWS_AT_A_TIME", 8)
    rng = np.random.default_rng(0)
    taxonomy = Taxonomy.from_paths([f"{a} > {a}.{b}" for a in range(10) for b in range(8)])
    X = rng.normal(size=(40, 12))
    above = taxonomy.ancestor_matrix()[np.flatnonzero(taxonomy.is_leaf)][:, 1:].astype(float)
    above = sparse.hstack([above, sparse.csr_array((80, joint.FEW_ATTRIBUTES))]).tocsr()
    items = {
        "sparse": lambda: FeatureRows(sparse.csr_array(X), np.float64),
        "dense": lambda: FeatureRows(X, np.float64),
        "gram": lambda: problems.GramRows(lambda rows: X[rows] @ X.T, (X**2).sum(axis=1), 1e3),
    }[form]()
    labels = problems.one_label_each(rng.integers(80, size=40), 80)
    problem = problems.JointProblem(
        items, labels, np.ones(40), above, category_loss("tree", taxonomy)
    )
    found = sequential.solve(problem, EXACT)
    paper = greedy.solve(problem, replace(EXACT, tol=1e-5), variant="full")
    assert found.converged
    assert found.certificate.primal == pytest.approx(paper.certificate.primal, rel=2e-5)
    assert found.certificate.dual <= paper.certificate.primal


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_items_stored_in_random_order_give_the_same_optimum(form, monkeypatch):
    """Items come back in their own order, and can be started from."""
    case = set_toy("dag", "weighted")
    X = sparse.csr_array(case.X) if form == "sparse" else case.X
    problem = case.problem(FeatureRows(X, np.float64))
    expected = sequential.solve(problem, EXACT)
    monkeypatch.setattr(sequential, "MANY_ITEMS", 1)
    monkeypatch.setattr(problems, "NEIGHBOURS", 3)
    found = sequential.solve(problem, EXACT)
    assert found.certificate.primal == pytest.approx(expected.certificate.primal, rel=2e-6)
    np.testing.assert_allclose(weights_from_duals(problem, found.duals, "float64"), found.W, 1e-9)
    again = sequential.solve(problem, EXACT, None, found)
    assert len(again.history) == 1
    np.testing.assert_array_equal(again.duals.beta, found.duals.beta)


@pytest.mark.parametrize("slack", SLACKS)
def test_few_attributes_swept_and_many_in_groups_reach_one_optimum(slack):
    """Attributes that no category has change nothing, but make few into many."""
    few = set_toy("dag", "weighted", slack=slack)
    empty = sparse.csr_array((few.Y.shape[1], joint.FEW_ATTRIBUTES))
    many = few._replace(attributes=sparse.hstack([few.attributes, empty]).tocsr())
    swept, grouped = (sequential.solve(case.problem(), EXACT) for case in (few, many))
    n_attributes = few.attributes.shape[1]
    assert grouped.certificate.primal == pytest.approx(swept.certificate.primal, rel=2e-6)
    bound = np.sqrt(8e-6 * swept.certificate.primal)
    np.testing.assert_allclose(grouped.W[:, :n_attributes], swept.W, atol=bound)
    assert not grouped.W[:, n_attributes:].any()

"""Loops over the marginals of edges: compiled against uncompiled, and what they must do."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist.compiled import edge_marginals as loops
from taxonomist.compiled.arrays import Findings
from taxonomist.compiled.marginal_arrays import EdgeMarginals, marginal_scratch
from taxonomist.solvers import markov as solver
from taxonomist.solvers.edge_marginals import (
    MarginalSweeps,
    marginals_from,
    marginals_of,
    marginals_within,
)
from taxonomist.solvers.labelling_store import LabellingSweeps
from taxonomist.solvers.solution import Options
from tests.reference.joint_toys import assert_twins
from tests.reference.markov_toys import toy

CASES = {
    "edges": toy("tree", "costs", 0.5),
    "local features": toy("tree", "costs", 0.5, n_local=3),
    "consistent": toy("tree", "costs", 0.5, train_on="consistent"),
    "chain": toy("chain", "symmetric_difference", 0.5),
    "one edge": toy("edge", "costs", 0.5),
    "one item": toy("star", "costs", 0.5).select([5]),
}
LOOPS = {
    loops.sweep: "group first problem W marginals end scratch findings tol rest calm",
    loops.inspect: "group problem W marginals scratch findings",
    loops.add_up: "group problem W marginals scratch",
}
every_case = pytest.mark.parametrize("name", CASES)


class State:
    """A solver's arrays after two sweeps."""

    def __init__(self, name, kind="sparse", dtype="float64"):
        case = CASES[name]
        items = case.items(kind, dtype)
        made = case.problem(items)
        options = Options(tol=0, stop="gap", max_iter=2, dtype=dtype)
        rough = solver.ascend(made, options, None, MarginalSweeps)
        self.group, self.first, self.tol = np.arange(len(case.X)), 0, 1e-6
        arrays = made.arrays()
        self.problem = arrays._replace(rows=items.rows(self.group, arrays.row_of))
        self.W, found = rough.W.copy(), rough.labellings[0]
        self.end = np.array([len(found.mass)])
        tables = (np.pad(table, (0, 1000)) for table in found[3:])
        self.marginals = EdgeMarginals._make([*found[:3], *tables])
        self.scratch = marginal_scratch(made.n_nodes, self.W.dtype)
        self.findings = Findings(*np.full((4, len(case.X)), 7.0))
        self.rest, self.calm = np.arange(len(case.X)) % 2, np.arange(len(case.X)) % 3

    def at(self, names):
        return tuple(getattr(self, name) for name in names.split())


@every_case
def test_loops_and_their_twins(name):
    for loop, names in LOOPS.items():
        assert_twins(loop, lambda names=names: State(name).at(names))


@pytest.mark.parametrize(("kind", "dtype"), [("dense", "float32"), ("gram", "float64")])
def test_rows_of_other_kinds(kind, dtype):
    for loop, names in LOOPS.items():
        assert_twins(loop, lambda names=names: State("edges", kind, dtype).at(names))


def test_no_room_left():
    state = State("edges")
    state.marginals = state.marginals._replace(
        codes=state.marginals.codes[:-990], mass=state.marginals.mass[:-990]
    )
    state.rest[:] = 0
    done, gain = loops.sweep(*state.at(LOOPS[loops.sweep]))
    assert (done, gain) == (0, 0.0)


def test_nothing_is_left_between_items():
    state = State("local features")
    loops.sweep(*state.at(LOOPS[loops.sweep]))
    for table in (state.scratch.truth, state.scratch.is_used, state.scratch.change):
        assert not table.any()


def some_marginals():
    """Return three items: two codes of one edge and one of another, none, and one."""
    size = np.array([3, 0, 1])
    codes, mass = np.array([0, 2, 7], np.int32), np.array([0.3, 0.4, 0.1])
    tables = np.append(codes, np.int32(5)), np.append(mass, 0.2)
    return EdgeMarginals(np.array([0, 3, 3]), size.copy(), size, *tables)


def test_marginals_of_some_items():
    found = marginals_of(some_marginals(), np.array([2, 7, 0]))
    assert found.size.tolist() == [1, 0, 3]
    assert found.start.tolist() == [0, 1, 1]
    assert found.codes.tolist() == [5, 0, 2, 7]
    assert found.mass.tolist() == [0.2, 0.3, 0.4, 0.1]


def test_marginals_are_scaled_to_costs():
    found = marginals_within(some_marginals(), np.array([0.35, 1.0, 0.5]))
    assert found.mass == pytest.approx([0.15, 0.2, 0.05, 0.2])


@every_case
def test_labellings_have_the_same_marginals(name):
    """Files of earlier versions hold labellings."""
    problem = CASES[name].problem()
    options = Options(tol=1e-3, stop="gap", dtype="float64")
    known = solver.ascend(problem, options, None, LabellingSweeps)
    begun = solver.ascend(
        problem,
        Options(stop="gap", dtype="float64", max_iter=0),
        None,
        MarginalSweeps,
        marginals_from(known.labellings[0]),
    )
    assert begun.certificate.primal == pytest.approx(known.certificate.primal, rel=1e-9)
    assert begun.certificate.dual == pytest.approx(known.certificate.dual, rel=1e-9)
    np.testing.assert_allclose(begun.W, known.W, atol=1e-9)
    again = solver.solve(problem, Options(max_iter=0, dtype="float64"), start=known.labellings)
    assert again.certificate == begun.certificate

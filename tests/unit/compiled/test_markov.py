"""Loops of the maximum-margin Markov tree: compiled against uncompiled, and what they must do."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist.compiled import active_labellings, labelling_qp, labelling_search, markov
from taxonomist.compiled.arrays import Findings
from taxonomist.compiled.markov_arrays import ActiveLabellings, markov_scratch
from taxonomist.compiled.rows import score_row_by_threes
from taxonomist.solvers import markov as solver
from taxonomist.solvers.labelling_store import LabellingStore, LabellingSweeps
from taxonomist.solvers.solution import Options
from tests.reference.joint_toys import assert_twins
from tests.reference.markov_toys import toy

PAST_16_BITS = 70_000

CASES = {
    "edges": toy("tree", "costs", 0.5),
    "local features": toy("tree", "costs", 0.5, n_local=3),
    "signed slacks": toy("tree", "costs", 0.5, "example_signed"),
    "consistent paths": toy("tree", "costs", 0.5, features="path", train_on="consistent"),
    "paths": toy("chain", "costs", 0.5, features="path", n_local=2),
    "one edge": toy("edge", "costs", 0.5),
    "one item": toy("star", "costs", 0.5).select([5]),
}
every_case = pytest.mark.parametrize("name", CASES)


class State:
    """A solver's arrays after two sweeps, with one item's look taken and its QP begun."""

    def __init__(self, name, kind="sparse", dtype="float64"):
        case = CASES[name]
        items = case.items(kind, dtype)
        made = case.problem(items)
        options = Options(tol=0, stop="gap", max_iter=2, dtype=dtype)
        rough = solver.ascend(made, options, None, LabellingSweeps)
        arrays = made.arrays()
        self.group = np.arange(len(case.X))
        self.problem = arrays._replace(rows=items.rows(self.group, arrays.row_of))
        self.tree, self.rows, self.labels = made.tree, self.problem.rows, self.problem.labels
        self.W = rough.W.copy()
        store = LabellingStore(rough.labellings[0], made.n_nodes)
        self.labellings, self.end = store.labellings, store.end
        self.i = int(np.argmax(self.labellings.size))
        self.scratch = markov_scratch(self.tree, made.n_codes, self.W.dtype)
        self.findings = Findings(*np.full((4, len(case.X)), 7.0))
        self.problem.row_of[:] = self.group
        self.score, self.norm = self.scratch.score, self.scratch.norm
        self.truth, self.mark = self.scratch.truth, self.scratch.mark
        markov.look(self.problem, self.i, self.W, self.labellings, self.scratch, self.findings)
        markov.write_norms(self.problem, self.i, self.norm)
        n_codes = 2 * len(self.truth)
        while not active_labellings.make_place(store.labellings, self.i, n_codes, store.end):
            store.grow()
        self.labellings, self.end = store.labellings, store.end
        self.c = self.labellings.start[self.i]
        self.scratch.used[:3], self.scratch.change[:3] = (0, 1, 2), (0.5, -1.0, 0.25)
        self.n_used, self.one_up, self.none = 3, 0, -1
        size = self.labellings.size[self.i]
        self.scratch.before[:size] = 0.5 * self.labellings.alpha[self.c : self.c + size]
        self.scratch.G[:size] = np.linspace(-1, 1, size)
        self.G, self.rise, self.limit = self.scratch.G, 0.7, 0.4
        self.n_codes, self.row, self.to = n_codes, self.i, self.end[0]
        self.tol, self.sign, self.step, self.one, self.zero = 1e-6, 1.0, 0.1, 1, 0
        self.scores = np.random.default_rng(0).normal(size=(3, made.n_codes))
        self.out = np.zeros((3, made.n_nodes), dtype=bool)
        self.yes, self.truth_code, self.first = True, -1, 0
        self.rest, self.calm = np.arange(len(case.X)) % 2, np.arange(len(case.X)) % 3


LOOPS = {
    score_row_by_threes: "rows row W score",
    markov.write_norms: "problem i norm",
    labelling_search.mark_truth: "labels i truth one",
    labelling_search.code_at: "tree one zero one",
    labelling_search.write_worth: "tree scratch",
    labelling_search.find_worst: "tree scratch",
    labelling_search.below_other: "tree scratch one zero one",
    labelling_search.find_other: "tree scratch",
    labelling_search.true_score: "tree scratch",
    labelling_search.worst_gradient: "problem scratch",
    active_labellings.gradient: "labellings c score",
    active_labellings.move: "labellings c to",
    active_labellings.drop_unused: "labellings i",
    active_labellings.make_place: "labellings i n_codes end",
    active_labellings.add_labelling: "tree labellings i scratch",
    active_labellings.add_codes: "labellings c sign mark",
    labelling_qp.write_labelling_products: "labellings i zero scratch",
    labelling_qp.total_alpha: "labellings i",
    labelling_qp.extremes: "labellings i G yes yes",
    labelling_qp.take_step: "labellings i one_up none rise limit scratch",
    labelling_qp.follow: "labellings i scratch",
    labelling_qp.ascend: "problem i labellings scratch tol",
    labelling_qp.give_all: "problem i labellings scratch",
    markov.add_row: "problem i W n_used scratch",
    markov.apply_change: "problem i W scratch",
    markov.look: "problem i W labellings scratch findings",
    markov.look_again: "problem i labellings scratch",
    markov.visit: "problem i W labellings end scratch findings tol",
    markov.sweep: "group first problem W labellings end scratch findings tol rest calm",
    markov.inspect: "group problem W labellings scratch findings",
    markov.add_up: "group problem W labellings scratch",
    labelling_search.best_by_codes: "tree scores scratch out",
}


# These call most of the others; compiling each of those by itself takes a minute.
WHOLE = (
    labelling_search.find_worst,
    labelling_search.find_other,
    labelling_qp.ascend,
    markov.sweep,
    markov.inspect,
)


@pytest.mark.slow
@every_case
def test_whole_loops_and_their_twins(name):
    def at(*names):
        state = State(name)
        return tuple(getattr(state, name) for name in names)

    for loop in WHOLE:
        assert_twins(loop, lambda loop=loop: at(*LOOPS[loop].split()))


@pytest.mark.slow
@every_case
@pytest.mark.parametrize(("kind", "dtype"), [("sparse", "float64"), ("dense", "float32")])
def test_loops_and_their_twins(name, kind, dtype):
    def at(*names):
        state = State(name, kind, dtype)
        return tuple(getattr(state, name) for name in names)

    for loop, names in LOOPS.items():
        if dtype == "float64" or loop in (score_row_by_threes, markov.add_row, markov.look):
            assert_twins(loop, lambda names=names: at(*names.split()))


def test_sweep_in_dual_form():
    def make():
        state = State("edges", "gram")
        names = "group first problem W labellings end scratch findings tol rest calm"
        return tuple(getattr(state, name) for name in names.split())

    assert_twins(markov.sweep, make)


def some_labellings():
    """Return three items: full rooms, an unused labelling in the middle, and nothing at all."""
    codes = np.zeros(21, np.int32)
    codes[:9] = 1, -2, 3, 4, -5, 6, 7, -8, 9
    tables = [0, 2, 3, 5, 7, 0, 0, 0, 0, 0, 0], [2, 1, 2, 2, 2, 0, 0, 0, 0, 0, 0]
    alpha = [0.5, 0.25, 0.1, 0.0, 0.3, 0, 0, 0, 0, 0, 0]
    return ActiveLabellings(
        *(np.array(row) for row in ([0, 2, 5], [2, 3, 0], [2, 3, 0])),
        *(np.array(row) for row in ([0, 3, 9], [3, 6, 0], [3, 6, 0])),
        *(np.array(row) for row in tables),
        np.array(alpha),
        np.arange(11.0),
        codes,
    )


def labellings_of(labellings, i):
    """Return dual variables, losses and codes of the labellings of item i."""
    found = []
    for c in range(labellings.start[i], labellings.start[i] + labellings.size[i]):
        codes = labellings.codes[labellings.begin[c] : labellings.begin[c] + labellings.n_codes[c]]
        found.append((labellings.alpha[c], labellings.loss[c], codes.tolist()))
    return found


def test_unused_labellings_are_dropped():
    (labellings, _), _ = assert_twins(active_labellings.drop_unused, lambda: (some_labellings(), 1))
    assert labellings_of(labellings, 1) == [(0.1, 2.0, [4, -5]), (0.3, 4.0, [-8, 9])]
    assert labellings.code_size.tolist() == [3, 4, 0]
    for i in (0, 2):
        assert labellings_of(labellings, i) == labellings_of(some_labellings(), i)


def test_items_move_where_there_is_room():
    (labellings, *_, end), has_place = assert_twins(
        active_labellings.make_place, lambda: (some_labellings(), 0, 2, np.array([5, 9]))
    )
    assert has_place
    assert labellings_of(labellings, 0) == labellings_of(some_labellings(), 0)
    assert (labellings.start[0], labellings.room[0]) == (5, 6)
    assert (labellings.code_start[0], labellings.code_room[0]) == (9, 10)
    assert end.tolist() == [11, 19]
    assert labellings_of(labellings, 1) == labellings_of(some_labellings(), 1)


@pytest.mark.parametrize("end", [[6, 9], [5, 12]])
def test_no_room_left(end):
    (labellings, *_), has_place = assert_twins(
        active_labellings.make_place, lambda: (some_labellings(), 0, 2, np.array(end))
    )
    assert not has_place
    assert labellings_of(labellings, 0) == labellings_of(some_labellings(), 0)


def test_a_drop_can_make_room():
    (labellings, *_, end), has_place = assert_twins(
        active_labellings.make_place, lambda: (some_labellings(), 1, 2, np.array([5, 9]))
    )
    assert has_place
    assert labellings.size[1] == 2
    assert end.tolist() == [5, 9]


def test_columns_past_16_bits():
    case = toy("tree", "costs", 0.5)
    X = np.zeros((2, PAST_16_BITS))
    X[0, [3, 65_535, 65_536, PAST_16_BITS - 1]] = 1.0, -2.0, 0.5, 3.0
    wide = case.select([4, 5])._replace(X=X, owner=np.full(PAST_16_BITS, -1))
    W = solver.solve(wide.problem(), Options(max_iter=3, dtype="float64")).W
    assert np.flatnonzero(W.any(axis=1)).tolist() == [3, 65_535, 65_536, PAST_16_BITS - 1]
    np.testing.assert_allclose(W[65_536] * 6, W[PAST_16_BITS - 1], rtol=1e-12)

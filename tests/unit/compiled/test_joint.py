"""Loops of the joint SVM: compiled against uncompiled, and against the definitions."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import sparse

from taxonomist.compiled import joint
from taxonomist.compiled.arrays import ANCESTORS, Duals
from taxonomist.compiled.attributes import (
    category_score,
    product,
    write_category_scores,
    write_scores_in_order,
    write_shared,
)
from taxonomist.compiled.duals import (
    count_positive,
    drop_all_zeros,
    drop_zeros,
    unused,
    unused_cost,
)
from taxonomist.compiled.inspection import (
    add_violated,
    highest_and_total,
    inspect,
    inspect_item,
    inspection_scratch,
    judge,
    judge_scored,
    look_at_active,
    smallest_margin,
    write_pairs,
)
from taxonomist.compiled.losses import write_loss_matrix, write_losses
from taxonomist.compiled.pair_qp import (
    ascend,
    best_step,
    curvature_along,
    direction,
    follow,
    gradients_from_scores,
    rise,
    solve_active,
    write_change,
    write_gradients,
)
from taxonomist.compiled.places import (
    add_change,
    add_coefficients,
    change_category,
    enter_category,
    leave_places,
    placed_score,
    score_places,
)
from taxonomist.compiled.rows import score_row, score_rows
from taxonomist.losses import category_loss
from taxonomist.solvers import sequential
from taxonomist.solvers.duals import Entries
from taxonomist.solvers.problem import FeatureRows, GramRows, loss_arrays
from taxonomist.solvers.solution import Options
from taxonomist.taxonomy import Taxonomy
from tests.reference import pair_svm as reference
from tests.reference.joint_toys import (
    LOSSES,
    SHAPES,
    SLACKS,
    UNWRITTEN,
    SetToy,
    State,
    arrays_in,
    assert_twins,
    pair_alpha,
    recomputed_pairs,
    separable_sets,
    set_toy,
    toy,
)

PAST_16_BITS = 70_000

many = sparse.csr_array(np.random.default_rng(0).normal(size=(6, joint.FEW_ATTRIBUTES + 16)))
CASES = {
    "one category each": SetToy.of(toy("dag", "weighted")),
    "label sets": set_toy("dag", "weighted"),
    "a slack for each pair": set_toy("tree", "matrix", slack="pair"),
    "hard margin": separable_sets("tree"),
    "one category": SetToy(
        X=toy().X,
        Y=np.ones((30, 1), dtype=bool),
        costs=np.ones(30),
        attributes=sparse.csr_array(np.ones((1, 1))),
        loss=category_loss("zero_one", Taxonomy.flat(["only"])),
    ),
    "one item": set_toy().select([7])._replace(X=np.ones((1, 3))),
    "many attributes": set_toy("flat")._replace(attributes=many),
    "many attributes, a slack for each pair": set_toy("flat", slack="pair")._replace(
        attributes=many
    ),
}
every_case = pytest.mark.parametrize("name", CASES)


@cache
def solution_of(name, passes, dtype):
    case = CASES[name]
    items = FeatureRows(sparse.csr_array(case.X), dtype)
    return sequential.solve(case.problem(items), Options(tol=1e-9, max_iter=passes, dtype=dtype))


def state_of(name, passes=2, dtype="float64"):
    case = CASES[name]
    items = FeatureRows(sparse.csr_array(case.X), dtype)
    return State(case, solution_of(name, passes, dtype), items)


def dual_value(instance, duals):
    """Return the dual objective."""
    return reference.at_alpha(instance, pair_alpha(duals, instance.Y.shape)).dual


def pairs_of(duals, i):
    """Return the active pairs of item i in their order."""
    at = slice(duals.start[i], duals.start[i] + duals.size[i])
    return list(zip(duals.own[at].tolist(), duals.other[at].tolist(), strict=True))


# Losses and scores.


@pytest.mark.equation("CH04:23")
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("shape", ["tree", "dag", "flat"])
def test_write_losses(shape, name):
    loss = toy(shape, name).loss
    n = loss.n_categories
    for y in range(n):
        arguments, _ = assert_twins(
            write_losses,
            lambda y=y: (
                loss_arrays(loss),
                y,
                np.zeros(loss.taxonomy.n_nodes, bool),
                np.full(n, 7.0),
            ),
        )
        np.testing.assert_allclose(arguments[-1], loss.row(y), rtol=1e-12)
        assert not arguments[-2].any()


@pytest.mark.parametrize("shape", ["tree", "dag"])
def test_losses_by_row_equal_tabulated_ones(shape, monkeypatch):
    monkeypatch.setattr("taxonomist.solvers.problem.TABULATED_CATEGORIES", 0)
    loss = toy(shape, "weighted").loss
    by_row = loss_arrays(loss)
    assert by_row.kind == ANCESTORS
    arguments, _ = assert_twins(
        write_loss_matrix, lambda: (by_row, np.zeros((loss.n_categories,) * 2))
    )
    np.testing.assert_allclose(arguments[1], loss.rows(range(loss.n_categories)), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dense", [True, False])
def test_score_rows(dense, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 11)) * (rng.random((5, 11)) < 0.5)
    X[2] = 0
    W = rng.normal(size=(11, 3)).astype(dtype)
    rows = FeatureRows(X if dense else sparse.csr_array(X), dtype)._rows
    arguments, _ = assert_twins(score_rows, lambda: (rows, W, np.full((5, 3), 7, dtype=dtype)))
    np.testing.assert_allclose(arguments[-1], X @ W, rtol=1e-4, atol=1e-5)
    assert_twins(score_row, lambda: (rows, 4, W, np.full(3, 7, dtype=dtype)))


@pytest.mark.parametrize("tabulated", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_attributes(shape, tabulated, monkeypatch):
    if not tabulated:
        monkeypatch.setattr("taxonomist.solvers.problem.TABULATED_CATEGORIES", 0)
    case = set_toy(shape)
    attributes = case.problem().arrays().attributes
    assert (len(attributes.products) > 0) == tabulated
    dense = case.attributes.toarray()
    for c, d in np.ndindex(len(dense), len(dense)):
        found = product.py_func(attributes, c, d)
        assert found == pytest.approx(dense[c] @ dense[d], abs=1e-12)
    assert_twins(product, lambda: (attributes, 1, 3))


# Dual variables.


def some_duals():
    """Return variables of three items, the second of which has zeros, with a gap between."""
    beta = np.array([0.0, 9.0, 0.5, 0.0, 0.25, 0.0, 9.0, 0.0, 0.0])
    codes = np.arange(9)
    return Duals(
        np.array([0, 2, 7]),
        np.array([2, 5, 2]),
        np.array([1, 4, 2]),
        *(codes, codes + 10, beta, codes + 0.5),
    )


def test_drop_zeros():
    (duals, _), total = assert_twins(drop_zeros, lambda: (some_duals(), 1))
    assert total == 0.75
    assert duals.size.tolist() == [1, 2, 2]
    assert duals.beta[2:4].tolist() == [0.5, 0.25]
    assert duals.own[2:4].tolist() == [2, 4]
    assert duals.other[2:4].tolist() == [12, 14]
    assert duals.delta[2:4].tolist() == [2.5, 4.5]


def test_drop_all_zeros_and_count():
    _, n_positive = assert_twins(count_positive, lambda: (some_duals(),))
    assert n_positive == 2
    (duals,), _ = assert_twins(drop_all_zeros, lambda: (some_duals(),))
    assert duals.size.tolist() == [0, 2, 0]
    assert Entries.of(duals).beta.tolist() == [0.5, 0.25]


@pytest.mark.parametrize("total", [0.0, 0.3, 0.7 * (1 - 1e-13), 0.7, 0.7 * (1 + 1e-13)])
@pytest.mark.parametrize("cost", [0.0, 0.7, np.inf])
def test_unused_cost(cost, total):
    _, left = assert_twins(unused_cost, lambda: (cost, total))
    assert left == (max(cost - total, 0) if abs(cost - total) > 1e-12 else 0)


# A full look at an item.


@pytest.mark.parametrize("most_new", [0, 1, 3, 8])
@pytest.mark.parametrize("seed", range(5))
def test_add_violated(seed, most_new):
    """Of the pairs of several y, offered one y after another, the worst are left at the end."""
    rng = np.random.default_rng(seed)
    state = state_of("label sets")
    n = len(state.problem.loss.matrix)
    G, delta = rng.normal(size=(3, n)), rng.uniform(1, 2, size=(3, n))
    n_old, y_of = int(rng.integers(3)), [4, 0, 2]

    def offered(loop):
        nothing = np.zeros(20, dtype=np.intp)
        tables = (nothing.copy(), nothing.copy(), np.full(20, UNWRITTEN), np.zeros(20))
        sizes = np.array([0, 10]), np.array([9, n_old + 5]), np.array([2, n_old])
        duals, looks = Duals(*sizes, *tables), state.looks(most_new)
        for k, y in enumerate(y_of):
            looks.G[:], looks.delta[:] = G[k], delta[k]
            loop(1, y, 0.1, n_old, duals, looks)
        return duals

    duals, twin = offered(add_violated), offered(add_violated.py_func)
    for one, other in zip(duals, twin, strict=True):
        np.testing.assert_array_equal(one, other)
    order = sorted(np.ndindex(3, n), key=lambda at: -G[at])
    wanted = [at for at in order if G[at] > 0.1][: min(most_new, 5)]
    assert pairs_of(duals, 1)[n_old:] == [(y_of[k], c) for k, c in wanted]
    at = slice(10 + n_old, 10 + n_old + len(wanted))
    np.testing.assert_array_equal(duals.delta[at], [delta[k] for k in wanted])
    assert (duals.beta[at] == 0).all()
    assert (np.delete(duals.beta, at) == UNWRITTEN).all()
    assert duals.size.tolist() == [2, n_old + len(wanted)]


def threshold(instance, found, alpha, i):
    """Return the G above which a pair is violated."""
    used = sum(alpha[t] / instance.loss[t[1:]] for t in instance.triples if t[0] == i)
    is_used = instance.slack == "example" and used >= instance.costs[i] * (1 - 1e-12)
    return max(found.G[i][alpha[i] > 0].min() if is_used else 0.0, 0.0)


@every_case
@pytest.mark.parametrize("passes", [1, 3])
def test_inspect_finds_what_the_definitions_say(name, passes):
    case, solution = CASES[name], solution_of(name, passes, "float64")
    instance = case.instance()
    expected = recomputed_pairs(instance, solution, case.X)
    alpha = pair_alpha(solution.duals, case.Y.shape)

    def make():
        now = state_of(name, passes)
        looks = inspection_scratch(now.problem, now.W, 2)
        return now.items, now.problem, now.W, now.duals, looks, now.findings

    (*_, duals, _, findings), _ = assert_twins(inspect, make)
    np.testing.assert_allclose(findings.slack, expected.slack, atol=1e-12)
    np.testing.assert_allclose(findings.violation, expected.psi, atol=1e-9)
    np.testing.assert_allclose(findings.linear, alpha.sum(axis=(1, 2)), atol=1e-12)
    quadratic = (alpha * expected.margins).sum(axis=(1, 2))
    np.testing.assert_allclose(findings.quadratic, quadratic, atol=1e-9)
    assert findings.quadratic.sum() == pytest.approx(np.sum(solution.W**2), rel=1e-9)
    inside = [
        reference.violation_within(instance, expected.G, alpha, i) for i in range(len(case.Y))
    ]
    np.testing.assert_allclose(findings.within, inside, atol=1e-9)
    for i in range(len(case.Y)):
        margins = [expected.margins[t] for t in instance.triples if t[0] == i]
        smallest = min(margins, default=np.inf) if case.costs[i] == np.inf else UNWRITTEN
        assert findings.margin[i] == pytest.approx(smallest, abs=1e-12)
        least = threshold(instance, expected, alpha, i)
        inactive = [t[1:] for t in instance.triples if t[0] == i and alpha[t] == 0]
        worst = sorted(inactive, key=lambda pair, i=i: -expected.G[i][pair])
        new = [pair for pair in worst if expected.G[i][pair] > least + 1e-12][:2]
        assert pairs_of(duals, i) == pairs_of(solution.duals, i) + new


@every_case
def test_judging_known_scores_is_inspecting(name):
    inspected = state_of(name)
    f = inspected.case.X @ inspected.W @ inspected.case.attributes.toarray().T
    rest = inspection_scratch(inspected.problem, inspected.W, 3), inspected.findings
    inspect(inspected.items, inspected.problem, inspected.W, inspected.duals, *rest)

    def make():
        now = state_of(name)
        looks = inspection_scratch(now.problem, f, 3)
        return now.items, now.problem, f, now.duals, looks, now.findings

    (*_, duals, _, findings), _ = assert_twins(judge_scored, make)
    np.testing.assert_allclose(findings, inspected.findings, rtol=1e-9, atol=1e-9)
    for i in inspected.items:
        assert pairs_of(duals, i) == pairs_of(inspected.duals, i)


FULL_LOOK = {
    category_score: "attributes y scores",
    write_category_scores: "attributes scores f",
    write_shared: "attributes shared",
    write_scores_in_order: "attributes shared scores partial f",
    unused: "duals i cost",
    look_at_active: "i f cost per_pair free duals findings",
    smallest_margin: "i f labels mark",
    write_pairs: "i y labels loss looks",
    highest_and_total: "f",
    judge: "i problem duals findings looks",
    inspect_item: "i problem W duals findings looks",
}


@every_case
def test_loops_of_a_full_look(name):
    def at(*names):
        now = state_of(name)
        now.i, now.y, now.free = len(now.items) - 1, int(now.problem.labels.indices[-1]), 0.5
        now.looks, now.attributes = now.looks(), now.problem.attributes
        now.labels, now.loss = now.problem.labels, now.problem.loss
        now.shared, now.partial = np.zeros(len(now.looks.f), np.intp), now.looks.partial
        now.cost, now.per_pair = now.problem.costs[now.i], now.problem.slack_per_pair
        now.scores, now.f, now.mark = now.looks.scores, now.looks.f, now.looks.mark
        return tuple(getattr(now, name) for name in names)

    for loop, names in FULL_LOOK.items():
        arguments, _ = assert_twins(loop, lambda names=names: at(*names.split()))
        for array in arrays_in(arguments):
            assert array.dtype != bool or not array.any()


@pytest.mark.parametrize("shape", ["tree", "dag", "flat"])
def test_scores_from_sums_that_categories_share(shape):
    """They are those of one category after the other, to the last bit."""
    attributes = toy(shape).problem().arrays().attributes
    rng = np.random.default_rng(0)
    values = rng.choice([0.5, 1.0], len(attributes.values))
    attributes = attributes._replace(values=values)
    n_categories = len(attributes.indptr) - 1
    rows = [slice(*attributes.indptr[c : c + 2]) for c in range(n_categories)]
    shared = np.full(n_categories, 7)
    write_shared(attributes, shared)
    paths = [list(zip(attributes.indices[at], values[at], strict=True)) for at in rows]
    for c in range(1, n_categories):
        assert paths[c][: shared[c]] == paths[c - 1][: shared[c]]
        assert paths[c][shared[c] : shared[c] + 1] != paths[c - 1][shared[c] : shared[c] + 1]
    scores, found, expected = rng.normal(size=50), np.empty(n_categories), np.empty(n_categories)
    write_scores_in_order(attributes, shared, scores, np.empty(max(map(len, paths))), found)
    write_category_scores(attributes, scores, expected)
    np.testing.assert_array_equal(found, expected)


# One item's QP.


ONE_ITEM = {
    joint.enter_active: "attributes i duals places",
    enter_category: "attributes c n_used places",
    leave_places: "n_used places",
    score_places: "rows i W n_used is_few places",
    placed_score: "attributes c places",
    change_category: "attributes c step places",
    add_change: "rows i W n_used is_few places",
    add_coefficients: "zero W n_used places",
    write_gradients: "attributes i duals scratch",
    gradients_from_scores: "i f duals scratch",
    direction: "duals first up down",
    rise: "attributes along c",
    best_step: "first m cost per_pair free beta G",
    curvature_along: "attributes along",
    follow: "attributes i along step duals G",
    ascend: "problem i duals scratch tol",
    write_change: "attributes i duals scratch",
    joint.apply_change: "problem i W n_used places",
    solve_active: "problem i duals scratch tol part",
    joint.solve_item: "problem i W duals scratch tol part",
}


@pytest.mark.slow
@every_case
@pytest.mark.parametrize("end", [0, -1])
def test_loops_of_one_item(name, end):
    def at(*names):
        now = state_of(name)
        now.i = now.items[end]
        now.n_used, now.m, now.first = (
            now.enter(now.i),
            now.duals.size[now.i],
            now.duals.start[now.i],
        )
        now.up, now.down, now.free, now.step, now.tol = now.m - 1, min(0, now.m - 1), 0.5, 0.1, 1e-9
        now.attributes, now.c = now.problem.attributes, now.duals.other[now.first]
        now.along = direction.py_func(now.duals, now.first, now.up, now.down)
        now.G, now.f, now.zero = now.scratch.G, now.looks().f, 0
        now.rows, now.places = now.problem.rows, now.scratch.places
        now.beta, now.per_pair, now.part = now.duals.beta, now.problem.slack_per_pair, 0.0
        now.cost = now.problem.costs[now.i]
        now.is_few = now.W.shape[1] <= joint.FEW_ATTRIBUTES
        now.scratch.before[:] = 0.25
        now.places.change[: now.n_used] = np.arange(now.n_used)
        return tuple(getattr(now, name) for name in names)

    for loop, names in ONE_ITEM.items():
        assert_twins(loop, lambda names=names: at(*names.split()))


@every_case
@pytest.mark.parametrize("part", [0.0, 0.05])
def test_what_a_qp_begins_and_ends_with(name, part):
    """Gradients, their violation, the gain and the change, all by definition."""
    case, solution = CASES[name], solution_of(name, 1, "float64")
    instance = case.instance()
    alpha = pair_alpha(solution.duals, case.Y.shape)
    before = reference.at_alpha(instance, alpha)
    for i in range(len(case.Y)):
        state = state_of(name, passes=1)
        n_used = state.enter(i)
        own, other = np.array(pairs_of(state.duals, i), dtype=np.intp).reshape(-1, 2).T
        G = state.scratch.G[: len(own)]
        np.testing.assert_allclose(G, before.G[i, own, other], atol=1e-9)
        violation, gain = solve_active(state.problem, i, state.duals, state.scratch, 1e-9, part)
        assert violation == pytest.approx(
            reference.violation_within(instance, before.G, alpha, i), abs=1e-9
        )
        moved = pair_alpha(state.duals, case.Y.shape)
        after = reference.at_alpha(instance, moved)
        assert gain == pytest.approx(after.dual - before.dual, abs=1e-9)
        np.testing.assert_allclose(G, after.G[i, own, other], atol=1e-9)
        left = reference.violation_within(instance, after.G, moved, i)
        assert left <= max(2e-9, (1 + 1e-9) * part * violation)
        change = np.zeros(case.attributes.shape[1])
        places = state.scratch.places
        change[places.used[:n_used]] = places.change[:n_used]
        expected = reference.coefficients(instance, moved - alpha)[i]
        np.testing.assert_allclose(change, expected, atol=1e-9)


@pytest.mark.parametrize("start", ["zero", "used up", "anywhere"])
@pytest.mark.parametrize("slack", SLACKS)
@pytest.mark.parametrize("shape", SHAPES)
def test_one_item_is_solved_exactly(shape, slack, start):
    """With one item, the small QP over all pairs is the whole dual, wherever it begins."""
    case = set_toy(shape, "weighted", C=0.3, slack=slack).select([7])
    instance = case.instance()
    assert len(instance.triples) > 5
    beta = np.random.default_rng(0).random(len(instance.triples))
    beta *= np.arange(len(beta)) % 2 == 0 if start == "anywhere" else start == "used up"
    full = beta.max() if slack == "pair" else beta.sum()
    beta *= case.costs[0] / full * (0.5 if start == "anywhere" else 1.0) if full else 1.0
    _, own, other = np.array(instance.triples).T.copy()
    size = np.array([len(beta)])
    duals = Duals(size * 0, size, size.copy(), own, other, beta, instance.loss[own, other])
    first, alpha = dual_value(instance, duals), pair_alpha(duals, case.Y.shape)
    W = case.X.T @ reference.coefficients(instance, alpha)
    arrays = case.problem().arrays()
    arrays = arrays._replace(rows=case.problem().items.rows(np.arange(1), arrays.row_of))
    scratch = joint.qp_scratch(W.shape[1], len(beta), W.dtype)
    _, gain = joint.solve_item(arrays, 0, W, duals, scratch, 1e-10, 0.0)
    best = reference.dual_optimum(instance)[0]
    assert first + gain == pytest.approx(best, rel=1e-6)
    assert dual_value(instance, duals) == pytest.approx(best, rel=1e-6)
    alpha = pair_alpha(duals, case.Y.shape)
    np.testing.assert_allclose(W, case.X.T @ reference.coefficients(instance, alpha), atol=1e-9)
    assert beta.min() >= 0
    assert (beta.max() if slack == "pair" else beta.sum() / (1 + 1e-12)) <= case.costs[0]


@pytest.mark.parametrize("n_attributes", [2, 80])
def test_columns_past_16_bits(n_attributes):
    rng = np.random.default_rng(0)
    columns = np.array([3, 65_535, 65_536, PAST_16_BITS - 1], dtype=np.int32)
    ends = np.array([0, 0, 4], dtype=np.int32)
    X = sparse.csr_array((rng.normal(size=4), columns, ends), shape=(2, PAST_16_BITS))
    attributes = sparse.csr_array(rng.normal(size=(2, n_attributes)))
    loss = category_loss("zero_one", Taxonomy.flat("ab"))
    case = SetToy(X, np.eye(2, dtype=bool), np.ones(2), attributes, loss)
    items = FeatureRows(X, "float64")
    nothing = sequential.solve(case.problem(items), Options(max_iter=0, dtype="float64"))

    def make():
        state = State(case, nothing, items)
        a = state.duals.start[1]
        state.duals.own[a], state.duals.other[a], state.duals.delta[a] = 1, 0, 1.0
        state.duals.size[1] = 1
        return state.problem, 1, state.W, state.duals, state.scratch, 1e-6, 0.0

    (_, _, W, duals, *_), _ = assert_twins(joint.solve_item, make)
    assert np.flatnonzero(W.any(axis=1)).tolist() == columns.tolist()
    difference = attributes.toarray()[1] - attributes.toarray()[0]
    expected = duals.beta[duals.start[1]] * np.outer(X.data, difference)
    np.testing.assert_allclose(W[columns], expected, rtol=1e-12)


# Passes over items.


@every_case
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_visit(name, dtype):
    n = len(CASES[name].Y)

    def make():
        state = state_of(name, dtype=dtype)
        calm, rest = np.arange(n) % 4, np.arange(n) % 2
        return state.items, state.problem, state.W, state.duals, state.scratch, 0.1, calm, rest

    (*_, calm, rest), (_, _, n_visits) = assert_twins(joint.visit, make)
    assert n_visits <= (n + 1) // 2
    assert (calm <= 3).all()
    assert (rest <= 7).all()


def test_visit_in_dual_form():
    case = set_toy()
    K = np.exp(-((case.X[:, None] - case.X) ** 2).sum(axis=-1) / 20)
    items = GramRows(lambda members: K[members], K.diagonal(), 1e6)
    rough = sequential.solve(case.problem(items), Options(tol=1e-9, max_iter=2))

    def make():
        state = State(case, rough, items)
        calm = np.zeros((2, len(K)), dtype=np.intp)
        return state.items, state.problem, state.W, state.duals, state.scratch, 1e-3, *calm

    (_, _, W, duals, *_), (gain, _, _) = assert_twins(joint.visit, make)
    check_gain(case.instance(K), rough, gain, W, duals)


@pytest.mark.parametrize("name", [name for name in CASES if "many" not in name])
def test_sweep(name):
    case = CASES[name]

    def make():
        state = state_of(name)
        looks = inspection_scratch(state.problem, state.W, 4)
        rest = state.scratch, looks, state.findings, 1e-3
        return state.items, state.problem, state.W, state.duals, *rest

    (_, _, W, duals, *_), gain = assert_twins(joint.sweep, make)
    check_gain(case.instance(), solution_of(name, 2, "float64"), gain, W, duals, case.X)


def check_gain(instance, before, gain, W, duals, X=None):
    """Check the gain of the dual variables, and that the weights belong to them."""
    raised = dual_value(instance, duals) - dual_value(instance, before.duals)
    assert gain == pytest.approx(raised, rel=1e-6, abs=1e-12)
    A = reference.coefficients(instance, pair_alpha(duals, instance.Y.shape))
    np.testing.assert_allclose(W, A if X is None else X.T @ A, atol=1e-9)

"""Algorithm 1 of CH07 step by step, and training with its losses, against slow twins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from taxonomist import HierarchicalPerceptron, HierarchicalRankingSVC, Taxonomy, metrics
from taxonomist.losses import weighted_tree
from taxonomist.solvers import greedy
from tests.combinations import every_pair
from tests.reference import pair_svm
from tests.reference.joint_svm import minimise
from tests.reference.joint_toys import SHAPES, pair_alpha, set_toy

# Algorithm 1. -------------------------------------------------------------------------------------


class Step(NamedTuple):
    """What one round of Algorithm 1 does from a given α."""

    psi: np.ndarray  # ψ_i before the round
    items: list[int]  # those with the largest ψ_i; more than one if they tie
    pairs: list[tuple[int, int]]  # those of the item with the largest G; likewise
    dual: float  # the value of the dual after the QP
    coefficients: np.ndarray  # w(α) = Σ A[i, z] φ(x_i) after the QP


def round_of_algorithm_1(instance, alpha, item, joined):
    """Take one round: choose i and (y, ȳ), and solve the QP over S_i with all other α fixed.

    ``item`` and ``joined`` are to be taken among items and pairs that tie.
    """
    known = pair_svm.at_alpha(instance, alpha)
    ties = 1e-9 * known.psi.max()
    items = np.flatnonzero(known.psi >= known.psi.max() - ties).tolist()
    i = item if item in items else items[0]
    own = [(y, c) for j, y, c in instance.triples if j == i]
    best = max(known.G[i, y, c] for y, c in own)
    pairs = [(y, c) for y, c in own if known.G[i, y, c] >= best - 1e-9 * abs(best)]
    active = [(int(y), int(c)) for y, c in np.argwhere(alpha[i] > 0)]
    new = [pair for pair in pairs if pair in joined] or pairs[:1]
    working = [*active, *([] if set(pairs) & set(active) and not joined else new[:1])]
    solved = solve_over(instance, alpha, i, working)
    after = pair_svm.at_alpha(instance, solved)
    return Step(known.psi, items, pairs, after.dual, pair_svm.coefficients(instance, solved))


def solve_over(instance, alpha, i, working):
    """Maximise the dual over α_iyȳ with (y, ȳ) in ``working``; all others stay as they are."""
    y, c = np.array(working).T
    differences = instance.attributes[y] - instance.attributes[c]
    fixed = alpha.copy()
    fixed[i] = 0.0
    score = instance.K[i] @ pair_svm.coefficients(instance, fixed)
    P = instance.K[i, i] * (differences @ differences.T)
    q = differences @ score - 1.0
    rows = np.vstack([np.eye(len(working)), -1 / instance.loss[y, c]])
    least = np.append(np.zeros(len(working)), -instance.costs[i])
    found, _ = minimise(P, q, rows, least)
    solved = fixed.copy()
    solved[i, y, c] = np.maximum(found, 0.0)
    return solved


@pytest.mark.equation("CH07:Alg. 1")
@every_pair(shape=SHAPES, loss=["tree", "weighted"], C=[0.3, 3.0])
def test_every_round_is_that_of_algorithm_1(shape, loss, C, monkeypatch):
    monkeypatch.setattr(greedy, "ACCURACY", 1e-10)  # solve each QP as exactly as the twin
    case = set_toy(shape, loss, C, "example", seed=1, n=16)
    instance = case.instance()
    state = greedy._State(case.problem(), "greedy", None)
    alpha = np.zeros((*case.Y.shape, case.Y.shape[1]))
    scale = instance.costs.sum()
    n_rounds = 0
    while n_rounds < 30:
        n_rounds += 1
        before, sizes = alpha, state.store.duals.size.copy()
        psi = state.findings.violation.copy()
        assert state.take_steps(1, 0.0)
        alpha = pair_alpha(state.store.duals, case.Y.shape)
        changed = np.flatnonzero((alpha != before).any(axis=(1, 2))).tolist()
        assert len(changed) == 1, "a round changes the variables of one item only"
        joined = {(int(y), int(c)) for y, c in np.argwhere((alpha > 0) & (before == 0))[:, 1:]}
        expected = round_of_algorithm_1(instance, before, changed[0], joined)
        np.testing.assert_allclose(psi, expected.psi, atol=1e-8 * scale)
        assert changed[0] in expected.items
        # At most the pair with the largest G joins S_i, and what stays in S_i is above zero.
        assert len(joined) <= 1
        assert joined <= set(expected.pairs)
        assert state.store.duals.size.tolist() == (alpha > 0).sum(axis=(1, 2)).tolist()
        assert state.store.duals.size.max() <= sizes.max() + 1
        known = pair_svm.at_alpha(instance, alpha)
        assert known.dual == pytest.approx(expected.dual, rel=1e-7)
        found = pair_svm.coefficients(instance, alpha)
        np.testing.assert_allclose(
            case.X.T @ found, case.X.T @ expected.coefficients, atol=2e-4 * np.sqrt(scale)
        )
        if known.psi.max() <= 1e-3:
            break
    assert n_rounds > 10, "the problem is too easy to tell anything"


@pytest.mark.equation("CH07:Alg. 1")
@pytest.mark.parametrize("shape", SHAPES)
def test_algorithm_1_ends_where_no_condition_is_violated(shape):
    """ψ_i <= ε for all items, and ψ_i = 0 only at the optimum."""
    case = set_toy(shape, "weighted", 1.0, "example", seed=1, n=16)
    instance = case.instance()
    state = greedy._State(case.problem(), "greedy", None)
    while state.take_steps(1, 1e-4):
        pass
    known = pair_svm.at_alpha(instance, pair_alpha(state.store.duals, case.Y.shape))
    assert known.psi.max() <= 1e-4 * (1 + 1e-6)
    best = pair_svm.primal_optimum(instance, case.X)[0]
    assert known.dual <= best * (1 + 1e-7)
    assert known.primal - known.dual <= (instance.costs * known.psi).sum() + 1e-9


# Training with the losses. ------------------------------------------------------------------------

DAG = Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("b", "e"), ("d", "f"), ("b", "g")]
)
VOLUMES = {"a": 4.0, "b": 0.5, "d": 0.0, "e": 2.5, "f": 0.2, "r": 9.0}
MISS, FALSE_ALARM = 2.0, 0.75
SIGNED_UP = weighted_tree(VOLUMES, MISS, FALSE_ALARM)


def anc(*labels):
    """The nodes at or above some labels, by following parents."""
    found, new = set(), set(labels)
    while new:
        found |= new
        new = {p for node in new for p in DAG.parents(node)} - found
    return found


def delta(Y, U):
    """CH07's Δ(Y, Ŷ), written out."""
    volume = [sum(VOLUMES.get(v, 1.0) for v in part) for part in (Y, U, Y & U)]
    return MISS * volume[0] + FALSE_ALARM * volume[1] - (MISS + FALSE_ALARM) * volume[2]


def items(n=18, seed=0):
    rng = np.random.default_rng(seed)
    y = [
        sorted(rng.choice(DAG.leaves, size=rng.integers(1, 3), replace=False).tolist())
        for _ in range(n)
    ]
    X = np.array([[leaf in row for leaf in DAG.leaves] for row in y]) + rng.normal(size=(n, 4))
    return X, y


def written_out(model, X, y, slack, C):
    """The problem of a fitted model with Λ and Δ computed from their definitions."""
    classes, nodes = model.classes_.tolist(), [node for node in DAG.nodes if node != "r"]
    depth = max(len(anc(label) - {"r"}) for label in classes)
    attributes = np.array([[v in anc(label) for v in nodes] for label in classes]) / np.sqrt(depth)
    loss = np.array([[delta(anc(a), anc(b)) for b in classes] for a in classes])
    Y = np.array([[label in row for label in classes] for row in y])
    return pair_svm.Instance(X @ X.T, Y, attributes, loss, np.full(len(X), C), slack)


@pytest.mark.parametrize("slack", ["example", "pair"])
@pytest.mark.parametrize("C", [0.1, 2.0])
def test_training_with_volumes_and_costs_reaches_the_optimum_of_a_qp(slack, C):
    X, y = items()
    model = HierarchicalRankingSVC(
        DAG, C=C, loss=SIGNED_UP, slack=slack, stop="gap", tol=1e-6, dtype="float64"
    ).fit(X, y)
    instance = written_out(model, X, y, slack, C)
    best, W = pair_svm.primal_optimum(instance, X)
    assert model.objective_ == pytest.approx(best, rel=1e-4)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, X @ W @ instance.attributes.T, atol=0.02 * np.sqrt(best))
    # The slacks bound the loss that is trained: the worst pair, or the sum Δ(Y, g) of all.
    slacks = (model.objective_ - np.sum(W**2) / 2) / C
    measure = metrics.misordering_loss if slack == "pair" else metrics.maximal_loss
    options = {"classes": model.classes_.tolist(), "loss": SIGNED_UP}
    assert measure(y, scores, DAG, **options) * len(y) <= slacks * (1 + 1e-3)


def test_the_sum_over_misordered_pairs_bounds_the_loss_of_the_best_sets():
    """Proposition 1: for Ŷ the best |Y| categories, Δ(Y, Ŷ) <= Δ(Y, g)."""
    X, y = items(60, seed=3)
    model = HierarchicalRankingSVC(DAG, C=0.05, loss=SIGNED_UP, slack="pair").fit(X, y)
    scores, classes = model.decision_function(X), model.classes_
    best = [
        classes[np.argsort(-row)[: len(own)]].tolist() for row, own in zip(scores, y, strict=True)
    ]
    for loss in (None, weighted_tree(1.0, 1.0, 1.0), SIGNED_UP):
        of_sets = metrics.item_values(metrics.set_loss, y, best, DAG, loss=loss)
        of_ranks = metrics.item_values(
            metrics.misordering_loss, y, scores, DAG, classes=classes.tolist(), loss=loss
        )
        assert (of_sets <= of_ranks + 1e-9).all()
        assert of_sets.max() > 0


def test_steps_of_the_perceptron_have_the_length_of_the_weighted_loss():
    """With t_v = 1, w_v moves by Δ(y, ȳ) φ(x) at the nodes above only one of the two."""
    X, y = items(1)
    model = HierarchicalPerceptron(
        DAG,
        loss=SIGNED_UP,
        ridge=0.0,
        max_iter=1,
        margin=1e6,
        node_weight="unit",
        dtype="float64",
        decision="top_k",
        cv=2,
    )
    with pytest.warns(ConvergenceWarning, match="Stopped after 1 steps"):
        model.partial_fit(X, y, classes=DAG.leaves)
    (moved,) = {
        (a, b)
        for a in y[0]
        for b in DAG.leaves
        if b not in y[0]
        and all(
            np.any(model.node_coef_[DAG.code(v)]) == (v in anc(a) ^ anc(b)) for v in DAG.nodes[1:]
        )
    }
    size = delta(anc(moved[0]), anc(moved[1]))
    for v in DAG.nodes[1:]:
        sign = (v in anc(moved[0])) - float(v in anc(moved[1]))
        np.testing.assert_allclose(model.node_coef_[DAG.code(v)], sign * size * X[0], atol=1e-12)

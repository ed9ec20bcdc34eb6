"""Decisions on label sets: thresholds that are chosen with the limits under which they are used."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit, logit

from taxonomist import PathSVC, Taxonomy, metrics
from taxonomist.inference.label_sets import Limits
from taxonomist.models.path_decisions import (
    DECISIONS,
    THRESHOLDS,
    HeldOutSets,
    NodeDecision,
    node_thresholds,
)

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2"])
LEAVES = ["a1", "a2", "b1", "b2"]
ONE = Limits(1, 4)


def targets():
    """Return the categories of a model of label sets."""
    sets = [[leaf] for leaf in LEAVES] * 3
    return PathSVC(TREE, random_state=0).fit(np.tile(np.eye(4), (3, 1)), sets).targets_


def closed(leaves):
    """Return the nodes of leaves, (n_items, n_nodes)."""
    return csr_array(csr_array(leaves, dtype=bool) @ TREE.ancestor_matrix()[TREE.codes(LEAVES)])


def coherent(chances):
    """Return log-odds of all nodes, (n_nodes, n_items): inner nodes are as likely as a leaf."""
    odds = np.full((TREE.n_nodes, len(chances)), -np.inf)
    for leaf, part in zip(LEAVES, logit(chances).T, strict=True):
        for node in (leaf, leaf[0], TREE.root):
            code = TREE.code(node)
            odds[code] = np.maximum(odds[code], part)
    return odds


def random_sets(n=400):
    """Return log-odds, and label sets that are as probable as these say."""
    rng = np.random.default_rng(4)
    chances = rng.beta(0.4, 0.8, size=(n, 4)) * 0.98 + 0.01
    leaves = rng.random((n, 4)) < chances
    leaves[~leaves.any(axis=1), 0] = True
    return coherent(chances), HeldOutSets(closed(leaves), np.ones(n))


def test_thresholds_count_on_the_limits():
    # Half of the items are unsure of their label, the others are sure, with a doubtful second one.
    chances = np.tile([[0.3, 0.2, 0.02, 0.02], [0.9, 0.35, 0.02, 0.02]], (50, 1))
    truth = HeldOutSets(closed(np.tile([1, 0, 0, 0], (100, 1))), np.ones(100))
    for decision in ("hierarchical_f1", "micro_f1", "subset"):
        found = node_thresholds(decision, coherent(chances), truth, ONE, targets())
        # Every item gets a label, so that its threshold need not be below the unsure ones.
        assert (found > 0.35).all()
        assert (found == found[0]).all()


@pytest.mark.parametrize("decision", ["hierarchical_f1", "micro_f1", "subset"])
def test_no_threshold_is_clearly_better(decision):
    odds, truth = random_sets()

    def measure(threshold):
        rule = NodeDecision(np.full(len(odds), threshold), ONE, targets())
        found = rule.sets_of(np.ascontiguousarray(odds.T))
        if decision == "subset":
            return float(np.mean((truth.nodes != found).sum(axis=1) == 0))
        nodes = "categories" if decision == "micro_f1" else "all"
        pair = (as_ids(part) for part in (truth.nodes, found))
        return metrics.precision_recall_f1(*pair, TREE, nodes=nodes).f1

    chosen = node_thresholds(decision, odds, truth, ONE, targets())[0]
    best = max(map(measure, THRESHOLDS))
    assert best - measure(chosen) <= 0.02


def as_ids(nodes):
    """Return label sets as lists of ids."""
    return [[TREE.nodes[code] for code in np.flatnonzero(row) if code] for row in nodes.toarray()]


def test_whole_sets_decide_between_thresholds_of_equal_f1():
    odds, truth = random_sets(4000)
    chosen = node_thresholds("hierarchical_f1", odds, truth, ONE, targets())[0]

    def exact(threshold):
        rule = NodeDecision(np.full(len(odds), threshold), ONE, targets())
        return np.mean((truth.nodes != rule.sets_of(np.ascontiguousarray(odds.T))).sum(axis=1) == 0)

    # The threshold with the best F1 of calibrated chances is about half of the F1, below .5.
    assert exact(chosen) >= exact(0.4)


def test_other_measures_have_their_own_thresholds():
    odds, truth = random_sets()
    assert (node_thresholds("loss", odds, truth, ONE, targets()) == 0.5).all()
    macro = node_thresholds("macro_f1", odds, truth, ONE, targets())
    leaves = TREE.codes(LEAVES)
    assert (np.delete(macro, leaves) == 1).all()
    assert (macro[leaves] < 1).all()
    none = HeldOutSets(closed(np.zeros((0, 4))), np.ones(0))
    for decision in set(DECISIONS) - {"macro_f1"}:
        assert (node_thresholds(decision, odds[:, :0], none, ONE, targets()) == 0.5).all()
    assert expit(odds).max() <= 1

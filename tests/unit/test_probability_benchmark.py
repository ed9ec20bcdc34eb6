"""What ``benchmarks.probabilities`` measures, against sums by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import probabilities
from taxonomist import Taxonomy

TREE = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])


def test_log_loss_of_categories_is_about_items_whose_category_was_seen():
    P = np.array([[0.5, 0.5, 0.0], [0.2, 0.7, 0.1], [0.9, 0.1, 0.0]])
    Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)
    seen = np.array([True, True, False])
    found = probabilities.log_loss(P, Y, seen, is_single=True)
    assert found == pytest.approx(-(np.log(0.5) + np.log(0.7)) / 2)


def test_log_loss_of_label_sets_sums_over_nodes():
    P, Y = np.array([[0.5, 0.2, 1.0]]), np.array([[True, False, False]])
    found = probabilities.log_loss(P, Y, np.array([True, True, False]), is_single=False)
    assert found == pytest.approx(-np.log(0.5) - np.log(0.8))


def test_logistic_regression_leaves_unseen_columns_without_probability():
    X = np.array([[1.0, 0.0], [0.0, 1.0]] * 10)
    Y = np.zeros((20, 3), dtype=bool)
    Y[::2, 0], Y[1::2, 2] = True, True
    for is_single in (True, False):
        P = probabilities.logistic(X, Y, 10.0, is_single=is_single)(X[:2])
        assert (P[:, 1] == 0).all()
        assert P[0, 0] > 0.8 > 0.2 > P[0, 2]


def test_confident_nodes_are_counted_without_the_root():
    nodes = TREE.codes(["cat", "animal", TREE.root, "oak"])[:, None] == np.arange(TREE.n_nodes)
    truth = probabilities.closed(TREE, [["cat"], ["dog"], ["oak"], ["cat"]])
    found = probabilities.confident(TREE, nodes, truth)
    assert found["error"] == pytest.approx(1 / 3)
    assert found["answered"] == 0.75
    assert found["depth"] == (2 + 1 + 0 + 2) / 4
    assert found["true_depth"] == 2
    low, high = found["interval"]
    assert low < 0.1 < high
    assert found["is_within"]


def test_errors_of_the_best_category_and_of_levels():
    ids, P = ["dog", "cat", "oak"], np.array([[0.1, 0.9, 0.0], [0.6, 0.0, 0.4]])
    at = {node: place for place, node in enumerate(TREE.nodes)}
    nodes = np.zeros((2, TREE.n_nodes))
    nodes[:, 0] = 1
    for category, column in zip(ids, P.T, strict=True):
        for node in (category, *TREE.ancestors(category)):
            if node != TREE.root:
                nodes[:, at[node]] += column
    found = probabilities.errors(TREE, ["cat", "oak"], P, nodes, ids)
    assert found["error"] == pytest.approx((0.1 + 0.6) / 2)
    assert found["levels"] == pytest.approx([(0 + 0.6) / 2, (0.1 + 0.6) / 2])


def test_the_summary_counts_corpora():
    def row(ours, theirs, *, is_within):
        same = dict.fromkeys(("log_loss", "error", "level_error"))
        mine, other = dict.fromkeys(same, ours), dict.fromkeys(same, theirs)
        told = {"text_classifier": mine, "logistic_regression": other}
        return told | {"confident": {"is_within": is_within}}

    parts = {"a": row(1.0, 1.0, is_within=True), "b": row(2.0, 1.0, is_within=False)}
    found = probabilities.summary(parts)
    assert found == {"corpora": 2, "log_loss": 0.5, "error": 0.5, "level_error": 0.5} | {
        "confident": 0.5
    }

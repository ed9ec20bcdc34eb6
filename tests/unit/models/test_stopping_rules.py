"""Where the SVMs stop by default, and where rounding lets nothing smaller be reached."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from taxonomist import (
    CoupledBinarySVC,
    HierarchicalRankingSVC,
    HierarchicalSVC,
    MaxMarginMarkovClassifier,
    Taxonomy,
)
from taxonomist.inference.label_sets import TopK
from taxonomist.solvers.solution import NEGLIGIBLE, Certificate, Options

RESULTS = Path(__file__).resolve().parents[3] / "benchmarks/results/tolerances.json"
SVMS = [HierarchicalSVC, HierarchicalRankingSVC, CoupledBinarySVC]
TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2"])


@pytest.mark.parametrize("kind", [*SVMS, MaxMarginMarkovClassifier])
def test_defaults_have_the_loss_of_exact_solutions_on_every_corpus_of_the_benchmark(kind):
    default = kind()
    found = json.loads(RESULTS.read_text(encoding="utf-8"))["parts"][kind.__name__]["figures"]
    rule = f"{default.stop} {default.tol}"
    assert found["all"][rule]["significant"] == 0
    if kind in SVMS:
        assert found["all"][rule]["time"] < 0.5 * found["all"]["violation 0.01"]["time"]
    for rows in found["corpora"].values():
        assert all(math.isfinite(value) for row in rows.values() for value in row.values())


def separated():
    """Return large features that separate all items."""
    rng = np.random.default_rng(0)
    y = np.repeat(list(TREE.leaves), 5)
    codes = TREE.codes(y.tolist())
    return 1e4 * (np.eye(7)[codes] + rng.random((20, 7)) / 9), y


@pytest.mark.parametrize("stop", ["gap", "violation"])
@pytest.mark.parametrize("kind", SVMS)
def test_large_features_that_separate_all_items_do_not_take_all_passes(kind, stop):
    """Objectives are near 0 then, and rounding keeps their relative gap above the tolerance."""
    X, y = separated()
    labels = y if kind is HierarchicalSVC else [[label] for label in y]
    rule = {} if kind is HierarchicalSVC else {"decision": TopK(1)}
    model = kind(TREE, stop=stop, random_state=0, **rule).fit(X, labels)
    assert model.converged_
    assert model.n_iter_ < 50
    assert (model.classes_[model.decision_function(X).argmax(axis=1)] == y).all()
    n_slacks = len(y) * (len(TREE.leaves) if kind is CoupledBinarySVC else 1)
    distance = model.objective_ - model.dual_objective_
    assert 0 <= distance <= n_slacks * model.max_violation_ * (1 + 1e-3)


def test_a_certificate_reaches_a_gap_or_next_to_no_violation():
    options = Options(stop="gap", tol=0.01)
    small, large = 0.9 * NEGLIGIBLE * options.tol, 1.1 * NEGLIGIBLE * options.tol
    assert Certificate(1.0, 0.995, 0.005, 3.0).reaches(options)
    assert Certificate(1e-9, 1e-12, 0.999, small).reaches(options)
    assert not Certificate(1e-9, 1e-12, 0.999, large).reaches(options)
    assert not Certificate(np.inf, 1.0, 1.0, small).reaches(options)
    by_violation = Options(stop="violation", tol=0.01)
    assert Certificate(1.0, 0.1, 0.9, 0.01).reaches(by_violation)
    assert not Certificate(1.0, 0.999, 0.001, 0.02).reaches(by_violation)

"""What the experiments of CH04 compute beside models and measures of the library."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist import HierarchicalSVC, Taxonomy
from taxonomist.experiments import ch04
from taxonomist.experiments.claims import LargerGains
from taxonomist.experiments.claims.bounds import Slows, Within
from taxonomist.experiments.declarations import Result
from taxonomist.experiments.work import optimisers
from taxonomist.experiments.work.patents import CHOSEN, PLAIN, of_texts, vectorizer
from taxonomist.experiments.work.trials import SplitData

TAXONOMY = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1"])
TEXTS = ["red apple tree", "red apple car", "green apple car", "blue sea", "blue sea boat"]
Y = np.array(["a1", "a2", "a2", "b1", "b1"], dtype=object)


def texts():
    every = np.arange(5)
    return SplitData(np.array(TEXTS, dtype=object), Y, TAXONOMY, [(every[:4], every[4:])] * 2)


def test_vectors_know_the_training_texts_only():
    for features in (PLAIN, CHOSEN):
        model = of_texts(TAXONOMY, HierarchicalSVC, features).fit(TEXTS[:4], Y[:4])
        words = model[0][0].get_feature_names_out().tolist()
        assert "boat" not in words
        assert ("tree" in words) == (features == PLAIN)  # in one text only
    lengths = vectorizer(PLAIN).fit_transform(TEXTS).power(2).sum(axis=1)
    np.testing.assert_allclose(lengths, 1.0)


@pytest.mark.parametrize("qp", list(optimisers.QPS))
@pytest.mark.parametrize("variant", ["greedy", "full"])
def test_algorithm_1_with_either_program(variant, qp):
    found = optimisers.optimise(texts, variant=variant, qp=qp, features=PLAIN, tol=0.01).values
    X = vectorizer(PLAIN).fit_transform(TEXTS)
    model = HierarchicalSVC(TAXONOMY, solver=variant, tol=0.01).fit(X, Y)
    assert found["active_ratio"] == [pytest.approx(model.active_ratio_)]
    assert found["n_items"] == [5.0]
    assert found["steps"][0] >= 3


def test_the_history_of_algorithm_1():
    found = optimisers.history(texts, features=PLAIN, tol=0.01).values
    X = vectorizer(PLAIN).fit_transform(TEXTS)
    model = HierarchicalSVC(TAXONOMY, solver="greedy", tol=0.01).fit(X, Y)
    assert found["objective"][-1] == pytest.approx(model.dual_objective_, rel=1e-6)
    assert found["active"][-1] == pytest.approx(model.active_ratio_)
    n_passes = len(model.history_)
    assert len(found["growth"]) == max(1, n_passes - 1)  # the last one ends early
    assert found["growth"][0] * 5 == model.history_[0].n_active


def test_the_tolerances_are_those_of_the_paper():
    """Captions of Tables 2 and 3: 0.1 for the sections that they name, else 0.01."""
    loose = {
        kind: "".join(name for name in ch04.SECTIONS if ch04._tolerance(name, kind) == 0.1)
        for kind in ("section", "three")
    }
    assert loose == {"section": "ABCFGH", "three": "ABC"}


def test_values_within_a_range():
    results = {
        name: Result({"m": [low, low + 0.1]})
        for name, low in zip("abc", (0.1, 0.2, 0.9), strict=True)
    }
    rows = {"A": "a", "B": "b", "C": "c"}
    most = Within("", rows, "m", 0.0, 0.3)
    assert most.judge(results).verdict == "yes"
    assert most.judge(results).because == "inside in 2 of 3 rows; outside: C 0.95"
    assert Within("", rows, "m", 0.0, 0.3, everywhere=True).judge(results).verdict == "no"
    assert Within("", rows, "m", 0.0, 0.2).judge(results).verdict == "no"


def test_growth():
    results = {"a": Result({"g": [0.95, 0.5, 0.1]}), "b": Result({"g": [0.8, 0.9]})}
    assert Slows("", {"A": "a"}, "g", last=0.5).judge(results).verdict == "yes"
    assert Slows("", {"A": "a", "B": "b"}, "g", last=0.5).judge(results).verdict == "no"
    assert Slows("", {"A": "a"}, "g", first=0.9).judge(results).verdict == "yes"
    assert Slows("", {"A": "a", "B": "b"}, "g", first=0.9).judge(results).verdict == "no"


def test_larger_gains_over_rows():
    rng = np.random.default_rng(0)
    results, few, every = {}, [], []
    for row in range(8):
        for kind, gain, pairs in (("few", 1.0, few), ("all", 0.2, every)):
            results[f"{kind}{row}+"] = Result({"m": [gain + 0.1 * rng.normal()]})
            results[f"{kind}{row}"] = Result({"m": [0.0]})
            pairs.append((f"{kind}{row}+", f"{kind}{row}"))
    found = LargerGains("", tuple(few), tuple(every), "m").judge(results)
    assert found.verdict == "yes"
    assert "larger in 8 of 8 rows" in found.because
    assert LargerGains("", tuple(every), tuple(few), "m").judge(results).verdict == "no"
    assert LargerGains("", tuple(few), tuple(every), "m", lower=True).judge(results).verdict == "no"

"""Claims are decided by tests, never by eye."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist.evaluation import permutation_test
from taxonomist.experiments.claims import Better, LargerGain, Ratio
from taxonomist.experiments.declarations import Result


def results(**values):
    return {name: Result({"m": list(row)}) for name, row in values.items()}


def noisy(mean, n=40, seed=0):
    return mean + np.random.default_rng(seed).normal(size=n)


def test_a_clear_difference_holds_one_way_and_not_the_other():
    found = results(a=noisy(2, seed=1), b=noisy(0, seed=2))
    assert Better("a > b", (("a", "b"),), "m").judge(found).verdict == "yes"
    assert Better("b > a", (("b", "a"),), "m").judge(found).verdict == "no"
    assert Better("a < b", (("a", "b"),), "m", lower=True).judge(found).verdict == "no"


def test_no_difference_is_within_noise():
    found = results(a=noisy(0, seed=1), b=noisy(0, seed=2))
    judgement = Better("a > b", (("a", "b"),), "m").judge(found)
    assert judgement.verdict == "within noise"
    p = permutation_test(
        found["a"].values["m"], found["b"].values["m"], random_state=0, n_permutations=2000
    ).p_value
    assert f"p = {p:.2g}" in judgement.because


def test_items_have_more_power_than_folds():
    a, b = noisy(1, 30, 1), noisy(0, 30, 2)
    folds = {"a": Result({"m": [1.0, 1.1]}), "b": Result({"m": [0.0, 0.1]})}
    items = {
        name: Result(folds[name].values, {"m": row.tolist()}) for name, row in (("a", a), ("b", b))
    }
    claim = Better("a > b", (("a", "b"),), "m")
    assert claim.judge(folds).verdict == "within noise"
    assert claim.judge(items).verdict == "yes"


def test_one_pair_refutes_a_claim_about_every_pair():
    found = results(a=noisy(2, 80, 1), b=noisy(0, 80, 2), c=noisy(-1, 30, 3), d=noisy(0, 30, 4))
    pairs = (("a", "b"), ("c", "d"))
    mostly = Better("mostly", pairs, "m").judge(found)
    assert mostly.verdict == "yes"
    assert "better in 1 of 2 pairs, significantly in 1, significantly worse in 1" in mostly.because
    assert Better("always", pairs, "m", everywhere=True).judge(found).verdict == "no"


def test_a_claim_about_every_pair_needs_every_pair():
    found = results(a=noisy(2, 80, 1), b=noisy(0, 80, 2), c=noisy(-0.3, 30, 3), d=noisy(0, 30, 4))
    pairs = (("a", "b"), ("c", "d"))
    assert Better("mostly", pairs, "m").judge(found).verdict == "yes"
    assert Better("always", pairs, "m", everywhere=True).judge(found).verdict == "within noise"
    assert Better("always", pairs[:1] * 2, "m", everywhere=True).judge(found).verdict == "yes"


def test_a_single_value_decides_nothing():
    found = results(a=[1.0], b=[0.0])
    assert Better("a > b", (("a", "b"),), "m").judge(found).verdict == "within noise"
    assert Ratio("twice", "a", "b", "m", 2.0).judge(results(a=[8.0], b=[1.0])).verdict == (
        "within noise"
    )


@pytest.mark.parametrize(("least", "verdict"), [(2, "yes"), (8, "no"), (4, "within noise")])
def test_a_ratio_is_decided_by_its_interval(least, verdict):
    found = results(a=[3.6, 4.1, 4.3, 3.9], b=[1.0, 1.0, 1.0, 1.0])
    assert Ratio("times", "a", "b", "m", least).judge(found).verdict == verdict


def test_a_larger_gain():
    found = results(a=noisy(3, seed=1), b=noisy(0, seed=2), c=noisy(1, seed=3), d=noisy(0, seed=4))
    assert LargerGain("more", ("a", "b"), ("c", "d"), "m").judge(found).verdict == "yes"
    assert LargerGain("more", ("c", "d"), ("a", "b"), "m").judge(found).verdict == "no"


def test_pairs_of_the_same_items_count_once():
    rng = np.random.default_rng(0)
    gain = rng.normal(0.25, 1, size=40)
    found = results(a=gain, b=np.zeros(40))
    one = Better("once", (("a", "b"),), "m").judge(found)
    many = Better("often", (("a", "b"),) * 9, "m").judge(found)
    assert one.verdict == many.verdict == "within noise"
    assert many.because.startswith(one.because)

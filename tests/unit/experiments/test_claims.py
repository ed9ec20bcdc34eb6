"""Claims are decided by tests, never by eye."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp

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
    rows = {"a": a, "b": b}
    folds = {name: Result({"m": [row[:15].mean(), row[15:].mean()]}) for name, row in rows.items()}
    items = {name: Result(folds[name].values, {"m": row.tolist()}) for name, row in rows.items()}
    claim = Better("a > b", (("a", "b"),), "m")
    assert claim.judge(folds).verdict == "within noise"
    assert claim.judge(items).verdict == "yes"


def rows_of(*means, n=80):
    """Return a cell of gains for each mean, and the pairs of each with a cell of zeros."""
    found = {f"r{i}": noisy(mean, n, 10 + i) for i, mean in enumerate(means)}
    return results(**found, zero=np.zeros(n)), tuple((name, "zero") for name in found)


def test_one_row_refutes_a_claim_about_every_row():
    found, pairs = rows_of(2, 2, 2, -1)
    assert Better("together", pairs, "m").judge(found).verdict == "yes"
    every = Better("every", pairs, "m", rows="every").judge(found)
    assert every.verdict == "no"
    assert "in 3 of 4 rows, significantly in 3, significantly worse in 1" in every.because
    assert Better("most", pairs, "m", rows="most").judge(found).verdict == "yes"


def test_a_claim_about_every_row_needs_every_row():
    found, pairs = rows_of(2, 2, 2, 0.05)
    every = Better("every", pairs, "m", rows="every").judge(found)
    assert every.verdict == "within noise"
    assert every.p_value == Better("", pairs[3:], "m").judge(found).p_value
    assert Better("every", pairs[:3], "m", rows="every").judge(found).verdict == "yes"


def test_a_claim_about_most_rows_counts_rows_not_their_average():
    found, pairs = rows_of(20, -1, -1, -1)
    assert Better("together", pairs, "m").judge(found).verdict == "yes"
    assert Better("most", pairs, "m", rows="most").judge(found).verdict == "no"
    found, pairs = rows_of(0.8, 0.8, 0.8, 0, 0)
    assert Better("most", pairs, "m", rows="most").judge(found).verdict == "yes"
    found, pairs = rows_of(0.8, 0.8, 0, 0, 0)
    assert Better("most", pairs, "m", rows="most").judge(found).verdict == "within noise"


def test_a_p_value_that_cannot_be_smaller_is_marked():
    agreed = results(a=[1.0, 2.0, 1.5, 1.2, 1.1, 1.4], b=[0.0] * 6)
    found = Better("", (("a", "b"),), "m").judge(agreed)
    assert found.p_value == 2 / 2**6
    assert found.is_least
    differing = results(a=[1.0, 2.0, 1.5, 1.2, 1.1, -0.4], b=[0.0] * 6)
    assert not Better("", (("a", "b"),), "m").judge(differing).is_least


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


def test_a_ratio_is_that_of_the_averages_with_the_interval_of_a_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.normal(100, 0.5, 5), rng.normal(50, 0.5, 5)
    judgement = Ratio("times", "a", "b", "m", 1.98).judge(results(a=a, b=b))
    # Nearly constant values have logarithms that are nearly linear in them.
    test = ttest_1samp(np.log(a / b), np.log(1.98))
    assert judgement.p_value == pytest.approx(test.pvalue, rel=0.02)
    low, high = np.exp(test.confidence_interval())
    assert judgement.because.startswith(f"{a.mean() / b.mean():.3g} times [{low:.3g}, {high:.3g}]")


def test_two_repeats_decide_a_ratio_only_if_they_agree():
    assert Ratio("", "a", "b", "m", 2.0).judge(results(a=[3, 5], b=[1, 1])).verdict == (
        "within noise"
    )
    assert Ratio("", "a", "b", "m", 2.0).judge(results(a=[4.0, 4.1], b=[1, 1])).verdict == "yes"
    assert Ratio("", "a", "b", "m", 2.0).judge(results(a=[4, 4], b=[1, 1])).verdict == "yes"
    assert Ratio("", "a", "b", "m", 2.0).judge(results(a=[0, 0], b=[1, 1])).verdict == (
        "within noise"
    )


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
    assert one.p_value == many.p_value

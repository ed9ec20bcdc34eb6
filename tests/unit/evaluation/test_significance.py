from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from taxonomist.evaluation import (
    bootstrap_interval,
    permutation_test,
    significance,
    smallest_p_value,
)

pairs = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=7)
alternatives = st.sampled_from(["two-sided", "greater", "less"])


def naive_p_value(a, b, alternative):
    """Count over all signs, in exact integer arithmetic."""
    differences = [x - y for x, y in zip(a, b, strict=True)]
    observed = sum(differences)
    sums = [
        sum(sign * d for sign, d in zip(signs, differences, strict=True))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    extreme = {
        "two-sided": lambda s: abs(s) >= abs(observed),
        "greater": lambda s: s >= observed,
        "less": lambda s: s <= observed,
    }[alternative]
    return sum(map(extreme, sums)) / len(sums)


@given(pairs, alternatives, st.sampled_from([1.0, 0.1]))
def test_exact_p_value_is_that_of_all_signs(values, alternative, unit):
    a, b = zip(*values, strict=True)
    result = permutation_test(np.array(a) * unit, np.array(b) * unit, alternative=alternative)
    assert result.exact
    assert result.p_value == pytest.approx(naive_p_value(a, b, alternative))
    assert result.statistic == pytest.approx(np.mean(np.array(a) - b) * unit)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n", [6, 40])
def test_p_value_is_that_of_scipy(n, alternative):
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.3, 1, n), rng.normal(0, 1, n)
    expected = scipy.stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        vectorized=True,
        permutation_type="samples",
        n_resamples=20_000,
        alternative=alternative,
        rng=np.random.default_rng(2),
    )
    result = permutation_test(a, b, n_permutations=20_000, alternative=alternative, random_state=3)
    assert result.exact == (n == 6)
    assert result.statistic == pytest.approx(expected.statistic)
    # Five standard errors of a drawn p-value near 0.5.
    tolerance = 1e-12 if result.exact else 5 * 0.5 / np.sqrt(20_000)
    assert result.p_value == pytest.approx(expected.pvalue, abs=tolerance)


def test_blocks_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 10))
    whole = permutation_test(a, b), bootstrap_interval(a - b, random_state=1)
    drawn = permutation_test(a, b, n_permutations=500, random_state=0).p_value
    monkeypatch.setattr(significance, "_BLOCK_CELLS", 64)
    assert (permutation_test(a, b), bootstrap_interval(a - b, random_state=1)) == whole
    again = permutation_test(a, b, n_permutations=500, random_state=0).p_value
    assert again == pytest.approx(drawn, abs=0.1)


def test_pairs_without_difference_do_not_count():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 6))
    same = rng.normal(size=1000)
    padded = permutation_test(np.append(a, same), np.append(b, same))
    assert padded.exact
    assert padded.p_value == permutation_test(a, b).p_value
    assert permutation_test(same, same).p_value == 1.0


def test_counts_of_numpy():
    result = permutation_test([1, 2], [0, 0], n_permutations=np.int64(4))
    assert result == permutation_test([1, 2], [0, 0], n_permutations=4)


def test_drawn_p_value_is_never_zero():
    result = permutation_test(np.ones(100), np.zeros(100), n_permutations=99, random_state=0)
    assert not result.exact
    assert result.p_value == 0.01


def test_seed_decides_the_drawn_signs():
    a, b = np.random.default_rng(0).normal(size=(2, 30))
    results = [permutation_test(a, b, random_state=seed) for seed in (1, 1, 2)]
    assert results[0] == results[1] != results[2]


@pytest.mark.parametrize("n", range(1, 12))
def test_smallest_p_value_is_reached_by_a_clean_sweep(n):
    sweep = permutation_test(np.ones(n), np.zeros(n), n_permutations=1024)
    if n <= 10:
        assert sweep.p_value == smallest_p_value(n, 1024)
    else:
        assert smallest_p_value(n, 1024) == 1 / 1025 <= sweep.p_value


def test_true_null_hypothesis_is_rejected_as_often_as_it_should_be():
    rng = np.random.default_rng(0)
    p_values = [
        permutation_test(*rng.normal(size=(2, 8)), n_permutations=256).p_value for _ in range(400)
    ]
    assert 0.02 < np.mean(np.array(p_values) <= 0.05) < 0.08


def test_bootstrap_covers_the_mean():
    rng = np.random.default_rng(0)
    intervals = [
        bootstrap_interval(
            rng.exponential(size=60), confidence=0.9, n_resamples=400, random_state=i
        )
        for i in range(300)
    ]
    covered = np.mean([interval.low <= 1 <= interval.high for interval in intervals])
    assert 0.83 < covered < 0.94


def test_bootstrap_is_that_of_scipy():
    values = np.random.default_rng(0).normal(size=50)
    expected = scipy.stats.bootstrap(
        (values,), np.median, method="percentile", n_resamples=5000, rng=np.random.default_rng(1)
    ).confidence_interval
    interval = bootstrap_interval(values, n_resamples=5000, statistic=np.median, random_state=2)
    assert interval.estimate == np.median(values)
    assert [interval.low, interval.high] == pytest.approx([expected.low, expected.high], abs=0.05)


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ([], [], {}, "non-empty"),
        ([1, 2], [1], {}, "must be paired, but have 2 and 1"),
        ([1, float("nan")], [1, 2], {}, r"a\[1\] is nan"),
        ([1, 2], [1, float("inf")], {}, r"b\[1\] is inf"),
        ([[1]], [[1]], {}, "shape"),
        ([1], [2], {"alternative": "larger"}, "Got 'larger'"),
        ([1], [2], {"n_permutations": 0}, "n_permutations must be at least 1"),
    ],
)
def test_permutation_test_refuses_nonsense(a, b, options, message):
    with pytest.raises(ValueError, match=message):
        permutation_test(a, b, **options)


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([1], {}, "at least 2 values"),
        ([1, float("nan")], {}, r"values\[1\] is nan"),
        ([1, 2], {"confidence": 95}, "confidence must be between 0 and 1"),
        ([1, 2], {"n_resamples": 0}, "n_resamples must be at least 1"),
    ],
)
def test_bootstrap_refuses_nonsense(values, options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(values, **options)

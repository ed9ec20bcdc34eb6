"""Holm's correction and tests of several rows, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist.experiments.claims.multiplicity import at_least, holm, judge_rows


def rejected_one_by_one(p_values, level):
    """Return what Holm's procedure rejects: the smallest first, until one fails."""
    left = dict(enumerate(p_values))
    while left:
        smallest = min(left, key=left.get)
        if left[smallest] >= level / len(left):
            break
        del left[smallest]
    return {n for n in range(len(p_values)) if n not in left}


@pytest.mark.parametrize("seed", range(20))
def test_holm_rejects_what_its_procedure_rejects(seed):
    rng = np.random.default_rng(seed)
    p_values = rng.choice([*rng.uniform(0, 0.06, 6), 0.5, 1.0], rng.integers(1, 12))
    for level in (0.01, 0.05, 0.2):
        found = set(np.flatnonzero(holm(p_values) < level).tolist())
        assert found == rejected_one_by_one(p_values.tolist(), level)


def test_holm_by_hand():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([0.8, 0.9]), [1.0, 1.0])
    assert holm([0.2]).tolist() == [0.2]
    assert holm([]).size == 0


def test_at_least_so_many_effects_by_hand():
    p_values = [0.2, 0.001, 0.01, 0.02]
    assert at_least(p_values, 4) == 0.2
    assert at_least(p_values, 1) == pytest.approx(0.004)
    assert at_least(p_values, 3) == pytest.approx(0.04)
    assert at_least([0.9, 0.8], 1) == 1.0


def test_too_many_effects_are_rarely_found():
    """If half of the rows have no effect, "most rows" has a p-value below 0.05 in few cases."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(2000):
        p_values = np.concatenate([np.full(4, 1e-9), rng.uniform(size=4)])
        found.append(at_least(p_values.tolist(), 5) < 0.05)
    assert np.mean(found) < 0.06


@pytest.mark.parametrize(
    ("gains", "p_values", "rows", "verdict", "p_value"),
    [
        ([1, 1, 1], [0.01, 0.02, 0.03], "every", "yes", 0.03),
        ([1, 1, 1], [0.01, 0.02, 0.3], "every", "within noise", 0.3),
        ([1, 1, -1], [0.01, 0.02, 0.01], "every", "no", 0.03),
        ([1, 1, -1], [0.01, 0.02, 0.04], "every", "within noise", 0.12),
        ([1, 1, -1], [0.01, 0.02, 0.01], "most", "yes", 0.04),
        ([1, -1, -1], [0.01, 0.02, 0.01], "most", "no", 0.04),
        ([1, -1], [0.01, 0.02], "most", "no", 0.04),
    ],
)
def test_rows_are_counted(gains, p_values, rows, verdict, p_value):
    found = judge_rows(gains, p_values, rows)
    assert found[0] == verdict
    assert found[1] == pytest.approx(p_value)

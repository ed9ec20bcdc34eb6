"""How ``benchmarks.search_agreement`` tells whether a choice agrees with full training."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.search_agreement import agreement, summary


def test_a_choice_that_is_worse_by_less_than_noise_agrees():
    good, noisy = np.tile([1.0, 0.0], 50), np.tile([0.0, 1.0], 50)
    noisy[0] = 1.0
    found = agreement("good", {"good": good, "noisy": noisy})
    assert found["best"] == "noisy"
    assert found["f1"] == {"good": 0.5, "noisy": 0.51}
    loss, low, high = found["loss"]
    assert loss == pytest.approx(0.01)
    assert low < 0 < high
    assert found["agrees"]


def test_a_choice_that_is_clearly_worse_does_not():
    found = agreement("bad", {"bad": np.tile([0.0, 0.2], 50), "good": np.tile([0.9, 1.0], 50)})
    assert found["best"] == "good"
    assert not found["agrees"]
    parts = {"x": {"features": found, "models": agreement("a", {"a": np.array([1.0, 0.5])})}}
    assert summary(parts) == {"corpora": 1, "features": 0.0, "models": 1.0}

"""Blocks of scored items."""

from types import SimpleNamespace

import numpy as np
import pytest

from taxonomist.inference import scorers
from taxonomist.inference.scorers import Scored


class Counting(SimpleNamespace):
    """A scorer of two items at a time, which counts the items that it scores."""

    block_size = 2
    n_scored = 0

    def raw(self, X, n_threads):
        self.n_scored += len(X)
        return X * 2.0


@pytest.mark.parametrize(("most", "n_scored"), [(1000, 5), (10, 10)])
def test_raw_scores_of_few_blocks_are_computed_once(most, n_scored, monkeypatch):
    monkeypatch.setattr(scorers, "KEPT_BYTES", most)
    X = np.arange(5.0)[:, None]
    scorer = Counting()
    scored = Scored(scorer, X)
    for _ in range(2):
        parts = [part.raw for part in scored.blocks()]
        assert [len(part) for part in parts] == [2, 2, 1]
        np.testing.assert_array_equal(np.vstack(parts), 2 * X)
    assert scorer.n_scored == n_scored

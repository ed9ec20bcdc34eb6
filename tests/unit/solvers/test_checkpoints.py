"""Branches that were finished before a fit was killed, and the fit that goes on from them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import random_array

from taxonomist import PathSVC, Taxonomy
from taxonomist.solvers import checkpoints, node_svms
from taxonomist.solvers.checkpoints import KeptPortions, keep_branches

LEAVES = [f"{top}{leaf}" for top in "abc" for leaf in range(4)]
TREE = Taxonomy.from_paths([f"{leaf[0]} > {leaf}" for leaf in LEAVES], ids="name")
X = random_array((96, 300), density=0.05, rng=np.random.default_rng(0), dtype=np.float32).tocsr()
Y = [LEAVES[k % 12] for k in range(96)]


def fitted(C=1.0):
    model = PathSVC(TREE, C=C, negatives="both", random_state=0, n_jobs=1)
    return model.fit(X, Y)


def content(model):
    """Return all that a fit found, as bytes."""
    start, arrays = model.start_, [*model.scorer_.weights.table]
    arrays += [start.alpha.data, start.alpha.indices, start.alpha.indptr, start.primal, start.dual]
    facts = model.objective_, model.duality_gap_, model.n_iter_, model.converged_, model.blend_
    return [array.tobytes() for array in arrays], facts


@pytest.fixture(scope="module")
def expected():
    return content(fitted())


@pytest.fixture
def solves(monkeypatch):
    """Count the portions that are solved; all fits are large enough to be kept."""
    monkeypatch.setattr(checkpoints, "LEAST_WORK", 0)
    found, solve = [], node_svms.solve_jobs
    monkeypatch.setattr(node_svms, "solve_jobs", lambda *a: (found.append(1), solve(*a)))
    return found


@pytest.mark.parametrize("n_saved", [0, 2, 5])
def test_a_killed_fit_goes_on_to_the_same_result(n_saved, tmp_path, monkeypatch, solves, expected):
    save = KeptPortions.save

    def save_some(self, number, *args):
        if len(solves) > n_saved:
            raise KeyboardInterrupt
        save(self, number, *args)

    with monkeypatch.context() as killing, keep_branches(tmp_path / "kept"):
        killing.setattr(KeptPortions, "save", save_some)
        with pytest.raises(KeyboardInterrupt):
            fitted()
    assert len(list(tmp_path.glob("kept/*"))) == n_saved
    solves.clear()
    with keep_branches(tmp_path / "kept"):
        assert content(fitted()) == expected
        n_first = len(solves)
        solves.clear()
        assert content(fitted()) == expected
    assert not solves
    assert n_first + n_saved == len(list(tmp_path.glob("kept/*.npz")))


def test_other_options_and_broken_files_are_no_start(tmp_path, solves, expected):
    with keep_branches(tmp_path):
        fitted(C=3.0)
        n_portions = len(solves)
        solves.clear()
        assert content(fitted()) == expected
        assert len(solves) == n_portions
        files = sorted(tmp_path.iterdir())
        for path in files[::2]:
            path.write_bytes(path.read_bytes()[:-40])
        files[1].write_bytes(b"")
        assert content(fitted()) == expected


def test_small_fits_and_others_keep_nothing(tmp_path, solves, monkeypatch, expected):
    assert content(fitted()) == expected
    monkeypatch.setattr(checkpoints, "LEAST_WORK", 10**8)
    with keep_branches(tmp_path / "kept"):
        fitted()
    assert not (tmp_path / "kept").exists()

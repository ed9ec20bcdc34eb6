"""Arrays and rows in temporary files are the same as in memory."""

from __future__ import annotations

import sys
from mmap import mmap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from taxonomist import _spill
from taxonomist.errors import DiskFullError, ParameterError


@pytest.fixture
def tiny(monkeypatch):
    """Let nearly everything go to files, a few values at a time."""
    monkeypatch.setenv(_spill.VARIABLE, "1e-7")
    monkeypatch.setattr(_spill, "BLOCK_BYTES", 64)


def rows(n_rows, n_columns, seed):
    rng = np.random.default_rng(seed)
    found = random_array((n_rows, n_columns), density=0.3, format="csr", random_state=rng)
    return csr_array(found)


def is_mapped(array):
    """Return whether an array is in a file."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap)


def same(one, other):
    assert one.shape == other.shape
    assert one.dtype == other.dtype
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@given(parts=st.lists(st.lists(st.integers(0, 99)), max_size=8), most=st.integers(1, 200))
def test_an_array_is_its_parts(parts, most):
    spool = _spill.Spool(np.int32)
    spool._most = most
    for part in parts:
        spool.add(np.array(part, dtype=np.int64))
    assert len(spool) == sum(map(len, parts))
    found = spool.finish()
    assert type(found) is np.ndarray
    assert found.dtype == np.int32
    assert found.tolist() == [value for part in parts for value in part]


@pytest.mark.parametrize("seed", range(5))
def test_functions_of_rows_give_the_same_with_little_memory(tiny, seed):
    X, Y = rows(37, 11, seed), rows(5, 11, seed + 100)
    items = np.random.default_rng(seed).integers(37, size=60)
    assert _spill.is_large(X)
    same(_spill.taken(X, items), csr_array(X[items]))
    same(_spill.first_rows(X, 20), csr_array(X[:20]))
    whole = _spill.stacked([X, Y])
    np.testing.assert_array_equal(whole.toarray(), np.vstack([X.toarray(), Y.toarray()]))
    same(_spill.single_precision(X), csr_array(X, dtype=np.float32))
    same(_spill.mapped(X, lambda part: csr_array(part * 2)), csr_array(X * 2))
    # These are in files indeed.
    assert is_mapped(_spill.taken(X, items).data)
    assert is_mapped(_spill.single_precision(X).data)


def test_blocks_of_rows_are_small_and_complete(monkeypatch):
    monkeypatch.setattr(_spill, "BLOCK_BYTES", 64)
    ends = np.array([0, 0, 3, 3, 40, 41, 44, 44])
    cuts = _spill.row_cuts(ends, 8)
    assert [place for cut in cuts for place in range(*cut)] == list(range(7))
    # A row that is too long has a block of few others.
    assert max(ends[end] - ends[begin] for begin, end in cuts) <= 8 + 37
    assert _spill.row_cuts(np.array([0]), 8) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a device that is always full")
def test_a_full_disk_is_named(monkeypatch):
    monkeypatch.setenv(_spill.VARIABLE, "1e-7")

    def open_full(buffering):
        return open("/dev/full", "wb", buffering=buffering)

    monkeypatch.setattr(_spill.tempfile, "TemporaryFile", open_full)
    spool = _spill.Spool(np.float64)
    with pytest.raises(DiskFullError, match="No space left.*another folder in .* TMPDIR"):
        spool.add(np.ones(1000))


@pytest.mark.parametrize("wrong", ["much", "0", "-1", "nan", "inf"])
def test_a_limit_that_is_no_size(monkeypatch, wrong):
    monkeypatch.setenv(_spill.VARIABLE, wrong)
    with pytest.raises(ParameterError, match=f"number of GiB above 0. Got '{wrong}'"):
        _spill.array_limit()

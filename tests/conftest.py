"""Settings and fixtures for all tests."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from taxonomist import datasets
from taxonomist.errors import CorpusNotFoundError

if TYPE_CHECKING:
    from pathlib import Path

# Times vary with the machine's load, so they do not decide whether a test passes.
settings.register_profile("taxonomist", deadline=None, max_examples=40)
settings.load_profile("taxonomist")


def pytest_make_parametrize_id(val, argname):
    """Name bytes by their length: gzip'd ones hold the time, and a name must not change by it."""
    return f"{argname}-{len(val)}-bytes" if isinstance(val, bytes) else None


ORDER = (
    "contract",
    "architecture",
    "unit/metrics",
    "unit/losses",
    "unit/taxonomy",
    "unit/datasets",
    "unit/features",
    "docs/test_doctests.py",
    "unit/persistence/test_atomic.py",
    "unit/persistence/test_forged.py",
    "oracle",
    "unit/kernels",
    "unit/compiled",
    "unit/solvers",
    "unit/models",
    "equations",
    "unit/persistence",
    "unit/server",
    "unit/report",
    "unit/distributed",
    "docs",
    "integration",
    "unit",
)
"""Which tests run first. Those in ``contract`` compile most loops; the other of two processes
meanwhile runs tests that need none, so that a loop is rarely compiled twice. Tests that fork come
before those that make the process large, because a fork takes longer the larger it is."""


TOGETHER = ("tests/unit/server", "tests/unit/report", "tests/unit/distributed")
"""Folders whose tests run in one process, because they share a server, a browser or a cluster."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Hand out tests file by file, or by the folders that share something."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return next((folder for folder in TOGETHER if nodeid.startswith(folder)), None) or (
                super()._split_scope(nodeid)
            )

    return Scheduling(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items):
    """Sort the tests by ``ORDER``, and keep those of a file together."""

    def place(item):
        path = item.nodeid.removeprefix("tests/")
        return next((i for i, part in enumerate(ORDER) if path.startswith(part)), len(ORDER))

    items.sort(key=place)


def pytest_collection_finish():
    """Leave the tests themselves, which live as long as the process, out of garbage collections."""
    gc.collect()
    gc.freeze()


def pytest_itemcollected(item):
    """Mark the tests that ask for a corpus or the encoder, so that nobody can forget to."""
    asked = getattr(item, "fixturenames", ())
    for fixture, marker in (("data_folder", "corpora"), ("need_minilm", "vectors")):
        if fixture in asked:
            item.add_marker(marker)


@pytest.fixture
def data_folder():
    """Return a function from a corpus name to its folder; it skips where the corpus is absent."""

    def folder(name: str) -> Path:
        try:
            found = datasets.find(name)
        except CorpusNotFoundError:
            pytest.skip(f"the corpus {name} is not on this machine: set TAXONOMIST_DATA")
        if name == "20newsgroups" and (found / "SOURCE.json").exists():
            pytest.skip("the corpus 20newsgroups is the fetched edition, which is smaller")
        return found

    return folder


@pytest.fixture
def load_corpus(data_folder):
    """Return ``datasets.load``, which here skips the test where the corpus is absent."""

    def load(name: str, **options: str) -> datasets.Corpus:
        data_folder(name)
        try:
            return datasets.load(name, **options)
        except CorpusNotFoundError:
            pytest.skip(f"the corpus {name} is not complete on this machine: lacks {options}")

    return load


@pytest.fixture
def need_minilm(tmp_path, monkeypatch):
    """Skip the test where the extra ``vectors`` is absent; keep its cache among temporary files."""
    from taxonomist.features import onnx_encoder

    if not onnx_encoder.is_installed():
        pytest.skip("the built-in encoder is not installed: run make test-vectors")
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "cache"))


@pytest.fixture
def need_peer():
    """Return a function that skips the test where a package to compare with is absent."""
    from taxonomist.experiments.work import peers

    def need(name: str) -> None:
        if name not in peers.installed():
            pytest.skip(f"{name} is not installed: run make peers, and set TAXONOMIST_PEERS")

    return need

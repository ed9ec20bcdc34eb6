"""Settings and fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Times vary with the machine's load, so they do not decide whether a test passes.
settings.register_profile("taxonomist", deadline=None, max_examples=60)
settings.load_profile("taxonomist")


def pytest_make_parametrize_id(val, argname):
    """Name bytes by their length: gzip'd ones hold the time, and a name must not change by it."""
    return f"{argname}-{len(val)}-bytes" if isinstance(val, bytes) else None


@pytest.fixture
def data_folder():
    """Return a function from a corpus name to its folder; it skips where the corpus is absent."""

    def folder(name: str) -> Path:
        home = os.environ.get("TAXONOMIST_DATA")
        if not home or not (Path(home) / name).is_dir():
            pytest.skip(f"the corpus {name!r} is not under TAXONOMIST_DATA")
        return Path(home) / name

    return folder

"""Where compiled loops are kept."""

from __future__ import annotations

import pytest

from taxonomist.compiled import cache


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Let two folders be tried, none of which can be written to."""
    found = [tmp_path / "first", tmp_path / "second"]
    for folder in found:
        folder.mkdir()
    monkeypatch.setattr(cache, "_usual_folders", lambda: iter(found))
    monkeypatch.setattr(cache, "_is_writable", lambda folder: False)
    monkeypatch.setattr(cache, "_private_folder", lambda: tmp_path)
    cache.cache_folder.cache_clear()
    yield found
    cache.cache_folder.cache_clear()


def test_a_filled_folder_is_used_though_it_is_read_only(folders):
    (folders[1] / f"x.loop-{cache.digest_of_sources()}.py311.nbi").touch()
    assert cache.cache_folder() == folders[1]


def test_a_folder_with_other_loops_is_not(folders, tmp_path):
    (folders[1] / "x.loop-0123456789abcdef.py311.nbi").touch()
    assert cache.cache_folder() == tmp_path

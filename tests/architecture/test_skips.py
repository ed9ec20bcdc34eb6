"""A test is skipped for want of a corpus, a browser, a package or a system call, and says so.

Corpora are asked for through the fixtures ``data_folder`` and ``load_corpus``, which skip and by
which ``conftest.py`` sets the marker ``corpora``. Hence no other file but the browser's and the
server's may skip.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
FILES = sorted(TESTS.rglob("*.py"))
MAY_SKIP = {"conftest.py", "unit/report/pages.py", "unit/server/skips.py"}
SYSTEM = ("sys.platform", "hasattr(os, ")
"""How conditions begin that ask what the operating system can do."""


def name(path):
    return path.relative_to(TESTS).as_posix()


@cache
def skips_in(path):
    return list(skips(path.read_text(encoding="utf-8")))


def skips(source):
    """Yield the ways in which a source skips tests, each with its first argument."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in ("skip", "skipif"):
            yield node.attr, ""
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("skip", "skipif"):
            yield node.func.attr, ast.unparse(node.args[0]) if node.args else ""
        if "SkipTest" in (getattr(node, "id", ""), getattr(node, "attr", "")):
            yield "SkipTest", ""


@pytest.mark.parametrize("path", FILES, ids=name)
def test_only_fixtures_skip(path):
    used = {how for how, _ in skips_in(path)}
    assert "SkipTest" not in used
    assert "skip" not in used or name(path) in MAY_SKIP


@pytest.mark.parametrize("path", FILES, ids=name)
def test_conditions_are_about_the_system(path):
    found = skips_in(path)
    conditions = [asked for how, asked in found if how == "skipif" and asked]
    assert len(conditions) == found.count(("skipif", ""))
    assert all(asked.removeprefix("not ").startswith(SYSTEM) for asked in conditions)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("pytest.skip('no corpus')", ("skip", "'no corpus'")),
        ("@pytest.mark.skip\ndef test(): ...", ("skip", "")),
        ("pytest.mark.skipif(not home, reason='')", ("skipif", "not home")),
        ("raise unittest.SkipTest", ("SkipTest", "")),
    ],
)
def test_every_way_to_skip_is_seen(source, found):
    assert found in list(skips(source))


def test_whoever_asks_for_a_corpus_is_marked(load_corpus, request):
    assert request.node.get_closest_marker("corpora")


def test_whoever_asks_for_none_is_not(request):
    assert not request.node.get_closest_marker("corpora")

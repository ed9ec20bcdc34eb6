"""Cells are kept, and not run twice."""

from __future__ import annotations

import gzip
from dataclasses import replace
from functools import partial

import pytest

from taxonomist.experiments.declarations import (
    Cell,
    Entry,
    Paper,
    Result,
    Settings,
    Table,
    describe,
)
from taxonomist.experiments.running import Store, run


def work(path, value=1.0):
    """Count the calls in a file, and return a result."""
    with open(path, "a") as stream:
        stream.write("x")
    return Result({"m": [value, value + 1]}, {"m": [0.0, 1.0]})


def fail():
    raise RuntimeError("no")


def quiet(*_):
    pass


def test_a_cell_is_run_once_and_its_result_is_kept(tmp_path):
    calls = tmp_path / "calls"
    cells = [Cell("a", partial(work, calls)), Cell("b", partial(work, calls, value=2.0))]
    store = Store(tmp_path / "cells")
    seen = []
    run(cells, store, 1, lambda *entry: seen.append(entry))
    run(cells, store, 1, quiet)
    assert calls.read_text() == "xx"
    assert sorted(seen) == [("", 0, 2), ("a", 1, 2), ("b", 2, 2)]
    found = store.load(cells[1])
    assert found.values == {"m": [2.0, 3.0]}
    assert found.items == {"m": [0.0, 1.0]}
    assert found.seconds > 0


def test_timed_cells_come_last(tmp_path):
    seen = []
    cells = [
        Cell("t", partial(work, tmp_path / "c"), is_timed=True),
        Cell("a", partial(work, tmp_path / "c")),
    ]
    run(cells, Store(tmp_path / "cells"), 1, lambda name, *_: seen.append(name))
    assert seen == ["", "a", "t"]


def test_what_was_finished_before_a_failure_is_kept(tmp_path):
    store = Store(tmp_path / "cells")
    done = Cell("a", partial(work, tmp_path / "calls"))
    with pytest.raises(RuntimeError, match="no"):
        run([done, Cell("b", fail)], store, 1, quiet)
    assert store.load(done) is not None
    assert not list(store.folder.glob("*.part"))


def test_the_key_changes_with_name_work_parameters_and_sources():
    cell = Cell("a", partial(work, "x"))
    assert cell.key == Cell("a", partial(work, "x")).key
    others = [replace(cell, name="b"), Cell("a", partial(work, "y")), Cell("a", fail)]
    others.append(replace(cell, sources="1"))
    assert len({cell.key, *(other.key for other in others)}) == 5


def test_a_description_holds_no_address():
    text = describe(partial(work, "x", value=partial(fail, [1, {"a": Store}])))
    assert "0x" not in text
    assert "running.Store" in text


def test_files_of_the_same_result_are_the_same(tmp_path):
    cell = Cell("a", fail)
    packed = []
    for name in ("one", "two"):
        store = Store(tmp_path / name)
        store.save(cell, Result({"m": [1.0]}))
        packed += [path.read_bytes() for path in store.folder.iterdir()]
    assert packed[0] == packed[1]
    assert b'"m"' in gzip.decompress(packed[0])


def test_a_paper_must_declare_what_it_shows():
    settings = Settings(tolerance="", features="", splits="", draws="")
    entries = (Entry("r", "c", "b", "m"),)
    table = Table(number="1", title="t", corpus="c", settings=settings, entries=entries)
    with pytest.raises(ValueError, match="not declared: \\['b'\\]"):
        Paper(key="P", title="p", cells=(Cell("a", fail),), tables=(table,))
    with pytest.raises(ValueError, match="twice"):
        Paper(key="P", title="p", cells=(Cell("b", fail), Cell("b", fail)), tables=(table,))

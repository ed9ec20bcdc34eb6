"""Compiling is announced once, and does not count as work."""

from __future__ import annotations

from time import perf_counter

import numba

from taxonomist.compiled import compiling, dispatchers
from taxonomist.compiled.compiling import working_clock


def new_loop():
    """Return a loop that is in no cache."""
    assert dispatchers  # its import lets numba tell when it compiles
    return numba.njit(lambda x: 2.0 * x)


def test_the_clock_stands_still_while_a_loop_is_compiled():
    loop = new_loop()
    start, work = perf_counter(), working_clock()
    assert loop(1.5) == 3.0
    seconds, worked = perf_counter() - start, working_clock() - work
    assert 0.0 <= worked < seconds / 2


def test_the_clock_runs_otherwise():
    work = working_clock()
    start = perf_counter()
    while perf_counter() < start + 0.02:
        pass
    assert working_clock() - work >= 0.02


def test_the_first_loop_is_announced(monkeypatch):
    said = []
    monkeypatch.setattr(compiling.watch, "is_announced", False)
    # Not through handlers: the command, if it ran in this process before, has changed those.
    monkeypatch.setattr(compiling.logger, "info", said.append)
    for _ in range(2):
        new_loop()(1.5)
    assert [message.split()[0] for message in said] == ["Compiling"]

"""Engines: the same four calls in place and on a cluster; what is left behind is nothing."""

from __future__ import annotations

import time

import pytest

from taxonomist.distributed import dask_engine
from taxonomist.distributed.dask_engine import DaskEngine
from taxonomist.distributed.engine import FAN_IN, LocalEngine, reduce
from tests.waiting import wait_for


def join(parts):
    return [value for part in parts for value in part]


def one(value):
    return [value]


def add(values, number, other):
    return sum(values) + number + other


def wait(seconds):
    time.sleep(seconds)


def fail(value):
    raise ValueError(f"no {value}")


@pytest.fixture(params=["local", "dask"])
def engine(request):
    if request.param == "local":
        yield LocalEngine()
        return
    with DaskEngine(request.getfixturevalue("client")) as made:
        yield made


def test_map_and_gather(engine):
    shared = engine.scatter(100)
    parts = engine.map(one, [1, 2])
    sums = engine.map(add, [[1, 2], [3]], [10, 20], shared=(shared,))
    assert engine.gather(parts) == [[1], [2]]
    assert engine.gather(sums) == [113, 123]


@pytest.mark.parametrize("n", [1, FAN_IN, FAN_IN**2 + 3])
def test_reduce_keeps_the_order(engine, n):
    assert engine.gather([reduce(engine, join, engine.map(one, range(n)))]) == [list(range(n))]


def test_large_values_are_scattered(client, monkeypatch):
    monkeypatch.setattr(dask_engine, "REPEATED", 2**20)
    with DaskEngine(client) as engine:
        shared = engine.scatter(b"x" * 3_000_000)
        assert engine.gather(engine.map(len, [shared])) == [3_000_000]
        assert set(client.who_has(shared)[shared.key]) == set(client.has_what())


@pytest.mark.slow
def test_values_for_all_survive_the_workers_that_have_them(client):
    with DaskEngine(client) as engine:
        shared = engine.scatter(b"x" * 3_000_000)
        assert engine.gather(engine.map(len, [shared])) == [3_000_000]
        client.restart_workers(list(client.has_what()))
        assert engine.gather(engine.map(len, [shared])) == [3_000_000]


def test_nothing_is_left_behind_after_an_error(client):
    engine, kept = DaskEngine(client), []

    def work():
        with engine:
            kept.extend(engine.map(one, range(20)))
            engine.gather(engine.map(fail, [2]))

    with pytest.raises(ValueError, match="no 2"):
        work()
    assert kept

    def left():
        tasks = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
        return [key for key in tasks if engine._token in key]

    # The scheduler hears of cancelled tasks a little later.
    wait_for(lambda: not left())


def test_values_come_as_they_are_there(client):
    with DaskEngine(client) as engine:
        slow, fast = engine.map(wait, [3.0, 0.0])
        found = [handle is fast for handle in engine.finished([slow, fast])]
    assert found == [True, False]


def test_an_error_leaves_the_other_work_of_the_client_alone(client):
    """Also if a task is under way whose input was released."""
    other = client.submit(one, "other", pure=False)

    def work():
        with DaskEngine(client) as engine:
            first = engine.map(one, range(3))
            second = engine.map(one, first)
            third = engine.map(one, second)
            engine.gather(third)
            del second
            engine.gather(engine.map(fail, [2]))

    with pytest.raises(ValueError, match="no 2"):
        work()
    assert client.submit(one, "later", pure=False).result(timeout=20) == ["later"]
    assert other.result(timeout=20) == ["other"]


def test_capacity(client):
    found = DaskEngine(client).capacity()
    assert found[:2] == (2, 2)
    assert found.memory == 1e9

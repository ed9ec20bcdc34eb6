"""Fits and predictions on clusters whose workers are killed, that are shared, or that go away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import dask
import numpy as np
import pytest

from taxonomist import HierarchicalSVC, PathSVC
from taxonomist.distributed import (
    DaskHierarchicalSVC,
    DaskPathSVC,
    dask_engine,
    memory,
    path_batches,
    path_shards,
    rounds,
)
from taxonomist.errors import ClusterError
from tests.unit.distributed.problems import TREE, assert_same, cut, problem
from tests.waiting import wait_for

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.slow

ENDS = tuple(range(0, 3001, 250))


@pytest.fixture(scope="module")
def items():
    X, y, _ = problem(n_items=3000, n_features=2000)
    return X, y


@pytest.fixture(scope="module")
def local(items):
    return PathSVC(TREE, random_state=0).fit(*items)


@pytest.fixture
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


@pytest.fixture(autouse=True)
def many_tasks(monkeypatch):
    monkeypatch.setattr(path_batches, "LEAST_WORK", 100_000)


def delayed_parts(items):
    X, y = items
    return (
        [dask.delayed(part) for part in cut(X, ENDS)],
        [dask.delayed(part) for part in cut(y, ENDS)],
    )


def tasks_named(client, name, states=("processing", "memory")):
    """Return the keys of the scheduler's tasks of one kind."""

    def find(dask_scheduler):
        tasks = dask_scheduler.tasks.items()
        return [
            str(key) for key, task in tasks if str(key).startswith(name) and task.state in states
        ]

    return client.run_on_scheduler(find)


def calls_so_far(client, name):
    """Return the number of the last call of an engine's map with tasks of one kind."""
    keys = tasks_named(client, name, ("processing", "waiting", "memory", "released"))
    return max((int(key.split("-")[-2]) for key in keys), default=0)


def kill_a_worker_during(client, name):
    """Kill a worker as soon as a task of some kind is under way; return whether there was one."""
    pids = client.run(os.getpid)

    def busy():
        def find(dask_scheduler):
            return [
                task.processing_on.address
                for key, task in dask_scheduler.tasks.items()
                if str(key).startswith(name) and task.processing_on
            ]

        return client.run_on_scheduler(find)

    found: list[str] = []
    wait_for(lambda: found.extend(busy()) or found)
    os.kill(pids[found[0]], signal.SIGKILL)


@pytest.mark.parametrize("name", ["load_part", "add_norms", "send_rows", "solve_batch"])
def test_a_worker_is_killed_in_the_middle_of_a_fit(client, items, local, name):
    with ThreadPoolExecutor(1) as pool:
        model = DaskPathSVC(TREE, random_state=0, client=client)
        fit = pool.submit(model.fit, *delayed_parts(items))
        kill_a_worker_during(client, name)
        fit.result(timeout=300)
    assert_same(model.to_local(), local)


@pytest.mark.parametrize("name", ["solve_family", "family_curved"])
def test_a_worker_is_killed_while_families_are_split(client, items, name, monkeypatch):
    """Rounds go on from the copies of dual variables, and Newton's steps are done again."""
    options = {"negatives": "siblings", "cv": 0, "random_state": 0}
    monkeypatch.setattr(memory, "VALUE_BYTES", 2_000)
    monkeypatch.setattr(path_shards, "MOST_SLOW", 1)
    monkeypatch.setattr(rounds, "CHECKPOINT", 2)
    with ThreadPoolExecutor(1) as pool:
        model = DaskPathSVC(TREE, client=client, **options)
        fit = pool.submit(model.fit, *delayed_parts(items))
        kill_a_worker_during(client, name)
        fit.result(timeout=300)
    local = PathSVC(TREE, **options).fit(*items)
    assert model.duality_gap_ <= 0.01
    assert model.objective_ != local.objective_
    assert local.dual_objective_ <= model.objective_ <= local.objective_ / 0.99


@pytest.mark.parametrize("large", [0, 2**20])
def test_a_worker_is_killed_in_the_middle_of_rounds(client, items, large, monkeypatch):
    """Weights that are part of tasks let Dask repeat rounds; others need the copies."""
    monkeypatch.setattr(dask_engine, "SMALL", large)
    monkeypatch.setattr(rounds, "CHECKPOINT", 2)
    X, y = delayed_parts(items)
    model = DaskHierarchicalSVC(TREE, random_state=0, client=client, tol=0.02, max_iter=300)
    with ThreadPoolExecutor(1) as pool:
        fit = pool.submit(model.fit, X, y)
        wait_for(lambda: calls_so_far(client, "solve_shard") > 40)
        kill_a_worker_during(client, "solve_shard")
        fit.result(timeout=300)
    assert model.duality_gap_ <= 0.02
    local = HierarchicalSVC(TREE, random_state=0, tol=0.01).fit(*items)
    assert local.dual_objective_ <= model.objective_ <= local.objective_ / 0.98


def test_a_worker_is_killed_in_the_middle_of_a_prediction(client, items, local):
    X, y = delayed_parts(items)
    model = DaskPathSVC(TREE, random_state=0, client=client).fit(X, y)

    def slow(part):
        time.sleep(0.5)
        return part

    lazy = model.predict([dask.delayed(slow)(part) for part in X])
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(lazy.compute)
        # One value in memory is the model.
        wait_for(lambda: len(tasks_named(client, "", ("memory",))) > 2)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        labels = found.result(timeout=300)
    assert labels.tolist() == local.predict(items[0]).tolist()


def test_two_fits_at_once(client, items, local):
    other = PathSVC(TREE, random_state=1, negatives="siblings").fit(*items)
    models = [
        DaskPathSVC(TREE, random_state=0, client=client),
        DaskPathSVC(TREE, random_state=1, negatives="siblings", client=client),
    ]
    with ThreadPoolExecutor(2) as pool:
        fits = [pool.submit(model.fit, *delayed_parts(items)) for model in models]
        for fit in fits:
            fit.result(timeout=300)
    assert_same(models[0].to_local(), local)
    assert_same(models[1].to_local(), other)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_threads_of_workers(items, local, n_threads):
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=n_threads, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        model = DaskPathSVC(TREE, random_state=0, client=client).fit(*delayed_parts(items))
        assert_same(model.to_local(), local)


def test_interrupt_leaves_no_tasks(client, items, monkeypatch):
    """The signal comes when all classifiers are asked for, however fast they are."""
    gather = dask_engine.DaskEngine.gather

    def interrupted(engine, handles):
        if any(handle.key.startswith("without_duals") for handle in handles):
            states = "processing", "waiting", "memory"
            wait_for(lambda: tasks_named(client, "solve_batch", states))
            signal.raise_signal(signal.SIGINT)
        return gather(engine, handles)

    monkeypatch.setattr(dask_engine.DaskEngine, "gather", interrupted)
    with pytest.raises(KeyboardInterrupt):
        DaskPathSVC(TREE, random_state=0, client=client).fit(*delayed_parts(items))
    wait_for(lambda: not client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))


def test_a_scheduler_that_goes_away_gives_a_clear_error(items, local, tmp_path):
    """Scheduler and workers by their own commands; a new one does the work afterwards."""
    environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s"}

    def start(*command):
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + command[0], *command[1:]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=tmp_path,
            env=environment,
        )

    def cluster(name):
        place = tmp_path / name
        scheduler = start(
            "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(place)
        )
        wait_for(place.exists)
        worker = start(
            "worker",
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            "--scheduler-file",
            str(place),
        )
        return place, scheduler, worker

    X = items[0]
    before = X.data.copy()
    place, scheduler, worker = cluster("first.json")
    try:
        with dask.config.set({"distributed.comm.timeouts.connect": "3s"}):
            client = distributed.Client(scheduler_file=str(place))
            with ThreadPoolExecutor(1) as pool:
                model = DaskPathSVC(TREE, random_state=0, client=client)
                fit = pool.submit(model.fit, *delayed_parts(items))
                wait_for(lambda: tasks_named(client, "solve_batch", ("processing",)))
                scheduler.kill()
                with pytest.raises(ClusterError, match="connect a new client and call again"):
                    fit.result(timeout=120)
            client.close(timeout=2)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    np.testing.assert_array_equal(X.data, before)
    place, scheduler, worker = cluster("second.json")
    try:
        with distributed.Client(scheduler_file=str(place)) as client:
            model.set_params(client=client).fit(*delayed_parts(items))
        assert_same(model.to_local(), local)
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()

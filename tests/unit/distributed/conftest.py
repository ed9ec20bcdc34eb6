"""A small cluster with workers in processes of their own, one for all tests."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        memory_limit="1GB",
        dashboard_address=":0",
    ) as made:
        yield made


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster) as made:
        yield made

"""Connect to a cluster, or start one on this machine."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from taxonomist.errors import ClusterError, import_extra

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distributed import Client

SECONDS = 20
"""How long to wait for a scheduler."""


@contextmanager
def connected(address: str | None = None, n_workers: int = 1) -> Iterator[Client]:
    """Yield a client, and close it afterwards.

    Parameters
    ----------
    address
        The address of a scheduler. If None, a cluster is started, and stopped afterwards.
    n_workers
        The number of processes of a cluster on this machine, with one thread each.
    """
    distributed = import_extra("distributed", "dask")
    if address is None:
        with (
            distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(address, timeout=SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"There is no scheduler at {address} ({error}). Start one with: dask scheduler"
        ) from error
    with client:
        yield client

"""``DaskEngine``: rounds of tasks on a Dask cluster, with clear errors when it is lost."""

from __future__ import annotations

import warnings
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import uuid4
from weakref import WeakSet

from taxonomist.distributed.engine import Capacity
from taxonomist.errors import ClusterError, import_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from distributed import Client, Future

    from taxonomist.distributed.engine import Value

SMALL = 2**20
"""Values for one worker of up to so many bytes are part of a task, which any worker can repeat."""
REPEATED = 2**27
"""Values for all workers of up to so many bytes are part of a task, too. Larger ones are copied to
all workers; they survive as long as one of these does."""

PATIENCE = 60
"""Seconds to wait for the first worker."""


class DaskEngine:
    """Runs functions as tasks of a Dask client.

    Parameters
    ----------
    client
        The client; None uses the default client.
    """

    def __init__(self, client: Client | None = None) -> None:
        self.client = find_client(client)
        self._token = uuid4().hex[:12]
        self._number = 0
        # Futures that nobody holds any more are released already.
        self._made: WeakSet[Future] = WeakSet()
        # Dask cannot make scattered values again, and lost tasks may need them once more.
        self._scattered: list[Future] = []

    def capacity(self) -> Capacity:
        """Return what the workers have at the moment; wait for the first one."""
        with _clear_errors(self.client):
            try:
                self.client.wait_for_workers(1, timeout=PATIENCE)
            except TimeoutError as error:
                raise ClusterError(
                    f"The cluster had no worker for {PATIENCE} seconds. Start some workers, such "
                    "as with dask worker tcp://scheduler:8786."
                ) from error
            workers = list(self.client.scheduler_info(n_workers=-1)["workers"].values())
        limits = [worker["memory_limit"] or float("inf") for worker in workers]
        n_threads = sum(worker["nthreads"] for worker in workers)
        return Capacity(len(workers), n_threads, min(limits))

    def scatter(self, value: object, is_for_all: bool = True) -> Future:
        """Put a value on all workers, or on one of them."""
        from dask.sizeof import sizeof

        with _clear_errors(self.client):
            if sizeof(value) <= (REPEATED if is_for_all else SMALL):
                return self.map(_same, [value])[0]
            # A list would be taken for several values.
            (future,) = self.client.scatter([value], broadcast=is_for_all, hash=False)
            if is_for_all:
                self._scattered.append(future)
            return self._kept(future)

    def map(
        self,
        function: Callable[..., object],
        *columns: Sequence[object],
        shared: tuple[object, ...] = (),
    ) -> list[Future]:
        """Call a function for each row of some columns; see ``Engine``."""
        self._number += 1
        name = f"{function.__name__.strip('_')}-{self._token}-{self._number}"
        with _clear_errors(self.client), warnings.catch_warnings():
            # Masks of many items make a graph large, and must be part of it to survive.
            warnings.filterwarnings("ignore", "Sending large graph")
            return [
                self._kept(
                    self.client.submit(function, *row, *shared, key=f"{name}-{number}", pure=False)
                )
                for number, row in enumerate(zip(*columns, strict=True))
            ]

    def compute(self, delayed: Sequence[object]) -> list[Future]:
        """Compute delayed values, and keep them on the workers."""
        with _clear_errors(self.client):
            return [self._kept(future) for future in self.client.compute(list(delayed))]

    def gather(self, handles: Sequence[Future]) -> list[Value]:
        """Wait for values and return them."""
        with _clear_errors(self.client):
            return list(self.client.gather(list(handles)))

    def finished(self, handles: Sequence[Future]) -> Iterator[Future]:
        """Yield the handles as their values are there, or have failed."""
        from distributed import as_completed

        with _clear_errors(self.client):
            yield from as_completed(list(handles))

    def is_held(self, handle: Future) -> bool:
        """Return whether a value is there, and not lost with a worker."""
        with _clear_errors(self.client):
            return handle.status == "finished" and bool(self.client.who_has(handle)[handle.key])

    def _kept(self, future: Future) -> Future:
        self._made.add(future)
        return future

    def __enter__(self) -> DaskEngine:
        return self

    def __exit__(self, *error: object) -> None:
        """Release all futures, whose tasks are then forgotten, done or not.

        They are not cancelled: a scheduler that cancels a task on which a released one depends
        fails, and drops the client with all that it has.
        """
        for future in list(self._made):
            future.release()
        self._scattered.clear()


def find_client(client: Client | None) -> Client:
    """Return the given client, or the default client; raise if there is none."""
    if client is not None:
        return client
    distributed = import_extra("distributed", "dask")
    try:
        return distributed.default_client()
    except ValueError as error:
        raise ClusterError(
            "There is no Dask client. Make one first, such as "
            "distributed.Client('tcp://scheduler:8786'), or pass client=."
        ) from error


@contextmanager
def _clear_errors(client: Client) -> Iterator[None]:
    """Turn the errors of a lost cluster into a ``ClusterError``."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"Workers died several times at the same task: {error} Mostly this means that they "
            "need more memory. Use more workers, or workers with a larger memory_limit."
        ) from error
    except (CancelledError, FutureCancelledError, CommClosedError, TimeoutError) as error:
        address = getattr(client.scheduler, "address", "?") if client.scheduler else "?"
        raise ClusterError(
            f"The connection to the scheduler at {address} was lost, or its tasks were cancelled "
            f"({error}). The input is unchanged: connect a new client and call again."
        ) from error


def _same(value: object) -> object:
    """Return the value."""
    return value

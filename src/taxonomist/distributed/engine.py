"""What is asked of an engine: to scatter, map, reduce and gather. ``LocalEngine`` does it in place.

Work is done in rounds of ordinary tasks. A task may run twice, or on another worker than planned,
so it depends on its arguments only. No task waits for another one that runs at the same time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distributed import Future

    Handle: TypeAlias = Future
    """A value that an engine holds, maybe on another machine, and maybe not computed yet."""
    Value: TypeAlias = Future
    """Any result of a task."""

FAN_IN = 8
"""How many values a task of a reduction takes."""


class Capacity(NamedTuple):
    """What the workers of an engine have.

    Attributes
    ----------
    n_workers, n_threads
        The numbers of workers, and of threads of all workers.
    memory
        The bytes of the smallest worker; infinite if there is no limit.
    """

    n_workers: int
    n_threads: int
    memory: float


class Engine(Protocol):
    """Runs functions on values that may be on other machines."""

    def capacity(self) -> Capacity:
        """Return what the workers have at the moment."""

    def scatter(self, value: object, is_for_all: bool = True) -> Handle:
        """Put a value on all workers, for as long as the engine lives, or on one of them."""

    def map(
        self,
        function: Callable[..., object],
        *columns: Sequence[object],
        shared: tuple[object, ...] = (),
    ) -> list[Handle]:
        """Call a function for each row of some columns.

        Parameters
        ----------
        function
            A function of the modules of this package, without side effects.
        *columns
            The arguments of all calls. Handles, and lists of handles, stand for their values.
        shared
            Arguments behind those of the columns that are the same in all calls.
        """

    def gather(self, handles: Sequence[Handle]) -> list[Value]:
        """Wait for values and return them."""

    def is_held(self, handle: Handle) -> bool:
        """Return whether a value is there, and not lost with a worker."""


def reduce(
    engine: Engine, function: Callable[[list[Value]], Value], handles: Sequence[Handle]
) -> Handle:
    """Combine values in a tree, so that no worker gets more than a few of them.

    Parameters
    ----------
    engine
        The engine.
    function
        Combines a list of neighbouring values, in their order.
    handles
        The values, at least one.
    """
    handles = list(handles)
    while len(handles) > 1:
        lists = [handles[k : k + FAN_IN] for k in range(0, len(handles), FAN_IN)]
        handles = engine.map(function, lists)
    return handles[0]


class LocalEngine:
    """Calls functions at once, in this process."""

    def capacity(self) -> Capacity:
        """Return one worker without a limit of memory."""
        return Capacity(1, 1, float("inf"))

    def scatter(self, value: object, is_for_all: bool = True) -> Handle:  # noqa: ARG002
        """Return a handle of a value."""
        return _Held(value)

    def map(
        self,
        function: Callable[..., object],
        *columns: Sequence[object],
        shared: tuple[object, ...] = (),
    ) -> list[Handle]:
        """Call a function for each row of some columns; see ``Engine``."""
        rows = zip(*columns, strict=True)
        return [_Held(function(*map(_value, row), *map(_value, shared))) for row in rows]

    def gather(self, handles: Sequence[Handle]) -> list[Value]:
        """Return the values."""
        return [_value(handle) for handle in handles]

    def is_held(self, handle: Handle) -> bool:  # noqa: ARG002
        """Return True: what is in this process is never lost."""
        return True


class _Held(NamedTuple):
    """A value that was computed."""

    value: object


def _value(given: object) -> object:
    """Return the value of a handle, or the values of a list of handles."""
    if isinstance(given, list):
        return [_value(part) for part in given]
    return given.value if isinstance(given, _Held) else given

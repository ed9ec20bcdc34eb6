"""The one decorator that compiles."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import update_wrapper
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Function: TypeAlias = "Callable[..., Any]"
F = TypeVar("F", bound="Function")

_lock = RLock()
_spares = True


class Loop:
    """A function that is compiled when it is first called, or when a loop that calls it is.

    numba is imported only then: many programs import loops that they never call.

    Attributes
    ----------
    py_func
        The function, uncompiled.
    n_spared
        The work that callers did without the function; see ``can_spare``.
    """

    def __init__(
        self,
        function: Function,
        rules: dict[str, object],
        is_inner: bool = False,
        is_copied: bool = False,
    ) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._rules, self._is_inner, self._is_copied = rules, is_inner, is_copied
        self._dispatcher: Function | None = None
        self.n_spared = 0

    def __call__(self, *arguments: object) -> object:
        """Call the compiled function."""
        return (self._dispatcher or self.dispatcher)(*arguments)

    @property
    def dispatcher(self) -> Any:
        """The function as numba knows it."""
        with _lock:
            if self._dispatcher is None:
                from taxonomist.compiled.dispatchers import make_dispatcher

                self._dispatcher = make_dispatcher(self.py_func, self._rules, self._is_inner)
        return self._dispatcher

    @property
    def targetoptions(self) -> dict[str, str]:
        """Whether callers copy the function's source; numba asks for it."""
        return {"inline": "always" if self._is_copied else "never"}

    @property
    def is_ready(self) -> bool:
        """Whether the function has been called, so that numba is there."""
        return self._dispatcher is not None

    @property
    def is_compiled(self) -> bool:
        """Whether the function was called or is in the cache on disk."""
        if self.is_ready:
            return True
        from taxonomist.compiled.cache import is_cached

        return is_cached(self.py_func)

    @property
    def signatures(self) -> list[object]:
        """The types of arguments for which the function was compiled."""
        return list(self.dispatcher.signatures)

    @property
    def _numba_type_(self) -> object:
        """The type by which numba knows the function in loops that call it."""
        found: object = self.dispatcher._numba_type_
        return found


def can_spare(loop: Function, n_steps: int, most: int) -> bool:
    """Return whether to do a little work without a loop, if the result is the same.

    Before the first call of a loop, numba must be imported, and the loop read from the cache or
    compiled, which takes longer than a little work.

    Parameters
    ----------
    loop
        The loop.
    n_steps
        The work to be done, in any unit.
    most
        The largest sum of such work. Once there is more, or after the loop was called, callers use
        the loop.
    """
    if not _spares or not isinstance(loop, Loop):
        return False
    if loop.is_ready or loop.n_spared + n_steps > most:
        return False
    loop.n_spared += n_steps
    return True


@contextmanager
def sparing_nothing() -> Iterator[None]:
    """Let a block of code use loops even for a little work, so that they are compiled."""
    global _spares
    _spares = False
    try:
        yield
    finally:
        _spares = True


def spares() -> bool:
    """Return whether a little work is done without what is worth its time for much work only."""
    return _spares


def is_compiled(loop: Function) -> bool:
    """Return whether a loop can be called without compiling it first."""
    return not isinstance(loop, Loop) or loop.is_compiled


def compiled(
    *relaxed: str,
    inline: bool = False,
    inner: bool = False,
    copied: bool = False,
    allocates: bool = False,
) -> Callable[[F], F]:
    """Return a decorator that compiles a loop lazily, caches it, and releases the interpreter lock.

    Parameters
    ----------
    *relaxed
        Floating-point rules that this loop may break, by LLVM's names (``"reassoc"``,
        ``"contract"``, ...). Never all of them: ``nnan`` and ``ninf`` make ``isnan`` false.
    inline
        Whether callers include the loop's code instead of calling it. A call passes each array as
        seven words, which can take longer than a short loop itself.
    inner
        Whether other loops call the loop, and Python does not, except in tests. An entry from
        Python takes long to compile if there are many arrays.
    copied
        Whether callers copy the loop's source, under their own floating-point rules, so that it is
        never compiled on its own. This saves time for a loop with few callers and many arrays, and
        takes more time for one with many callers. It must not test whether an argument is None.
    allocates
        Whether the loop, or one that it copies, makes arrays. Such a loop counts references to
        every array of every call in it, which takes most of the time of short inner loops. Others
        count none, and cannot return arrays.
    """
    rules: dict[str, object] = {
        "error_model": "numpy",
        "forceinline": inline,
        "fastmath": set(relaxed) or False,
        "_nrt": allocates,
    }

    def decorate(function: F) -> F:
        if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
            return function
        return cast("F", Loop(function, rules, inline or inner, copied))

    return decorate

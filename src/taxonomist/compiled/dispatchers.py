"""Loops as numba knows them; this module and ``cache`` are the only ones that import numba."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
from numba.core import event

from taxonomist.compiled.cache import InlineCache, LoopCache, cache_folder
from taxonomist.compiled.compiling import watch

if TYPE_CHECKING:
    from taxonomist.compiled.jit import Function

LOOPS_ONLY: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class _Listener(event.Listener):
    """Tells the watch when numba compiles."""

    def on_start(self, event: event.Event) -> None:  # noqa: ARG002 (numba calls it)
        watch.start()

    def on_end(self, event: event.Event) -> None:  # noqa: ARG002 (numba calls it)
        watch.end()


event.register("numba:compile", _Listener())  # type: ignore[no-untyped-call]


def make_dispatcher(function: Function, rules: dict[str, Any], is_inner: bool) -> Any:
    """Return a function that numba compiles when it is first called.

    Parameters
    ----------
    function
        The function.
    rules
        Options of ``numba.njit``.
    is_inner
        Whether loops that call the function need no entry from Python.
    """
    loop = _cached(numba.njit(nogil=True, **rules)(function), LoopCache)
    if is_inner:
        # Code that only loops call needs no entry from Python, which takes long to compile.
        inlined = _cached(numba.njit(**rules, **LOOPS_ONLY)(function), InlineCache)
        loop.get_call_template = inlined.get_call_template
        loop.get_overload = inlined.get_overload
    return loop


def _cached(loop: Any, kind: type[LoopCache]) -> Any:
    if cache_folder() is not None:
        loop._cache = kind(loop.py_func)
    return loop

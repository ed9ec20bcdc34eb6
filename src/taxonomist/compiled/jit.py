"""The one decorator that compiles."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba

from taxonomist.compiled import compiling as compiling
from taxonomist.compiled.cache import InlineCache, LoopCache, cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def compiled(*relaxed: str, inline: bool = False) -> Callable[[F], F]:
    """Return a decorator that compiles a loop lazily, caches it, and releases the interpreter lock.

    Parameters
    ----------
    *relaxed
        Floating-point rules that this loop may break, by LLVM's names (``"reassoc"``,
        ``"contract"``, ...). Never all of them: ``nnan`` and ``ninf`` make ``isnan`` false.
    inline
        Whether callers include the loop's code instead of calling it. A call passes each array as
        seven words, which can take longer than a short loop itself.
    """
    rules: dict[str, Any] = {
        "error_model": "numpy",
        "forceinline": inline,
        "fastmath": set(relaxed) or False,
    }
    loops_only: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

    def decorate(function: F) -> F:
        if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
            return function
        loop = _cached(numba.njit(nogil=True, **rules)(function), LoopCache)
        if inline:
            # Code that only loops include needs no entry from Python, which takes long to compile.
            inlined = _cached(numba.njit(**rules, **loops_only)(function), InlineCache)
            loop.get_call_template = inlined.get_call_template
            loop.get_overload = inlined.get_overload
        return cast("F", loop)

    return decorate


def _cached(loop: Any, kind: type[LoopCache]) -> Any:
    if cache_folder() is not None:
        loop._cache = kind(loop.py_func)
    return loop

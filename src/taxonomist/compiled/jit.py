"""The one decorator that compiles."""

from __future__ import annotations

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
        loop: Any = numba.njit(nogil=True, **rules)(function)
        is_cached = cache_folder() is not None
        if is_cached:
            loop._cache = LoopCache(function)
        if inline:
            # Code that only loops include needs no entry from Python, which takes long to compile.
            inlined: Any = numba.njit(**rules, **loops_only)(function)
            if is_cached:
                inlined._cache = InlineCache(function)
            loop.get_call_template = inlined.get_call_template
            loop.get_overload = inlined.get_overload
        return cast("F", loop)

    return decorate

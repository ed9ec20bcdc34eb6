"""The one decorator that compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba

from taxonomist.compiled.cache import LoopCache, cache_folder

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

    def decorate(function: F) -> F:
        compile_it = numba.njit(
            nogil=True,
            error_model="numpy",
            forceinline=inline,
            fastmath=set(relaxed) or False,
        )
        loop: Any = compile_it(function)
        if cache_folder() is not None:
            loop._cache = LoopCache(function)
        return cast("F", loop)

    return decorate

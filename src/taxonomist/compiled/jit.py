"""The one decorator that compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba

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
        Whether loops that call this one take it in. A call passes each array as seven words, which
        for the tuples of arrays that loops share takes longer than many a body.
    """

    def decorate(function: F) -> F:
        compile_it = numba.njit(
            cache=True,
            nogil=True,
            error_model="numpy",
            forceinline=inline,
            fastmath=set(relaxed) or False,
        )
        return cast("F", compile_it(function))

    return decorate

"""Limit how many requests a caller may make."""

from __future__ import annotations

from math import ceil
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["RateLimit"]

MOST_CALLERS = 10_000
"""Callers to remember; beyond this, those that have waited longest are forgotten."""


class RateLimit:
    """A bucket of requests for each caller, which fills at a constant rate.

    Parameters
    ----------
    rate
        Requests per second; 0 for no limit.
    burst
        Size of the bucket.
    clock
        Returns the time in seconds.
    """

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = monotonic) -> None:
        self._rate = rate
        self._burst = max(1, burst)
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, caller: str) -> int:
        """Count a request; return 0 if it is within the limit, or the seconds to wait."""
        if not self._rate:
            return 0
        time = self._clock()
        level, since = self._buckets.pop(caller, (float(self._burst), time))
        level = min(float(self._burst), level + (time - since) * self._rate)
        wait = 0
        if level >= 1:
            level -= 1
        else:
            wait = max(1, ceil((1 - level) / self._rate))
        self._buckets[caller] = (level, time)
        if len(self._buckets) > MOST_CALLERS:
            del self._buckets[next(iter(self._buckets))]
        return wait

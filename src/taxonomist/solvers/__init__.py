"""Optimisers: arrays in, certificate out; one file per algorithm, the problem stated at its top."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from taxonomist.solvers import greedy, sequential

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist.solvers.solution import Solution

SOLVERS: dict[str, Callable[..., Solution]] = {
    "auto": sequential.solve,
    "sequential": sequential.solve,
    "greedy": partial(greedy.solve, variant="greedy"),
    "greedy_joint": partial(greedy.solve, variant="greedy_joint"),
    "full": partial(greedy.solve, variant="full"),
    "hcc03": partial(greedy.solve, variant="hcc03"),
}
"""Solvers of the joint problem by name."""

"""What models keep only to start the next fit from, and what files have in its place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


def without_start(model: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a model without the dual variables of its training items.

    These can be larger than the weights, and predictions do not need them. In their place are those
    of no items, from which a fit starts as if it were the first. A model with ``warm_start=True``
    keeps its own.

    Parameters
    ----------
    model
        Any object.
    state
        Its attributes.

    Returns
    -------
    dict of str to Any
        New where something is left out.
    """
    from taxonomist.models.scoring import AttributeModel

    if not isinstance(model, AttributeModel):
        return state
    ways: dict[str, Callable[[Any], Any]] = {"_solution": _without_duals}
    if not getattr(model, "warm_start", False):
        ways |= {"_duals": _no_duals, "_alpha": _no_rows, "_start": _no_items}
    return {name: ways[name](value) if name in ways else value for name, value in state.items()}


def _no_duals(_: Any) -> Any:
    """Return the dual variables of no items."""
    from taxonomist.solvers.duals import no_duals

    return no_duals(0)


def _without_duals(solution: Any) -> Any:
    """Return a solution with its weights only: training goes on from these."""
    return replace(solution, duals=_no_duals(solution.duals))


def _no_rows(alpha: Any) -> Any:
    """Return the dual variables of no items, of coupled binary problems."""
    return alpha[:0]


def _no_items(start: Any) -> Any:
    """Return the labellings of no items."""
    return start.of(np.empty(0, dtype=np.intp))

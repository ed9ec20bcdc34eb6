"""Helpers shared by the figures: an empty figure, and results by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from taxonomist.errors import LabelError, ParameterError, closest, import_extra

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from taxonomist._typing import Floats

Result = TypeVar("Result")


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure without a window, its size in inches."""
    module = import_extra("matplotlib.figure", "plot")
    figure: Figure = module.Figure(figsize=(width, height), layout="constrained")
    return figure


def by_name(results: Result | Mapping[str, Result], name: str) -> dict[str, Result]:
    """Return results by model name; a single result gets the given name."""
    found = dict(results) if isinstance(results, Mapping) else {name: results}
    if not found:
        raise LabelError("There is nothing to draw; pass at least one result.")
    return found


def check_measure(measure: str | None, known: Iterable[str]) -> str:
    """Return the measure, by default the first known one; raise if it is unknown."""
    names = list(known)
    if measure is None:
        return names[0]
    if measure not in names:
        hint = closest(measure, names) or f" Choose one of {', '.join(names)}."
        raise ParameterError(f"{measure!r} was not measured.{hint}")
    return measure


def draw_band(axes: Axes, x: ArrayLike, mean: Floats, std: Floats, label: str) -> None:
    """Draw a line with a band of one standard deviation on either side."""
    (line,) = axes.plot(x, mean, marker="o", label=label)
    axes.fill_between(x, mean - std, mean + std, alpha=0.2, color=line.get_color(), linewidth=0)

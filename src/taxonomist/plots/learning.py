"""Measures over the number of training items, and over C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.plots.axes import by_name, check_measure, draw_band, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from taxonomist.evaluation import CrossValidation, LearningCurve


def learning_curves(
    curves: LearningCurve | Mapping[str, LearningCurve], measure: str | None = None
) -> Figure:
    """Draw a measure over the number of training items per category.

    Parameters
    ----------
    curves
        A learning curve, or several by model.
    measure
        The measure to draw; by default the first.

    Returns
    -------
    matplotlib.figure.Figure
        One line per model with a band of one standard deviation over repeats, on a log axis.
    """
    named = by_name(curves, "model")
    measure = check_measure(measure, next(iter(named.values())).values)
    figure = new_figure(6, 4)
    axes = figure.subplots()
    for name, curve in named.items():
        order = np.argsort(curve.sizes)
        sizes = np.asarray(curve.sizes)[order]
        draw_band(axes, sizes, curve.mean[measure][order], curve.std[measure][order], name)
    every = sorted({size for curve in named.values() for size in curve.sizes})
    axes.set_xscale("log")
    axes.set_xticks(every, [f"{size:,}" for size in every])
    axes.minorticks_off()
    axes.set_xlabel("training items per category")
    _finish(axes, measure, len(named))
    return figure


def c_sweep(
    results: Mapping[float, CrossValidation] | Mapping[str, Mapping[float, CrossValidation]],
    measure: str | None = None,
) -> Figure:
    """Draw a measure over the parameter C.

    Parameters
    ----------
    results
        A cross-validation for each C, or several such mappings by model.
    measure
        The measure to draw; by default the first.

    Returns
    -------
    matplotlib.figure.Figure
        One line per model with a band of one standard deviation over folds, on a log axis.
    """
    is_named = all(isinstance(entry, Mapping) for entry in results.values())
    named: dict[str, Any] = by_name(results if is_named else {"model": results}, "model")
    first = next(iter(next(iter(named.values())).values()))
    measure = check_measure(measure, first.values)
    figure = new_figure(6, 4)
    axes = figure.subplots()
    for name, sweep in named.items():
        steps = sorted(sweep)
        mean, std = (
            np.array([getattr(sweep[C], part)[measure] for C in steps]) for part in ("mean", "std")
        )
        draw_band(axes, steps, mean, std, name)
    axes.set_xscale("log")
    axes.set_xlabel("C")
    _finish(axes, measure, len(named))
    return figure


def _finish(axes: Axes, measure: str, n_models: int) -> None:
    """Add the label, the grid and, for several models, a legend."""
    axes.set_ylabel(measure.replace("_", " "))
    axes.grid(alpha=0.3)
    if n_models > 1:
        axes.legend()

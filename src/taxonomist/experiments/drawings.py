"""Figures of experiments: measures over a parameter, and optimisation histories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.plots.axes import draw_band, new_figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from taxonomist.experiments.declarations import Results


def curves(
    results: Results,
    *,
    lines: Mapping[str, Sequence[str]],
    x: Sequence[float],
    measures: Mapping[str, str],
    label: str,
) -> Figure:
    """Draw measures over a parameter on a logarithmic axis.

    Parameters
    ----------
    results
        The results.
    lines
        For each line, the names of its cells in the order of ``x``.
    x
        Values of the parameter.
    measures
        The measures to draw, side by side, with their names.
    label
        Name of the parameter.

    Returns
    -------
    matplotlib.figure.Figure
        One plot per measure; bands are one standard deviation over folds or repeats.
    """
    figure = new_figure(5.5 * len(measures), 4)
    for axes, (measure, shown) in zip(
        figure.subplots(1, len(measures), squeeze=False)[0], measures.items(), strict=True
    ):
        for name, cells in lines.items():
            values = [np.asarray(results[cell].values[measure]) for cell in cells]
            means = np.array([value.mean() for value in values])
            draw_band(axes, np.asarray(x), means, np.array([v.std() for v in values]), name)
        axes.set_xscale("log")
        axes.set_xticks(x, [f"{value:g}" for value in x])
        axes.minorticks_off()
        axes.set_xlabel(label)
        axes.set_ylabel(shown)
        axes.grid(alpha=0.3)
        axes.legend()
    return figure


def histories(
    results: Results, *, cells: Mapping[str, str], measures: Mapping[str, str], label: str
) -> Figure:
    """Draw what was recorded during a fit, one plot above the other.

    Parameters
    ----------
    results
        The results.
    cells
        For each line, the name of its cell.
    measures
        The measures to draw, with their names.
    label
        Name of the horizontal axis, which shows the measure ``"at"`` if a cell has it, and
        otherwise 1, 2, 3, ...

    Returns
    -------
    matplotlib.figure.Figure
        One plot per measure.
    """
    figure = new_figure(6, 3 * len(measures))
    rows = figure.subplots(len(measures), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (measure, shown) in zip(rows, measures.items(), strict=True):
        for name, cell in cells.items():
            values = results[cell].values
            at = values.get("at", range(1, len(values[measure]) + 1))
            axes.plot(list(at), values[measure], marker=".", label=name)
        axes.set_ylabel(shown)
        axes.grid(alpha=0.3)
    rows[0].legend()
    rows[-1].set_xlabel(label)
    return figure


def bars(
    results: Results,
    *,
    groups: Sequence[str],
    kinds: Mapping[str, Sequence[str]],
    measures: Mapping[str, str],
) -> Figure:
    """Draw measures as groups of bars, one plot above the other.

    Parameters
    ----------
    results
        The results.
    groups
        Names of the groups along the axis.
    kinds
        For each bar of a group, the names of its cells in the order of the groups.
    measures
        The measures to draw, with their names.

    Returns
    -------
    matplotlib.figure.Figure
        One plot per measure; whiskers are one standard deviation over folds or repeats.
    """
    figure = new_figure(max(5.0, 1.1 * len(groups)), 2.6 * len(measures))
    rows = figure.subplots(len(measures), 1, sharex=True, squeeze=False)[:, 0]
    width = 0.8 / len(kinds)
    for axes, (measure, shown) in zip(rows, measures.items(), strict=True):
        for number, (name, cells) in enumerate(kinds.items()):
            values = [np.asarray(results[cell].values[measure]) for cell in cells]
            at = np.arange(len(groups)) + (number - (len(kinds) - 1) / 2) * width
            means = [value.mean() for value in values]
            whiskers = [value.std() for value in values]
            axes.bar(at, means, width, yerr=whiskers, label=name, error_kw={"linewidth": 0.8})
        axes.set_ylabel(shown)
        axes.grid(axis="y", alpha=0.3)
    handles, names = rows[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(kinds))
    rows[-1].set_xticks(range(len(groups)), groups)
    return figure


def binned(
    results: Results, *, cells: Mapping[str, str], width: int, most: int, measure: str, over: str
) -> Figure:
    """Draw the means of values in bins of another measure, as lines.

    Parameters
    ----------
    results
        The results; the values of ``measure`` and ``over`` belong together.
    cells
        For each line, the name of its cell.
    width
        Width of a bin. The first bin ends at ``width`` (inclusive), the second at twice that, ...
    most
        End of the last bin.
    measure, over
        The measure to draw, and the measure that is binned.

    Returns
    -------
    matplotlib.figure.Figure
        One plot; empty bins are left out.
    """
    figure = new_figure(6, 4)
    axes = figure.subplots()
    ends = np.arange(width, most + 1, width)
    for name, cell in cells.items():
        values, at = (np.asarray(results[cell].values[part]) for part in (measure, over))
        inside = [values[(at > end - width) & (at <= end)] for end in ends]
        used = [number for number, part in enumerate(inside) if part.size]
        axes.plot(ends[used], [inside[n].mean() for n in used], marker="o", label=name)
    axes.set_xticks(ends)
    axes.set_xlabel(over)
    axes.set_ylabel(measure)
    axes.grid(alpha=0.3)
    axes.legend()
    return figure

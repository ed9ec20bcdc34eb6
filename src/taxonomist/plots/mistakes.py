"""Where predictions go wrong: per level, and by distance in the taxonomy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.plots.axes import by_name, check_measure, new_figure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from taxonomist.evaluation import Assessment

LEVEL_MEASURES = ("f1", "precision", "recall")


def per_level(
    assessments: Assessment | Mapping[str, Assessment], measure: str | None = None
) -> Figure:
    """Draw a measure for each level of the taxonomy.

    Parameters
    ----------
    assessments
        The result of ``taxonomist.evaluation.assess``, or several by model.
    measure
        ``"f1"`` (the default, with bootstrap intervals), ``"precision"`` or ``"recall"``.

    Returns
    -------
    matplotlib.figure.Figure
        One group of bars per level, with one bar per model.
    """
    named = by_name(assessments, "model")
    measure = check_measure(measure, LEVEL_MEASURES)
    figure = new_figure(6, 4)
    axes = figure.subplots()
    width = 0.8 / len(named)
    for number, (name, assessment) in enumerate(named.items()):
        at = np.array([each.level for each in assessment.levels])
        if measure == "f1":
            intervals = [each.f1 for each in assessment.levels]
            heights = np.array([each.estimate for each in intervals])
            ends = np.array([(each.low, each.high) for each in intervals]).reshape(-1, 2)
            errors = np.abs(ends.T - heights)
        else:
            heights = np.array([getattr(each, measure) for each in assessment.levels])
            errors = None
        offset = (number - (len(named) - 1) / 2) * width
        axes.bar(at + offset, heights, width, yerr=errors, capsize=3, label=name)
    levels = sorted({each.level for one in named.values() for each in one.levels})
    axes.set_xticks(levels, [f"level {level}" for level in levels])
    axes.set_ylim(0, 1)
    axes.set_ylabel("F1" if measure == "f1" else measure)
    if len(named) > 1:
        axes.legend()
    return figure


def confusion_by_distance(assessments: Assessment | Mapping[str, Assessment]) -> Figure:
    """Draw how far predictions are from the truth.

    Parameters
    ----------
    assessments
        The result of ``taxonomist.evaluation.assess``, or several by model.

    Returns
    -------
    matplotlib.figure.Figure
        The fraction of items by the number of nodes in which truth and prediction differ; in a
        tree with one label per item, that is the length of the path between them.
    """
    named = by_name(assessments, "model")
    figure = new_figure(6, 4)
    axes = figure.subplots()
    width = 0.8 / len(named)
    distances = sorted({distance for one in named.values() for distance in one.distances})
    for number, (name, assessment) in enumerate(named.items()):
        shares = [assessment.distances.get(d, 0) / assessment.n_items for d in distances]
        offset = (number - (len(named) - 1) / 2) * width
        axes.bar(np.arange(len(distances)) + offset, shares, width, label=name)
    axes.set_xticks(range(len(distances)), [str(distance) for distance in distances])
    axes.set_xlabel("nodes in which truth and prediction differ")
    axes.set_ylabel("share of items")
    axes.yaxis.set_major_formatter("{x:.0%}")
    if len(named) > 1:
        axes.legend()
    return figure

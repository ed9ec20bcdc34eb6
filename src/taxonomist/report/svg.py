"""Reliability diagrams and learning curves as inline SVG."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.report.html import Html, tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taxonomist._typing import Floats
    from taxonomist.evaluation.learning_curve import LearningCurve
    from taxonomist.metrics.reliability import LevelReliability


class _Frame(NamedTuple):
    """Layout of a chart: its size and margins in pixels, and the ranges of both axes."""

    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    left: float = 54
    right: float = 10
    top: float = 10
    bottom: float = 36

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the pixel coordinates of a data point."""
        (x0, x1), (y0, y1) = self.x, self.y
        across = (x - x0) / (x1 - x0) * (self.width - self.left - self.right)
        up = (y - y0) / (y1 - y0) * (self.height - self.top - self.bottom)
        return round(self.left + across, 1), round(self.height - self.bottom - up, 1)

    def line(self, xs: Sequence[float] | Floats, ys: Sequence[float] | Floats) -> str:
        """Return the pixel coordinates of a line, as the SVG attribute ``points``."""
        return " ".join("{},{}".format(*self.at(x, y)) for x, y in zip(xs, ys, strict=True))


def reliability_chart(level: LevelReliability) -> Html:
    """Return a chart of the fraction of correct predictions over the predicted probability.

    Parameters
    ----------
    level
        The bins of a level.

    Returns
    -------
    Html
        A square chart with the diagonal; the area of a dot is proportional to its number of items.
    """
    frame = _Frame(270, 260, (0, 1), (0, 1))
    ticks = [0, 0.25, 0.5, 0.75, 1]
    parts = [_axes(frame, {t: f"{t:g}" for t in ticks}, {t: f"{t:g}" for t in ticks})]
    parts.append(tag("polyline", points=frame.line([0, 1], [0, 1]), class_="ideal"))
    line = frame.line([b.probability for b in level.bins], [b.share for b in level.bins])
    parts.append(tag("polyline", points=line, class_="line s0"))
    for part in level.bins:
        cx, cy = frame.at(part.probability, part.share)
        radius = 2 + 9 * math.sqrt(part.weight / level.weight)
        text = (
            f"{part.weight:,.0f} items: predicted {part.probability:.3f}, correct {part.share:.3f}"
        )
        circle = {"cx": cx, "cy": cy, "r": round(radius, 1), "class_": "dot s0"}
        parts.append(tag("circle", tag("title", text), **circle))
    parts.append(_titles(frame, "predicted probability", "fraction correct"))
    error = f"calibration error {level.error:.3f}"
    chart = _chart(frame, parts, f"Reliability of level {level.level}: {error}.")
    caption = tag("figcaption", tag("b", f"Level {level.level}"), f" · {error}")
    return tag("figure", chart, caption)


def curve_chart(curves: Mapping[str, LearningCurve], measure: str) -> Html:
    """Return a chart of a measure over the number of training items per category.

    Parameters
    ----------
    curves
        Learning curves by model.
    measure
        The measure to draw.

    Returns
    -------
    Html
        A line per model with a band of one standard deviation; the axis is logarithmic.
    """
    means = {name: curve.mean[measure] for name, curve in curves.items()}
    # A single repeat has no standard deviation, and so no band.
    spreads = {name: np.nan_to_num(curve.std[measure]) for name, curve in curves.items()}
    low = min(float(np.min(means[name] - spreads[name])) for name in curves)
    high = max(float(np.max(means[name] + spreads[name])) for name in curves)
    sizes = sorted({size for curve in curves.values() for size in curve.sizes})
    steps = _ticks(low, high)
    frame = _Frame(420, 260, _padded(np.log(sizes)), (min(low, steps[0]), max(high, steps[-1])))
    labels = {math.log(size): f"{size:,}" for size in sizes}
    parts = [_axes(frame, labels, {step: f"{step:.4g}" for step in steps})]
    for number, (name, curve) in enumerate(curves.items()):
        order = np.argsort(curve.sizes)
        xs = np.log(np.array(curve.sizes, dtype=np.float64))[order]
        mean, spread = means[name][order], spreads[name][order]
        around = np.concatenate([mean + spread, (mean - spread)[::-1]])
        band = frame.line(np.concatenate([xs, xs[::-1]]), around)
        style = f"s{number % 4}"
        parts.append(tag("polygon", points=band, class_=f"band {style}"))
        parts.append(tag("polyline", points=frame.line(xs, mean), class_=f"line {style}"))
        for x, y in zip(xs, mean, strict=True):
            cx, cy = frame.at(x, y)
            title = tag("title", f"{name}: {y:.3f} with {math.exp(x):.0f} items per category")
            parts.append(tag("circle", title, cx=cx, cy=cy, r=3, class_=f"dot {style}"))
    parts.append(_titles(frame, "training items per category", measure))
    chart = _chart(frame, parts, f"Learning curve: {measure} over items per category.")
    keys = [tag("span", name, class_=f"key s{i % 4}") for i, name in enumerate(curves)]
    return tag("figure", chart, tag("figcaption", tag("b", measure), " ", *keys))


def _chart(frame: _Frame, parts: list[Html], label: str) -> Html:
    """Return an SVG image with an accessible description."""
    box = f"0 0 {frame.width:g} {frame.height:g}"
    return tag("svg", *parts, viewBox=box, role="img", aria_label=label, width=f"{frame.width:g}")


def _axes(frame: _Frame, x_labels: Mapping[float, str], y_labels: Mapping[float, str]) -> Html:
    """Return grid lines and the numbers of both axes."""
    parts = []
    bottom = frame.height - frame.bottom
    for x, label in x_labels.items():
        at, _ = frame.at(x, frame.y[0])
        parts.append(tag("line", x1=at, x2=at, y1=frame.top, y2=bottom, class_="grid"))
        parts.append(tag("text", label, x=at, y=bottom + 14, text_anchor="middle"))
    for y, label in y_labels.items():
        _, at = frame.at(frame.x[0], y)
        end = frame.width - frame.right
        parts.append(tag("line", x1=frame.left, x2=end, y1=at, y2=at, class_="grid"))
        parts.append(tag("text", label, x=frame.left - 5, y=at + 4, text_anchor="end"))
    return tag("g", *parts, class_="axes")


def _titles(frame: _Frame, x: str, y: str) -> Html:
    """Return the titles of both axes."""
    middle = (frame.left + frame.width - frame.right) / 2
    across = tag("text", x, x=middle, y=frame.height - 6, text_anchor="middle")
    height = (frame.top + frame.height - frame.bottom) / 2
    turn = f"translate(11 {height:g}) rotate(-90)"
    return tag("g", across, tag("text", y, transform=turn, text_anchor="middle"), class_="titles")


def _padded(values: Floats) -> tuple[float, float]:
    """Return a range around values, also if they are all equal."""
    low, high = float(values.min()), float(values.max())
    pad = 0.05 * (high - low) or 0.5
    return low - pad, high + pad


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers that cover the range from ``low`` to ``high``."""
    span = high - low or 0.1
    step = 10.0 ** math.floor(math.log10(span))
    step *= next(factor for factor in (0.2, 0.5, 1, 2) if span / (step * factor) <= 6)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [round(step * k, 10) for k in range(first, max(last, first + 1) + 1)]

"""A comparison as text, Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import TYPE_CHECKING

from taxonomist._spreadsheets import guarded
from taxonomist.evaluation.significance import smallest_p_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist.evaluation.comparison import Comparison, ComparisonCell


def text(comparison: Comparison, digits: int) -> str:
    """Return an aligned table with notes."""
    rows = _rows(
        comparison,
        lambda cell: f"{'>' if cell.best else ''}{_number(cell, digits)}{cell.stars:<2}",
    )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]
    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    notes = _notes(comparison, "> marks the best of a column.")
    return "\n".join([lines[0], rule, *lines[1:], "", *notes])


def markdown(comparison: Comparison, digits: int) -> str:
    """Return a Markdown table with notes."""

    def entry(cell: ComparisonCell) -> str:
        number = _number(cell, digits)
        return (f"**{number}**" if cell.best else number) + _escape(cell.stars)

    header, *rows = _rows(comparison, entry)
    lines = [[_escape(name) for name in header], ["---", *["---:"] * len(comparison.measures)]]
    lines += [[_escape(row[0]), *row[1:]] for row in rows]
    notes = _notes(comparison, "Bold marks the best of a column.")
    table = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([*table, "", *map(_escape, notes)])


def comma_separated(comparison: Comparison) -> str:
    """Return a header ``model,m,m_std,m_p,...`` and a line per model."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    columns = [f"{name}{part}" for name in comparison.measures for part in ("", "_std", "_p")]
    writer.writerow(["model", *map(guarded, columns)])
    for model, cells in comparison.cells.items():
        values = [value for cell in cells.values() for value in (cell.mean, cell.std, cell.p_value)]
        writer.writerow([guarded(model), *map(_finite, values)])
    return stream.getvalue()


def json_document(comparison: Comparison) -> str:
    """Return baseline, measures with their direction, and models with their results."""
    document = {
        "baseline": comparison.baseline,
        "measures": [
            {"name": name, "greater_is_better": name not in comparison.lower_is_better}
            for name in comparison.measures
        ],
        "models": [
            {"name": model, "results": _results(comparison, model)} for model in comparison.models
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _results(comparison: Comparison, model: str) -> dict[str, object]:
    return {
        measure: {
            "mean": _finite(cell.mean),
            "std": _finite(cell.std),
            "best": cell.best,
            "p_value": cell.p_value,
            "values": [_finite(value) for value in comparison.values[model][measure].tolist()],
        }
        for measure, cell in comparison.cells[model].items()
    }


def _rows(comparison: Comparison, entry: Callable[[ComparisonCell], str]) -> list[list[str]]:
    """Return the header and the rows of a table, with all cells as text."""
    arrows = ["↓" if name in comparison.lower_is_better else "↑" for name in comparison.measures]
    header = [f"{name} {arrow}" for name, arrow in zip(comparison.measures, arrows, strict=True)]
    rows = [
        [model, *(entry(cells[measure]) for measure in comparison.measures)]
        for model, cells in comparison.cells.items()
    ]
    return [["model", *header], *rows]


def _notes(comparison: Comparison, best: str) -> list[str]:
    """Explain the marks of a table."""
    if comparison.baseline is None or len(comparison.models) < 2:
        return [best]
    other = next(model for model in comparison.models if model != comparison.baseline)
    sizes = {m: comparison.pairs(other, m)[0].size for m in comparison.measures}
    notes = [
        best,
        f"* p < 0.05, ** p < 0.01 against {comparison.baseline} "
        "(paired permutation test, two-sided, not corrected for several tests).",
    ]
    for size in sorted(set(sizes.values())):
        if size and smallest_p_value(size) >= 0.01:
            names = ", ".join(name for name in sizes if sizes[name] == size)
            least = f"the smallest attainable p is {smallest_p_value(size):.3g}"
            notes.append(f"With {size} paired values {least}: {names}.")
    return notes


def _number(cell: ComparisonCell, digits: int) -> str:
    """Return the mean and, unless it is NaN, the deviation."""
    if math.isnan(cell.std):
        return f"{cell.mean:.{digits}f}"
    return f"{cell.mean:.{digits}f} ± {cell.std:.{digits}f}"


def _finite(value: float | None) -> float | None:
    """Return the value, or None if it is not finite."""
    return value if value is not None and math.isfinite(value) else None


def _escape(words: str) -> str:
    """Escape text for a Markdown table."""
    for character in "\\|*":
        words = words.replace(character, f"\\{character}")
    return " ".join(words.split())

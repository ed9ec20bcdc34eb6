"""Format predictions as the cells of a table or as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.datasets.cells import STEP

if TYPE_CHECKING:
    from taxonomist.workflow.predictions import Prediction, Wanted

__all__ = ["as_cells", "as_record", "headings"]

SEPARATOR = ";"
"""Default separator between several labels in a cell."""


def headings(key: str, wanted: Wanted) -> list[str]:
    """Return the column names of the cells that ``as_cells`` returns."""
    names = [key, "label", "name", "path"]
    if wanted.proba:
        names.append("probability")
    names.append("note")
    for k in range(1, wanted.top + 1):
        names += [f"label_{k}", f"name_{k}", f"probability_{k}"]
    return [*names, "words"] if wanted.words else names


def as_cells(
    key: object, found: Prediction, wanted: Wanted, separator: str = SEPARATOR
) -> list[object]:
    """Return a prediction as the cells of a row; ``separator`` joins several labels."""
    labels: list[list[str]] = [found.labels, found.names, [STEP.join(path) for path in found.paths]]
    cells = [key, *map(separator.join, labels)]
    if wanted.proba:
        cells.append(separator.join(f"{chance:.4f}" for chance in found.probabilities))
    cells.append(found.note)
    if wanted.top:
        for label, name, chance in found.top:
            cells += [label, name, f"{chance:.4f}"]
        cells += [""] * (3 * (wanted.top - len(found.top)))
    if wanted.words:
        cells.append(" ".join(f"{word} {value:+z.2f}" for word, value, _ in found.words))
    return cells


def as_record(key: dict[str, object], found: Prediction, wanted: Wanted) -> dict[str, object]:
    """Return a prediction as plain data, with a list for each field of the labels."""
    record: dict[str, object] = {
        **key,
        "labels": found.labels,
        "names": found.names,
        "paths": found.paths,
    }
    if wanted.proba:
        record["probabilities"] = [round(chance, 6) for chance in found.probabilities]
    record["note"] = found.note
    if wanted.top:
        record["top"] = [
            {"label": label, "name": name, "probability": round(chance, 6)}
            for label, name, chance in found.top
        ]
    if wanted.words:
        record["words"] = [
            {"word": word, "value": value, "node": node} for word, value, node in found.words
        ]
    return record

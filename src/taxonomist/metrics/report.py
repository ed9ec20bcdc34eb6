"""A table of measures for a prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from taxonomist.metrics._inputs import encode_pair, encode_sets
from taxonomist.metrics.labelling import zero_one_loss
from taxonomist.metrics.sets import (
    PRF,
    hierarchical_prf,
    precision_recall_f1,
    precision_recall_f1_per_level,
)
from taxonomist.metrics.single import accuracy, parent_accuracy, taxonomy_loss
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, LabelsLike
    from taxonomist.taxonomy import Taxonomy

COLUMN_WIDTH = 11
"""Minimum number of characters in a column of numbers."""


@overload
def hierarchical_report(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    classes: Sequence[str] | None = ...,
    digits: int = ...,
    output_dict: Literal[False] = ...,
) -> str: ...
@overload
def hierarchical_report(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    classes: Sequence[str] | None = ...,
    digits: int = ...,
    output_dict: Literal[True],
) -> dict[str, object]: ...


def hierarchical_report(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: Taxonomy,
    *,
    classes: Sequence[str] | None = None,
    digits: int = 3,
    output_dict: bool = False,
) -> str | dict[str, Any]:
    """Report precision, recall and F1 per level and overall, and measures of whole items.

    With pooled items, hierarchical precision, recall and F1 equal those over all nodes. The report
    includes both so that readers find the name they look for.

    Parameters
    ----------
    y_true, y_pred
        Label sets, an indicator matrix, or one label per item. With one label per item in both,
        accuracy, parent accuracy and taxonomy loss are reported too.
    taxonomy
        The taxonomy of the labels.
    classes
        Ids of the columns of an indicator matrix; by default one column per node.
    digits
        Decimals of the numbers in the table.
    output_dict
        Return a dict instead of a table.

    Returns
    -------
    str or dict
        The table; or a dict by row, whose values are dicts of ``precision``, ``recall``, ``f1``
        and ``support``, or single numbers.

    Raises
    ------
    LabelError
        If labels are unknown or lengths differ.
    """
    single = not (labels.is_label_sets(y_true) or labels.is_label_sets(y_pred))
    true, predicted = encode_sets(y_true, y_pred, taxonomy, classes)
    rows = _rows(true, predicted, taxonomy)
    values = {"exact match": 1 - zero_one_loss(true, predicted, taxonomy)}
    if single:
        values["accuracy"] = accuracy(*encode_pair(y_true, y_pred, taxonomy))
        values["parent accuracy"] = parent_accuracy(y_true, y_pred, taxonomy)
        values["taxonomy loss"] = taxonomy_loss(y_true, y_pred, taxonomy)
    if output_dict:
        return {**{name: prf._asdict() for name, prf in rows.items()}, **values}
    return _table(rows, values, digits)


def _rows(Y: CSR, U: CSR, taxonomy: Taxonomy) -> dict[str, PRF]:
    levels = precision_recall_f1_per_level(Y, U, taxonomy)
    rows = {f"level {level}": prf for level, prf in levels.items()}
    for title, nodes in {"leaves": "leaves", "all nodes": "all"}.items():
        for average in ("micro", "macro"):
            rows[f"{title}, {average}"] = precision_recall_f1(
                Y, U, taxonomy, nodes=nodes, average=average
            )
    rows["hierarchical, micro"] = hierarchical_prf(Y, U, taxonomy)
    rows["hierarchical, samples"] = hierarchical_prf(Y, U, taxonomy, "samples")
    return rows


def _table(rows: dict[str, PRF], values: dict[str, float], digits: int) -> str:
    margin, width = max(map(len, [*rows, *values])), max(COLUMN_WIDTH, digits + 6)
    heads = "".join(f"{head:>{width}}" for head in PRF._fields)
    lines = [" " * margin + heads, ""]
    for name, prf in rows.items():
        if name == "leaves, micro":
            lines.append("")
        numbers = "".join(f"{number:>{width}.{digits}f}" for number in prf[:3])
        lines.append(f"{name:<{margin}}{numbers}{prf.support:>{width}.0f}")
    lines.append("")
    lines += [f"{name:<{margin}}{value:>{width}.{digits}f}" for name, value in values.items()]
    return "\n".join(lines) + "\n"

"""Parse the cells of a table: texts, ids, folds, labels and paths."""

from __future__ import annotations

import ast
import json
import math
import re
from typing import TYPE_CHECKING, Any, TypeAlias

from taxonomist._unicode import nfc
from taxonomist.datasets.bad_rows import NoLabelError, RowError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from taxonomist.datasets.columns import Columns

__all__ = ["Label", "fold_of", "labels_of", "levels_of", "likely_separator", "text_of", "word_of"]

STEP = " > "
"""Default separator between the levels of a path."""
SEPARATORS = ";|,"
"""What people write between several labels in a cell."""

_STRING = r"""(?:'[^'\\]*'|"[^"\\]*")"""
PYTHON_LIST = re.compile(rf"\[\s*{_STRING}(?:\s*,\s*{_STRING})*\s*,?\s*\]")
"""A list as Python prints it, and as data frames with lists are written to CSV: ``['a', 'b']``."""

Label: TypeAlias = str | tuple[str, ...]
"""A label as given: a code, or a path as a tuple of names."""


def text_of(value: object, column: str) -> str:
    """Return a string or a number as text in composed form (NFC); empty if it is missing."""
    if isinstance(value, str):
        return nfc(value)
    if value is None or value != value:
        return ""
    if isinstance(value, int | float):
        return word_of(value)
    raise RowError(f"{column!r} is not a text but {str(value)[:40]!r}")


def word_of(value: object) -> str:
    """Return a code or an id as a string in composed form (NFC).

    Whole numbers are written without decimals.
    """
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return nfc(str(value).strip())


def fold_of(value: Any) -> int | None:
    """Return a fold number; None if it is missing.

    Raises
    ------
    RowError
        If the value is not an integer.
    """
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number.is_integer():
        raise RowError(f"a fold must be an integer, got {value!r}")
    return int(number)


def labels_of(value: object, columns: Columns, *, allow_none: bool = False) -> tuple[Label, ...]:
    """Return the labels of a cell, without duplicates.

    Parameters
    ----------
    value
        A list, a string with a JSON or Python list, another string, or a number.
    columns
        Name of the column, separators of labels and paths, and the meaning of an empty cell.
    allow_none
        Whether an empty list is allowed, for an item without labels.

    Raises
    ------
    NoLabelError
        If there is no label.
    RowError
        If one of several labels is missing, or is not a string or a number.
    """
    if isinstance(value, str):
        value = _listed(value, columns.label_sep)
    listed = value if isinstance(value, list) else [value]
    words = [_word(label, columns.labels) for label in listed]
    if not any(words):
        if columns.empty_is_none or (allow_none and value == []):
            return ()
        raise NoLabelError(f"no label in {columns.labels!r}")
    if not all(words):
        raise RowError(f"one of several labels in {columns.labels!r} is missing")
    if columns.code_prefixes:
        return tuple(dict.fromkeys(words))
    return tuple(dict.fromkeys(_steps(word, columns.path_sep) for word in words))


def likely_separator(label: Label, is_known: Callable[[str], bool]) -> str:
    """Return the separator of a label that looks like several known ones; empty if it does not."""
    if not isinstance(label, str):
        return ""
    for separator in SEPARATORS:
        parts = label.split(separator)
        if len(parts) > 1 and all(is_known(part.strip()) for part in parts):
            return separator
    return ""


def levels_of(cells: Mapping[str, object], *, empty_is_none: bool = False) -> tuple[Label, ...]:
    """Return the label whose levels are in columns of their own, as a path.

    Parameters
    ----------
    cells
        The levels by column, from the top. Those at the end may be empty.
    empty_is_none
        Whether an item without any level has no labels. By default, its label is missing.

    Raises
    ------
    NoLabelError
        If all levels are empty.
    RowError
        If a level is empty but one below it is not, or a level is not a string or a number.
    """
    columns = list(cells)
    steps = [_word(value, column) for column, value in cells.items()]
    while steps and not steps[-1]:
        steps.pop()
    if not steps and not empty_is_none:
        raise NoLabelError(f"no label in {', '.join(map(repr, columns))}")
    if "" in steps:
        lowest, gap = columns[len(steps) - 1], columns[steps.index("")]
        raise RowError(f"the level {gap!r} is empty, but {lowest!r} below it is {steps[-1]!r}")
    return (tuple(steps),) if steps else ()


def _word(label: object, column: object) -> str:
    """Return a label as a string, empty if it is missing."""
    if isinstance(label, list | dict):
        advice = ". Give its parts columns of their own" if isinstance(label, dict) else ""
        raise RowError(f"{str(label)[:40]!r} in {column!r} is not a label{advice}")
    return word_of(label)


def _listed(value: str, separator: str | None) -> list[Any]:
    """Split a string into labels."""
    if value.lstrip().startswith("["):
        try:
            listed = json.loads(value)
        except ValueError:
            is_python = PYTHON_LIST.fullmatch(value.strip())
            listed = ast.literal_eval(value.strip()) if is_python else None
        if isinstance(listed, list):
            return listed
    if not separator:
        return [value]
    # Ignore empty parts, such as after a trailing separator.
    return [part for part in value.split(separator) if part.strip()] or [""]


def _steps(label: str, separator: str | None) -> Label:
    """Split a path into its levels; return a label that is not a path unchanged."""
    separator = separator or STEP
    if separator not in label:
        return label
    steps = [step.strip() for step in label.split(separator)]
    # A path may begin or end with the separator: /home/garden/
    begin, end = not steps[0], len(steps) - (not steps[-1])
    steps = steps[begin:end]
    if not steps or "" in steps:
        raise RowError(f"the path {label!r} has an empty level")
    return tuple(steps)

"""What cells of a table mean: texts, ids, labels, label sets, paths."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

from taxonomist.cli.bad_rows import RowError
from taxonomist.errors import UnknownNodeError

if TYPE_CHECKING:
    from taxonomist.taxonomy import Taxonomy

__all__ = ["Label", "LabelReader", "labels_of", "shown", "text_of", "word_of"]

STEP = " > "
"""What parts the steps of a path unless something else is said."""

Label: TypeAlias = str | tuple[str, ...]
"""A label as it is given: a code, or the steps of a path."""


def text_of(value: Any, column: str) -> str:
    """Return a text, empty if it is missing; numbers are accepted, nothing else is."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, int | float):
        return word_of(value)
    raise RowError(f"{column!r} holds no text, but {str(value)[:40]!r}")


def word_of(value: Any) -> str:
    """Return a code or an id as a string; a whole number has no decimals."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def labels_of(
    value: Any, column: str, separator: str | None, path_separator: str | None
) -> tuple[Label, ...]:
    """Return the labels of a cell, each once.

    Parameters
    ----------
    value
        A list, a string that holds a JSON list, a string, or a number.
    column
        What messages call the cell.
    separator
        What parts the labels in a string; None if a string is one label.
    path_separator
        What parts the steps of a path in a label; None for ``>`` with blanks around it.

    Raises
    ------
    RowError
        If there is no label, or something else.
    """
    if isinstance(value, str):
        value = _listed(value, separator)
    found: list[Label] = []
    for label in value if isinstance(value, list) else [value]:
        if isinstance(label, list | dict):
            raise RowError(f"{str(label)[:40]!r} in {column!r} is no label")
        if word := word_of(label):
            found.append(_steps(word, path_separator))
    if not found:
        raise RowError(f"no label in {column!r}")
    return tuple(dict.fromkeys(found))


def _listed(value: str, separator: str | None) -> list[Any]:
    """Return the labels in a string."""
    if value.lstrip().startswith("["):
        try:
            listed = json.loads(value)
        except ValueError:
            listed = None
        if isinstance(listed, list):
            return listed
    return value.split(separator) if separator else [value]


def _steps(label: str, separator: str | None) -> Label:
    """Return the steps of a path, or a label that is none."""
    separator = separator or STEP
    if separator not in label:
        return label
    steps = tuple(step.strip() for step in label.split(separator))
    if "" in steps:
        raise RowError(f"a step of the path {label!r} is empty")
    return steps


def shown(label: Label) -> str:
    """Return a label as people read it."""
    return label if isinstance(label, str) else STEP.join(label)


class LabelReader:
    """Finds the nodes that labels mean.

    Parameters
    ----------
    taxonomy
        The taxonomy.
    single
        Whether an item has one label.
    """

    def __init__(self, taxonomy: Taxonomy, *, single: bool = False) -> None:
        self._taxonomy = taxonomy
        self._single = single
        self._known: dict[Label, str | None] = {}

    def nodes(self, labels: tuple[Label, ...], hint: bool = True) -> tuple[str, ...]:
        """Return the nodes that the labels of an item mean, each once.

        Parameters
        ----------
        labels
            Codes, or paths.
        hint
            Whether to name ids that are similar to one that is not known, which takes time.

        Raises
        ------
        RowError
            If a label is not known, or there are several where one is wanted.
        """
        found = tuple(dict.fromkeys(self._node(label, hint) for label in labels))
        if self._single and len(found) > 1:
            raise RowError(f"{len(found)} labels, but the model knows one per item")
        return found

    def _node(self, label: Label, hint: bool) -> str:
        """Return the node that a label means."""
        if label not in self._known:
            self._known[label] = self._found(label)
        found = self._known[label]
        if found is None and hint:
            try:
                self._taxonomy.resolve(label)
            except UnknownNodeError as error:
                raise RowError(str(error).replace(repr(label), repr(shown(label)))) from error
        if found is None:
            raise RowError(f"{shown(label)!r} is not a node of the taxonomy")
        return found

    def _found(self, label: Label) -> str | None:
        """Return the node that a label means, None if there is none."""
        if isinstance(label, str) and ">" not in label:
            return label if label in self._taxonomy else None
        try:
            return self._taxonomy.resolve(label)
        except UnknownNodeError:
            return None

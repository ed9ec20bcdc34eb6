"""Convert users' labels to codes and back, for single labels and for label sets.

Labels come as one id per item, as a sequence of iterables of ids, or as an indicator matrix over
given classes. Internally, a single label is a node code, and label sets are a boolean CSR matrix
with one row per item and one column per node.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from taxonomist.errors import LabelError, some
from taxonomist.taxonomy.build import is_missing, is_table, rows
from taxonomist.taxonomy.label_lookup import codes_meant, similar_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Sized

    from numpy.typing import NDArray

    from taxonomist._typing import CSR, Codes, LabelsLike
    from taxonomist.taxonomy.core import Taxonomy

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,99}")


def is_label_sets(y: LabelsLike) -> bool:
    """Return whether labels are label sets (or an indicator matrix), not one id per item.

    All rooms ask this function or, where every item has a list of labels, ``have_sets``.
    """
    return is_table(y) or _holds_sets(_items(y, "y"))


def are_integers(y: LabelsLike) -> bool:
    """Return whether all labels are integers; for a data frame of 0 and 1, its column names."""
    if is_indicator(y):
        values = iter(getattr(y, "columns", ()))
    else:
        sets = (item if is_set(item) else (item,) for item in _items(y, "y"))
        values = (label for item in sets for label in item if not is_missing(label))
    first = next(values, None)
    return _is_integer(first) and all(map(_is_integer, values))


def as_integer(node: str) -> int | str:
    """Return an id as an integer if it is written like one, without zeros in front."""
    return int(node) if _INTEGER.fullmatch(node) else node


def simplified(y: LabelsLike) -> list[Any]:
    """Return one label per item if no item has fewer or more, else a list of labels per item.

    Tables give every item a list of labels. This tells which of them hold label sets.
    """
    sets = as_sets(y)
    return sets if have_sets(sets) else [label for (label,) in sets]


def have_sets(rows: Iterable[Sized]) -> bool:
    """Return whether any item has several labels, or none, given the labels of each as a list."""
    return any(len(labels) != 1 for labels in rows)


def encode(taxonomy: Taxonomy, y: LabelsLike, name: str = "y") -> Codes:
    """Return the node code of each item's single label.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels.
    y
        One id per item, or a path that ``Taxonomy.resolve`` understands.
    name
        The name of the argument in error messages.

    Raises
    ------
    LabelError
        If a label is missing or unknown, or if an item has a set of labels.
    """
    if is_table(y) or _holds_sets(values := _items(y, name)):
        raise LabelError(
            f"{name} holds label sets, but one label per item is expected. Pass a 1-d array of ids."
        )
    check_present(values, name)
    return _lookup(taxonomy, values, name)


def encode_sets(
    taxonomy: Taxonomy, y: LabelsLike, classes: Sequence[str] | None = None, name: str = "y"
) -> CSR:
    """Return the nodes that each item is labelled with, without adding ancestors.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels.
    y
        Iterables of ids, one per item (they may be empty); or one id per item; or a dense or
        sparse indicator matrix over ``classes``.
    classes
        Ids of the columns of an indicator matrix; by default the column names of a data frame,
        or all nodes in code order.
    name
        The name of the argument in error messages.

    Returns
    -------
    csr_array of bool, shape (n_items, n_nodes)

    Raises
    ------
    LabelError
        If a label is missing or unknown, or if the matrix does not match ``classes``.
    """
    from scipy.sparse import csr_array

    if is_indicator(y):
        return _encode_indicator(taxonomy, y, classes, name)
    sets = as_sets(y, name)
    lengths = np.fromiter(map(len, sets), dtype=np.intp, count=len(sets))
    codes = _lookup(taxonomy, [label for labels in sets for label in labels], name)
    items = np.repeat(np.arange(len(sets)), lengths)
    ones = np.ones(len(codes), dtype=bool)
    return csr_array((ones, (items, codes)), shape=(len(sets), taxonomy.n_nodes))


def decode(taxonomy: Taxonomy, codes: Codes) -> NDArray[np.object_]:
    """Return the ids of node codes as an array of strings."""
    return np.array(taxonomy.nodes, dtype=object)[codes]


def decode_sets(taxonomy: Taxonomy, Y: CSR) -> list[list[str]]:
    """Return the ids marked by each row of a boolean (n_items, n_nodes) matrix."""
    ends = Y.indptr.tolist()
    return [
        [taxonomy.nodes[code] for code in sorted(Y.indices[start:end].tolist())]
        for start, end in pairwise(ends)
    ]


def close(taxonomy: Taxonomy, Y: CSR) -> CSR:
    """Add all ancestors, including the root, to label sets."""
    return Y.astype(bool) @ taxonomy.ancestor_matrix()


def most_specific(taxonomy: Taxonomy, Y: CSR) -> CSR:
    """Remove the labels that have a descendant in the same set."""
    from scipy.sparse import csr_array, eye_array

    n = taxonomy.n_nodes
    proper = taxonomy.ancestor_matrix().astype(np.int8) - eye_array(n, dtype=np.int8, format="csr")
    implied = Y.astype(bool) @ csr_array(proper, dtype=bool)
    kept = csr_array(Y, dtype=np.int8) - csr_array(Y, dtype=np.int8).multiply(implied)
    return csr_array(kept, dtype=bool)


def categories(taxonomy: Taxonomy, Y: CSR) -> Codes:
    """Return the codes of the categories that label sets use.

    These are the leaves, and the interior nodes that some item carries without any of their
    descendants.
    """
    used = np.zeros(taxonomy.n_nodes, dtype=bool)
    used[most_specific(taxonomy, Y).indices] = True
    return np.flatnonzero(used | taxonomy.is_leaf)


def is_indicator(y: LabelsLike) -> bool:
    """Return whether labels are a table of 0 and 1, not a table of ids."""
    if not is_table(y):
        return False
    if hasattr(y, "tocsr") or np.asarray(y).dtype.kind not in "OUST":
        return True
    # Data frames with nullable types become object arrays.
    cells = set(np.asarray(y).ravel().tolist())
    return bool(cells) and cells <= {0, 1}


def as_sets(y: LabelsLike, name: str = "y") -> list[list[Any]]:
    """Return the labels of each item as a list, which for a single id has one entry."""
    items = _items(y, name)
    check_present(items, name)
    return [
        [label for label in item if not is_missing(label)] if is_set(item) else [item]
        for item in items
    ]


def _is_integer(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_set(value: object) -> bool:
    """Return whether an item's label is a collection of labels, not a single id."""
    return hasattr(value, "__iter__") and not isinstance(value, (str, bytes))


def _holds_sets(values: Sequence[object]) -> bool:
    """Return whether the label of some item is a collection."""
    return any(map(is_set, _one_of_each_type(values)))


def _one_of_each_type(values: Sequence[object]) -> list[object]:
    return list({type(value): value for value in values}.values())


def _items(y: LabelsLike, name: str) -> list[Any]:
    """Return the label or labels of each item."""
    if hasattr(y, "to_pylist") and not is_table(y):
        # Arrow scalars are not strings.
        return list(y.to_pylist())
    values = rows(y)
    if not is_set(values) or getattr(values, "shape", None) == ():
        raise LabelError(
            f"{name} must have a label, or a set of labels, for each item. Got {y!r} instead."
        )
    return list(values)


def check_present(values: Sequence[object], name: str) -> None:
    """Raise a ``LabelError`` that names the first missing label, if there is one."""
    if {*map(type, values)} <= {str} and all(map(str.strip, cast("Sequence[str]", values))):
        return
    at = next((i for i, value in enumerate(values) if is_missing(value)), None)
    if at is not None:
        raise LabelError(f"{name} has no label at position {at}; remove items without labels.")


def _lookup(taxonomy: Taxonomy, values: Sequence[object], name: str) -> Codes:
    """Return the codes of labels; one error names all unknown labels."""
    several = _one_of_each_type(values)
    strange = next((value for value in several if not isinstance(value, Hashable)), None)
    if strange is not None:
        raise LabelError(f"{name} is nested too deeply: expected a label, got {strange!r}.")
    distinct = dict.fromkeys(values)
    if taxonomy.has_all(distinct):
        return taxonomy.codes(cast("Sequence[str]", values))
    found: dict[object, int] = {}
    unknown = []
    for value in distinct:
        meant = codes_meant(taxonomy, value)
        if len(meant) > 1:
            raise LabelError(
                f"{value!r} in {name} is ambiguous: it means {len(meant)} nodes. Pass ids."
            )
        if meant:
            found[value] = meant.pop()
        else:
            unknown.append(value)
    if unknown:
        raise LabelError(_unknown_message(taxonomy, unknown, name))
    return np.fromiter(map(found.__getitem__, values), dtype=np.intp, count=len(values))


def _unknown_message(taxonomy: Taxonomy, unknown: Sequence[object], name: str) -> str:
    hints = (similar_ids(taxonomy.nodes, label) for label in unknown[:3])
    hint = next(filter(None, hints), "")
    count = "1 label" if len(unknown) == 1 else f"{len(unknown)} labels"
    are = "is not a node" if len(unknown) == 1 else "are not nodes"
    return f"{count} in {name} {are} of the taxonomy: {some(unknown)}.{hint}"


def _encode_indicator(taxonomy: Taxonomy, y: Any, classes: Iterable[str] | None, name: str) -> CSR:
    """Map the columns of an indicator matrix to nodes."""
    from scipy.sparse import csr_array

    if hasattr(y, "columns") and all(str(column) in taxonomy for column in y.columns):
        # The column names of a data frame are more reliable than their order.
        classes = list(y.columns)
    table = y if hasattr(y, "tocsr") else np.asarray(y)
    Y = csr_array(table.astype(bool) if table.dtype == object else table)
    if not np.isin(Y.data, (0, 1)).all():
        raise LabelError(f"{name} is a matrix and must hold only 0 and 1; got other values.")
    Y = csr_array(Y, dtype=bool, copy=True)
    Y.eliminate_zeros()
    codes = (
        taxonomy.topological_order
        if classes is None
        else _lookup(taxonomy, list(classes), "classes")
    )
    if Y.shape[1] != len(codes):
        given = "the taxonomy has" if classes is None else "classes names"
        raise LabelError(
            f"{name} has {Y.shape[1]} columns, but {given} {len(codes)}; "
            "pass classes, the id of each column."
        )
    if len(np.unique(codes)) < len(codes):
        raise LabelError("classes names a node twice; each column needs a node of its own.")
    return csr_array((Y.data, codes[Y.indices], Y.indptr), shape=(Y.shape[0], taxonomy.n_nodes))

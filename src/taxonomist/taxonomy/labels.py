"""From users' labels to codes and back, for one label and for label sets.

Labels come as one id per item, as a sequence of iterables of ids, or as an indicator matrix over
given classes. Inside, one label is a node code, and label sets are a boolean CSR matrix with one
row per item and one column per node.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.errors import LabelError, UnknownNodeError, closest, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taxonomist._typing import CSR, Codes
    from taxonomist.taxonomy.core import Taxonomy


def is_label_sets(y: Any) -> bool:
    """Return whether labels are label sets (or an indicator matrix), not one id per item."""
    if getattr(y, "ndim", 1) == 2:
        return True
    return any(is_set(value) for value in y)


def encode(taxonomy: Taxonomy, y: Any, name: str = "y") -> Codes:
    """Return the node code of each item's one label.

    Parameters
    ----------
    taxonomy
        The taxonomy that holds the labels.
    y
        One id per item, or a path that ``Taxonomy.resolve`` understands.
    name
        What messages call the labels.

    Raises
    ------
    LabelError
        If a label is missing or unknown, or an item has a set of labels.
    """
    if is_label_sets(y):
        raise LabelError(
            f"{name} holds label sets; one label per item is wanted here. Give a 1-d array of ids."
        )
    return _lookup(taxonomy, list(y), name)


def encode_sets(
    taxonomy: Taxonomy, y: Any, classes: Sequence[str] | None = None, name: str = "y"
) -> CSR:
    """Return which nodes each item is labelled with, exactly as given.

    Parameters
    ----------
    taxonomy
        The taxonomy that holds the labels.
    y
        Iterables of ids, one per item (empty ones are fine); or one id per item; or an indicator
        matrix, dense or sparse, over ``classes``.
    classes
        Ids of the columns of an indicator matrix; all nodes in code order by default.
    name
        What messages call the labels.

    Returns
    -------
    csr_array of bool, shape (n_items, n_nodes)

    Raises
    ------
    LabelError
        If a label is missing or unknown, or the matrix does not fit.
    """
    from scipy.sparse import csr_array, issparse

    if issparse(y) or (getattr(y, "ndim", 1) == 2 and not _holds_ids(y)):
        return _encode_indicator(taxonomy, y, classes, name)
    # Iterating over a data frame would give its columns.
    table = np.asarray(y, dtype=object) if getattr(y, "ndim", 1) == 2 else y
    sets = [_as_set(value) for value in table]
    lengths = np.fromiter(map(len, sets), dtype=np.intp, count=len(sets))
    codes = _lookup(taxonomy, [label for labels in sets for label in labels], name)
    rows = np.repeat(np.arange(len(sets)), lengths)
    ones = np.ones(len(codes), dtype=bool)
    return csr_array((ones, (rows, codes)), shape=(len(sets), taxonomy.n_nodes))


def decode(taxonomy: Taxonomy, codes: Codes) -> Any:
    """Return the ids of node codes as an array of strings."""
    return np.array(taxonomy.nodes, dtype=object)[codes]


def decode_sets(taxonomy: Taxonomy, Y: CSR) -> list[list[str]]:
    """Return the ids that each row of a boolean (n_items, n_nodes) matrix marks."""
    ends = Y.indptr.tolist()
    return [
        [taxonomy.nodes[code] for code in sorted(Y.indices[start:end].tolist())]
        for start, end in pairwise(ends)
    ]


def close(taxonomy: Taxonomy, Y: CSR) -> CSR:
    """Return label sets with all ancestors added, the root included."""
    return Y.astype(bool) @ taxonomy.ancestor_matrix()


def most_specific(taxonomy: Taxonomy, Y: CSR) -> CSR:
    """Return label sets without the labels that have a descendant in the same set."""
    from scipy.sparse import csr_array, eye_array

    n = taxonomy.n_nodes
    proper = taxonomy.ancestor_matrix().astype(np.int8) - eye_array(n, dtype=np.int8, format="csr")
    proper.eliminate_zeros()
    implied = Y.astype(bool) @ csr_array(proper, dtype=bool)
    kept = csr_array(Y, dtype=np.int8) - csr_array(Y, dtype=np.int8).multiply(implied)
    kept.eliminate_zeros()
    return csr_array(kept, dtype=bool)


def categories(taxonomy: Taxonomy, Y: CSR) -> Codes:
    """Return the codes of the categories that label sets use.

    These are the leaves, and the interior nodes that some item carries without any of their
    descendants.
    """
    used = np.zeros(taxonomy.n_nodes, dtype=bool)
    used[most_specific(taxonomy, Y).indices] = True
    return np.flatnonzero(used | taxonomy.is_leaf)


def is_set(value: object) -> bool:
    """Return whether an item's label is a collection of labels and not one id."""
    return hasattr(value, "__iter__") and not isinstance(value, (str, bytes))


def _as_set(value: Any) -> list[Any]:
    """Return an item's distinct labels; a single id counts as a set of one."""
    if not is_set(value):
        return [value]
    return list(dict.fromkeys(label for label in value if not _is_blank(label)))


def _is_blank(label: object) -> bool:
    """Return whether a cell of a ragged table is empty."""
    return label is None or label == "" or label != label


def _holds_ids(y: Any) -> bool:
    """Return whether a 2-d table holds ids (a row per item, padded) and not 0 and 1."""
    return np.asarray(y).dtype.kind in "OUST"


def _lookup(taxonomy: Taxonomy, values: list[Any], name: str) -> Codes:
    """Return the codes of labels; all unknown ones are named in one error."""
    index = taxonomy._index
    found: dict[Any, int] = {}
    unknown = []
    for value in dict.fromkeys(values):
        if value is None or value != value:
            at = next(i for i, other in enumerate(values) if other is None or other != other)
            raise LabelError(f"{name} has no label at position {at}; leave out such items.")
        try:
            found[value] = index[value] if value in index else index[taxonomy.resolve(value)]
        except UnknownNodeError:
            unknown.append(value)
    if unknown:
        raise LabelError(_unknown_message(taxonomy, unknown, name))
    return np.fromiter((found[value] for value in values), dtype=np.intp, count=len(values))


def _unknown_message(taxonomy: Taxonomy, unknown: list[Any], name: str) -> str:
    """Return what is said about labels that are not in the taxonomy."""
    hint = next(filter(None, (closest(str(label), taxonomy.nodes) for label in unknown[:3])), "")
    count = "1 label" if len(unknown) == 1 else f"{len(unknown)} labels"
    are = "is not a node" if len(unknown) == 1 else "are not nodes"
    return f"{count} in {name} {are} of the taxonomy: {some(unknown)}.{hint}"


def _encode_indicator(taxonomy: Taxonomy, y: Any, classes: Iterable[str] | None, name: str) -> CSR:
    """Return the node columns of an indicator matrix over classes."""
    from scipy.sparse import csr_array

    Y = csr_array(y if hasattr(y, "tocsr") else np.asarray(y))
    if not np.isin(Y.data, (0, 1)).all():
        raise LabelError(f"{name} is a matrix and must hold only 0 and 1; got other values.")
    Y = csr_array(Y, dtype=bool)
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
            "give classes, the id of each column."
        )
    return csr_array((Y.data, codes[Y.indices], Y.indptr), shape=(Y.shape[0], taxonomy.n_nodes))

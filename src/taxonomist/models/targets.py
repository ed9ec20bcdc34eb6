"""``Targets``: the encoded labels of a fit, and the format of predictions.

``taxonomy.labels.is_label_sets`` decides whether items have one label each or label sets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from taxonomist.errors import LabelError, ParameterError, closest, some
from taxonomist.solvers.problem import one_label_each
from taxonomist.taxonomy import Categories, Taxonomy, labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from taxonomist._typing import CSR, Codes, Floats, LabelsLike, MatrixLike, Objects


@dataclass(frozen=True)
class Targets:
    """The category, or set of categories, of each item.

    Attributes
    ----------
    categories
        The categories of the model.
    labels
        The categories of each item, (n_items, n_categories) boolean CSR. A label is redundant if
        one of its descendants is given as well.
    classes
        The labels of the columns, as given by the user.
    columns
        If ``y`` was an indicator matrix, the nodes of its columns; else None.
    is_dense
        Whether the indicator matrix was dense.
    is_single
        Whether items have one label each instead of label sets.
    is_flat
        Whether no taxonomy was given, so that labels need not be node ids.
    has_integers
        Whether labels of a taxonomy were given as integers. Then every id that is written like an
        integer is returned as an integer.
    """

    categories: Categories
    labels: CSR
    classes: Objects
    columns: Codes | None = None
    is_dense: bool = False
    is_single: bool = False
    is_flat: bool = False
    has_integers: bool = False

    @classmethod
    def from_labels(
        cls,
        taxonomy: Taxonomy | None,
        y: Any,
        X: MatrixLike,
        classes: Iterable[object] | None = None,
    ) -> Targets:
        """Encode labels; without a taxonomy, a flat taxonomy of the labels is used.

        ``classes`` lists labels that may occur later. It is ignored for indicator matrices.
        """
        if y is None:
            raise ParameterError("fit requires y to be passed, but the target y is None.")
        if (hasattr(y, "__array__") and not hasattr(y, "shape")) or _is_rows_of_bits(y):
            y = np.asarray(y)
        check_consistent_length(X, y)
        is_single = _is_column(y) or not labels.is_label_sets(y)
        if classes is not None and not labels.is_indicator(y):
            front = list(classes) if is_single else [[label] for label in classes]
            behind = np.ravel(y).tolist() if is_single else labels.as_sets(y)
            together = front + behind
            return cls._of(taxonomy, together).select(np.arange(len(front), len(together)))
        try:
            return cls._of(taxonomy, y)
        except LabelError as error:
            raise LabelError(f"{error}{_numbering_hint(taxonomy, y)}") from error

    @classmethod
    def _of(cls, taxonomy: Taxonomy | None, y: LabelsLike) -> Targets:
        """Encode labels of either kind."""
        if _is_column(y) or not labels.is_label_sets(y):
            return cls._single(taxonomy, y)
        if taxonomy is None:
            return cls._flat(y)
        columns = _column_ids(taxonomy, y) if labels.is_indicator(y) else None
        categories = Categories.from_labels(taxonomy, y, columns)
        marked = categories.encode_sets(y, columns)
        has_integers = labels.are_integers(y)
        classes = _classes(categories, has_integers)
        found = cls(categories, marked, classes, has_integers=has_integers)
        return found._answering_like(y, columns)

    @classmethod
    def _single(cls, taxonomy: Taxonomy | None, y: Any) -> Targets:
        """Encode one label per item."""
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        if taxonomy is None:
            # It warns of many classes, which strings may well have.
            if not all(isinstance(label, str) for label in y.tolist()):
                labels.check_present(y.tolist(), "y")
                check_classification_targets(y)
            classes, codes = np.unique(y, return_inverse=True)
            categories, codes = flat_categories(classes.tolist()), codes.astype(np.intp)
            marked = one_label_each(codes, len(categories))
            return cls(categories, marked, classes, is_single=True, is_flat=True)
        categories, codes = Categories.of_items(taxonomy, y)
        marked, has_integers = one_label_each(codes, len(categories)), labels.are_integers(y)
        classes = _classes(categories, has_integers)
        return cls(categories, marked, classes, is_single=True, has_integers=has_integers)

    @classmethod
    def _flat(cls, y: Any) -> Targets:
        """Encode label sets without a taxonomy."""
        from scipy.sparse import csr_array

        if labels.is_indicator(y):
            n_columns = y.shape[1]
            names = list(y.columns) if hasattr(y, "columns") else range(n_columns)
            categories = flat_categories(list(names))
            table = y if hasattr(y, "tocsr") else np.asarray(y)
            marked = categories.encode_sets(table, categories.ids)
            flat = cls(categories, marked, np.array(names), is_flat=True)
            return flat._answering_like(y, categories.ids)
        sets = labels.as_sets(y)
        classes = np.unique([label for item in sets for label in item])
        if not len(classes):
            raise LabelError("No item has a label, so there is nothing to learn: give a taxonomy.")
        lengths = [len(item) for item in sets]
        columns = np.searchsorted(classes, [label for item in sets for label in item])
        where = np.repeat(np.arange(len(sets)), lengths), columns
        marked = csr_array((np.ones(len(columns), bool), where), shape=(len(sets), len(classes)))
        return cls(flat_categories(classes.tolist()), marked, classes, is_flat=True)

    def _answering_like(self, y: LabelsLike, columns: Sequence[str] | None) -> Targets:
        """Return the targets with predictions in the format of the given indicator matrix."""
        if columns is None:
            return self
        codes = self.categories.taxonomy.codes(columns)
        return replace(self, columns=codes, is_dense=not hasattr(y, "tocsr"))

    def again(self, y: Any, X: MatrixLike) -> Targets:
        """Encode the labels of more items, with the same categories and format."""
        check_consistent_length(X, y)
        if self.columns is not None:
            taxonomy = self.categories.taxonomy
            ids = [taxonomy.nodes[code] for code in self.columns.tolist()]
            return replace(self, labels=self.categories.encode_sets(y, ids))
        if _is_column(y):
            y = np.ravel(y)
        return replace(self, labels=self.encode(y))

    def encode(self, y: LabelsLike) -> CSR:
        """Encode label sets, or one label per item; raise if a label is unknown."""
        if self.is_flat:
            sets = labels.as_sets(y)
            column = {
                label: self.categories.ids[c] for c, label in enumerate(self.classes.tolist())
            }
            unknown = dict.fromkeys(label for item in sets for label in item if label not in column)
            if unknown:
                raise LabelError(
                    f"y contains labels that are not classes of the model: {some(list(unknown))}."
                )
            y = [[column[label] for label in item] for item in sets]
        return self.categories.encode_sets(y)

    def close(self, sets: CSR) -> CSR:
        """Close sets of categories under ancestors, (n_items, n_nodes)."""
        return sets @ self.categories.taxonomy.ancestor_matrix()[self.nodes]

    def select(self, items: Codes) -> Targets:
        """Return the targets of some items."""
        return replace(self, labels=self.labels[items])

    def with_labels(self, marked: CSR) -> Targets:
        """Return the targets of other items, whose labels are encoded."""
        return replace(self, labels=marked)

    def without_items(self) -> Targets:
        """Return the targets without items: the categories and the format."""
        return self.select(np.arange(0))

    @property
    def nodes(self) -> Codes:
        """The node of each category in the taxonomy as given."""
        return self.categories.taxonomy.codes(self.categories.ids)

    @property
    def node_names(self) -> Sequence[object]:
        """The names of nodes for users: their ids or, without a taxonomy, the labels."""
        nodes = self.categories.taxonomy.nodes
        if self.has_integers:
            return [labels.as_integer(node) for node in nodes]
        if not self.is_flat:
            return nodes
        names: list[object] = list(nodes)
        for code, label in zip(self.nodes.tolist(), self.classes.tolist(), strict=True):
            names[code] = label
        return names

    def name_array(self) -> Objects:
        """Return ``node_names`` as an array of objects, or of integers if all are."""
        return _array(self.node_names) if self.has_integers else np.array(self.node_names, object)

    def paths_to(self, rows: list[list[int]]) -> list[list[tuple[object, ...]]]:
        """Return the first path to each of several nodes; the path to a virtual root is empty."""
        taxonomy, names = self.categories.taxonomy, self.node_names
        used = sorted({code for codes in rows for code in codes})
        path = {}
        for code in used:
            nodes = taxonomy.paths(taxonomy.nodes[code], limit=1)[0]
            path[code] = tuple(names[c] for c in taxonomy.codes(nodes).tolist())
        if taxonomy.has_artificial_root:
            path[0] = ()
        return [[path[code] for code in codes] for codes in rows]

    def column(self, label: object) -> int:
        """Return the column of a label, which may also be given as an id or an integer."""
        known: list[object] = self.classes.tolist()
        if label in known:
            return known.index(label)
        if not self.is_flat and str(label) in self.categories.ids:
            return self.categories.ids.index(str(label))
        hint = closest(str(label), map(str, known))
        raise LabelError(f"{label!r} is not a category of the model.{hint}")


def _numbering_hint(taxonomy: Taxonomy | None, y: LabelsLike) -> str:
    """Return what to do if a meta-estimator has replaced the labels by numbers, else nothing."""
    numbers = getattr(y, "dtype", None) and np.asarray(y)
    if taxonomy is None or not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "iu":
        return ""
    found = set(np.unique(numbers).tolist())
    if not found or min(found) < -1 or max(found) >= taxonomy.n_nodes:
        return ""
    hint = (
        " If a meta-estimator such as BaggingClassifier has numbered the labels, wrap the model: "
        "NumberedClassifier(model, classes=numpy.unique(y))."
    )
    if found <= {-1, 0, 1}:
        hint += (
            " Meta-estimators that learn one class at a time, such as OneVsRestClassifier, cannot "
            "use a taxonomy; NodeSVC learns one classifier for each node."
        )
    return hint


def _classes(categories: Categories, has_integers: bool) -> Objects:
    """Return the labels of the columns."""
    ids = categories.ids
    return _array([labels.as_integer(node) for node in ids] if has_integers else ids)


def _array(names: Sequence[object]) -> Objects:
    """Return names as an array of integers if all are, else of objects."""
    is_small = all(isinstance(name, int) and abs(name) < 2**63 for name in names)
    return np.array(names, dtype=np.int64 if is_small else object)


def _is_column(y: Any) -> bool:
    """Return whether labels are a table with one column, which means one label per item."""
    return getattr(y, "ndim", 0) == 2 and y.shape[1] == 1


def _is_rows_of_bits(y: LabelsLike) -> bool:
    """Return whether labels are an indicator matrix as a list of rows."""
    if not isinstance(y, (list, tuple)) or not y:
        return False
    rows = [row for row in y if isinstance(row, (list, tuple, np.ndarray))]
    lengths = {len(row) for row in rows}
    if len(rows) < len(y) or len(lengths) > 1 or lengths.pop() < 2:
        return False
    return all(
        isinstance(cell, (int, np.integer)) and cell in (0, 1) for row in rows for cell in row
    )


def _column_ids(taxonomy: Taxonomy, y: Any) -> list[str]:
    """Return the node of each column of an indicator matrix: all nodes, or all leaves."""
    if hasattr(y, "columns") and all(str(column) in taxonomy for column in y.columns):
        return [str(column) for column in y.columns]
    leaves = [taxonomy.nodes[code] for code in np.flatnonzero(taxonomy.is_leaf)]
    for ids in (list(taxonomy.nodes), list(taxonomy.nodes[1:]), leaves):
        if y.shape[1] == len(ids):
            return ids
    raise LabelError(
        f"y has {y.shape[1]} columns, but the taxonomy has {taxonomy.n_nodes} nodes, "
        f"{len(leaves)} of them leaves; give a column for each of either, a data frame with node "
        "ids as columns, or the ids of each item."
    )


def flat_categories(labels: Sequence[object]) -> Categories:
    """Return the categories of a flat taxonomy of labels of any type."""
    ids = [str(label) for label in labels]
    if len({label.strip().casefold() for label in [*ids, "", "root"]}) < len(ids) + 2:
        ids = [f"class {number}" for number in range(len(ids))]
    return Categories.from_labels(Taxonomy.flat(ids), [])


def item_weights(sample_weight: ArrayLike | None, X: MatrixLike) -> Floats:
    """Return the weight of each item, 1 by default; raise if one is negative."""
    weights: Floats = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    return weights

"""Tasks that load parts of the data: validated rows, labels and weights, and facts about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist.distributed.blocks import matrix_of
from taxonomist.distributed.engine import reduce
from taxonomist.distributed.label_summary import LabelSummary
from taxonomist.errors import ParameterError
from taxonomist.models.targets import item_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Floats, Objects
    from taxonomist.distributed.blocks import Block
    from taxonomist.distributed.engine import Engine, Handle
    from taxonomist.models.base import TaxonomyClassifier
    from taxonomist.taxonomy import Taxonomy


class LoadedPart(NamedTuple):
    """Some items on a worker.

    Attributes
    ----------
    X
        Validated rows.
    y
        Labels as given.
    weights
        Weights of the items.
    feature_names
        Names of the features, or None.
    n_features
        The number of features as given.
    """

    X: Block
    y: Block
    weights: Floats
    feature_names: Objects | None
    n_features: int


class PartFacts(NamedTuple):
    """Facts about parts, in their order.

    Attributes
    ----------
    weights
        The weights of the items of each part.
    n_values, n_bytes
        The number of stored values of items with a weight, and the bytes of all rows, of each part.
    n_features
        The numbers of features that occur.
    feature_names
        The names of features of the first part with items, or None.
    labels
        Which labels occur.
    """

    weights: list[Floats]
    n_values: list[int]
    n_bytes: list[int]
    n_features: set[int]
    feature_names: Objects | None
    labels: LabelSummary

    @classmethod
    def of(cls, part: LoadedPart, taxonomy: Taxonomy | None) -> PartFacts:
        """Return the facts about a part."""
        sizes = _entries(part.X)
        return cls(
            [part.weights],
            [int(sizes[part.weights > 0].sum())],
            [_n_bytes(part.X)],
            {part.n_features} if len(part.weights) else set(),
            part.feature_names,
            LabelSummary.of(taxonomy, part.y),
        )

    @classmethod
    def joined(cls, parts: Sequence[PartFacts]) -> PartFacts:
        """Return the facts about all parts."""
        names = [part.feature_names for part in parts if part.feature_names is not None]
        return cls(
            [array for part in parts for array in part.weights],
            [number for part in parts for number in part.n_values],
            [number for part in parts for number in part.n_bytes],
            set().union(*(part.n_features for part in parts)),
            names[0] if names else None,
            LabelSummary.joined([part.labels for part in parts]),
        )

    @property
    def all_weights(self) -> Floats:
        """The weights of all items."""
        return np.concatenate(self.weights)

    def check(self) -> None:
        """Raise if there are no items, or if parts differ in their features."""
        if not self.n_features:
            raise ParameterError("All partitions are empty, so there is nothing to learn.")
        if len(self.n_features) > 1:
            numbers = ", ".join(map(str, sorted(self.n_features)))
            raise ParameterError(
                f"Partitions of X have different numbers of features: {numbers}. Give all the same."
            )
        if not any((weights > 0).any() for weights in self.weights):
            raise ParameterError("No item has a weight above 0, so there is nothing to learn.")


def load_parts(
    engine: Engine, blocks: Sequence[Sequence[Handle]], model: TaxonomyClassifier
) -> tuple[list[Handle], PartFacts]:
    """Load the blocks of items, labels and weights on the workers.

    Parameters
    ----------
    engine
        The engine.
    blocks
        The blocks of X, of y and of the weights.
    model
        An unfitted local model, which validates rows.

    Returns
    -------
    parts : list of handles of ``LoadedPart``
    facts : PartFacts
    """
    shared = engine.scatter(model)
    parts = engine.map(load_part, range(len(blocks[0])), *blocks, shared=(shared,))
    found = engine.map(PartFacts.of, parts, shared=(engine.scatter(model.taxonomy),))
    facts: PartFacts = engine.gather([reduce(engine, PartFacts.joined, found)])[0]
    facts.check()
    return parts, facts


def load_part(
    number: int, X: Block, y: Block, sample_weight: Block, model: TaxonomyClassifier
) -> LoadedPart:
    """Return a part with validated rows and weights."""
    from sklearn.base import clone

    X = matrix_of(X)
    if y is None:
        raise ParameterError("fit requires y to be passed, but the target y is None.")
    if hasattr(y, "iloc") and y.ndim == 1:
        y = y.to_numpy()
    n_items = X.shape[0] if hasattr(X, "shape") else len(X)
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        n_given = n_items if given is None else _length(given)
        if n_given != n_items:
            raise ParameterError(
                f"Partition {number} has {n_items} items, but {name} has {n_given} there; give "
                "both the same items in each partition."
            )
    if not n_items:
        n_features = X.shape[1] if getattr(X, "ndim", 1) == 2 else 0
        return LoadedPart(csr_array((0, n_features)), y, np.empty(0), None, n_features)
    checker = clone(model)
    rows = checker.checked_rows(X, reset=True)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    names = getattr(checker, "feature_names_in_", None)
    # All weights of a part may be 0, those of all items may not; see ``PartFacts.check``.
    if weights is None or weights.any():
        weights = item_weights(weights, rows)
    return LoadedPart(rows, y, weights, names, checker.n_features_in_)


def _length(given: Block) -> int:
    """Return the number of items of labels or weights."""
    return int(given.shape[0]) if hasattr(given, "shape") else len(given)


def _entries(X: Block) -> Block:
    """Return the number of stored values of each row."""
    return np.diff(X.indptr) if hasattr(X, "indptr") else np.full(X.shape[0], X.shape[1])


def _n_bytes(X: Block) -> int:
    """Return the memory of rows."""
    if hasattr(X, "indptr"):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)

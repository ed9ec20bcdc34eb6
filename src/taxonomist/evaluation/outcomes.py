"""True and predicted label sets side by side, and the counts behind all measures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Bools, Codes, Floats, LabelsLike
    from taxonomist.taxonomy import Taxonomy


@dataclass(frozen=True)
class Outcomes:
    """True and predicted labels of items, (n_items, n_nodes) each.

    Attributes
    ----------
    taxonomy
        The taxonomy of the labels.
    true, predicted
        The labels as given, boolean.
    is_multilabel
        Whether items have label sets instead of one label each.
    """

    taxonomy: Taxonomy
    true: CSR
    predicted: CSR
    is_multilabel: bool

    @classmethod
    def of(
        cls,
        truth: LabelsLike,
        predicted: LabelsLike,
        taxonomy: Taxonomy,
        classes: Sequence[str] | None,
    ) -> Outcomes:
        """Encode labels in any form; ``classes`` names the columns of an indicator matrix."""
        is_multilabel = labels.is_label_sets(truth) or labels.is_label_sets(predicted)
        true, found = (
            labels.encode_sets(taxonomy, y, _columns(y, classes), name=name)
            for y, name in ((truth, "truth"), (predicted, "predicted"))
        )
        if true.shape[0] != found.shape[0] or true.shape[0] == 0:
            raise LabelError(
                f"truth has {true.shape[0]} items but predicted has {found.shape[0]}; pass the "
                "same items, at least one."
            )
        return cls(taxonomy, true, found, is_multilabel)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.true.shape[0])

    @cached_property
    def closed_true(self) -> CSR:
        """True labels and their ancestors, without the root."""
        return _without_root(labels.close(self.taxonomy, self.true))

    @cached_property
    def closed_predicted(self) -> CSR:
        """Predicted labels and their ancestors, without the root."""
        return _without_root(labels.close(self.taxonomy, self.predicted))

    @cached_property
    def missed(self) -> CSR:
        """Nodes that are true but not predicted."""
        return self.closed_true > self.closed_predicted

    @cached_property
    def added(self) -> CSR:
        """Nodes that are predicted but not true."""
        return self.closed_predicted > self.closed_true

    @cached_property
    def n_wrong(self) -> Codes:
        """Number of nodes in exactly one of an item's two closed sets.

        Unless it is virtual, the root counts if exactly one of the two sets is empty.
        """
        sizes = np.diff(self.missed.indptr) + np.diff(self.added.indptr)
        wrong: Codes = np.asarray(sizes, dtype=np.intp)
        if not self.taxonomy.has_artificial_root:
            wrong += _is_empty(self.true) != _is_empty(self.predicted)
        return wrong

    @cached_property
    def is_right(self) -> Bools:
        """Whether exactly the true labels of an item were predicted."""
        return np.equal(self.n_wrong, 0)

    def single_codes(self) -> tuple[Codes, Codes]:
        """Return the true and the predicted node of items with one label each."""
        return self.true.indices.astype(np.intp), self.predicted.indices.astype(np.intp)


@dataclass(frozen=True)
class NodeCounts:
    """The number of items on which each node is true, predicted, and both.

    Attributes
    ----------
    true, predicted, both
        One number per node in taxonomy order; 0 for the root.
    """

    true: Floats
    predicted: Floats
    both: Floats

    @classmethod
    def of(cls, outcomes: Outcomes) -> NodeCounts:
        """Count the nodes of the closed sets."""
        Y, U = outcomes.closed_true, outcomes.closed_predicted
        n = outcomes.taxonomy.n_nodes
        counts = (np.bincount(part.indices, minlength=n) for part in (Y, U, Y * U))
        return cls(*(count.astype(np.float64) for count in counts))

    def pooled(self, groups: CSR | Floats) -> NodeCounts:
        """Return the sums over groups of nodes, the rows of a (n_groups, n_nodes) matrix."""
        return NodeCounts(groups @ self.true, groups @ self.predicted, groups @ self.both)

    @cached_property
    def precision(self) -> Floats:
        """Fraction of predicted labels that are true; NaN if nothing is predicted."""
        return ratio(self.both, self.predicted)

    @cached_property
    def recall(self) -> Floats:
        """Fraction of true labels that are predicted; NaN if nothing is true."""
        return ratio(self.both, self.true)

    @cached_property
    def f1(self) -> Floats:
        """Harmonic mean of precision and recall; NaN if nothing is true or predicted."""
        return ratio(2 * self.both, self.predicted + self.true)


def ratio(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, or NaN where the whole is zero."""
    shares: Floats = np.full(np.shape(whole), np.nan)
    return np.divide(part, whole, out=shares, where=whole > 0)


def _is_empty(Y: CSR) -> Bools:
    empty: Bools = np.equal(np.diff(Y.indptr), 0)
    return empty


def _columns(y: LabelsLike, classes: Sequence[str] | None) -> Sequence[str] | None:
    """Return the ids of an indicator's columns: the classes if their number fits, else None."""
    fits = classes is not None and getattr(y, "shape", ())[1:] == (len(classes),)
    return classes if fits else None


def _without_root(Y: CSR) -> CSR:
    """Remove the root from label sets, keeping the columns."""
    from scipy.sparse import csr_array

    keep = np.not_equal(Y.indices, 0)
    starts = np.append(0, np.cumsum(keep))[Y.indptr]
    return csr_array((Y.data[keep], Y.indices[keep], starts), shape=Y.shape)

"""Counts of true and predicted labels, the nodes that count, and the ratios made of them."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Bools, Codes, Floats
    from taxonomist.taxonomy import Taxonomy

ZeroDivision: TypeAlias = float | Literal["warn"]
"""The value of a ratio whose denominator is zero; ``"warn"`` is 0 with a warning."""

CLOSED = ("all", "leaves", "below_roots")
"""Words for nodes of label sets that are closed under ancestors."""


class PRF(NamedTuple):
    """Precision, recall, F1 and support, the (weighted) number of true labels.

    The fields are numbers for an average, otherwise arrays aligned with the nodes. The field ``f1``
    is F-beta if the function was called with another ``beta`` than 1.
    """

    precision: Any
    recall: Any
    f1: Any
    support: Any


class Counts(NamedTuple):
    """Numbers of labels that are both true and predicted, predicted, and true."""

    both: Floats
    predicted: Floats
    true: Floats

    def prf(self, zero_division: ZeroDivision | Floats, beta: float = 1.0) -> PRF:
        """Return the three ratios; F-beta is computed from counts, not from P and R."""
        weight = beta * beta
        part, whole = self.both, self.true
        if not math.isinf(weight):
            part, whole = (1 + weight) * self.both, weight * self.true + self.predicted
        wholes = (self.predicted, self.true, whole)
        if isinstance(zero_division, str):
            zero_division = 0.0
            _warn_of_zeros(wholes)
        return PRF(
            _ratio(self.both, self.predicted, zero_division),
            _ratio(self.both, self.true, zero_division),
            _ratio(part, whole, zero_division),
            self.true,
        )

    def total(self, chosen: Codes | Bools) -> Counts:
        """Return the sums over the chosen nodes as arrays of length one."""
        return Counts(*(np.array([part[chosen].sum()]) for part in self))


def count_per_node(Y: CSR, U: CSR, weights: Floats) -> Counts:
    """Count labels per node over all items."""
    return Counts(*(weights @ part for part in (Y * U, U, Y)))


def count_per_item(Y: CSR, U: CSR) -> Counts:
    """Count labels per item over all nodes."""
    return Counts(*(np.diff(part.indptr).astype(np.float64) for part in (Y * U, U, Y)))


def check_options(beta: float, zero_division: object) -> None:
    """Raise unless beta is 0 or more and ``zero_division`` is in [0, 1], NaN or ``"warn"``."""
    is_number = isinstance(beta, (int, float, np.number)) and not isinstance(beta, bool)
    if not is_number or math.isnan(beta) or beta < 0:
        raise LabelError(f"beta is {beta!r}; it must be a number, at least 0.")
    if isinstance(zero_division, (int, float, np.number)):
        if math.isnan(zero_division) or 0 <= zero_division <= 1:
            return
    elif isinstance(zero_division, str) and zero_division == "warn":
        return
    raise LabelError(
        f"zero_division is {zero_division!r}; it must be a number from 0 to 1, NaN or 'warn'."
    )


def closed_nodes(taxonomy: Taxonomy, nodes: str | Sequence[str]) -> Codes:
    """Return the nodes that count among label sets that are closed under ancestors.

    Parameters
    ----------
    taxonomy
        The taxonomy.
    nodes
        ``"all"`` for every node except the root, ``"leaves"``, ``"below_roots"`` for every node
        except the root and the ``roots`` of the taxonomy, or ids.
    """
    if not isinstance(nodes, str):
        return taxonomy.codes(nodes)
    if nodes == "leaves":
        return np.flatnonzero(taxonomy.is_leaf)
    if nodes == "all":
        return np.arange(1, taxonomy.n_nodes)
    if nodes == "below_roots":
        return np.setdiff1d(np.arange(1, taxonomy.n_nodes), taxonomy.codes(taxonomy.roots))
    words = ", ".join(map(repr, CLOSED))
    raise LabelError(f"nodes is {nodes!r}; pass {words} or a sequence of ids.")


def compared(
    taxonomy: Taxonomy, nodes: str | Sequence[str], Y: CSR, U: CSR
) -> tuple[Codes, CSR, CSR]:
    """Return the nodes that count, and the label sets to compare.

    For ``"labels"`` these are the sets as given, for ``"categories"`` their most specific labels,
    and otherwise the sets closed under ancestors.
    """
    if isinstance(nodes, str) and nodes == "labels":
        return np.arange(taxonomy.n_nodes), Y, U
    if isinstance(nodes, str) and nodes == "categories":
        chosen = np.union1d(labels.categories(taxonomy, Y), labels.categories(taxonomy, U))
        return chosen, labels.most_specific(taxonomy, Y), labels.most_specific(taxonomy, U)
    if isinstance(nodes, str) and nodes not in CLOSED:
        words = ", ".join(map(repr, (*CLOSED, "categories", "labels")))
        raise LabelError(f"nodes is {nodes!r}; pass {words} or a sequence of ids.")
    return closed_nodes(taxonomy, nodes), labels.close(taxonomy, Y), labels.close(taxonomy, U)


def mean_of_defined(values: Floats, weights: Floats | None, otherwise: ZeroDivision) -> float:
    """Return the mean of the values that are not NaN, or another value if all are."""
    defined = ~np.isnan(values)
    counted = None if weights is None else weights[defined]
    if not (defined if counted is None else counted).any():
        return 0.0 if isinstance(otherwise, str) else float(otherwise)
    return float(np.average(values[defined], weights=counted))


def _ratio(part: Floats, whole: Floats, zero_division: float | Floats) -> Floats:
    """Return part / whole, and ``zero_division`` where the whole is zero."""
    result = np.array(np.broadcast_to(zero_division, whole.shape), dtype=np.float64)
    return np.divide(part, whole, out=result, where=whole > 0)


def _warn_of_zeros(wholes: tuple[Floats, Floats, Floats]) -> None:
    # Imported here because loading scikit-learn takes longer than the rest of this package.
    from sklearn.exceptions import UndefinedMetricWarning

    names = ("Precision", "Recall", "F-score")
    zeros = [name for name, whole in zip(names, wholes, strict=True) if (whole <= 0).any()]
    if zeros:
        warnings.warn(
            f"{' and '.join(zeros)} divided by zero, because nothing is predicted or nothing is "
            "true; the value is 0. Pass zero_division to choose another value.",
            UndefinedMetricWarning,
            stacklevel=4,
        )

"""Check and encode the inputs of measures: labels, label sets and item weights."""

from __future__ import annotations

import warnings
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from taxonomist._typing import CSR, Bools, Codes, Floats, LabelsLike
    from taxonomist.taxonomy import Taxonomy


def count_items(y_true: Any, other: Any, name: str = "y_pred") -> int:
    """Return the number of items; raise if the two arguments differ or are empty."""
    n_true, n_other = (y.shape[0] if hasattr(y, "shape") else len(y) for y in (y_true, other))
    if n_true != n_other:
        message = f"y_true has {n_true} items but {name} has {n_other}; pass the same items."
        raise LabelError(message)
    if n_true == 0:
        raise LabelError(f"y_true and {name} are empty; a measure needs at least one item.")
    return int(n_true)


def as_id(label: object) -> object:
    """Return a label as a node id; integers become strings."""
    is_number = isinstance(label, (int, np.integer)) and not isinstance(label, bool)
    return str(label) if is_number else label


def encode_pair(y_true: LabelsLike, y_pred: LabelsLike, taxonomy: Taxonomy) -> tuple[Codes, Codes]:
    """Return the node codes of one true and one predicted label per item."""
    count_items(y_true, y_pred)
    true = labels.encode(taxonomy, y_true, name="y_true")
    return true, labels.encode(taxonomy, y_pred, name="y_pred")


def encode_sets(
    y_true: LabelsLike, y_pred: LabelsLike, taxonomy: Taxonomy, classes: Sequence[str] | None
) -> tuple[CSR, CSR]:
    """Return the true and predicted label sets without adding ancestors, items x nodes."""
    count_items(y_true, y_pred)
    true = labels.encode_sets(taxonomy, y_true, classes, name="y_true")
    return true, labels.encode_sets(taxonomy, y_pred, classes, name="y_pred")


def closed_sets(
    y_true: LabelsLike, y_pred: LabelsLike, taxonomy: Taxonomy, classes: Sequence[str] | None
) -> tuple[CSR, CSR]:
    """Return the true and predicted label sets closed under ancestors, items x nodes."""
    true, predicted = encode_sets(y_true, y_pred, taxonomy, classes)
    return labels.close(taxonomy, true), labels.close(taxonomy, predicted)


def item_weights(sample_weight: ArrayLike | None, n_items: int) -> Floats:
    """Return one weight per item, all one by default."""
    if sample_weight is None:
        return np.ones(n_items)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_items,):
        message = f"sample_weight has shape {weights.shape}; pass one weight per item: {n_items}."
        raise LabelError(message)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise LabelError("sample_weight must be finite, not negative and not zero everywhere.")
    return weights


def mean(values: Floats | Bools, sample_weight: ArrayLike | None) -> float:
    """Return the weighted mean over all items."""
    _keep(np.asarray(values, dtype=np.float64))
    return float(np.average(values, weights=item_weights(sample_weight, len(values))))


def defined_mean(values: Floats, defined: Bools, sample_weight: ArrayLike | None) -> float:
    """Return the weighted mean over the items for which the measure is defined."""
    _keep(np.where(defined, values, np.nan))
    weights = item_weights(sample_weight, len(values)) * defined
    if not weights.any():
        return undefined("No item has a relevant category, so the measure is undefined.")
    return float(np.average(values, weights=weights))


_kept: ContextVar[list[Floats] | None] = ContextVar("_kept", default=None)


def _keep(values: Floats) -> None:
    """Record the values of a mean if `item_values` is collecting them."""
    kept = _kept.get()
    if kept is not None:
        kept.append(values)


def item_values(measure: Callable[..., float], *arguments: Any, **options: Any) -> Floats:
    """Return the per-item values whose mean a measure is.

    Parameters
    ----------
    measure
        A function of this package that averages over items, such as ``taxonomy_loss``.
    *arguments, **options
        The arguments of the measure.

    Returns
    -------
    ndarray
        One value per item; NaN where the measure is undefined.

    Raises
    ------
    TypeError
        If the measure is not a mean over items.

    Examples
    --------
    >>> from taxonomist import metrics
    >>> metrics.item_values(metrics.accuracy, ["a", "b", "b"], ["a", "a", "b"])
    array([1., 0., 1.])
    """
    from sklearn.exceptions import UndefinedMetricWarning

    kept: list[Floats] = []
    token = _kept.set(kept)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            measure(*arguments, **options)
    finally:
        _kept.reset(token)
    if len(kept) != 1:
        name = getattr(measure, "__name__", repr(measure))
        raise TypeError(f"{name} is not a mean of one value per item; use another measure.")
    return kept[0]


def undefined(why: str) -> float:
    """Warn that a measure is undefined and return NaN."""
    # Imported here because loading scikit-learn takes longer than the rest of this package.
    from sklearn.exceptions import UndefinedMetricWarning

    warnings.warn(why, UndefinedMetricWarning, stacklevel=4)
    return float("nan")

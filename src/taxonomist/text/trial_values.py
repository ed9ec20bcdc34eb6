"""Values by document of the measures that text classifiers are chosen for.

Each measure is the mean of its values, so that two choices can be compared with an interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Floats

__all__ = ["values_by_document"]


def values_by_document(
    measure: str, true: tuple[CSR, CSR], found: tuple[CSR, CSR], *, is_single: bool
) -> Floats:
    """Return the values of a measure by document; higher is better.

    Parameters
    ----------
    measure
        One of ``taxonomist.text.measure.MEASURES``. Other measures are hierarchical F1.
    true, found
        The true and the predicted labels of each document, twice: with all nodes above them but the
        root, and the most specific ones alone.
    is_single
        Whether documents have one label each, so that the taxonomy loss is half the difference.
    """
    if measure in ("micro_f1", "macro_f1"):
        return (_micro_f1 if measure == "micro_f1" else _macro_f1)(true[1], found[1])
    if measure == "taxonomy_loss":
        # 0 - 0 is 0, but -0.0 would be printed with its sign.
        return 0.0 - (0.5 if is_single else 1.0) * _difference(true[0], found[0])
    return (_exact if measure == "accuracy" else _f1)(true[0], found[0])


def _sizes(part: CSR) -> Floats:
    return np.asarray(part.sum(axis=1), dtype=np.float64)


def _both(true: CSR, found: CSR) -> CSR:
    return csr_array(true.multiply(found))


def _f1(true: CSR, found: CSR) -> Floats:
    """Return the F1 of the nodes of each document."""
    both, sizes = _sizes(_both(true, found)), _sizes(true) + _sizes(found)
    return np.where(sizes > 0, 2 * both / np.maximum(sizes, 1), 1.0)


def _difference(true: CSR, found: CSR) -> Floats:
    return _sizes(true) + _sizes(found) - 2 * _sizes(_both(true, found))


def _exact(true: CSR, found: CSR) -> Floats:
    return np.asarray(_difference(true, found) == 0, dtype=np.float64)


def _micro_f1(true: CSR, found: CSR) -> Floats:
    """Return pooled F1, plus the linear influence of each document on it."""
    both, whole = 2 * _sizes(_both(true, found)), _sizes(true) + _sizes(found)
    total = whole.sum()
    if not total:
        return np.ones(len(whole))
    ratio = both.sum() / total
    return np.asarray(ratio + (both - ratio * whole) * len(whole) / total)


def _macro_f1(true: CSR, found: CSR) -> Floats:
    """Return the mean F1 of true or predicted labels, plus the influence of each document."""
    both, whole = csr_array(2.0 * _both(true, found)), csr_array(1.0 * true + 1.0 * found)
    totals = np.asarray(whole.sum(axis=0))
    used = totals > 0
    if not used.any():
        return np.ones(whole.shape[0])
    f1 = np.divide(np.asarray(both.sum(axis=0)), totals, out=np.zeros_like(totals), where=used)
    each = np.divide(whole.shape[0] / used.sum(), totals, out=np.zeros_like(totals), where=used)
    return np.asarray(f1[used].mean() + both @ each - whole @ (each * f1))

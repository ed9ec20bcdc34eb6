"""Measures of contestants, with values by item or by category for paired tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.experiments.declarations import Result
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Floats, LabelsLike
    from taxonomist.taxonomy import Taxonomy


def measured(
    y_true: LabelsLike, y_pred: LabelsLike, taxonomy: Taxonomy, ids: Sequence[str] | None = None
) -> Result:
    """Measure predictions, with values for paired tests.

    Parameters
    ----------
    y_true, y_pred
        One label per item, or label sets.
    taxonomy
        The taxonomy of the labels.
    ids
        Identities of the items; numbers by default.

    Returns
    -------
    Result
        ``hierarchical_f1``, pooled over items; ``taxonomy_loss``, the mean symmetric difference
        of closed label sets, or half of it if items have one label each; ``macro_f1``, the mean
        over the categories of the test items; and ``exact``, the fraction of items whose most
        specific labels are exactly right. Each is the mean of its values by item or, for
        ``macro_f1``, by category.
    """
    Y, U = (labels.encode_sets(taxonomy, labels.as_sets(y)) for y in (y_true, y_pred))
    T, P = (labels.close(taxonomy, part)[:, 1:] for part in (Y, U))
    both, true, predicted = (np.diff(part.indptr).astype(np.float64) for part in (T * P, T, P))
    half = 1.0 if labels.is_label_sets(y_true) else 0.5
    Y, U = (labels.most_specific(taxonomy, part) for part in (Y, U))
    items = {
        "hierarchical_f1": pseudo_values(2 * both, predicted + true),
        "taxonomy_loss": half * (predicted + true - 2 * both),
        "macro_f1": category_f1(Y, U),
        "exact": (np.diff((Y != U).tocsr().indptr) == 0).astype(np.float64),
    }
    values = {name: [float(part.mean())] for name, part in items.items()}
    names = [str(name) for name in (range(Y.shape[0]) if ids is None else ids)]
    used = np.flatnonzero(np.asarray(Y.sum(axis=0)) > 0)
    corpus = names[0].partition("/")[0]  # identities of items begin with it
    item_ids = dict.fromkeys(items, names) | {
        "macro_f1": [f"{corpus}/{taxonomy.nodes[node]}" for node in used]
    }
    found = {name: part.tolist() for name, part in items.items()}
    return Result(values, found, item_ids=item_ids)


def pseudo_values(part: Floats, whole: Floats) -> Floats:
    """Return a value for each item such that their mean is the ratio R = Σ part / Σ whole.

    Parameters
    ----------
    part, whole
        The summands, by item.

    Returns
    -------
    ndarray
        R + (part - R whole) / mean(whole), the linear influence of each item on the ratio.
    """
    if whole.sum() == 0:
        return np.zeros_like(whole)
    ratio = part.sum() / whole.sum()
    return np.asarray(ratio + (part - ratio * whole) / whole.mean())


def category_f1(Y: CSR, U: CSR) -> Floats:
    """Return the F1 of each category that occurs.

    Parameters
    ----------
    Y, U
        True and predicted labels, items x nodes.

    Returns
    -------
    ndarray
        One value per non-empty column of ``Y``.
    """
    both, true, predicted = (np.asarray(part.sum(axis=0)) for part in (Y * U, Y, U))
    used = true > 0
    return np.asarray(2 * both[used] / (true + predicted)[used])

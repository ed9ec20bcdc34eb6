"""Label sets evaluated as in TCPH01: precision, recall and F1, pooled and by category."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.evaluation import Plan, cross_validate
from taxonomist.experiments.declarations import Result
from taxonomist.experiments.work.set_measures import pseudo_values
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Floats
    from taxonomist.experiments.work.trials import MakeModel, MakeProblem

FEW = (10, 100)
"""Categories with at most this many training items are also evaluated separately."""


def label_set_trial(problem: MakeProblem, *, model: MakeModel) -> Result:
    """Fit a label-set model to the training items of the first split, and evaluate it.

    Parameters
    ----------
    problem
        Loads the data.
    model
        Makes the model.

    Returns
    -------
    Result
        The result of :func:`judged` for the test items.
    """
    data = problem()
    train, test = data.splits[0]
    plan = Plan(
        measures="micro_f1", taxonomy=data.taxonomy, cv=[(train, test)], keep_predictions=True
    )
    found = cross_validate(model(data.taxonomy), data.X, data.y, plan)
    assert found.predictions is not None
    leaves = labels.encode(data.taxonomy, data.taxonomy.leaves)
    y_train, y_test = ([data.y[item] for item in items] for items in (train, test))
    T, Y, U = (
        labels.encode_sets(data.taxonomy, part)[:, leaves].toarray().astype(np.float64)
        for part in (y_train, y_test, found.predictions[0])
    )
    ids = None if data.ids is None else [data.ids[item] for item in test]
    return judged(Y, U, T.sum(axis=0), ids=ids, categories=data.taxonomy.leaves)


def judged(
    Y: Floats,
    U: Floats,
    n_train: Floats,
    *,
    ids: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
) -> Result:
    """Return precision, recall, F1 and accuracy of label sets.

    Parameters
    ----------
    Y, U
        True and predicted labels, items x categories, 0 or 1.
    n_train
        Number of training items of each category.
    ids, categories
        Identities of the items and of the categories; numbers by default.

    Returns
    -------
    Result
        ``miP``, ``miR`` and ``miF1``, pooled over items and categories, with a value per item;
        ``maP``, ``maR`` and ``maF1``, means over categories, the first over those that were
        predicted at all (``n_predicted``), the others with a value per category; ``acc``, the
        fraction of (item, category) pairs that are right. ``F1`` and ``training documents`` are
        per category; ``f1_10`` and ``f1_100`` are the mean F1 of categories with at most 10 and
        100 training items.
    """
    both = Y * U
    hits, true, chosen = (part.sum(axis=1) for part in (both, Y, U))
    items = {
        "miP": pseudo_values(hits, chosen),
        "miR": pseudo_values(hits, true),
        "miF1": pseudo_values(2 * hits, true + chosen),
        "acc": np.mean(Y == U, axis=1),
    }
    hits, true, chosen = (part.sum(axis=0) for part in (both, Y, U))
    used = chosen > 0
    f1 = 2 * hits / np.maximum(true + chosen, 1)
    items |= {"maR": hits / np.maximum(true, 1), "maF1": f1}
    items |= {f"f1_{most}": f1[n_train <= most] for most in FEW}
    values = {name: _mean(part) for name, part in items.items()}
    values |= {"maP": _mean(hits[used] / chosen[used]), "n_predicted": [float(used.sum())]}
    values |= {"F1": f1.tolist(), "training documents": n_train.tolist()}
    found = {name: part.tolist() for name, part in items.items()}
    of_items = [str(name) for name in (range(len(Y)) if ids is None else ids)]
    of_categories = np.array(
        [str(name) for name in (range(Y.shape[1]) if categories is None else categories)]
    )
    item_ids = dict.fromkeys(("miP", "miR", "miF1", "acc"), of_items)
    item_ids |= dict.fromkeys(("maR", "maF1"), of_categories.tolist())
    item_ids |= {f"f1_{most}": of_categories[n_train <= most].tolist() for most in FEW}
    return Result(values, found, item_ids=item_ids)


def _mean(values: Any) -> list[float]:
    """Return the mean as a list of length one; 0 for no values."""
    return [float(np.mean(values)) if len(values) else 0.0]

"""Losses, precision and recall over microlabels [RSSS06], with values per item for paired tests.

Every node of the taxonomy is a microlabel, including the root; all items have a virtual root.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.pipeline import Pipeline

from taxonomist.evaluation import Plan, cross_validate
from taxonomist.experiments.declarations import Result
from taxonomist.experiments.work.set_measures import pseudo_values
from taxonomist.experiments.work.trials import identified
from taxonomist.taxonomy import differences, labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Codes, Floats, Matrix
    from taxonomist.experiments.work.trials import MakeModel, MakeProblem, SplitData
    from taxonomist.models import NodeSVC
    from taxonomist.taxonomy import Taxonomy


def labelling_trial(problem: MakeProblem, *, model: MakeModel) -> Result:
    """Cross-validate a model of label sets.

    Parameters
    ----------
    problem
        Loads the data.
    model
        Makes the model.

    Returns
    -------
    Result
        The measures of :func:`microlabel_values` by fold and by item; ``n_items``, ``n_nodes`` and
        ``fit_seconds``.
    """
    data = problem()
    plan = Plan(
        measures="zero_one_loss", taxonomy=data.taxonomy, cv=data.splits, keep_predictions=True
    )
    found = cross_validate(model(data.taxonomy), data.X, data.y, plan)
    folds = [
        microlabel_values([data.y[i] for i in test], predicted, data.taxonomy)
        for test, predicted in zip(found.test_items, found.predictions or (), strict=True)
    ]
    return _joined(data, folds, found.fit_seconds.tolist(), found.test_items)


def node_trial(problem: MakeProblem, *, model: MakeModel) -> Result:
    """Cross-validate one classifier per node, with and without post-processing.

    Parameters
    ----------
    problem
        Loads the data.
    model
        Makes a ``NodeSVC`` or ``TopDownSVC``, or a pipeline that ends with one.

    Returns
    -------
    Result
        As for :func:`labelling_trial`. Measures with the prefix ``raw_`` are those of the labels
        that the classifiers give, also below nodes that they reject [RSSS06, Sec. 5].
    """
    data = problem()
    folds, seconds = [], []
    for train, test in data.splits:
        fitted: Any = model(data.taxonomy)
        started = time.perf_counter()
        fitted.fit(data.X[train], [data.y[i] for i in train])
        seconds.append(time.perf_counter() - started)
        X = data.X[test]
        if isinstance(fitted, Pipeline):
            X, fitted = fitted[:-1].transform(X), fitted[-1]
        Y, U = (
            _labellings(y, data.taxonomy)
            for y in ([data.y[i] for i in test], fitted.predict_labels(X))
        )
        values = labelling_values(Y, U, data.taxonomy)
        raw = labelling_values(Y, _accepted(fitted, X, data.taxonomy), data.taxonomy)
        folds.append(values | {f"raw_{name}": value for name, value in raw.items()})
    return _joined(data, folds, seconds, [test for _, test in data.splits])


def _accepted(model: NodeSVC, X: Matrix, taxonomy: Taxonomy) -> CSR:
    """Return what the classifier of each node says, items x nodes; a virtual root has all items."""
    accepted = np.zeros((X.shape[0], taxonomy.n_nodes), dtype=bool)
    accepted[:, 0] = taxonomy.has_artificial_root
    for node, answer in model.node_constants_.items():
        accepted[:, taxonomy.code(node)] = answer
    for node, estimator in model.node_estimators_.items():
        accepted[:, taxonomy.code(node)] = estimator.decision_function(X) > 0
    return csr_array(accepted)


def _joined(
    data: SplitData, folds: list[dict[str, Floats]], seconds: list[float], tests: Sequence[Codes]
) -> Result:
    """Return the values of all folds, by fold and by item."""
    values = {name: [float(fold[name].mean()) for fold in folds] for name in folds[0]}
    items = {name: np.concatenate([fold[name] for fold in folds]).tolist() for name in folds[0]}
    sizes = {
        "n_items": [float(len(data.y))],
        "n_nodes": [float(data.taxonomy.n_nodes)],
        "fit_seconds": seconds,
    }
    return identified(Result(sizes | values, items), data.ids, tests)


def microlabel_values(
    y_true: Sequence[Any], y_pred: Sequence[Any], taxonomy: Taxonomy
) -> dict[str, Floats]:
    """Return measures of label sets for each item; their means are the overall measures.

    Parameters
    ----------
    y_true, y_pred
        Label sets; ancestors are added.
    taxonomy
        The taxonomy of the labels.

    Returns
    -------
    dict of ndarray
        ``zero_one`` and ``delta``; ``uniform``, ``sibling`` and ``subtree``, the scalings of the
        loss that charges a node only if its parent is right; ``precision``, ``recall`` and ``f1``
        of all microlabels together and, as in ``recall_2``, of those of each level.
    """
    Y, U = (_labellings(y, taxonomy) for y in (y_true, y_pred))
    return labelling_values(Y, U, taxonomy)


def labelling_values(Y: CSR, U: CSR, taxonomy: Taxonomy) -> dict[str, Floats]:
    """Return the measures of :func:`microlabel_values` for labellings, consistent or not.

    Parameters
    ----------
    Y, U
        True and predicted microlabels, items x nodes.
    taxonomy
        The taxonomy of the nodes.
    """
    wrong = np.diff(differences.charged(taxonomy, Y, U, "node").indptr).astype(np.float64)
    first = differences.charged(taxonomy, Y, U, "parent").astype(np.float64)
    values = {"zero_one": (wrong > 0).astype(np.float64), "delta": wrong}
    for scaling in differences.SCALINGS:
        values[scaling] = first @ differences.node_scaling(taxonomy, scaling)
    values |= _ratios(Y, U, np.ones(taxonomy.n_nodes), "")
    for level in range(taxonomy.height + 1):
        at_level = (taxonomy.depths == level).astype(np.float64)
        values |= _ratios(Y, U, at_level, f"_{level}")
    return values


def _labellings(y: Sequence[Any], taxonomy: Taxonomy) -> CSR:
    """Return the microlabels of all items, items x nodes."""
    sets = [list(row) for row in y]
    if taxonomy.has_artificial_root:
        sets = [[*row, taxonomy.root] for row in sets]
    return labels.close(taxonomy, labels.encode_sets(taxonomy, sets))


def _ratios(Y: CSR, U: CSR, chosen: Floats, suffix: str) -> dict[str, Floats]:
    """Return precision, recall and F1 over some nodes, as pseudo-values of items."""
    both, true, predicted = (part.astype(np.float64) @ chosen for part in (Y * U, Y, U))
    return {
        f"precision{suffix}": pseudo_values(both, predicted),
        f"recall{suffix}": pseudo_values(both, true),
        f"f1{suffix}": pseudo_values(2 * both, true + predicted),
    }

"""One SVM for each node of the first level, on test items unlike those of training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.experiments.declarations import Result
from taxonomist.solvers import free_bias

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Floats
    from taxonomist.experiments.work.trials import MakeProblem

KERNEL_BYTES = 5e8
ROWS_AT_A_TIME = 200


def top_level_trial(problem: MakeProblem, *, C: float = 1.0, limit: float = np.inf) -> Result:
    """Measure SVMs of the nodes below the root, on test items below a similarity.

    Parameters
    ----------
    problem
        Loads unit vectors and label sets; the first split is used.
    C
        Penalty for margin violations.
    limit
        Test items whose product with a training item is not below this are left out.

    Returns
    -------
    Result
        ``n_test``, and ``precision_1`` and ``recall_1`` over all microlabels of the level.
    """
    data = problem()
    train, test = data.splits[0]
    X, X_test = data.X[train], data.X[test]
    is_far = largest_products(X_test, X) < limit
    rows, costs = free_bias.kernel_rows(X, KERNEL_BYTES), np.full(len(train), C)
    both = n_true = n_found = 0
    for node in data.taxonomy.children(data.taxonomy.root):
        below = {node, *data.taxonomy.descendants(node)}
        is_in = np.array([not below.isdisjoint(row) for row in data.y])
        if is_in[train].all() or not is_in[train].any():
            continue
        options = free_bias.FreeBiasOptions()
        found = free_bias.solve(rows, np.arange(len(train)), is_in[train], costs, options)
        accepted = (X_test @ found.w + found.bias > 0)[is_far]
        truth = is_in[test][is_far]
        both += int((accepted & truth).sum())
        n_true, n_found = n_true + int(truth.sum()), n_found + int(accepted.sum())
    values = {
        "n_test": [float(is_far.sum())],
        "precision_1": [both / max(1, n_found)],
        "recall_1": [both / max(1, n_true)],
    }
    return Result(values)


def largest_products(X: CSR, others: CSR) -> Floats:
    """Return the largest product of each row with a row of another matrix, both CSR."""
    parts = [
        (X[begin : begin + ROWS_AT_A_TIME] @ others.T).max(axis=1).toarray().ravel()
        for begin in range(0, X.shape[0], ROWS_AT_A_TIME)
    ]
    return np.concatenate(parts)

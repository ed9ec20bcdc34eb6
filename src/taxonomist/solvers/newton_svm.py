"""Binary SVMs with the squared hinge loss and few features, by Newton's method.

Problem       min_w  ½ ||w||² + Σ_i C_i max(0, 1 - y_i <w, x_i>)²

The objective is quadratic where the set of items with a positive slack stays the same, so that a
few steps lead to the optimum, however badly the features are scaled. Dual coordinate ascent needs
many passes there. The dual variables α_i = 2 C_i max(0, 1 - y_i <w, x_i>) give the certificate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from taxonomist._typing import Floats

MOST_FEATURES = 128
"""Number of features up to which a step costs less than several passes over the items."""
LEAST_STEP = 1e-10


def solve_newton(
    X: Floats, signs: Floats, costs: Floats, tol: float, max_iter: int
) -> tuple[Floats, Floats, float, float, int]:
    """Solve one binary problem.

    Parameters
    ----------
    X
        Items, (n_items, n_features), with the constant feature.
    signs
        y_i, 1 or -1.
    costs
        C_i.
    tol
        The relative duality gap at which to stop.
    max_iter
        Most steps.

    Returns
    -------
    tuple
        The weights, the dual variables, both objectives, and the number of steps.
    """
    w = np.zeros(X.shape[1])
    n_steps = 0
    while True:
        slack = np.maximum(1 - signs * (X @ w), 0)
        alpha = 2 * costs * slack
        primal = w @ w / 2 + costs @ slack**2
        moved = X.T @ (signs * alpha)
        dual = alpha.sum() - moved @ moved / 2 - (alpha**2 / (4 * costs)).sum()
        if primal - dual <= tol * primal or n_steps == max_iter:
            return w, alpha, float(primal), float(dual), n_steps
        inside = X[slack > 0]
        curvature = np.eye(len(w)) + 2 * (inside.T * costs[slack > 0]) @ inside
        step = -np.linalg.solve(curvature, w - moved)
        slope = float(step @ (w - moved))
        size = 1.0
        while size > LEAST_STEP:
            new = w + size * step
            value = new @ new / 2 + costs @ np.maximum(1 - signs * (X @ new), 0) ** 2
            if value <= primal + 1e-4 * size * slope:
                break
            size /= 2
        w = w + size * step
        n_steps += 1

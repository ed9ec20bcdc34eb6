"""Binary SVMs straight from their definition: slow, obvious, every constraint written out."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse


def optimum(X, signs, costs, *, is_squared):
    """Return the least ½ ||w||² + Σ C_i ξ_i² (or ξ_i), s.t. y_i <w, x_i> >= 1 - ξ_i, ξ_i >= 0."""
    n_items, n_features = X.shape
    quadratic = np.concatenate([np.ones(n_features), 2 * costs * is_squared])
    linear = np.concatenate([np.zeros(n_features), costs * (not is_squared)])
    margins = np.hstack([-signs[:, None] * X, -np.eye(n_items)])
    slacks = np.hstack([np.zeros((n_items, n_features)), -np.eye(n_items)])
    A = sparse.csc_matrix(np.vstack([margins, slacks]))
    b = np.concatenate([-np.ones(n_items), np.zeros(n_items)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    cones = [clarabel.NonnegativeConeT(2 * n_items)]
    P = sparse.csc_matrix(np.diag(quadratic))
    return clarabel.DefaultSolver(P, linear, A, b, cones, settings).solve().obj_val

"""Sequential minimal optimisation of binary SVMs whose bias is free: SVM-light's problem.

Problem       min_{w, b, ξ}  ½ ||w||² + Σ_i C_i ξ_i   (or Σ_i C_i ξ_i², the squared hinge)
              s.t.  s_i (<w, x_i> + b) >= 1 - ξ_i,  ξ_i >= 0;  b is not regularized
Dual          max_α  Σ_i α_i - ½ ||w(α)||²,  w(α) = Σ_i α_i s_i x_i,
              0 <= α_i <= C_i,  Σ_i s_i α_i = 0
              squared hinge: minus Σ_i α_i² / (4 C_i), and α_i has no upper bound
Notation      s_i   ±1, whether item i belongs to the node         E_i = s_i - <w, x_i>
              k(x_i, x_j) = <x_i, x_j>; its rows are kept for all nodes ``KernelRows``
Step          The two items with the best step, by the second-order rule of Fan, Chen and Lin
              (2005), move their α_i by opposite amounts of s_i α_i, as far as the dual rises.
Stopping      When the largest E_i that may rise exceeds the smallest that may fall by at most
              ``tol``; at the optimum both are the bias. The duality gap is reported.
Cost          A step O(items of the node); a row of the kernel is computed once, by the items of
              each of its features, while it is kept.
Differences   RSSS06 uses SVM-light, which solves the same problem with larger working sets.
References    [RSSS06, Sec. 5]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled import free_bias
from taxonomist.compiled.free_bias import BinaryItems, KernelRows

if TYPE_CHECKING:
    from taxonomist._typing import Bools, Codes, Floats, Matrix

LEAST_SLOTS = 2
LOSSES = ("hinge", "squared_hinge")


@dataclass(frozen=True)
class FreeBiasOptions:
    """How a binary SVM with a free bias is solved.

    Attributes
    ----------
    loss
        ``"hinge"`` or ``"squared_hinge"``.
    tol
        Largest difference of E_i at the end; SVM-light's default is ten times as large.
    max_iter
        Most steps.
    """

    loss: str = "hinge"
    tol: float = 1e-4
    max_iter: int = 1_000_000


@dataclass(frozen=True)
class FreeBiasSolution:
    """The weights and the bias of a node.

    Attributes
    ----------
    w
        Weights, (n_features,).
    bias
        b.
    primal, dual
        The objectives.
    converged
        Whether the tolerance was reached.
    n_iter
        Number of steps.
    """

    w: Floats
    bias: float
    primal: float
    dual: float
    converged: bool
    n_iter: int


def kernel_rows(X: Matrix, n_bytes: float) -> KernelRows:
    """Return the linear kernel of items, of which rows are kept up to a number of bytes."""
    from scipy.sparse import csc_array, csr_array

    rows, columns = csr_array(X, dtype=np.float64), csc_array(X, dtype=np.float64)
    n = rows.shape[0]
    n_slots = min(n, max(LEAST_SLOTS, int(n_bytes / (8 * max(n, 1)))))
    return KernelRows(
        indptr=rows.indptr.astype(np.intp),
        indices=rows.indices.astype(np.intp),
        data=rows.data,
        ends=columns.indptr.astype(np.intp),
        having=columns.indices.astype(np.intp),
        values=columns.data,
        norms=np.asarray(rows.power(2).sum(axis=1)).ravel(),
        table=np.empty((max(n_slots, LEAST_SLOTS), n)),
        slot_of=np.full(n, -1, dtype=np.intp),
        owner=np.full(max(n_slots, LEAST_SLOTS), -1, dtype=np.intp),
        oldest=np.zeros(1, dtype=np.intp),
    )


def solve(
    rows: KernelRows, items: Codes, is_in: Bools, costs: Floats, options: FreeBiasOptions
) -> FreeBiasSolution:
    """Return the SVM of a node.

    Parameters
    ----------
    rows
        The kernel of all items, which other nodes may share.
    items
        The items of the node's problem, some of which belong to the node and some do not.
    is_in
        Whether each of them belongs to the node.
    costs
        C_i of each of them.
    options
        Loss, tolerance and limit.
    """
    is_squared = options.loss == "squared_hinge"
    sign = np.where(is_in, 1.0, -1.0)
    shift = 1 / (2 * costs) if is_squared else np.zeros(len(items))
    most = np.full(len(items), np.inf) if is_squared else costs
    problem = BinaryItems(items, sign, most, rows.norms[items] + shift)
    alpha, E = np.zeros(len(items)), sign.copy()
    n_iter = free_bias.climb(problem, rows, alpha, E, options.tol, options.max_iter)
    _, top, bottom = free_bias.extremes(problem, alpha, E)
    bias = (top + bottom) / 2
    f = sign - E - sign * alpha * shift  # <w, x_i>
    squared = float((sign * alpha) @ f)
    slack = np.maximum(0.0, 1.0 - sign * (f + bias))
    primal = squared / 2 + float(costs @ (slack**2 if is_squared else slack))
    dual = float(alpha.sum()) - squared / 2 - float(alpha**2 @ shift) / 2
    w = np.zeros(len(rows.ends) - 1)
    free_bias.add_up(problem, rows, alpha, w)
    return FreeBiasSolution(w, float(bias), primal, dual, n_iter < options.max_iter, n_iter)

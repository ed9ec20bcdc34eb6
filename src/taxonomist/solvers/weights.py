"""The weights that follow from dual variables, and the matrix of items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.solvers.duals import Entries

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from taxonomist._typing import CSR, Floats, Reals
    from taxonomist.compiled.arrays import Duals
    from taxonomist.solvers.problem import JointProblem


def feature_matrix(problem: JointProblem) -> Floats | CSR:
    """Return the items of a problem that is not in dual form, CSR or dense.

    Parameters
    ----------
    problem
        A problem whose items are rows of features.

    Returns
    -------
    ndarray or CSR
        Items x features, float64.
    """
    from scipy.sparse import csr_array

    everything = np.arange(problem.n_items)
    rows = problem.items.rows(everything, np.empty_like(everything))
    shape = (problem.n_items, problem.items.n_weights)
    data = rows.data.astype(np.float64)
    if len(data) == len(rows.indices):
        return csr_array((data, rows.indices, rows.indptr), shape=shape)
    return data.reshape(shape)


def coefficients(problem: JointProblem, duals: Duals) -> CSR:
    """Return the coefficients of the kernel expansion of the weights.

    Parameters
    ----------
    problem
        What the dual variables belong to.
    duals
        Dual variables of the items.

    Returns
    -------
    CSR
        Items x attributes: row i is Σ_yc α_iyc (Λ(y) - Λ(c)) [CH04, Eq. 13; CH07].
    """
    from scipy.sparse import csr_array

    entries = Entries.of(duals)
    alpha = entries.beta * entries.delta
    shape = (problem.n_items, problem.n_categories)
    own, other = (
        csr_array((alpha, (entries.item, columns)), shape=shape)
        for columns in (entries.own, entries.other)
    )
    return csr_array((own - other) @ problem.attributes)


def entries_from_duals(problem: JointProblem, duals: Duals) -> CSR:
    """Return the weights that belong to dual variables, sparse: features x attributes.

    Parameters
    ----------
    problem
        A problem whose items are rows of features.
    duals
        Dual variables of the items.
    """
    from scipy.sparse import csr_array

    return csr_array((coefficients(problem, duals).T @ feature_matrix(problem)).T)


def weights_from_duals(problem: JointProblem, duals: Duals, dtype: DTypeLike) -> Reals:
    """Return the weights that belong to dual variables.

    Parameters
    ----------
    problem
        What the dual variables belong to.
    duals
        Dual variables of the items.
    dtype
        Type of the weights; in dual form they are float64 whatever it is.

    Returns
    -------
    ndarray
        Dense and in C order: features x attributes, or in dual form items x attributes.
    """
    expansion = coefficients(problem, duals)
    if problem.items.dual_form:
        return expansion.toarray()
    product = expansion.T @ feature_matrix(problem)
    dense = product.toarray() if hasattr(product, "toarray") else product
    return np.ascontiguousarray(dense.T, dtype=dtype)

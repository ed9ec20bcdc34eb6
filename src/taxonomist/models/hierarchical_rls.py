"""``HierarchicalRLS``: hierarchical regularised least squares, in batch form [RSSS06, Sec. 5].

Problem       for node z and an item x that is to be classified,
              w = (I + Sᵀ S + x xᵀ)⁻¹ Sᵀ y, margin <w, x>
Notation      S   the training items that all parents of z have, n_S x n_features
              y   1 where such an item has z, else -1
              A   I + Sᵀ S, the same for all nodes with the same parents
Step          by Sherman and Morrison the margin is <A⁻¹ Sᵀ y, x> / (1 + xᵀ A⁻¹ x): weights that are
              the same for all x, and a divisor that depends on the parents only and changes no
              sign. Where n_S < n_features, A is replaced by I + S Sᵀ, with
              A⁻¹ = I - Sᵀ (I + S Sᵀ)⁻¹ S.
Cost          with m = min(n_S, n_features): the weights take some tens of products with S for each
              node (conjugate gradients). The divisors take one factor for each set of parents, m³/3
              time and m² memory, made when they are first asked for, and then m² for each item.
              Label sets need no divisors.
Differences   C and weights of items, which multiply xᵢ xᵢᵀ and xᵢ yᵢ. A node whose items are all in
              or all out answers so always.
References    [RSSS06, Sec. 5]
"""

from __future__ import annotations

import warnings
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from taxonomist.models.per_node import PerNodeModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import Bools, Codes, Floats
    from taxonomist.models.per_node import NodeProblem
    from taxonomist.taxonomy import Taxonomy

BLOCK = 2**22
"""Numbers in a block of right sides, 32 MiB."""
RESIDUAL = 1e-10
"""Relative residual at which conjugate gradients stop."""
PRODUCT_RESIDUAL = 1e-7
"""The same for products bᵀ A⁻¹ b, whose error goes with the square of the residual."""
MAX_STEPS = 1000
"""Most steps of conjugate gradients; tf-idf takes 25 to 80 at C = 1, 700 at C = 100."""
CHEAP = 1000
"""Size up to which a system is factored at once; conjugate gradients are faster above."""


class HierarchicalRLS(PerNodeModel):
    """Least squares for each node, on the items of its parents: H-RLS.

    Each node has a regularised least-squares classifier, learned from the items that all its
    parents have; the item that is classified takes part in the regularisation. Predicting
    starts at the top, as in ``TopDownSVC``; label sets may be empty.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None means one of depth one over the labels
        in ``y``.
    C
        Weight of the squared errors against the squared weights; the paper has 1.
    min_labels
        The least number of categories in a prediction; the best by ``decision_function`` are
        added where there are fewer. None adds none, as in the paper.
    cache_size
        Megabytes for factors, which take 8 m² bytes for each set of parents with m = min(items,
        features). They are made by the first ``decision_function``, or ``predict`` with single
        labels, and not pickled. Without the room, both take much longer.

    Attributes
    ----------
    classes_
        Ids of the categories, in column order of ``decision_function``.
    taxonomy_
        The taxonomy.
    node_coef_
        (n_nodes, n_features), row order ``taxonomy_.nodes``: A⁻¹ Sᵀ y; 0 for nodes in
        ``node_constants_``.
    node_constants_
        The answer of nodes that have no weights, since the items that they would learn from are all
        in or all out.

    Notes
    -----
    There is no bias; give items a constant feature if they need one.

    Examples
    --------
    >>> from taxonomist.models.hierarchical_rls import HierarchicalRLS
    >>> from taxonomist import Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]]
    >>> y = [["cat"], ["cat", "dog"], ["dog"], ["oak"]]
    >>> model = HierarchicalRLS(taxonomy).fit(X, y)
    >>> model.predict_paths([[1, 0, 0], [0, 0, 1]])
    [[('animal', 'cat')], [('plant', 'oak')]]
    """

    node_coef_: Floats

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        C: float = 1.0,
        min_labels: int | None = None,
        cache_size: float = 2000,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.min_labels = min_labels
        self.cache_size = cache_size

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        if not 0 < self.C < np.inf:
            raise ValueError(f"C must be a finite number above 0. Got {self.C!r}.")
        if not self.cache_size >= 0:
            raise ValueError(f"cache_size must be at least 0 megabytes. Got {self.cache_size!r}.")

    def _learn(self, X: Any, problems: Iterator[NodeProblem], weights: Floats | None) -> None:
        """Learn the weights, for all nodes with the same parents at once."""
        X = X.astype(np.float64, copy=False)
        roots = np.sqrt(self.C * (np.ones(X.shape[0]) if weights is None else weights))
        self.node_coef_ = np.zeros((self.taxonomy_.n_nodes, X.shape[1]))
        self._systems: list[tuple[list[int], _System]] = []
        left = 1e6 * self.cache_size
        for _, siblings in groupby(problems, key=lambda problem: problem.parents):
            group = list(siblings)
            items, codes = group[0].items, [problem.code for problem in group]
            system = _System(_scaled(X[items], roots[items]), left)
            left -= system.n_bytes
            signs = np.where(np.column_stack([problem.is_in for problem in group]), 1.0, -1.0)
            self.node_coef_[codes] = system.weights(signs * roots[items, None]).T
            self._systems.append((codes, system))

    def _accepts(self, code: int, X: Any) -> Bools:
        """Return for which items the margin of a node is positive."""
        accepted: Bools = X @ self.node_coef_[code] > 0
        return accepted

    def _margins(self, X: Any, codes: Codes, out: Floats) -> None:
        """Write the margins of nodes with weights into rows of (n_nodes, n_items)."""
        X = X.astype(np.float64, copy=False)
        out[codes] = (X @ self.node_coef_[codes].T).T
        for siblings, system in self._systems:
            out[siblings] /= 1 + system.self_products(np.sqrt(self.C) * X)


class _System:
    """A = I + Sᵀ S, or I + S Sᵀ where that is smaller, with its factor if there is room."""

    def __init__(self, S: Any, room: float) -> None:
        self.S = S
        self.is_dual = S.shape[0] < S.shape[1]
        self.has_factor = 8 * min(S.shape) ** 2 <= room

    @property
    def n_bytes(self) -> int:
        """Memory of the factor."""
        return 8 * min(self.S.shape) ** 2 if self.has_factor else 0

    @cached_property
    def factor(self) -> Floats:
        """The lower Cholesky factor of the matrix of the system."""
        size = min(self.S.shape)
        # The transpose, which is the same matrix, is in the order that is factored in place.
        gram = self._gram(np.empty((size, size))).T
        factor: Floats = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
        return factor

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but the factor, which is large and can be made again."""
        return {name: value for name, value in self.__dict__.items() if name != "factor"}

    def _gram(self, out: Floats) -> Floats:
        """Return the matrix of the system, made in blocks of rows."""
        left, right = (self.S, self.S.T) if self.is_dual else (self.S.T, self.S)
        if _is_sparse(self.S):
            left, right = left.tocsr(), right.tocsr()
        for block in gen_batches(len(out), max(1, BLOCK // len(out))):
            out[block] = _dense(left[block] @ right)
        out.flat[:: len(out) + 1] += 1
        return out

    def weights(self, Y: Floats) -> Floats:
        """Return A⁻¹ Sᵀ Y, (n_features, n_targets)."""
        W: Floats = self.S.T @ self._solve(Y) if self.is_dual else self._solve(self.S.T @ Y)
        return W

    def self_products(self, X: Any) -> Floats:
        """Return xᵀ A⁻¹ x for each item."""
        products = np.empty(X.shape[0])
        for block in gen_batches(X.shape[0], max(1, BLOCK // min(self.S.shape))):
            items = X[block]
            right = _dense(self.S @ items.T if self.is_dual else items.T)
            inside = self._inside(right)
            products[block] = _squared_norms(items) - inside if self.is_dual else inside
        return np.maximum(products, 0)

    def _inside(self, B: Floats) -> Floats:
        """Return bᵀ (matrix of the system)⁻¹ b for each column b."""
        if not self.has_factor:
            solved, converged = _conjugate_gradients(self._apply, B, PRODUCT_RESIDUAL)
            if not converged:
                _complain()
            return _products(B, solved)
        half = solve_triangular(self.factor, B, lower=True, check_finite=False)
        return _products(half, half)

    def _solve(self, B: Floats) -> Floats:
        """Return what the matrix of the system takes to B."""
        if not self.has_factor or len(B) > CHEAP:
            solved, converged = _conjugate_gradients(self._apply, B, RESIDUAL)
            if converged:
                return solved
            if not self.has_factor:
                _complain()
                return solved
        half = solve_triangular(self.factor, B, lower=True, check_finite=False)
        both: Floats = solve_triangular(self.factor, half, trans=1, lower=True, check_finite=False)
        return both

    def _apply(self, V: Floats) -> Floats:
        """Return the product of the matrix of the system with vectors."""
        S = self.S
        product: Floats = V + (S @ (S.T @ V) if self.is_dual else S.T @ (S @ V))
        return product


def _conjugate_gradients(apply: Any, B: Floats, residual: float) -> tuple[Floats, bool]:
    """Return the solutions for the columns of B, each to a residual of its own, and if all are."""
    solved, rest, direction = np.zeros(B.shape), np.array(B), np.array(B)
    squared = _products(B, B)
    goal = residual**2 * squared
    for _ in range(MAX_STEPS):
        left = np.flatnonzero(squared > goal)
        if not len(left):
            return solved, True
        along = direction[:, left]
        product = apply(along)
        step = squared[left] / _products(along, product)
        solved[:, left] += step * along
        rest[:, left] -= step * product
        now = _products(rest[:, left], rest[:, left])
        direction[:, left] = rest[:, left] + now / squared[left] * along
        squared[left] = now
    return solved, False


def _complain() -> None:
    """Say that conjugate gradients did not get as far as they should."""
    warnings.warn(
        f"Conjugate gradients stopped after {MAX_STEPS} steps. Increase cache_size, so that the "
        "system can be factored, or scale the features.",
        ConvergenceWarning,
        stacklevel=2,
    )


def _products(A: Floats, B: Floats) -> Floats:
    """Return <a, b> for the columns of two matrices."""
    products: Floats = np.einsum("ij,ij->j", A, B)
    return products


def _scaled(X: Any, factors: Floats) -> Any:
    """Return items multiplied by a number each."""
    return X.multiply(factors[:, None]).tocsr() if _is_sparse(X) else X * factors[:, None]


def _squared_norms(X: Any) -> Floats:
    """Return <x, x> for each item."""
    squares: Floats = np.asarray((X.multiply(X) if _is_sparse(X) else X * X).sum(axis=1)).ravel()
    return squares


def _dense(X: Any) -> Any:
    """Return a matrix as a dense array."""
    return X.toarray() if _is_sparse(X) else X


def _is_sparse(X: Any) -> bool:
    """Return whether a matrix is sparse."""
    return hasattr(X, "tocsr")

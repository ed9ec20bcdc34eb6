"""``AttributeWeights``: a mixin of models with weights of class attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import validate_data

from taxonomist._typing import CSR, Matrix, Reals, is_sparse
from taxonomist.errors import ParameterError
from taxonomist.inference.row_maps import FeatureMap, GramMap, KernelMap
from taxonomist.kernels import PairwiseKernel, resolve_gamma
from taxonomist.models.attributes import class_attributes
from taxonomist.models.class_kernel import kernel_attributes
from taxonomist.models.parameters import Word, at_least, check_parameters
from taxonomist.solvers.problem import FeatureRows, GramRows

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from taxonomist._typing import Codes, MatrixLike
    from taxonomist.inference.row_maps import RowMap
    from taxonomist.kernels.pairwise import KernelLike
    from taxonomist.models.attributes import AttributesLike, NodeWeightLike
    from taxonomist.models.class_kernel import ClassKernelLike
    from taxonomist.models.parameters import Requirement
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy


class AttributeWeights:
    """Mixin of models f(x, c) = Σ_z λ_z(c) <w_z, φ(x)> [CH04, Eq. 10].

    The model has the parameters ``attributes``, ``node_weight``, ``kernel``, ``gamma``, ``degree``,
    ``coef0``, ``constant``, ``dtype`` and ``cache_size``, and its scorer is a ``LinearScorer``. It
    may have ``class_kernel`` and ``with_root``.
    """

    parameters: ClassVar[dict[str, Requirement]] = {
        "dtype": Word(("float32", "float64"), others="a NumPy type"),
        "cache_size": at_least(0),
    }

    attributes: AttributesLike
    node_weight: NodeWeightLike
    class_kernel: ClassKernelLike | None = None
    with_root: bool = False
    kernel: KernelLike
    gamma: float | str
    degree: float
    coef0: float
    constant: float | None
    dtype: str
    cache_size: float
    taxonomy_: Taxonomy
    targets_: Targets
    scorer_: Any  # a LinearScorer
    n_features_in_: int

    @property
    def constant_feature(self) -> float:
        """The value of the constant feature, or 0 if there is none."""
        return self.constant or 0.0

    def check(self) -> None:
        """Raise if a parameter, or a combination of parameters, is invalid."""
        check_parameters(self)
        if np.dtype(self.dtype).name not in ("float32", "float64"):
            raise ParameterError(f"dtype must be one of float32, float64. Got {self.dtype!r}.")
        if self.constant_feature and self.kernel != "linear":
            raise ParameterError(
                "A constant feature needs kernel='linear'; use coef0 with other kernels."
            )
        if self.class_kernel is not None and not self._is("taxonomy"):
            raise ParameterError("Give either attributes or class_kernel, not both.")

    def attributes_of(self, targets: Targets) -> CSR:
        """Return the attributes of the categories, (n_categories, n_attributes)."""
        if self.class_kernel is not None:
            return kernel_attributes(self.class_kernel, targets.classes)
        return class_attributes(
            targets.categories, self.attributes, self.node_weight, with_root=self.with_root
        )

    def _is(self, kind: str) -> bool:
        """Return whether ``attributes`` is a given word."""
        return isinstance(self.attributes, str) and self.attributes == kind

    def check_rows(self, X: MatrixLike, reset: bool) -> Matrix:
        """Return validated rows, with the constant feature if there is one."""
        rows: Matrix = validate_data(
            self, X, accept_sparse="csr", dtype=(np.float64, np.float32), order="C", reset=reset
        )
        return _with_constant(rows, self.constant_feature) if self.constant_feature else rows

    def solver_rows(self, X: Matrix, items: Codes) -> tuple[FeatureRows | GramRows, RowMap]:
        """Return the rows of some items for solvers, and the row map for prediction."""
        if self.kernel == "linear":
            used = X if len(items) == X.shape[0] else X[items]
            return FeatureRows(used, np.dtype(self.dtype)), FeatureMap()
        budget = 1e6 * self.cache_size
        if self.kernel == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ParameterError(f"A precomputed kernel must be square. Got shape {X.shape}.")
            gram = X[np.ix_(items, items)] if len(items) < X.shape[0] else X
            rows = GramRows(lambda rows: _dense(gram[rows]), _dense(gram).diagonal(), budget)
            return rows, GramMap(items, X.shape[0])
        train = X[items]
        gamma = resolve_gamma(self.gamma, train)
        kernel = PairwiseKernel(self.kernel, gamma, self.degree, self.coef0)
        rows = GramRows(lambda rows: kernel(train[rows], train), kernel.diagonal(train), budget)
        return rows, KernelMap(kernel, train)

    def source_title(self, source: int) -> tuple[str, str]:
        """Return the id and display name of the node of an attribute."""
        if not self._has_nodes:
            return f"attribute {source}", f"attribute {source}"
        categories = self.targets_.categories
        code = source + self._first if self._is("taxonomy") else categories.codes[source]
        node = categories.expanded.nodes[code]
        return categories.expanded.terminals.get(node, node), categories.expanded.names[code]

    @property
    def _has_nodes(self) -> bool:
        """Whether attributes belong to nodes."""
        return isinstance(self.attributes, str) and self.class_kernel is None

    @property
    def _first(self) -> int:
        """The code of the node of the first attribute."""
        return 0 if self.with_root else 1

    # Learned weights --------------------------------------------------------------------------

    @property
    def node_coef_(self) -> Reals:
        """Weights v_z w_z of the nodes of ``taxonomy_``, (n_nodes, n_features)."""
        weights = self.feature_weights("node_coef_")
        if not self._has_nodes:
            raise AttributeError(
                "node_coef_ is not available with user-defined attributes; use coef_."
            )
        result = np.zeros((self.taxonomy_.n_nodes, weights.shape[0]), dtype=weights.dtype)
        categories = self.targets_.categories
        if self._is("flat"):
            result[self.targets_.nodes] = weights.T
            return result
        first = self._first
        attributes = categories.expanded.codes(self.taxonomy_.nodes[first:]) - first
        sizes = self.scorer_.attributes.max(axis=0).toarray().ravel()[attributes]
        result[first:] = weights.T[attributes] * sizes[:, None]
        return result

    @property
    def terminal_coef_(self) -> Reals:
        """Additional weights of categories that are inner nodes, (n_classes, n_features).

        They are ``coef_`` minus the sums of ``node_coef_`` along ancestors, and 0 for leaves.
        """
        weights = self.feature_weights("terminal_coef_")
        result = np.zeros((len(self.targets_.classes), weights.shape[0]), dtype=weights.dtype)
        categories = self.targets_.categories
        if self._is("taxonomy") and self._has_nodes:
            is_inner = ~self.taxonomy_.is_leaf[self.targets_.nodes]
            attributes = categories.codes[is_inner] - self._first
            sizes = self.scorer_.attributes.max(axis=0).toarray().ravel()[attributes]
            result[is_inner] = weights.T[attributes] * sizes[:, None]
        return result

    @property
    def coef_(self) -> Reals:
        """Weights of every category, (n_classes, n_features)."""
        weights: Reals = self.scorer_attributes("coef_") @ self.feature_weights("coef_").T
        return weights

    @property
    def intercept_(self) -> Reals:
        """Contribution of the constant feature to the score of every category, (n_classes,)."""
        self.feature_weights("intercept_")
        W, constant = self.scorer_.W, self.constant_feature
        last = W[-1] * constant if constant else np.zeros(W.shape[1])
        constants: Reals = self.scorer_.attributes @ last
        return constants

    def scorer_attributes(self, name: str) -> CSR:
        """Return Λ; raise for the attribute ``name`` if the model is not fitted."""
        self.feature_weights(name)
        attributes: CSR = self.scorer_.attributes
        return attributes

    def feature_weights(self, name: str) -> Reals:
        """Return the weights without the constant feature; raise for ``name`` if there are none."""
        if not hasattr(self, "scorer_") or self.kernel != "linear":
            is_fitted = hasattr(self, "scorer_")
            why = "the kernel is not linear" if is_fitted else "fit the model first"
            raise AttributeError(f"{name} is not available: {why}.")
        weights: Reals = self.scorer_.W[: self.n_features_in_]
        return weights

    def __sklearn_tags__(self) -> Tags:
        """Return the scikit-learn tags."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _with_constant(X: Matrix, constant: float) -> Matrix:
    """Append a constant feature to all items."""
    column = np.full((X.shape[0], 1), constant, dtype=X.dtype)
    if not is_sparse(X):
        return np.hstack([X, column])
    from scipy import sparse

    return sparse.csr_array(sparse.hstack([X, sparse.csr_array(column)]))


def _dense(X: Matrix) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X

"""What models with scores over attributes have in common: scores, rankings, reasons, weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from taxonomist._threads import n_threads
from taxonomist.errors import LabelError, closest
from taxonomist.inference.best import LinearScores
from taxonomist.kernels import PairwiseKernel, resolve_gamma
from taxonomist.models.explanation import Explanation, NodePart
from taxonomist.solvers.problem import FeatureRows, GramRows

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.taxonomy import Categories, Taxonomy


class AttributeModel(BaseEstimator):
    """A model whose category scores are f(x, c) = Σ_z λ_z(c) <w_z, φ(x)> [CH04, Eq. 10].

    A subclass has the parameters ``attributes``, ``kernel``, ``gamma``, ``degree``, ``coef0``,
    ``constant``, ``dtype``, ``cache_size`` and ``n_jobs``, and its ``fit`` sets ``classes_``,
    ``taxonomy_``, ``_categories``, ``_attributes`` (Λ) and ``_W``, the weights, or with a kernel
    the coefficients.
    """

    attributes: Any
    kernel: Any
    gamma: float | str
    degree: float
    coef0: float
    constant: float | None
    dtype: str
    cache_size: float
    n_jobs: int | None
    classes_: Any
    taxonomy_: Taxonomy
    n_features_in_: int
    _categories: Categories
    _attributes: CSR
    _W: Any

    @property
    def _constant(self) -> float:
        """The value of the constant feature, 0 for none."""
        return self.constant or 0.0

    def _validate(self, X: Any, reset: bool) -> Any:
        """Return checked items, with the constant feature if there is one."""
        X = validate_data(
            self, X, accept_sparse="csr", dtype=(np.float64, np.float32), order="C", reset=reset
        )
        return _with_constant(X, self._constant) if self._constant else X

    def _items(self, X: Any, items: Codes) -> FeatureRows | GramRows:
        """Return the rows that solvers read, and remember what prediction needs."""
        if self.kernel == "linear":
            used = X if len(items) == X.shape[0] else X[items]
            return FeatureRows(used, np.dtype(self.dtype))
        budget = 1e6 * self.cache_size
        if self.kernel == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"A precomputed kernel must be square. Got shape {X.shape}.")
            gram = X[np.ix_(items, items)] if len(items) < X.shape[0] else X
            self._support_items, self._n_train = items, X.shape[0]
            return GramRows(lambda rows: _dense(gram[rows]), _dense(gram).diagonal(), budget)
        self._X_fit = X[items]
        gamma = resolve_gamma(self.gamma, self._X_fit)
        self._kernel = kernel = PairwiseKernel(self.kernel, gamma, self.degree, self.coef0)
        train = self._X_fit
        return GramRows(lambda rows: kernel(train[rows], train), kernel.diagonal(train), budget)

    # Predicting ------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Return the score of every category.

        Parameters
        ----------
        X
            Items as in ``fit``; with a precomputed kernel, their values with the training items.

        Returns
        -------
        ndarray, shape (n_items, n_classes), or (n_items,) with two classes
            Scores in the order of ``classes_``; with two classes, how much more the second has.
        """
        scores = self._scores().all(self._checked(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Any:
        """Return the category with the best score for each item.

        Parameters
        ----------
        X
            Items as in ``decision_function``.

        Returns
        -------
        ndarray, shape (n_items,)
            Labels out of ``classes_``.
        """
        categories, _ = self._scores().best(self._checked(X), 1)
        return self.classes_[categories[:, 0]]

    def predict_labels(self, X: Any) -> list[list[Any]]:
        """Return the labels of each item as a list: the one that ``predict`` returns.

        Models of label sets return as many as they predict, so that both can be used alike.
        """
        return [[label] for label in self.predict(X).tolist()]

    def predict_topk(self, X: Any, k: int = 5) -> tuple[Any, Floats]:
        """Return the k categories with the best scores for each item.

        Parameters
        ----------
        X
            Items as in ``decision_function``.
        k
            How many; at most the number of categories.

        Returns
        -------
        labels : ndarray, shape (n_items, k)
            Best first.
        scores : ndarray, shape (n_items, k)
        """
        check_is_fitted(self)
        if not 1 <= k <= len(self.classes_):
            raise ValueError(f"k must be from 1 to {len(self.classes_)}. Got {k!r}.")
        categories, scores = self._scores().best(self._checked(X), k)
        return self.classes_[categories], scores

    def predict_paths(self, X: Any) -> list[tuple[str, ...]]:
        """Return the path from the top to the predicted category of each item.

        In a DAG a node may have several paths; this is the first, ``Taxonomy.paths`` gives all.
        """
        categories, _ = self._scores().best(self._checked(X), 1)
        ids = self._categories.ids
        used = {
            c: self._categories.taxonomy.paths(ids[c], limit=1)[0] for c in np.unique(categories)
        }
        return [used[c] for c in categories[:, 0]]

    def explain(
        self,
        x: Any,
        n: int = 10,
        *,
        category: Any = None,
        against: Any = None,
        feature_names: Any = None,
    ) -> Explanation:
        """Return what each node on the path adds to a score, and its strongest features.

        Parameters
        ----------
        x
            One item: a row, as in ``decision_function``.
        n
            Features to show at each node; with a linear kernel only.
        category
            The category to explain; by default the predicted one.
        against
            Another category: the difference of the two scores is explained then.
        feature_names
            Names of the features; by default those seen in ``fit``, or their numbers.

        Returns
        -------
        Explanation
            Parts that add up exactly to the score (difference).
        """
        row = self._checked(
            x if hasattr(x, "indptr") or np.ndim(x) == 2 else np.reshape(x, (1, -1))
        )
        if row.shape[0] != 1:
            raise ValueError(f"explain takes one item. Got {row.shape[0]}.")
        scores = self._scores()
        c = int(scores.best(row, 1)[0][0, 0]) if category is None else self._column(category)
        weights = self._attributes[[c]].toarray().ravel()
        if against is not None:
            weights = weights - self._attributes[[self._column(against)]].toarray().ravel()
        of_attributes = scores.of_attributes(row)[0].astype(np.float64)
        parts = [
            self._part(z, float(weights[z]), float(of_attributes[z]), row, n, feature_names)
            for z in np.flatnonzero(weights).tolist()
        ]
        score = sum(part.value for part in parts)
        return Explanation(self.classes_[c], against, score, parts)

    def _part(
        self, z: int, weight: float, score: float, row: Any, n: int, feature_names: Any
    ) -> NodePart:
        """Return what attribute z adds, feature by feature where the kernel is linear."""
        node, name = self._attribute_title(z)
        if self.kernel != "linear":
            return NodePart(node, name, weight * score)
        indices = row.indices if hasattr(row, "indices") else np.flatnonzero(row[0])
        values = row.data if hasattr(row, "indices") else row[0, indices]
        shares = weight * values * self._W[indices, z].astype(np.float64)
        order = np.argsort(-np.abs(shares), kind="stable")[:n]
        title = self._feature_titles(feature_names)
        features = tuple((title(indices[k]), float(shares[k])) for k in order if shares[k])
        value = float(shares.sum())
        return NodePart(node, name, value, features, value - sum(share for _, share in features))

    def _attribute_title(self, z: int) -> tuple[str, str]:
        """Return id and display name of what attribute z stands for."""
        if isinstance(self.attributes, str):
            code = z + 1 if self.attributes == "taxonomy" else self._categories.codes[z]
            node = self.taxonomy_.nodes[code]
            return self.taxonomy_.terminals.get(node, node), self.taxonomy_.names[code]
        return f"attribute {z}", f"attribute {z}"

    def _feature_titles(self, feature_names: Any) -> Any:
        """Return the function from a feature's number to its name."""
        names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names

        def title(f: int) -> str:
            if f == self.n_features_in_:
                return "(constant)"
            return str(f) if names is None else str(names[f])

        return title

    def _column(self, label: Any) -> int:
        """Return the column of a category."""
        return column_of(self.classes_, label)

    def _checked(self, X: Any) -> Any:
        """Return items ready to be scored."""
        check_is_fitted(self)
        return self._validate(X, reset=False)

    def _scores(self) -> LinearScores:
        """Return what scores items."""
        check_is_fitted(self)
        return LinearScores(self._W, self._attributes, self._rows, n_threads(self.n_jobs))

    def _rows(self, X: Any) -> Any:
        """Return what the weights apply to: the items, or their kernel values."""
        if self.kernel == "linear":
            return X
        if self.kernel == "precomputed":
            return X if len(self._support_items) == self._n_train else X[:, self._support_items]
        return self._kernel(X, self._X_fit)

    # What was learned ------------------------------------------------------------------------

    @property
    def node_coef_(self) -> Any:
        """What each node of ``taxonomy_`` adds to a score: v_z w_z, (n_nodes, n_features)."""
        weights = self._linear_weights("node_coef_")
        if not isinstance(self.attributes, str):
            raise AttributeError(
                "Given attributes are not nodes: there is coef_, but no node_coef_."
            )
        result = np.zeros((self.taxonomy_.n_nodes, weights.shape[0]), dtype=weights.dtype)
        if self.attributes == "flat":
            result[self._categories.codes] = weights.T
        else:
            result[1:] = weights.T * self._attributes.max(axis=0).toarray().reshape(-1, 1)
        return result

    @property
    def coef_(self) -> Any:
        """Weights of every category, (n_classes, n_features)."""
        return self._attributes @ self._linear_weights("coef_").T

    @property
    def intercept_(self) -> Any:
        """What the constant feature adds to the score of every category, (n_classes,)."""
        self._linear_weights("intercept_")
        last = self._W[-1] * self._constant if self._constant else np.zeros(self._W.shape[1])
        return self._attributes @ last

    def _linear_weights(self, name: str) -> Any:
        """Return the weights without those of the constant feature."""
        if not hasattr(self, "_W") or self.kernel != "linear":
            why = "fit the model first" if not hasattr(self, "_W") else "the kernel is not linear"
            raise AttributeError(f"{name} is not there: {why}.")
        return self._W[: self.n_features_in_]

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn is to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def column_of(classes: Any, label: Any) -> int:
    """Return the column of a label."""
    found = np.flatnonzero(classes == label)
    if not found.size:
        hint = closest(str(label), [str(other) for other in classes])
        raise LabelError(f"{label!r} is not a category of the model.{hint}")
    return int(found[0])


def _with_constant(X: Any, constant: float) -> Any:
    """Return items with one more feature that is the same for all."""
    column = np.full((X.shape[0], 1), constant, dtype=X.dtype)
    if not hasattr(X, "indptr"):
        return np.hstack([X, column])
    from scipy import sparse

    return sparse.csr_array(sparse.hstack([X, sparse.csr_array(column)]))


def _dense(X: Any) -> Any:
    """Return a matrix as a dense array."""
    return X.toarray() if hasattr(X, "toarray") else X

"""Select the features with the highest information gain about categories [TCPH01, Sec. 3.1.3].

Notation
    n_c    number of items in category c; an item with several categories counts in each
    n_cw   number of these that have feature w: the category-term co-occurrence matrix
    n, m   Σ_c n_c and Σ_c n_cw
    g(t)   t log t, with g(0) = 0

All probabilities of [TCPH01, Eq. 10] are ratios of these counts, so they are consistent for any
number of labels per item, and the gain is

    n R(w) = Σ_c (g(n_cw) + g(n_c - n_cw) - g(n_c)) - g(m) - g(n - m) + g(n).

A category in which w does not occur adds 0, so the sum runs over the non-zeros of n_cw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from taxonomist.errors import LabelError, ParameterError
from taxonomist.features.parameters import check_whole
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Bools, Floats, LabelsLike, MatrixLike


class InformationGainSelector(SelectorMixin, BaseEstimator):
    """Keep the k features whose presence is most informative about an item's categories.

    The gain of a feature is the reduction of the entropy of the categories once it is known
    whether an item has the feature [TCPH01, Eq. 10]. An item with several labels counts once for
    each.

    Parameters
    ----------
    k
        Number of features to keep, or all if there are fewer. Ties go to the first features.

    Attributes
    ----------
    scores_
        (n_features,): the gain of each feature in nats, at least 0.

    Examples
    --------
    >>> from taxonomist.features import InformationGainSelector
    >>> X = [[1, 1, 0], [2, 0, 1], [0, 1, 0], [0, 0, 3]]
    >>> selector = InformationGainSelector(1).fit(X, ["cat", "cat", "dog", "dog"])
    >>> selector.get_support().tolist()
    [True, False, False]
    >>> selector.scores_.round(3).tolist()
    [0.693, 0.0, 0.0]
    >>> InformationGainSelector(1).fit(X, [["a", "b"], ["a"], ["b"], []]).transform(X).tolist()
    [[1], [2], [0], [0]]
    """

    def __init__(self, k: int = 2000) -> None:
        self.k = k

    def fit(self, X: MatrixLike, y: LabelsLike) -> InformationGainSelector:
        """Learn the information gain of each feature.

        Parameters
        ----------
        X
            Items, dense or sparse, (n_items, n_features). A non-zero entry means "has the feature".
        y
            One label per item, a set of labels per item, or an indicator matrix.

        Returns
        -------
        InformationGainSelector
            The selector itself.
        """
        check_whole("k", self.k, 1)
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric")
        if y is None:
            raise ParameterError("fit requires y to be passed, but the target y is None.")
        check_consistent_length(X, y)
        self.scores_ = information_gain(X, _indicators(y))
        return self

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        support = np.zeros(len(self.scores_), dtype=bool)
        support[np.argsort(-self.scores_, kind="stable")[: self.k]] = True
        return support

    def __sklearn_tags__(self) -> Tags:
        """Declare support for sparse input, and that y is required."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def information_gain(X: MatrixLike, Y: CSR) -> Floats:
    """Return the information gain of each feature about the categories [TCPH01, Eq. 10].

    Parameters
    ----------
    X
        Items, dense or CSR, (n_items, n_features).
    Y
        The categories of each item, (n_items, n_categories) boolean CSR.

    Returns
    -------
    ndarray, shape (n_features,)
        In nats; 0 for all features if no item has a category.
    """
    from scipy.sparse import csr_array

    presence = csr_array(csr_array(X) != 0, dtype=np.float64)
    together = csr_array(Y.T.astype(np.float64) @ presence)
    in_category = np.asarray(Y.sum(axis=0), dtype=np.float64).ravel()
    n = in_category.sum()
    n_c = np.repeat(in_category, np.diff(together.indptr))
    parts = _g(together.data) + _g(n_c - together.data) - _g(n_c)
    n_features = presence.shape[1]
    # Entries are ordered by category, so equal columns are summed in the same order.
    inside = np.bincount(together.indices, parts, minlength=n_features)
    m = np.bincount(together.indices, together.data, minlength=n_features)
    gains: Floats = np.maximum(inside - _g(m) - _g(n - m) + _g(n), 0.0) / max(n, 1.0)
    return gains


def _g(t: Any) -> Any:
    """Return t log t, 0 at 0."""
    return xlogy(t, t)


def _indicators(y: Any) -> CSR:
    """Return the categories of each item, (n_items, n_categories) boolean CSR."""
    from scipy.sparse import csr_array

    if hasattr(y, "__array__") and not hasattr(y, "shape"):
        y = np.asarray(y)
    if getattr(y, "ndim", 0) == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    if labels.is_indicator(y):
        table = csr_array(y if hasattr(y, "tocsr") else np.asarray(y))
        if not np.isin(table.data, (0, 1)).all():
            raise LabelError("y is a matrix and must hold only 0 and 1; got other values.")
        return csr_array(table, dtype=bool)
    if not labels.is_label_sets(y):
        check_classification_targets(y)
    sets = labels.as_sets(y)
    names = {label: None for item in sets for label in item}
    column = {label: c for c, label in enumerate(names)}
    pairs = {(i, column[label]) for i, item in enumerate(sets) for label in item}
    rows, columns = np.array(sorted(pairs), dtype=np.intp).reshape(-1, 2).T
    ones = np.ones(len(rows), dtype=bool)
    return csr_array((ones, (rows, columns)), shape=(len(sets), len(column)))

"""How models of label sets answer: indicator matrices, lists of labels, paths."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes
    from taxonomist.models.set_targets import SetTargets


class SetAnswers(ClassifierMixin):
    """A classifier that gives items sets of nodes, closed under ancestors.

    Its ``fit`` sets ``classes_`` and ``_targets``, what it was fitted to. Where that was one label
    per item, the answers are too.
    """

    classes_: Any
    _targets: SetTargets

    @abstractmethod
    def _closed_sets(self, X: Any) -> CSR:
        """Return which nodes of the taxonomy each item has, (n_items, n_nodes) boolean."""

    @abstractmethod
    def _best_columns(self, X: Any) -> Codes:
        """Return the column of the best category of each item."""

    def predict(self, X: Any) -> Any:
        """Return the label sets of items as an indicator matrix.

        Parameters
        ----------
        X
            Items as in ``fit``.

        Returns
        -------
        array, shape (n_items, n_columns)
            Closed under ancestors. The columns are those of the matrix that the model was fitted
            to, dense or sparse as that was; if it was fitted to sets of ids, ``classes_``, sparse.
            A model of single labels returns those, (n_items,).
        """
        check_is_fitted(self)
        targets = self._targets
        if targets.is_single:
            return self.classes_[self._best_columns(X)]
        return self._in_columns(self._closed_sets(X))

    def _in_columns(self, sets: CSR) -> Any:
        """Return sets of nodes, (n_items, n_nodes), as the indicator matrix of an answer."""
        targets = self._targets
        columns = targets.columns
        if columns is None:
            columns = targets.categories.taxonomy.codes(targets.categories.ids)
        chosen = sets[:, columns].astype(np.int64)
        return chosen.toarray() if targets.is_dense else chosen

    def predict_labels(self, X: Any) -> list[list[Any]]:
        """Return the labels of each item, from the general to the specific.

        The sets are closed under ancestors; a root that only joins the taxonomy is left out.
        """
        check_is_fitted(self)
        if self._targets.is_single:
            return [[label] for label in self.predict(X).tolist()]
        taxonomy = self._targets.categories.taxonomy
        closed = self._closed_sets(X)
        if self._targets.is_flat:
            leaves = closed[:, taxonomy.codes(self._targets.categories.ids)].tocsr()
            leaves.sort_indices()
            return [self.classes_[leaves[[i]].indices].tolist() for i in range(leaves.shape[0])]
        hidden = {taxonomy.nodes[0]} - set(taxonomy.roots)
        found = labels.decode_sets(taxonomy, closed)
        return [[node for node in nodes if node not in hidden] for nodes in found]

    def predict_paths(self, X: Any) -> Any:
        """Return the paths from the top to the most specific labels of each item, as a list.

        A model of single labels returns one path per item. In a DAG a node may have several paths;
        this is the first, ``Taxonomy.paths`` gives all.
        """
        check_is_fitted(self)
        taxonomy = self._targets.categories.taxonomy
        if self._targets.is_single:
            ids = self._targets.categories.ids
            found = [[ids[c]] for c in self._best_columns(X).tolist()]
        else:
            lowest = labels.most_specific(taxonomy, self._closed_sets(X))
            found = labels.decode_sets(taxonomy, lowest)
        used = {node for nodes in found for node in nodes}
        path = {node: taxonomy.paths(node, limit=1)[0] for node in used}
        paths = [[path[node] for node in nodes] for nodes in found]
        return [first for first, *_ in paths] if self._targets.is_single else paths

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of items whose label set is exactly right."""
        check_is_fitted(self)
        targets = self._targets
        if targets.is_single or labels.is_indicator(y):
            return float(super().score(X, y, sample_weight))
        if targets.is_flat:
            truth = targets.close(targets.encode(y))
        else:
            taxonomy = targets.categories.taxonomy
            truth = labels.close(taxonomy, labels.encode_sets(taxonomy, y))
        wrong = np.diff((truth != self._closed_sets(X)).tocsr().indptr) > 0
        return float(np.average(~wrong, weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn is to know."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

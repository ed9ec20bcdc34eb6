"""How a classifier with probabilities of nodes answers: by nodes that are sure or cheap enough."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.utils import _safe_indexing, gen_batches
from sklearn.utils.validation import _num_samples, check_is_fitted

from taxonomist.inference.stopping import (
    check_risk,
    confident_nodes,
    confident_sets,
    least_cost_nodes,
    least_cost_sets,
)
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.models.set_targets import SetTargets
    from taxonomist.taxonomy import Taxonomy

BLOCK = 2**22
"""Probabilities of nodes that are held at a time where they are not asked for, 32 MiB."""


class NodeDecisions:
    """A classifier that has probabilities of nodes, and a model that decides otherwise.

    Its ``fit`` sets ``model_``, ``classes_``, ``taxonomy_``, and ``_targets``, what it was fitted
    to.
    """

    model_: Any
    classes_: Any
    taxonomy_: Taxonomy
    _targets: SetTargets

    @abstractmethod
    def _calibrated(self, X: Any) -> Floats:
        """Return the probabilities of categories, of label sets each by itself."""

    @abstractmethod
    def _of_nodes(self, probabilities: Floats) -> Floats:
        """Return the probabilities of nodes from calibrated ones of categories."""

    @property
    def _is_single(self) -> bool:
        """Whether items have one category each."""
        return self._targets.is_single

    @property
    def _codes(self) -> Codes:
        """The node of each category."""
        return self.taxonomy_.codes(self._targets.categories.ids)

    def predict(
        self, X: Any, *, depth: str | None = None, risk: float = 0.1, cost: Any = None
    ) -> Any:
        """Return what the model predicts, or nodes that are sure enough or cost the least.

        Parameters
        ----------
        X
            Items as in ``fit``.
        depth
            ``"confident"`` returns the deepest node that is right with a probability of at least
            1 - ``risk``, the root if there is no other; of a label set the part that is.
        risk
            The probability of a mistake that is accepted.
        cost
            A loss between nodes: ``"tree"``, ``"zero_one"``, or whatever
            ``taxonomist.losses.category_loss`` takes. Returns the node of the least expected loss;
            for label sets, the set, and the loss must come from costs at nodes.

        Returns
        -------
        ndarray, shape (n_items,), or for label sets a matrix
            Labels. With ``depth`` or ``cost``, ids of nodes, and for label sets an indicator matrix
            over ``taxonomy_.nodes``, (n_items, n_nodes), closed under ancestors.

        Raises
        ------
        ValueError
            If ``depth`` or ``risk`` make no sense, or ``cost`` is given as well.
        LabelError
            If the loss does not fit the taxonomy.
        """
        check_is_fitted(self)
        if not self._is_own_rule(depth, risk, cost):
            return self.model_.predict(X)
        if self._is_single:
            return self._names[self._decided_nodes(X, risk, cost)]
        return self._decided_sets(X, risk, cost).astype(np.int64)

    def predict_labels(
        self, X: Any, *, depth: str | None = None, risk: float = 0.1, cost: Any = None
    ) -> list[list[Any]]:
        """Return the labels of each item as a list, from the general to the specific.

        A root that only joins the taxonomy is left out. The parameters are those of ``predict``.
        """
        check_is_fitted(self)
        is_own = self._is_own_rule(depth, risk, cost)
        if not self._is_single and not is_own:
            sets: list[list[Any]] = self.model_.predict_labels(X)
            return sets
        if not self._is_single:
            return self._named(_rows_of(self._decided_sets(X, risk, cost)))
        if is_own:
            return self._named(self._decided_nodes(X, risk, cost)[:, None].tolist())
        return [[label] for label in self.model_.predict(X).tolist()]

    def predict_paths(
        self, X: Any, *, depth: str | None = None, risk: float = 0.1, cost: Any = None
    ) -> Any:
        """Return the path from the top to each prediction; for label sets, a list of paths each.

        The path to a root that only joins the taxonomy is empty. In a DAG a node may have several
        paths; this is the first. The parameters are those of ``predict``.
        """
        check_is_fitted(self)
        is_own = self._is_own_rule(depth, risk, cost)
        if not self._is_single:
            if not is_own:
                return self.model_.predict_paths(X)
            sets = labels.most_specific(self.taxonomy_, self._decided_sets(X, risk, cost))
            return [[path for path in paths if path] for paths in self._paths_to(_rows_of(sets))]
        if is_own:
            nodes = self._decided_nodes(X, risk, cost)
        else:
            column = {label: c for c, label in enumerate(self.classes_.tolist())}
            predicted = self.model_.predict(X).tolist()
            nodes = self._codes[[column[label] for label in predicted]]
        return [path for (path,) in self._paths_to(nodes[:, None].tolist())]

    def _is_own_rule(self, depth: Any, risk: float, cost: Any) -> bool:
        """Return whether probabilities decide, or the model; refuse what makes no sense."""
        if depth not in (None, "confident"):
            raise ValueError(f"depth must be None or 'confident'. Got {depth!r}.")
        if depth is not None and cost is not None:
            raise ValueError("depth and cost are two rules; give one of them.")
        check_risk(risk)
        return depth is not None or cost is not None

    def _decided_nodes(self, X: Any, risk: float, cost: Any) -> Codes:
        """Return the node of each item by probabilities."""
        found = [
            confident_nodes(self.taxonomy_, of_nodes, risk)
            if cost is None
            else least_cost_nodes(cost, self.taxonomy_, self._codes, of_categories, of_nodes)
            for _, of_categories, of_nodes in self._blocks(X)
        ]
        return np.concatenate(found)

    def _decided_sets(self, X: Any, risk: float, cost: Any) -> CSR:
        """Return the closed label set of each item by probabilities, (n_items, n_nodes)."""
        found = [
            confident_sets(self.model_._closed_sets(items), of_nodes, risk)
            if cost is None
            else least_cost_sets(cost, self.taxonomy_, of_nodes)
            for items, _, of_nodes in self._blocks(X)
        ]
        return csr_array(vstack(found, format="csr"))

    def _blocks(self, X: Any) -> Iterator[tuple[Any, Floats, Floats]]:
        """Yield blocks of items with the probabilities of categories and of nodes."""
        n_items, size = _num_samples(X), max(1, BLOCK // self.taxonomy_.n_nodes)
        rows = X.tocsr() if hasattr(X, "tocsr") else X
        for block in gen_batches(n_items, size) if n_items > size else [None]:
            items = X if block is None else _safe_indexing(rows, block)
            probabilities = self._calibrated(items)
            yield items, probabilities, self._of_nodes(probabilities)

    @property
    def _names(self) -> Any:
        """What users call the nodes: their ids, or, without a taxonomy, labels."""
        names = np.array(self.taxonomy_.nodes, dtype=object)
        if self._targets.is_flat:
            names[self._codes] = self.classes_
        return names

    def _named(self, rows: list[list[int]]) -> list[list[Any]]:
        """Return what users call nodes, without a root that only joins the taxonomy."""
        names, first = self._names, int(self.taxonomy_.has_artificial_root)
        return [[names[code] for code in codes if code >= first] for codes in rows]

    def _paths_to(self, rows: list[list[int]]) -> list[list[tuple[str, ...]]]:
        """Return the first path to each node; it is empty to a root that only joins."""
        taxonomy = self.taxonomy_
        used = sorted({code for codes in rows for code in codes})
        path = {code: taxonomy.paths(taxonomy.nodes[code], limit=1)[0] for code in used}
        if taxonomy.has_artificial_root:
            path[0] = ()
        return [[path[code] for code in codes] for codes in rows]


def _rows_of(sets: CSR) -> list[list[int]]:
    """Return the columns that each row of a boolean matrix marks, in order."""
    rows = np.split(sets.indices, sets.indptr[1:-1])
    return [sorted(row.tolist()) for row in rows]

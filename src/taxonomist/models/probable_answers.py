"""``ProbableAnswers``: probabilities, and confident or least-cost predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from taxonomist.errors import ParameterError
from taxonomist.inference.scorers import best_columns, top_entries
from taxonomist.inference.stopping import (
    check_risk,
    confident_nodes,
    confident_sets,
    least_cost_nodes,
    least_cost_sets,
)
from taxonomist.models.answers import check_k, rows_of
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats, Objects
    from taxonomist.losses.categories import LossLike
    from taxonomist.models.explanation import Explanation
    from taxonomist.models.targets import Targets


class ProbableAnswers:
    """All predictions for a block of items, which are scored once.

    A subclass defines the probabilities, the plain predictions, and ``_wrapped``.

    Notes
    -----
    The parameters ``depth``, ``risk`` and ``cost`` are explained in
    ``ProbableQuestions.predict``.
    """

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self._taxonomy = targets.categories.taxonomy

    @property
    def categories(self) -> Floats:
        """Category probabilities that decisions are based on, (n_items, n_categories)."""
        raise NotImplementedError

    @property
    def of_nodes(self) -> Floats:
        """Probabilities that items belong at or below every node, (n_items, n_nodes)."""
        raise NotImplementedError

    def proba(self) -> Floats:
        """Return the probability of every category; see ``predict_proba``."""
        return self.categories

    def node_proba(self) -> Floats:
        """Return the probability that items belong at or below every node."""
        return self.of_nodes

    def top_proba(self, k: int) -> CSR:
        """Return the probabilities of the k most probable categories; see ``predict_proba``."""
        check_k(k, len(self._targets.classes))
        return top_entries(self.proba(), k)

    def top_node_proba(self, k: int) -> CSR:
        """Return the probabilities of the k most probable categories and of all nodes above."""
        best = self.top_proba(k)
        above = self._taxonomy.ancestor_matrix()[self._targets.nodes]
        chosen = csr_array((np.ones(best.nnz), best.indices, best.indptr), shape=best.shape) @ above
        chosen.sort_indices()
        rows = np.repeat(np.arange(chosen.shape[0]), np.diff(chosen.indptr))
        values = self.node_proba()[rows, chosen.indices]
        return csr_array((values, chosen.indices, chosen.indptr), shape=chosen.shape)

    def plain(self) -> Any:
        """Return the predictions without ``depth`` and ``cost``."""
        return self.wrapped("predict").predict()

    def wrapped(self, question: str) -> Any:
        """Return the answers that have no probabilities; raise if there are none."""
        raise NotImplementedError

    def topk(self, k: int = 5) -> tuple[Objects, Floats]:
        """Return the k most probable categories of each item, and their probabilities."""
        check_k(k, len(self._targets.classes))
        best, probabilities = best_columns(self.proba(), k)
        return self._targets.classes[best], probabilities

    def explain(self, item: int = 0, n: int = 10, **options: Any) -> Explanation:
        """Explain a score of the model; see its ``explain``."""
        found: Explanation = self.wrapped("explain a score").explain(item, n, **options)
        return found

    # Decisions --------------------------------------------------------------------------------

    def predict(
        self, *, depth: str | None = None, risk: float = 0.1, cost: LossLike | None = None
    ) -> Any:
        """Return the predictions of the model, or confident or least-cost nodes."""
        if not is_own_rule(depth, risk, cost):
            return self.plain()
        if self._targets.is_single:
            return self._targets.name_array()[self._nodes(risk, cost)]
        return self._sets(risk, cost).astype(np.int64)

    def labels(
        self, *, depth: str | None = None, risk: float = 0.1, cost: LossLike | None = None
    ) -> list[list[Any]]:
        """Return the labels of each item as a list, from general to specific."""
        is_own = is_own_rule(depth, risk, cost)
        if not self._targets.is_single:
            if not is_own:
                sets: list[list[Any]] = self.wrapped("list labels").labels()
                return sets
            return self._named(rows_of(self._sets(risk, cost)))
        if is_own:
            return self._named(self._nodes(risk, cost)[:, None].tolist())
        return [[label] for label in self.predict().tolist()]

    def paths(
        self, *, depth: str | None = None, risk: float = 0.1, cost: LossLike | None = None
    ) -> list[Any]:
        """Return the path to each prediction; for label sets, lists of paths.

        The path to a virtual root is empty. If a node of a DAG has several paths, the first is
        returned.
        """
        is_own = is_own_rule(depth, risk, cost)
        if not self._targets.is_single:
            if not is_own:
                found: list[Any] = self.wrapped("list paths").paths()
                return found
            sets = labels.most_specific(self._taxonomy, self._sets(risk, cost))
            paths = self._targets.paths_to(rows_of(sets))
            return [[path for path in row if path] for row in paths]
        if is_own:
            nodes = self._nodes(risk, cost)
        else:
            column = {label: c for c, label in enumerate(self._targets.classes.tolist())}
            nodes = self._targets.nodes[[column[label] for label in self.predict().tolist()]]
        return [path for (path,) in self._targets.paths_to(nodes[:, None].tolist())]

    def _nodes(self, risk: float, cost: LossLike | None) -> Codes:
        """Return the confident or least-cost node of each item."""
        taxonomy, nodes = self._taxonomy, self._targets.nodes
        if cost is None:
            return confident_nodes(taxonomy, self.of_nodes, risk)
        return least_cost_nodes(cost, taxonomy, nodes, self.categories, self.of_nodes)

    def _sets(self, risk: float, cost: LossLike | None) -> CSR:
        """Return the confident or least-cost label set of each item, (n_items, n_nodes)."""
        if cost is None:
            return confident_sets(self.wrapped("predict label sets").sets, self.of_nodes, risk)
        return least_cost_sets(cost, self._taxonomy, self.of_nodes)

    def _named(self, rows: list[list[int]]) -> list[list[Any]]:
        """Return the names of nodes, without a virtual root."""
        names, first = self._targets.node_names, int(self._taxonomy.has_artificial_root)
        return [[names[code] for code in codes if code >= first] for codes in rows]


def is_own_rule(depth: Any, risk: float, cost: LossLike | None) -> bool:
    """Return whether ``depth`` or ``cost`` is given; raise if a value is invalid."""
    if depth not in (None, "confident"):
        raise ParameterError(f"depth must be None or 'confident'. Got {depth!r}.")
    if depth is not None and cost is not None:
        raise ParameterError("depth and cost cannot be combined; give one of them.")
    check_risk(risk)
    return depth is not None or cost is not None

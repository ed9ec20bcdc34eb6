"""What the models share whose weights solve a joint problem over pairs of categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.losses import category_loss
from taxonomist.models.attributes import class_attributes
from taxonomist.models.certified import CertifiedModel, log_pass
from taxonomist.solvers import SOLVERS
from taxonomist.solvers.duals import of_items, renumbered
from taxonomist.solvers.problem import JointProblem
from taxonomist.solvers.warm_start import carry_over

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Floats
    from taxonomist.compiled.arrays import Duals
    from taxonomist.solvers.solution import Solution
    from taxonomist.taxonomy import Categories


class JointModel(CertifiedModel):
    """A model of categories that are compared in pairs.

    A subclass has the parameters ``loss``, ``node_weight`` and ``solver`` beside those of
    ``CertifiedModel``.
    """

    loss: Any
    node_weight: Any
    solver: str
    _duals: Duals

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, before any work is done."""
        super()._check_parameters()
        self._check_word("solver", tuple(SOLVERS))

    def _solve(
        self,
        X: Any,
        labels: CSR,
        categories: Categories,
        classes: Any,
        costs: Floats,
        *,
        slack: str = "example",
        start: Duals | None = None,
    ) -> None:
        """Solve the problem of checked items, and set the fitted attributes.

        ``start`` are dual variables of these items, in terms of the present ``classes_``.
        """
        items = np.flatnonzero(costs > 0)
        problem = JointProblem(
            items=self._items(X, items),
            labels=labels[items],
            costs=costs[items],
            attributes=class_attributes(categories, self.attributes, self.node_weight),
            loss=category_loss(self.loss, categories.expanded, categories.codes),
            slack=slack,
        )
        begin = None
        if start is not None:
            moved = _new_columns(self.classes_, classes)
            begin = carry_over(problem, of_items(start, items), moved, np.dtype(self.dtype))
        solution: Solution = SOLVERS[self.solver](problem, self._options(), log_pass, begin)
        self.classes_ = classes
        self.taxonomy_ = categories.expanded
        self._categories = categories
        self._attributes = problem.attributes
        self._W = solution.W
        self._duals = renumbered(solution.duals, items, len(costs))
        self._store_certificate(
            solution.certificate, solution.converged, solution.history, problem.n_pairs
        )


def _new_columns(old: Any, new: Any) -> Any:
    """Return the new column of each old class, -1 where it is gone."""
    column = {label: c for c, label in enumerate(new.tolist())}
    return np.array([column.get(label, -1) for label in old.tolist()], dtype=np.intp)

"""Joint learning of the weights of all nodes from pairs of categories [CH04, CH07]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taxonomist.errors import ParameterError
from taxonomist.inference.linear_scorer import LinearScorer
from taxonomist.losses import category_loss
from taxonomist.models.certificates import certificate_facts, item_costs, log_pass, solver_options
from taxonomist.models.learning import Learned
from taxonomist.solvers import SOLVERS, biased
from taxonomist.solvers.duals import of_items, renumbered
from taxonomist.solvers.problem import JointProblem
from taxonomist.solvers.warm_start import carry_over

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Objects
    from taxonomist.compiled.arrays import Duals
    from taxonomist.models.learning import Training
    from taxonomist.solvers.solution import Solution


class JointStart(NamedTuple):
    """The state of a fit, for warm starts.

    Attributes
    ----------
    duals
        Dual variables of the items.
    classes
        The classes, in the order of the category numbers of ``duals``.
    """

    duals: Duals
    classes: Objects

    def of(self, items: Codes) -> JointStart:
        """Return the state of some items."""
        return JointStart(of_items(self.duals, items), self.classes)


def learn_joint(
    model: Any, training: Training, start: JointStart | None, slack: str = "example"
) -> Learned:
    """Solve the joint problem with the parameters of a model.

    Parameters
    ----------
    model
        A model with the parameters ``C``, ``loss``, ``attributes``, ``node_weight`` and ``solver``,
        and those of ``AttributeWeights`` and ``solver_options``.
    training
        The items.
    start
        Dual variables of these items for a warm start, or None.
    slack
        ``"example"`` or ``"pair"``.
    """
    targets, categories = training.targets, training.targets.categories
    costs = item_costs(model.C, training.weights)
    items = np.flatnonzero(costs > 0)
    rows, row_map = model.solver_rows(training.X, items)
    problem = JointProblem(
        items=rows,
        labels=targets.labels[items],
        costs=costs[items],
        attributes=model.attributes_of(targets),
        loss=category_loss(model.loss, categories.expanded, categories.codes),
        slack=slack,
    )
    begin = None
    if start is not None:
        moved = _new_columns(start.classes, targets.classes)
        begin = carry_over(problem, of_items(start.duals, items), moved, np.dtype(model.dtype))
    has_biases = getattr(model, "fit_intercept", False)
    if has_biases and not biased.free_biases(problem.attributes):
        raise ParameterError(
            "fit_intercept=True needs attributes that give every category its own bias, but these "
            "are linearly dependent. Use constant=1.0 instead."
        )
    solve = biased.solve if has_biases else SOLVERS[model.solver]
    solution: Solution = solve(problem, solver_options(model), log_pass, begin)
    facts = certificate_facts(
        model, solution.certificate, solution.converged, solution.history, problem.n_pairs
    )
    duals = renumbered(solution.duals, items, len(costs))
    scorer = LinearScorer(solution.W, problem.attributes, row_map)
    return Learned(scorer, facts, JointStart(duals, targets.classes))


def _new_columns(old: Any, new: Any) -> Any:
    """Return the new column of each old class, or -1 if it no longer exists."""
    column = {label: c for c, label in enumerate(new.tolist())}
    return np.array([column.get(label, -1) for label in old.tolist()], dtype=np.intp)

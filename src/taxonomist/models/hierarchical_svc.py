"""``HierarchicalSVC``: the joint multiclass SVM over a taxonomy [CH04, HCC03]."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from taxonomist.errors import NotSeparableError
from taxonomist.losses import category_loss
from taxonomist.models.attributes import class_attributes
from taxonomist.models.scoring import AttributeModel
from taxonomist.models.targets import Targets, item_costs, n_threads
from taxonomist.solvers import SOLVERS
from taxonomist.solvers.problem import JointProblem, one_label_each
from taxonomist.solvers.solution import Options, Pass, Solution
from taxonomist.solvers.warm_start import carry_over

if TYPE_CHECKING:
    from taxonomist.taxonomy import Taxonomy

logger = logging.getLogger(__name__)

DEFAULT = Options()


class HierarchicalSVC(ClassifierMixin, AttributeModel):
    """Support vector classifier whose scores are sums over the nodes above a category.

    Every node of the taxonomy has a weight vector; the score of a category is the sum over the
    nodes at or above it [CH04, Eq. 21]. All weights are learned jointly, with margins that
    are asked for in proportion to the loss of a mistake [CH04, Eq. 24]. Categories without
    training items can be predicted through what they share with others.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None means one of depth one over the labels
        in ``y``, which gives the flat multiclass SVM of Crammer and Singer.
    C
        Cost of a unit of slack. ``float("inf")`` asks for a hard margin.
    loss
        What a mistake costs: ``"tree"``, ``"zero_one"``, or whatever
        ``taxonomist.losses.category_loss`` takes.
    attributes
        ``"taxonomy"``, ``"flat"``, or a matrix (n_classes, n_attributes) of class attributes.
    node_weight
        v_z: ``"depth"``, ``"unit"``, ``"normalized"``, a number, or a mapping from node ids.
    kernel
        ``"linear"``, ``"poly"``, ``"rbf"``, ``"sigmoid"``, ``"precomputed"``, or a function.
    gamma, degree, coef0
        Parameters of the kernel, as in scikit-learn's ``SVC``.
    constant
        Value of a constant feature that is added to every item, with the linear kernel; 0 adds
        none. The model has no other bias.
    solver
        ``"auto"``, ``"sequential"``, ``"greedy"``, ``"greedy_joint"`` or ``"full"``.
    tol
        When to stop: the largest violation ψ_i of the optimality conditions [CH04, Eq. 33], or the
        relative duality gap.
    stop
        What ``tol`` is compared with: ``"violation"`` or ``"gap"``.
    max_iter
        Most passes over the items.
    dtype
        Type of the weights with a linear kernel, ``"float32"`` or ``"float64"``.
    cache_size
        Megabytes for kept blocks of the Gram matrix.
    warm_start
        Whether ``fit`` goes on from the dual variables of the last fit, also where items or
        categories were added since.
    random_state
        Seed of the order in which items are visited.
    n_jobs
        Threads; None means all cores. The result does not depend on it.

    Attributes
    ----------
    classes_
        Ids of the categories, in column order of ``decision_function``.
    taxonomy_
        The taxonomy, with terminal children for interior nodes that are categories.
    node_coef_
        (n_nodes, n_features), row order ``taxonomy_.nodes``: v_z w_z, what a node adds to scores.
    coef_
        (n_classes, n_features): the sums of those rows along ancestors.
    objective_, dual_objective_, duality_gap_
        Primal value ½ ||w||² + C Σ ξ, dual value, and (primal - dual) / primal.
    max_violation_
        Largest ψ_i.
    n_iter_, converged_
        Number of passes, and whether ``tol`` was reached.
    history_
        For each pass: seconds, primal, dual, violation, n_active, and is_exact.
    active_ratio_
        Share of dual variables that are positive [CH04, Eq. 41].

    Examples
    --------
    >>> from taxonomist import HierarchicalSVC, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X, y = [[1, 0, 0], [1, 1, 0], [0, 0, 1]], ["cat", "dog", "oak"]
    >>> model = HierarchicalSVC(taxonomy).fit(X, y)
    >>> model.predict_paths([[1, 1, 0]])
    [('animal', 'dog')]
    """

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        C: float = 1.0,
        loss: Any = "tree",
        attributes: Any = "taxonomy",
        node_weight: Any = "depth",
        kernel: Any = "linear",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        constant: float = 0.0,
        solver: str = "auto",
        tol: float = DEFAULT.tol,
        stop: str = DEFAULT.stop,
        max_iter: int = DEFAULT.max_iter,
        dtype: str = DEFAULT.dtype,
        cache_size: float = 500,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.loss = loss
        self.attributes = attributes
        self.node_weight = node_weight
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.constant = constant
        self.solver = solver
        self.tol = tol
        self.stop = stop
        self.max_iter = max_iter
        self.dtype = dtype
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    # Fitting ---------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HierarchicalSVC:
        """Learn the weights of all nodes.

        Parameters
        ----------
        X
            Items, dense or sparse, (n_items, n_features); their Gram matrix, (n_items,
            n_items), with ``kernel="precomputed"``.
        y
            One label per item: a node id, or a path that ``Taxonomy.resolve`` understands.
        sample_weight
            Weights of the items; each multiplies C.

        Returns
        -------
        HierarchicalSVC
            The model itself.

        Raises
        ------
        LabelError
            If a label is not in the taxonomy.
        NotSeparableError
            If a hard margin is asked for where there is none.
        """
        self._check_parameters()
        X = self._validate(X, reset=True)
        targets = Targets.from_labels(self.taxonomy, y, X)
        costs = item_costs(self.C, sample_weight, X)
        items = np.flatnonzero(costs > 0)
        problem = JointProblem(
            items=self._items(X, items),
            labels=one_label_each(targets.codes[items], len(targets.categories)),
            costs=costs[items],
            attributes=class_attributes(targets.categories, self.attributes, self.node_weight),
            loss=category_loss(self.loss, targets.taxonomy, targets.categories.codes),
        )
        start = self._start(problem, targets) if self.warm_start and len(items) == len(y) else None
        solution = SOLVERS[self.solver](problem, self._options(), _log_pass, start)
        self._store(targets, problem, solution)
        self._report(solution)
        return self

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, before any work is done."""
        for name, value, allowed in (
            ("solver", self.solver, tuple(SOLVERS)),
            ("stop", self.stop, ("violation", "gap")),
            ("dtype", np.dtype(self.dtype).name, ("float32", "float64")),
        ):
            if value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}. Got {value!r}.")
        for name, number in (("tol", self.tol), ("max_iter", self.max_iter)):
            if not number > 0:
                raise ValueError(f"{name} must be above 0. Got {number!r}.")
        if self.constant and self.kernel != "linear":
            raise ValueError("A constant feature needs kernel='linear'; others have coef0.")

    def _options(self) -> Options:
        """Return what the solver is told."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return Options(
            tol=self.tol,
            stop=self.stop,
            max_iter=self.max_iter,
            dtype=self.dtype,
            random_state=int(seed),
            n_threads=n_threads(self.n_jobs),
        )

    def _start(self, problem: JointProblem, targets: Targets) -> Solution | None:
        """Return the last fit's dual variables on the present problem, if there was a fit."""
        if not hasattr(self, "_duals"):
            return None
        column = {label: c for c, label in enumerate(targets.classes.tolist())}
        moved = np.array([column.get(label, -1) for label in self.classes_.tolist()])
        return carry_over(problem, self._duals, moved, np.dtype(self.dtype))

    def _store(self, targets: Targets, problem: JointProblem, solution: Solution) -> None:
        """Set the fitted attributes."""
        self.classes_ = targets.classes
        self.taxonomy_ = targets.taxonomy
        self._categories = targets.categories
        self._attributes = problem.attributes
        self._W, self._duals = solution.W, solution.duals
        self.objective_, self.dual_objective_, self.duality_gap_, self.max_violation_ = (
            solution.certificate
        )
        self.converged_ = solution.converged
        self.history_ = solution.history
        self.n_iter_ = len(solution.history)
        self.active_ratio_ = solution.history[-1].n_active / max(1, problem.n_pairs)

    def _report(self, solution: Solution) -> None:
        """Say so where the solver did not reach what it was asked for."""
        if solution.converged:
            return
        if np.isinf(self.C) and not np.isfinite(solution.certificate.primal):
            raise NotSeparableError(
                "C is infinite, but no weights separate all items with a margin: "
                f"after {self.n_iter_} passes some are on the wrong side. Give a finite C."
            )
        reached = self.duality_gap_ if self.stop == "gap" else self.max_violation_
        what = "duality gap" if self.stop == "gap" else "largest violation"
        warnings.warn(
            f"Stopped after {self.n_iter_} passes with {what} {reached:.1e}; wanted "
            f"{self.tol:.1e}. Increase max_iter, or accept with tol={1.1 * reached:.0e}.",
            ConvergenceWarning,
            stacklevel=3,
        )


def _log_pass(entry: Pass) -> None:
    """Log the progress of a solver."""
    logger.debug(
        "%.1f s: primal %.6g, dual %.6g, largest violation %.2g, %d active variables",
        *entry[:5],
    )

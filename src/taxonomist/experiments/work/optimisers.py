"""The papers' solvers at work: seconds, steps, growth of the active set [CH04, Sec. 6.4]."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from taxonomist.experiments.declarations import Result
from taxonomist.experiments.work.models import joint_svm
from taxonomist.experiments.work.patents import vectorizer
from taxonomist.losses import category_loss
from taxonomist.models.attributes import class_attributes
from taxonomist.solvers import greedy
from taxonomist.solvers.interior_point import maximise
from taxonomist.solvers.problem import FeatureRows, JointProblem, one_label_each
from taxonomist.solvers.solution import Options
from taxonomist.taxonomy import Categories

if TYPE_CHECKING:
    from taxonomist._typing import Floats
    from taxonomist.experiments.work.trials import MakeProblem, SplitData
    from taxonomist.solvers.greedy import QPSolver

QPS = {"interior point": maximise, "pairwise": None}
"""Programs for the QP of a step: one like the papers', and the library's."""


def problem_of(data: SplitData, features: str) -> JointProblem:
    """Return the hierarchical SVM's problem over all items, with the tree loss and C = 1."""
    categories, codes = Categories.of_items(data.taxonomy, data.y)
    X = vectorizer(features).fit_transform(data.X)
    return JointProblem(
        items=FeatureRows(X, "float64"),
        labels=one_label_each(codes, len(categories)),
        costs=np.ones(len(codes)),
        attributes=class_attributes(categories, "taxonomy", "depth"),
        loss=category_loss("tree", categories.expanded, categories.codes),
    )


def optimise(
    *problems: MakeProblem, variant: Literal["greedy", "full"], qp: str, features: str, tol: float
) -> Result:
    """Solve problems with Algorithm 1, with or without an active set.

    Parameters
    ----------
    *problems
        Load the data.
    variant
        ``"greedy"`` with an active set, or ``"full"`` without.
    qp
        The program that solves the QP of a step, of ``QPS``.
    features
        Kind of vectors.
    tol
        The tolerance ε.

    Returns
    -------
    Result
        By problem: processor seconds, steps, milliseconds a step, and the active ratio.
    """
    found: dict[str, list[float]] = {
        name: [] for name in ("fit_seconds", "steps", "ms_per_step", "active_ratio", "n_items")
    }
    options = Options(tol=tol, dtype="float64")
    with threadpool_limits(1):
        first = problem_of(problems[0](), features)
        greedy.solve(first, Options(max_iter=1, tol=1.0), variant=variant)  # compiles
        for make in problems:
            problem = problem_of(make(), features)
            count = _Counted(QPS[qp])
            started = time.process_time()
            solution = greedy.solve(problem, options, variant=variant, qp=count.qp)
            seconds = time.process_time() - started
            n_steps = count.n_calls or len(solution.history) * problem.n_items
            found["fit_seconds"].append(seconds)
            found["steps"].append(float(n_steps))
            found["ms_per_step"].append(1000 * seconds / n_steps)
            found["active_ratio"].append(solution.history[-1].n_active / problem.n_pairs)
            found["n_items"].append(float(problem.n_items))
    return Result(found)


class _Counted:
    """A program that counts its calls."""

    def __init__(self, qp: QPSolver | None) -> None:
        self.n_calls = 0
        self._inner = qp

    @property
    def qp(self) -> QPSolver | None:
        """The program, or None if there is none."""
        return None if self._inner is None else self._call

    def _call(self, Q: Floats, g: Floats, C: float, tol: float) -> Floats:
        assert self._inner is not None
        self.n_calls += 1
        return self._inner(Q, g, C, tol)


def active_ratios(problem: MakeProblem, *, features: str, tol: float) -> Result:
    """Fit the hierarchical SVM to the training items of each fold; return the active ratios."""
    data = problem()
    found = []
    for train, _ in data.splits:
        X = vectorizer(features).fit_transform(data.X[train])
        model = joint_svm(data.taxonomy, tol=tol).fit(X, data.y[train])
        found.append(float(model.active_ratio_))
    return Result({"active_ratio": found})


def history(problem: MakeProblem, *, features: str, tol: float) -> Result:
    """Return what Algorithm 1 has reached after each pass [CH04, Fig. 4].

    Returns
    -------
    Result
        The dual objective, the active ratio [CH04, Eq. 41], and ``growth``: new variables a step,
        without the last pass, which ends early.
    """
    joint = problem_of(problem(), features)
    passes = greedy.solve(joint, Options(tol=tol, dtype="float64")).history
    n_active = np.array([0, *(entry.n_active for entry in passes)])
    return Result(
        {
            "objective": [float(entry.dual) for entry in passes],
            "active": (n_active[1:] / joint.n_pairs).tolist(),
            "growth": (np.diff(n_active)[: max(1, len(passes) - 1)] / joint.n_items).tolist(),
        }
    )

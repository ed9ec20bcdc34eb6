"""The options of solvers, and what they return: certificate and solution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from taxonomist._typing import Reals
    from taxonomist.compiled.arrays import Duals
    from taxonomist.compiled.joint_arrays import JointFindings
    from taxonomist.solvers.problem import JointProblem

NEGLIGIBLE = 1e-4
"""A violation of this part of the tolerance of gaps counts as none: at the default tolerance, a
millionth of the margin, some ten times the rounding error of weights in float32."""


@dataclass(frozen=True)
class Options:
    """How a joint problem is solved.

    Attributes
    ----------
    tol
        Where to stop: the largest violation ψ_i, or the relative duality gap.
    stop
        What ``tol`` is compared with: ``"violation"`` [CH04, Alg. 1] or ``"gap"``; see
        ``Certificate.reaches``.
    max_iter
        Most passes over the items.
    dtype
        Type of the weights; dual variables are always float64.
    random_state
        Seed of the order of items.
    n_threads
        Threads that score items; the result does not depend on it.
    """

    tol: float = 0.01
    stop: str = "violation"
    max_iter: int = 1000
    dtype: str = "float32"
    random_state: int = 0
    n_threads: int = 1


class Certificate(NamedTuple):
    """Proven bounds on the quality of a solution.

    ``primal`` and ``dual`` bound the optimum from above and below; ``gap`` is their relative
    difference (primal - dual) / primal; ``violation`` is the largest ψ_i [CH04, Eq. 33].
    """

    primal: float
    dual: float
    gap: float
    violation: float

    def reaches(self, options: Options) -> bool:
        """Return whether the gap or the violation is at most the tolerance.

        Where nearly all items are right, objectives are close to 0, and rounding can keep their
        relative gap large. So a violation of ``NEGLIGIBLE`` times the tolerance is enough, too:
        primal and dual value then differ by at most as much for each unit of cost. It is not enough
        where no feasible point is known, as can be with a hard margin.
        """
        if options.stop == "gap" and self.gap > options.tol:
            return self.primal < np.inf and self.violation <= NEGLIGIBLE * options.tol
        return (self.gap if options.stop == "gap" else self.violation) <= options.tol


class Pass(NamedTuple):
    """One pass in the history of a solver; ``is_exact`` is False if the values are estimates."""

    seconds: float
    primal: float
    dual: float
    violation: float
    n_active: int
    is_exact: bool


@dataclass(frozen=True)
class Solution:
    """The weights, the dual variables, and the certificate.

    Attributes
    ----------
    W
        Unscaled weights w, (n_features, n_attributes); in dual form the coefficients of the
        kernel expansion, (n_items, n_attributes).
    duals
        The dual variables that are positive.
    certificate
        Bounds of the objective at ``W`` and ``duals``.
    converged
        Whether the certificate is as good as the options asked.
    history
        One entry a pass.
    """

    W: Reals
    duals: Duals
    certificate: Certificate
    converged: bool
    history: list[Pass] = field(default_factory=list)


def certify(problem: JointProblem, findings: JointFindings) -> Certificate:
    """Return the certificate that follows from inspecting all items at fixed weights.

    With a hard margin, the primal point is w divided by its smallest margin, which is feasible.
    """
    squared = float(findings.quadratic.sum())
    dual = float(findings.linear.sum()) - squared / 2
    hard = np.isinf(problem.costs)
    if hard.any():
        margin = float(findings.margin[hard].min())
        primal = squared / 2 / margin**2 if margin > 0 else np.inf
    else:
        # Not a product of vectors: the threads of BLAS would take longer than all of the rest.
        primal = squared / 2 + float((problem.costs * findings.slack).sum())
    gap = (primal - dual) / primal if 0 < primal < np.inf else float(primal > 0)
    return Certificate(primal, dual, gap, float(findings.violation.max(initial=0.0)))

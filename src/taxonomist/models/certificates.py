"""Shared parts of models whose solvers certify optimality: parameters, options, warnings."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from taxonomist._threads import n_threads
from taxonomist.errors import NotSeparableError
from taxonomist.models.parameters import Number, Word, above_zero
from taxonomist.solvers.solution import Options

if TYPE_CHECKING:
    from taxonomist._typing import Floats
    from taxonomist.models.parameters import Requirement
    from taxonomist.solvers.solution import Certificate, Pass

logger = logging.getLogger(__name__)

SOLVER_DEFAULTS = Options(stop="gap")
"""Defaults of ``tol``, ``stop``, ``max_iter`` and ``dtype``. On held-out items, a gap of 1 % has
the loss of a violation of 0.01, in less than half the time (``python -m benchmarks tolerances``).
"""

CERTIFIED: dict[str, Requirement] = {
    "C": above_zero(infinite=True),
    "stop": Word(("violation", "gap")),
    "tol": Number("above 0", lambda value: value > 0),
    "max_iter": Number("above 0", lambda value: value > 0),
}
"""Requirements of the parameters that these models share."""


def solver_options(model: Any) -> Options:
    """Return the solver options for the parameters of a model."""
    seed = check_random_state(model.random_state).randint(np.iinfo(np.int32).max)
    return Options(
        tol=float(model.tol),
        stop=model.stop,
        max_iter=model.max_iter,
        dtype=model.dtype,
        random_state=int(seed),
        n_threads=n_threads(model.n_jobs),
    )


def item_costs(C: float, weights: Floats) -> Floats:
    """Return the slack penalty of each item: C times its weight."""
    costs: Floats = np.where(weights > 0, C, 0.0) if np.isinf(C) else C * weights
    return costs


def certificate_facts(
    model: Any, certificate: Certificate, converged: bool, history: list[Pass], n_variables: int
) -> dict[str, object]:
    """Return the fitted attributes of a certificate; warn if the solver did not converge.

    Parameters
    ----------
    model
        A model with the parameters ``C``, ``tol`` and ``stop``.
    certificate, converged, history
        The results of the solver.
    n_variables
        The number of dual variables.

    Raises
    ------
    NotSeparableError
        If a hard margin is required, but the items are not separable.
    """
    facts = {
        "objective_": certificate.primal,
        "dual_objective_": certificate.dual,
        "duality_gap_": certificate.gap,
        "max_violation_": certificate.violation,
        "converged_": converged,
        "history_": history,
        "n_iter_": len(history),
        "active_ratio_": history[-1].n_active / max(1, n_variables),
    }
    if not converged:
        _complain(model, certificate, len(history))
    return facts


def _complain(model: Any, certificate: Certificate, n_iter: int) -> None:
    """Warn that the solver did not converge, or raise if there is no hard margin."""
    if np.isinf(model.C) and not np.isfinite(certificate.primal):
        raise NotSeparableError(
            "C is infinite, but no weights separate all items with a margin: "
            f"after {n_iter} passes some are on the wrong side. Give a finite C."
        )
    is_gap = model.stop == "gap"
    reached = certificate.gap if is_gap else certificate.violation
    what = "duality gap" if is_gap else "largest violation"
    warnings.warn(
        f"Stopped after {n_iter} passes with {what} {reached:.1e}; wanted {model.tol:.1e}. "
        f"Increase max_iter, or accept with tol={1.1 * reached:.0e}.",
        ConvergenceWarning,
        stacklevel=4,
    )


def log_pass(entry: Pass) -> None:
    """Log the progress of a solver."""
    logger.debug(
        "%.1f s: primal %.6g, dual %.6g, largest violation %.2g, %d active variables",
        *entry[:5],
    )

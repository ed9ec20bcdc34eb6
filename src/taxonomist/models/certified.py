"""What models that solve a problem to a certificate have in common."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from taxonomist._threads import n_threads
from taxonomist.errors import NotSeparableError
from taxonomist.models.scoring import AttributeModel
from taxonomist.solvers.solution import Options

if TYPE_CHECKING:
    from taxonomist.solvers.solution import Certificate, Pass

logger = logging.getLogger(__name__)

DEFAULT = Options()


class CertifiedModel(AttributeModel):
    """A model whose weights come with bounds of the objective.

    A subclass has the parameters ``C``, ``tol``, ``stop``, ``max_iter`` and ``random_state`` beside
    those of ``AttributeModel``.
    """

    C: float
    tol: float
    stop: str
    max_iter: int
    random_state: Any

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, before any work is done."""
        self._check_word("stop", ("violation", "gap"))
        if np.dtype(self.dtype).name not in ("float32", "float64"):
            raise ValueError(f"dtype must be one of float32, float64. Got {self.dtype!r}.")
        for name, number in (("tol", self.tol), ("max_iter", self.max_iter)):
            if not number > 0:
                raise ValueError(f"{name} must be above 0. Got {number!r}.")
        if self._constant and self.kernel != "linear":
            raise ValueError("A constant feature needs kernel='linear'; others have coef0.")

    def _check_word(self, name: str, allowed: tuple[str, ...]) -> None:
        """Refuse a parameter that is none of the words allowed."""
        value = getattr(self, name)
        if value not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}. Got {value!r}.")

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

    def _store_certificate(
        self, certificate: Certificate, converged: bool, history: list[Pass], n_variables: int
    ) -> None:
        """Set the fitted attributes that say how good the solution is, and warn if it is not."""
        self.objective_, self.dual_objective_, self.duality_gap_, self.max_violation_ = certificate
        self.converged_ = converged
        self.history_ = history
        self.n_iter_ = len(history)
        self.active_ratio_ = history[-1].n_active / max(1, n_variables)
        if not converged:
            self._complain()

    def _complain(self) -> None:
        """Say so where the solver did not reach what it was asked for."""
        if np.isinf(self.C) and not np.isfinite(self.objective_):
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
            stacklevel=4,
        )


def log_pass(entry: Pass) -> None:
    """Log the progress of a solver."""
    logger.debug(
        "%.1f s: primal %.6g, dual %.6g, largest violation %.2g, %d active variables",
        *entry[:5],
    )

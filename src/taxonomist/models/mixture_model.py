"""What ``HierarchicalMixture`` and ``HierarchicalShrinkage`` share: path weights and options."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from taxonomist.models.count_model import CountModel
from taxonomist.solvers import mixture
from taxonomist.solvers.path_weights import SHARING, PathWeights

if TYPE_CHECKING:
    from taxonomist._typing import CSR
    from taxonomist.solvers.word_counts import CountedItems, Pooled

logger = logging.getLogger(__name__)

DEFAULT = mixture.MixtureOptions()


class MixtureModel(CountModel):
    """A model whose words come from the nodes on the path, P(w|c) = Σ_v P(v|c) P(w|v).

    A subclass has the parameters ``path_weights``, ``shared_words``, ``trust``, ``discount``,
    ``uniform``, ``held_out``, ``tol`` and ``random_state`` beside those of ``CountModel``.
    """

    path_weights: Any
    shared_words: float
    trust: float
    discount: float
    uniform: bool
    held_out: float | None
    tol: float
    random_state: Any
    _item_reason = "path weights are estimated from items. Give path_weights, or use fit."

    def _options(self) -> mixture.MixtureOptions:
        """Return what the solver is told; without steps of EM."""
        seed = 0
        if self.held_out is not None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return mixture.MixtureOptions(
            max_iter=0,
            path_weights=self.path_weights if isinstance(self.path_weights, str) else "level",
            shared_words=self.shared_words,
            trust=self.trust,
            discount=self.discount,
            uniform=self.uniform,
            held_out=self.held_out,
            seed=seed,
            tol=self.tol,
        )

    def _needs_items(self) -> bool:
        """Return whether path weights must be estimated."""
        return isinstance(self.path_weights, str)

    def _estimate(self, pooled: Pooled, items: CountedItems | None) -> tuple[CSR, PathWeights]:
        """Return the words and weights that the solver finds."""
        given = None if self._needs_items() else self._given_weights()
        problem = mixture.MixtureProblem(pooled, self._sources, items, given)
        solution = mixture.solve(problem, self._options(), _log_step)
        self.objective_ = solution.bound
        self.history_ = solution.history
        self.n_iter_ = len(solution.history) - 1
        found = solution.weights_solution
        self.weights_gap_ = None if found is None else found.gap
        if found is not None and not found.converged:
            warnings.warn(
                f"Path weights stopped {found.gap:.2g} per word from the largest log-likelihood; "
                f"wanted {self.tol:.2g}. Increase tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return solution.words, solution.weights

    def _given_weights(self) -> PathWeights:
        """Return the weights that the user gives, checked."""
        paths, n_nodes = self._sources.paths, self.taxonomy_.n_nodes
        given = csr_array(self.path_weights, dtype=np.float64)
        if given.shape != (paths.shape[0], n_nodes + 1):
            raise ValueError(
                f"path_weights has shape {given.shape}; give a row for each of the "
                f"{paths.shape[0]} classes, and a column for each of the {n_nodes} nodes and one "
                "for the uniform node."
            )
        category = np.repeat(np.arange(paths.shape[0]), np.diff(paths.indptr))
        slots = np.asarray(given[category, self._source_nodes[paths.indices]]).ravel()
        uniform = given[:, [n_nodes]].toarray().ravel()
        sums = np.bincount(category, slots, paths.shape[0]) + uniform
        if not (np.allclose(sums, 1) and given.data.min(initial=0.0) >= 0):
            raise ValueError(
                "The path_weights of a class must not be negative, and sum to 1 over the nodes at "
                "or above it and the uniform node."
            )
        if not self.uniform and uniform.any():
            raise ValueError("path_weights has weights for a uniform node, but uniform is False.")
        return PathWeights(slots, uniform)

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        if isinstance(self.path_weights, str) and self.path_weights not in SHARING:
            known = ", ".join(map(repr, SHARING))
            message = f"path_weights must be one of {known}, or a matrix."
            raise ValueError(f"{message} Got {self.path_weights!r}.")
        for name, last in (("shared_words", np.inf), ("tol", np.inf), ("trust", 1)):
            value = getattr(self, name)
            if not 0 <= value <= last:
                raise ValueError(f"{name} must be at least 0 and at most {last}. Got {value!r}.")
        if not 0 <= self.discount < 1:
            raise ValueError(f"discount must be at least 0 and below 1. Got {self.discount!r}.")
        if self.held_out is not None and not 0 < self.held_out < 1:
            raise ValueError(f"held_out must be between 0 and 1, or None. Got {self.held_out!r}.")


def _log_step(step: mixture.MixtureStep) -> None:
    """Log how EM goes."""
    logger.debug("%.1f s: bound at inverse temperature %.3g: %.6g", *step)

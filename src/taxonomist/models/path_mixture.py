"""Path weights and options of ``HierarchicalMixture`` and ``HierarchicalShrinkage``."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from taxonomist.errors import ParameterError
from taxonomist.models.parameters import Check, Word, at_least, between
from taxonomist.models.word_model import Estimate
from taxonomist.solvers import mixture
from taxonomist.solvers.path_weights import SHARING, PathWeights

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Seed
    from taxonomist.models.parameters import Requirement
    from taxonomist.solvers.word_counts import CountedItems, Pooled, Sources

logger = logging.getLogger(__name__)

MIXTURE_DEFAULTS = mixture.MixtureOptions()


def _check_held_out(value: object) -> None:
    """Raise unless a value is a share of items, "word" or None."""
    is_share = between(0, 1, open_low=True, open_high=True, optional=True)
    if value != "word" and (problem := is_share.problem("held_out", value)):
        raise ParameterError(f"{problem[:-1]}, or 'word'. Got {value!r}.")


class PathMixture:
    """Mixin of models that mix the words of nodes on paths, P(w|c) = Σ_v P(v|c) P(w|v).

    The model has the parameters ``path_weights``, ``shared_words``, ``trust``, ``discount``,
    ``uniform``, ``held_out``, ``tol`` and ``random_state``, and those of ``WordModel``.
    """

    parameters: ClassVar[dict[str, Requirement]] = {
        "path_weights": Word(SHARING, others="a matrix"),
        "shared_words": at_least(0),
        "tol": at_least(0),
        "trust": between(0, 1),
        "discount": between(0, 1, open_high=True),
        "held_out": Check(_check_held_out),
    }
    item_reason: ClassVar[str] = (
        "path weights are estimated from items. Give path_weights or use fit."
    )

    path_weights: Any
    shared_words: float
    trust: float
    discount: float
    uniform: bool
    held_out: float | str | None
    tol: float
    random_state: Seed

    def options(self) -> mixture.MixtureOptions:
        """Return the options of the solver, without EM steps."""
        seed = 0
        is_share = self.held_out not in (None, "word")
        if is_share:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return mixture.MixtureOptions(
            max_iter=0,
            path_weights=self.path_weights if isinstance(self.path_weights, str) else "level",
            shared_words=self.shared_words,
            trust=self.trust,
            discount=self.discount,
            uniform=self.uniform,
            held_out=float(self.held_out or 0) if is_share else self.held_out,
            seed=seed,
            tol=self.tol,
        )

    def needs_items(self) -> bool:
        """Return whether path weights must be estimated."""
        return isinstance(self.path_weights, str)

    def settled(
        self,
        problem: mixture.MixtureProblem,  # noqa: ARG002
        options: mixture.MixtureOptions,
    ) -> mixture.MixtureOptions:
        """Return the options with those that depend on the items."""
        return options

    def facts_of(self, options: mixture.MixtureOptions) -> dict[str, object]:  # noqa: ARG002
        """Return fitted attributes that the settled options are."""
        return {}

    def estimate(
        self, pooled: Pooled, sources: Sources, columns: Codes, items: CountedItems | None
    ) -> Estimate:
        """Estimate words and weights; see ``WordModel``."""
        is_given = not isinstance(self.path_weights, str)
        given = self._given_weights(sources, columns) if is_given else None
        problem = mixture.MixtureProblem(pooled, sources, items, given)
        options = self.settled(problem, self.options())
        solution = mixture.solve(problem, options, _log_step)
        found = solution.weights_solution
        if found is not None and not found.converged:
            warnings.warn(
                f"Path weights stopped {found.gap:.2g} per word from the largest log-likelihood; "
                f"wanted {self.tol:.2g}. Increase tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        facts: dict[str, object] = {
            "objective_": solution.bound,
            "history_": solution.history,
            "n_iter_": len(solution.history) - 1,
            "weights_gap_": None if found is None else found.gap,
        }
        return Estimate(solution.words, solution.weights, facts | self.facts_of(options))

    def _given_weights(self, sources: Sources, columns: Codes) -> PathWeights:
        paths = sources.paths
        n_nodes = int(columns.max()) + 1
        given = csr_array(self.path_weights, dtype=np.float64)
        if given.shape != (paths.shape[0], n_nodes + 1):
            raise ParameterError(
                f"path_weights has shape {given.shape}; give a row for each of the "
                f"{paths.shape[0]} classes, and a column for each of the {n_nodes} nodes and "
                "one for the uniform node."
            )
        category = np.repeat(np.arange(paths.shape[0]), np.diff(paths.indptr))
        slots = np.asarray(given[category, columns[paths.indices]]).ravel()
        uniform = given[:, [n_nodes]].toarray().ravel()
        sums = np.bincount(category, slots, paths.shape[0]) + uniform
        if not (np.allclose(sums, 1) and given.data.min(initial=0.0) >= 0):
            raise ParameterError(
                "The path_weights of a class must be nonnegative and sum to 1 over the nodes at or "
                "above it and the uniform node."
            )
        if not self.uniform and uniform.any():
            raise ParameterError(
                "path_weights has weights for a uniform node, but uniform is False."
            )
        return PathWeights(slots, uniform)


def _log_step(step: mixture.MixtureStep) -> None:
    logger.debug("%.1f s: bound at inverse temperature %.3g: %.6g", *step)

"""The short model search of ``model="auto"``, by cross-validation of a few models."""

from __future__ import annotations

import logging
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.text.budget import Budget
from taxonomist.text.models import BLEND, MODELS, choice_of, members_of
from taxonomist.text.sampling import sampled
from taxonomist.text.search_problem import MOST_ITEMS, SearchProblem
from taxonomist.text.timing import estimate, training_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from taxonomist._typing import Codes

__all__ = ["SearchProblem", "SearchStep", "Trial", "candidates", "last_step", "search"]

logger = logging.getLogger(__name__)

FEW_ITEMS = 30
"""The mixture is tried if the median number of items per category is below this."""
COSTS = (0.3, 3.0)
"""Values of C to try with the best model, besides 1."""
BLEND_LEAD = 0.005
"""By how much a blend must be better than any single model: it takes the time of both, and cannot
explain its predictions."""
MOST_BUDGETS = 5
"""A candidate whose training on all items would take longer than this many budgets is left out."""


class Trial(NamedTuple):
    """A candidate of the search.

    Attributes
    ----------
    model, C
        The candidate.
    score
        The cross-validated measure; higher is better, so that losses are negative. None if the
        candidate was left out.
    seconds
        The time that it took; for a candidate that was left out, the estimate, if there is one.
    note
        Why the candidate was left out; empty if it was measured.
    """

    model: str
    C: float
    score: float | None
    seconds: float | None
    note: str = ""


class SearchStep(NamedTuple):
    """What the search is about to do.

    Attributes
    ----------
    done, total
        Number of candidates that were tried or left out, and of all candidates.
    what
        Description of the step, such as ``"svm, C=1"``.
    estimate
        Estimated seconds of the step; None if unknown.
    left
        Seconds left for the search; infinite without a budget.
    """

    done: int
    total: int
    what: str
    estimate: float | None
    left: float


class OverTimeError(Exception):
    """A candidate takes longer than the time that is left."""


def search(
    problem: SearchProblem,
    n_folds: int,
    seed: int,
    budget: Budget | None = None,
    callback: Callable[[SearchStep], object] | None = None,
) -> list[Trial]:
    """Cross-validate a few models and return the trials, best first.

    Before a candidate starts, its time is estimated: it is fitted to a 40th and to a tenth of the
    items, and the time is assumed to grow linearly. The estimate for another value of C is the
    time that the model took with C = 1. A candidate that would not fit into the budget is left out,
    and one that turns out to be slower is given up between two folds. Compilation does not count.

    ``KeyboardInterrupt`` ends the search with the trials so far. If none is finished, it is passed
    on.

    Parameters
    ----------
    problem
        Training items.
    n_folds
        Number of folds.
    seed
        Random seed for shuffling and subsampling the items.
    budget
        The time that the search may take; by default, no limit. Without a limit, nothing is timed,
        and the result does not depend on the machine.
    callback
        Called before each step.

    Returns
    -------
    list of Trial
        The measured candidates, best first, and then those that were left out. If no candidate
        was measured, the fastest one by estimate comes first.
    """
    return _Search(problem, n_folds, seed, budget or Budget(), callback).run()


class _Search:
    """A search that is under way."""

    def __init__(
        self,
        problem: SearchProblem,
        n_folds: int,
        seed: int,
        budget: Budget,
        callback: Callable[[SearchStep], object] | None,
    ) -> None:
        self.problem = problem
        self.items: Codes = sampled(problem.labels, problem.is_multilabel, MOST_ITEMS, seed)
        self.n_folds = min(n_folds, len(self.items))
        self.budget = budget
        self.callback = callback
        self.measured: list[Trial] = []
        self.left_out: list[Trial] = []
        self.total = 0

    def run(self) -> list[Trial]:
        """Return the trials, best first."""
        names = candidates(self.problem)
        self.total = len(names) + len(self._costs) + (not self.problem.is_multilabel)
        current = (names[0], self._first_cost)
        try:
            for current in self._candidates(names):
                self._try(*current)
        except KeyboardInterrupt:
            if not self.measured:
                raise
            tried = {trial[:2] for trial in (*self.measured, *self.left_out)}
            planned = dict.fromkeys([*((name, self._first_cost) for name in names), current])
            for name, C in planned:
                if (name, C) not in tried:
                    self._leave_out(name, C, None, "interrupted")
            best = min(self.measured, key=_best_first)
            self._say(f"interrupted, going on with {best.model}", None)
        if not self.measured:
            return sorted(self.left_out, key=_fastest_first)
        return [*sorted(self.measured, key=_best_first), *self.left_out]

    def _candidates(self, names: list[str]) -> Iterator[tuple[str, float]]:
        """Yield each model and C, a blend of the best two, and the best one with other values of C.

        What comes after the models depends on how they did.
        """
        for name in names:
            yield name, self._first_cost
        if not self.measured:
            return
        best = min(self.measured, key=_best_first).model
        if pair := self._pair():
            yield pair, self._first_cost
        costs = self._costs if choice_of(best).has_cost else ()
        self.total = len(names) + len(costs) + bool(pair)
        for C in costs:
            yield best, C

    def _pair(self) -> str:
        """Return the name of the blend to try: the best two models that can be averaged.

        There is none for label sets, whose models decide in different ways, nor of models that take
        different features.
        """
        if self.problem.is_multilabel:
            return ""
        ranked = [trial.model for trial in sorted(self.measured, key=_best_first)]
        same = [name for name in ranked if choice_of(name).counts == choice_of(ranked[0]).counts]
        return BLEND.join(same[:2]) if len(same) > 1 else ""

    @property
    def _first_cost(self) -> float:
        """The value of C that every model is tried with."""
        return 1.0 if self.problem.C is None else self.problem.C

    @property
    def _costs(self) -> tuple[float, ...]:
        """Further values of C to try with the best model."""
        return COSTS if self.problem.C is None else ()

    def _try(self, name: str, C: float) -> None:
        """Measure a candidate, or leave it out."""
        expected = self._expected(name)
        left = self.budget.left
        if expected is not None and expected > left:
            self._leave_out(name, C, *_reason(expected, left))
            return
        if expected is not None and (training := self._training(expected)) > self._most_training:
            note = f"training would take about {training:.0f} s"
            self._leave_out(name, C, expected, note)
            return
        self._say(f"{name}, C={C:g}", expected)
        start = self.budget.clock()
        try:
            score = self.problem.held_out_score(
                name, C, self.items, self.n_folds, self._on_fold(start)
            )
        except OverTimeError:
            seconds = self.budget.clock() - start
            self._leave_out(name, C, seconds, f"given up after {seconds:.0f} s")
            return
        trial = Trial(name, C, score, self.budget.clock() - start)
        self.measured.append(trial)
        logger.info("Tried %s with C=%g: %.4f in %.1f s.", *trial[:4])

    def _training(self, expected: float) -> float:
        """Return the estimated seconds of training a candidate on all items."""
        n_items = len(self.problem.labels)
        return training_seconds(expected, len(self.items), n_items, self.n_folds, True)

    @property
    def _most_training(self) -> float:
        """The seconds that the training after the search may take at most."""
        return inf if self.budget.seconds is None else MOST_BUDGETS * self.budget.seconds

    def _on_fold(self, start: float) -> Callable[[int], None]:
        """Return a function that gives a candidate up if its next folds would take too long."""

        def check(done: int) -> None:
            each = (self.budget.clock() - start) / done
            if each * (self.n_folds - done) > self.budget.left:
                raise OverTimeError

        return check

    def _leave_out(self, name: str, C: float, seconds: float | None, note: str) -> None:
        logger.info("Left out %s with C=%g: %s.", name, C, note)
        self.left_out.append(Trial(name, C, None, seconds, note))

    def _expected(self, name: str) -> float | None:
        """Return the estimated seconds of a candidate; None without a budget."""
        if not self.budget.is_limited:
            return None
        known = {trial.model: trial.seconds or 0.0 for trial in self.measured}
        if set(members_of(name)) <= set(known):
            return sum(known[member] for member in members_of(name))
        if not self.budget.left:
            return inf
        self._say(f"timing {name}", None)
        return estimate(name, self.problem, self.items, self.n_folds, self.budget)

    def _say(self, what: str, expected: float | None) -> None:
        done = len(self.measured) + len(self.left_out)
        if self.callback is not None:
            self.callback(SearchStep(done, self.total, what, expected, self.budget.left))


def _best_first(trial: Trial) -> float:
    """Return minus the score; a blend, which is slower and explains nothing, needs a lead."""
    return -(trial.score or 0.0) + (BLEND_LEAD if BLEND in trial.model else 0.0)


def _fastest_first(trial: Trial) -> float:
    return inf if trial.seconds is None else trial.seconds


def _reason(expected: float, left: float) -> tuple[float | None, str]:
    """Return the estimate, and why a candidate does not fit into the budget."""
    if expected == inf:
        return None, "no time was left"
    return expected, f"would take about {round(expected, 1):g} s, {round(left, 1):g} s were left"


def last_step(trials: list[Trial], n_items: int, n_folds: int, is_calibrated: bool) -> SearchStep:
    """Return the step after a search: training the best model on all items."""
    best, n = trials[0], len(trials)
    seconds = best.seconds
    if seconds is not None:
        n_measured = min(n_items, MOST_ITEMS)
        seconds = training_seconds(seconds, n_measured, n_items, n_folds, is_calibrated)
    return SearchStep(n, n, f"training {best.model}, C={best.C:g}", seconds, 0.0)


def candidates(problem: SearchProblem) -> list[str]:
    """Return the names of the models to try."""
    if problem.is_multilabel:
        names = ["path", "flat", "svm", "ranking", "markov"]
        is_tree = problem.taxonomy.is_tree
        return [name for name in names if is_tree or not MODELS[name].needs_tree]
    counts = np.unique(np.asarray(problem.labels, dtype=object), return_counts=True)[1]
    names = ["path", "flat", "svm"]
    return [*names, "mixture"] if np.median(counts) < FEW_ITEMS else names

"""The regularisation parameter C of the model, chosen on held-out documents."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, NamedTuple

from taxonomist.text.feature_sets import FEWEST_DOCUMENTS, has_given_terms
from taxonomist.text.held_out_trials import best_of, difference
from taxonomist.text.measure import MEASURE, in_words
from taxonomist.text.models import DEFAULT_MODEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Floats
    from taxonomist.text.budget import Budget
    from taxonomist.text.classifier import TextClassifier

__all__ = ["ChosenCost", "CostTrial", "choose_cost", "chooses_cost"]

logger = logging.getLogger(__name__)

COST = 1.0
"""C if nothing is chosen."""
OTHERS = (3.0, 0.3)
"""Values to try; the second only if the first is no better than 1. 10 was within half a point of 3
on four corpora, and takes twice as long to train."""


class CostTrial(NamedTuple):
    """A value of C, the mean measure of held-out documents, and the time it took."""

    C: float
    score: float
    seconds: float


class ChosenCost(NamedTuple):
    """The value of C that was chosen.

    Attributes
    ----------
    C
        The value.
    trials
        The values that were tried, best first.
    gain
        What the value gains over 1, with an interval.
    measure
        The measure in words.
    """

    C: float
    trials: list[CostTrial]
    gain: dict[str, float]
    measure: str = in_words(MEASURE)

    @property
    def facts(self) -> dict[str, object]:
        """The choice as plain data."""
        said = f"C is {self.C:g}"
        if self.C != COST:
            said += (
                f": {self.measure} of held-out documents {self.gain['estimate']:+z.3f} "
                f"({self.gain['low']:+z.3f} to {self.gain['high']:+z.3f}) beside C = {COST:g}"
            )
        trials = [dict(trial._asdict()) for trial in self.trials]
        return {"C": self.C, "trials": trials, "gain": self.gain, "said": f"{said}."}


def chooses_cost(classifier: TextClassifier, n_documents: int) -> bool:
    """Return whether a classifier chooses C, as it chooses features."""
    is_open = classifier.C is None and classifier.features == "auto"
    is_path = isinstance(classifier.model, str) and classifier.model == DEFAULT_MODEL
    enough = n_documents >= FEWEST_DOCUMENTS
    return is_open and is_path and enough and not has_given_terms(classifier)


def choose_cost(
    values_of: Callable[[float], Floats],
    known: Floats | None,
    budget: Budget,
    on_trial: Callable[[str], object],
    *,
    are_few: bool = False,
    best_score: float = 1.0,
    measure: str = in_words(MEASURE),
) -> ChosenCost:
    """Choose C by the measure of held-out documents.

    Parameters
    ----------
    values_of
        Returns the measure of each document for a value of C; higher is better.
    known
        The measure of each document for C = 1, if it is known.
    budget
        The time for the choice; trials after it are left out.
    on_trial
        Called before each trial.
    are_few
        Whether documents are so few that C is 1 unless another value is clearly better.
    best_score
        The score that nothing can be better than.
    measure
        The measure in words.
    """
    values = {} if known is None else {COST: known}
    trials = [] if known is None else [CostTrial(COST, float(known.mean()), 0.0)]

    def run(C: float) -> float:
        on_trial(f"C={C:g}")
        start = time.perf_counter()
        values[C] = values_of(C)
        trials.append(CostTrial(C, float(values[C].mean()), time.perf_counter() - start))
        logger.info("C=%g: %.4f in %.1f s.", *trials[-1])
        return trials[-1].score

    first = run(COST) if known is None else trials[0].score
    for C in OTHERS:
        if not budget.left or first >= best_score or run(C) > first:
            break
    best = best_of(values, COST if are_few else None)
    ranked = sorted(trials, key=lambda trial: -trial.score)
    return ChosenCost(best, ranked, difference(values[best], values[COST]), measure)

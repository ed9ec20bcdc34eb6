"""Decision rules: how good a score must be for a category to be chosen.

Notation
    s   score of a category                    z   its log-odds by calibration, or s itself
    p   its probability, 1 / (1 + exp(-z))     t   threshold: chosen are categories with z > t

Rules are tuned on held-out scores: those of a model's own training items are too good.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.special import logit

from taxonomist.compiled.decisions import choose_categories
from taxonomist.errors import closest
from taxonomist.inference.calibration import Calibration
from taxonomist.inference.held_out import EvidenceReader, check_scores
from taxonomist.inference.limits import Limits, label_limits
from taxonomist.inference.tuning import MEASURES, best_expected_f1, best_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from taxonomist._typing import CSR, Floats
    from taxonomist.inference.held_out import Evidence


class FittedRule(Protocol):
    """A decision rule that is ready to be used."""

    def excess(self, scores: Any) -> Floats:
        """Return by how much each score exceeds what its category needs to be chosen."""


class RuleReader(Protocol):
    """Takes the scores of held-out items, and tunes a rule on them."""

    needs_scores: bool
    """Whether ``add`` must be called for every item."""

    def add(self, items: Any, scores: Any) -> None:
        """Take the scores of some items, (n_block, n_categories)."""

    def finish(self) -> FittedRule:
        """Return the tuned rule."""


class Settled:
    """The reader of a rule that has nothing to tune."""

    needs_scores = False

    def __init__(self, rule: FittedRule) -> None:
        self._rule = rule

    def add(self, items: Any, scores: Any) -> None:
        """Ignore the scores."""

    def finish(self) -> FittedRule:
        """Return the rule."""
        return self._rule


class EvidenceTuner(EvidenceReader):
    """The reader of a rule that is tuned on the scores that matter.

    Parameters
    ----------
    labels, limits
        As in ``HeldOutReader``.
    tune
        Makes the rule of the evidence.
    """

    needs_scores = True

    def __init__(
        self, labels: CSR, limits: Limits, tune: Callable[[EvidenceTuner, Evidence], FittedRule]
    ) -> None:
        super().__init__(labels, limits)
        self._tune = tune

    def finish(self) -> FittedRule:
        """Return the tuned rule."""
        return self._tune(self, self.evidence())


class Rule(ABC):
    """A way to choose the categories of an item by their scores."""

    def fit(
        self,
        blocks: Iterable[tuple[Any, Any]],
        labels: CSR,
        limits: tuple[int, int] | None = None,
    ) -> FittedRule:
        """Return the rule, tuned on scores by models that have not seen the items.

        Parameters
        ----------
        blocks
            Pairs of item numbers and dense scores, (n_block, n_categories); together they hold
            every item once. They are read once, or not at all by a rule that has nothing to tune.
        labels
            (n_items, n_categories) boolean CSR.
        limits
            The least and the largest number of labels that ``choose`` will be given; by default
            ``label_limits(labels)``.

        Returns
        -------
        FittedRule
            What turns scores into excesses for ``choose``.

        Raises
        ------
        LabelError
            If scores are not finite, or items are missing or come twice.
        """
        reader = self.reader(labels, label_limits(labels) if limits is None else limits)
        if reader.needs_scores:
            for items, scores in blocks:
                reader.add(items, scores)
        return reader.finish()

    @abstractmethod
    def reader(self, labels: CSR, limits: tuple[int, int]) -> RuleReader:
        """Return what takes held-out scores block by block, and then gives the tuned rule."""


@dataclass(frozen=True, eq=False)
class FittedThresholds:
    """A threshold for each category.

    Attributes
    ----------
    thresholds
        (n_categories,); log-odds if there is a calibration, else scores.
    calibration
        What turns scores into log-odds, or None.
    """

    thresholds: Floats
    calibration: Calibration | None

    def excess(self, scores: Any) -> Floats:
        """Return scores or log-odds less thresholds, (n_items, n_categories)."""
        if self.calibration is None:
            return check_scores(scores, len(self.thresholds)) - self.thresholds
        return self.calibration.log_odds(scores) - self.thresholds


@dataclass(frozen=True)
class TopK(Rule):
    """The k best categories, where every item is to have the same number.

    Parameters
    ----------
    k
        How many; None means the mean number of labels of the training items, rounded.
    """

    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 1:
            raise ValueError(f"k is {self.k}; give at least 1, or None for the mean number.")

    def reader(self, labels: CSR, limits: tuple[int, int]) -> Settled:  # noqa: ARG002
        """Return the rule with its k; scores are not needed."""
        n_items, n_categories = labels.shape
        if self.k is None:
            return Settled(TopK(max(1, round(labels.sum() / max(n_items, 1)))))
        if self.k > n_categories:
            raise ValueError(f"k is {self.k}, but there are only {n_categories} categories.")
        return Settled(self)

    def excess(self, scores: Any) -> Floats:
        """Return by how much scores exceed the k-th best; of equal ones the first are chosen."""
        if self.k is None:
            raise ValueError("TopK does not know its k yet: give one, or call fit first.")
        scores = check_scores(scores, np.shape(scores)[-1])
        best = np.zeros(scores.shape, dtype=bool)
        choose_categories(scores, self.k, self.k, best)
        excess: Floats = scores - scores.min(axis=1, where=best, initial=np.inf, keepdims=True)
        excess[best] = np.maximum(excess[best], np.finfo(np.float64).smallest_subnormal)
        return excess


@dataclass(frozen=True)
class Threshold(Rule):
    """One threshold for all categories: the rule for measures that pool categories or items.

    Parameters
    ----------
    measure
        What the threshold is tuned for: ``"micro_f1"``, ``"subset_accuracy"`` (label sets that are
        exactly right) or ``"example_f1"`` (the mean of the items' own F1). All thresholds are
        tried, with the limits applied; where pairs of items and categories number more than
        ``held_out.CELLS``, the few that are kept of each item stand for all.
    calibrated
        Whether the threshold applies to probabilities, which a sigmoid for each category makes
        comparable, or to the scores themselves.
    value
        The threshold, if it is not to be tuned: a probability between 0 and 1, or a score.
    """

    measure: str = "micro_f1"
    calibrated: bool = True
    value: float | None = None

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            known = ", ".join(map(repr, MEASURES))
            hint = closest(str(self.measure), MEASURES)
            raise ValueError(f"measure is {self.measure!r}; give one of {known}.{hint}")
        if self.value is None:
            return
        if not np.isfinite(self.value) or (self.calibrated and not 0 < self.value < 1):
            kind = "a probability between 0 and 1" if self.calibrated else "a finite score"
            message = f"value is {self.value}; with calibrated={self.calibrated} give {kind}"
            raise ValueError(f"{message}, or None to have it tuned.")

    def reader(self, labels: CSR, limits: tuple[int, int]) -> RuleReader:
        """Return what tunes the threshold; a given score needs no tuning."""
        if self.value is not None and not self.calibrated:
            return Settled(FittedThresholds(np.full(labels.shape[1], float(self.value)), None))
        return EvidenceTuner(labels, Limits(*limits), self._tuned)

    def _tuned(self, held_out: EvidenceTuner, evidence: Evidence) -> FittedThresholds:
        n_categories = held_out.labels.shape[1]
        calibration, values = None, evidence.scores
        if self.calibrated:
            calibration = Calibration.fit(evidence)
            values = calibration.of_pairs(evidence)
        if self.value is None:
            sizes = np.asarray(held_out.labels.sum(axis=1), dtype=np.intp)
            found = best_threshold(values, evidence, sizes, held_out.limits, self.measure)
        else:
            found = float(logit(self.value))
        return FittedThresholds(np.full(n_categories, found), calibration)


@dataclass(frozen=True)
class CategoryThresholds(Rule):
    """A threshold for each category that makes its own F1 best: the rule for macro-F1.

    The threshold on the probability is half the best F1 that the category's probabilities promise.
    That had a better macro-F1, and a much better micro-F1, than the thresholds that are best by
    the counts of held-out items.

    Parameters
    ----------
    least_f1
        A category for which no such F1 is in sight has the threshold of this one, lest nearly
        every item is put into it.
    """

    # Chosen from .02, .05, .1 and .2 together with calibration.TYPICAL_ITEMS.
    least_f1: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.least_f1 <= 1:
            raise ValueError(f"least_f1 is {self.least_f1}; give an F1 above 0 and at most 1.")

    def reader(self, labels: CSR, limits: tuple[int, int]) -> EvidenceTuner:
        """Return what tunes a threshold for each category."""
        return EvidenceTuner(labels, Limits(*limits), self._tuned)

    def _tuned(self, held_out: EvidenceTuner, evidence: Evidence) -> FittedThresholds:  # noqa: ARG002
        calibration = Calibration.fit(evidence)
        f1 = best_expected_f1(calibration.of_pairs(evidence), evidence)
        return FittedThresholds(logit(np.maximum(f1, self.least_f1) / 2), calibration)

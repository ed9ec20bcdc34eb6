"""Decision rules: the threshold that a score must exceed for its category to be chosen.

Notation
    s   score of a category                    z   its calibrated log-odds, or s itself
    p   its probability, 1 / (1 + exp(-z))     t   threshold; categories with z > t are chosen

Rules are tuned on held-out scores, because scores of a model's own training items are too good.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.special import logit

from taxonomist.compiled.decisions import choose_categories
from taxonomist.errors import ParameterError, closest
from taxonomist.inference.calibration import Calibration
from taxonomist.inference.f1_thresholds import ScoredPairs, f1_thresholds
from taxonomist.inference.held_out import EvidenceReader, check_scores
from taxonomist.inference.limits import Limits, label_limits
from taxonomist.inference.tuning import MEASURES, best_expected_f1, best_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from taxonomist._typing import CSR, Codes, Floats, Reals
    from taxonomist.inference.held_out import Evidence


class FittedRule(Protocol):
    """A tuned decision rule."""

    def excess(self, scores: Reals) -> Floats:
        """Return the amount by which each score exceeds its threshold."""


class RuleReader(Protocol):
    """Reads the scores of held-out items and tunes a rule on them."""

    needs_scores: bool
    """Whether ``add`` must be called for every item."""

    def add(self, items: Codes, scores: Reals) -> None:
        """Add the scores of a block of items, (n_block, n_categories)."""

    def finish(self) -> FittedRule:
        """Return the tuned rule."""


class Settled:
    """The reader of a rule that needs no tuning."""

    needs_scores = False

    def __init__(self, rule: FittedRule) -> None:
        self._rule = rule

    def add(self, items: Codes, scores: Reals) -> None:
        """Ignore the scores."""

    def finish(self) -> FittedRule:
        """Return the rule."""
        return self._rule


class EvidenceTuner(EvidenceReader):
    """The reader of a rule that is tuned on the evidence of ``EvidenceReader``.

    Parameters
    ----------
    labels, limits
        As in ``HeldOutReader``.
    tune
        Function that returns the tuned rule for the evidence.
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
    """Base class of rules that choose the categories of an item by their scores."""

    def fit(
        self,
        blocks: Iterable[tuple[Codes, Reals]],
        labels: CSR,
        limits: tuple[int, int] | None = None,
    ) -> FittedRule:
        """Tune the rule on held-out scores.

        Parameters
        ----------
        blocks
            Pairs of item numbers and dense scores, (n_block, n_categories). Every item must occur
            in exactly one block. Blocks are read once, or not at all if the rule needs no tuning.
        labels
            The true labels, (n_items, n_categories) boolean CSR.
        limits
            The minimum and maximum number of labels that ``choose`` will use. The default is
            ``label_limits(labels)``.

        Returns
        -------
        FittedRule
            The tuned rule. Its ``excess`` method returns the input of ``choose``.

        Raises
        ------
        LabelError
            If scores are not finite, or if items are missing or duplicated.
        """
        reader = self.reader(labels, label_limits(labels) if limits is None else limits)
        if reader.needs_scores:
            for items, scores in blocks:
                reader.add(items, scores)
        return reader.finish()

    @abstractmethod
    def reader(self, labels: CSR, limits: tuple[int, int]) -> RuleReader:
        """Return a reader of held-out scores that tunes the rule."""


@dataclass(frozen=True, eq=False)
class FittedThresholds:
    """One threshold per category.

    Attributes
    ----------
    thresholds
        Array of shape (n_categories,): log-odds if there is a calibration, scores otherwise.
    calibration
        Converts scores to log-odds. None compares the scores themselves.
    """

    thresholds: Floats
    calibration: Calibration | None

    def excess(self, scores: Reals) -> Floats:
        """Return scores or log-odds minus thresholds, (n_items, n_categories)."""
        if self.calibration is None:
            return check_scores(scores, len(self.thresholds)) - self.thresholds
        return self.calibration.log_odds(scores) - self.thresholds


@dataclass(frozen=True)
class TopK(Rule):
    """Choose the k best categories of every item.

    Parameters
    ----------
    k
        The number of categories. None uses the rounded mean number of labels of the training items.
    """

    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 1:
            raise ParameterError(f"k is {self.k}; give at least 1, or None for the mean number.")

    def reader(self, labels: CSR, limits: tuple[int, int]) -> Settled:  # noqa: ARG002
        """Return a reader that sets k and needs no scores."""
        n_items, n_categories = labels.shape
        if self.k is None:
            return Settled(TopK(max(1, round(labels.sum() / max(n_items, 1)))))
        if self.k > n_categories:
            raise ParameterError(f"k is {self.k}, but there are only {n_categories} categories.")
        return Settled(self)

    def excess(self, scores: Reals) -> Floats:
        """Return the amount by which scores exceed the k-th best; the first of equals win."""
        if self.k is None:
            raise ParameterError("TopK does not know its k yet: give one or call fit first.")
        scores = check_scores(scores, np.shape(scores)[-1])
        best = np.zeros(scores.shape, dtype=bool)
        room = np.empty(max(self.k, 1), np.intp)
        choose_categories(scores, self.k, self.k, room, best)
        excess: Floats = scores - scores.min(axis=1, where=best, initial=np.inf, keepdims=True)
        excess[best] = np.maximum(excess[best], np.finfo(np.float64).smallest_subnormal)
        return excess


@dataclass(frozen=True)
class Threshold(Rule):
    """One threshold for all categories: the rule for measures that pool categories or items.

    Parameters
    ----------
    measure
        The measure to optimize: ``"micro_f1"``, ``"subset_accuracy"`` (the share of exactly correct
        label sets) or ``"example_f1"`` (the mean F1 of items). All thresholds are tried with the
        limits applied. If there are more than ``held_out.SAMPLED_PAIRS`` pairs of items and
        categories, only a sample of the pairs of each item is used.
    calibrated
        Whether the threshold applies to probabilities or to the scores themselves. Probabilities
        come from one sigmoid per category, which makes categories comparable.
    value
        A fixed threshold: a probability between 0 and 1, or a score. None tunes the threshold.
    """

    measure: str = "micro_f1"
    calibrated: bool = True
    value: float | None = None

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            known = ", ".join(map(repr, MEASURES))
            hint = closest(str(self.measure), MEASURES)
            raise ParameterError(f"measure is {self.measure!r}; give one of {known}.{hint}")
        if self.value is None:
            return
        if not np.isfinite(self.value) or (self.calibrated and not 0 < self.value < 1):
            kind = "a probability between 0 and 1" if self.calibrated else "a finite score"
            message = f"value is {self.value}; with calibrated={self.calibrated} give {kind}"
            raise ParameterError(f"{message}, or None to have it tuned.")

    def reader(self, labels: CSR, limits: tuple[int, int]) -> RuleReader:
        """Return a reader that tunes the threshold, unless it is a fixed score."""
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
    """One threshold per category that maximizes its F1: the rule for macro-F1.

    By default, the threshold on the probability is half of the best expected F1 of the category.
    This gives a better macro-F1, and a much better micro-F1, than thresholds that maximize the F1
    counted on held-out items.

    Parameters
    ----------
    least_f1
        Lower bound of the expected F1. A category with a lower expected F1 uses this value instead,
        so that its threshold does not admit almost every item.
    counted
        Whether to use the threshold on the scores themselves with the best F1 counted on held-out
        items [TCPH01, Sec. 2.2], without calibration and without ``least_f1``.
    least_score
        With ``counted``, the lower bound of thresholds. None has none: a category of one or two
        items may then admit almost every item.
    """

    # Chosen from .02, .05, .1 and .2 together with calibration.TYPICAL_ITEMS.
    least_f1: float = 0.1
    counted: bool = False
    least_score: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.least_f1 <= 1:
            raise ParameterError(f"least_f1 is {self.least_f1}; give an F1 above 0 and at most 1.")
        if self.least_score is not None and not (self.counted and np.isfinite(self.least_score)):
            message = f"least_score is {self.least_score} with counted={self.counted}"
            raise ParameterError(f"{message}; give a finite score with counted=True, or None.")

    def reader(self, labels: CSR, limits: tuple[int, int]) -> EvidenceTuner:
        """Return a reader that tunes one threshold per category."""
        return EvidenceTuner(labels, Limits(*limits), self._tuned)

    def _tuned(self, held_out: EvidenceTuner, evidence: Evidence) -> FittedThresholds:
        if self.counted:
            least = -np.inf if self.least_score is None else float(self.least_score)
            n_true = np.asarray(held_out.labels.sum(axis=0), dtype=np.float64).ravel()
            at = evidence.scores > least
            truth, weights = evidence.truth[at], evidence.weights[at]
            pairs = ScoredPairs(evidence.categories[at], evidence.scores[at], truth, weights)
            return FittedThresholds(f1_thresholds(pairs, n_true, least), None)
        calibration = Calibration.fit(evidence)
        f1 = best_expected_f1(calibration.of_pairs(evidence), evidence)
        return FittedThresholds(logit(np.maximum(f1, self.least_f1) / 2), calibration)

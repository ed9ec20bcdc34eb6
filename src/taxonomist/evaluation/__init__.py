"""Evaluation protocols: folds, cross-validation, learning curves, tests and comparisons.

A :class:`Plan` says what to measure and how. :func:`cross_validate`, :func:`learning_curve` and
:func:`compare` apply it to models. :func:`assess` analyses existing predictions.
"""

from __future__ import annotations

from taxonomist.evaluation.assessment import Assessment, assess
from taxonomist.evaluation.comparison import Comparison, ComparisonCell, compare
from taxonomist.evaluation.cross_validation import CrossValidation, cross_validate
from taxonomist.evaluation.flat import compare_flat, flat_twin
from taxonomist.evaluation.learning_curve import LearningCurve, learning_curve
from taxonomist.evaluation.measures import MEASURES, Measure
from taxonomist.evaluation.plan import Plan
from taxonomist.evaluation.significance import (
    Interval,
    PermutationResult,
    bootstrap_interval,
    permutation_test,
    smallest_p_value,
)
from taxonomist.evaluation.splits import GivenFolds, StratifiedFolds, sample_per_category

__all__ = [
    "MEASURES",
    "Assessment",
    "Comparison",
    "ComparisonCell",
    "CrossValidation",
    "GivenFolds",
    "Interval",
    "LearningCurve",
    "Measure",
    "PermutationResult",
    "Plan",
    "StratifiedFolds",
    "assess",
    "bootstrap_interval",
    "compare",
    "compare_flat",
    "cross_validate",
    "flat_twin",
    "learning_curve",
    "permutation_test",
    "sample_per_category",
    "smallest_p_value",
]

"""The measure that a text classifier is chosen and tuned for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from taxonomist import metrics
from taxonomist.errors import ParameterError, closest
from taxonomist.inference.label_sets import RULES
from taxonomist.models.path_tuning import DECISIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.taxonomy import Taxonomy

    Labels: TypeAlias = Sequence[object]

__all__ = ["MEASURE", "MEASURES", "MeasureLike", "check_measure", "decision_for", "score_of"]

MEASURE = "hierarchical_f1"
"""The default measure, for one category per item and for label sets."""

MeasureLike: TypeAlias = str | Callable[..., float]
"""The name of a measure, or a scorer: a function of a fitted model, items and labels."""

Score: TypeAlias = Callable[..., float]


class _Measure(NamedTuple):
    """How to score predictions, and what ``PathSVC`` decides label sets by."""

    single: Score
    sets: Score
    decision: str


def _f1(average: Literal["micro", "macro"]) -> Score:
    def score(truth: Labels, found: Labels, taxonomy: Taxonomy) -> float:
        f1 = metrics.precision_recall_f1(
            truth, found, taxonomy, average=average, nodes="categories"
        ).f1
        return float(f1)

    return score


def _accuracy(truth: Labels, found: Labels, _: Taxonomy) -> float:
    return metrics.accuracy(truth, found)


def _subset_accuracy(truth: Labels, found: Labels, taxonomy: Taxonomy) -> float:
    return 1 - metrics.zero_one_loss(truth, found, taxonomy)


# 0 - 0 is 0, but -0.0 would be printed with its sign.
def _minus_loss(truth: Labels, found: Labels, taxonomy: Taxonomy) -> float:
    return 0.0 - metrics.taxonomy_loss(truth, found, taxonomy)


def _minus_difference(truth: Labels, found: Labels, taxonomy: Taxonomy) -> float:
    return 0.0 - metrics.symmetric_difference_loss(truth, found, taxonomy)


_hierarchical, _micro, _macro = metrics.hierarchical_f1, _f1("micro"), _f1("macro")
MEASURES = {
    "hierarchical_f1": _Measure(_hierarchical, _hierarchical, "hierarchical_f1"),
    "accuracy": _Measure(_accuracy, _subset_accuracy, "subset"),
    "taxonomy_loss": _Measure(_minus_loss, _minus_difference, "loss"),
    "micro_f1": _Measure(_micro, _micro, "micro_f1"),
    "macro_f1": _Measure(_macro, _macro, "macro_f1"),
}
"""Measures by name. Micro and macro F1 are over categories, without their ancestors."""


def check_measure(measure: object) -> None:
    """Raise if a measure is neither known nor a scorer."""
    if not callable(measure) and measure not in MEASURES:
        hint = closest(str(measure), MEASURES)
        raise ParameterError(
            f"measure must be one of {', '.join(MEASURES)}, or a scorer that is called with a "
            f"fitted model, items and labels. Got {measure!r}.{hint}"
        )


def score_of(
    measure: str, truth: Labels, found: Labels, taxonomy: Taxonomy, is_sets: bool
) -> float:
    """Return the score of predictions; higher is better, so losses are negative."""
    known = MEASURES[measure]
    return float((known.sets if is_sets else known.single)(truth, found, taxonomy))


def decision_for(measure: MeasureLike, model: object) -> dict[str, str]:
    """Return the parameters by which a model of label sets decides for a measure.

    Parameters
    ----------
    measure
        The measure.
    model
        The unfitted model.
    """
    name = measure if isinstance(measure, str) else MEASURE
    given = getattr(model, "decision", None)
    if given in DECISIONS:
        return {"decision": MEASURES[name].decision}
    is_macro = given in RULES and name == "macro_f1"
    return {"decision": "category_thresholds"} if is_macro else {}

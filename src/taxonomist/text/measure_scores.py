"""Scores of predictions by the measures that text classifiers are chosen for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from taxonomist import metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.taxonomy import Taxonomy

    Labels: TypeAlias = Sequence[object]

__all__ = ["score_of"]

Score: TypeAlias = Callable[..., float]


class _Scores(NamedTuple):
    """How to score predictions of one category per item, and of label sets."""

    single: Score
    sets: Score


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
SCORES = {
    "hierarchical_f1": _Scores(_hierarchical, _hierarchical),
    "accuracy": _Scores(_accuracy, _subset_accuracy),
    "taxonomy_loss": _Scores(_minus_loss, _minus_difference),
    "micro_f1": _Scores(_micro, _micro),
    "macro_f1": _Scores(_macro, _macro),
}
"""Scores by the name of the measure."""


def score_of(
    measure: str, truth: Labels, found: Labels, taxonomy: Taxonomy, is_sets: bool
) -> float:
    """Return the score of predictions; higher is better, so losses are negative."""
    known = SCORES[measure]
    return float((known.sets if is_sets else known.single)(truth, found, taxonomy))

"""The measure that a text classifier is chosen and tuned for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from taxonomist.errors import ParameterError, closest
from taxonomist.inference.expected_f1 import TreeWithinF1
from taxonomist.inference.label_sets import RULES
from taxonomist.models.path_decisions import DECISIONS

if TYPE_CHECKING:
    from taxonomist.losses.categories import LossLike

__all__ = [
    "MEASURE",
    "MEASURES",
    "MeasureLike",
    "check_measure",
    "decision_for",
    "in_words",
    "tree_loss_for",
]

MEASURE = "hierarchical_f1"
"""The default measure, for one category per item and for label sets."""

MeasureLike: TypeAlias = str | Callable[..., float]
"""The name of a measure, or a scorer: a function of a fitted model, items and labels."""

MEASURES = {
    "hierarchical_f1": "hierarchical_f1",
    "accuracy": "subset",
    "taxonomy_loss": "loss",
    "micro_f1": "micro_f1",
    "macro_f1": "macro_f1",
}
"""Measures by name, and what ``PathSVC`` decides label sets by for each of them. Micro and macro F1
are over categories, without their ancestors."""


def in_words(measure: MeasureLike) -> str:
    """Return what is measured where higher is better: for scorers, the default."""
    if measure == "taxonomy_loss":
        return "minus the taxonomy loss"
    name = measure if isinstance(measure, str) else MEASURE
    return name.replace("_", " ").replace("f1", "F1")


def check_measure(measure: object) -> None:
    """Raise if a measure is neither known nor a scorer."""
    if not callable(measure) and measure not in MEASURES:
        hint = closest(str(measure), MEASURES)
        raise ParameterError(
            f"measure must be one of {', '.join(MEASURES)}, or a scorer that is called with a "
            f"fitted model, items and labels. Got {measure!r}.{hint}"
        )


def decision_for(measure: MeasureLike, model: object, *, is_sets: bool) -> dict[str, str]:
    """Return the parameters by which a model decides for a measure.

    Parameters
    ----------
    measure
        The measure.
    model
        The unfitted model.
    is_sets
        Whether items have label sets. With one label each, most measures need no parameters.
    """
    name = measure if isinstance(measure, str) else MEASURE
    given = getattr(model, "decision", None)
    if not is_sets and name not in ("accuracy", "micro_f1", "macro_f1"):
        return {}
    if given in DECISIONS and not is_sets and name == "micro_f1":
        # Of single labels, it is the accuracy.
        name = "accuracy"
    if given in DECISIONS:
        return {"decision": MEASURES[name]}
    is_macro = is_sets and given in RULES and name == "macro_f1"
    return {"decision": "category_thresholds"} if is_macro else {}


def tree_loss_for(measure: MeasureLike, *, is_sets: bool) -> LossLike | None:
    """Return the loss by which ``cost="tree"`` decides without lowering a measure.

    Parameters
    ----------
    measure
        The measure. A scorer says nothing about single decisions, so it is not kept.
    is_sets
        Whether items have label sets, whose decision is the best one for the measure already.

    Returns
    -------
    LossLike or None
        None if every other decision lowers the measure: its own decision stands.
    """
    if callable(measure) or measure == "taxonomy_loss":
        return "tree"
    return TreeWithinF1() if measure == "hierarchical_f1" and not is_sets else None

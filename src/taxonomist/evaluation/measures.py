"""Measures for evaluation protocols: a name, a function, its inputs and its direction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from taxonomist import metrics
from taxonomist.errors import LabelError, ParameterError, closest
from taxonomist.evaluation.splits import n_rows, take

if TYPE_CHECKING:
    from taxonomist._typing import Floats, LabelsLike
    from taxonomist.taxonomy import Taxonomy


@dataclass(frozen=True)
class Measure:
    """A function of truth and prediction that a protocol reports.

    Attributes
    ----------
    name
        Name of the column in tables.
    function
        Called as ``function(y_true, y_pred, taxonomy)``, or, if it needs scores, as
        ``function(y_true, scores, taxonomy, classes=classes)`` with one column per class.
    needs
        Whether the function takes predictions or scores.
    greater_is_better
        False for losses.
    needs_taxonomy
        Whether to pass the taxonomy; False suits the functions of ``sklearn.metrics``.
    mean_over_items
        Whether the value is a mean over items, so that values of single items can be compared.
    """

    name: str
    function: Callable[..., float]
    needs: Literal["predictions", "scores"] = "predictions"
    greater_is_better: bool = True
    needs_taxonomy: bool = True
    mean_over_items: bool = False

    def value(
        self, y_true: LabelsLike, output: Any, classes: Any = None, taxonomy: Taxonomy | None = None
    ) -> float:
        """Return the value of the measure.

        Parameters
        ----------
        y_true
            The labels, in any form.
        output
            The predictions, or the scores if the measure needs scores.
        classes
            The ids of the columns of the scores.
        taxonomy
            The taxonomy of the labels.

        Returns
        -------
        float
            The function's value.

        Raises
        ------
        LabelError
            If the measure needs a taxonomy and there is none.
        """
        if self.needs_taxonomy and taxonomy is None:
            message = f"The measure {self.name!r} needs a taxonomy; pass one to the plan."
            raise LabelError(message)
        arguments = (taxonomy,) if self.needs_taxonomy else ()
        options = {"classes": classes} if self.needs == "scores" else {}
        return float(self.function(y_true, output, *arguments, **options))

    def item_values(
        self, y_true: LabelsLike, output: Any, classes: Any = None, taxonomy: Taxonomy | None = None
    ) -> Floats:
        """Return the value of the measure for each item.

        Parameters
        ----------
        y_true, output, classes, taxonomy
            As for :meth:`value`.

        Returns
        -------
        ndarray
            One value per item; NaN where the measure is undefined.
        """
        if getattr(self.function, "__module__", "").startswith("taxonomist.metrics."):
            return metrics.item_values(self.value, y_true, output, classes, taxonomy)
        # Other functions only return the overall value, so measure each item by itself.
        items = np.arange(n_rows(y_true))[:, None]
        return np.array(
            [self.value(take(y_true, i), take(output, i), classes, taxonomy) for i in items]
        )


MeasuresLike: TypeAlias = (
    str | Measure | Iterable[str | Measure] | Mapping[str, Callable[..., float]]
)
"""One or several measures, by name or as objects, or a mapping from names to functions."""


def as_measures(measures: MeasuresLike) -> tuple[Measure, ...]:
    """Convert names, functions and measures to a tuple of measures.

    Parameters
    ----------
    measures
        A name in :data:`MEASURES`, a measure, several of either, or a mapping from names to
        functions of truth, prediction and taxonomy for which greater is better.

    Returns
    -------
    tuple of Measure
        In the order given.

    Raises
    ------
    ValueError
        If there are no measures, a name is unknown, or a name occurs twice.
    """
    if isinstance(measures, Mapping):
        found = [Measure(name, function) for name, function in measures.items()]
    else:
        given = [measures] if isinstance(measures, str | Measure) else list(measures)
        found = [_by_name(one) if isinstance(one, str) else one for one in given]
    names = [measure.name for measure in found]
    if not found or len(set(names)) < len(names):
        message = f"measures must name at least one measure and no measure twice; got {names}."
        raise ParameterError(message)
    return tuple(found)


def _by_name(name: str) -> Measure:
    if name not in MEASURES:
        hint = closest(name, MEASURES) or f" Choose one of {', '.join(MEASURES)}."
        message = f"Unknown measure {name!r}.{hint}"
        raise ParameterError(message)
    return MEASURES[name]


def _micro_f1(y_true: LabelsLike, y_pred: LabelsLike, taxonomy: Taxonomy) -> Any:
    """Return the F1 pooled over all nodes except the root."""
    return metrics.precision_recall_f1(y_true, y_pred, taxonomy, nodes="all").f1


def _macro_f1(y_true: LabelsLike, y_pred: LabelsLike, taxonomy: Taxonomy) -> Any:
    """Return the mean F1 of all nodes that occur, except the root."""
    return metrics.precision_recall_f1(y_true, y_pred, taxonomy, nodes="all", average="macro").f1


_per_item = partial(Measure, mean_over_items=True)
_ranking = partial(_per_item, needs="scores")

MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        _per_item("accuracy", metrics.accuracy, needs_taxonomy=False),
        _per_item("parent_accuracy", metrics.parent_accuracy),
        _per_item("taxonomy_loss", metrics.taxonomy_loss, greater_is_better=False),
        _ranking("mean_reciprocal_rank", metrics.mean_reciprocal_rank, needs_taxonomy=False),
        Measure("hierarchical_f1", metrics.hierarchical_f1),
        Measure("micro_f1", _micro_f1),
        Measure("macro_f1", _macro_f1),
        _per_item("zero_one_loss", metrics.zero_one_loss, greater_is_better=False),
        _per_item(
            "symmetric_difference_loss", metrics.symmetric_difference_loss, greater_is_better=False
        ),
        _per_item("set_loss", metrics.set_loss, greater_is_better=False),
        _ranking("one_accuracy", metrics.one_accuracy, needs_taxonomy=False),
        _ranking("average_precision", metrics.average_precision, needs_taxonomy=False),
        _ranking(
            "ranking_loss", metrics.ranking_loss, greater_is_better=False, needs_taxonomy=False
        ),
        _ranking("maximal_loss", metrics.maximal_loss, greater_is_better=False),
        _ranking("misordering_loss", metrics.misordering_loss, greater_is_better=False),
        _ranking("parent_one_accuracy", metrics.parent_one_accuracy),
    )
}
"""The built-in measures by name; functions of :mod:`taxonomist.metrics`."""

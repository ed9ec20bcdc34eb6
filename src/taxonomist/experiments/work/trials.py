"""The work of most cells: cross-validate a model on a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from taxonomist.evaluation import Plan, cross_validate
from taxonomist.experiments.declarations import Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from taxonomist._typing import Classifier, Codes
    from taxonomist.evaluation.measures import MeasuresLike
    from taxonomist.taxonomy import Taxonomy


@dataclass(frozen=True)
class SplitData:
    """Items to classify, with the splits for training and testing.

    Attributes
    ----------
    X, y
        Items and labels, in any form that models accept.
    taxonomy
        The taxonomy of the labels.
    splits
        Training and test items of each fold.
    """

    X: Any
    y: Any
    taxonomy: Taxonomy
    splits: list[tuple[Codes, Codes]]


MakeProblem: TypeAlias = Callable[[], SplitData]
MakeModel: TypeAlias = "Callable[[Taxonomy], Classifier]"
"""Makes the unfitted model for a taxonomy."""


def trial(
    *problems: MakeProblem, model: MakeModel, measures: MeasuresLike, per_item: bool = True
) -> Result:
    """Cross-validate a model.

    Parameters
    ----------
    *problems
        Load the data; results on several data sets are concatenated.
    model
        Makes the model.
    measures
        The measures.
    per_item
        Whether to measure single items too, for tests with more power.

    Returns
    -------
    Result
        The measures by fold, and by item if they are means over items; ``n_items``,
        ``n_categories`` and ``n_labels`` (mean per item) by problem; ``fit_seconds`` by fold.
    """
    found = [_cross_validated(problem(), model, measures, per_item) for problem in problems]
    return Result(joined(part.values for part in found), joined(part.items for part in found))


def _cross_validated(
    data: SplitData, model: MakeModel, measures: MeasuresLike, per_item: bool
) -> Result:
    plan = Plan(measures=measures, taxonomy=data.taxonomy, cv=data.splits, per_item=per_item)
    found = cross_validate(model(data.taxonomy), data.X, data.y, plan)
    rows = data.y if isinstance(data.y[0], list | tuple) else [[label] for label in data.y]
    sizes = {
        "n_items": [float(len(rows))],
        "n_categories": [float(len({label for row in rows for label in row}))],
        "n_labels": [sum(map(len, rows)) / len(rows)],
    }
    values = {name: array.tolist() for name, array in found.values.items()}
    items = {name: array.tolist() for name, array in found.item_values.items()}
    return Result(sizes | values | {"fit_seconds": found.fit_seconds.tolist()}, items)


def joined(parts: Iterable[Mapping[str, list[float]]]) -> dict[str, list[float]]:
    """Concatenate the values of each measure."""
    joined: dict[str, list[float]] = {}
    for part in parts:
        for name, values in part.items():
            joined.setdefault(name, []).extend(values)
    return joined

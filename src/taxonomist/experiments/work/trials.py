"""The work of most cells: cross-validate a model on a problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from taxonomist.evaluation import Plan, cross_validate
from taxonomist.experiments.declarations import Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from taxonomist._typing import Classifier, Codes
    from taxonomist.datasets import Corpus
    from taxonomist.evaluation.measures import MeasuresLike
    from taxonomist.taxonomy import Taxonomy

T = TypeVar("T")


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
    ids
        Identity of each item, the same wherever the item occurs; None if it occurs nowhere else.
    """

    X: Any
    y: Any
    taxonomy: Taxonomy
    splits: list[tuple[Codes, Codes]]
    ids: Sequence[str] | None = None


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
    return joined_results(found)


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
    values = sizes | values | {"fit_seconds": found.fit_seconds.tolist()}
    return identified(Result(values, items), data.ids, found.test_items)


def identities(corpus: Corpus) -> list[str]:
    """Return an identity of each item that no other corpus has."""
    return [f"{corpus.name}/{item}" for item in corpus.ids or range(len(corpus))]


def identified(result: Result, ids: Sequence[str] | None, test_items: Sequence[Codes]) -> Result:
    """Return a result that says whose values the values of items are.

    Parameters
    ----------
    result
        The result, with values of items in the order of the test items.
    ids
        The identities of all items, or None.
    test_items
        The test items of each fold.

    Returns
    -------
    Result
        The result with ``item_runs`` and, unless there are none, ``item_ids``.
    """
    runs = np.repeat(np.arange(len(test_items)), [*map(len, test_items)]).tolist()
    names = None if ids is None else [str(ids[item]) for item in np.concatenate(test_items)]
    return replace(
        result,
        item_runs=dict.fromkeys(result.items, runs),
        item_ids={} if names is None else dict.fromkeys(result.items, names),
    )


def joined_results(results: Sequence[Result]) -> Result:
    """Concatenate the results on several data sets or draws."""
    runs: dict[str, list[int]] = {}
    n_runs: Counter[str] = Counter()
    for result in results:
        for name, values in result.items.items():
            given = result.item_runs.get(name, [0] * len(values))
            runs.setdefault(name, []).extend(n_runs[name] + run for run in given)
            n_runs[name] += max(given, default=-1) + 1
    return Result(
        joined(result.values for result in results),
        joined(result.items for result in results),
        item_ids=joined(result.item_ids for result in results),
        item_runs=runs,
    )


def joined(parts: Iterable[Mapping[str, list[T]]]) -> dict[str, list[T]]:
    """Concatenate the values of each measure."""
    joined: dict[str, list[T]] = {}
    for part in parts:
        for name, values in part.items():
            joined.setdefault(name, []).extend(values)
    return joined

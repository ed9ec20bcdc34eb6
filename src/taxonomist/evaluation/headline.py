"""The headline measures of an assessment, each with a bootstrap interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.evaluation.outcomes import ratio
from taxonomist.evaluation.resampling import intervals
from taxonomist.evaluation.significance import Interval
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Floats
    from taxonomist.evaluation.outcomes import Outcomes
    from taxonomist.evaluation.significance import Seed


class _Pairs:
    """Twice the agreement of two label sets, 2|Y ∩ U|, and the sum of their sizes, |Y| + |U|.

    F1 is the ratio of the two, whether both are summed over items, over nodes, or not at all.
    """

    def __init__(self, Y: CSR, U: CSR) -> None:
        self.agreement = 2.0 * (Y * U).astype(np.float64)
        self.size = Y.astype(np.float64) + U.astype(np.float64)

    def per_item(self, groups: Floats) -> Floats:
        """Return both for each item, pooled over groups of nodes: (n_items, 2 n_groups)."""
        return np.hstack([self.agreement @ groups.T, self.size @ groups.T])

    def by_node(self) -> tuple[CSR, CSR]:
        """Return both with one row for each node that occurs."""
        occurs = np.unique(self.size.indices)
        return self.agreement[:, occurs].T.tocsr(), self.size[:, occurs].T.tocsr()


class _Measures:
    """The measures as functions of item weights."""

    def __init__(self, outcomes: Outcomes) -> None:
        taxonomy = outcomes.taxonomy
        nodes = _Pairs(outcomes.closed_true, outcomes.closed_predicted)
        narrow = (
            labels.most_specific(taxonomy, part) for part in (outcomes.true, outcomes.predicted)
        )
        categories = _Pairs(*narrow)
        self.is_multilabel = outcomes.is_multilabel
        self.levels = range(1, taxonomy.height + 1)
        by_level = np.equal.outer(self.levels, taxonomy.depths).astype(np.float64)
        everywhere = np.ones((1, taxonomy.n_nodes))
        self.item_sums = np.hstack(
            [
                outcomes.is_right[:, None],
                outcomes.n_wrong[:, None],
                nodes.per_item(everywhere),
                categories.per_item(everywhere),
                nodes.per_item(by_level),
            ]
        )
        self.nodes, self.categories = nodes.by_node(), categories.by_node()

    def __call__(self, weights: Floats) -> dict[str, Floats]:
        """Return the values of all measures for each row of weights, (n_rows, n_items)."""
        sums = weights @ self.item_sums
        n_items = weights.sum(axis=1)
        right, wrong = sums[:, 0] / n_items, sums[:, 1] / n_items
        found = {
            "subset_accuracy" if self.is_multilabel else "accuracy": right,
            # If all label sets are empty, there was nothing to get wrong.
            "hierarchical_f1": np.nan_to_num(ratio(sums[:, 2], sums[:, 3]), nan=1.0),
            "macro_f1": _macro(*self.nodes, weights),
        }
        if self.is_multilabel:
            found["category_micro_f1"] = np.nan_to_num(ratio(sums[:, 4], sums[:, 5]))
        found["category_macro_f1"] = _macro(*self.categories, weights)
        if self.is_multilabel:
            found["symmetric_difference_loss"] = wrong
        else:
            found["taxonomy_loss"] = wrong / 2
        n_levels = len(self.levels)
        for level in self.levels:
            column = 5 + level
            found[f"level {level}"] = ratio(sums[:, column], sums[:, column + n_levels])
        return found


def interval_of_each(
    outcomes: Outcomes, random_state: Seed
) -> tuple[dict[str, Interval], dict[int, Interval]]:
    """Return the headline measures by name, and F1 by level, all from the same resamples.

    Parameters
    ----------
    outcomes
        True and predicted labels.
    random_state
        Seed of the resamples.

    Returns
    -------
    tuple of dict
        With one label per item, ``accuracy``, ``hierarchical_f1``, ``macro_f1``,
        ``category_macro_f1`` and ``taxonomy_loss``; with label sets, ``subset_accuracy`` instead
        of the first, ``symmetric_difference_loss`` instead of the last, and ``category_micro_f1``.
    """
    measures = _Measures(outcomes)
    drawn = intervals(measures, outcomes.n_items, random_state=random_state)
    found = {name: _bounded(name, interval) for name, interval in drawn.items()}
    levels = {level: found.pop(f"level {level}") for level in measures.levels}
    return found, levels


def difference_of_each(ours: Outcomes, others: Outcomes, random_state: Seed) -> dict[str, Interval]:
    """Return by how much each headline measure of one prediction is above that of another.

    Parameters
    ----------
    ours, others
        Two predictions for the same items.
    random_state
        Seed of the resamples, each of which draws the same items for both.

    Returns
    -------
    dict of Interval
        The differences by name; those of losses are negative if the first prediction is better.
    """
    first, second = _Measures(ours), _Measures(others)

    def differences(weights: Floats) -> dict[str, Floats]:
        values, others = first(weights), second(weights)
        return {name: value - others[name] for name, value in values.items()}

    drawn = intervals(differences, ours.n_items, random_state=random_state)
    return {name: found for name, found in drawn.items() if not name.startswith("level ")}


def _bounded(name: str, interval: Interval) -> Interval:
    """Clip an interval to the range of its measure; only losses can exceed 1."""
    most = np.inf if name.endswith("_loss") else 1.0
    low, high = np.clip([interval.low, interval.high], 0.0, most).tolist()
    return Interval(low, high, interval.estimate)


def _macro(agreement: CSR, size: CSR, weights: Floats) -> Floats:
    """Return the mean F1 of the nodes that occur, for each row of weights; 0 if none occurs."""
    columns = np.ascontiguousarray(weights.T)
    sizes = size @ columns
    f1 = np.divide(agreement @ columns, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    n_occurring = np.count_nonzero(sizes, axis=0)
    mean: Floats = f1.sum(axis=0) / np.maximum(n_occurring, 1)
    return mean

"""Assess predictions: how good they are, where they go wrong, and how certain the numbers are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.evaluation.confusions import (
    Confusion,
    rivals,
    same_level_counts,
    worst_confusions,
)
from taxonomist.evaluation.headline import interval_of_each
from taxonomist.evaluation.level_reliability import RowBlocks, reliability_per_level
from taxonomist.evaluation.outcomes import NodeCounts, Outcomes, ratio

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from taxonomist._typing import LabelsLike, MatrixLike
    from taxonomist.evaluation.significance import Interval, Seed
    from taxonomist.metrics.reliability import LevelReliability
    from taxonomist.taxonomy import Taxonomy


@dataclass(frozen=True)
class LevelResult:
    """Precision, recall and F1 pooled over the nodes of a level.

    Attributes
    ----------
    level
        Distance from the root, by the longest path.
    n_nodes
        Number of nodes.
    support
        Number of true labels, including ancestors of an item's own labels.
    precision, recall
        NaN if nothing is predicted, or nothing is true.
    f1
        F1 with an interval.
    """

    level: int
    n_nodes: int
    support: int
    precision: float
    recall: float
    f1: Interval


@dataclass(frozen=True)
class SubtreeResult:
    """One of the topmost categories and its descendants.

    Attributes
    ----------
    node
        Id of the topmost category.
    n_nodes
        Number of nodes, including the topmost category.
    support
        Number of items that belong to it.
    precision, recall, f1
        For the topmost category itself: does an item belong here at all?
    pooled_f1
        F1 pooled over all nodes of the subtree.
    accuracy
        Fraction of its items whose predicted label set is exactly right.
    """

    node: str
    n_nodes: int
    support: int
    precision: float
    recall: float
    f1: float
    pooled_f1: float
    accuracy: float


@dataclass(frozen=True)
class NodeResult:
    """One node: how well the items at or below it are found.

    Attributes
    ----------
    node
        Id of the node.
    support
        Number of items that belong to it.
    predicted
        Number of items predicted at or below it.
    found
        Number of items that both belong to it and are predicted there.
    precision, recall, f1
        NaN if nothing is predicted, nothing is true, or neither.
    taken_for
        Ids of the nodes of the same level that were most often predicted instead, with counts.
    """

    node: str
    support: int
    predicted: int
    found: int
    precision: float
    recall: float
    f1: float
    taken_for: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Assessment:
    """The result of ``assess``.

    Labels always count together with their ancestors. The root never counts, because every item
    belongs to it.

    Attributes
    ----------
    n_items
        Number of items.
    is_multilabel
        Whether items have label sets instead of one label each.
    measures
        Headline measures with intervals, by name. ``hierarchical_f1`` and ``macro_f1`` are over all
        nodes; names that begin with ``category`` are over the most specific labels only.
    levels, subtrees, nodes
        Results by level, by topmost category, and by node in the order of the taxonomy.
    confusions
        The most frequent confusions, with examples.
    distances
        Number of items by the number of nodes in which truth and prediction differ; in a tree with
        one label per item, that is the length of the path between them.
    reliability
        By level; empty if no probabilities were given.
    """

    n_items: int
    is_multilabel: bool
    measures: Mapping[str, Interval]
    levels: tuple[LevelResult, ...]
    subtrees: tuple[SubtreeResult, ...]
    nodes: tuple[NodeResult, ...]
    confusions: tuple[Confusion, ...]
    distances: Mapping[int, int]
    reliability: tuple[LevelReliability, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; undefined values are None."""
        found = {
            "n_items": self.n_items,
            "is_multilabel": self.is_multilabel,
            "measures": {name: _interval(each) for name, each in self.measures.items()},
            "levels": [{**asdict(each), "f1": _interval(each.f1)} for each in self.levels],
            "subtrees": [asdict(each) for each in self.subtrees],
            "nodes": [vars(each) | {"taken_for": dict(each.taken_for)} for each in self.nodes],
            "confusions": [each.to_dict() for each in self.confusions],
            "distances": {str(distance): count for distance, count in self.distances.items()},
            "reliability": [
                each._asdict() | {"bins": [part._asdict() for part in each.bins]}
                for each in self.reliability
            ],
        }
        plain: dict[str, Any] = _defined(found)
        return plain

    def __str__(self) -> str:
        """Return measures, levels and the most frequent confusions as a short table."""
        margin = max(map(len, [*self.measures, "level 10"]))
        lines = [f"{self.n_items:,} items, 95% intervals", ""]
        lines += [
            f"{name:<{margin}}  {each.estimate:.3f}  [{_number(each.low)}, {_number(each.high)}]"
            for name, each in self.measures.items()
        ]
        lines += ["", f"{'':<{margin}}  precision  recall     F1  support"]
        lines += [
            f"{f'level {each.level}':<{margin}}  {_number(each.precision):>9}  "
            f"{_number(each.recall):>6}  {_number(each.f1.estimate)}  {each.support:7,}"
            for each in self.levels
        ]
        if self.confusions:
            lines += ["", "most often confused (true → predicted)"]
            lines += map(str, self.confusions[:5])
        return "\n".join(lines)


def assess(
    truth: LabelsLike,
    predicted: LabelsLike,
    taxonomy: Taxonomy,
    *,
    probabilities: MatrixLike | RowBlocks | None = None,
    classes: Sequence[str] | None = None,
    texts: Iterable[object] | None = None,
    random_state: Seed = 0,
) -> Assessment:
    """Assess predictions: headline measures with intervals, and where they go wrong.

    Parameters
    ----------
    truth, predicted
        One label per item, label sets, or an indicator matrix over ``classes`` or all nodes.
    taxonomy
        The taxonomy of the labels.
    probabilities
        Probabilities of the classes, items x classes, for the reliability per level; without
        ``classes``, probabilities of all nodes. A matrix, or blocks of one.
    classes
        The id of each column of the probabilities and of indicator matrices.
    texts
        The items' texts, used as examples: strings, or tuples or mappings of strings.
    random_state
        Seed of the bootstrap.

    Returns
    -------
    Assessment
        ``print`` shows a short table; ``to_dict`` returns everything.

    Raises
    ------
    LabelError
        If labels are unknown, there are no items, or numbers of items differ.

    Examples
    --------
    >>> from taxonomist import Taxonomy
    >>> animals = Taxonomy.from_edges([("pet", "cat"), ("pet", "dog"), ("wild", "wolf")])
    >>> found = assess(["cat", "dog", "wolf"], ["cat", "wolf", "wolf"], animals)
    >>> round(found.measures["accuracy"].estimate, 3), found.measures["taxonomy_loss"].estimate
    (0.667, 0.666...)
    >>> [(c.true, c.predicted) for c in found.confusions]
    [('dog', 'wolf')]
    """
    outcomes = Outcomes.of(truth, predicted, taxonomy, classes)
    if texts is not None and not isinstance(texts, Sequence):
        texts = list(texts)
    if texts is not None and len(texts) != outcomes.n_items:
        raise LabelError(
            f"There are {outcomes.n_items} items but {len(texts)} texts; pass one text per item."
        )
    counts, same_level = NodeCounts.of(outcomes), same_level_counts(outcomes)
    measures, level_f1 = interval_of_each(outcomes, random_state)
    distances, n_each = np.unique(outcomes.n_wrong, return_counts=True)
    return Assessment(
        n_items=outcomes.n_items,
        is_multilabel=outcomes.is_multilabel,
        measures=measures,
        levels=_levels(taxonomy, counts, level_f1),
        subtrees=_subtrees(outcomes, counts),
        nodes=_nodes(taxonomy, counts, rivals(same_level)),
        confusions=worst_confusions(outcomes, same_level, counts.true, texts),
        distances=dict(zip(distances.tolist(), n_each.tolist(), strict=True)),
        reliability=()
        if probabilities is None
        else reliability_per_level(outcomes, probabilities, classes),
    )


def _levels(
    taxonomy: Taxonomy, counts: NodeCounts, f1: Mapping[int, Interval]
) -> tuple[LevelResult, ...]:
    at_level = np.equal.outer(np.arange(1, taxonomy.height + 1), taxonomy.depths)
    pooled = counts.pooled(at_level.astype(np.float64))
    return tuple(
        LevelResult(
            level=level,
            n_nodes=int(at_level[level - 1].sum()),
            support=int(pooled.true[level - 1]),
            precision=float(pooled.precision[level - 1]),
            recall=float(pooled.recall[level - 1]),
            f1=f1[level],
        )
        for level in range(1, taxonomy.height + 1)
    )


def _subtrees(outcomes: Outcomes, counts: NodeCounts) -> tuple[SubtreeResult, ...]:
    """Return the results for the root's children."""
    taxonomy = outcomes.taxonomy
    tops = taxonomy.codes(taxonomy.children(taxonomy.root))
    below = taxonomy.ancestor_matrix()[:, tops].T.tocsr().astype(np.float64)
    pooled = counts.pooled(below)
    right = outcomes.is_right.astype(np.float64) @ outcomes.closed_true
    accuracy = ratio(right[tops], counts.true[tops])
    return tuple(
        SubtreeResult(
            node=taxonomy.nodes[top],
            n_nodes=int(below.indptr[row + 1] - below.indptr[row]),
            support=int(counts.true[top]),
            precision=float(counts.precision[top]),
            recall=float(counts.recall[top]),
            f1=float(counts.f1[top]),
            pooled_f1=float(pooled.f1[row]),
            accuracy=float(accuracy[row]),
        )
        for row, top in enumerate(tops.tolist())
    )


def _nodes(
    taxonomy: Taxonomy, counts: NodeCounts, taken_for: Mapping[int, list[tuple[int, int]]]
) -> tuple[NodeResult, ...]:
    """Return the results of all nodes except the root."""
    return tuple(
        NodeResult(
            node=node,
            support=int(counts.true[code]),
            predicted=int(counts.predicted[code]),
            found=int(counts.both[code]),
            precision=float(counts.precision[code]),
            recall=float(counts.recall[code]),
            f1=float(counts.f1[code]),
            taken_for=tuple((taxonomy.nodes[b], n) for b, n in taken_for.get(code, ())),
        )
        for code, node in enumerate(taxonomy.nodes)
        if code
    )


def _interval(interval: Interval) -> dict[str, float]:
    return {"value": interval.estimate, "low": interval.low, "high": interval.high}


def _number(value: float) -> str:
    """Return three decimals, or a dash of the same width for NaN."""
    return "    –" if math.isnan(value) else f"{value:.3f}"


def _defined(value: object) -> Any:
    """Replace NaN by None in nested data."""
    if isinstance(value, dict):
        return {key: _defined(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_defined(entry) for entry in value]
    return None if isinstance(value, float) and math.isnan(value) else value

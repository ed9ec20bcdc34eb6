"""Compare the probabilities of nodes with observed frequencies, level by level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.metrics._inputs import count_items, item_weights
from taxonomist.metrics._rankings import check_scores, dense
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from taxonomist._typing import Bools, Codes, Floats, LabelsLike, MatrixLike
    from taxonomist.taxonomy import Taxonomy

NODE_CHOICES = ("best", "all")
"""Which nodes of a level are evaluated for each item."""


class ReliabilityBin(NamedTuple):
    """The answers whose probability lies in a range.

    Attributes
    ----------
    low, high
        The range, including its lower end; the last range also includes its upper end.
    weight
        Number of answers, weighted by item.
    probability
        Their mean probability.
    share
        The fraction of these answers that is right.
    """

    low: float
    high: float
    weight: float
    probability: float
    share: float


class LevelReliability(NamedTuple):
    """The answers at the nodes of a level.

    Attributes
    ----------
    level
        The depth of the nodes.
    weight, probability, share
        As in ``ReliabilityBin``, over all answers.
    error
        The expected calibration error: the mean over answers of the difference between
        probability and share in their bin.
    bins
        The non-empty bins.
    """

    level: int
    weight: float
    probability: float
    share: float
    error: float
    bins: tuple[ReliabilityBin, ...]


@dataclass(frozen=True)
class Reliability:
    """How reliable probabilities are, level by level.

    Attributes
    ----------
    levels
        The levels, starting below the root.
    """

    levels: tuple[LevelReliability, ...]

    @property
    def error(self) -> float:
        """The expected calibration error over all levels, weighted by their answers."""
        weights = [level.weight for level in self.levels]
        return float(np.average([level.error for level in self.levels], weights=weights))

    def __str__(self) -> str:
        """Return a table of how often answers were right, by level and probability."""
        lines = []
        for level in self.levels:
            lines.append(
                f"level {level.level}: probability {level.probability:.3f}, right "
                f"{level.share:.3f}, calibration error {level.error:.3f}"
            )
            lines += [
                f"  {part.low:.2f} to {part.high:.2f}  {part.probability:.3f}  {part.share:.3f}"
                f"  {part.weight:g}"
                for part in level.bins
            ]
        return "\n".join(lines)


def reliability(
    y_true: LabelsLike,
    node_probabilities: MatrixLike,
    taxonomy: Taxonomy,
    *,
    nodes: str = "best",
    n_bins: int = 10,
    classes: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Reliability:
    """Compare the probabilities of nodes with how often items belong there, level by level.

    Parameters
    ----------
    y_true
        One label per item, label sets, or an indicator matrix; closed under ancestors first.
    node_probabilities
        Dense or sparse, one column per node in taxonomy order, as returned by
        ``predict_node_proba``.
    taxonomy
        The taxonomy of the labels.
    nodes
        ``"best"``: the answer for an item at a level is its most probable node, and is right if
        the item belongs at or below that node. ``"all"``: every node of the level is an answer.
    n_bins
        Number of probability bins of equal width.
    classes
        The node of each column of an indicator matrix; by default all nodes.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    Reliability
        A table and the expected calibration error for each level below the root.

    Raises
    ------
    LabelError
        If labels are unknown, shapes differ, or a probability is not between 0 and 1.

    Examples
    --------
    >>> from taxonomist import Taxonomy, metrics
    >>> shop = Taxonomy.from_nested({"garden": ["spade", "rake"], "kitchen": ["pan"]})
    >>> P = [[1, 0.9, 0.5, 0.4, 0.1, 0.1], [1, 0.2, 0.1, 0.1, 0.8, 0.8]]
    >>> found = metrics.reliability(["rake", "pan"], P, shop)
    >>> [round(level.error, 2) for level in found.levels]
    [0.15, 0.35]
    """
    if nodes not in NODE_CHOICES:
        raise LabelError(f"nodes must be one of {', '.join(NODE_CHOICES)}. Got {nodes!r}.")
    if n_bins < 1:
        raise LabelError(f"n_bins must be at least 1. Got {n_bins!r}.")
    given = dense(check_scores(node_probabilities), slice(None))
    if given.shape[1] != taxonomy.n_nodes:
        message = f"node_probabilities has {given.shape[1]} columns but the taxonomy has"
        raise LabelError(f"{message} {taxonomy.n_nodes} nodes; pass one column per node.")
    if given.min(initial=0.0) < 0 or given.max(initial=1.0) > 1:
        raise LabelError("node_probabilities must be between 0 and 1.")
    n_items = count_items(y_true, given, "node_probabilities")
    weights = item_weights(sample_weight, n_items)
    marked = labels.encode_sets(taxonomy, y_true, classes, name="y_true")
    true = labels.close(taxonomy, marked).toarray()
    levels = []
    for depth in range(1, taxonomy.height + 1):
        columns = np.flatnonzero(taxonomy.depths == depth)
        answers = _answers(given[:, columns], true[:, columns], weights, nodes)
        levels.append(_level(depth, *answers, n_bins))
    return Reliability(tuple(levels))


def _answers(
    given: Floats, true: Bools, weights: Floats, nodes: str
) -> tuple[Floats, Bools, Floats]:
    """Return the probability, truth and weight of each answer at a level."""
    if nodes == "all":
        return given.ravel(), true.ravel(), np.repeat(weights, given.shape[1])
    rows, best = np.arange(len(given)), given.argmax(axis=1)
    return given[rows, best], true[rows, best], weights


def _level(
    depth: int, probability: Floats, truth: Bools, weights: Floats, n_bins: int
) -> LevelReliability:
    place: Codes = np.minimum((probability * n_bins).astype(np.intp), n_bins - 1)
    total, chance, right = (
        np.bincount(place, weights=values, minlength=n_bins)
        for values in (weights, weights * probability, weights * truth)
    )
    bins = tuple(
        ReliabilityBin(
            k / n_bins,
            (k + 1) / n_bins,
            float(total[k]),
            float(chance[k] / total[k]),
            float(right[k] / total[k]),
        )
        for k in np.flatnonzero(total).tolist()
    )
    whole = float(total.sum())
    error = float(np.abs(chance - right).sum() / whole)
    sums = float(chance.sum() / whole), float(right.sum() / whole)
    return LevelReliability(depth, whole, *sums, error, bins)

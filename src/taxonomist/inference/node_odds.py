"""Log-odds of nodes given their parents: one sigmoid per level or per node, fitted to gains.

A maximum-margin model ranks labellings but does not estimate probabilities, and its best labelling
tends to have too few nodes. This module turns the value v_j of a node (its gain plus the best gain
below it) into log-odds z_j = a_j v_j + b_j that the node is positive given a positive parent. The
slopes a_j and offsets b_j are fitted to held-out items. The prediction is then the most probable
labelling instead of the one with the best score. Its score is again a sum over positive nodes, with
gains z_j + Σ_k log P(y_k = 0 | y_j = 1) over the children k. A node with several parents is open if
all of them are positive; its log P(y_k = 0) is then shared evenly by them, so that the score stays
a sum over nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import log_expit

from taxonomist.compiled.decisions import fit_sigmoids
from taxonomist.errors import ParameterError, closest
from taxonomist.inference.calibration import TYPICAL_ITEMS

if TYPE_CHECKING:
    from taxonomist._typing import Bools, Codes, Floats, Reals
    from taxonomist.inference.dag_labellings import DagLabellings
    from taxonomist.inference.labellings import Labellings

DECISIONS = ("argmax", "level", "node")


def check_decision(decision: object) -> None:
    """Raise if the decision is unknown."""
    if decision not in DECISIONS:
        hint = closest(str(decision), DECISIONS)
        raise ParameterError(
            f"decision must be one of {', '.join(DECISIONS)}. Got {decision!r}.{hint}"
        )


@dataclass(frozen=True, eq=False)
class NodeOdds:
    """Log-odds of nodes given positive parents: slope x value + offset.

    Attributes
    ----------
    slopes, offsets
        Arrays of shape (n_nodes,). Slopes are never negative.
    """

    slopes: Floats
    offsets: Floats

    @classmethod
    def fit(
        cls,
        labellings: Labellings | DagLabellings,
        gains: Reals,
        truth: Bools,
        weights: Floats,
        by: str,
    ) -> NodeOdds:
        """Fit the log-odds to held-out items.

        Parameters
        ----------
        labellings
            The labellings of the tree or DAG.
        gains
            Gains of held-out items, (n_items, n_nodes).
        truth
            The true labellings of the held-out items, (n_items, n_nodes).
        weights
            The weight of each item.
        by
            ``"level"``: all nodes of a level share one slope and offset. ``"node"``: every node has
            its own, averaged with those of its level; the level counts as much as a few items.
        """
        depth = labellings.depths()
        evidence = _evidence(labellings, gains, truth, weights)
        level = _sigmoids(depth[evidence.group], evidence, int(depth.max()) + 1)
        slopes, offsets = level[0][depth], level[1][depth]
        if by == "node":
            own_slopes, own_offsets = _sigmoids(evidence.group, evidence, len(depth))
            counted = evidence.weights * evidence.truth
            n_true = np.bincount(evidence.group, weights=counted, minlength=len(depth))
            trust = n_true / (n_true + TYPICAL_ITEMS)
            slopes = trust * own_slopes + (1 - trust) * slopes
            offsets = trust * own_offsets + (1 - trust) * offsets
        return cls(np.maximum(slopes, 0.0), offsets)

    def gains(self, labellings: Labellings | DagLabellings, gains: Reals) -> Floats:
        """Return gains whose best labelling is the most probable one, (n_items, n_nodes)."""
        odds = self.slopes * labellings.values(gains) + self.offsets
        return labellings.with_refusals(odds, log_expit(-odds))


class _Evidence(NamedTuple):
    """Pairs of an item and a node whose parent is positive for that item."""

    group: Codes
    scores: Floats
    truth: Bools
    weights: Floats


def _evidence(
    labellings: Labellings | DagLabellings, gains: Reals, truth: Bools, weights: Floats
) -> _Evidence:
    nodes, items = np.nonzero(labellings.is_open(truth).T)
    values = labellings.values(gains)
    return _Evidence(nodes, values[items, nodes], truth[items, nodes], weights[items])


def _sigmoids(group: Codes, evidence: _Evidence, n_groups: int) -> tuple[Floats, Floats]:
    order = np.argsort(group, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=n_groups))])
    slopes, offsets = np.zeros(n_groups), np.zeros(n_groups)
    scores, truth, weights = evidence.scores, evidence.truth, evidence.weights
    fit_sigmoids(starts, scores[order], truth[order], weights[order], slopes, offsets)
    return slopes, offsets

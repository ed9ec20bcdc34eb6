"""The odds of nodes given their parents, from gains: a sigmoid for each level or each node.

A maximum-margin model ranks labellings but does not know how often it is right, and its best
labelling has too few nodes. Here the value v_j of a node (its gain and the best below it) becomes
log-odds z_j = a_j v_j + b_j that the node is positive where its parent is, fitted to held-out
items; the most probable labelling takes the place of the one with the best score. It is again a sum
over positive nodes, with gains z_j + Σ_k log P(y_k = 0 | y_j = 1) over the children k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import log_expit

from taxonomist.compiled.decisions import fit_sigmoids
from taxonomist.errors import closest
from taxonomist.inference.calibration import TYPICAL_ITEMS

if TYPE_CHECKING:
    from taxonomist._typing import Bools, Codes, Floats
    from taxonomist.inference.labellings import Labellings

DECISIONS = ("argmax", "level", "node")


def check_decision(decision: Any) -> None:
    """Refuse a decision that is none of the words allowed."""
    if decision not in DECISIONS:
        hint = closest(str(decision), DECISIONS)
        raise ValueError(f"decision must be one of {', '.join(DECISIONS)}. Got {decision!r}.{hint}")


@dataclass(frozen=True, eq=False)
class NodeOdds:
    """Log-odds of nodes given that their parents are positive: slope x value + offset.

    Attributes
    ----------
    slopes, offsets
        (n_nodes,); slopes are never negative.
    """

    slopes: Floats
    offsets: Floats

    @classmethod
    def fit(
        cls, labellings: Labellings, gains: Any, truth: Bools, weights: Floats, by: str
    ) -> NodeOdds:
        """Return the odds that held-out items suggest.

        Parameters
        ----------
        labellings
            The labellings of the tree.
        gains
            Of items that the model has not seen, (n_items, n_nodes).
        truth
            Their labellings, (n_items, n_nodes).
        weights
            What each item counts.
        by
            ``"level"``: nodes of a level share slope and offset; ``"node"``: each has its own,
            averaged with those of its level, which count as much as a few items.
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

    def gains(self, labellings: Labellings, gains: Any) -> Floats:
        """Return the gains whose best labelling is the most probable, (n_items, n_nodes)."""
        odds = self.slopes * labellings.values(gains) + self.offsets
        result: Floats = odds.copy()
        off = log_expit(-odds)
        for j in range(1, len(labellings.parent)):
            result[:, labellings.parent[j]] += off[:, j]
        return result


class _Evidence(NamedTuple):
    """Pairs of an item and a node whose parent it has."""

    group: Codes
    scores: Floats
    truth: Bools
    weights: Floats


def _evidence(labellings: Labellings, gains: Any, truth: Bools, weights: Floats) -> _Evidence:
    """Return nodes, values, labels and weights of all such pairs."""
    seen = truth[:, labellings.parent]
    seen[:, 0] = True
    nodes, items = np.nonzero(seen.T)
    values = labellings.values(gains)
    return _Evidence(nodes, values[items, nodes], truth[items, nodes], weights[items])


def _sigmoids(group: Codes, evidence: _Evidence, n_groups: int) -> tuple[Floats, Floats]:
    """Return slope and offset of each group."""
    order = np.argsort(group, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=n_groups))])
    slopes, offsets = np.zeros(n_groups), np.zeros(n_groups)
    scores, truth, weights = evidence.scores, evidence.truth, evidence.weights
    fit_sigmoids(starts, scores[order], truth[order], weights[order], slopes, offsets)
    return slopes, offsets

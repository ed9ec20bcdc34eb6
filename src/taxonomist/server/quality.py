"""How good the model is, by the decisions about documents that were marked at random."""

from __future__ import annotations

from collections import defaultdict
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from taxonomist.server.store.outcomes import last_event, standing_decisions
from taxonomist.workflow.label_ancestors import LabelAncestors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taxonomist.server.projects import Project
    from taxonomist.server.store.outcomes import StandingDecision
    from taxonomist.taxonomy import Taxonomy

__all__ = [
    "NodeQualities",
    "NodeQuality",
    "ShareEstimate",
    "estimate",
    "quality",
]

Z95 = 1.959963984540054
"""Quantile of the normal distribution for intervals of 95 %."""


class ShareEstimate(NamedTuple):
    """A share with its interval of 95 %, after Wilson."""

    n: int
    n_right: int
    share: float | None
    low: float
    high: float


def estimate(n_right: int, n: int) -> ShareEstimate:
    """Estimate a share from a sample.

    Wilson's interval keeps its coverage also for small samples and for shares near 0 and 1.
    """
    if not n:
        return ShareEstimate(0, 0, None, 0.0, 1.0)
    share, z2 = n_right / n, Z95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return ShareEstimate(n, n_right, share, max(0.0, centre - half), min(1.0, centre + half))


def quality(project: Project, version: str | None = None) -> dict[str, ShareEstimate]:
    """Return the share of right offers among marked documents, of all and by version.

    Parameters
    ----------
    project
        The project.
    version
        A version, to count only what it offered.

    Returns
    -------
    dict
        ``"all"``, and each version that made offers.
    """
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    with project.store.reading() as connection:
        for each in standing_decisions(connection, project.id):
            if not each.is_random or (version is not None and each.version != version):
                continue
            is_right = set(each.chosen) == set(each.offered)
            for name in ("all", each.version or "none"):
                counts[name][0] += is_right
                counts[name][1] += 1
    counts.setdefault("all", [0, 0])
    return {name: estimate(*pair) for name, pair in counts.items()}


class NodeQuality(NamedTuple):
    """Documents decided to be at or below a node, and how often the model had put them there.

    Only documents that were marked at random count for ``right``.
    """

    n_decided: int
    right: ShareEstimate


class NodeQualities:
    """Counts by node, which are computed again only after new decisions."""

    def __init__(self) -> None:
        self._last = -1
        self._version = ""
        self._found: dict[str, NodeQuality] = {}

    def of(self, project: Project) -> dict[str, NodeQuality]:
        """Return the counts of the nodes that have any."""
        model = project.live
        with project.store.reading() as connection:
            last = last_event(connection, project.id)
            if (last, model.version) != (self._last, self._version):
                self._found = _node_qualities(
                    model.taxonomy, standing_decisions(connection, project.id)
                )
                self._last, self._version = last, model.version
        return self._found


def _node_qualities(
    taxonomy: Taxonomy, decisions: Iterable[StandingDecision]
) -> dict[str, NodeQuality]:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    closed = LabelAncestors(taxonomy).closed
    for each in decisions:
        offered = closed(each.offered)
        for node in closed(each.chosen):
            counts[node][0] += 1
            counts[node][1] += each.is_random and node in offered
            counts[node][2] += each.is_random
    return {
        node: NodeQuality(n_decided, estimate(n_right, n))
        for node, (n_decided, n_right, n) in counts.items()
    }

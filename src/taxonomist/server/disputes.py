"""Decisions that the model doubts: probable mistakes of people.

An offer is made before its document is decided about, so the model has not learned from the
decision that it doubts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taxonomist.server.bulk import chance_of
from taxonomist.workflow.label_ancestors import LabelAncestors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taxonomist.server.store.outcomes import DecidedOffer
    from taxonomist.taxonomy import Taxonomy

__all__ = ["CHECK_PREFIX", "Dispute", "doubted", "find_disputes"]

CHECK_PREFIX = "check:"
"""Prefix of the keys of decisions that people made with the doubt in view."""
LEAST_DOUBT = 0.2
"""Minimum difference of the probabilities of a dispute."""


class Dispute(NamedTuple):
    """A decision that the model doubts.

    Attributes
    ----------
    decided
        The decision, and the offer that it answered.
    given, offered
        Probabilities of the labels that were chosen, and of those that were offered.
    """

    decided: DecidedOffer
    given: float
    offered: float

    @property
    def doubt(self) -> float:
        """How much more probable the offered labels were."""
        return self.offered - self.given


def find_disputes(taxonomy: Taxonomy, decided: Iterable[DecidedOffer]) -> list[Dispute]:
    """Return the decisions that the model doubts most, most doubtful first.

    A node above the offered one is a careful choice and no mistake.
    """
    found = []
    for each in decided:
        if (each.event_key or "").startswith(CHECK_PREFIX):
            continue
        chances = doubted(taxonomy, each.chosen, each.offered, each.categories)
        if chances is not None:
            found.append(Dispute(each, *chances))
    return sorted(found, key=lambda each: -each.doubt)


def doubted(
    taxonomy: Taxonomy,
    given: Sequence[str],
    offered: Sequence[str],
    categories: Sequence[tuple[str, float]],
) -> tuple[float, float] | None:
    """Return the probabilities of given and of offered labels; None without a reason to doubt."""
    above = LabelAncestors(taxonomy).closed(offered)
    is_careful = bool(given) and all(label in above for label in given)
    if not offered or is_careful:
        return None
    chances = chance_of(given, categories), chance_of(offered, categories)
    return chances if chances[1] - chances[0] >= LEAST_DOUBT else None

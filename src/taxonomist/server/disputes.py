"""Decisions that the model doubts: probable mistakes of people.

An offer is made before its document is decided about, so the model has not learned from the
decision that it doubts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taxonomist.server.bulk import chance_of
from taxonomist.server.quality import closed_labels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taxonomist.server.store.outcomes import DecidedOffer
    from taxonomist.taxonomy import Taxonomy

__all__ = ["CHECK_PREFIX", "Dispute", "find_disputes"]

CHECK_PREFIX = "check:"
"""How the keys of decisions begin that somebody took with the doubt in view."""
LEAST_DOUBT = 0.2
"""Smaller differences of probabilities are no reason to look again."""


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
        above = closed_labels(taxonomy, each.offered)
        is_careful = bool(each.chosen) and all(label in above for label in each.chosen)
        is_checked = (each.event_key or "").startswith(CHECK_PREFIX)
        if not each.offered or is_careful or is_checked:
            continue
        given, offered = (
            chance_of(labels, each.categories) for labels in (each.chosen, each.offered)
        )
        found.append(Dispute(each, given, offered))
    found = [each for each in found if each.doubt >= LEAST_DOUBT]
    return sorted(found, key=lambda each: -each.doubt)

"""What became of the model's offers: over time, by probability, and what was mistaken for what."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from taxonomist.server.bulk import chance_of
from taxonomist.server.quality import estimate
from taxonomist.workflow.label_ancestors import LabelAncestors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from taxonomist.server.quality import ShareEstimate
    from taxonomist.server.store.outcomes import DecidedOffer
    from taxonomist.taxonomy import Taxonomy

__all__ = ["Mistaken", "Period", "SimilarOffers", "mistakes", "periods", "reliability"]

MOST_PERIODS = 12
FEWEST_IN_PERIOD = 10
N_BINS = 10


class Period(NamedTuple):
    """Consecutive decisions about marked documents, and how many offers were right."""

    start: datetime
    end: datetime
    right: ShareEstimate


class SimilarOffers(NamedTuple):
    """Offers with about the same probability, and how many of them were right."""

    probability: float
    right: ShareEstimate


class Mistaken(NamedTuple):
    """Labels that were offered where people chose others, and their distance."""

    offered: tuple[str, ...]
    chosen: tuple[str, ...]
    times: int
    distance: float


def _is_right(each: DecidedOffer) -> bool:
    return set(each.chosen) == set(each.offered)


def periods(decided: Sequence[DecidedOffer]) -> list[Period]:
    """Return the share of right offers over time, in periods with equally many decisions."""
    marked = [each for each in decided if each.is_random]
    n_periods = max(1, min(MOST_PERIODS, len(marked) // FEWEST_IN_PERIOD))
    found = []
    for i in range(n_periods):
        part = marked[i * len(marked) // n_periods : (i + 1) * len(marked) // n_periods]
        if part:
            right = estimate(sum(map(_is_right, part)), len(part))
            found.append(Period(part[0].at, part[-1].at, right))
    return found


def reliability(decided: Sequence[DecidedOffer]) -> list[SimilarOffers]:
    """Return how often marked offers were right, by their probability, in ten bins."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(N_BINS)]
    for each in decided:
        if each.is_random and each.offered:
            chance = chance_of(each.offered, each.categories)
            bins[min(N_BINS - 1, int(chance * N_BINS))].append((chance, _is_right(each)))
    return [
        SimilarOffers(
            sum(chance for chance, _ in part) / len(part),
            estimate(sum(right for _, right in part), len(part)),
        )
        for part in bins
        if part
    ]


def mistakes(
    taxonomy: Taxonomy, decided: Sequence[DecidedOffer], *, is_multilabel: bool
) -> list[Mistaken]:
    """Return which labels were offered where others were right, most frequent first."""
    counts = Counter(
        (tuple(sorted(each.offered)), tuple(sorted(each.chosen)))
        for each in decided
        if not _is_right(each)
    )
    distance = LabelAncestors(taxonomy).distance
    return [
        Mistaken(*pair, count, distance(*pair, is_multilabel=is_multilabel))
        for pair, count in counts.most_common()
    ]

"""``PathScorer``: categories scored by the classifiers of the nodes along their paths."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import softmax

from taxonomist.inference.block_scorer import BlockScorer

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Bools, Floats, Reals
    from taxonomist.inference.scorers import ScorePart


class Blend(NamedTuple):
    """The weights θ of the three parts of a score.

    Attributes
    ----------
    own
        Weight of the category's own margin against all other items.
    above
        Weight of the squashed margins against all other items, summed along the path.
    beside
        Weight of the squashed margins against siblings, summed along the path.
    """

    own: float = 1.0
    above: float = 1.0
    beside: float = 1.0


@dataclass(frozen=True, eq=False)
class PathScorer(BlockScorer):
    """Scores of categories for one category per item.

    f(x, c) = θ_1 s_c(x) + θ_2 Σ_z q(s_z(x)) + θ_3 Σ_z q(t_z(x)),  q(s) = -max(0, 1 - s)²,

    where z runs over the nodes from the top to c, s_z is the margin of node z against all other
    items, and t_z its margin against siblings. q keeps a sure node from paying for a doubtful one.

    Attributes
    ----------
    own, above, beside
        The classifiers that each part of a score sums, (n_categories, n_columns).
    seen
        Whether each category has training items. Others score below all that have.
    blend
        θ.
    """

    own: CSR
    above: CSR
    beside: CSR
    seen: Bools
    blend: Blend = field(default_factory=Blend)

    @property
    def n_scores(self) -> int:
        """The number of scores of an item that are held at the same time."""
        return max(len(self.seen), self.weights.n_columns)

    def parts(self, raw: Reals) -> Floats:
        """Return the three parts of the scores, (3, n_categories, n_items)."""
        margins = np.ascontiguousarray(raw.T, dtype=np.float64)
        squashed = squash(margins)
        return np.stack([self.own @ margins, self.above @ squashed, self.beside @ squashed])

    def categories(self, raw: Reals) -> Floats:
        """Return the scores of categories, (n_items, n_categories)."""
        margins = np.ascontiguousarray(raw.T, dtype=np.float64)
        along = self.above * self.blend.above + self.beside * self.blend.beside
        scores = (self.own * self.blend.own) @ margins + along @ squash(margins)
        if not self.seen.all():
            lowest = scores.min(axis=0, where=self.seen[:, None], initial=0.0)
            scores[~self.seen] = lowest - 1
        return np.ascontiguousarray(scores.T)

    def probabilities(self, raw: Reals) -> Floats:
        """Return the probabilities of categories: the softmax of their scores."""
        found: Floats = softmax(np.where(self.seen, self.categories(raw), -np.inf), axis=1)
        return found

    def explain(self, row: CSR, category: int, against: int | None, n: int) -> list[ScorePart]:
        """Return the contribution of each node to a score; see ``Explains``.

        A word's share of a squashed margin is its share of the margin times the mean slope of q
        between 0 and the margin, so that all shares sum to the score.
        """
        linear, squashed = self._weights_of(category)
        if against is not None:
            others = self._weights_of(against)
            linear, squashed = linear - others[0], squashed - others[1]
        margins = self.raw(row)[0].astype(np.float64)
        bent = squash(margins)
        mean_slopes = np.divide(bent + 1, margins, out=np.zeros_like(bent), where=margins != 0)
        values = linear * margins + squashed * bent
        slopes = linear + squashed * mean_slopes
        used = np.flatnonzero((linear != 0) | (squashed != 0)).tolist()
        return self.node_parts(row, [(z, values[z], slopes[z]) for z in used], n)

    def _weights_of(self, category: int) -> tuple[Floats, Floats]:
        """Return how a category's score weights margins and squashed margins, (n_columns,)."""
        along = self.above * self.blend.above + self.beside * self.blend.beside
        linear: Floats = (self.own * self.blend.own)[[category]].toarray().ravel()
        return linear, along[[category]].toarray().ravel()


def squash(margins: Floats) -> Floats:
    """Return -max(0, 1 - s)²: 0 for margins of at least 1, and -1 for a margin of 0."""
    found: Floats = -np.square(np.maximum(1.0 - margins, 0.0))
    return found

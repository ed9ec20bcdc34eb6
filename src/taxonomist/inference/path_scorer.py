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
    rarity
        What a category gains for being rare: τ times minus the logarithm of its items' number.
    """

    own: float = 1.0
    above: float = 1.0
    beside: float = 1.0
    rarity: float = 0.0

    @property
    def parts(self) -> Floats:
        """The weights of the parts without that of rarity, (3,)."""
        return np.array(self[:3])


@dataclass(frozen=True, eq=False)
class PathScorer(BlockScorer):
    """Scores of categories for one category per item.

    f(x, c) = θ_1 s_c(x) + θ_2 Σ_z q(s_z(x)) + θ_3 Σ_z q(t_z(x)) - τ log n_c,

    q(s) = -max(0, 1 - s)²,

    where z runs over the nodes from the top to c, s_z is the margin of node z against all other
    items, t_z its margin against siblings, and n_c the number of training items of c. q keeps a
    sure node from paying for a doubtful one. The last term makes up for the low margins of rare
    categories.

    Attributes
    ----------
    own, above, beside
        The classifiers that each part of a score sums, (n_categories, n_columns).
    counts
        The number of training items of each category. Those without score below all others.
    blend
        θ and τ.
    """

    own: CSR
    above: CSR
    beside: CSR
    counts: Floats
    blend: Blend = field(default_factory=Blend)

    @property
    def seen(self) -> Bools:
        """Whether each category has training items."""
        return self.counts > 0

    @property
    def rarity(self) -> Floats:
        """-log n_c of each category; 0 for those without items."""
        found: Floats = -np.log(np.where(self.seen, self.counts, 1.0))
        return found

    @property
    def n_scores(self) -> int:
        """The number of scores of an item that are held at the same time."""
        return max(len(self.counts), self.weights.n_columns)

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
        scores += (self.blend.rarity * self.rarity)[:, None]
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
        linear, squashed, bonus = self._weights_of(category)
        if against is not None:
            others = self._weights_of(against)
            linear, squashed = linear - others[0], squashed - others[1]
            bonus -= others[2]
        margins = self.raw(row)[0].astype(np.float64)
        bent = squash(margins)
        mean_slopes = np.divide(bent + 1, margins, out=np.zeros_like(bent), where=margins != 0)
        values = linear * margins + squashed * bent
        slopes = linear + squashed * mean_slopes
        used = np.flatnonzero((linear != 0) | (squashed != 0)).tolist()
        # What a category gains for being rare counts for the last node.
        values[used[-1:]] += bonus
        return self.node_parts(row, [(z, values[z], slopes[z]) for z in used], n)

    def _weights_of(self, category: int) -> tuple[Floats, Floats, float]:
        """Return the weights of margins and squashed margins in a score, and its constant."""
        along = self.above * self.blend.above + self.beside * self.blend.beside
        linear: Floats = (self.own * self.blend.own)[[category]].toarray().ravel()
        bonus = float(self.blend.rarity * self.rarity[category])
        return linear, along[[category]].toarray().ravel(), bonus


def squash(margins: Floats) -> Floats:
    """Return -max(0, 1 - s)²: 0 for margins of at least 1, and -1 for a margin of 0."""
    found: Floats = -np.square(np.maximum(1.0 - margins, 0.0))
    return found

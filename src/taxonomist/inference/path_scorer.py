"""``PathScorer``: categories scored by the classifiers of the nodes along their paths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.inference.linear_scorer import in_blocks
from taxonomist.inference.scorers import SCORES_AT_A_TIME, ScorePart, best_columns, strongest

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Bools, Codes, Floats, Reals
    from taxonomist.inference.block_weights import BlockWeights
    from taxonomist.inference.scorers import Cut


class Blend(NamedTuple):
    """Weights of the three parts of a category's score.

    Attributes
    ----------
    own
        Of the margin of the category's own classifier against all others.
    above
        Of the squashed margins against all others, summed along the path.
    beside
        Of the squashed margins against siblings, summed along the path.
    """

    own: float = 1.0
    above: float = 1.0
    beside: float = 1.0


@dataclass(frozen=True, eq=False)
class PathScorer:
    """Scores of categories from margins of nodes; raw scores are the margins.

    f(x, c) = θ_1 s_c(x) + θ_2 Σ_z q(s_z(x)) + θ_3 Σ_z q(t_z(x)),  q(s) = -max(0, 1 - s)²,

    where z runs over the nodes from the top to c, s_z is the margin of node z against all other
    items, and t_z its margin against siblings. q keeps a sure node from paying for a doubtful one.

    Attributes
    ----------
    weights
        The classifiers.
    own, above, beside
        The columns of classifiers that each part of a category's score sums, (n_categories,
        n_columns) CSR.
    nodes
        The node of each column, as a code of the taxonomy with terminals.
    seen
        Whether each category has training items. Others score below all that have.
    blend
        θ.
    """

    weights: BlockWeights
    own: CSR
    above: CSR
    beside: CSR
    nodes: Codes
    seen: Bools
    blend: Blend = Blend()

    @property
    def block_size(self) -> int:
        """The number of items to score per block if not all scores are kept."""
        return max(1, SCORES_AT_A_TIME // max(len(self.seen), self.weights.n_columns))

    def raw(self, X: CSR, n_threads: int = 1) -> Reals:
        """Return the margins of all classifiers, (n_items, n_columns)."""
        out = np.empty((X.shape[0], self.weights.n_columns), np.float32)
        in_blocks(
            lambda block: self.weights.scores(X[block], out[block]),
            X.shape[0],
            self.weights.n_columns,
            n_threads,
        )
        return out

    def parts(self, raw: Reals) -> tuple[Floats, Floats, Floats]:
        """Return the three parts of the scores, each (n_categories, n_items)."""
        margins = np.ascontiguousarray(raw.T, dtype=np.float64)
        squashed = squash(margins)
        return self.own @ margins, self.above @ squashed, self.beside @ squashed

    def categories(self, raw: Reals) -> Floats:
        """Return the scores of categories, (n_items, n_categories)."""
        margins = np.ascontiguousarray(raw.T, dtype=np.float64)
        along = self.above * self.blend.above + self.beside * self.blend.beside
        scores = (self.own * self.blend.own) @ margins + along @ squash(margins)
        if not self.seen.all():
            lowest = scores.min(axis=0, where=self.seen[:, None], initial=0.0)
            scores[~self.seen] = lowest - 1
        return np.ascontiguousarray(scores.T)

    def best(self, X: CSR, k: int, n_threads: int = 1) -> tuple[Codes, Floats]:
        """Return the columns of the k best categories of each item, and their scores."""
        found = np.empty((X.shape[0], k), np.intp)
        scores = np.empty((X.shape[0], k))

        def work(block: slice) -> None:
            found[block], scores[block] = self.best_of(self.raw(X[block]), k)

        in_blocks(work, X.shape[0], max(len(self.seen), self.weights.n_columns), n_threads)
        return found, scores

    def best_of(self, raw: Reals, k: int) -> tuple[Codes, Floats]:
        """Return the k best categories and their scores; ties go to the first."""
        scores = self.categories(raw)
        if k > 1:
            return best_columns(scores, k)
        best = scores.argmax(axis=1)[:, None]
        return best, np.take_along_axis(scores, best, axis=1)

    def explain(self, row: CSR, category: int, against: int | None, n: int) -> list[ScorePart]:
        """Return the contribution of each node to a score; see ``Explains``.

        The part of a word in a squashed margin is its part of the margin, times the mean slope of
        the squash between 0 and the margin, so that the parts sum to the score exactly.
        """
        parts = self._signed(category, 1.0)
        if against is not None:
            parts += self._signed(against, -1.0)
        together: dict[tuple[int, bool], float] = {}
        for column, is_squashed, weight in parts:
            key = column, is_squashed
            together[key] = together.get(key, 0.0) + weight
        shares: dict[int, list[tuple[Floats, float]]] = {}
        raw = self.raw(row)[0].astype(np.float64)
        for (column, is_squashed), weight in together.items():
            if weight:
                found = self._shares(row, column, raw[column], is_squashed, weight)
                shares.setdefault(int(self.nodes[column]), []).append(found)
        return [self._part(node, row, found, n) for node, found in sorted(shares.items())]

    def _signed(self, category: int, sign: float) -> list[tuple[int, bool, float]]:
        """Return the columns of a category, whether they are squashed, and their weights."""
        found = []
        for table, is_squashed, weight in zip(
            (self.own, self.above, self.beside), (False, True, True), self.blend, strict=True
        ):
            columns = table[[category]].indices.tolist()
            found += [(column, is_squashed, sign * weight) for column in columns]
        return found

    def _shares(
        self, row: CSR, column: int, margin: float, is_squashed: bool, weight: float
    ) -> tuple[Floats, float]:
        """Return what each feature contributes to a weighted margin, and the rest."""
        value, slope = weight * margin, weight
        if is_squashed:
            value = weight * float(squash(np.float64(margin)))
            slope = (value - weight * float(squash(np.float64(0)))) / margin if margin else 0.0
        shares = slope * row.data * self.weights.of_column(column, row.indices)
        return shares, value - float(shares.sum())

    def _part(
        self, node: int, row: CSR, found: list[tuple[Floats, float]], n: int
    ) -> ScorePart:
        """Return the contribution of one node."""
        shares = np.sum([share for share, _ in found], axis=0)
        constant = sum(rest for _, rest in found)
        features, rest = strongest(shares, row.indices, n)
        return ScorePart(node, float(shares.sum()) + constant, features, rest + constant)

    def pruned(self, cut: Cut) -> PathScorer:
        """Return a scorer with the weights that ``cut`` returns; see ``Scorer``."""
        return replace(self, weights=self.weights.pruned(cut))


def squash(margins: Floats) -> Floats:
    """Return -max(0, 1 - s)²: 0 for margins of at least 1."""
    found: Floats = -np.square(np.maximum(1.0 - margins, 0.0))
    return found

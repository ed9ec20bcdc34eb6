"""``NodeScorer``: coherent probabilities of nodes, for label sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.inference.block_scorer import BlockScorer
from taxonomist.inference.node_model import NodeMargins
from taxonomist.inference.scorers import ScorePart

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats, Reals
    from taxonomist.inference.node_model import NodeModel


@dataclass(frozen=True, eq=False)
class NodeScorer(BlockScorer):
    """Scores of categories for label sets: the log-odds of their nodes.

    Attributes
    ----------
    above, beside
        The classifier of each node against all other items, and against siblings, or -1.
    category_nodes
        The node of each category.
    model
        The model of node probabilities.
    """

    above: Codes
    beside: Codes
    category_nodes: Codes
    model: NodeModel

    @property
    def n_scores(self) -> int:
        """The number of scores of an item that are held at the same time."""
        return 8 * len(self.above)

    def margins(self, raw: Reals) -> NodeMargins:
        """Return the margins of all nodes; nodes without a classifier have 1 or -1.

        Where there is no classifier against siblings, the one against all others takes its place,
        and the other way round.
        """
        found = []
        for column in self._columns():
            part = np.empty((len(column), len(raw)), np.float32)
            part[:] = np.where(self.model.frequencies.is_always, 1, -1)[:, None]
            part[column >= 0] = raw.T[column[column >= 0]]
            found.append(part)
        return NodeMargins(*found)

    def _columns(self) -> tuple[Codes, Codes]:
        """Return the columns of both margins of every node."""
        above = np.where(self.above >= 0, self.above, self.beside)
        return above, np.where(self.beside >= 0, self.beside, self.above)

    def categories(self, raw: Reals) -> Floats:
        """Return the coherent log-odds of categories, (n_items, n_categories)."""
        return np.ascontiguousarray(self.node_odds(raw)[:, self.category_nodes])

    def node_odds(self, raw: Reals) -> Floats:
        """Return the coherent log-odds of nodes, (n_items, n_nodes)."""
        return self.model.coherent_odds(self.margins(raw)).T

    def probabilities(self, raw: Reals) -> Floats:
        """Return the probabilities of the nodes of categories, (n_items, n_categories)."""
        return self.node_probabilities(raw)[:, self.category_nodes]

    def node_probabilities(self, raw: Reals) -> Floats:
        """Return coherent probabilities of nodes, (n_items, n_nodes)."""
        return np.ascontiguousarray(self.model.probabilities(self.margins(raw)).T)

    def explain(self, row: CSR, category: int, against: int | None, n: int) -> list[ScorePart]:
        """Return the contribution of each node to a score; see ``Explains``.

        The score of a category is that of its least probable ancestor, or its own. It is a sum of
        margins of several nodes, each a sum over words.
        """
        raw = self.raw(row)
        slopes, score = self._slopes(raw, category)
        if against is not None:
            others, other_score = self._slopes(raw, against)
            slopes, score = slopes - others, score - other_score
        values = slopes * raw[0]
        used = np.flatnonzero(slopes).tolist()
        if not used:
            return [ScorePart(int(self.category_nodes[category]), score, (), score)]
        found = [(column, float(values[column]), float(slopes[column])) for column in used]
        # What depends on no margin, such as the intercept, counts for the node that matters most.
        main = int(np.argmax(np.abs(slopes[used])))
        column, value, slope = found[main]
        found[main] = column, value + score - float(values.sum()), slope
        return self.node_parts(row, found, n)

    def _slopes(self, raw: Reals, category: int) -> tuple[Floats, float]:
        """Return how a score depends on the margins of all classifiers, and the score."""
        parts, score = self.model.slopes(self.margins(raw), int(self.category_nodes[category]))
        slopes = np.zeros(raw.shape[1])
        for part, column in zip(parts, self._columns(), strict=True):
            np.add.at(slopes, column[column >= 0], part[column >= 0])
        return slopes, score

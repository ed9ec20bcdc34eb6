"""``PathScorer``: categories scored by the classifiers of the nodes along their paths."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import softmax

from taxonomist.compiled.jit import can_spare, is_compiled
from taxonomist.compiled.path_scores import PathTerms, few_path_scores, path_scores
from taxonomist.compiled.path_search import SearchRoom, SearchTree, search_paths
from taxonomist.inference.block_scorer import BlockScorer
from taxonomist.inference.block_weights import sparse_rows
from taxonomist.inference.linear_scorer import in_blocks

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Bools, Codes, Floats, Reals
    from taxonomist.inference.block_weights import BlockWeights
    from taxonomist.inference.scorers import ScorePart
    from taxonomist.taxonomy import Taxonomy

MOST_SPARED = 100_000
"""Scores of categories that are computed without compiled loops at most, for a quick start."""
MOST_SUMMED = 3_000_000
"""Scores of categories that are summed up without compiled loops at most, which takes 0.3 s."""
MOST_SCORED = 3 * 10**7
"""Scores of categories that are computed rather than compiling the search, which takes 4 s."""
MARGINS_SEARCHED = 2**24
"""Margins of the items that a thread searches for together at most: 64 MiB, mostly not computed."""
ENTRIES = 64
"""Nodes for whose margins an item waits at most, on average, in a search."""


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
    sharpness, chance
        a and ε of probabilities: those of the softmax of a times the scores have the weight 1 - ε,
        and all categories with training items share ε. Predictions do not depend on them.
    typical
        Weight of the category's typical features, if there are any.
    """

    own: float = 1.0
    above: float = 1.0
    beside: float = 1.0
    rarity: float = 0.0
    sharpness: float = 1.0
    chance: float = 0.0
    typical: float = 0.0

    @property
    def parts(self) -> Floats:
        """The weights of the parts without that of rarity, (4,)."""
        return np.array([*self[:3], self.typical])


@dataclass(frozen=True, eq=False)
class PathScorer(BlockScorer):
    """Scores of categories for one category per item.

    f(x, c) = θ_1 s_c(x) + θ_2 Σ_z q(s_z(x)) + θ_3 Σ_z q(t_z(x)) + θ_4 g_c(x) - τ log n_c,

    q(s) = -max(0, 1 - s)²,

    where z runs over the nodes from the top to c, s_z is the margin of node z against all other
    items, t_z its margin against siblings, g_c the score of typical features, if there is one, and
    n_c the number of training items of c. q keeps a sure node from paying for a doubtful one. The
    last term makes up for the low margins of rare categories.

    Attributes
    ----------
    taxonomy
        The taxonomy of the classifiers; interior categories have terminals.
    above, beside
        The classifier of each node against all other items, and against siblings, or -1.
    category_nodes
        The node of each category.
    counts
        The number of training items of each category. Those without score below all others.
    blend
        θ and τ.
    beam
        If it is not None, the best categories are searched for from the top, and at most so many
        nodes of each depth are expanded.
    has_typical
        Whether the last columns are the typical features of the categories.
    """

    taxonomy: Taxonomy
    above: Codes
    beside: Codes
    category_nodes: Codes
    counts: Floats
    blend: Blend = field(default_factory=Blend)
    beam: int | None = None
    has_typical: bool = False

    def with_typical(self, typical: BlockWeights) -> PathScorer:
        """Return a scorer that also has typical features, one column per category."""
        weights = self.weights.beside(typical)
        nodes = np.concatenate([self.nodes, self.category_nodes])
        return replace(self, weights=weights, nodes=nodes, has_typical=True)

    def without_typical(self) -> PathScorer:
        """Return the scorer without typical features."""
        if not self.has_typical:
            return self
        n = self.n_classifiers
        weights = self.weights.first_blocks(int(np.searchsorted(self.weights.table.first, n)))
        return replace(self, weights=weights, nodes=self.nodes[:n], has_typical=False)

    @property
    def n_classifiers(self) -> int:
        """The number of columns that are classifiers of nodes."""
        return self.weights.n_columns - (len(self.counts) if self.has_typical else 0)

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

    @cached_property
    def tables(self) -> tuple[CSR, ...]:
        """The columns that each part of a score sums, (n_categories, n_columns) each."""
        nodes, everyone = self.category_nodes, np.arange(len(self.category_nodes))
        paths = csr_array(self.taxonomy.ancestor_matrix()[nodes])
        rows = np.repeat(everyone, np.diff(paths.indptr))

        def table(column_of: Codes, rows: Codes, nodes: Codes) -> CSR:
            found = column_of[nodes]
            has = found >= 0
            ones, shape = np.ones(has.sum()), (len(everyone), self.weights.n_columns)
            return csr_array((ones, (rows[has], found[has])), shape=shape)

        along = table(self.above, rows, paths.indices), table(self.beside, rows, paths.indices)
        parts = table(self.above, everyone, nodes), *along
        if not self.has_typical:
            return parts
        typical = np.arange(self.n_classifiers, self.weights.n_columns)
        return *parts, table(typical, everyone, everyone)

    @cached_property
    def _tables_of_seen(self) -> tuple[CSR, ...]:
        """The rows of ``tables`` of categories with training items, in single precision."""
        return tuple(csr_array(table[self.seen], dtype=np.float32) for table in self.tables)

    def parts(self, raw: Reals) -> Reals:
        """Return the parts of the scores of categories with items, (3 or 4, n_seen, n_items)."""
        margins = np.ascontiguousarray(raw.T, dtype=np.float32)
        squashed = squash(margins)
        own, above, beside, *typical = self._tables_of_seen
        linear = [table @ margins for table in typical]
        return np.stack([own @ margins, above @ squashed, beside @ squashed, *linear])

    @cached_property
    def terms(self) -> PathTerms:
        """The terms of every score, from the top down."""
        parts = [table.tocoo() for table in self.tables]
        theta = self.blend.parts[: len(parts)]
        rows = np.concatenate([part.row for part in parts])
        columns = np.concatenate([part.col for part in parts])
        weights = np.repeat(theta, [part.nnz for part in parts])
        is_linear = np.repeat([True, False, False, True][: len(parts)], [p.nnz for p in parts])
        order = np.lexsort((columns, rows))
        ends = np.cumsum(np.bincount(rows, minlength=len(self.counts)))
        return PathTerms(
            np.concatenate([[0], ends]).astype(np.intp),
            columns[order].astype(np.int32),
            np.where(is_linear, weights, 0.0)[order],
            np.where(is_linear, 0.0, weights)[order],
            self.blend.rarity * self.rarity,
        )

    def categories(self, raw: Reals) -> Floats:
        """Return the scores of categories, (n_items, n_categories)."""
        scores = np.empty((len(raw), len(self.counts)))
        is_little = can_spare(path_scores, scores.size, MOST_SUMMED)
        (few_path_scores if is_little else path_scores)(raw, self.terms, scores)
        if not self.seen.all():
            lowest = scores.min(axis=1, where=self.seen, initial=0.0)
            scores[:, ~self.seen] = lowest[:, None] - 1
        return scores

    def probabilities(self, raw: Reals) -> Floats:
        """Return the probabilities of categories: the softmax of their scores, and some chance."""
        a, chance, seen = self.blend.sharpness, self.blend.chance, self.seen
        found: Floats = softmax(np.where(seen, a * self.categories(raw), -np.inf), axis=1)
        found *= 1 - chance
        found[:, seen] += chance / seen.sum()
        return found

    def best(self, X: CSR, k: int, n_threads: int = 1) -> tuple[Codes, Floats]:
        """Return the columns of the k best categories of each item, and their scores.

        If there are only classifiers against siblings and the taxonomy is a tree, the search from
        the top is exact, and faster than scoring all categories.
        """
        is_worth_it = self.beam is not None or (
            (self.above < 0).all() and _can_search(X.shape[0] * self.n_scores)
        )
        is_possible = self.taxonomy.is_tree and not self.has_typical
        if is_worth_it and is_possible and k <= self.seen.sum():
            found, scores, _ = self.search(X, k, n_threads)
            if (found >= 0).all():
                return found, scores
        return super().best(X, k, n_threads)

    def search(self, X: CSR, k: int, n_threads: int = 1) -> tuple[Codes, Floats, Bools]:
        """Search for the k best categories from the top.

        Returns
        -------
        columns
            The categories, best first, (n_items, k); -1 where fewer were found.
        scores
            Their scores.
        is_exact
            Whether each item's answer is certainly that of scoring all categories.
        """
        n_items, tree = X.shape[0], self.search_tree
        found, scores = np.empty((n_items, k), np.intp), np.empty((n_items, k))
        is_exact = np.empty(n_items, dtype=bool)
        beam = tree.above.size if self.beam is None else self.beam

        weights = self.weights
        most = max(1, MARGINS_SEARCHED // max(1, weights.n_columns))
        size = min(most, -(-n_items // (2 * n_threads)))
        rooms: list[Reals] = []

        def work(block: slice) -> None:
            rows, parts = sparse_rows(X[block]), (found[block], scores[block], is_exact[block])
            # New memory would be cleared by the system.
            whole = rooms.pop() if rooms else np.empty((size, weights.n_columns), np.float32)
            raw = whole[: len(parts[0])]
            known, lookup = weights.nothing_known(raw), weights.lookup_room(rows)
            room = _search_room(tree, len(parts[0]))
            arrays = weights.table, weights.index, tree
            search_paths(rows, *arrays, beam, known, room, lookup, *parts)
            rooms.append(whole)

        in_blocks(work, n_items, size, n_threads)
        return found, scores, is_exact

    @cached_property
    def search_tree(self) -> SearchTree:
        """The tree of nodes with training items."""
        taxonomy, offset = self.taxonomy, self.terms.offset
        bonus = np.full(taxonomy.n_nodes, -np.inf)
        bonus[self.category_nodes[self.seen]] = offset[self.seen]
        parents = taxonomy.parent_indices.tolist()
        for code in range(taxonomy.n_nodes - 1, 0, -1):
            parent = parents[code - 1]
            bonus[parent] = max(bonus[parent], bonus[code])
        category = np.full(taxonomy.n_nodes, -1, np.intp)
        category[self.category_nodes] = np.arange(len(self.category_nodes))
        children = taxonomy.child_indices
        kept = np.isfinite(bonus[children])
        ends = np.concatenate([[0], np.cumsum(kept)])[taxonomy.child_indptr]
        depths = taxonomy.depths.astype(np.intp)
        has_own = len(self.tables[0].indices) > 0
        return SearchTree(
            ends.astype(np.intp),
            children[kept].astype(np.intp),
            self.above,
            self.beside,
            category,
            bonus,
            depths,
            self.blend.own if has_own else 0.0,
            self.blend.above,
            self.blend.beside,
        )

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
        terms, n_columns = self.terms, self.weights.n_columns
        here = slice(*terms.indptr[category : category + 2])
        linear, squashed = np.zeros(n_columns), np.zeros(n_columns)
        np.add.at(linear, terms.columns[here], terms.linear[here])
        np.add.at(squashed, terms.columns[here], terms.squashed[here])
        return linear, squashed, float(terms.offset[category])


def squash(margins: Reals) -> Reals:
    """Return -max(0, 1 - s)²: 0 for margins of at least 1, and -1 for a margin of 0."""
    found = 1 - margins
    np.maximum(found, 0, out=found)
    np.square(found, out=found)
    return np.negative(found, out=found)


def _can_search(n_scores: int) -> bool:
    """Return whether to search instead of computing so many scores, given what is compiled."""
    if can_spare(search_paths, n_scores, MOST_SPARED):
        return False
    # This imports numba.
    return is_compiled(search_paths) or not can_spare(search_paths, n_scores, MOST_SCORED)


def _search_room(tree: SearchTree, n_items: int) -> SearchRoom:
    """Return room for the search of items."""
    n_nodes, n_entries = len(tree.category), ENTRIES * n_items
    return SearchRoom(
        np.empty(n_nodes),
        np.empty(n_nodes),
        np.empty(n_nodes, np.intp),
        np.empty(int(tree.depth.max()) + 1, np.intp),
        np.arange(n_items),
        np.zeros(2, np.intp),
        np.empty(n_entries, np.intp),
        np.full(n_nodes, -1),
        np.empty(n_entries, np.intp),
        np.empty(n_entries, np.intp),
    )

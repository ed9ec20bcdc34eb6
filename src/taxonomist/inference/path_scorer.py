"""``PathScorer``: categories scored by the classifiers of the nodes along their paths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import softmax

from taxonomist.compiled.arrays import Labels
from taxonomist.compiled.jit import can_spare, is_compiled
from taxonomist.compiled.path_scores import (
    PathTerms,
    few_path_scores,
    path_scores,
    score_room,
)
from taxonomist.compiled.path_search import SearchRoom, SearchTree, search_paths
from taxonomist.inference.block_scorer import BlockScorer
from taxonomist.inference.block_weights import sparse_rows
from taxonomist.inference.linear_scorer import in_blocks
from taxonomist.inference.path_margins import FamilyOrder, log_shares, squash

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
MARGINS_SEARCHED = 2**20
"""Margins of the items that a thread searches for together at most: 4 MiB, mostly not computed."""
ENTRIES = 64
"""Nodes for whose margins an item waits at most, on average, in a search."""


class Blend(NamedTuple):
    """The weights θ of the parts of a score.

    Attributes
    ----------
    own
        Weight of the category's own margin against all other items.
    above
        Weight of the squashed margins against all other items, summed along the path.
    beside
        Weight of the squashed margins against siblings, summed along the path. It is 0 but in
        models of earlier versions.
    rarity
        What a category gains for being rare: τ times minus the logarithm of its items' number.
    sharpness, chance
        a and ε of probabilities: those of the softmax of a times the scores have the weight 1 - ε,
        and all categories with training items share ε. Predictions do not depend on them.
    typical
        Weight of the category's typical features, if there are any.
    among
        Weight of the log-probabilities among siblings, summed along the path.
    """

    own: float = 1.0
    above: float = 1.0
    beside: float = 0.0
    rarity: float = 0.0
    sharpness: float = 1.0
    chance: float = 0.0
    typical: float = 0.0
    among: float = 0.0

    @property
    def parts(self) -> Floats:
        """The weights of the parts without that of rarity, (4,)."""
        return np.array([self.own, self.above, self.among, self.typical])


FIRST_BLEND = Blend(among=1.0)
"""The weights before they are fitted."""


@dataclass(frozen=True, eq=False)
class PathScorer(BlockScorer):
    """Scores of categories for one category per item.

    f(x, c) = θ_1 s_c(x) + θ_2 Σ_z q(s_z(x)) + θ_3 Σ_z r_z(x) + θ_4 g_c(x) - τ log n_c,

    q(s) = -max(0, 1 - s)²,   r_z(x) = β t_z(x) - min_p log Σ_z' exp(β t_z'(x)),

    where z runs over the nodes from the top to c, s_z is the margin of node z against all other
    items, t_z its margin against siblings, p runs over the parents of z and z' over the children of
    p, β = ``SHARPNESS``, g_c is the score of typical features, if there is one, and n_c the number
    of training items of c. q and r keep a sure node from paying for a doubtful one. The last term
    makes up for the low margins of rare categories.

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
    blend: Blend = FIRST_BLEND
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

    @cached_property
    def families(self) -> Labels:
        """The parents of the node of each column that is a classifier against siblings."""
        nodes = np.full(self.weights.n_columns, -1, np.intp)
        has = np.flatnonzero(self.beside >= 0)
        nodes[self.beside[has]] = has
        ends, parents = self.taxonomy.parent_indptr, self.taxonomy.parent_indices
        sizes = np.where(nodes >= 0, np.diff(ends)[nodes], 0)
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        inside = np.arange(indptr[-1]) - np.repeat(indptr[:-1], sizes)
        found = parents[np.repeat(ends[nodes], sizes) + inside]
        return Labels(indptr, np.unique(found, return_inverse=True)[1].astype(np.intp))

    @cached_property
    def _members(self) -> FamilyOrder:
        return FamilyOrder.of(self.families)

    def parts(self, raw: Reals) -> Reals:
        """Return the parts of the scores of categories with items, (3 or 4, n_seen, n_items)."""
        margins = np.ascontiguousarray(raw.T, dtype=np.float32)
        tables = self._tables_of_seen
        found = np.zeros((len(tables), int(self.seen.sum()), len(raw)), np.float32)
        for number, (part, table) in enumerate(zip(found, tables, strict=True)):
            if table.nnz and number == 1:
                part[:] = table @ squash(margins)
            elif table.nnz and number == 2:
                part[:] = table @ log_shares(margins, self._members)
            elif table.nnz:
                part[:] = table @ margins
        return found

    @cached_property
    def terms(self) -> PathTerms:
        """The terms of every score, from the top down."""
        parts = [table.tocoo() for table in self.tables]
        blend, sizes = self.blend, [part.nnz for part in parts]
        rows = np.concatenate([part.row for part in parts])
        columns = np.concatenate([part.col for part in parts])
        order = np.lexsort((columns, rows))
        ends = np.cumsum(np.bincount(rows, minlength=len(self.counts)))

        def weights(*of_parts: float) -> Floats:
            return np.repeat(np.array(of_parts[: len(parts)]), sizes)[order]

        return PathTerms(
            np.concatenate([[0], ends]).astype(np.intp),
            columns[order].astype(np.int32),
            weights(blend.own, 0.0, 0.0, blend.typical),
            weights(0.0, blend.above, blend.beside, 0.0),
            weights(0.0, 0.0, blend.among, 0.0),
            blend.rarity * self.rarity,
            self.families,
            int(self.families.indices.max(initial=-1)) + 1,
        )

    def categories(self, raw: Reals) -> Floats:
        """Return the scores of categories, (n_items, n_categories)."""
        scores = np.empty((len(raw), len(self.counts)))
        if can_spare(path_scores, scores.size, MOST_SUMMED):
            few_path_scores(raw, self.terms, scores)
        else:
            path_scores(raw, self.terms, score_room(self.terms), scores)
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
            self.blend.among,
        )

    def explain(self, row: CSR, category: int, against: int | None, n: int) -> list[ScorePart]:
        """Return the contribution of each node to a score; see ``Explains``.

        A word's share of a squashed margin is its share of the margin times the mean slope of q
        between 0 and the margin, so that all shares sum to the score. The same holds for the
        log-probability among siblings, whose margins stay as they are.
        """
        weights, bonus = self._weights_of(category)
        if against is not None:
            others = self._weights_of(against)
            weights, bonus = weights - others[0], bonus - others[1]
        margins = self.raw(row)[0].astype(np.float64)
        used = np.flatnonzero(weights.any(axis=0))
        linear, curved = weights[0, used], weights[1:, used]
        own, bent = margins[used], squash(margins)[used]
        at = np.stack([bent, log_shares(margins[:, None], self._members)[used, 0]])
        at_0 = self._bent_at_0(margins, used)
        mean_slopes = np.divide(at - at_0, own, out=np.zeros_like(at), where=own != 0)
        values = linear * own + (curved * at).sum(axis=0)
        slopes = linear + (curved * mean_slopes).sum(axis=0)
        # What a category gains for being rare counts for the last node.
        values[-1:] += bonus
        return self.node_parts(row, list(zip(used.tolist(), values, slopes, strict=True)), n)

    def _bent_at_0(self, margins: Floats, columns: Codes) -> Floats:
        """Return q and r of some columns if their own margin were 0, (2, n_columns)."""
        found = np.full((2, len(columns)), -1.0)
        for k, column in enumerate(columns.tolist()):
            moved = np.where(np.arange(len(margins)) == column, 0.0, margins)
            found[1, k] = log_shares(moved[:, None], self._members)[column, 0]
        return found

    def _weights_of(self, category: int) -> tuple[Floats, float]:
        """Return the weights of a score, and its constant.

        The weights are those of margins, squashed margins, and log-probabilities among siblings,
        (3, n_columns).
        """
        terms = self.terms
        here = slice(*terms.indptr[category : category + 2])
        weights = np.zeros((3, self.weights.n_columns))
        for part, of_terms in zip(weights, terms[2:5], strict=True):
            np.add.at(part, terms.columns[here], of_terms[here])
        return weights, float(terms.offset[category])


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

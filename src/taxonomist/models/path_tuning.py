"""Tuning of ``PathSVC`` on held-out margins: blends, node probabilities, decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.special import logit

from taxonomist.inference.blend import blended, fit_blend, fit_trust
from taxonomist.inference.f1_thresholds import ScoredPairs, f1_thresholds
from taxonomist.inference.label_sets import choose
from taxonomist.inference.linear_scorer import in_blocks
from taxonomist.inference.node_model import NodeMargins, NodeModel, best_threshold
from taxonomist.inference.path_scorer import Blend

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taxonomist._typing import CSR, Codes, Floats, Reals
    from taxonomist.inference.label_sets import Limits
    from taxonomist.inference.node_scorer import NodeScorer
    from taxonomist.inference.path_scorer import PathScorer
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.learning import Folds, Training
    from taxonomist.models.targets import Targets

MOST_ITEMS = 4096
"""Held-out items that are used at most: there are a few parameters to fit."""
LEAST_ITEMS = 1024
"""Held-out items that are used at least, if there are as many."""
SCORES_TOGETHER = 2**17
"""Scores of held-out items that are held together at most: half a MiB for each of a few copies."""
MOST_SCORES = 2**21
"""Scores of held-out items that are computed at most, unless these are few items."""
CANDIDATES = 128
"""Categories of a held-out item whose scores are kept."""
RARITIES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
"""Weights of rarity to choose from."""
LEAST_PROBABILITY = 0.01
"""Lowest threshold of a probability."""
DECISIONS = ("hierarchical_f1", "micro_f1", "macro_f1", "subset", "loss")
"""Measures that the decision on label sets can be made for."""


def most_items(n_scores: int) -> int:
    """Return how many held-out items are used if each has so many scores."""
    return int(np.clip(MOST_SCORES // max(1, n_scores), LEAST_ITEMS, MOST_ITEMS))


def first_folds(folds: Folds, n_scores: int) -> Folds:
    """Return the first folds that hold enough items out, and at most as many as are used.

    Parameters
    ----------
    folds
        Pairs of training and test items.
    n_scores
        The number of categories or nodes.
    """
    used: Folds = []
    n_items, most = 0, most_items(n_scores)
    for train, test in folds:
        if n_items < most // 2:
            kept = np.random.default_rng(0).permutation(test)[: most - n_items]
            used.append((train, np.sort(kept)))
            n_items += len(kept)
    return used


class HeldOutMargins:
    """Keeps the margins of some held-out items.

    Parameters
    ----------
    training
        All items.
    held_out
        The items that will be held out.
    n_scores
        The number of categories or nodes.
    """

    needs_scores = True

    def __init__(self, training: Training, held_out: Codes, n_scores: int) -> None:
        self._training = training
        self._kept = np.zeros(len(training.weights), dtype=bool)
        self._kept[np.random.default_rng(0).permutation(held_out)[: most_items(n_scores)]] = True
        self._items: list[Codes] = []

    @property
    def items(self) -> Codes:
        """The items that were kept, in the order in which they came."""
        return np.concatenate([np.arange(0), *self._items])


class BlendTuning(HeldOutMargins):
    """Fits the weights of a score to held-out items.

    The weights of the parts maximise the likelihood. Margins of rare categories are too low,
    in a way that the likelihood does not show: what makes up for that is chosen by the hierarchical
    F1 of the best categories, and then the weights are fitted again. Last come the two numbers that
    only probabilities depend on.
    """

    def __init__(self, training: Training, held_out: Codes, scorer: PathScorer) -> None:
        super().__init__(training, held_out, len(training.targets.categories))
        self._scorer = scorer
        self._candidates: list[Candidates] = []

    def take(self, items: Codes, scored: Scored) -> None:
        """Take a block of held-out items; see ``HeldOutTaker``."""
        scorer = cast("PathScorer", scored.scorer)
        columns = self._training.targets.labels[items].indices
        used = np.flatnonzero(self._kept[items] & scorer.seen[columns])
        place, seen = np.cumsum(scorer.seen) - 1, np.flatnonzero(scorer.seen)
        blocks: dict[int, Candidates] = {}

        def work(block: slice) -> None:
            some = used[block]
            parts = scorer.parts(scored.raw[some]).transpose(0, 2, 1)
            found = Candidates.chosen(parts, place[columns[some]], CANDIDATES)
            blocks[block.start] = found._replace(columns=seen[found.columns])

        n_threads, n_raw = scored.n_threads, scored.raw.shape[1]
        most = max(1, SCORES_TOGETHER // max(1, n_raw))
        in_blocks(work, len(used), min(most, -(-len(used) // n_threads)), n_threads)
        self._candidates += [blocks[start] for start in sorted(blocks)]
        self._items.append(items[used])

    def finish(self) -> dict[str, object]:
        """Return the scorer with the fitted weights, as fitted attributes."""
        items, scorer, blend = self.items, self._scorer, self._scorer.blend
        if len(items):
            found, weights = Candidates.join(self._candidates), self._training.weights[items]
            rarity, guess = scorer.rarity[found.columns], blend.parts[: len(found.parts)]
            theta = fit_blend(found.parts, found.true, weights, guess, found.log_counts)
            tau = self._best_rarity(found, blended(found.parts, theta), rarity, weights)
            if tau:
                offset = found.log_counts + tau * rarity
                theta = fit_blend(found.parts, found.true, weights, guess, offset)
            scores = blended(found.parts, theta) + tau * rarity
            n_seen = int(scorer.seen.sum())
            trust = fit_trust(scores, found.true, weights, found.log_counts, n_seen)
            own, above, among, *rest = theta.tolist()
            typical = sum(rest)
            blend = Blend(own, above, 0.0, tau, *trust, typical, among)
            if not typical:
                scorer = scorer.without_typical()
        return {"scorer_": replace(scorer, blend=blend), "blend_": blend._asdict()}

    def _best_rarity(
        self, found: Candidates, scores: Floats, rarity: Floats, weights: Floats
    ) -> float:
        """Return the weight of rarity whose best categories have the best hierarchical F1."""
        targets, everyone = self._training.targets, np.arange(len(scores))
        closed = targets.close(eye_array(len(targets.categories), dtype=bool, format="csr"))[:, 1:]
        sizes, true = np.diff(closed.indptr), found.columns[everyone, found.true]
        measured = []
        for tau in RARITIES:
            best = found.columns[everyone, (scores + tau * rarity).argmax(axis=1)]
            both = np.diff((closed[best] * closed[true]).indptr)
            measured.append(2 * both @ weights / ((sizes[best] + sizes[true]) @ weights))
        return RARITIES[int(np.argmax(measured))]


class Candidates(NamedTuple):
    """Some categories of each item, which stand for all of them.

    Attributes
    ----------
    columns
        The categories, (n_items, n_candidates).
    true
        The place of the item's own category among them, (n_items,).
    parts
        The parts of their scores, (3 or 4, n_items, n_candidates).
    log_counts
        The logarithm of the number of categories that each stands for, (n_items, n_candidates);
        -inf for a category that is there twice.
    """

    columns: Codes
    true: Codes
    parts: Floats
    log_counts: Floats

    @classmethod
    def chosen(cls, parts: Reals, true: Codes, n: int) -> Candidates:
        """Return the item's own category, the best by the sum of parts, and a sample of all.

        Half of the n candidates are a sample. Without it, few competitors would be left of those
        that the likelihood has to tell from the item's category.
        """
        _, n_items, n_categories = parts.shape
        if n >= n_categories:
            columns = np.tile(np.arange(n_categories), (n_items, 1))
            return cls(columns, true, parts.astype(np.float64), np.zeros(columns.shape))
        sums, half = parts[:3].sum(axis=0, dtype=np.float32), n // 2
        sums[np.arange(n_items), true] = np.inf
        best = np.argpartition(-sums, half, axis=1)[:, :half]
        some = np.random.default_rng(0).choice(n_categories, n - half, replace=False)
        columns = np.hstack([best, np.tile(some, (n_items, 1))])
        is_best = np.zeros((n_items, n_categories), dtype=bool)
        np.put_along_axis(is_best, best, values=True, axis=1)
        log_counts = np.full(columns.shape, np.log(n_categories / (n - half)))
        log_counts[:, :half] = 0.0
        log_counts[:, half:][is_best[:, some]] = -np.inf
        place = (best == true[:, None]).argmax(axis=1)
        of_chosen = np.take_along_axis(parts, columns[None], axis=2).astype(np.float64)
        return cls(columns, place, of_chosen, log_counts)

    def widened(self, n: int) -> Candidates:
        """Return n candidates, of which the last ones stand for no category."""
        more = (0, 0), (0, n - self.columns.shape[1])
        if more[1] == (0, 0):
            return self
        return Candidates(
            np.pad(self.columns, more),
            self.true,
            np.pad(self.parts, ((0, 0), *more), constant_values=-np.inf),
            np.pad(self.log_counts, more, constant_values=-np.inf),
        )

    @classmethod
    def join(cls, blocks: list[Candidates]) -> Candidates:
        """Return the candidates of all items, and empty the list, so that no second copy stays."""
        # Folds with fewer categories have fewer candidates.
        most = max(block.columns.shape[1] for block in blocks)
        fields = [list(arrays) for arrays in zip(*(b.widened(most) for b in blocks), strict=True)]
        blocks.clear()
        return cls(*map(_emptied, fields))


def _emptied(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays one after another along the axis of items, and empty the list."""
    whole = np.concatenate(arrays, axis=1 if arrays[0].ndim == 3 else 0)
    arrays.clear()
    return whole


class NodeTuning(HeldOutMargins):
    """Fits node probabilities, and thresholds for a measure, to held-out items."""

    def __init__(
        self, training: Training, held_out: Codes, scorer: NodeScorer, decision: str
    ) -> None:
        super().__init__(training, held_out, 4 * len(scorer.above))
        self._scorer = scorer
        self._decision = decision
        self._margins: list[NodeMargins] = []

    def take(self, items: Codes, scored: Scored) -> None:
        """Take a block of held-out items; see ``HeldOutTaker``."""
        scorer = cast("NodeScorer", scored.scorer)
        used = self._kept[items]
        self._margins.append(scorer.margins(scored.raw[used]))
        self._items.append(items[used])

    def finish(self) -> dict[str, object]:
        """Return the scorer with the fitted model, and thresholds, as fitted attributes."""
        items, targets = self.items, self._training.targets
        margins = NodeMargins._make(np.hstack(part) for part in zip(*self._margins, strict=True))
        truth = targets.close(targets.labels[items])
        weights = self._training.weights[items]
        old = self._scorer.model
        model = NodeModel.fit(old.taxonomy, old.frequencies, margins, truth, weights)
        chances = model.probabilities(margins)
        thresholds = node_thresholds(self._decision, chances, truth, weights, targets.nodes)
        return {"scorer_": replace(self._scorer, model=model), "thresholds_": thresholds}


def node_thresholds(
    decision: str, chances: Floats, truth: CSR, weights: Floats, categories: Codes
) -> Floats:
    """Return the threshold of each node that is best for a measure on held-out items.

    Parameters
    ----------
    decision
        One of ``DECISIONS``.
    chances
        Probabilities, (n_nodes, n_items).
    truth
        The nodes of each item, (n_items, n_nodes).
    weights
        The weights of the items.
    categories
        The node of each category.
    """
    n_nodes = len(chances)
    if decision in ("subset", "loss"):
        return np.full(n_nodes, 0.5)
    nodes = np.arange(1, n_nodes) if decision == "hierarchical_f1" else categories
    part, is_in = chances[nodes], truth[:, nodes].toarray().T
    n_true = is_in @ weights
    where, who = np.nonzero(part > LEAST_PROBABILITY)
    pairs = ScoredPairs(where, part[where, who], is_in[where, who], weights[who])
    if decision == "macro_f1":
        found = np.full(n_nodes, 1.0)
        found[nodes] = f1_thresholds(pairs, n_true, LEAST_PROBABILITY)
        return found
    best = best_threshold(pairs.scores, pairs.truth, pairs.weights, float(n_true.sum()))
    return np.full(n_nodes, best)


@dataclass(frozen=True, eq=False)
class NodeDecision:
    """Chooses the nodes whose probability exceeds a threshold, within limits.

    Attributes
    ----------
    thresholds
        The threshold of each node.
    limits
        The least and the largest number of categories of an item.
    targets
        The categories.
    """

    thresholds: Floats
    limits: Limits
    targets: Targets

    def sets(self, scored: Scored) -> CSR:
        """Return the label set of each item as a boolean matrix of nodes; see ``Decision``.

        Nodes that are no category are chosen as well, unless the item has too many categories.
        """
        scorer = cast("NodeScorer", scored.scorer)
        above = scorer.node_odds(scored.raw) - logit(self.thresholds)
        chosen, excess = above > 0, np.ascontiguousarray(above[:, self.targets.nodes])
        categories = choose(excess, *self.limits)
        chosen[:, 0] |= chosen[:, 1:].any(axis=1) | (np.diff(categories.indptr) > 0)
        chosen[(excess > 0).sum(axis=1) > self.limits[1]] = False
        closed = csr_array(chosen) + self.targets.close(categories)
        if (self.thresholds < 1).all() and len(np.unique(self.thresholds)) == 1:
            return closed
        return csr_array(closed @ self.targets.categories.taxonomy.ancestor_matrix())

    def scores(self, scored: Scored) -> Floats:
        """Return the scores of categories."""
        return scored.categories

    def best(self, scored: Scored, k: int) -> tuple[Codes, Floats]:
        """Return the best categories; see ``Decision``."""
        return scored.best(k)

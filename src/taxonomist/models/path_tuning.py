"""Tuning of ``PathSVC`` on held-out margins: blends, node probabilities, decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from scipy.sparse import eye_array

from taxonomist.inference.blend import blended, fit_blend, fit_trust
from taxonomist.inference.linear_scorer import in_blocks
from taxonomist.inference.node_model import NodeMargins, NodeModel
from taxonomist.inference.path_scorer import Blend
from taxonomist.models.path_decisions import HeldOutSets, node_thresholds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taxonomist._typing import Codes, Floats, Reals
    from taxonomist.inference.label_sets import Limits
    from taxonomist.inference.node_scorer import NodeScorer
    from taxonomist.inference.path_scorer import PathScorer
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.learning import Folds, Training

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
    in a way that the likelihood does not show: what makes up for that is chosen by a measure of the
    best categories, and then the weights are fitted again. Last come the two numbers that only
    probabilities depend on.

    Parameters
    ----------
    training, held_out
        All items, and those that will be held out.
    scorer
        The scorer of all items.
    decision
        ``"subset"`` for accuracy, ``"macro_f1"``, or another of ``DECISIONS`` for hierarchical F1.
    """

    def __init__(
        self, training: Training, held_out: Codes, scorer: PathScorer, decision: str
    ) -> None:
        super().__init__(training, held_out, len(training.targets.categories))
        self._scorer = scorer
        self._decision = decision
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
        """Return the weight of rarity whose best categories are best by the measure."""
        everyone = np.arange(len(scores))
        true, measured = found.columns[everyone, found.true], list[float]()
        for tau in RARITIES:
            best = found.columns[everyone, (scores + tau * rarity).argmax(axis=1)]
            measured.append(self._measured(true, best, weights))
        return RARITIES[int(np.argmax(measured))]

    def _measured(self, true: Codes, best: Codes, weights: Floats) -> float:
        """Return the measure of the best categories; higher is better."""
        targets, right = self._training.targets, weights * (true == best)
        if self._decision == "subset":
            return float(right.sum())
        n = len(targets.categories)
        if self._decision == "macro_f1":
            both, *sizes = (
                np.bincount(who, what, n)
                for who, what in ((true, right), (true, weights), (best, weights))
            )
            return float((2 * both / np.maximum(sum(sizes), 1e-9)).sum())
        closed = targets.close(eye_array(n, dtype=bool, format="csr"))[:, 1:]
        depths = np.diff(closed.indptr)
        both = np.diff((closed[best] * closed[true]).indptr)
        return float(2 * both @ weights / ((depths[best] + depths[true]) @ weights))


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
        return cls._make(map(_emptied, fields))


def _emptied(arrays: list[NDArray[np.generic]]) -> NDArray[np.generic]:
    """Return arrays one after another along the axis of items, and empty the list."""
    whole = np.concatenate(arrays, axis=1 if arrays[0].ndim == 3 else 0)
    arrays.clear()
    return whole


class NodeTuning(HeldOutMargins):
    """Fits node probabilities, and thresholds for a measure, to held-out items."""

    def __init__(
        self,
        training: Training,
        held_out: Codes,
        scorer: NodeScorer,
        decision: str,
        limits: Limits,
    ) -> None:
        super().__init__(training, held_out, 4 * len(scorer.above))
        self._scorer = scorer
        self._decision = decision
        self._limits = limits
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
        truth = HeldOutSets(targets.close(targets.labels[items]), self._training.weights[items])
        old = self._scorer.model
        model = NodeModel.fit(old.taxonomy, old.frequencies, margins, *truth)
        odds = model.coherent_odds(margins)
        thresholds = node_thresholds(self._decision, odds, truth, self._limits, targets)
        return {"scorer_": replace(self._scorer, model=model), "thresholds_": thresholds}

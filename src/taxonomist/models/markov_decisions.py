"""Scorer, decision and tuning of a Markov tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.utils import gen_batches

from taxonomist.compiled.graph_arrays import LabelledDag
from taxonomist.compiled.labelling_search import best_by_codes
from taxonomist.compiled.markov_arrays import markov_scratch
from taxonomist.inference.dag_labellings import DagLabellings
from taxonomist.inference.labellings import Labellings, fit_softmax
from taxonomist.inference.linear_scorer import LinearScorer
from taxonomist.inference.node_odds import NodeOdds
from taxonomist.inference.scorers import SCORES_AT_A_TIME, best_columns
from taxonomist.solvers.markov_graph import best_by_graph

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats, Matrix, Reals
    from taxonomist.compiled.markov_arrays import Tree
    from taxonomist.inference.scorers import Cut, Scored
    from taxonomist.models.learning import Training

MAX_HELD_OUT_GAINS = 2**25
"""Maximum number of held-out gains that decisions are fitted to, 256 MiB.

Larger problems use a random sample of items."""


@dataclass(frozen=True, eq=False)
class GainScorer(LinearScorer):
    """Gains of nodes: what each node adds to the score of a labelling. These are the raw scores.

    Attributes
    ----------
    edge_weights
        Weights of the labellings of edges, or of nodes with ``features="path"``.
    tree
        The tree, or the DAG, without losses.
    nodes
        The node of each category.
    is_single
        Whether items have one category each. If so, the score of a category is the sum along its
        path. Otherwise, it is the best score of labellings with the category minus the best score
        without it.
    """

    edge_weights: Reals
    tree: Tree | LabelledDag
    nodes: Codes
    is_single: bool

    @property
    def block_size(self) -> int:
        """The number of items to score per block if not all scores are kept."""
        return max(1, SCORES_AT_A_TIME // int(self.W.shape[1]))

    def categories(self, raw: Reals) -> Floats:
        """Return the scores of categories; see ``is_single``."""
        if self.is_single:
            return super().categories(raw)
        found: Floats = self.labellings(0).max_marginals(raw)[:, self.nodes]
        return found

    def labellings(self, least: int) -> Labellings | DagLabellings:
        """Return the labellings with at least ``least`` labels."""
        is_category = np.zeros(self.W.shape[1], dtype=bool)
        is_category[self.nodes] = True
        if isinstance(self.tree, LabelledDag):
            return DagLabellings(self.tree.indptr, self.tree.indices, is_category, least)
        return Labellings(self.tree.parent, is_category, least)

    def unrestricted(self, X: Matrix) -> CSR:
        """Return the best labellings, consistent or not, (n_items, n_nodes) boolean."""
        by_edges = replace(self, W=self.edge_weights)
        found = []
        for block in gen_batches(X.shape[0], self.block_size):
            scores = by_edges.raw(X[block])
            out = np.zeros((len(scores), self.W.shape[1]), dtype=bool)
            if isinstance(self.tree, LabelledDag):
                best_by_graph(self.tree, scores, out)
            else:
                scratch = markov_scratch(self.tree, scores.shape[1], self.edge_weights.dtype)
                best_by_codes(self.tree, scores, scratch, out)
            found.append(csr_array(out))
        return csr_array(vstack(found, format="csr"))

    def pruned(self, cut: Cut) -> GainScorer:
        """Return a scorer with the weights that ``cut`` returns; see ``Scorer``."""
        return replace(super().pruned(cut), edge_weights=cut(self.edge_weights))  # type: ignore[return-value, call-arg]


@dataclass(frozen=True, eq=False)
class LabellingDecision:
    """Predicts the labelling with the best gains, or the most probable labelling.

    Attributes
    ----------
    labellings
        The labellings to choose from.
    odds
        Converts gains to log-odds for the most probable labelling. None uses the gains themselves.
    nodes
        The node of each category.
    """

    labellings: Labellings | DagLabellings
    odds: NodeOdds | None
    nodes: Codes

    def sets(self, scored: Scored) -> CSR:
        """Return the label set of each item as a boolean matrix of nodes; see ``Decision``."""
        return csr_array(self.labellings.best(self._decided(scored)))

    def scores(self, scored: Scored) -> Floats:
        """Return the best score of label sets with a category minus the best without it.

        ``min_labels`` is not applied. Scores are positive exactly for the categories of the
        predicted set, ancestors included.
        """
        found: Floats = self.labellings.max_marginals(self._decided(scored))[:, self.nodes]
        return found

    def best(self, scored: Scored, k: int) -> tuple[Codes, Floats]:
        """Return the best categories by ``scores``."""
        found = [best_columns(self.scores(block), k) for block in scored.blocks()]
        return np.vstack([best for best, _ in found]), np.vstack([scores for _, scores in found])

    def _decided(self, scored: Scored) -> Any:
        if self.odds is None:
            return scored.raw
        return self.odds.gains(self.labellings, scored.raw)


class MarkovTuning:
    """Fits the odds of nodes and the temperature to the gains of held-out items.

    Parameters
    ----------
    training
        All items.
    held_out
        The items that will be held out, in ascending order.
    labellings
        The labellings to choose from.
    decision
        ``"argmax"``, ``"level"`` or ``"node"``.
    """

    needs_scores = True

    def __init__(
        self,
        training: Training,
        held_out: Codes,
        labellings: Labellings | DagLabellings,
        decision: str,
    ) -> None:
        n_nodes = labellings.n_nodes
        n_kept = min(len(held_out), max(1, MAX_HELD_OUT_GAINS // n_nodes))
        chosen = np.random.default_rng(0).choice(len(held_out), n_kept, replace=False)
        self._kept = held_out[np.sort(chosen)]
        self._gains = np.zeros((n_kept, n_nodes))
        self._targets = training.targets.select(self._kept)
        self._weights = training.weights[self._kept]
        self._labellings = labellings
        self._decision = decision
        self._scorer: Any = None

    def take(self, items: Codes, scored: Scored) -> None:
        """Keep the gains of a block; see ``HeldOutTaker``."""
        inside = np.isin(items, self._kept, assume_unique=True)
        self._gains[np.searchsorted(self._kept, items[inside])] = scored.raw[inside]
        self._scorer = scored.scorer

    def finish(self) -> dict[str, object]:
        """Return the fitted attributes."""
        gains, targets, weights = self._gains, self._targets, self._weights
        if targets.is_single:
            scores = gains @ self._scorer.attributes.T
            return {"temperature_": fit_softmax(scores, targets.labels.indices, weights)}
        truth = targets.close(targets.labels).toarray()
        facts: dict[str, object] = {
            "temperature_": self._labellings.fit_temperature(gains, truth, weights)
        }
        if self._decision != "argmax":
            facts["node_odds_"] = NodeOdds.fit(
                self._labellings, gains, truth, weights, self._decision
            )
        return facts

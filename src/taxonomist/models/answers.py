"""``Answers``: all predictions for a block of items, which are scored once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from taxonomist.errors import ParameterError
from taxonomist.inference.scorers import top_entries
from taxonomist.models.explanation import Explanation, NodePart
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Codes, Floats, Objects
    from taxonomist.inference.scorers import Explains, Scored
    from taxonomist.models.base import TaxonomyClassifier


class Answers:
    """All predictions for a block of items, from one set of scores.

    Parameters
    ----------
    model
        The fitted model.
    scored
        The items.

    Notes
    -----
    This is the result of the ``answer`` method of models. The methods return the same as the
    ``predict...`` methods of the model, but items are scored only once for all of them.
    """

    def __init__(self, model: TaxonomyClassifier, scored: Scored) -> None:
        self._model = model
        self._scored = scored
        self._targets = model.targets_

    @property
    def n_items(self) -> int:
        """The number of items."""
        return int(self._scored.X.shape[0])

    @cached_property
    def best(self) -> Codes:
        """The column of the best category of each item."""
        if self.n_items <= self._scored.scorer.block_size:
            _ = self._scored.raw
        return self._scored.best(1)[0][:, 0]

    @cached_property
    def sets(self) -> CSR:
        """Label sets over the nodes of ``taxonomy_``, (n_items, n_nodes) boolean."""
        decision = self._model.decider
        return stacked([decision.sets(block) for block in self._scored.blocks()])

    def predict(self) -> Any:
        """Return the label of each item, or an indicator matrix; see the model's ``predict``."""
        if self._targets.is_single:
            return self._targets.classes[self.best]
        return self.in_columns(self.sets)

    def in_columns(self, sets: CSR) -> Any:
        """Return sets of nodes as an indicator matrix with the columns of ``y``."""
        targets = self._targets
        columns = targets.nodes if targets.columns is None else targets.columns
        chosen = sets[:, columns].astype(np.int64)
        return chosen.toarray() if targets.is_dense else chosen

    def labels(self) -> list[list[Any]]:
        """Return the labels of each item, from general to specific."""
        targets = self._targets
        if targets.is_single:
            return [[label] for label in self.predict().tolist()]
        if targets.is_flat:
            leaves = self.sets[:, targets.nodes].tocsr()
            leaves.sort_indices()
            return [targets.classes[leaves[[i]].indices].tolist() for i in range(leaves.shape[0])]
        first = int(targets.categories.taxonomy.has_artificial_root)
        names = targets.node_names
        return [[names[code] for code in codes if code >= first] for codes in rows_of(self.sets)]

    def paths(self) -> list[Any]:
        """Return the path to the category of each item; for label sets, lists of paths."""
        targets = self._targets
        taxonomy = targets.categories.taxonomy
        if targets.is_single:
            nodes = targets.nodes[self.best]
            return [path for (path,) in targets.paths_to(nodes[:, None].tolist())]
        return targets.paths_to(rows_of(labels.most_specific(taxonomy, self.sets)))

    def scores(self) -> Floats:
        """Return the score of every category; see ``decision_function``."""
        if not self._targets.is_single:
            decision = self._model.decider
            return np.vstack([decision.scores(block) for block in self._scored.blocks()])
        found = self.category_scores()
        return found[:, 1] - found[:, 0] if found.shape[1] == 2 else found

    def category_scores(self) -> Floats:
        """Return the scores of categories before any decision, (n_items, n_classes)."""
        return np.vstack([block.categories for block in self._scored.blocks()])

    def topk(self, k: int = 5) -> tuple[Objects, Floats]:
        """Return the k best categories of each item, and their scores."""
        check_k(k, len(self._targets.classes))
        if self._targets.is_single:
            columns, scores = self._scored.best(k)
        else:
            columns, scores = self._model.decider.best(self._scored, k)
        return self._targets.classes[columns], scores

    def proba(self) -> Floats:
        """Return the probability of every category; see ``predict_proba``."""
        probabilities = self._model.probabilities
        return np.vstack([probabilities(block) for block in self._scored.blocks()])

    def top_proba(self, k: int) -> CSR:
        """Return the probabilities of the k most probable categories; see ``predict_proba``."""
        check_k(k, len(self._targets.classes))
        probabilities = self._model.probabilities
        return stacked([top_entries(probabilities(block), k) for block in self._scored.blocks()])

    def explain(
        self,
        item: int = 0,
        n: int = 10,
        *,
        category: object = None,
        against: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> Explanation:
        """Explain a score of one item; see ``explain`` of the model.

        Parameters
        ----------
        item
            The position of the item in the block.
        n, category, against, feature_names
            As in ``explain`` of the model.
        """
        targets, row = self._targets, self._scored.X[item : item + 1]
        c = int(self.best[item]) if category is None else targets.column(category)
        other = None if against is None else targets.column(against)
        scorer = cast("Explains", self._scored.scorer)
        title = self._model.feature_titles(feature_names)
        nodes = targets.categories.taxonomy.nodes
        names = dict(zip(nodes, targets.node_names, strict=True))
        parts = []
        for part in scorer.explain(row, c, other, n):
            node, name = self._model.source_title(part.source)
            words = tuple((title(feature), share) for feature, share in part.features)
            parts.append(NodePart(names.get(node, node), name, part.value, words, part.rest))
        score = sum(part.value for part in parts)
        return Explanation(targets.classes[[c]].tolist()[0], against, score, parts)


def stacked(blocks: list[CSR]) -> CSR:
    """Return the rows of all blocks."""
    from scipy.sparse import csr_array, vstack

    return blocks[0] if len(blocks) == 1 else csr_array(vstack(blocks, format="csr"))


def check_k(k: int, n_classes: int) -> None:
    """Raise if k is not a number of categories."""
    if not 1 <= k <= n_classes:
        raise ParameterError(f"k must be from 1 to {n_classes}. Got {k!r}.")


def rows_of(sets: CSR) -> list[list[int]]:
    """Return the sorted columns of the true values of each row."""
    rows = np.split(sets.indices, sets.indptr[1:-1])
    return [sorted(row.tolist()) for row in rows]

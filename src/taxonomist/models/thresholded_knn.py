"""``ThresholdedKNN``: the nearest training items vote [TCPH01, Sec. 3.2.4]."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import gen_batches
from sklearn.utils.validation import _check_sample_weight, validate_data

from taxonomist._threads import n_threads
from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.compiled.neighbours import add_votes
from taxonomist.features.spectrum import unit_rows
from taxonomist.features.tfidf import dampen, inverse_frequencies, weigh
from taxonomist.inference.f1_thresholds import ScoredPairs, f1_thresholds
from taxonomist.inference.label_sets import decision_rule, label_limits
from taxonomist.inference.rules import FittedThresholds
from taxonomist.models.scored_sets import BLOCK, ScoredSets
from taxonomist.models.set_targets import SetTargets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.inference.label_sets import FittedRule
    from taxonomist.taxonomy import Taxonomy

ITEMS = 128
"""Items that a thread takes at a time."""


class ThresholdedKNN(ScoredSets):
    """Nearest neighbours with a threshold for each category.

    The score of a category is the sum of the similarities of those of the k nearest training items
    that have it, less the threshold of the category [TCPH01, Eq. 15]. Similarity is the cosine
    of tf-idf weights (1 + ln tf) log N / df. The threshold is the one with the best F1 of the
    category when each training item is scored by the others. An item has the categories with a
    score above 0; with single labels, the one with the best.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG; it orders the answers, but does not change what
        is learned. None means one of depth one over the labels in ``y``.
    n_neighbors
        How many of the nearest training items vote.
    tfidf
        Whether items are counts that are to be weighted. If not, the cosine is that of the items
        as they are.
    decision
        How similarities become label sets. None means thresholds with the best F1, as in the paper;
        other rules are those of ``CoupledBinarySVC``, tuned on the same left-out items.
    min_labels
        The least number of categories in a prediction; the best are added where there are fewer.
        None adds none, as in the paper.
    n_jobs
        Threads that search; None means all cores. The result does not depend on it.

    Attributes
    ----------
    classes_
        Ids of the categories, in column order of ``decision_function``.
    taxonomy_
        The taxonomy.
    decision_
        The fitted decision rule; by default its ``thresholds`` are the b_j of the paper.
    label_limits_
        The least and the largest number of labels of a prediction.
    idf_
        (n_features,): log2 N / df; with ``tfidf`` only.

    Notes
    -----
    Training items with a similarity of 0 or less are nobody's neighbours, so that thresholds are
    never below 0. Of equally near ones the first vote. An item of weight 2 stands for two.

    The paper leaves out each item "and renormalizes"; here a left-out item is scored by its k
    nearest others, so that there is nothing to renormalise. The idf is that of all items. A
    category without a left-out item near another of its own, as one with a single training
    item, has the threshold of the typical category.

    Examples
    --------
    >>> from taxonomist import Taxonomy, ThresholdedKNN
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]] * 2
    >>> y = [["cat"], ["cat", "dog"], ["dog"], ["oak"]] * 2
    >>> model = ThresholdedKNN(taxonomy, n_neighbors=3).fit(X, y)
    >>> model.predict_labels([[1, 1, 0], [0, 0, 1]])
    [['animal', 'cat', 'dog'], ['plant', 'oak']]
    """

    decision_: FittedRule
    idf_: Floats

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        n_neighbors: int = 30,
        tfidf: bool = True,
        decision: Any = None,
        min_labels: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.n_neighbors = n_neighbors
        self.tfidf = tfidf
        self.decision = decision
        self.min_labels = min_labels
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ThresholdedKNN:
        """Keep the items, and find the thresholds of categories.

        Parameters
        ----------
        X
            Items, dense or sparse, (n_items, n_features); with ``tfidf`` counts, not negative.
        y
            One id per item; or label sets: an iterable of node ids for each item, or an indicator
            matrix over all nodes or all leaves (a data frame names its columns).
        sample_weight
            Weights of the items.

        Returns
        -------
        ThresholdedKNN
            The model itself.

        Raises
        ------
        LabelError
            If a label is not in the taxonomy.
        ValueError
            If a count is negative.
        """
        if not self.n_neighbors >= 1:
            raise ValueError(f"n_neighbors must be at least 1. Got {self.n_neighbors!r}.")
        X = self._validate(X, reset=True)
        targets = SetTargets.from_labels(self.taxonomy, y, X)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        items = np.flatnonzero(weights)
        if not len(items):
            raise ValueError("No item has a weight above 0, so there is nothing to learn.")
        X, targets, self._weights = X[items], targets.select(items), weights[items]
        limits = label_limits(targets.labels, self.min_labels or 0, len(targets.categories))
        self.label_limits_ = limits
        self.classes_ = targets.classes
        self.taxonomy_ = targets.categories.taxonomy
        self._targets = targets.select(np.arange(0))
        if self.tfidf:
            self.idf_ = inverse_frequencies(X, self._weights)
        vectors = self._vectors(X)
        self._by_feature, self._labels = csr_array(vectors.T), targets.labels
        self.decision_ = self._tuned(vectors)
        return self

    def _tuned(self, vectors: CSR) -> FittedRule:
        """Return the decision rule, tuned on the votes for left-out items."""
        labels = self._labels
        if self.decision is not None:
            rule = decision_rule(self.decision)
            return rule.fit(self._left_out_votes(vectors), labels, self.label_limits_)
        parts = []
        for items, votes in self._left_out_votes(vectors):
            rows, columns = np.nonzero(votes)
            truth = labels[items].toarray()[rows, columns]
            parts.append((columns, votes[rows, columns], truth, self._weights[items][rows]))
        pairs = ScoredPairs(*map(np.concatenate, zip(*parts, strict=True)))
        return FittedThresholds(f1_thresholds(pairs, labels.T @ self._weights), None)

    def _left_out_votes(self, vectors: CSR) -> Iterator[tuple[Codes, Floats]]:
        """Yield training items, and their votes by the others."""
        everyone = np.arange(vectors.shape[0])
        for block in gen_batches(len(everyone), max(1, BLOCK // len(self.classes_))):
            yield everyone[block], self._votes(vectors[block], everyone[block])

    def _votes(self, vectors: CSR, left_out: Codes) -> Floats:
        """Return the similarities of neighbours, summed by category, (n_items, n_categories)."""
        votes = np.zeros((vectors.shape[0], len(self.classes_)))
        near = self._by_feature
        postings = Rows(near.indptr, near.indices, near.data)
        labels = Labels(self._labels.indptr, self._labels.indices)

        def work(block: slice) -> None:
            ends = vectors.indptr[block.start : block.stop + 1]
            rows = Rows(ends, vectors.indices, vectors.data)
            out, k = votes[block], int(self.n_neighbors)
            add_votes(rows, postings, labels, self._weights, left_out[block], k, out)

        with ThreadPoolExecutor(n_threads(self.n_jobs)) as pool:
            list(pool.map(work, gen_batches(vectors.shape[0], ITEMS)))
        return votes

    def _vectors(self, X: CSR) -> CSR:
        """Return the vectors of length 1 whose products are similarities."""
        vectors = X.copy()
        if not self.tfidf:
            return unit_rows(vectors)
        dampen(vectors)
        return weigh(vectors, self.idf_, is_normalized=True)

    def _validate(self, X: Any, reset: bool) -> CSR:
        """Return checked items."""
        rows = csr_array(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset))
        if self.tfidf and rows.data.min(initial=0.0) < 0:
            raise ValueError(
                "Negative values in data passed to ThresholdedKNN: with tfidf=True X must hold "
                f"counts of words, 0 or more. The least is {rows.data.min():g}. Give tfidf=False "
                "for other features."
            )
        return rows

    def _scores(self, X: CSR) -> Floats:
        """Return votes less thresholds, of checked items [TCPH01, Eq. 15]."""
        return self.decision_.excess(self._votes(self._vectors(X), np.full(X.shape[0], -1)))

    def _excess(self, scores: Floats) -> Floats:
        """Return by how much scores exceed what a category needs: themselves."""
        return scores

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn is to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = bool(self.tfidf)
        return tags

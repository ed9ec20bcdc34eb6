"""``ThresholdedKNN``: the nearest training items vote [TCPH01, Sec. 3.2.4]."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import gen_batches
from sklearn.utils.validation import validate_data

from taxonomist._threads import n_threads
from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.compiled.neighbours import add_votes
from taxonomist.features.spectrum import unit_rows
from taxonomist.features.tfidf import dampen, inverse_frequencies, weigh
from taxonomist.inference.f1_thresholds import ScoredPairs, f1_thresholds
from taxonomist.inference.label_sets import choose, decision_rule, label_limits
from taxonomist.inference.rules import FittedThresholds
from taxonomist.inference.scorers import DenseScorer
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.decisions import RuleDecision
from taxonomist.models.learning import Learned, Training
from taxonomist.models.parameters import Check, Number
from taxonomist.models.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.inference.label_sets import FittedRule, Limits
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.parameters import Requirement
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy

ITEMS_OF_A_THREAD = 128
"""Items that a thread takes at a time."""


@dataclass(frozen=True, eq=False)
class VoteScorer(DenseScorer):
    """Similarities of the nearest training items, summed by category, less what is needed.

    Attributes
    ----------
    by_feature
        Vectors of the training items of length 1, (n_features, n_items) CSR.
    labels
        Their categories, (n_items, n_categories) boolean CSR.
    weights
        How many items each stands for.
    idf
        Weights of features; None if items are not weighted.
    n_neighbors
        How many items vote.
    rule
        What votes must exceed; None before it is tuned.
    """

    by_feature: CSR
    labels: CSR
    weights: Floats
    idf: Floats | None
    n_neighbors: int
    rule: FittedRule | None = None

    @property
    def n_categories(self) -> int:  # type: ignore[override]
        """The number of categories."""
        return int(self.labels.shape[1])

    def raw(self, X: Any, n_threads: int = 1) -> Floats:
        """Return votes less thresholds [TCPH01, Eq. 15]."""
        votes = self.votes(self.vectors(X), np.full(X.shape[0], -1), n_threads)
        return votes if self.rule is None else self.rule.excess(votes)

    def vectors(self, X: CSR) -> CSR:
        """Return the vectors of length 1 whose products are similarities."""
        return unit_vectors(X, self.idf)

    def votes(self, vectors: CSR, left_out: Codes, n_threads: int) -> Floats:
        """Return the similarities of neighbours, summed by category, (n_items, n_categories)."""
        votes = np.zeros((vectors.shape[0], self.n_categories))
        near = self.by_feature
        postings = Rows(near.indptr, near.indices, near.data)
        labels = Labels(self.labels.indptr, self.labels.indices)

        def work(block: slice) -> None:
            ends = vectors.indptr[block.start : block.stop + 1]
            rows = Rows(ends, vectors.indices, vectors.data)
            out, k = votes[block], int(self.n_neighbors)
            add_votes(rows, postings, labels, self.weights, left_out[block], k, out)

        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(work, gen_batches(vectors.shape[0], ITEMS_OF_A_THREAD)))
        return votes

    def left_out_votes(self, vectors: CSR, n_threads: int) -> Iterator[tuple[Codes, Floats]]:
        """Yield training items, and their votes by the others."""
        everyone = np.arange(vectors.shape[0])
        for block in gen_batches(len(everyone), self.block_size):
            yield everyone[block], self.votes(vectors[block], everyone[block], n_threads)


class PositiveScores(RuleDecision):
    """Categories with a positive score: thresholds are part of the score."""

    def sets(self, scored: Scored) -> CSR:
        """Return which nodes each item has; see ``Decision``."""
        return self.targets.close(choose(scored.categories, *self.limits))


class ThresholdedKNN(TaxonomyClassifier):
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

    traits = Traits(
        single={"neighbours": {"tfidf": False}},
        sets={"neighbours": {"tfidf": False}},
        parts=(VoteScorer,),
    )
    parameters: ClassVar[dict[str, Requirement]] = {
        "n_neighbors": Number("at least 1", lambda value: value >= 1),
        "decision": Check(lambda value: None if value is None else decision_rule(value)),
    }
    no_reasons = "it has no weights of features."
    idf_: Floats
    scorer_: VoteScorer

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

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Return the items that have a weight."""
        return super()._training(X, y, sample_weight).with_weight()

    def limits(self, targets: Targets) -> Limits:
        """Return the least and the largest number of labels of a prediction."""
        return label_limits(targets.labels, self.min_labels or 0, len(targets.categories))

    def learn(self, training: Training, start: Any = None) -> Learned:  # noqa: ARG002
        """Keep the items, and find the thresholds of categories by leaving each item out."""
        limits = self.limits(training.targets)
        idf = inverse_frequencies(training.X, training.weights) if self.tfidf else None
        vectors = unit_vectors(training.X, idf)
        scorer = VoteScorer(
            csr_array(vectors.T), training.targets.labels, training.weights, idf, self.n_neighbors
        )
        rule = self._tuned(scorer, vectors, limits)
        facts: dict[str, Any] = {"decision_": rule, "label_limits_": limits}
        if idf is not None:
            facts["idf_"] = idf
        return Learned(replace(scorer, rule=rule), facts)

    def _tuned(self, scorer: VoteScorer, vectors: CSR, limits: Limits) -> FittedRule:
        """Return the decision rule, tuned on the votes for left-out items."""
        labels, left_out = scorer.labels, scorer.left_out_votes(vectors, n_threads(self.n_jobs))
        if self.decision is not None:
            return decision_rule(self.decision).fit(left_out, labels, limits)
        parts = []
        for items, votes in left_out:
            rows, columns = np.nonzero(votes)
            truth = labels[items].toarray()[rows, columns]
            parts.append((columns, votes[rows, columns], truth, scorer.weights[items][rows]))
        pairs = ScoredPairs(*map(np.concatenate, zip(*parts, strict=True)))
        return FittedThresholds(f1_thresholds(pairs, labels.T @ scorer.weights), None)

    def tuning(self, training: Training, held_out: Codes) -> None:
        """Return None: thresholds are tuned while learning."""

    @property
    def decider(self) -> PositiveScores:
        """What turns scores into label sets."""
        return PositiveScores(self.decision_, self.label_limits_, self.targets_)

    def check_rows(self, X: Any, reset: bool) -> CSR:
        """Return checked items."""
        rows = csr_array(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset))
        if self.tfidf and rows.data.min(initial=0.0) < 0:
            raise ValueError(
                "Negative values in data passed to ThresholdedKNN: with tfidf=True X must hold "
                f"counts of words, 0 or more. The least is {rows.data.min():g}. Give tfidf=False "
                "for other features."
            )
        return rows

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn is to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = bool(self.tfidf)
        return tags


def unit_vectors(X: CSR, idf: Floats | None) -> CSR:
    """Return vectors of length 1: tf-idf weights, or the items as they are without an idf."""
    vectors = X.copy()
    if idf is None:
        return unit_rows(vectors)
    dampen(vectors)
    return weigh(vectors, idf, is_normalized=True)

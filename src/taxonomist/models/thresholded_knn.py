"""``ThresholdedKNN``: the nearest training items vote [TCPH01, Sec. 3.2.4]."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import Tags, gen_batches
from sklearn.utils.validation import validate_data

from taxonomist._threads import n_threads
from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.compiled.neighbours import add_votes
from taxonomist.errors import ParameterError
from taxonomist.features.spectrum import unit_rows
from taxonomist.features.tfidf import dampen, inverse_frequencies, weigh
from taxonomist.inference.f1_thresholds import ScoredPairs, f1_thresholds
from taxonomist.inference.label_sets import DecisionLike, choose, decision_rule, label_limits
from taxonomist.inference.rules import FittedThresholds
from taxonomist.inference.scorers import DenseScorer
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.decisions import RuleDecision
from taxonomist.models.learning import Learned, Training
from taxonomist.models.parameters import Check, Number
from taxonomist.models.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Codes, Floats, MatrixLike
    from taxonomist.inference.label_sets import FittedRule, Limits
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.parameters import Requirement
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy

ITEMS_PER_TASK = 128
"""Items that a thread processes at a time."""


@dataclass(frozen=True, eq=False)
class VoteScorer(DenseScorer):
    """Sums of the similarities of the nearest training items by category, minus thresholds.

    Attributes
    ----------
    by_feature
        Unit vectors of the training items, (n_features, n_items) CSR.
    labels
        The categories of the training items, (n_items, n_categories) boolean CSR.
    weights
        The weights of the training items.
    idf
        Inverse document frequencies, or None without tf-idf weights.
    n_neighbors
        The number of neighbours.
    rule
        The thresholds. None before they are tuned.
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

    def raw(self, X: CSR, n_threads: int = 1) -> Floats:
        """Return votes minus thresholds [TCPH01, Eq. 15]."""
        votes = self.votes(self.vectors(X), np.full(X.shape[0], -1), n_threads)
        return votes if self.rule is None else self.rule.excess(votes)

    def vectors(self, X: CSR) -> CSR:
        """Return unit vectors, whose inner products are similarities."""
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
            list(pool.map(work, gen_batches(vectors.shape[0], ITEMS_PER_TASK)))
        return votes

    def left_out_votes(self, vectors: CSR, n_threads: int) -> Iterator[tuple[Codes, Floats]]:
        """Yield blocks of training items and their leave-one-out votes."""
        everyone = np.arange(vectors.shape[0])
        for block in gen_batches(len(everyone), self.block_size):
            yield everyone[block], self.votes(vectors[block], everyone[block], n_threads)


class PositiveScores(RuleDecision):
    """Chooses the categories with a positive score; the scores include the thresholds."""

    def sets(self, scored: Scored) -> CSR:
        """Return the label set of each item as a boolean matrix of nodes; see ``Decision``."""
        return self.targets.close(choose(scored.categories, *self.limits))


class ThresholdedKNN(TaxonomyClassifier):
    """K-nearest neighbours with one threshold per category.

    The score of a category is the sum of the similarities of those of the k nearest training items
    that belong to it, minus the threshold of the category [TCPH01, Eq. 15]. The similarity is the
    cosine of tf-idf weights (1 + ln tf) log N / df. Thresholds maximize the F1 of each category on
    leave-one-out scores of the training items. Categories with a positive score are predicted; with
    one label per item, the category with the best score.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. It organizes the predictions, but does not
        affect training. None uses a flat taxonomy of the labels in ``y``.
    n_neighbors
        The number of neighbours.
    tfidf
        Whether to apply tf-idf weights to items, which must then be word counts. If False, the
        cosine of the given features is used.
    decision
        Decision rule that converts similarities to label sets. None uses the thresholds with the
        best F1, as in the paper. Other rules are those of ``CoupledBinarySVC``, tuned on the same
        leave-one-out scores.
    min_labels
        The minimum number of categories per prediction. If there are fewer, the best categories are
        added. None adds no categories, as in the paper.
    n_jobs
        Number of threads. None uses all cores. The result does not depend on it.

    Attributes
    ----------
    classes_
        The categories, in the column order of ``decision_function``.
    taxonomy_
        The taxonomy as given.
    decision_
        The fitted decision rule. With ``decision=None``, its ``thresholds`` are the b_j of the
        paper.
    label_limits_
        The minimum and maximum number of labels per prediction.
    idf_
        Inverse document frequencies log2 N / df, (n_features,). Only with ``tfidf=True``.

    Notes
    -----
    Training items with a similarity of 0 or less are not neighbours, so thresholds are never
    negative. Ties go to the first training items. An item of weight 2 counts as two items.

    The paper leaves out each item "and renormalizes". Here a left-out item is scored by its k
    nearest other items, so there is nothing to renormalize. The idf is computed from all items. A
    category gets the threshold of the typical category if none of its items is a neighbour of
    another one, for example if it has a single training item.

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
    no_reasons = "it has no feature weights."
    idf_: Floats
    scorer_: VoteScorer

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        n_neighbors: int = 30,
        tfidf: bool = True,
        decision: DecisionLike | None = None,
        min_labels: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.n_neighbors = n_neighbors
        self.tfidf = tfidf
        self.decision = decision
        self.min_labels = min_labels
        self.n_jobs = n_jobs

    def limits(self, targets: Targets) -> Limits:
        """Return the minimum and maximum number of labels per prediction."""
        return label_limits(targets.labels, self.min_labels or 0, len(targets.categories))

    def learn(self, training: Training, start: object = None) -> Learned:  # noqa: ARG002
        """Store the items and tune thresholds on leave-one-out votes."""
        training = training.with_weight()
        limits = self.limits(training.targets)
        idf = inverse_frequencies(training.X, training.weights) if self.tfidf else None
        vectors = unit_vectors(training.X, idf)
        scorer = VoteScorer(
            csr_array(vectors.T), training.targets.labels, training.weights, idf, self.n_neighbors
        )
        rule = self._tuned(scorer, vectors, limits)
        facts: dict[str, object] = {"decision_": rule, "label_limits_": limits}
        if idf is not None:
            facts["idf_"] = idf
        return Learned(replace(scorer, rule=rule), facts)

    def _tuned(self, scorer: VoteScorer, vectors: CSR, limits: Limits) -> FittedRule:
        """Return the decision rule, tuned on leave-one-out votes."""
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
        """Return None: ``learn`` tunes the thresholds."""

    @property
    def decider(self) -> PositiveScores:
        """The decision that converts scores to label sets."""
        return PositiveScores(self.decision_, self.label_limits_, self.targets_)

    def check_rows(self, X: MatrixLike, reset: bool) -> CSR:
        """Return validated items."""
        rows = csr_array(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset))
        if self.tfidf and rows.data.min(initial=0.0) < 0:
            raise ParameterError(
                "Negative values in data passed to ThresholdedKNN: with tfidf=True X must contain "
                f"word counts. The smallest value is {rows.data.min():g}. Use tfidf=False for "
                "other features."
            )
        return rows

    def __sklearn_tags__(self) -> Tags:
        """Return the scikit-learn tags."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = bool(self.tfidf)
        return tags


def unit_vectors(X: CSR, idf: Floats | None) -> CSR:
    """Return unit vectors of tf-idf weights, or of the items themselves without an idf."""
    vectors = X.copy()
    if idf is None:
        return unit_rows(vectors)
    dampen(vectors)
    return weigh(vectors, idf, is_normalized=True)

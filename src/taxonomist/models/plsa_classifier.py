"""``PLSAClassifier``: a document is a mixture of categories [TCPH01, Sec. 3.2.2]."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import validate_data

from taxonomist.errors import ParameterError
from taxonomist.inference.label_sets import DecisionLike, choose, decision_rule
from taxonomist.inference.scorers import DenseScorer
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.decisions import RuleDecision
from taxonomist.models.dense_arrays import DenseArray
from taxonomist.models.learning import Learned, Training
from taxonomist.models.parameters import Check, Number, at_least, between
from taxonomist.models.traits import Traits
from taxonomist.solvers import plsa

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from taxonomist._typing import CSR, Floats, MatrixLike
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.parameters import Requirement
    from taxonomist.taxonomy import Taxonomy

logger = logging.getLogger(__name__)

PLSA_DEFAULTS = plsa.PLSAOptions()


@dataclass(frozen=True, eq=False)
class ShareScorer(DenseScorer):
    """Shares P(c|d) of new items, found by folding in.

    Attributes
    ----------
    words
        P(w|c), (n_words, n_categories).
    max_iter, tol
        Maximum number of EM steps per item, and the tolerance for stopping earlier.
    """

    words: Floats
    max_iter: int
    tol: float

    @property
    def n_categories(self) -> int:  # type: ignore[override]
        """The number of categories."""
        return int(self.words.shape[1])

    def raw(self, X: CSR, n_threads: int = 1) -> Floats:  # noqa: ARG002
        """Return the shares of items."""
        options = plsa.PLSAOptions(fold_max_iter=self.max_iter, tol=self.tol)
        return plsa.fold_in(X, self.words, options)[0]


class KnownCategories(RuleDecision):
    """A rule that never chooses a category without words."""

    def sets(self, scored: Scored) -> CSR:
        """Return the label set of each item as a boolean matrix of nodes; see ``Decision``."""
        scorer = cast("ShareScorer", scored.scorer)
        excess = self.rule.excess(scored.categories)
        known = np.where(scorer.words.any(axis=0), excess, -np.inf)
        return self.targets.close(choose(known, *self.limits))


class PLSAClassifier(TaxonomyClassifier):
    """Probabilistic latent semantic analysis, with the categories as topics.

    Each word of an item is drawn from one of the categories, in proportion to the shares of the
    categories in the item: P(w|d) = Σ_c P(w|c) P(c|d) [TCPH01, Eq. 14]. Training starts from the
    labels and takes a few EM steps, which move words to the categories that explain them best. The
    shares of a new item are found by EM (folding in), and the largest share is its category.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. It organizes the predictions, but does not
        affect training. None uses a flat taxonomy of the labels in ``y``.
    smoothing
        Value added to the count of each word in each category before training (Lidstone
        smoothing). None chooses it by leave-one-out estimation.
    spread
        The initial share of an item in categories other than its own.
    max_iter
        Maximum number of EM steps in training. 0 keeps the smoothed counts. Too many steps overfit
        the training items.
    fold_max_iter
        Maximum number of EM steps for a new item.
    tol
        Stop EM if the log-likelihood per word increases by less than this.
    decision
        Decision rule that converts scores to label sets. ``"category_thresholds"`` tunes one
        threshold per category, ``"threshold"`` tunes one for all categories, ``"size"`` predicts a
        threshold for each item, ``"top_k"`` predicts the mean number of labels for every item. Or a
        rule from ``taxonomist.inference.label_sets``.
    cv
        Number of cross-validation folds that provide held-out scores for the decision rule.
    min_labels, max_labels
        The minimum and maximum number of labels per prediction. None uses the smallest and largest
        number of labels of the training items.

    Attributes
    ----------
    classes_
        The categories, in the column order of ``decision_function``.
    taxonomy_
        The taxonomy as given.
    feature_log_prob_
        log P(w|c), (n_classes, n_features). -inf if a category lacks a word.
    smoothing_
        The smoothing parameter in use.
    decision_, label_limits_
        The fitted decision rule, and the minimum and maximum number of labels per prediction. Only
        set for label sets.
    objective_, n_iter_, converged_, history_
        The log-likelihood of the training items, the number of EM steps, whether the last step
        increased it by less than ``tol`` per word, and the log-likelihood before training and after
        each step.

    Notes
    -----
    Words that do not occur in the training items are ignored. A category without training items has
    no words and is never predicted. Items without labels are used for training and start with equal
    shares of all categories.

    Examples
    --------
    >>> from taxonomist import PLSAClassifier, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X = [[2, 0, 0, 1], [3, 1, 0, 0], [0, 2, 0, 1], [0, 0, 4, 1]]
    >>> model = PLSAClassifier(taxonomy).fit(X, ["cat", "cat", "dog", "oak"])
    >>> model.predict([[1, 0, 0, 1], [0, 0, 1, 1]]).tolist()
    ['cat', 'oak']
    >>> model.predict_paths([[0, 3, 0, 0]])
    [('animal', 'dog')]
    """

    traits = Traits(
        takes_counts=True,
        parts=(ShareScorer,),
        dense=(DenseArray("features", "categories", 8), DenseArray("items", "categories", 16)),
    )
    parameters: ClassVar[dict[str, Requirement]] = {
        "smoothing": Number("a number above 0", lambda value: 0 < value < np.inf, optional=True),
        "spread": between(0, 1, open_high=True),
        "tol": Number("at least 0", lambda value: value >= 0),
        "max_iter": Number("at least 0", lambda value: value >= 0),
        "fold_max_iter": at_least(1),
        "decision": Check(decision_rule),
    }
    no_reasons = "its shares depend on all words jointly."
    feature_log_prob_: Floats
    scorer_: ShareScorer

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        smoothing: float | None = PLSA_DEFAULTS.smoothing,
        spread: float = PLSA_DEFAULTS.spread,
        max_iter: int = PLSA_DEFAULTS.max_iter,
        fold_max_iter: int = PLSA_DEFAULTS.fold_max_iter,
        tol: float = PLSA_DEFAULTS.tol,
        decision: DecisionLike = "category_thresholds",
        cv: int = 5,
        min_labels: int | None = None,
        max_labels: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.smoothing = smoothing
        self.spread = spread
        self.max_iter = max_iter
        self.fold_max_iter = fold_max_iter
        self.tol = tol
        self.decision = decision
        self.cv = cv
        self.min_labels = min_labels
        self.max_labels = max_labels

    def learn(self, training: Training, start: object = None) -> Learned:  # noqa: ARG002
        """Learn the words of all categories; see ``TaxonomyClassifier.learn``."""
        training = training.with_weight()
        options = plsa.PLSAOptions(
            smoothing=self.smoothing,
            spread=self.spread,
            max_iter=self.max_iter,
            fold_max_iter=self.fold_max_iter,
            tol=self.tol,
        )
        problem = plsa.PLSAProblem(training.X, training.targets.labels, training.weights)
        solution = plsa.solve(problem, options, _log_step)
        with np.errstate(divide="ignore"):
            logs = np.log(solution.words.T)
        facts = {
            "feature_log_prob_": logs,
            "smoothing_": solution.smoothing,
            "objective_": solution.log_likelihood,
            "converged_": solution.converged,
            "history_": solution.history,
            "n_iter_": len(solution.history) - 1,
        }
        return Learned(ShareScorer(solution.words, self.fold_max_iter, self.tol), facts)

    @property
    def decider(self) -> KnownCategories:
        """The decision that converts shares to label sets."""
        return KnownCategories(self.decision_, self.label_limits_, self.targets_)

    def probabilities(self, scored: Scored) -> Floats:
        """Return the share of each category in each item, P(c|d).

        Every row sums to 1. For label sets, a share is not the probability that the item has the
        label.
        """
        return scored.categories

    def check_rows(self, X: MatrixLike, reset: bool) -> CSR:
        """Return validated counts."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        counts = csr_array(X)
        if counts.data.min(initial=0.0) < 0:
            raise ParameterError(
                "Negative values in data passed to PLSAClassifier: X must contain word counts, "
                f"such as those of CountVectorizer. The smallest value is {counts.data.min():g}."
            )
        return counts

    def __sklearn_tags__(self) -> Tags:
        """Return the scikit-learn tags."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _log_step(step: plsa.PLSAStep) -> None:
    logger.debug("%.1f s: log-likelihood %.6g", *step)

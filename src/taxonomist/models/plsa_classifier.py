"""``PLSAClassifier``: a document is a mixture of categories [TCPH01, Sec. 3.2.2]."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import validate_data

from taxonomist.inference.label_sets import choose, decision_rule
from taxonomist.inference.scorers import DenseScorer
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.decisions import RuleDecision
from taxonomist.models.learning import Learned, Training
from taxonomist.models.parameters import Check, Number, at_least, between
from taxonomist.models.traits import Traits
from taxonomist.solvers import plsa

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Floats
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.parameters import Requirement
    from taxonomist.taxonomy import Taxonomy

logger = logging.getLogger(__name__)

PLSA_DEFAULTS = plsa.PLSAOptions()


@dataclass(frozen=True, eq=False)
class ShareScorer(DenseScorer):
    """The shares P(c|d) that folding in finds.

    Attributes
    ----------
    words
        P(w|c), (n_words, n_categories).
    max_iter, tol
        Most steps of EM for an item, and the rise at which to stop before.
    """

    words: Floats
    max_iter: int
    tol: float

    @property
    def n_categories(self) -> int:  # type: ignore[override]
        """The number of categories."""
        return int(self.words.shape[1])

    def raw(self, X: Any, n_threads: int = 1) -> Floats:  # noqa: ARG002
        """Return the shares of items."""
        options = plsa.PLSAOptions(fold_max_iter=self.max_iter, tol=self.tol)
        return plsa.fold_in(X, self.words, options)[0]


class KnownCategories(RuleDecision):
    """A rule that never chooses a category without words."""

    def sets(self, scored: Scored) -> CSR:
        """Return which nodes each item has; see ``Decision``."""
        scorer: Any = scored.scorer
        excess = self.rule.excess(scored.categories)
        known = np.where(scorer.words.any(axis=0), excess, -np.inf)
        return self.targets.close(choose(known, *self.limits))


class PLSAClassifier(TaxonomyClassifier):
    """Probabilistic latent semantic analysis, with the categories as topics.

    Each word of an item is drawn from one of the categories, which have shares of their own in
    every item: P(w|d) = Σ_c P(w|c) P(c|d) [TCPH01, Eq. 14]. Training starts from the labels and
    takes a few steps of EM, in which words that other categories explain better leave a
    category. A new item is folded in: EM finds its shares, and the largest is its category.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG; it orders the answers, but does not change what
        is learned. None means one of depth one over the labels in ``y``.
    smoothing
        What is added to the count of each word in each category before training (Lidstone
        smoothing). None chooses it by leaving items out.
    spread
        Part of an item that is in other categories than its own when training starts.
    max_iter
        Most steps of EM in training; 0 leaves the smoothed counts as they are. More than some steps
        fit the training items too closely.
    fold_max_iter
        Most steps of EM for a new item.
    tol
        Rise of the log-likelihood per word at which to stop before that.
    decision
        How scores become label sets: ``"category_thresholds"`` tunes a threshold for each category,
        ``"threshold"`` one for all, ``"size"`` predicts one for each item, ``"top_k"`` takes
        as many as items have on average; or a rule of ``taxonomist.inference.label_sets``.
    cv
        Folds in which items are held out for the decision rule.
    min_labels, max_labels
        The least and the largest number of labels of an item; None means what the training items
        show.

    Attributes
    ----------
    classes_
        Ids of the categories, in column order of ``decision_function``.
    taxonomy_
        The taxonomy.
    feature_log_prob_
        (n_classes, n_features): log P(w|c), -inf where a category does not have a word.
    smoothing_
        The Lidstone parameter.
    decision_, label_limits_
        The fitted decision rule, and the least and the largest number of labels of a prediction; a
        model of single labels has neither.
    objective_, n_iter_, converged_, history_
        The log-likelihood of the training items, how many steps were taken, whether the last one
        rose by less than ``tol`` per word, and the log-likelihood at the start and after each.

    Notes
    -----
    Words that no training item has are ignored. A category without training items has no words
    and is not predicted. An item without labels takes part in training and starts evenly in all
    categories.

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

    traits = Traits(takes_counts=True, parts=(ShareScorer,))
    parameters: ClassVar[dict[str, Requirement]] = {
        "smoothing": Number("a number above 0", lambda value: 0 < value < np.inf, optional=True),
        "spread": between(0, 1, open_high=True),
        "tol": Number("at least 0", lambda value: value >= 0),
        "max_iter": Number("at least 0", lambda value: value >= 0),
        "fold_max_iter": at_least(1),
        "decision": Check(decision_rule),
    }
    no_reasons = "its shares are found for all words at once."
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
        decision: Any = "category_thresholds",
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

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Return the items that have a weight."""
        return super()._training(X, y, sample_weight).with_weight()

    def learn(self, training: Training, start: Any = None) -> Learned:  # noqa: ARG002
        """Return the words of all categories; see ``TaxonomyClassifier.learn``."""
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
        """What turns shares into label sets."""
        return KnownCategories(self.decision_, self.label_limits_, self.targets_)

    def probabilities(self, scored: Scored) -> Floats:
        """Return the share of each category in each item, P(c|d).

        Every row sums to 1. For label sets these are parts of an item, not probabilities that it
        has a label.
        """
        shares: Floats = scored.raw
        return shares

    def check_rows(self, X: Any, reset: bool) -> CSR:
        """Return checked counts."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        counts = csr_array(X)
        if counts.data.min(initial=0.0) < 0:
            raise ValueError(
                "Negative values in data passed to PLSAClassifier: X must hold counts of words, "
                f"0 or more, as CountVectorizer makes them. The least is {counts.data.min():g}."
            )
        return counts

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn is to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _log_step(step: plsa.PLSAStep) -> None:
    """Log the progress of EM."""
    logger.debug("%.1f s: log-likelihood %.6g", *step)

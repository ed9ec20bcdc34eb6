"""``PLSAClassifier``: a document is a mixture of categories [TCPH01, Sec. 3.2.2]."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.model_selection import KFold
from sklearn.utils.validation import _check_sample_weight, validate_data

from taxonomist.inference.label_sets import decision_rule, label_limits
from taxonomist.models.scored_sets import ScoredSets
from taxonomist.models.set_targets import SetTargets
from taxonomist.solvers import plsa

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.taxonomy import Taxonomy

logger = logging.getLogger(__name__)

DEFAULT = plsa.PLSAOptions()


class PLSAClassifier(ScoredSets):
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

    feature_log_prob_: Floats

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        smoothing: float | None = DEFAULT.smoothing,
        spread: float = DEFAULT.spread,
        max_iter: int = DEFAULT.max_iter,
        fold_max_iter: int = DEFAULT.fold_max_iter,
        tol: float = DEFAULT.tol,
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PLSAClassifier:
        """Learn the words of all categories.

        Parameters
        ----------
        X
            Counts of words, dense or sparse, (n_items, n_features), not negative.
        y
            One id per item; or label sets: an iterable of node ids for each item, or an indicator
            matrix over all nodes or all leaves (a data frame names its columns). The words of
            an item with several labels start in equal parts in each.
        sample_weight
            Weights of the items.

        Returns
        -------
        PLSAClassifier
            The model itself.

        Raises
        ------
        LabelError
            If a label is not in the taxonomy.
        ValueError
            If a count is negative.
        """
        self._check_parameters()
        X = self._validate(X, reset=True)
        targets = SetTargets.from_labels(self.taxonomy, y, X)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        items = np.flatnonzero(weights)
        if not len(items):
            raise ValueError("No item has a weight above 0, so there is nothing to learn.")
        X, targets, weights = X[items], targets.select(items), weights[items]
        self.classes_ = targets.classes
        self.taxonomy_ = targets.categories.taxonomy
        self._targets = targets.select(np.arange(0))
        solution = self._solve(X, targets.labels, weights)
        self._words = solution.words
        with np.errstate(divide="ignore"):
            self.feature_log_prob_ = np.log(solution.words.T)
        self.smoothing_ = solution.smoothing
        self.objective_ = solution.log_likelihood
        self.converged_ = solution.converged
        self.history_ = solution.history
        self.n_iter_ = len(solution.history) - 1
        if not targets.is_single:
            self.label_limits_ = label_limits(targets.labels, self.min_labels, self.max_labels)
            scores = self._held_out_scores(X, targets.labels, weights)
            rule = decision_rule(self.decision)
            self.decision_ = rule.fit(scores, targets.labels, self.label_limits_)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the share of each category in each item, P(c|d).

        Parameters
        ----------
        X
            Items as in ``fit``.

        Returns
        -------
        ndarray, shape (n_items, n_classes)
            In the order of ``classes_``; every row sums to 1. For label sets these are parts of an
            item, not probabilities that it has a label.
        """
        return self._scores(self._checked(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            log_shares: Floats = np.log(self.predict_proba(X))
        return log_shares

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        decision_rule(self.decision)
        if self.smoothing is not None and not 0 < self.smoothing < np.inf:
            raise ValueError(f"smoothing must be a number above 0 or None. Got {self.smoothing!r}.")
        if not 0 <= self.spread < 1:
            raise ValueError(f"spread must be at least 0 and below 1. Got {self.spread!r}.")
        if not self.tol >= 0:
            raise ValueError(f"tol must be at least 0. Got {self.tol!r}.")
        for name, least in (("max_iter", 0), ("fold_max_iter", 1)):
            value = getattr(self, name)
            if not value >= least:
                raise ValueError(f"{name} must be at least {least}. Got {value!r}.")

    def _options(self) -> plsa.PLSAOptions:
        """Return what the solver is told."""
        return plsa.PLSAOptions(
            smoothing=self.smoothing,
            spread=self.spread,
            max_iter=self.max_iter,
            fold_max_iter=self.fold_max_iter,
            tol=self.tol,
        )

    def _solve(self, X: CSR, labels: CSR, weights: Floats) -> plsa.PLSASolution:
        """Return what EM finds for items."""
        return plsa.solve(plsa.PLSAProblem(X, labels, weights), self._options(), _log_step)

    def _held_out_scores(
        self, X: CSR, labels: CSR, weights: Floats
    ) -> Iterator[tuple[Codes, Floats]]:
        """Yield items and their scores by a model that has not seen them.

        An only item cannot be held out.
        """
        if X.shape[0] == 1:
            yield np.arange(1), self._scores(X)
            return
        folds = KFold(min(self.cv, X.shape[0]), shuffle=True, random_state=0)
        for train, test in folds.split(np.arange(X.shape[0])):
            words = self._solve(X[train], labels[train], weights[train]).words
            yield test, plsa.fold_in(X[test], words, self._options())[0]

    def _validate(self, X: Any, reset: bool) -> CSR:
        """Return checked counts."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        counts = csr_array(X)
        if counts.data.min(initial=0.0) < 0:
            raise ValueError(
                "Negative values in data passed to PLSAClassifier: X must hold counts of words, "
                f"0 or more, as CountVectorizer makes them. The least is {counts.data.min():g}."
            )
        return counts

    def _scores(self, X: CSR) -> Floats:
        """Return P(c|d) of checked items."""
        return plsa.fold_in(X, self._words, self._options())[0]

    def _excess(self, scores: Floats) -> Floats:
        """Return by how much shares exceed what a category needs; one without words never does."""
        return np.where(self._words.any(axis=0), self.decision_.excess(scores), -np.inf)

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn is to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _log_step(step: plsa.PLSAStep) -> None:
    """Log the progress of EM."""
    logger.debug("%.1f s: log-likelihood %.6g", *step)

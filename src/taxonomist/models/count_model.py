"""What generative models of word counts have in common: counts, priors, posteriors, label sets."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp
from sklearn.model_selection import KFold
from sklearn.utils import gen_batches
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, validate_data

from taxonomist.inference.label_sets import decision_rule, label_limits
from taxonomist.inference.word_scores import WordScores
from taxonomist.models.counts import as_counts, damped, equal_shares
from taxonomist.models.set_targets import SetTargets
from taxonomist.models.sources import node_sources
from taxonomist.models.word_reasons import WordReasons
from taxonomist.solvers.word_counts import CountedItems, pool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.solvers.path_weights import PathWeights
    from taxonomist.solvers.word_counts import Pooled, Sources
    from taxonomist.taxonomy import Categories, Taxonomy

logger = logging.getLogger(__name__)

BLOCK = 2**24
"""Scores that are held at a time, 128 MiB; with many categories each block makes the logarithms of
all words anew."""


def _is_exact(model: CountModel) -> bool:
    """Return whether counts alone say what a model learns."""
    if model._needs_items():
        raise AttributeError(f"{type(model).__name__} has no partial_fit: {model._item_reason}")
    return True


class CountModel(WordReasons):
    """A model P(d|c) = Π_w P(w|c)^n of the words of items, with P(w|c) mixed from sources.

    A subclass has the parameters ``taxonomy``, ``damping``, ``length``, ``priors``, ``decision``,
    ``cv``, ``min_labels`` and ``max_labels``, and finds words and weights in ``_estimate``.
    """

    taxonomy: Taxonomy | None
    damping: str | None
    length: float
    priors: Any
    decision: Any
    cv: int
    min_labels: int | None
    max_labels: int | None
    class_log_prior_: Floats
    reference_length_: float
    _n_items: Floats
    _pooled: Pooled
    _item_reason = ""
    """What makes a model need all items at once, as a sentence."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""

    @abstractmethod
    def _estimate(self, pooled: Pooled, items: CountedItems | None) -> tuple[CSR, PathWeights]:
        """Return P(w|v) and P(v|c); without items, from counts alone."""

    @abstractmethod
    def _needs_items(self) -> bool:
        """Return whether learning takes the items themselves, not only pooled counts."""

    def _make_sources(self, categories: Categories) -> tuple[Sources, Codes]:
        """Return the sources of words, and the node of each."""
        return node_sources(categories), np.arange(categories.expanded.n_nodes)

    # Fitting ---------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CountModel:
        """Learn the words of nodes, and what makes scores into label sets.

        Parameters
        ----------
        X
            Counts of words, dense or sparse, (n_items, n_features), not negative.
        y
            One id per item; or label sets: an iterable of node ids for each item, or an indicator
            matrix over all nodes or all leaves (a data frame names its columns). The words of an
            item with several labels belong in equal parts to each.
        sample_weight
            Weights of the items.

        Returns
        -------
        CountModel
            The model itself.

        Raises
        ------
        LabelError
            If a label is not in the taxonomy.
        ValueError
            If a count is negative, or no item has a weight.
        """
        self._check()
        X = self._validate(X, reset=True)
        targets = SetTargets.from_labels(self.taxonomy, y, X)
        return self._fit_first(X, targets, sample_weight)

    @available_if(_is_exact)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> CountModel:
        """Add the counts of more items; the model is the one that all of them would have given.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        classes
            For the first call all labels that will occur, where neither the taxonomy's leaves nor
            the columns of an indicator matrix say so.

        Returns
        -------
        CountModel
            The model itself. Its decision rule, the limits of the number of labels and
            ``reference_length_`` are those of the first call, or of ``fit``.
        """
        self._check()
        is_first = not hasattr(self, "_targets")
        X = self._validate(X, reset=is_first)
        if is_first:
            targets = SetTargets.from_labels(self.taxonomy, y, X, classes)
            return self._fit_first(X, targets, sample_weight)
        X, targets, weights = self._weighted(X, self._targets.again(y, X), sample_weight)
        items = CountedItems(self._damped(X), equal_shares(targets.labels), weights)
        self._n_items = self._n_items + _items_by_category(items)
        self._pooled = self._pooled.plus(pool(items, self._sources))
        self._set_scores(targets, self._pooled, None)
        return self

    def _fit_first(self, X: CSR, targets: SetTargets, sample_weight: Any) -> CountModel:
        """Learn from the first items."""
        X, targets, weights = self._weighted(X, targets, sample_weight)
        if not targets.is_single:
            self.label_limits_ = label_limits(targets.labels, self.min_labels, self.max_labels)
        self._learn(X, targets, weights)
        self._targets = targets.select(np.arange(0))
        if not targets.is_single:
            scores = self._held_out_scores(X, targets, weights)
            rule = decision_rule(self.decision)
            self.decision_ = rule.fit(scores, targets.labels, self.label_limits_)
        return self

    def _learn(self, X: CSR, targets: SetTargets, weights: Floats) -> None:
        """Learn from checked items."""
        self._is_single = targets.is_single
        self.classes_ = targets.classes
        self.taxonomy_ = targets.categories.expanded
        self._sources, self._source_nodes = self._make_sources(targets.categories)
        self.reference_length_ = 1.0
        if self.length:
            lengths = np.asarray(damped(X, self.damping, 0.0, 1.0).sum(axis=1)).ravel()
            used = lengths > 0
            if used.any():
                self.reference_length_ = float(np.average(lengths[used], weights=weights[used]))
        items = CountedItems(self._damped(X), equal_shares(targets.labels), weights)
        self._n_items = _items_by_category(items)
        pooled = pool(items, self._sources)
        if not self._needs_items():
            self._pooled = pooled
        self._set_scores(targets, pooled, items)

    def _set_scores(self, targets: SetTargets, pooled: Pooled, items: CountedItems | None) -> None:
        """Estimate words, weights and priors, and make of them what scores items."""
        self._words, self._weights = self._estimate(pooled, items)
        priors = self._category_priors(targets)
        self.class_log_prior_ = np.log(priors)
        paths = self._sources.paths
        weights = type(paths)((self._weights.slots, paths.indices, paths.indptr), paths.shape)
        self._word_scores = WordScores(weights, self._weights.uniform, self._words, priors)
        self._word_scores.prepare()

    def _weighted(
        self, X: CSR, targets: SetTargets, sample_weight: Any
    ) -> tuple[CSR, SetTargets, Floats]:
        """Return the items that have a weight, and their weights."""
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if sample_weight is None or (weights > 0).all():
            return X, targets, weights
        items = np.flatnonzero(weights)
        if not len(items):
            raise ValueError("No item has a weight above 0, so there is nothing to learn.")
        return X[items], targets.select(items), weights[items]

    def _category_priors(self, targets: SetTargets) -> Floats:
        """Return P(c); as estimated, every category has one item more than it has."""
        if isinstance(self.priors, str):
            counts = (
                self._n_items + 1 if self.priors == "estimated" else np.ones(len(self._n_items))
            )
            priors: Floats = counts / counts.sum()
            return priors
        given = self.priors
        if isinstance(given, Mapping):
            missing = [label for label in targets.classes.tolist() if label not in given]
            if missing:
                raise ValueError(
                    f"priors has no value for {missing[0]!r}; give one for each class."
                )
            given = [given[label] for label in targets.classes.tolist()]
        values = np.asarray(given, dtype=np.float64)
        if values.shape != (len(targets.classes),) or not (
            np.isfinite(values).all() and (values > 0).all()
        ):
            message = f"priors must be {len(targets.classes)} numbers above 0, one for each class"
            raise ValueError(f"{message}, 'estimated' or 'uniform'. Got {self.priors!r}.")
        shares: Floats = values / values.sum()
        return shares

    def _held_out_scores(
        self, X: CSR, targets: SetTargets, weights: Floats
    ) -> Iterator[tuple[Codes, Floats]]:
        """Yield blocks of items and their scores by a model that has not seen them.

        An only item cannot be held out.
        """
        if X.shape[0] == 1:
            yield np.arange(1), self._scores(X)
            return
        folds = KFold(min(self.cv, X.shape[0]), shuffle=True, random_state=0)
        for train, test in folds.split(np.arange(X.shape[0])):
            logger.info("Scoring %d held-out items for the decision rule.", len(test))
            part = copy(self)
            part._learn(X[train], targets.select(train), weights[train])
            for block, scores in part._score_blocks(X[test]):
                yield test[block], scores

    # Predicting ------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Floats:
        """Return the posterior probability of each category, P(c|d) [TCPH01, Eq. 8].

        Parameters
        ----------
        X
            Items as in ``fit``.

        Returns
        -------
        ndarray, shape (n_items, n_classes)
            In the order of ``classes_``; every row sums to 1. A model of label sets says which
            category would be the one, if there were one, not which labels an item has.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of ``predict_proba``."""
        scores = self._scores(self._checked(X))
        joint = scores if self._is_single else scores + self.class_log_prior_
        impossible = np.isneginf(joint).all(axis=1)
        joint[impossible] = self.class_log_prior_
        posterior: Floats = joint - logsumexp(joint, axis=1, keepdims=True)
        return posterior

    def _scores(self, X: CSR) -> Floats:
        """Return log P(d|c) - log P(d), with one label per item also + log P(c)."""
        scores = self._word_scores.of(self._damped(X))
        return scores + self.class_log_prior_ if self._is_single else scores

    def _score_blocks(self, X: CSR) -> Iterator[tuple[slice, Floats]]:
        """Yield the scores of one block of checked items after another."""
        for block in gen_batches(X.shape[0], max(1, BLOCK // len(self.classes_))):
            is_all = block.stop - block.start == X.shape[0]
            yield block, self._scores(X if is_all else X[block])

    def _excess(self, scores: Floats) -> Floats:
        """Return by how much scores exceed what a category needs to be chosen."""
        excess: Floats = self.decision_.excess(scores)
        return excess

    def _damped(self, X: CSR) -> CSR:
        """Return counts as the model takes them."""
        return damped(X, self.damping, self.length, self.reference_length_)

    def _validate(self, X: Any, reset: bool) -> CSR:
        """Return checked counts."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        return as_counts(X, type(self).__name__)

    def _check(self) -> None:
        """Refuse parameters that make no sense, before any work is done."""
        decision_rule(self.decision)
        if self.damping not in (None, "log"):
            raise ValueError(f"damping must be None or 'log'. Got {self.damping!r}.")
        if not 0 <= self.length <= 1:
            raise ValueError(f"length must be from 0 to 1. Got {self.length!r}.")
        if isinstance(self.priors, str) and self.priors not in ("estimated", "uniform"):
            message = "priors must be 'estimated', 'uniform', or a number for each class."
            raise ValueError(f"{message} Got {self.priors!r}.")
        self._check_parameters()

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn is to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        # Points in the plane are no counts; scikit-learn's own naive Bayes says the same.
        tags.classifier_tags.poor_score = True
        return tags


def _items_by_category(items: CountedItems) -> Floats:
    """Return the weight of the items of each category, in parts where they have several."""
    n_items: Floats = items.shares.T @ items.weights
    return n_items

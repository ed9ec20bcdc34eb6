"""``TaxonomyClassifier``: targets, a learner, a scorer and a decision make an estimator."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from taxonomist._threads import n_threads
from taxonomist.errors import LabelError
from taxonomist.inference.label_sets import decision_rule, label_limits
from taxonomist.inference.scorers import NoWeightsError, Scored
from taxonomist.models.answers import Answers
from taxonomist.models.decisions import RuleDecision, RuleTuning
from taxonomist.models.learning import (
    Training,
    dealt_folds,
    hand_over,
    hold_out,
    plain_folds,
)
from taxonomist.models.parameters import TaxonomyOrNone, check_parameters
from taxonomist.models.targets import Targets, item_weights
from taxonomist.models.traits import Traits
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Codes, Floats
    from taxonomist.inference.label_sets import FittedRule, Limits
    from taxonomist.inference.scorers import Cut, Scorer
    from taxonomist.models.decisions import Decision
    from taxonomist.models.explanation import Explanation
    from taxonomist.models.learning import Folds, HeldOutTaker, Learned
    from taxonomist.models.parameters import Requirement
    from taxonomist.taxonomy import Taxonomy

    MakeTaker = Callable[[Training, Codes], HeldOutTaker]
    """Returns what takes held-out scores, given the training and the items to be held out."""


def _has_probabilities(model: TaxonomyClassifier) -> bool:
    if type(model).probabilities is TaxonomyClassifier.probabilities:
        name = type(model).__name__
        raise AttributeError(
            f"{name} has no probabilities: wrap it, CalibratedClassifier({name}(...))."
        )
    return True


def _can_explain(model: TaxonomyClassifier) -> bool:
    if model.no_reasons:
        raise AttributeError(f"{type(model).__name__} cannot explain a score: {model.no_reasons}")
    return True


class TaxonomyClassifier(ClassifierMixin, BaseEstimator):
    """A scikit-learn classifier over a taxonomy.

    A subclass has the parameter ``taxonomy``, checks rows in ``_validate``, and learns in
    ``learn``, which returns a scorer and leaves the model as it is. All else follows: fitting,
    held-out scores, decisions, every question about new items, files. For label sets it has the
    parameters ``decision``, ``cv``, ``min_labels`` and ``max_labels``, or its own ``tuning`` and
    ``decision``.

    Attributes
    ----------
    traits
        Facts about the class.
    parameters
        What its parameters must be, beside those that its bases list.
    no_reasons
        Why there is no ``explain``, as a sentence; empty if there is.
    file_version
        The version of what ``file_state`` returns.

    Notes
    -----
    What a fit finds is in attributes that end in an underscore, and in no others.
    """

    traits: ClassVar[Traits] = Traits()
    parameters: ClassVar[dict[str, Requirement]] = {"taxonomy": TaxonomyOrNone()}
    no_reasons: ClassVar[str] = ""
    file_version: ClassVar[int] = 2

    taxonomy: Taxonomy | None
    classes_: Any
    taxonomy_: Taxonomy
    targets_: Targets
    scorer_: Scorer
    label_limits_: Limits
    decision_: FittedRule
    start_: Any
    n_features_in_: int

    # What a subclass says ---------------------------------------------------------------------

    def _validate(self, X: Any, reset: bool) -> Any:
        """Return checked rows."""
        raise NotImplementedError

    def learn(self, training: Training, start: Any = None) -> Learned:
        """Return what is learned from items; the model itself stays as it is.

        Parameters
        ----------
        training
            Checked items.
        start
            Where to start, from ``start_of``; None starts anew.
        """
        raise NotImplementedError

    def start_of(self, items: Codes) -> Any:  # noqa: ARG002
        """Return where learning from some items of the last fit may start; None if nowhere."""
        return None

    def next_start(self, n_items: int) -> Any:
        """Return where the next fit may start, if it goes on from the last one."""
        return self.start_of(np.arange(n_items))

    def check(self) -> None:
        """Raise unless the parameters make sense, each by itself and together."""
        check_parameters(self)

    def limits(self, targets: Targets) -> Limits:
        """Return the least and the largest number of labels of a prediction."""
        given = (getattr(self, name, None) for name in ("min_labels", "max_labels"))
        return label_limits(targets.labels, *given)

    def tuning(self, training: Training, held_out: Codes) -> Any:
        """Return what tunes the decision on held-out scores; None if there is nothing to tune."""
        if training.targets.is_single:
            return None
        rule = decision_rule(self.get_params(deep=False)["decision"])
        return RuleTuning(rule, training.targets, held_out, self.label_limits_)

    @property
    def decider(self) -> Decision:
        """What turns scored items into label sets."""
        return RuleDecision(self.decision_, self.label_limits_, self.targets_)

    def probabilities(self, scored: Scored) -> Floats:
        """Return the probabilities of categories, (n_items, n_categories)."""
        raise NotImplementedError

    def source_title(self, source: int) -> tuple[str, str]:
        """Return id and display name of what adds a part to a score."""
        raise NotImplementedError

    # Fitting ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from items and their labels.

        Parameters
        ----------
        X
            Items, dense or sparse, (n_items, n_features); with ``kernel="precomputed"`` the values
            between them, (n_items, n_items). Models of words take counts, which are not negative.
        y
            One label per item: a node id, or a path that ``Taxonomy.resolve`` understands. Or label
            sets: an iterable of node ids for each item, or an indicator matrix over all nodes or
            all leaves (a data frame names its columns). Ancestors of a label may be given or not;
            both mean the same.
        sample_weight
            Weights of the items.

        Returns
        -------
        TaxonomyClassifier
            The model itself.

        Raises
        ------
        LabelError
            If a label is not in the taxonomy.
        ParameterError
            If a parameter makes no sense.
        """
        self.check()
        self._fit(self._training(X, y, sample_weight))
        return self

    def fit_held_out(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        cv: Any = 5,
        make_taker: MakeTaker,
    ) -> Self:
        """Fit, and hand over the scores of all items by models that have not seen them.

        The decision rule is tuned on the same scores, so that a fit of k folds learns k + 1 times.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        cv
            A number of folds, of which each gets its share of every category; an object with
            ``split``; or pairs of the items to learn from and those to hold out.
        make_taker
            Called with the training and the items that will be held out; returns what takes
            their scores, such as ``taxonomist.models.learning.KeptScores``.

        Returns
        -------
        TaxonomyClassifier
            The model itself.
        """
        self.check()
        training = self._training(X, y, sample_weight)
        folds = dealt_folds(cv, training.targets, training.weights)
        self._fit(training, folds, make_taker)
        return self

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Return checked items, labels and weights."""
        X = self._validate(X, reset=True)
        targets = Targets.from_labels(self.taxonomy, y, X)
        if not (self.traits.label_sets or targets.is_single):
            raise LabelError(
                f"{type(self).__name__} takes one label per item, but y has label sets. Take a "
                "model of label sets, such as HierarchicalRankingSVC or CoupledBinarySVC."
            )
        is_gram = getattr(self, "kernel", None) == "precomputed"
        return Training(X, targets, item_weights(sample_weight, X), is_gram)

    def _fit(
        self,
        training: Training,
        folds: Folds | None = None,
        make_taker: MakeTaker | None = None,
    ) -> None:
        """Learn, and tune the decision; ``folds`` are made when they are needed."""
        if not training.targets.is_single:
            self.label_limits_ = self.limits(training.targets)
        goes_on = getattr(self, "warm_start", False) and hasattr(self, "scorer_")
        start = self.next_start(len(training.weights)) if goes_on else None
        self._store(self.learn(training, start), training.targets)
        self._hold_out(training, folds, make_taker)

    def _store(self, learned: Learned, targets: Targets) -> None:
        """Set the fitted attributes."""
        self.targets_ = targets.without_items()
        self.classes_ = targets.classes
        self.taxonomy_ = targets.categories.taxonomy
        self.scorer_ = learned.scorer
        self.start_ = learned.start
        for name, value in learned.facts.items():
            setattr(self, name, value)

    def _hold_out(
        self, training: Training, folds: Folds | None, make_taker: MakeTaker | None
    ) -> None:
        """Score held-out items for the decision and for a taker, in one pass of folds."""
        weighted = held_out = np.flatnonzero(training.weights)
        if folds:
            held_out = np.sort(np.concatenate([test for _, test in folds]))
        tuning = self.tuning(training, held_out)
        takers = [] if tuning is None or not tuning.needs_scores else [tuning]
        if make_taker is not None:
            takers.append(make_taker(training, held_out))
        if takers and len(weighted) < 2:
            # An only item cannot be held out.
            scored = Scored(self.scorer_, training.rows(weighted, np.arange(len(training.weights))))
            hand_over(scored, weighted, takers)
        elif takers:
            hold_out(self, training, self._own_folds(weighted) if folds is None else folds, takers)
        if tuning is not None:
            for name, value in tuning.finish().items():
                setattr(self, name, value)

    def _own_folds(self, items: Codes) -> Folds:
        """Return the folds of the decision rule, over the items with a weight."""
        cv = self.get_params(deep=False)["cv"]
        return [(items[train], items[test]) for train, test in plain_folds(cv, len(items))]

    # Predicting -------------------------------------------------------------------------------

    def answer(self, X: Any) -> Answers:
        """Return the answers to all questions about items, which are scored once.

        Parameters
        ----------
        X
            Items as in ``fit``; with a precomputed kernel, their values with the training items.
            A block of at most some thousands.

        Returns
        -------
        Answers
            With methods such as ``labels``, ``paths``, ``topk`` and ``explain``.
        """
        return Answers(self, self.scored(X))

    def decision_function(self, X: Any) -> Floats:
        """Return the score of every category.

        Parameters
        ----------
        X
            Items as in ``answer``.

        Returns
        -------
        ndarray, shape (n_items, n_classes)
            Scores in the order of ``classes_``. With one label per item and two classes,
            (n_items,): how much more the second has.
        """
        return self.answer(X).scores()

    def predict(self, X: Any) -> Any:
        """Return the labels of items.

        Parameters
        ----------
        X
            Items as in ``answer``.

        Returns
        -------
        ndarray, shape (n_items,), or indicator matrix, shape (n_items, n_columns)
            One label per item out of ``classes_``, if the model was fitted to such. Label sets
            are closed under ancestors; their columns are those of the matrix that the model was
            fitted to, dense or sparse as that was, or ``classes_``, sparse.
        """
        if self._is_single:
            return self.classes_[self.scored(X).best(1)[0][:, 0]]
        return self.answer(X).predict()

    def predict_labels(self, X: Any) -> list[list[Any]]:
        """Return the labels of each item as a list, from the general to the specific.

        Label sets are closed under ancestors; a virtual root is left out.
        """
        if self._is_single:
            return [[label] for label in self.predict(X).tolist()]
        return self.answer(X).labels()

    def predict_paths(self, X: Any) -> list[Any]:
        """Return the path from the top to the category of each item; for label sets, all paths.

        In a DAG a node may have several paths; this is the first. ``Taxonomy.paths`` gives all.
        """
        return self.answer(X).paths()

    def predict_topk(self, X: Any, k: int = 5) -> tuple[Any, Floats]:
        """Return the k categories with the best scores for each item.

        Parameters
        ----------
        X
            Items as in ``answer``.
        k
            How many; at most the number of categories.

        Returns
        -------
        labels : ndarray, shape (n_items, k)
            Best first.
        scores : ndarray, shape (n_items, k)
            Those of ``decision_function``.
        """
        return self.answer(X).topk(k)

    def predict_ranking(self, X: Any, k: int | None = None) -> tuple[Any, Floats]:
        """Return ``predict_topk`` of k categories; None means all."""
        check_is_fitted(self)
        return self.predict_topk(X, len(self.classes_) if k is None else k)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every category, (n_items, n_classes), as the model sees it.

        With one label per item every row sums to 1. Label sets of word models have no
        probabilities of their own: rows say which category it would be if there were one.
        """
        return self.answer(X).proba()

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.predict_proba(X))
        return logs

    @available_if(_can_explain)  # type: ignore[untyped-decorator]
    def explain(
        self,
        x: Any,
        n: int = 10,
        *,
        category: Any = None,
        against: Any = None,
        feature_names: Any = None,
    ) -> Explanation:
        """Return what each node adds to a score, and its strongest features.

        Parameters
        ----------
        x
            One item: a row, as in ``answer``.
        n
            Features to show at each node.
        category
            The category to explain; by default the one with the best score.
        against
            Another category: the difference of the two scores is explained then.
        feature_names
            Names of the features; by default those seen in ``fit``, or their numbers.

        Returns
        -------
        Explanation
            Parts that add up to the score, or to the difference.
        """
        is_row = hasattr(x, "indptr") or np.ndim(x) == 2
        answers = self.answer(x if is_row else np.reshape(x, (1, -1)))
        if answers.n_items != 1:
            raise ValueError(f"explain takes one item. Got {answers.n_items}.")
        return answers.explain(
            0, n, category=category, against=against, feature_names=feature_names
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of items whose label, or label set, is exactly right."""
        check_is_fitted(self)
        targets = self.targets_
        if targets.is_single or labels.is_indicator(y):
            return float(super().score(X, y, sample_weight))
        if targets.is_flat:
            truth = targets.close(targets.encode(y))
        else:
            truth = labels.close(self.taxonomy_, labels.encode_sets(self.taxonomy_, y))
        wrong = np.diff((truth != self.answer(X).sets).tocsr().indptr) > 0
        return float(np.average(~wrong, weights=sample_weight))

    @property
    def _is_single(self) -> bool:
        check_is_fitted(self)
        return self.targets_.is_single

    def scored(self, X: Any) -> Scored:
        """Return checked items, ready to be scored."""
        check_is_fitted(self)
        threads = n_threads(getattr(self, "n_jobs", 1))
        return Scored(self.scorer_, self._validate(X, reset=False), threads)

    def feature_titles(self, feature_names: Any) -> Callable[[int], str]:
        """Return the function from a feature's number to its name."""
        names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names

        def title(feature: int) -> str:
            if feature == self.n_features_in_:
                return "(constant)"
            return str(feature) if names is None else str(names[feature])

        return title

    def pruned(self, cut: Cut) -> Self:
        """Return a copy whose weights have gone through a function that drops the smallest."""
        if not hasattr(self, "scorer_"):
            raise NoWeightsError
        result = copy(self)
        result.scorer_ = self.scorer_.pruned(cut)
        return result

    def file_state(self) -> dict[str, Any]:
        """Return what a file holds: parameters, and what the fit found.

        Where the next fit may start is left out unless ``warm_start`` asks for it: dual variables
        of all training items can be larger than the weights.
        """
        known = self.get_params(deep=False)
        state = {k: v for k, v in vars(self).items() if k in known or k.endswith("_")}
        if "start_" in state and not getattr(self, "warm_start", False):
            state["start_"] = None
        return state

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn is to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = self.traits.label_sets
        tags.target_tags.multi_output = self.traits.label_sets
        return tags

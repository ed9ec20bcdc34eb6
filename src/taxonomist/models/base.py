"""``TaxonomyClassifier``: an estimator made of targets, a learner, a scorer and a decision."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from taxonomist._threads import n_threads
from taxonomist.errors import LabelError
from taxonomist.inference.label_sets import decision_rule, label_limits
from taxonomist.inference.scorers import NoWeightsError, Scored
from taxonomist.models.decisions import RuleTuning
from taxonomist.models.dense_arrays import check_dense
from taxonomist.models.learning import (
    Training,
    dealt_folds,
    hand_over,
    hold_out,
    plain_folds,
)
from taxonomist.models.parameters import TaxonomyOrNone, check_parameters
from taxonomist.models.questions import Questions
from taxonomist.models.targets import Targets, item_weights
from taxonomist.models.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from sklearn.utils import Tags

    from taxonomist._typing import Codes, FoldsLike, LabelsLike, MatrixLike
    from taxonomist.inference.label_sets import Limits
    from taxonomist.inference.scorers import Cut
    from taxonomist.models.learning import Folds, HeldOutTaker, Learned
    from taxonomist.models.parameters import Requirement
    from taxonomist.taxonomy import Taxonomy

    MakeTaker = Callable[[Training, Codes], HeldOutTaker]
    """Function from the training data and the held-out items to a receiver of held-out scores."""


class TaxonomyClassifier(Questions, BaseEstimator):
    """Base class of scikit-learn classifiers over a taxonomy.

    A subclass has the parameter ``taxonomy``, validates rows in ``check_rows``, and learns in
    ``learn``, which returns a scorer and does not change the model. This class provides everything
    else: fitting, held-out scores, decisions, predictions and files. For label sets, a subclass has
    the parameters ``decision``, ``cv``, ``min_labels`` and ``max_labels``, or overrides ``tuning``
    and ``decider``.

    Attributes
    ----------
    traits
        Facts about the class.
    parameters
        Requirements of the parameters, in addition to those of the base classes.
    file_version
        The version of the result of ``file_state``.

    Notes
    -----
    Fitted attributes end in an underscore.
    """

    traits: ClassVar[Traits] = Traits()
    parameters: ClassVar[dict[str, Requirement]] = {"taxonomy": TaxonomyOrNone()}
    file_version: ClassVar[int] = 2

    taxonomy: Taxonomy | None
    start_: Any

    # To be defined by subclasses ---------------------------------------------------------------

    def learn(self, training: Training, start: Any = None) -> Learned:
        """Learn from items without changing the model.

        Parameters
        ----------
        training
            Validated items.
        start
            The result of ``start_of`` for a warm start, or None.
        """
        raise NotImplementedError

    def start_of(self, items: Codes) -> Any:  # noqa: ARG002
        """Return the warm start for some items of the last fit, or None if there is none."""
        return None

    def next_start(self, n_items: int) -> Any:
        """Return the warm start for the next fit."""
        return self.start_of(np.arange(n_items))

    def check(self) -> None:
        """Raise if a parameter, or a combination of parameters, is invalid."""
        check_parameters(self)

    def limits(self, targets: Targets) -> Limits:
        """Return the minimum and maximum number of labels per prediction."""
        given = (getattr(self, name, None) for name in ("min_labels", "max_labels"))
        return label_limits(targets.labels, *given)

    def tuning(self, training: Training, held_out: Codes) -> Any:
        """Return the tuning of the decision on held-out scores, or None if it needs no tuning."""
        if training.targets.is_single:
            return None
        rule = decision_rule(self.get_params(deep=False)["decision"])
        return RuleTuning(rule, training.targets, held_out, self.label_limits_)

    def tuning_folds(self, folds: Folds) -> Folds:
        """Return the folds that the tuning needs; all by default."""
        return folds

    # Fitting ----------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items and their labels.

        Parameters
        ----------
        X
            Items, a dense or sparse matrix of shape (n_items, n_features). With
            ``kernel="precomputed"``, the kernel matrix of shape (n_items, n_items). Word models
            need nonnegative counts.
        y
            One label per item: a node id, or a path that ``Taxonomy.resolve`` accepts. Or label
            sets: an iterable of node ids for each item, or an indicator matrix over all nodes or
            all leaves (a data frame with node ids as columns is also accepted). Ancestors of labels
            are implied and may be omitted. If all labels are integers, ids that are written like
            integers are returned as integers.
        sample_weight
            Weights of the items. None means equal weights.

        Returns
        -------
        TaxonomyClassifier
            The model itself.

        Raises
        ------
        LabelError
            If a label is not in the taxonomy.
        ParameterError
            If a parameter is invalid.
        DataSizeError
            If a dense array of the model would be larger than the limit.
        """
        self.check()
        self._fit(self._training(X, y, sample_weight))
        return self

    def fit_held_out(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        *,
        cv: FoldsLike = 5,
        make_taker: MakeTaker,
    ) -> Self:
        """Fit the model, and pass on cross-validated scores of all items.

        The decision rule is tuned on the same scores, so a fit with k folds trains k + 1 times.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        cv
            The number of folds, which are stratified by category; a splitter with a ``split``
            method; or pairs of training and test items.
        make_taker
            Function that is called with the training data and the held-out items. It returns a
            receiver of held-out scores, such as ``taxonomist.models.learning.KeptScores``.

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

    def learn_from(self, training: Training) -> Self:
        """Fit to validated items without tuning a decision, for models that contain models."""
        check_dense(self, training)
        self.store(self.learn(training), training.targets)
        return self

    def _training(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None) -> Training:
        """Return validated items, labels and weights."""
        X = self.checked_rows(X, reset=True)
        targets = Targets.from_labels(self.taxonomy, y, X)
        if not (self.traits.label_sets or targets.is_single):
            raise LabelError(
                f"{type(self).__name__} takes one label per item, but y has label sets. Use a "
                "model of label sets, such as HierarchicalRankingSVC or CoupledBinarySVC."
            )
        is_gram = getattr(self, "kernel", None) == "precomputed"
        training = Training(X, targets, item_weights(sample_weight, X), is_gram)
        check_dense(self, training)
        return training

    def _fit(
        self,
        training: Training,
        folds: Folds | None = None,
        make_taker: MakeTaker | None = None,
    ) -> None:
        """Learn and tune the decision; default ``folds`` are made if needed."""
        if not training.targets.is_single:
            weighted = np.flatnonzero(training.weights)
            self.label_limits_ = self.limits(training.targets.select(weighted))
        goes_on = getattr(self, "warm_start", False) and hasattr(self, "scorer_")
        start = self.next_start(len(training.weights)) if goes_on else None
        self.store(self.learn(training, start), training.targets)
        self._hold_out(training, folds, make_taker)

    def store(self, learned: Learned, targets: Targets) -> None:
        """Store what was learned, and the categories, as fitted attributes."""
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
        """Score held-out items once, for the decision and for ``make_taker``."""
        weighted = held_out = np.flatnonzero(training.weights)
        if folds is None:
            cv = self.get_params(deep=False).get("cv")
            folds = [] if cv is None else self.tuning_folds(plain_folds(cv, training.weights))
        if folds:
            held_out = np.sort(np.concatenate([test for _, test in folds]))
        tuning = self.tuning(training, held_out)
        takers = [] if tuning is None or not tuning.needs_scores else [tuning]
        if make_taker is not None:
            takers.append(make_taker(training, held_out))
        if takers and not folds:
            # A single item cannot be held out.
            scored = Scored(self.scorer_, training.rows(weighted, np.arange(len(training.weights))))
            hand_over(scored, weighted, takers)
        elif takers:
            hold_out(self, training, folds, takers, n_threads(getattr(self, "n_jobs", 1)))
        if tuning is not None:
            for name, value in tuning.finish().items():
                setattr(self, name, value)

    def pruned(self, cut: Cut) -> Self:
        """Return a copy with the weights that ``cut`` returns; see ``Scorer``."""
        if not hasattr(self, "scorer_"):
            raise NoWeightsError
        result = copy(self)
        result.scorer_ = self.scorer_.pruned(cut)
        return result

    def file_state(self) -> dict[str, object]:
        """Return the state to save: parameters and fitted attributes.

        ``start_`` is left out unless ``warm_start=True``, because the dual variables of all
        training items can be larger than the weights; and if a model has many weights in blocks,
        they get 16 bits each.
        """
        known = self.get_params(deep=False)
        state = {k: v for k, v in vars(self).items() if k in known or k.endswith("_")}
        if getattr(self, "warm_start", False):
            return state
        if "start_" in state:
            state["start_"] = None
        packed = getattr(state.get("scorer_"), "packed", None)
        return state if packed is None else {**state, "scorer_": packed()}

    def __sklearn_tags__(self) -> Tags:
        """Return the scikit-learn tags."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = self.traits.label_sets
        tags.target_tags.multi_output = self.traits.label_sets
        return tags

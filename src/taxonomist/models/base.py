"""``TaxonomyClassifier``: targets, a learner, a scorer and a decision make an estimator."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from taxonomist.errors import LabelError
from taxonomist.inference.label_sets import decision_rule, label_limits
from taxonomist.inference.scorers import NoWeightsError, Scored
from taxonomist.models.decisions import RuleTuning
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

    from taxonomist._typing import Codes
    from taxonomist.inference.label_sets import Limits
    from taxonomist.inference.scorers import Cut
    from taxonomist.models.learning import Folds, HeldOutTaker, Learned
    from taxonomist.models.parameters import Requirement
    from taxonomist.taxonomy import Taxonomy

    MakeTaker = Callable[[Training, Codes], HeldOutTaker]
    """Returns what takes held-out scores, given the training and the items to be held out."""


class TaxonomyClassifier(Questions, BaseEstimator):
    """A scikit-learn classifier over a taxonomy.

    A subclass has the parameter ``taxonomy``, checks rows in ``check_rows``, and learns in
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
    file_version
        The version of what ``file_state`` returns.

    Notes
    -----
    What a fit finds is in attributes that end in an underscore, and in no others.
    """

    traits: ClassVar[Traits] = Traits()
    parameters: ClassVar[dict[str, Requirement]] = {"taxonomy": TaxonomyOrNone()}
    file_version: ClassVar[int] = 2

    taxonomy: Taxonomy | None
    start_: Any

    # What a subclass says ---------------------------------------------------------------------

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

    def learn_from(self, training: Training) -> Self:
        """Fit to checked items without tuning a decision, for models that are made of models."""
        self._store(self.learn(training), training.targets)
        return self

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Return checked items, labels and weights."""
        X = self.check_rows(X, reset=True)
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

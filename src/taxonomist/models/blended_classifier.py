"""``BlendedClassifier``: the average of the scores of several models, on a common scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_array, validate_data

from taxonomist.errors import ParameterError
from taxonomist.inference.label_sets import DecisionLike, decision_rule
from taxonomist.inference.scorers import DenseScorer
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.coupled_binary_svc import CoupledBinarySVC
from taxonomist.models.dense_arrays import DenseArray
from taxonomist.models.hierarchical_svc import HierarchicalSVC
from taxonomist.models.learning import Learned
from taxonomist.models.node_svc import NodeSVC
from taxonomist.models.parameters import Check
from taxonomist.models.traits import Traits

if TYPE_CHECKING:
    from taxonomist._typing import Floats, FoldsLike, Matrix, MatrixLike, Reals
    from taxonomist.models.learning import Training
    from taxonomist.models.parameters import Requirement
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy

MIN_SPREAD = 1e-12
"""Scores with a smaller standard deviation are not scaled: the model does not separate items."""


@dataclass(frozen=True, eq=False)
class BlendScorer(DenseScorer):
    """A weighted sum of the standardized scores of models.

    Attributes
    ----------
    members
        The fitted models.
    factors
        The weight of each model divided by the standard deviation of its scores.
    """

    members: list[Any]
    factors: Floats

    @property
    def n_categories(self) -> int:  # type: ignore[override]
        """The number of categories."""
        return len(self.members[0].classes_)

    def raw(self, X: Matrix, n_threads: int = 1) -> Floats:  # noqa: ARG002
        """Return the weighted sum of scores, centred for each item."""
        total: Floats = np.zeros((X.shape[0], self.n_categories))
        for member, factor in zip(self.members, self.factors.tolist(), strict=True):
            total += factor * centred(member.answer(X).category_scores())
        return total


class BlendedClassifier(TaxonomyClassifier):
    """The average of the scores of several models of this library.

    The scores of each model are centred for each item and divided by their standard deviation over
    the training items, so that different kinds of models are comparable.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, for all models. None uses a flat taxonomy of the labels in
        ``y``.
    models
        Unfitted models of this library that accept the same items. None uses ``NodeSVC`` and, for
        one label per item, ``HierarchicalSVC``, for label sets ``CoupledBinarySVC``.
    weights
        The weight of each model. None means equal weights.
    decision, cv, min_labels, max_labels
        Decision rule for label sets, as in ``CoupledBinarySVC``.

    Attributes
    ----------
    classes_, taxonomy_, decision_, label_limits_
        As in ``CoupledBinarySVC``.
    models_
        The fitted models.

    Examples
    --------
    >>> from taxonomist import BlendedClassifier, HierarchicalSVC, NodeSVC, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X, y = [[1, 0, 0], [1, 1, 0], [0, 0, 1]] * 3, ["cat", "dog", "oak"] * 3
    >>> members = [HierarchicalSVC(taxonomy, random_state=0), NodeSVC(taxonomy, random_state=0)]
    >>> BlendedClassifier(taxonomy, models=members).fit(X, y).predict([[1, 1, 0]]).tolist()
    ['dog']
    """

    traits = Traits(parts=(BlendScorer,), dense=(DenseArray("items", "categories", 8),))
    parameters: ClassVar[dict[str, Requirement]] = {"decision": Check(decision_rule)}
    no_reasons = "use explain of the individual models in models_."
    scorer_: BlendScorer

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        models: Any = None,
        weights: Any = None,
        decision: DecisionLike = "threshold",
        cv: FoldsLike = 5,
        min_labels: int | None = None,
        max_labels: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.models = models
        self.weights = weights
        self.decision = decision
        self.cv = cv
        self.min_labels = min_labels
        self.max_labels = max_labels

    def check(self) -> None:
        """Raise if a parameter is invalid."""
        super().check()
        n_models = 2 if self.models is None else len(self.models)
        given = [] if self.models is None else self.models
        if not n_models or not all(hasattr(model, "learn_from") for model in given):
            raise ParameterError(
                f"models must be a list of models of this library, or None. Got {self.models!r}."
            )
        weights = np.ones(n_models) if self.weights is None else np.asarray(self.weights, float)
        if weights.shape != (n_models,) or not (weights >= 0).all() or not weights.any():
            raise ParameterError(
                f"weights must be {n_models} numbers of at least 0, not all 0. "
                f"Got {self.weights!r}."
            )

    def check_rows(self, X: MatrixLike, reset: bool) -> Any:
        """Return validated rows; each model validates them again."""
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)

    def learn(self, training: Training, start: object = None) -> Learned:  # noqa: ARG002
        """Fit the models and scale their scores; see ``TaxonomyClassifier.learn``."""
        training = training.with_weight()
        models = self._unfitted(training.targets)
        weights = np.ones(len(models)) if self.weights is None else np.asarray(self.weights)
        members, factors = [], []
        for model, weight in zip(models, weights.tolist(), strict=True):
            fitted = clone(model)
            rows = fitted.check_rows(training.X, reset=True)
            fitted.learn_from(training._replace(X=rows))
            spread = float(centred(fitted.answer(training.X).category_scores()).std())
            members.append(fitted)
            factors.append(weight / (spread if spread > MIN_SPREAD else 1.0))
        total = np.asarray(factors) / weights.sum()
        return Learned(BlendScorer(members, total), {})

    def _unfitted(self, targets: Targets) -> list[Any]:
        if self.models is not None:
            return list(self.models)
        joint = HierarchicalSVC if targets.is_single else CoupledBinarySVC
        return [NodeSVC(random_state=0), joint(random_state=0)]

    @property
    def models_(self) -> list[Any]:
        """The fitted models."""
        if not hasattr(self, "scorer_"):
            raise AttributeError("models_ is not available: fit the model first.")
        return self.scorer_.members


def centred(scores: Reals) -> Floats:
    """Return scores minus the mean of each row."""
    checked: Floats = check_array(scores, ensure_all_finite=True)
    found: Floats = checked - checked.mean(axis=1, keepdims=True)
    return found
